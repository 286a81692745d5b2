/*
 * All work-items of a group go the same way where every condition depends on what is the same for all of them:
 * constants, numbers that the kernel is given, sizes, the group's number, and variables that are only ever given such
 * values. As long as all go one way, the order of assignments does not matter: each of them is made by all work-items
 * or by none.
 *
 * So all variables are taken to be the same at first. Those that are given something else, or whose address is taken,
 * are listed until there are no more. Then the conditions are looked at.
 */
#include "annotator/sites/one_way.h"

#include "annotator/edits/functions.h"
#include "annotator/source/array.h"
#include "annotator/source/cursors.h"
#include "annotator/source/types.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DIFFER = 256 }; /* variables: each is looked up by name in turn */

struct way_walk {
	const struct annotation *a;
	CXCursor *differ; /* variables whose values differ between work-items, as far as known */
	size_t count;
	bool several; /* ways */
};

static bool all_the_same(struct way_walk *w, CXCursor parent);

/* ---- what is the same for all work-items ---- */

static bool is_listed(const struct way_walk *w, CXCursor variable)
{
	for (size_t i = 0; i < w->count; i++)
		if (clang_equalCursors(w->differ[i], variable))
			return true;
	return false;
}

/* A number that only the function itself can change. */
static bool is_own_number(CXCursor variable)
{
	CXType type = clang_getCanonicalType(clang_getCursorType(variable));
	bool number = (type.kind >= CXType_Bool && type.kind <= CXType_LongDouble) || type.kind == CXType_Enum ||
		      type.kind == CXType_Half;
	enum CXCursorKind kind = clang_getCursorKind(variable);
	bool local = kind == CXCursor_ParmDecl ||
		     (kind == CXCursor_VarDecl && clang_getCursorLinkage(variable) == CXLinkage_NoLinkage);
	return number && local && !clang_isVolatileQualifiedType(type) &&
	       clang_Cursor_getStorageClass(variable) != CX_SC_Static &&
	       space_of(clang_getCursorType(variable)) != SPACE_shared;
}

static bool is_same_variable(const struct way_walk *w, CXCursor reference)
{
	CXCursor variable = clang_getCursorReferenced(reference);
	return clang_getCursorKind(variable) == CXCursor_EnumConstantDecl ||
	       (is_own_number(variable) && !is_listed(w, variable));
}

static bool is_same_call(struct way_walk *w, CXCursor call)
{
	static const char *const names[] = {
	    "get_work_dim",   "get_global_size", "get_local_size",   "get_enqueued_local_size",
	    "get_num_groups", "get_group_id",    "get_global_offset"};
	CXString name = clang_getCursorSpelling(call);
	bool known = false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		known |= !strcmp(clang_getCString(name), names[i]);
	clang_disposeString(name);
	if (!known || called_function(w->a, call))
		return false;
	struct children c = children_of(call);
	bool same = !c.failed;
	for (size_t i = 1; i < c.count; i++) /* after the function */
		same = same && all_the_same(w, c.items[i]);
	free(c.items);
	return same;
}

static bool is_same(struct way_walk *w, CXCursor expression)
{
	switch (clang_getCursorKind(expression)) {
	case CXCursor_IntegerLiteral:
	case CXCursor_FloatingLiteral:
	case CXCursor_CharacterLiteral:
	case CXCursor_UnaryExpr: /* sizeof */
	case CXCursor_TypeRef:
		return true;
	case CXCursor_DeclRefExpr:
		return is_same_variable(w, expression);
	case CXCursor_CallExpr:
		return is_same_call(w, expression);
	case CXCursor_UnaryOperator:
		return clang_getCursorUnaryOperatorKind(expression) != CXUnaryOperator_Deref &&
		       all_the_same(w, expression);
	case CXCursor_ParenExpr:
	case CXCursor_UnexposedExpr:
	case CXCursor_CStyleCastExpr:
	case CXCursor_BinaryOperator:
	case CXCursor_CompoundAssignOperator:
	case CXCursor_ConditionalOperator:
		return all_the_same(w, expression);
	default:
		return false;
	}
}

/* Each part of it is. An expression without parts may be anything. */
static bool all_the_same(struct way_walk *w, CXCursor parent)
{
	struct children c = children_of(parent);
	bool same = !c.failed && c.count;
	for (size_t i = 0; i < c.count; i++)
		same = same && is_same(w, c.items[i]);
	free(c.items);
	return same;
}

/* ---- variables that are given something else ---- */

static void list(struct way_walk *w, CXCursor variable)
{
	if (is_listed(w, variable))
		return;
	CXCursor *slot = w->count < MOST_DIFFER ? array_grow(&w->differ, &w->count, sizeof *slot) : NULL;
	if (slot)
		*slot = variable;
	w->several |= !slot;
}

/* The variable that an operator changes, or takes the address of. Elements and members are never taken to be the same.
 */
static void list_operand(struct way_walk *w, CXCursor operator)
{
	CXCursor of = operator;
	do {
		struct children c = children_of(of);
		of = c.count ? c.items[0] : clang_getNullCursor();
		free(c.items);
	} while (clang_getCursorKind(of) == CXCursor_ParenExpr || clang_getCursorKind(of) == CXCursor_UnexposedExpr);
	if (clang_getCursorKind(of) == CXCursor_DeclRefExpr)
		list(w, clang_getCursorReferenced(of));
}

static bool is_assignment(CXCursor cursor)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	return kind == CXCursor_CompoundAssignOperator ||
	       (kind == CXCursor_BinaryOperator &&
		clang_getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign);
}

static bool is_given_a_value(CXCursor variable)
{
	struct children c = children_of(variable);
	free(c.items);
	return c.count;
}

static enum CXChildVisitResult visit_values(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct way_walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	(void)parent;
	if (kind == CXCursor_VarDecl && is_given_a_value(cursor) && !all_the_same(w, cursor))
		list(w, cursor);
	else if (is_assignment(cursor) && !all_the_same(w, cursor))
		list_operand(w, cursor);
	else if (kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_AddrOf)
		list_operand(w, cursor);
	return CXChildVisit_Recurse;
}

static void list_all(struct way_walk *w, CXCursor function)
{
	size_t before;
	do {
		before = w->count;
		clang_visitChildren(function, visit_values, w);
	} while (w->count > before && !w->several);
}

/* ---- conditions ---- */

/* Parts of a statement from `first` on, but for the last `left`. */
static bool are_same(struct way_walk *w, CXCursor statement, size_t first, size_t left)
{
	struct children c = children_of(statement);
	bool same = !c.failed;
	for (size_t i = first; i + left < c.count; i++)
		same = same && (clang_getCursorKind(c.items[i]) == CXCursor_DeclStmt || is_same(w, c.items[i]));
	free(c.items);
	return same;
}

static bool is_first_same(struct way_walk *w, CXCursor cursor)
{
	struct children c = children_of(cursor);
	bool same = !c.failed && c.count && is_same(w, c.items[0]);
	free(c.items);
	return same;
}

/* An unexposed cursor that is no implicit conversion may be a ?: b. */
static bool has_one_part(CXCursor cursor)
{
	struct children c = children_of(cursor);
	free(c.items);
	return c.count == 1;
}

static bool is_logical(CXCursor cursor)
{
	enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(cursor);
	return kind == CXBinaryOperator_LAnd || kind == CXBinaryOperator_LOr;
}

/* Whether control that comes to it goes on in one way. */
static bool leads_one_way(struct way_walk *w, CXCursor cursor)
{
	switch (clang_getCursorKind(cursor)) {
	case CXCursor_ForStmt:
	case CXCursor_WhileStmt:
		return are_same(w, cursor, 0, 1);
	case CXCursor_DoStmt:
		return are_same(w, cursor, 1, 0);
	case CXCursor_IfStmt:
	case CXCursor_SwitchStmt:
	case CXCursor_ConditionalOperator:
		return is_first_same(w, cursor);
	case CXCursor_BinaryOperator:
		return !is_logical(cursor) || is_first_same(w, cursor);
	case CXCursor_UnexposedExpr:
		return has_one_part(cursor);
	case CXCursor_LabelStmt:
	case CXCursor_GotoStmt:
	case CXCursor_IndirectGotoStmt:
	case CXCursor_GCCAsmStmt:
	case CXCursor_MSAsmStmt:
	case CXCursor_StmtExpr:
	case CXCursor_BlockExpr:
		return false;
	default:
		return true;
	}
}

static enum CXChildVisitResult visit_conditions(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct way_walk *w = data;
	(void)parent;
	w->several = w->several || !leads_one_way(w, cursor);
	return w->several ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool goes_one_way(const struct annotation *a, CXCursor function)
{
	struct way_walk w = {.a = a};
	list_all(&w, function);
	clang_visitChildren(function, visit_conditions, &w);
	free(w.differ);
	return !w.several;
}
