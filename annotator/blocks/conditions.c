/*
 * Conditions that are tested twice, like `if (inside)` before and after a barrier. The second test has the result of the first, so
 * what it guards needs no counter. That is certain if all of these hold:
 *   - both are tested in one execution of a block;
 *   - both have the same text;
 *   - they have no effects;
 *   - they read numbers of the work-item only;
 *   - nothing between the two changes one of these numbers.
 */
#include "annotator/blocks/walk.h"
#include "annotator/source/array.h"
#include "annotator/source/parse.h"

#include <stdlib.h>
#include <string.h>

/* The text at `at` changes `variable`, or takes its address, and then it may change anywhere. */
struct variable_change {
	CXCursor variable;
	size_t at;
	bool anywhere;
};

/* A condition that was tested, in a block, and the block that runs if it is true. */
struct tested_condition {
	CXCursor condition;
	size_t at;
	unsigned block, then;
};

struct conditions {
	struct variable_change *changes;
	size_t change_count;
	struct tested_condition *asked;
	size_t asked_count;
	bool unknown; /* the changes are not known: there is inline assembly, or no memory to keep them */
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

/* The expression inside of brackets and implicit conversions. */
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

static enum CXChildVisitResult collect_changes(CXCursor cursor, CXCursor parent, CXClientData data)
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
	struct variable_change *change = array_grow(&k->changes, &k->change_count, sizeof *change);
	k->unknown |= !change;
	if (change)
		*change = (struct variable_change){clang_getCursorReferenced(operand), start_of(cursor), anywhere};
	return CXChildVisit_Recurse;
}

struct conditions *conditions_new(CXCursor body)
{
	struct conditions *k = calloc(1, sizeof *k);
	if (k)
		clang_visitChildren(body, collect_changes, k);
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

struct condition_check {
	const struct conditions *k;
	const struct annotation *a;
	size_t from, to; /* nothing may change between these places of the text */
	bool same;
};

/* A number that only one work-item sees. */
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

static bool changes(const struct condition_check *q, CXCursor variable)
{
	for (size_t i = 0; i < q->k->change_count; i++) {
		const struct variable_change *c = &q->k->changes[i];
		if ((c->anywhere || (c->at >= q->from && c->at < q->to)) && clang_equalCursors(c->variable, variable))
			return true;
	}
	return false;
}

/* Calls of builtins that always return the same value to a work-item. */
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

static enum CXChildVisitResult check_operand(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct condition_check *q = data;
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

struct referenced_names {
	CXCursor *items;
	size_t count;
	bool failed;
};

static enum CXChildVisitResult collect_names(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct referenced_names *n = data;
	(void)parent;
	if (clang_getCursorKind(cursor) == CXCursor_DeclRefExpr) {
		CXCursor *slot = array_grow(&n->items, &n->count, sizeof *slot);
		n->failed |= !slot;
		if (slot)
			*slot = clang_getCursorReferenced(cursor);
	}
	return CXChildVisit_Recurse;
}

static struct referenced_names names_in(CXCursor condition)
{
	struct referenced_names n = {0};
	collect_names(condition, condition, &n);
	clang_visitChildren(condition, collect_names, &n);
	return n;
}

/* The texts are equal, and every name refers to the same declaration. */
static bool written_alike(const struct parsed_unit *u, CXCursor x, CXCursor y)
{
	size_t from = start_of(x), length = offset_of(clang_getRangeEnd(clang_getCursorExtent(x))) - from;
	size_t other = start_of(y), other_length = offset_of(clang_getRangeEnd(clang_getCursorExtent(y))) - other;
	if (length != other_length || from + length > u->length || other + length > u->length ||
	    memcmp(u->text + from, u->text + other, length))
		return false;
	struct referenced_names a = names_in(x), b = names_in(y);
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
		const struct tested_condition *before = &k->asked[i];
		struct condition_check q = {.k = k, .a = w->pass->a, .from = before->at, .to = start_of(condition), .same = true};
		if (before->block != flow.block || !written_alike(w->pass->unit, before->condition, condition))
			continue;
		if (check_operand(condition, condition, &q) == CXChildVisit_Recurse)
			clang_visitChildren(condition, check_operand, &q);
		return q.same ? (int)before->then : -1;
	}
	return -1;
}

void remember_condition(struct block_walk *w, CXCursor condition, struct place_in_flow flow, unsigned then)
{
	struct conditions *k = w->conditions;
	struct tested_condition *a = k ? array_grow(&k->asked, &k->asked_count, sizeof *a) : NULL;
	if (a)
		*a = (struct tested_condition){.condition = condition, .at = start_of(condition), .block = flow.block, .then = then};
}
