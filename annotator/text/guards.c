/*
 * Host text of which a driver compiles only what one kernel needs. A program may have dozens of kernels and launch two of them. A
 * header may define hundreds of functions that no kernel calls. Drivers compile them all, for a minute or more. So a definition that
 * not every kernel needs stands between
 *
 *   #if !defined ONLY_MACRO || ONLY_MACRO == INDEX || (ONLY_MACRO >= FIRST && ONLY_MACRO <= LAST)
 *   #endif
 *
 * with the indices of the kernels that need it (annotation_kernels). A kernel's definition is needed by that kernel. A function is
 * needed by the kernels that reach it by calls. A definition that no kernel needs is never compiled.
 */
#include "annotator/edits/edits.h"
#include "annotator/source/array.h"
#include "annotator/source/scan.h"
#include "runtime/format/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A declaration at file scope, as far as it has been read. */
struct file_declaration {
	size_t begin, end;
	bool kernel;
	bool rest;             /* follows a brace that ended no function: struct s { int n; } f(void) */
	size_t name, name_end; /* the word before its parameters; empty: none were read yet */
	size_t last_word, last_word_end;
};

/* The definitions of functions in a text, in its order. */
struct definitions {
	struct file_declaration *items;
	size_t count;
	bool failed;
};

/* needed[f * kernels + k]: kernel k needs function f. */
struct needs {
	bool *needed;
	size_t kernels;
};

static void read_word(struct file_declaration *d, const char *text, size_t from, size_t to)
{
	d->kernel = d->kernel || scan_is_word(text, from, to, "__kernel") || scan_is_word(text, from, to, "kernel");
	d->last_word = from;
	d->last_word_end = to;
}

static void read_parameters(struct file_declaration *d, const char *text)
{
	if (d->name == d->name_end && !scan_is_attribute(text, d->last_word, d->last_word_end)) {
		d->name = d->last_word;
		d->name_end = d->last_word_end;
	}
}

static void keep_definition(struct definitions *all, const struct file_declaration *d)
{
	struct file_declaration *kept = array_grow(&all->items, &all->count, sizeof *kept);
	if (kept)
		*kept = *d;
	all->failed = all->failed || !kept;
}

static struct definitions find_definitions(const char *text, size_t length)
{
	struct definitions all = {0};
	struct file_declaration d = {.begin = scan_blanks(text, length, 0)};
	size_t depth = 0;
	for (size_t at = 0; (at = scan_significant(text, length, at)) < length;) {
		char c = text[at];
		size_t word_end = scan_word(text, length, at);
		if (word_end > at) {
			if (!depth)
				read_word(&d, text, at, word_end);
			at = word_end;
			continue;
		}
		if (c == '(' && !depth)
			read_parameters(&d, text);
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if ((c == ')' || c == ']' || c == '}') && depth)
			depth--;
		d.end = ++at;
		bool named = d.name < d.name_end;
		if (c == '}' && !depth && named)
			keep_definition(&all, &d);
		if (!depth && (c == '}' || c == ';'))
			d = (struct file_declaration){.begin = scan_blanks(text, length, at), .rest = c == '}' && !named};
	}
	return all;
}

/* ---- which kernels need what ---- */

static bool defines(const char *text, const struct file_declaration *d, const struct function *f)
{
	enum { PREFIX = sizeof CLONE_PREFIX - 1 };
	size_t from = d->name, length = d->name_end - d->name;
	if (length > PREFIX && !memcmp(text + from, CLONE_PREFIX, PREFIX))
		from += PREFIX;
	return scan_is_word(text, from, d->name_end, f->name);
}

/* If the definition of a function is not found, everything that it calls is needed always. */
static bool is_found(const char *text, const struct definitions *all, const struct function *f)
{
	for (size_t i = 0; i < all->count; i++)
		if (!all->items[i].rest && defines(text, &all->items[i], f))
			return true;
	return false;
}

static bool is_kernel(const struct function *f, const struct kernel_entry *k)
{
	return f->kernel && !strcmp(f->name, k->name);
}

static struct needs find_needs(const struct annotation *a, const char *text, const struct definitions *all)
{
	struct needs n = {calloc(a->function_count * a->kernel_count + 1, sizeof *n.needed), a->kernel_count};
	bool *found = calloc(a->function_count + 1, sizeof *found);
	for (size_t f = 0; f < a->function_count && found; f++)
		found[f] = is_found(text, all, a->functions[f]);
	for (size_t k = 0; k < a->kernel_count && found && n.needed; k++) {
		unmark_reached(a);
		for (size_t f = 0; f < a->function_count; f++)
			if (!found[f] || is_kernel(a->functions[f], &a->kernels[k]))
				mark_reached(a->functions[f]);
		for (size_t f = 0; f < a->function_count; f++)
			n.needed[f * n.kernels + k] = a->functions[f]->reached;
	}
	if (!found) {
		free(n.needed);
		n.needed = NULL;
	}
	free(found);
	return n;
}

/* users[k]: kernel k needs the definition. Returns false if it defines no function of the table. */
static bool find_users(const struct annotation *a, const struct needs *n, const char *text, const struct file_declaration *d,
                       bool *users)
{
	bool known = false;
	memset(users, 0, n->kernels * sizeof *users);
	if (d->kernel) {
		for (size_t k = 0; k < n->kernels; k++)
			known |= users[k] = scan_is_word(text, d->name, d->name_end, a->kernels[k].name);
		return known;
	}
	for (size_t f = 0; f < a->function_count; f++)
		if (defines(text, d, a->functions[f])) {
			known = true;
			for (size_t k = 0; k < n->kernels; k++)
				users[k] |= n->needed[f * n->kernels + k];
		}
	return known;
}

/* ---- writing ---- */

static size_t run_of_users(const bool *users, size_t from, size_t count)
{
	size_t end = from;
	while (end < count && users[end])
		end++;
	return end - from;
}

static void write_condition(const bool *users, size_t count, struct gs_buf *out)
{
	gs_buf_puts(out, "\n#if !defined " ONLY_MACRO);
	for (size_t k = 0, run; k < count; k += run ? run : 1) {
		run = run_of_users(users, k, count);
		if (run == 1)
			gs_buf_printf(out, " || " ONLY_MACRO " == %zu", k);
		else if (run)
			gs_buf_printf(out, " || (" ONLY_MACRO " >= %zu && " ONLY_MACRO " <= %zu)", k, k + run - 1);
	}
	gs_buf_puts(out, "\n");
}

static void write_guarded(const char *text, const struct file_declaration *d, const bool *users, size_t count, struct gs_buf *out)
{
	size_t wanted = 0;
	for (size_t k = 0; k < count; k++)
		wanted += users[k];
	bool guarded = wanted < count;
	if (!wanted)
		gs_buf_puts(out, "\n#if 0\n");
	else if (guarded)
		write_condition(users, count, out);
	gs_buf_add(out, text + d->begin, d->end - d->begin);
	if (guarded)
		gs_buf_puts(out, "\n#endif\n");
}

int annotation_guard_definitions(const struct annotation *a, const char *text, size_t length, struct gs_buf *out,
                                 struct gs_error *err)
{
	struct definitions all = find_definitions(text, length);
	struct needs n = find_needs(a, text, &all);
	bool *users = calloc(n.kernels + 1, sizeof *users), failed = all.failed || !n.needed || !users;
	size_t written = 0;
	for (size_t i = 0; i < all.count && n.kernels && !failed; i++) {
		const struct file_declaration *d = &all.items[i];
		if (d->rest || !find_users(a, &n, text, d, users))
			continue;
		gs_buf_add(out, text + written, d->begin - written);
		write_guarded(text, d, users, n.kernels, out);
		written = d->end;
	}
	gs_buf_add(out, text + written, length - written);
	free(all.items);
	free(n.needed);
	free(users);
	return out->failed || failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
