/*
 * The second pass over a unit. Every place where one of the units' functions is declared, defined or called gets its edits.
 * Whatever cannot be rewritten with certainty is refused with its place.
 */
#include "annotator/blocks/blocks.h"

#include "annotator/blocks/walk.h"
#include "annotator/edits/declarators.h"
#include "annotator/edits/locals.h"
#include "annotator/sites/hazards.h"
#include "annotator/sites/sites.h"
#include "annotator/source/array.h"
#include "annotator/source/parse.h"

#include <errno.h>

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
	return place_arguments(pass, cursor);
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

int collect_edits(struct annotation *a, size_t unit, struct gs_error *err)
{
	struct edit_pass pass = {.a = a, .unit = &a->units[unit], .unit_index = unit, .err = err};
	clang_visitChildren(clang_getTranslationUnitCursor(pass.unit->tu), visit_declaration, &pass);
	sort_edits(pass.unit);
	return pass.result;
}
