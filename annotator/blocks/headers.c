/*
 * What the header of a loop says about its trips: how many there are, if it is a constant, and how it ends.
 */
#include "annotator/blocks/walk.h"

#include <stdlib.h>

static bool is_constant(CXCursor expression, long long *value)
{
	CXEvalResult result = clang_Cursor_Evaluate(expression);
	bool constant = result && clang_EvalResult_getKind(result) == CXEval_Int;
	if (constant)
		*value = clang_EvalResult_getAsLongLong(result);
	if (result)
		clang_EvalResult_dispose(result);
	return constant;
}

/* The variable that an expression is, under casts and brackets; else a null cursor. */
static CXCursor variable_of(CXCursor expression)
{
	for (;;) {
		enum CXCursorKind kind = clang_getCursorKind(expression);
		if (kind == CXCursor_DeclRefExpr)
			return clang_getCursorReferenced(expression);
		struct children c = children_of(expression);
		bool wrapped = (kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr) && c.count == 1;
		if (wrapped)
			expression = c.items[0];
		free(c.items);
		if (!wrapped)
			return clang_getNullCursor();
	}
}

/* i = C, or int i = C. */
static bool read_start(CXCursor part, CXCursor *variable, long long *start)
{
	struct children c = children_of(part);
	bool read = false;
	if (clang_getCursorKind(part) == CXCursor_DeclStmt && c.count == 1) {
		struct children value = children_of(c.items[0]);
		*variable = c.items[0];
		read = clang_getCursorKind(c.items[0]) == CXCursor_VarDecl && value.count &&
		       is_constant(value.items[value.count - 1], start);
		free(value.items);
	} else if (clang_getCursorKind(part) == CXCursor_BinaryOperator && c.count == 2 &&
	           clang_getCursorBinaryOperatorKind(part) == CXBinaryOperator_Assign) {
		*variable = variable_of(c.items[0]);
		read = is_constant(c.items[1], start);
	}
	free(c.items);
	return read;
}

/* i++, i--, i += C, i -= C */
static bool read_step(CXCursor part, CXCursor variable, long long *step)
{
	struct children c = children_of(part);
	bool read = c.count && clang_equalCursors(variable_of(c.items[0]), variable);
	if (clang_getCursorKind(part) == CXCursor_UnaryOperator) {
		enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(part);
		bool up = kind == CXUnaryOperator_PreInc || kind == CXUnaryOperator_PostInc;
		*step = up ? 1 : -1;
		read = read && (up || kind == CXUnaryOperator_PreDec || kind == CXUnaryOperator_PostDec);
	} else {
		enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(part);
		read = read && clang_getCursorKind(part) == CXCursor_CompoundAssignOperator && c.count == 2 &&
		       (kind == CXBinaryOperator_AddAssign || kind == CXBinaryOperator_SubAssign) && is_constant(c.items[1], step);
		if (kind == CXBinaryOperator_SubAssign)
			*step = -*step;
	}
	free(c.items);
	return read && *step;
}

/* i < C, and the other comparisons: *distance becomes what i has to go from `start`, in the direction of `step`. */
static bool read_distance(CXCursor part, CXCursor variable, long long start, long long step, long long *distance)
{
	struct children c = children_of(part);
	enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(part);
	long long limit = 0;
	bool up = step > 0, read = clang_getCursorKind(part) == CXCursor_BinaryOperator && c.count == 2 &&
	                           clang_equalCursors(variable_of(c.items[0]), variable) && is_constant(c.items[1], &limit);
	free(c.items);
	bool beyond = kind == (up ? CXBinaryOperator_LE : CXBinaryOperator_GE);
	read = read && (beyond || kind == CXBinaryOperator_NE || kind == (up ? CXBinaryOperator_LT : CXBinaryOperator_GT));
	if (!read || __builtin_sub_overflow(up ? limit : start, up ? start : limit, distance) ||
	    __builtin_add_overflow(*distance, beyond, distance))
		return false;
	return *distance > 0;
}

unsigned constant_trips(CXCursor s, const struct children *c)
{
	CXCursor variable = clang_getNullCursor();
	long long start = 0, step = 0, distance = 0;
	if (clang_getCursorKind(s) != CXCursor_ForStmt || c->count != 4 || !read_start(c->items[0], &variable, &start) ||
	    clang_Cursor_isNull(variable) || !read_step(c->items[2], variable, &step) ||
	    !read_distance(c->items[1], variable, start, step, &distance))
		return 0;
	unsigned long long size = step > 0 ? (unsigned long long)step : -(unsigned long long)step;
	unsigned long long trips = ((unsigned long long)distance - 1) / size + 1;
	return trips < UINT_MAX ? (unsigned)trips : 0;
}

static enum CXChildVisitResult find_other_branch(CXCursor cursor, CXCursor parent, CXClientData data)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	(void)parent;
	*(bool *)data |= kind == CXCursor_ConditionalOperator || kind == CXCursor_StmtExpr ||
	                 (kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_LNot) ||
	                 (kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_LOr);
	return *(bool *)data ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool only_ands(const CXCursor *parts, size_t count)
{
	bool found = false;
	for (size_t i = 0; i < count && !found; i++)
		if (find_other_branch(parts[i], parts[i], &found) == CXChildVisit_Recurse)
			clang_visitChildren(parts[i], find_other_branch, &found);
	return !found;
}
