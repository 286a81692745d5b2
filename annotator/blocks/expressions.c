/*
 * Blocks inside of expressions: the arms of ?: and the right sides of && and ||. They are blocks only if they call something, access
 * memory, have effects or compute a lot. Others are cheaper than a branch, and compilers make no branch for them. Operators on
 * vectors evaluate all operands and are no branches.
 */
#include "annotator/blocks/walk.h"
#include "annotator/edits/calls.h"
#include "annotator/edits/declarators.h"
#include "annotator/sites/site_calls.h"
#include "annotator/source/array.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* How many operations LLVM computes speculatively instead of branching over them: before a comparison whose branch is folded
 * into another (-bonus-inst-threshold), and in the arms of a select (-two-entry-phi-node-folding-threshold). */
enum { MOST_SPECULATED_RIGHT = 1, MOST_SPECULATED_ARM = 4 };

struct operand_cost {
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

/* p->member reads memory; s.member need not. */
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
	struct operand_cost *cost = data;
	(void)parent;
	cost->high |= is_arrow(cursor) || is_costly(cursor);
	cost->operations += operations_of(cursor);
	return cost->high ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool deserves_block(CXCursor cursor, bool arm)
{
	struct operand_cost cost = {0};
	find_costly(cursor, cursor, &cost);
	if (!cost.high)
		clang_visitChildren(cursor, find_costly, &cost);
	return cost.high || cost.operations > (arm ? MOST_SPECULATED_ARM : MOST_SPECULATED_RIGHT);
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

/* The part of an operand that the marker encloses. For ?: it is the condition: around all of it, a long chain would nest too deeply
 * for compilers. */
static CXSourceRange marked_part(CXCursor operand)
{
	enum CXCursorKind kind = clang_getCursorKind(operand);
	CXCursor part = operand;
	if (kind == CXCursor_ConditionalOperator) {
		struct children c = children_of(operand);
		if (is_branch(operand, kind, &c))
			part = c.items[0];
		free(c.items);
	}
	return clang_getCursorExtent(part);
}

/* Visits an operand that may or may not be evaluated. Returns its block, or -1 if it has no block of its own. */
static int visit_operand(struct block_walk *w, CXCursor operand, struct place_in_flow flow, bool arm, int sibling)
{
	if (flow.quiet || !deserves_block(operand, arm)) {
		/* Parts of it may run less often than the block around it. */
		flow.exact = false;
		collect_expression(w, operand, flow);
		return -1;
	}
	CXSourceRange extent = marked_part(operand);
	struct block *b = add_block(w, clang_getCursorExtent(operand), arm ? "arm" : "right", flow);
	struct edit *e = b ? add_edit(w->pass, EDIT_WRAP, offset_of(clang_getRangeStart(extent)), 0) : NULL;
	if (!e)
		return -1;
	unsigned id = e->block = b->id;
	b->parent = (int)flow.block;
	if (sibling >= 0 && flow.exact && (add_term(w, id, flow.block, 1) || add_term(w, id, (unsigned)sibling, -1)))
		return -1;
	flow.block = id;
	flow.exact = !may_jump_out(w, operand);
	if (collect_expression(w, operand, flow))
		return -1;
	e = add_edit(w->pass, EDIT_WRAP_END, offset_of(clang_getRangeEnd(extent)), 0);
	if (e)
		e->block = id;
	return (int)id;
}

static int visit_all(struct block_walk *w, CXCursor cursor, const struct children *c, struct place_in_flow flow)
{
	enum value_use use = flow.use;
	for (size_t i = 0; i < c->count && !w->pass->result; i++) {
		flow.use = use_of_child(cursor, c, i, use);
		collect_expression(w, c->items[i], flow);
	}
	return w->pass->result;
}

/* Visits the arguments of a call, with the marks around them. The first child is the function. */
static int visit_arguments(struct block_walk *w, CXCursor call, const struct children *c, struct place_in_flow flow)
{
	struct call_marks marks = {0};
	if (!called_function(w->pass->a, call) && mark_call(w->pass, call, c, flow, &marks))
		return w->pass->result;
	for (size_t i = 0; i < c->count && !w->pass->result; i++) {
		const struct site_marks *m = i && i <= MOST_MARKED ? &marks.arguments[i - 1] : NULL;
		if (m)
			add_mark(w->pass, m->from, m->before);
		collect_expression(w, c->items[i], flow);
		if (m && !w->pass->result)
			add_mark(w->pass, m->to, m->after);
	}
	return w->pass->result;
}

/* Remembers in which loop a function is called. */
static void add_call(struct block_walk *w, CXCursor call, struct place_in_flow flow)
{
	struct function *to = flow.quiet ? NULL : called_function(w->pass->a, call);
	struct loop_call *c = to ? array_grow(&w->pass->a->calls, &w->pass->a->call_count, sizeof *c) : NULL;
	if (c)
		*c = (struct loop_call){w->pass->function, to, flow.loop};
	else if (to)
		no_memory(w);
}

static int visit_call(struct block_walk *w, CXCursor call, const struct children *c, struct place_in_flow flow)
{
	w->pass->result = edit_callee(w->pass, call);
	if (!w->pass->result)
		add_call(w, call, flow);
	if (!w->pass->result)
		visit_arguments(w, call, c, flow);
	if (!w->pass->result)
		w->pass->result = edit_argument(w->pass, call);
	return w->pass->result;
}

/* libclang visits the first operand of a ?: b a second time, where its value is used. */
static void drop_repeated(struct children *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->count; i++) {
		bool again = false;
		for (size_t j = 0; j < kept; j++)
			again |= clang_equalRanges(clang_getCursorExtent(c->items[i]), clang_getCursorExtent(c->items[j]));
		if (!again)
			c->items[kept++] = c->items[i];
	}
	c->count = kept;
}

/* a ?: b */
static bool is_short_conditional(const struct parsed_unit *u, enum CXCursorKind kind, const struct children *c)
{
	if (kind != CXCursor_UnexposedExpr || c->count != 2)
		return false;
	size_t at = offset_of(clang_getRangeEnd(clang_getCursorExtent(c->items[0])));
	do
		at = scan_blanks(u->text, u->length, at);
	while (u->text[at] == ')' && ++at);
	if (u->text[at] != '?')
		return false;
	return u->text[scan_blanks(u->text, u->length, at + 1)] == ':';
}

static int visit_branch(struct block_walk *w, const struct children *c, struct place_in_flow flow, bool short_form)
{
	bool arms = c->count == 3;
	if (collect_expression(w, c->items[0], flow))
		return w->pass->result;
	int first = visit_operand(w, c->items[1], flow, arms || short_form, -1);
	if (arms && !w->pass->result)
		visit_operand(w, c->items[2], flow, true, first);
	return w->pass->result;
}

/* Calls that do not evaluate their arguments. */
static bool evaluates_nothing(CXCursor call)
{
	static const char *const names[] = {"__builtin_constant_p", "__builtin_object_size", "__builtin_dynamic_object_size",
	                                    "__builtin_classify_type", "__builtin_assume"};
	CXString name = clang_getCursorSpelling(call);
	bool found = false;
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		found |= clang_getCString(name) && !strcmp(clang_getCString(name), names[i]);
	clang_disposeString(name);
	return found;
}

/* A variable that is initialised before anything runs. */
static bool is_static(CXCursor variable)
{
	CXString type = clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(variable)));
	bool constant = clang_getCString(type) && !strncmp(clang_getCString(type), "__constant", 10);
	clang_disposeString(type);
	return constant || clang_Cursor_getStorageClass(variable) == CX_SC_Static;
}

/* Not evaluated where it stands: an operand of sizeof, a type, the declaration of a type, a static initialiser. */
static bool is_quiet(CXCursor cursor, enum CXCursorKind kind)
{
	switch (kind) {
	case CXCursor_UnaryExpr: /* sizeof and its like */
	case CXCursor_TypedefDecl:
	case CXCursor_StructDecl:
	case CXCursor_UnionDecl:
	case CXCursor_EnumDecl:
	case CXCursor_StaticAssert:
		return true;
	case CXCursor_VarDecl:
		return is_static(cursor);
	case CXCursor_CallExpr:
		return evaluates_nothing(cursor);
	default:
		return false;
	}
}

/* [1 ... 3] = x in an initialiser: compilers copy x, and refuse it if it has effects. */
static bool is_range(const struct parsed_unit *u, CXCursor cursor, enum CXCursorKind kind)
{
	return kind == CXCursor_UnexposedExpr &&
	       scan_has_range(u->text, u->length, offset_of(clang_getRangeStart(clang_getCursorExtent(cursor))));
}

/* The type of a variable, a cast or a literal may contain a typeof, which is not evaluated. The value comes last, after the
 * variable's name. */
static int visit_typed(struct block_walk *w, CXCursor cursor, const struct children *c, struct place_in_flow flow)
{
	bool variable = clang_getCursorKind(cursor) == CXCursor_VarDecl;
	size_t name = offset_of(clang_getCursorLocation(cursor));
	for (size_t i = 0; i < c->count && !w->pass->result; i++) {
		struct place_in_flow inside = flow;
		size_t at = offset_of(clang_getRangeStart(clang_getCursorExtent(c->items[i])));
		inside.quiet |= variable ? at < name : i + 1 < c->count;
		collect_expression(w, c->items[i], inside);
	}
	return w->pass->result;
}

static bool has_type(enum CXCursorKind kind)
{
	return kind == CXCursor_VarDecl || kind == CXCursor_CStyleCastExpr || kind == CXCursor_CompoundLiteralExpr;
}

static int visit_kind(struct block_walk *w, CXCursor cursor, enum CXCursorKind kind, struct children *c,
                      struct place_in_flow flow)
{
	enum value_use use = flow.use;
	flow.quiet |= is_quiet(cursor, kind) || is_range(w->pass->unit, cursor, kind);
	flow.use = USE_LOAD; /* for what visit_all does not visit */
	if (kind == CXCursor_UnexposedExpr)
		drop_repeated(c);
	if (kind == CXCursor_CallExpr)
		return visit_call(w, cursor, c, flow);
	if (has_type(kind))
		return visit_typed(w, cursor, c, flow);
	bool short_form = is_short_conditional(w->pass->unit, kind, c);
	if (short_form || is_branch(cursor, kind, c))
		return visit_branch(w, c, flow, short_form);
	/* _Generic and __builtin_choose_expr evaluate only one part. */
	if (kind == CXCursor_GenericSelectionExpr || (kind == CXCursor_UnexposedExpr && c->count > 1))
		flow.exact = false;
	flow.use = use;
	return visit_all(w, cursor, c, flow);
}

int collect_expression(struct block_walk *w, CXCursor cursor, struct place_in_flow flow)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	if (kind == CXCursor_BlockExpr)
		return w->pass->result = refuse(clang_getCursorLocation(cursor), w->pass->err, "a block (enqueue_kernel)");
	if (kind == CXCursor_StmtExpr && !flow.quiet)
		return collect_inner_blocks(w, cursor, flow);
	if (kind == CXCursor_FunctionDecl)
		return edit_inner_declaration(w->pass, cursor);
	if (flow.exact && !flow.quiet && is_solid(cursor))
		w->pass->a->blocks[flow.block].solid = true;
	struct children c = children_of(cursor);
	struct site_marks marks;
	if (c.failed)
		w->pass->result = gs_fail(w->pass->err, ENOMEM, "out of memory");
	else if (!add_access_sites(w->pass, cursor, &c, flow, &marks) && !visit_kind(w, cursor, kind, &c, flow))
		add_closing_mark(w->pass, &marks);
	free(c.items);
	return w->pass->result;
}
