/*
 * Labels: case, default, and labels of goto. Control arrives there from elsewhere, so each chain of labels begins a block.
 */
#include "annotator/blocks/walk.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

#include <stdlib.h>

bool is_label(enum CXCursorKind kind)
{
	return kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt || kind == CXCursor_LabelStmt;
}

static enum CXChildVisitResult find_label(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	*(bool *)data |= is_label(clang_getCursorKind(cursor));
	return *(bool *)data ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool contains_label(CXCursor s)
{
	bool found = false;
	struct children c = children_of(s);
	enum CXCursorKind kind = clang_getCursorKind(s);
	if (is_label(kind) && c.count)
		found = contains_label(c.items[c.count - 1]);
	else
		clang_visitChildren(s, find_label, &found);
	free(c.items);
	return found;
}

/* Finds labels, and cases that are not in the list of their own switch: control enters in the middle of other statements. */
static enum CXChildVisitResult find_irregular(CXCursor cursor, CXCursor parent, CXClientData data)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor), above = clang_getCursorKind(parent);
	bool *irregular = data;
	if (kind == CXCursor_LabelStmt || kind == CXCursor_IndirectGotoStmt)
		*irregular = true;
	if ((kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt) && above != CXCursor_CaseStmt &&
	    above != CXCursor_DefaultStmt && above != CXCursor_SwitchStmt && above != CXCursor_CompoundStmt)
		*irregular = true;
	if (kind == CXCursor_SwitchStmt) {
		struct children c = children_of(cursor), list = {0};
		if (c.count && clang_getCursorKind(c.items[c.count - 1]) == CXCursor_CompoundStmt)
			list = children_of(c.items[c.count - 1]);
		/* What stands before the first case never runs. */
		if (list.count && clang_getCursorKind(list.items[0]) != CXCursor_CaseStmt &&
		    clang_getCursorKind(list.items[0]) != CXCursor_DefaultStmt)
			*irregular = true;
		free(c.items);
		free(list.items);
	}
	/* A case in a block inside of the switch's block. */
	if (kind == CXCursor_CompoundStmt && above != CXCursor_SwitchStmt) {
		struct children list = children_of(cursor);
		for (size_t i = 0; i < list.count; i++) {
			enum CXCursorKind k = clang_getCursorKind(list.items[i]);
			*irregular |= k == CXCursor_CaseStmt || k == CXCursor_DefaultStmt;
		}
		free(list.items);
	}
	return CXChildVisit_Recurse;
}

bool is_irregular(CXCursor body)
{
	bool irregular = false;
	clang_visitChildren(body, find_irregular, &irregular);
	return irregular;
}

/* ---- jumps out of expressions ---- */

struct leaving_search {
	size_t from, to; /* the place of the statements in an expression */
	bool in_loop, in_switch, found;
};

size_t label_of(CXCursor jump)
{
	struct children c = children_of(jump);
	size_t at = c.count == 1 ? offset_of(clang_getCursorLocation(clang_getCursorReferenced(c.items[0]))) : 0;
	free(c.items);
	return at;
}

static enum CXChildVisitResult find_jump(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct leaving_search *s = data, inside = *s;
	size_t label;
	(void)parent;
	switch (clang_getCursorKind(cursor)) {
	case CXCursor_ReturnStmt:
	case CXCursor_IndirectGotoStmt:
		s->found = true;
		break;
	case CXCursor_GotoStmt:
		label = label_of(cursor);
		s->found |= label < s->from || label >= s->to;
		break;
	case CXCursor_BreakStmt:
		s->found |= !s->in_loop && !s->in_switch;
		break;
	case CXCursor_ContinueStmt:
		s->found |= !s->in_loop;
		break;
	case CXCursor_ForStmt:
	case CXCursor_WhileStmt:
	case CXCursor_DoStmt:
	case CXCursor_SwitchStmt:
		inside.in_switch |= clang_getCursorKind(cursor) == CXCursor_SwitchStmt;
		inside.in_loop |= clang_getCursorKind(cursor) != CXCursor_SwitchStmt;
		clang_visitChildren(cursor, find_jump, &inside);
		s->found |= inside.found;
		return CXChildVisit_Continue;
	default:
		break;
	}
	return s->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static enum CXChildVisitResult find_statements(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	if (clang_getCursorKind(cursor) == CXCursor_StmtExpr) {
		CXSourceRange extent = clang_getCursorExtent(cursor);
		struct leaving_search s = {offset_of(clang_getRangeStart(extent)), offset_of(clang_getRangeEnd(extent)), .found = false};
		clang_visitChildren(cursor, find_jump, &s);
		*(bool *)data |= s.found;
	}
	return *(bool *)data ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool may_jump_out(const struct block_walk *w, CXCursor expression)
{
	bool found = false;
	if (!w->pass->unit->inner_statements)
		return false;
	if (find_statements(expression, expression, &found) == CXChildVisit_Recurse)
		clang_visitChildren(expression, find_statements, &found);
	return found;
}

/* ---- labels ---- */

/* Visits the constants of a case. They may contain calls that are not evaluated: sizeof(f(1)). */
static void walk_constants(struct block_walk *w, const struct children *c, struct place_in_flow flow)
{
	flow.quiet = true;
	for (size_t i = 0; i + 1 < c->count && !w->pass->result; i++)
		collect_expression(w, c->items[i], flow);
}

/* The marker stands after the colon of the last label of a chain. */
int walk_labelled(struct block_walk *w, CXCursor s, struct place_in_flow *flow, size_t *end)
{
	struct children c = children_of(s);
	enum CXCursorKind kind = clang_getCursorKind(s);
	size_t colon = 0, from = start_of(s);
	if (c.failed || !c.count) {
		free(c.items);
		return fail_at(w, s, "a label without a statement");
	}
	CXCursor sub = c.items[c.count - 1];
	if (kind == CXCursor_CaseStmt && c.count > 1) /* its constant may contain ?: */
		from = offset_of(clang_getRangeEnd(clang_getCursorExtent(c.items[c.count - 2])));
	else
		from = scan_word(w->pass->unit->text, w->pass->unit->length, from);
	if (kind == CXCursor_CaseStmt)
		walk_constants(w, &c, *flow);
	free(c.items);
	if (w->pass->result)
		return w->pass->result;
	/* Skips the closing brackets of a constant. */
	if (kind == CXCursor_CaseStmt)
		while (w->pass->unit->text[scan_blanks(w->pass->unit->text, w->pass->unit->length, from)] == ')')
			from = scan_blanks(w->pass->unit->text, w->pass->unit->length, from) + 1;
	if (after_character(w, s, from, ':', &colon))
		return w->pass->result;
	if (kind == CXCursor_LabelStmt) /* attributes after its colon belong to the label, and nothing may stand between them */
		colon = scan_attributes(w->pass->unit->text, w->pass->unit->length, colon);
	if (is_label(clang_getCursorKind(sub)))
		return walk_labelled(w, sub, flow, end);
	const char *name = kind == CXCursor_LabelStmt ? "label" : kind == CXCursor_CaseStmt ? "case" : "default";
	if (add_marked_block(w, clang_getCursorExtent(s), name, *flow, colon, &flow->block))
		return w->pass->result;
	flow->exact = true;
	w->start = colon;
	return walk_statement(w, sub, *flow, end);
}
