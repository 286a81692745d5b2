/*
 * Host text of which single kernels can be compiled. A program may have dozens of kernels and launch two of them, and drivers take long
 * to compile the others: so each kernel's definition stands between
 *
 *   #if !defined ONLY_MACRO || ONLY_MACRO == INDEX
 *   #endif
 *
 * INDEX counts annotation_kernels. What is not the definition of a kernel is always compiled.
 */
#include "annotator/internal.h"
#include "runtime/cc/facts.h"

#include <errno.h>

/* A declaration at file scope, as far as it has been read. */
struct declaration {
	size_t begin;
	bool kernel;
	size_t name, name_end;         /* the word before its parameters; empty: they have not come yet */
	size_t last_word, last_word_end;
};

static void read_word(struct declaration *d, const char *text, size_t from, size_t to)
{
	d->kernel = d->kernel || scan_is_word(text, from, to, "__kernel") || scan_is_word(text, from, to, "kernel");
	d->last_word = from;
	d->last_word_end = to;
}

static void read_parameters(struct declaration *d, const char *text)
{
	if (d->name == d->name_end && !scan_is_attribute(text, d->last_word, d->last_word_end)) {
		d->name = d->last_word;
		d->name_end = d->last_word_end;
	}
}

static long kernel_index(const struct annotation *a, const char *text, const struct declaration *d)
{
	for (size_t i = 0; i < a->kernel_count && d->kernel; i++)
		if (scan_is_word(text, d->name, d->name_end, a->kernels[i].name))
			return (long)i;
	return -1;
}

/* The text up to the declaration, then the declaration between its guards. */
static void write_guarded(const char *text, size_t from, const struct declaration *d, size_t end, long index, struct gs_buf *out)
{
	gs_buf_add(out, text + from, d->begin - from);
	gs_buf_printf(out, "\n#if !defined " ONLY_MACRO " || " ONLY_MACRO " == %ld\n", index);
	gs_buf_add(out, text + d->begin, end - d->begin);
	gs_buf_puts(out, "\n#endif\n");
}

int annotation_guard_kernels(const struct annotation *a, const char *text, size_t length, struct gs_buf *out, struct gs_error *err)
{
	struct declaration d = {.begin = scan_blanks(text, length, 0)};
	size_t written = 0, depth = 0;
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
		at++;
		long index = c == '}' && !depth ? kernel_index(a, text, &d) : -1;
		if (index >= 0) {
			write_guarded(text, written, &d, at, index, out);
			written = at;
		}
		if (!depth && (c == '}' || c == ';'))
			d = (struct declaration){.begin = scan_blanks(text, length, at)};
	}
	gs_buf_add(out, text + written, length - written);
	return out->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
