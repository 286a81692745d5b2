/*
 * Second pass: the edits of one unit. Every place where one of our functions is declared, defined or called
 * gets its edits; whatever cannot be rewritten with certainty is refused with its place.
 */
#include "annotator/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct edit *add_edit(struct edit_pass *pass, enum edit_kind kind, size_t at, size_t drop)
{
	struct unit *u = pass->unit;
	struct edit *e = array_grow(&u->edits, &u->edit_count, sizeof *e);
	if (!e) {
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
		return NULL;
	}
	*e = (struct edit){.at = at, .drop = drop, .kind = kind, .function = pass->function, .order = u->edit_count};
	return e;
}

static int add_kernel(struct edit_pass *pass, CXCursor cursor)
{
	struct annotation *a = pass->a;
	pass->unit->has_kernels = true;
	for (size_t i = 0; i < a->kernel_count; i++)
		if (a->kernels[i].name == pass->function->name)
			return refuse(clang_getCursorLocation(cursor), pass->err, "a kernel that another unit defines, too");
	struct kernel_entry *k = array_grow(&a->kernels, &a->kernel_count, sizeof *k);
	if (!k)
		return gs_fail(pass->err, ENOMEM, "out of memory");
	*k = (struct kernel_entry){.name = pass->function->name,
	                           .arguments = (unsigned)clang_Cursor_getNumArguments(cursor),
	                           .entry = (unsigned)a->block_count}; /* its body is visited next */
	pass->function->first_site = (unsigned)a->site_count;
	if (find_argument_kinds(k, cursor))
		return gs_fail(pass->err, ENOMEM, "out of memory");
	return tell_arguments(pass, cursor);
}

static bool is_printf(CXCursor call)
{
	CXString name = clang_getCursorSpelling(call);
	bool found = !strcmp(clang_getCString(name) ? clang_getCString(name) : "", "printf");
	clang_disposeString(name);
	return found;
}

/* A builtin whose answer depends on the box, or that prints. */
static int edit_builtin_call(struct edit_pass *pass, CXCursor call)
{
	struct unit *u = pass->unit;
	int function = box_function(call);
	bool prints = is_printf(call);
	if (function < 0 && !prints)
		return 0;
	CXSourceRange extent = clang_getCursorExtent(call);
	size_t name = offset_of(clang_getRangeStart(extent)), name_end = scan_word(u->text, u->length, name);
	CXString builtin = clang_getCursorSpelling(call);
	bool named = scan_is_word(u->text, name, name_end, clang_getCString(builtin));
	clang_disposeString(builtin);
	if (!named)
		return refuse(clang_getRangeStart(extent), pass->err, "a call that does not name its function");
	u->prints |= prints;
	u->box_functions |= prints ? 0 : 1u << function;
	struct edit *e = add_edit(pass, prints ? EDIT_PRINT : EDIT_BOX, name, name_end - name);
	if (e)
		e->block = (unsigned)function;
	return pass->result;
}

/* What precedes the arguments; edit_argument, called after the edits inside the arguments, adds the last one. */
int edit_callee(struct edit_pass *pass, CXCursor call)
{
	const struct unit *u = pass->unit;
	const struct function *target = called_function(pass->a, call);
	if (!target)
		return edit_builtin_call(pass, call);
	CXSourceRange extent = clang_getCursorExtent(call);
	size_t name = offset_of(clang_getRangeStart(extent)), close = offset_of(clang_getRangeEnd(extent)) - 1;
	if (!scan_is_word(u->text, name, scan_word(u->text, u->length, name), target->name) || close >= u->length ||
	    u->text[close] != ')')
		return refuse(clang_getRangeStart(extent), pass->err, "a call that does not name its function");
	if (target->kernel && target == pass->function) /* its clone comes behind it */
		return refuse(clang_getRangeStart(extent), pass->err, "a kernel that calls itself");
	if (target->kernel)
		add_edit(pass, EDIT_CALLEE, name, 0);
	return pass->result;
}

int edit_argument(struct edit_pass *pass, CXCursor call)
{
	const struct function *target = called_function(pass->a, call);
	if (!target && box_function(call) < 0)
		return 0;
	size_t close = offset_of(clang_getRangeEnd(clang_getCursorExtent(call))) - 1;
	struct edit *e = add_edit(pass, target ? EDIT_ARGUMENT : EDIT_BOX_END, close, 0);
	if (e) {
		e->callee = target;
		e->alone = clang_Cursor_getNumArguments(call) == 0;
	}
	return pass->result;
}

static enum CXChildVisitResult visit_parts(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct edit_pass *pass = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	CXSourceRange extent = clang_getCursorExtent(cursor);
	size_t at = offset_of(clang_getRangeStart(extent));
	/* A function that counts is neither const nor pure, and calls of it must not be merged. */
	if (kind == CXCursor_ConstAttr || kind == CXCursor_PureAttr)
		add_edit(pass, EDIT_DROP, at, offset_of(clang_getRangeEnd(extent)) - at);
	if (kind == CXCursor_CompoundStmt) {
		pass->result = collect_blocks(pass, parent, cursor);
	}
	return pass->result ? CXChildVisit_Break : CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct edit_pass *pass = data;
	(void)parent;
	if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl)
		return CXChildVisit_Continue;
	pass->function = find_function(pass->a, cursor);
	pass->result = pass->function ? edit_declarator(pass, cursor) : edit_foreign_declarator(pass, cursor);
	if (!pass->function)
		return pass->result ? CXChildVisit_Break : CXChildVisit_Continue;
	if (!pass->result && pass->function->kernel && clang_isCursorDefinition(cursor))
		pass->result = add_kernel(pass, cursor);
	if (!pass->result)
		clang_visitChildren(cursor, visit_parts, pass);
	if (!pass->result && clang_isCursorDefinition(cursor))
		edit_own_name(pass, cursor);
	if (!pass->result && owns_locals(pass->function) && clang_isCursorDefinition(cursor))
		edit_locals(pass, cursor);
	return pass->result ? CXChildVisit_Break : CXChildVisit_Continue;
}

static int compare_edits(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The type of several variables, which may be the typeof of a call, is visited with each of them. */
static bool is_repeated(const struct edit *kept, size_t count, const struct edit *e)
{
	if (e->kind != EDIT_ARGUMENT && e->kind != EDIT_CALLEE && e->kind != EDIT_BOX && e->kind != EDIT_BOX_END &&
	    e->kind != EDIT_PRINT)
		return false;
	while (count-- && kept[count].at == e->at)
		if (kept[count].kind == e->kind)
			return true;
	return false;
}

static void sort_edits(struct unit *u)
{
	size_t kept = 0;
	if (u->edit_count)
		qsort(u->edits, u->edit_count, sizeof *u->edits, compare_edits);
	for (size_t i = 0; i < u->edit_count; i++)
		if (!is_repeated(u->edits, kept, &u->edits[i]))
			u->edits[kept++] = u->edits[i];
	u->edit_count = kept;
}

int collect_edits(struct annotation *a, size_t unit, struct gs_error *err)
{
	struct edit_pass pass = {.a = a, .unit = &a->units[unit], .unit_index = unit, .err = err};
	clang_visitChildren(clang_getTranslationUnitCursor(pass.unit->tu), visit_declaration, &pass);
	sort_edits(pass.unit);
	return pass.result;
}
