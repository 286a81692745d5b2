/*
 * __local variables of a kernel that is called like a function. Its clone is a plain function, which may have no such variables. So
 * every kernel that reaches it declares room for the variables of all kernels that are called, and passes a pointer. In the clone
 *
 *   __local int a[4], b;   becomes   struct __gpusim_s0 {int a[4], b;};
 *                                    __local struct __gpusim_s0 *__gpusim_v0 = ... (__gpusim_l + 0);
 *
 * and every b is (__gpusim_v0->b). Types and sizes stay in the text and need not be known here. Sometimes the list contains
 * something else, or __local does not stand once and before all names. Then each variable becomes a pointer by itself:
 *
 *   __local int a[4], *p = a;   becomes   __local int (*a)[4] = (__local void *)(__gpusim_l + 0), *p = (*a);
 */
#include "annotator/edits/locals.h"

#include "annotator/source/array.h"
#include "annotator/source/cursors.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"
#include "annotator/source/types.h"

#include <errno.h>
#include <stdlib.h>

enum { ALIGNMENT = 128 }; /* alignment of the largest vectors */

struct moved_variable {
	CXCursor declaration;
	int number; /* number of its struct; -1: it is a pointer */
};

struct locals_move {
	struct edit_pass *pass;
	struct moved_variable *variables;
	size_t variable_count;
	unsigned structs;
	uint64_t at; /* where the next variable lies */
};

bool is_local_variable(CXCursor cursor)
{
	return clang_getCursorKind(cursor) == CXCursor_VarDecl && space_of(clang_getCursorType(cursor)) == SPACE_shared;
}

uint64_t local_bytes(CXCursor variable)
{
	long long bytes = clang_Type_getSizeOf(clang_getCursorType(variable));
	return bytes > 0 ? ((uint64_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
}

bool owns_locals(const struct function *f)
{
	return f->kernel && f->called && f->local_bytes;
}

void place_locals(struct annotation *a)
{
	a->local_bytes = 0;
	for (size_t i = 0; i < a->function_count; i++)
		if (owns_locals(a->functions[i])) {
			a->functions[i]->locals_at = a->local_bytes;
			a->local_bytes += a->functions[i]->local_bytes;
		}
}

void write_room_for_locals(const struct annotation *a, struct gs_buf *out)
{
	gs_buf_printf(out, "__local ulong16 __gpusim_r[%zu];__local char *__gpusim_l = (__local char *)__gpusim_r;",
	              (size_t)(a->local_bytes / ALIGNMENT));
}

static int add_clone_text(struct edit_pass *pass, size_t at, size_t drop, struct gs_buf *text)
{
	const char *kept = text->failed ? NULL : keep_string(pass->a, text->data);
	struct edit *e = kept ? add_edit(pass, EDIT_CLONE_TEXT, at, drop) : NULL;
	if (e)
		e->fixed = kept;
	else if (!pass->result)
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
	gs_buf_free(text);
	return pass->result;
}

/* The only __local between from and to; `to` if there is none, or several. */
static size_t find_local_word(const char *text, size_t from, size_t to)
{
	size_t found = to;
	for (size_t at = from, end; at < to; at = end == at ? at + 1 : end) {
		end = scan_word(text, to, at);
		if (!scan_is_word(text, at, end, "__local") && !scan_is_word(text, at, end, "local"))
			continue;
		if (found < to)
			return to;
		found = at;
	}
	return found;
}

/* Whether the statement declares __local variables and nothing else, and the word stands before the first of them. */
static bool can_be_members(const struct parsed_unit *u, CXCursor statement, const struct children *c)
{
	CXSourceRange extent = clang_getCursorExtent(statement);
	size_t from = offset_of(clang_getRangeStart(extent)), end = offset_of(clang_getRangeEnd(extent));
	size_t word = find_local_word(u->text, from, end);
	bool good = end > from && u->text[end - 1] == ';' && word < end;
	for (size_t i = 0; i < c->count; i++)
		good &= clang_getCursorKind(c->items[i]) != CXCursor_VarDecl ||
		        (is_local_variable(c->items[i]) && local_bytes(c->items[i]) &&
		         word < offset_of(clang_getCursorLocation(c->items[i])));
	return good;
}

static int keep_variable(struct locals_move *m, CXCursor declaration, int number)
{
	struct moved_variable *v = array_grow(&m->variables, &m->variable_count, sizeof *v);
	if (!v)
		return m->pass->result = gs_fail(m->pass->err, ENOMEM, "out of memory");
	*v = (struct moved_variable){.declaration = declaration, .number = number};
	m->at += local_bytes(declaration);
	return 0;
}

static int make_members(struct locals_move *m, CXCursor statement, const struct children *c)
{
	struct edit_pass *pass = m->pass;
	CXSourceRange extent = clang_getCursorExtent(statement);
	size_t from = offset_of(clang_getRangeStart(extent)), end = offset_of(clang_getRangeEnd(extent));
	unsigned n = m->structs++;
	struct gs_buf before = {0}, after = {0}, nothing = {0};
	gs_buf_puts(&nothing, "");
	gs_buf_printf(&before, "struct __gpusim_s%u {", n);
	gs_buf_printf(&after, ";};__local struct __gpusim_s%u *__gpusim_v%u = ", n, n);
	gs_buf_printf(&after, "(__local struct __gpusim_s%u *)(__gpusim_l + %zu);", n, (size_t)m->at);
	size_t word = find_local_word(pass->unit->text, from, end);
	add_clone_text(pass, from, 0, &before);
	add_clone_text(pass, word, scan_word(pass->unit->text, end, word) - word, &nothing);
	add_clone_text(pass, end - 1, 1, &after);
	for (size_t i = 0; i < c->count && !pass->result; i++)
		if (clang_getCursorKind(c->items[i]) == CXCursor_VarDecl)
			keep_variable(m, c->items[i], (int)n);
	return pass->result;
}

static int make_pointer(struct locals_move *m, CXCursor variable)
{
	struct edit_pass *pass = m->pass;
	const struct parsed_unit *u = pass->unit;
	size_t name = offset_of(clang_getCursorLocation(variable)), name_end = scan_word(u->text, u->length, name);
	size_t end = scan_attributes(u->text, u->length, offset_of(clang_getRangeEnd(clang_getCursorExtent(variable))));
	char next = u->text[scan_blanks(u->text, u->length, end)];
	if (name_end == name || end < name_end || (next != ',' && next != ';') || !local_bytes(variable))
		return pass->result = refuse(clang_getCursorLocation(variable), pass->err,
		                             "a __local variable of a kernel that is called, whose declaration cannot be read");
	struct gs_buf pointer = {0}, value = {0};
	gs_buf_printf(&pointer, "(*%.*s)", (int)(name_end - name), u->text + name);
	gs_buf_printf(&value, " = (__local void *)(__gpusim_l + %zu)", (size_t)m->at);
	add_clone_text(pass, name, name_end - name, &pointer);
	add_clone_text(pass, end, 0, &value);
	return pass->result ? pass->result : keep_variable(m, variable, -1);
}

static int move_variables(struct locals_move *m, CXCursor statement, const struct children *c)
{
	if (can_be_members(m->pass->unit, statement, c))
		return make_members(m, statement, c);
	for (size_t i = 0; i < c->count && !m->pass->result; i++)
		if (is_local_variable(c->items[i]))
			make_pointer(m, c->items[i]);
	return m->pass->result;
}

static int rename_use(struct locals_move *m, CXCursor use)
{
	CXCursor variable = clang_getCursorReferenced(use);
	for (size_t i = 0; i < m->variable_count; i++) {
		if (!clang_equalCursors(m->variables[i].declaration, variable))
			continue;
		const struct parsed_unit *u = m->pass->unit;
		size_t at = offset_of(clang_getCursorLocation(use)), end = scan_word(u->text, u->length, at);
		struct gs_buf text = {0};
		if (m->variables[i].number < 0)
			gs_buf_printf(&text, "(*%.*s)", (int)(end - at), u->text + at);
		else
			gs_buf_printf(&text, "(__gpusim_v%d->%.*s)", m->variables[i].number, (int)(end - at), u->text + at);
		return add_clone_text(m->pass, at, end - at, &text);
	}
	return 0;
}

static enum CXChildVisitResult visit_declaration_or_use(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct locals_move *m = data;
	(void)parent;
	if (clang_getCursorKind(cursor) == CXCursor_DeclRefExpr)
		rename_use(m, cursor);
	if (clang_getCursorKind(cursor) == CXCursor_DeclStmt) {
		struct children c = children_of(cursor);
		bool local = false;
		for (size_t i = 0; i < c.count; i++)
			local |= is_local_variable(c.items[i]);
		if (local)
			move_variables(m, cursor, &c);
		free(c.items);
	}
	return m->pass->result ? CXChildVisit_Break : CXChildVisit_Recurse;
}

int edit_locals(struct edit_pass *pass, CXCursor kernel)
{
	struct locals_move m = {.pass = pass, .at = pass->function->locals_at};
	clang_visitChildren(kernel, visit_declaration_or_use, &m);
	free(m.variables);
	return pass->result;
}
