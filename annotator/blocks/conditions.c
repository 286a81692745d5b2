/*
 * Conditions that are asked twice, like `if (inside)` before and behind a barrier: the second has the answer of the first,
 * so what it guards needs no counter. That is certain when both are asked in one execution of a block, are written alike,
 * have no effects, read numbers of the work-item only, and nothing that is written between the two changes one of these.
 */
#include "annotator/blocks/walk.h"
#include "annotator/source/array.h"
#include "annotator/source/parse.h"

#include <stdlib.h>
#include <string.h>

/* `variable` is changed at a place in the text; or its address is taken, and then it may change anywhere. */
struct change {
	CXCursor variable;
	size_t at;
	bool anywhere;
};

struct asked {
	CXCursor condition;
	size_t at;
	unsigned block, then;
};

struct conditions {
	struct change *changes;
	size_t change_count;
	struct asked *asked;
	size_t asked_count;
	bool unknown; /* what changes, because there is inline assembly or no memory to keep it */
};

static bool changes_operand(CXCursor cursor, bool *anywhere)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	if (kind == CXCursor_BinaryOperator)
		return clang_getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign;
	if (kind != CXCursor_UnaryOperator)
		return kind == CXCursor_CompoundAssignOperator;
	enum CXUnaryOperatorKind operator = clang_getCursorUnaryOperatorKind(cursor);
	*anywhere = operator == CXUnaryOperator_AddrOf;
	return *anywhere || operator == CXUnaryOperator_PostInc || operator == CXUnaryOperator_PostDec ||
	       operator == CXUnaryOperator_PreInc || operator == CXUnaryOperator_PreDec;
}

/* What is in brackets; for the left side of an assignment, the variable if it is one as a whole. */
static CXCursor inside_brackets(CXCursor cursor)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	while (kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr) {
		struct children c = children_of(cursor);
		bool only = c.count == 1;
		if (only)
			cursor = c.items[0];
		free(c.items);
		if (!only)
			break;
		kind = clang_getCursorKind(cursor);
	}
	return cursor;
}

static enum CXChildVisitResult take_changes(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct conditions *k = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	bool anywhere = false;
	(void)parent;
	k->unknown |= kind == CXCursor_GCCAsmStmt || kind == CXCursor_MSAsmStmt;
	if (!changes_operand(cursor, &anywhere))
		return CXChildVisit_Recurse;
	struct children c = children_of(cursor);
	CXCursor operand = c.count ? inside_brackets(c.items[0]) : clang_getNullCursor();
	k->unknown |= c.failed;
	free(c.items);
	if (clang_getCursorKind(operand) != CXCursor_DeclRefExpr)
		return CXChildVisit_Recurse;
	struct change *change = array_grow(&k->changes, &k->change_count, sizeof *change);
	k->unknown |= !change;
	if (change)
		*change = (struct change){clang_getCursorReferenced(operand), start_of(cursor), anywhere};
	return CXChildVisit_Recurse;
}

struct conditions *conditions_new(CXCursor body)
{
	struct conditions *k = calloc(1, sizeof *k);
	if (k)
		clang_visitChildren(body, take_changes, k);
	return k;
}

void conditions_free(struct conditions *k)
{
	if (!k)
		return;
	free(k->changes);
	free(k->asked);
	free(k);
}

/* ---- what a condition depends on ---- */

struct question {
	const struct conditions *k;
	const struct annotation *a;
	size_t from, to; /* nothing may change between these places of the text */
	bool same;
};

/* A number that only the work-item itself sees. */
static bool is_private_number(CXCursor variable)
{
	enum CXCursorKind kind = clang_getCursorKind(variable);
	enum CX_StorageClass storage = clang_Cursor_getStorageClass(variable);
	CXType type = clang_getCursorType(variable), canonical = clang_getCanonicalType(type);
	if (kind != CXCursor_ParmDecl && (kind != CXCursor_VarDecl || (storage != CX_SC_None && storage != CX_SC_Auto)))
		return false;
	if (clang_getCursorKind(clang_getCursorSemanticParent(variable)) != CXCursor_FunctionDecl)
		return false;
	CXString name = clang_getTypeSpelling(canonical);
	bool shared = strstr(clang_getCString(name), "__local") || clang_isVolatileQualifiedType(canonical);
	clang_disposeString(name);
	return !shared && canonical.kind >= CXType_Bool && canonical.kind <= CXType_Double;
}

static bool changes(const struct question *q, CXCursor variable)
{
	for (size_t i = 0; i < q->k->change_count; i++) {
		const struct change *c = &q->k->changes[i];
		if ((c->anywhere || (c->at >= q->from && c->at < q->to)) && clang_equalCursors(c->variable, variable))
			return true;
	}
	return false;
}

/* Builtins that answer the same whenever a work-item asks. */
static bool is_constant_call(const struct annotation *a, CXCursor call)
{
	static const char *const names[] = {"get_local_id",   "get_global_id",  "get_group_id",      "get_local_size",
	                                    "get_global_size", "get_num_groups", "get_global_offset", "get_work_dim"};
	CXString name = clang_getCursorSpelling(call);
	bool found = false;
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		found |= !strcmp(clang_getCString(name), names[i]);
	clang_disposeString(name);
	return found && !called_function(a, call);
}

static bool is_steady_operator(CXCursor cursor)
{
	bool anywhere = false;
	return !changes_operand(cursor, &anywhere) && (clang_getCursorKind(cursor) != CXCursor_UnaryOperator ||
	                                               clang_getCursorUnaryOperatorKind(cursor) != CXUnaryOperator_Deref);
}

static enum CXChildVisitResult ask(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct question *q = data;
	CXCursor referenced = clang_getCursorReferenced(cursor);
	(void)parent;
	switch (clang_getCursorKind(cursor)) {
	case CXCursor_ParenExpr:
	case CXCursor_IntegerLiteral:
	case CXCursor_FloatingLiteral:
	case CXCursor_CharacterLiteral:
	case CXCursor_CStyleCastExpr:
	case CXCursor_TypeRef:
		break;
	case CXCursor_UnexposedExpr: { /* a conversion that is not written */
		struct children c = children_of(cursor);
		q->same &= c.count == 1;
		free(c.items);
		break;
	}
	case CXCursor_BinaryOperator:
	case CXCursor_UnaryOperator:
		q->same &= is_steady_operator(cursor);
		break;
	case CXCursor_CallExpr:
		q->same &= is_constant_call(q->a, cursor);
		break;
	case CXCursor_DeclRefExpr:
		if (clang_getCursorKind(referenced) != CXCursor_FunctionDecl)
			q->same &= is_private_number(referenced) && !changes(q, referenced);
		break;
	default:
		q->same = false;
	}
	return q->same ? CXChildVisit_Recurse : CXChildVisit_Break;
}

/* ---- whether two are the same ---- */

struct names {
	CXCursor *items;
	size_t count;
	bool failed;
};

static enum CXChildVisitResult take_names(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct names *n = data;
	(void)parent;
	if (clang_getCursorKind(cursor) == CXCursor_DeclRefExpr) {
		CXCursor *slot = array_grow(&n->items, &n->count, sizeof *slot);
		n->failed |= !slot;
		if (slot)
			*slot = clang_getCursorReferenced(cursor);
	}
	return CXChildVisit_Recurse;
}

static struct names names_in(CXCursor condition)
{
	struct names n = {0};
	take_names(condition, condition, &n);
	clang_visitChildren(condition, take_names, &n);
	return n;
}

/* The same words, and every name means the same. */
static bool written_alike(const struct parsed_unit *u, CXCursor x, CXCursor y)
{
	size_t from = start_of(x), length = offset_of(clang_getRangeEnd(clang_getCursorExtent(x))) - from;
	size_t other = start_of(y), other_length = offset_of(clang_getRangeEnd(clang_getCursorExtent(y))) - other;
	if (length != other_length || from + length > u->length || other + length > u->length ||
	    memcmp(u->text + from, u->text + other, length))
		return false;
	struct names a = names_in(x), b = names_in(y);
	bool same = !a.failed && !b.failed && a.count == b.count;
	for (size_t i = 0; i < a.count && same; i++)
		same = clang_equalCursors(a.items[i], b.items[i]);
	free(a.items);
	free(b.items);
	return same;
}

int same_condition(struct block_walk *w, CXCursor condition, struct place_in_flow flow)
{
	struct conditions *k = w->conditions;
	if (!k || k->unknown || w->irregular || !flow.exact)
		return -1;
	for (size_t i = k->asked_count; i-- > 0;) {
		const struct asked *before = &k->asked[i];
		struct question q = {.k = k, .a = w->pass->a, .from = before->at, .to = start_of(condition), .same = true};
		if (before->block != flow.block || !written_alike(w->pass->unit, before->condition, condition))
			continue;
		if (ask(condition, condition, &q) == CXChildVisit_Recurse)
			clang_visitChildren(condition, ask, &q);
		return q.same ? (int)before->then : -1;
	}
	return -1;
}

void remember_condition(struct block_walk *w, CXCursor condition, struct place_in_flow flow, unsigned then)
{
	struct conditions *k = w->conditions;
	struct asked *a = k ? array_grow(&k->asked, &k->asked_count, sizeof *a) : NULL;
	if (a)
		*a = (struct asked){.condition = condition, .at = start_of(condition), .block = flow.block, .then = then};
}
