/*
 * Blocks inside expressions: the arms of ?: and the right sides of && and ||, where they call something, access memory,
 * have effects or compute a lot. Others are cheaper than a branch, and compilers make none of them. Operators on
 * vectors evaluate everything and are no branches.
 */
#include "annotator/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum CXChildVisitResult take_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct children *c = data;
	CXCursor *slot = array_grow(&c->items, &c->count, sizeof *slot);
	(void)parent;
	c->failed = !slot;
	if (slot)
		*slot = cursor;
	return slot ? CXChildVisit_Continue : CXChildVisit_Break;
}

struct children children_of(CXCursor cursor)
{
	struct children c = {0};
	clang_visitChildren(cursor, take_child, &c);
	return c;
}

struct block *add_block(struct edit_pass *pass, CXSourceRange range, const char *kind, int loop)
{
	struct annotation *a = pass->a;
	struct block *b = array_grow(&a->blocks, &a->block_count, sizeof *b);
	if (b)
		*b = (struct block){
			.id = (unsigned)a->block_count - 1,
			.unit = (unsigned)pass->unit_index,
			.function = pass->function->name,
			.kind = kind,
			.loop = loop,
		};
	if (!b || place_of(a, clang_getRangeStart(range), &b->place) || place_of(a, clang_getRangeEnd(range), &b->end)) {
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
		return NULL;
	}
	return b;
}

int add_term(struct edit_pass *pass, unsigned block, unsigned of, int factor)
{
	struct block *b = &pass->a->blocks[block];
	for (size_t i = 0; i < b->term_count; i++)
		if (b->terms[i].block == of) {
			b->terms[i].factor += factor;
			return 0;
		}
	struct block_term *t = array_grow(&b->terms, &b->term_count, sizeof *t);
	if (!t)
		return pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
	*t = (struct block_term){.block = of, .factor = factor};
	return 0;
}

static bool is_vector(CXCursor cursor)
{
	enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(cursor)).kind;
	return kind == CXType_Vector || kind == CXType_ExtVector;
}

static bool is_costly(CXCursor cursor)
{
	switch (clang_getCursorKind(cursor)) {
	case CXCursor_CallExpr:
	case CXCursor_ArraySubscriptExpr:
	case CXCursor_CompoundAssignOperator:
		return true;
	case CXCursor_BinaryOperator:
		return clang_getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign;
	case CXCursor_UnaryOperator:
		switch (clang_getCursorUnaryOperatorKind(cursor)) {
		case CXUnaryOperator_PostInc:
		case CXUnaryOperator_PostDec:
		case CXUnaryOperator_PreInc:
		case CXUnaryOperator_PreDec:
		case CXUnaryOperator_Deref:
			return true;
		default:
			return false;
		}
	default:
		return false;
	}
}

/* Operations that LLVM computes in vain rather than branching over them: before a comparison whose branch is folded
 * into another (-bonus-inst-threshold), and in the arms of a select (-two-entry-phi-node-folding-threshold). */
enum { MOST_SPECULATED_RIGHT = 1, MOST_SPECULATED_ARM = 4 };

struct cost {
	bool high;
	unsigned operations;
};

static unsigned operations_of(CXCursor cursor)
{
	if (clang_getCursorKind(cursor) != CXCursor_BinaryOperator)
		return 0;
	enum CXBinaryOperatorKind operator = clang_getCursorBinaryOperatorKind(cursor);
	if (operator == CXBinaryOperator_Div || operator == CXBinaryOperator_Rem)
		return MOST_SPECULATED_ARM + 1;
	return operator == CXBinaryOperator_Mul || operator == CXBinaryOperator_Add || operator == CXBinaryOperator_Sub ||
	       operator == CXBinaryOperator_Shl || operator == CXBinaryOperator_Shr || operator == CXBinaryOperator_And ||
	       operator == CXBinaryOperator_Xor || operator == CXBinaryOperator_Or;
}

/* p->member reads memory, s.member need not */
static bool is_arrow(CXCursor cursor)
{
	bool arrow = clang_getCursorKind(cursor) == CXCursor_MemberRefExpr;
	if (arrow) {
		struct children c = children_of(cursor);
		arrow = c.count && clang_getCanonicalType(clang_getCursorType(c.items[0])).kind == CXType_Pointer;
		free(c.items);
	}
	return arrow;
}

static bool is_memory_call(CXCursor call)
{
	static const char *const names[] = {"atom", "vload", "vstore", "read_image", "write_image"};
	CXString name = clang_getCursorSpelling(call);
	bool found = is_barrier(call);
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		found |= !strncmp(clang_getCString(name), names[i], strlen(names[i]));
	clang_disposeString(name);
	return found;
}

static bool is_solid(CXCursor cursor)
{
	switch (clang_getCursorKind(cursor)) {
	case CXCursor_ArraySubscriptExpr:
		return true;
	case CXCursor_MemberRefExpr:
		return is_arrow(cursor);
	case CXCursor_CallExpr:
		return is_memory_call(cursor);
	case CXCursor_UnaryOperator:
		return clang_getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_Deref;
	default:
		return false;
	}
}

static enum CXChildVisitResult find_costly(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct cost *cost = data;
	(void)parent;
	cost->high |= is_arrow(cursor) || is_costly(cursor);
	cost->operations += operations_of(cursor);
	return cost->high ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool deserves_block(CXCursor cursor, bool arm)
{
	struct cost cost = {0};
	find_costly(cursor, cursor, &cost);
	if (!cost.high)
		clang_visitChildren(cursor, find_costly, &cost);
	return cost.high || cost.operations > (arm ? MOST_SPECULATED_ARM : MOST_SPECULATED_RIGHT);
}

/* An operand that may or may not be evaluated. Returns its block, or -1 when it is none of its own. */
static int visit_operand(struct edit_pass *pass, CXCursor operand, struct place_in_flow flow, bool arm, int sibling)
{
	if (flow.quiet || !deserves_block(operand, arm)) {
		/* A part of it is not evaluated as often as the block around runs. */
		flow.exact = false;
		collect_expression(pass, operand, flow);
		return -1;
	}
	CXSourceRange extent = clang_getCursorExtent(operand);
	struct block *b = add_block(pass, extent, arm ? "arm" : "right", flow.loop);
	struct edit *e = b ? add_edit(pass, EDIT_WRAP, offset_of(clang_getRangeStart(extent)), 0) : NULL;
	if (!e)
		return -1;
	unsigned id = e->block = b->id;
	if (sibling >= 0 && flow.exact && (add_term(pass, id, flow.block, 1) || add_term(pass, id, (unsigned)sibling, -1)))
		return -1;
	if (collect_expression(pass, operand, (struct place_in_flow){.block = id, .loop = flow.loop, .exact = true}))
		return -1;
	e = add_edit(pass, EDIT_WRAP_END, offset_of(clang_getRangeEnd(extent)), 0);
	if (e)
		e->block = id;
	return (int)id;
}

static int visit_all(struct edit_pass *pass, const struct children *c, struct place_in_flow flow)
{
	for (size_t i = 0; i < c->count && !pass->result; i++)
		collect_expression(pass, c->items[i], flow);
	return pass->result;
}

static int visit_call(struct edit_pass *pass, CXCursor call, const struct children *c, struct place_in_flow flow)
{
	pass->result = edit_callee(pass, call);
	if (!pass->result)
		visit_all(pass, c, flow);
	if (!pass->result)
		pass->result = edit_argument(pass, call);
	return pass->result;
}

static bool is_branch(CXCursor cursor, enum CXCursorKind kind, const struct children *c)
{
	if (kind == CXCursor_ConditionalOperator)
		return c->count == 3 && !is_vector(c->items[0]);
	if (kind != CXCursor_BinaryOperator || c->count != 2 || is_vector(cursor))
		return false;
	enum CXBinaryOperatorKind operator = clang_getCursorBinaryOperatorKind(cursor);
	return operator == CXBinaryOperator_LAnd || operator == CXBinaryOperator_LOr;
}

static int visit_branch(struct edit_pass *pass, const struct children *c, struct place_in_flow flow)
{
	bool arms = c->count == 3;
	if (collect_expression(pass, c->items[0], flow))
		return pass->result;
	int first = visit_operand(pass, c->items[1], flow, arms, -1);
	if (arms && !pass->result)
		visit_operand(pass, c->items[2], flow, true, first);
	return pass->result;
}

int collect_expression(struct edit_pass *pass, CXCursor cursor, struct place_in_flow flow)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	if (kind == CXCursor_BlockExpr)
		return pass->result = refuse(clang_getCursorLocation(cursor), pass->err, "a block (enqueue_kernel)");
	if (kind == CXCursor_StmtExpr)
		return pass->result = refuse(clang_getCursorLocation(cursor), pass->err, "statements in an expression");
	if (kind == CXCursor_UnaryExpr) /* sizeof and its like */
		flow.quiet = true;
	if (flow.exact && !flow.quiet && is_solid(cursor))
		pass->a->blocks[flow.block].solid = true;
	struct children c = children_of(cursor);
	if (c.failed)
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
	else if (kind == CXCursor_CallExpr)
		visit_call(pass, cursor, &c, flow);
	else if (is_branch(cursor, kind, &c))
		visit_branch(pass, &c, flow);
	else
		visit_all(pass, &c, flow);
	free(c.items);
	return pass->result;
}
