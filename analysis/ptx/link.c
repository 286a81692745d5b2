/*
 * Links PTX of several objects (nvcc -rdc=true) to one text, in which every name means one thing:
 *   - A name that only its part knows, or a function that an earlier part has as well (.weak), gets another name: NAME$PART.
 *   - A variable that is .extern in one part and defined in another is declared only where it is defined.
 *   - Numbers of .file and .loc are those of the part plus PART * FILES_OF_A_PART.
 * Variables that are .weak or .common are the same in all parts: the first one counts.
 */
#include "analysis/ptx/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_OF_A_PART = 100000 };

struct link_names {
	const char **names; /* ascending, once they are sorted */
	size_t count, room;
	bool failed;
};

struct part_linker {
	struct ptx_module **modules;
	size_t part;
	struct link_names renamed, dropped; /* of this part: names that change, and variables that others define */
	struct ptx_cursor in;
	struct gs_buf *out;
	int depth; /* of braces */
};

static void add_name(struct link_names *l, const char *name)
{
	if (gs_reserve(&l->names, l->count, &l->room, sizeof *l->names))
		l->names[l->count++] = name;
	else
		l->failed = true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_listed(const struct link_names *l, struct ptx_span s)
{
	char name[4096];
	const char *key = name;
	if (!l->count || s.length >= sizeof name)
		return false;
	memcpy(name, s.at, s.length);
	name[s.length] = 0;
	return bsearch(&key, l->names, l->count, sizeof *l->names, compare_names);
}

static bool defines_variable(const struct ptx_module *m, const char *name)
{
	for (uint32_t i = 0; i < m->variable_count; i++)
		if (m->variables[i].linkage != PTX_EXTERN && !strcmp(m->variables[i].name, name))
			return true;
	return false;
}

static bool has_function(const struct ptx_module *m, const char *name, bool declared)
{
	const struct ptx_function *f = ptx_find(m, name);
	return f && (declared || !f->external);
}

static void list_functions(struct part_linker *l)
{
	const struct ptx_module *m = l->modules[l->part];
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct ptx_function *f = &m->functions[i];
		bool taken = false;
		for (size_t p = 0; p < l->part && !f->external; p++)
			taken |= has_function(l->modules[p], f->name, f->linkage == PTX_INTERNAL);
		if (taken)
			add_name(&l->renamed, f->name);
	}
}

static void list_variables(struct part_linker *l, size_t parts)
{
	const struct ptx_module *m = l->modules[l->part];
	for (uint32_t i = 0; i < m->variable_count; i++) {
		const struct ptx_variable *v = &m->variables[i];
		bool before = false, anywhere = false;
		for (size_t p = 0; p < parts; p++) {
			bool defined = p != l->part && defines_variable(l->modules[p], v->name);
			before |= defined && p < l->part;
			anywhere |= defined;
		}
		if (v->linkage == PTX_INTERNAL && before)
			add_name(&l->renamed, v->name);
		else if (v->linkage == PTX_EXTERN && v->space != SPACE_shared && anywhere)
			add_name(&l->dropped, v->name);
	}
}

static bool starts(const struct ptx_cursor *c, const char *word)
{
	size_t length = strlen(word);
	return (size_t)(c->end - c->at) >= length && !memcmp(c->at, word, length);
}

/* .extern .global .align 4 .u32 name; of a variable that another part defines. */
static bool drop_declaration(struct part_linker *l)
{
	struct ptx_cursor end = l->in, look = l->in;
	if (l->depth || !starts(&l->in, ".extern"))
		return false;
	ptx_skip_statement(&end);
	bool found = false;
	while (look.at < end.at && !found) {
		struct ptx_span name = ptx_take_name(&look, false);
		found = name.length && is_listed(&l->dropped, name);
		look.at += !name.length;
	}
	for (const char *p = l->in.at; p < end.at && found; p++)
		if (*p == '\n')
			gs_buf_puts(l->out, "\n");
	if (found)
		l->in.at = end.at;
	return found;
}

/* .file 1 "name" or .loc 1 2 3 */
static bool renumber(struct part_linker *l)
{
	struct ptx_cursor look = l->in;
	struct ptx_span word = ptx_take_directive(&look);
	int64_t number;
	if (!ptx_span_is(word, ".loc") && !ptx_span_is(word, ".file"))
		return false;
	while (look.at < look.end && (*look.at == ' ' || *look.at == '\t'))
		look.at++;
	if (!ptx_take_number(&look, &number))
		return false;
	gs_buf_printf(l->out, "%.*s %lld", (int)word.length, word.at, (long long)number + (long long)l->part * FILES_OF_A_PART);
	l->in.at = look.at;
	return true;
}

/* Copies what is no name: a comment, a string, a character. */
static void copy_other(struct part_linker *l)
{
	struct ptx_cursor *in = &l->in;
	const char *from = in->at;
	ptx_skip_blanks(in);
	if (in->at == from && *in->at == '"')
		ptx_take_string(in);
	else if (in->at == from) {
		l->depth += (*in->at == '{') - (*in->at == '}');
		in->at++;
	}
	gs_buf_add(l->out, from, (size_t)(in->at - from));
}

static void write_part(struct part_linker *l)
{
	while (l->in.at < l->in.end) {
		if (*l->in.at == '.' && (drop_declaration(l) || renumber(l)))
			continue;
		struct ptx_span name = ptx_take_name(&l->in, false);
		gs_buf_add(l->out, name.at, name.length);
		if (name.length && is_listed(&l->renamed, name))
			gs_buf_printf(l->out, "$%zu", l->part);
		if (!name.length)
			copy_other(l);
	}
	gs_buf_puts(l->out, "\n");
}

static int link_part(struct part_linker *l, size_t parts, const struct gs_buf *text, struct gs_error *err)
{
	l->in = (struct ptx_cursor){.at = text->data, .end = text->data + text->len};
	list_functions(l);
	list_variables(l, parts);
	bool failed = l->renamed.failed || l->dropped.failed;
	if (!failed && l->renamed.count)
		qsort(l->renamed.names, l->renamed.count, sizeof *l->renamed.names, compare_names);
	if (!failed && l->dropped.count)
		qsort(l->dropped.names, l->dropped.count, sizeof *l->dropped.names, compare_names);
	if (!failed)
		write_part(l);
	free(l->renamed.names);
	free(l->dropped.names);
	return failed || l->out->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

int ptx_link(const struct gs_buf *texts, size_t count, struct gs_buf *out, struct gs_error *err)
{
	struct ptx_module **modules = calloc(count + 1, sizeof(struct ptx_module *));
	int result = modules ? 0 : gs_fail(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < count && !result; i++)
		result = ptx_read(texts[i].data ? texts[i].data : "", texts[i].len, &modules[i], err);
	for (size_t i = 0; i < count && !result; i++) {
		struct part_linker l = {.modules = modules, .part = i, .out = out};
		result = texts[i].len ? link_part(&l, count, &texts[i], err) : 0;
	}
	for (size_t i = 0; i < count && modules; i++)
		ptx_free(modules[i]);
	free(modules);
	return result;
}
