/*
 * The blocks of a function's statements.
 *
 * Every place where control may arrive by a jump or a branch gets a marker: after the bracket of a header, after `else` or `do`, or
 * after the colon of a label. A body without braces gets braces there, so that the marker is a statement of a list. Pragmas and
 * attributes stay where they are, before their loop. Only `else if` has its marker in the condition.
 *
 * What follows a statement that may leave is a block of its own ("after"). Some blocks need no counter, because flow determines
 * their count, unless something jumps in from outside:
 *   after   the count of the block before it, minus the counts of the jumps that leave
 *   else    the count of the block around it, minus that of `then`
 *   then    that of an earlier `then` with the same condition
 *   the body of do ... while (0)   that of the block around it
 */
#include "annotator/blocks/walk.h"
#include "annotator/sites/sites.h"
#include "annotator/source/array.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

#include <stdlib.h>
#include <string.h>

#define UNREADABLE_IF "an if that cannot be read"

int walk_branch(struct block_walk *w, CXCursor s, const char *kind, struct place_in_flow flow, size_t at, int loop,
                unsigned *id, size_t *end)
{
	bool braces = clang_getCursorKind(s) == CXCursor_CompoundStmt;
	if (!braces)
		add_text(w, at, "{");
	at = braces ? after_brace(w, s) : at;
	flow.loop = loop;
	if (kind && add_marked_block(w, clang_getCursorExtent(s), kind, flow, at, id))
		return w->pass->result;
	if (kind) {
		w->pass->a->blocks[*id].parent = (int)flow.block;
		flow.block = *id;
		flow.exact = true;
	}
	w->start = at;
	if (walk_statement(w, s, flow, end))
		return w->pass->result;
	if (!braces)
		add_text(w, *end, "}");
	return w->pass->result;
}

static int add_jump(struct block_walk *w, unsigned block, size_t target, size_t label)
{
	struct jump *j = array_grow(&w->jumps, &w->jump_count, sizeof *j);
	if (!j)
		return no_memory(w);
	*j = (struct jump){.block = block, .target = target, .label = label};
	return 0;
}

/* Marks what follows a statement in a list. The jumps from `first` on are those of the statement. */
static int mark_after(struct block_walk *w, CXCursor before, CXCursor next, size_t first, size_t at,
                      struct place_in_flow *flow)
{
	bool leaves = w->irregular && contains_label(before);
	for (size_t i = first; i < w->jump_count; i++)
		leaves |= w->jumps[i].target <= w->depth;
	if (!leaves || is_label(clang_getCursorKind(next)))
		return 0;
	unsigned before_id = flow->block;
	if (add_marked_block(w, clang_getCursorExtent(next), "after", *flow, at, &flow->block) || w->irregular)
		return w->pass->result;
	w->pass->a->blocks[flow->block].parent = (int)before_id;
	add_term(w, flow->block, before_id, 1);
	for (size_t i = first; i < w->jump_count && !w->pass->result; i++)
		if (w->jumps[i].target <= w->depth)
			add_term(w, flow->block, w->jumps[i].block, -1);
	return w->pass->result;
}

/* ---- statements ---- */

static int walk_leaving(struct block_walk *w, CXCursor expression, struct place_in_flow flow, bool header)
{
	bool may_leave = w->may_leave, in_header = w->in_header;
	w->may_leave = may_jump_out(w, expression);
	w->in_header = header;
	flow.exact &= !w->may_leave;
	collect_expression(w, expression, flow);
	w->may_leave = may_leave;
	w->in_header = in_header;
	return w->pass->result;
}

static int walk_expression(struct block_walk *w, CXCursor expression, struct place_in_flow flow)
{
	return walk_leaving(w, expression, flow, false);
}

int walk_header_expression(struct block_walk *w, CXCursor expression, struct place_in_flow flow)
{
	return walk_leaving(w, expression, flow, true);
}

static int walk_list(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	size_t after = after_brace(w, s);
	for (size_t i = 0; i < c->count; i++) {
		size_t first = w->jump_count;
		w->start = after;
		bool label = is_label(clang_getCursorKind(c->items[i]));
		if (label ? walk_labelled(w, c->items[i], &flow, &after)
		          : walk_statement(w, c->items[i], flow, &after))
			return w->pass->result;
		if (i + 1 < c->count && mark_after(w, c->items[i], c->items[i + 1], first, after, &flow))
			return w->pass->result;
	}
	*end = offset_of(clang_getRangeEnd(clang_getCursorExtent(s)));
	return 0;
}

/* Visits the condition of an `if` whose bracket ends at `at`. In `else if` it begins a block of its own. */
static int walk_condition(struct block_walk *w, CXCursor s, CXCursor condition, struct place_in_flow flow, size_t at, bool is_else)
{
	const struct parsed_unit *u = w->pass->unit;
	struct edit *e = NULL;
	if (is_else) {
		size_t open = scan_blanks(u->text, u->length, after_word(w, s, start_of(s), "if"));
		e = w->pass->result ? NULL : add_edit(w->pass, EDIT_WRAP, open + 1, 0);
		if (e)
			e->block = flow.block;
	}
	if (w->pass->result || walk_expression(w, condition, flow))
		return w->pass->result;
	e = is_else ? add_edit(w->pass, EDIT_WRAP_END, at - 1, 0) : NULL;
	if (e)
		e->block = flow.block;
	return w->pass->result;
}

static int walk_else(struct block_walk *w, CXCursor s, struct place_in_flow flow, size_t at, unsigned *id, size_t *end);

static int walk_if(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, bool is_else, size_t *end)
{
	unsigned then = 0, otherwise = 0;
	size_t at = after_header(w, s, start_of(s), "if");
	int same = w->pass->result ? -1 : same_condition(w, c->items[0], flow);
	if (w->pass->result || walk_condition(w, s, c->items[0], flow, at, is_else) ||
	    walk_branch(w, c->items[1], "then", flow, at, flow.loop, &then, end))
		return w->pass->result;
	if (same >= 0)
		add_term(w, then, (unsigned)same, 1);
	else
		remember_condition(w, c->items[0], flow, then);
	if (w->pass->result || c->count < 3)
		return w->pass->result;
	at = after_word(w, s, *end, "else");
	if (w->pass->result || walk_else(w, c->items[2], flow, at, &otherwise, end) || !flow.exact ||
	    may_jump_out(w, c->items[0]))
		return w->pass->result;
	add_term(w, otherwise, flow.block, 1);
	if (!w->pass->result)
		add_term(w, otherwise, then, -1);
	return w->pass->result;
}

/* In `else if` the marker goes into the condition. With braces, a long chain would nest too deeply for compilers. */
static int walk_else(struct block_walk *w, CXCursor s, struct place_in_flow flow, size_t at, unsigned *id, size_t *end)
{
	if (clang_getCursorKind(s) != CXCursor_IfStmt)
		return walk_branch(w, s, "else", flow, at, flow.loop, id, end);
	struct block *b = add_block(w, clang_getCursorExtent(s), "else", flow);
	if (!b)
		return w->pass->result;
	b->parent = (int)flow.block;
	*id = flow.block = b->id;
	flow.exact = true;
	struct children c = children_of(s);
	if (c.failed)
		no_memory(w);
	else if (c.count < 2)
		fail_at(w, s, UNREADABLE_IF);
	else
		walk_if(w, s, &c, flow, true, end);
	free(c.items);
	return w->pass->result;
}

static int walk_switch(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	size_t at = after_header(w, s, start_of(s), "switch");
	if (w->pass->result || walk_header_expression(w, c->items[0], flow))
		return w->pass->result;
	w->depth++;
	flow.exact = false; /* what stands before the first case never runs */
	walk_branch(w, c->items[1], NULL, flow, at, flow.loop, NULL, end);
	w->depth--;
	return w->pass->result;
}

/* A jump leaves all loops around it. Loops in which a goto stays have labels, and then no windows (loops.c: has_trips). */
static void leave_loops(struct block_walk *w, CXCursor s, struct place_in_flow flow)
{
	struct edit *e = flow.loop >= 0 ? add_edit(w->pass, EDIT_LEAVE, start_of(s), 0) : NULL;
	if (e)
		e->block = (unsigned)flow.loop;
	for (int l = flow.loop; l >= 0; l = w->pass->a->loops[l].outer)
		w->pass->a->loops[l].needs_last = true;
}

static void edit_return(struct block_walk *w, size_t at, enum edit_kind kind)
{
	struct edit *e = add_edit(w->pass, kind, at, kind == EDIT_RETURN_CALL ? strlen("return") : 0);
	if (e)
		e->block = w->entry;
}

static int walk_return(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow)
{
	leave_loops(w, s, flow);
	if (w->pass->function->kernel)
		edit_return(w, start_of(s), c->count ? EDIT_RETURN_CALL : EDIT_RETURN);
	size_t first = w->jump_count;
	if (c->count && walk_expression(w, c->items[0], flow))
		return w->pass->result;
	/* Every execution leaves once. A return in the expression is not a further one. */
	for (size_t i = first; i < w->jump_count; i++) {
		if (w->jumps[i].target <= w->depth && w->jumps[i].target)
			return fail_at(w, s, "a jump out of statements in an expression");
		if (!w->jumps[i].label)
			w->jumps[i].target = TARGET_INSIDE;
	}
	return add_jump(w, flow.block, 0, 0);
}

/* Visits break or continue. If no loop is around it, it stands in the header of one. */
static int walk_break(struct block_walk *w, CXCursor s, struct place_in_flow flow, size_t target)
{
	if (clang_getCursorKind(s) == CXCursor_BreakStmt && target == w->loop_depth && flow.loop >= 0)
		w->pass->a->loops[flow.loop].needs_last = true;
	return target ? add_jump(w, flow.block, target, 0) : fail_at(w, s, "a jump out of statements in an expression");
}

static void walk_goto(struct block_walk *w, CXCursor s, struct place_in_flow flow, size_t label)
{
	leave_loops(w, s, flow);
	add_jump(w, flow.block, 0, label);
}

/* Visits a statement that ends with a semicolon. libclang leaves it out, except for declarations and empty statements. */
static int walk_simple(struct block_walk *w, CXCursor s, enum CXCursorKind kind, const struct children *c,
                       struct place_in_flow flow, size_t *end)
{
	const char *text = w->pass->unit->text;
	size_t at = offset_of(clang_getRangeEnd(clang_getCursorExtent(s)));
	if (kind == CXCursor_ReturnStmt)
		walk_return(w, s, c, flow);
	else if (kind == CXCursor_BreakStmt)
		walk_break(w, s, flow, w->depth);
	else if (kind == CXCursor_ContinueStmt)
		walk_break(w, s, flow, w->loop_depth);
	else if (kind == CXCursor_GotoStmt || kind == CXCursor_IndirectGotoStmt)
		walk_goto(w, s, flow, kind == CXCursor_GotoStmt ? label_of(s) : 0);
	else
		walk_expression(w, s, flow);
	if (w->pass->result)
		return w->pass->result;
	/* There is no text between a label and the end of its block. */
	bool nothing = kind == CXCursor_NullStmt && at && text[at - 1] == ':';
	if (nothing || ((kind == CXCursor_DeclStmt || kind == CXCursor_NullStmt) && at && text[at - 1] == ';')) {
		*end = at;
		for (size_t i = 0; i < c->count && kind == CXCursor_DeclStmt && !w->pass->result; i++)
			if (clang_getCursorKind(c->items[i]) == CXCursor_VarDecl)
				place_variable(w->pass, c->items[i], at);
		return w->pass->result;
	}
	if (after_character(w, s, at, ';', end))
		return w->pass->result;
	if (kind == CXCursor_ReturnStmt && w->pass->function->kernel)
		edit_return(w, *end, c->count ? EDIT_RETURN_CALL_END : EDIT_RETURN_END);
	return w->pass->result;
}

/* A statement with attributes, such as those of #pragma unroll. The statement itself is the last child. */
static bool is_attributed(enum CXCursorKind kind, const struct children *c)
{
	return kind == CXCursor_UnexposedStmt && c->count && clang_isStatement(clang_getCursorKind(c->items[c->count - 1]));
}

static int walk_kind(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	enum CXCursorKind kind = clang_getCursorKind(s);
	switch (kind) {
	case CXCursor_CompoundStmt:
		return walk_list(w, s, c, flow, end);
	case CXCursor_IfStmt:
		return c->count < 2 ? fail_at(w, s, UNREADABLE_IF) : walk_if(w, s, c, flow, false, end);
	case CXCursor_ForStmt:
	case CXCursor_WhileStmt:
	case CXCursor_DoStmt:
		if (c->count < (kind == CXCursor_ForStmt ? 1 : 2))
			return fail_at(w, s, "a loop that cannot be read");
		return walk_loop(w, s, c, flow, end);
	case CXCursor_SwitchStmt:
		return c->count < 2 ? fail_at(w, s, "a switch that cannot be read") : walk_switch(w, s, c, flow, end);
	case CXCursor_CaseStmt:
	case CXCursor_DefaultStmt:
	case CXCursor_LabelStmt:
		return walk_labelled(w, s, &flow, end);
	default:
		if (is_attributed(kind, c))
			return walk_statement(w, c->items[c->count - 1], flow, end);
		return walk_simple(w, s, kind, c, flow, end);
	}
}

int walk_statement(struct block_walk *w, CXCursor s, struct place_in_flow flow, size_t *end)
{
	struct children c = children_of(s);
	if (c.failed)
		no_memory(w);
	else
		walk_kind(w, s, &c, flow, end);
	free(c.items);
	return w->pass->result;
}

/* ---- functions ---- */

static int walk_inner(struct block_walk *w, CXCursor body, struct place_in_flow flow)
{
	size_t first = w->jump_count, start = w->start, end;
	bool may_leave = w->may_leave;
	struct place_in_flow inside = {.loop = flow.loop, .exact = true};
	if (add_marked_block(w, clang_getCursorExtent(body), "inner", inside, after_brace(w, body), &inside.block))
		return w->pass->result;
	if (flow.exact && add_term(w, inside.block, flow.block, 1))
		return w->pass->result;
	w->may_leave = false;
	if (walk_statement(w, body, inside, &end))
		return w->pass->result;
	w->may_leave = may_leave;
	for (size_t i = first; i < w->jump_count; i++) {
		if (w->jumps[i].label > start_of(body) && w->jumps[i].label < end)
			w->jumps[i].target = TARGET_INSIDE;
		if (w->jumps[i].target <= w->depth && (!may_leave || (w->in_header && w->jumps[i].target)))
			return fail_at(w, body, "a jump out of statements in an expression");
	}
	w->start = start;
	return 0;
}

/* Nothing can jump into these statements. */
int collect_inner_blocks(struct block_walk *w, CXCursor expression, struct place_in_flow flow)
{
	struct children c = children_of(expression);
	if (c.failed)
		no_memory(w);
	else if (c.count != 1)
		fail_at(w, expression, "statements in an expression");
	else
		walk_inner(w, c.items[0], flow);
	free(c.items);
	return w->pass->result;
}

int collect_blocks(struct edit_pass *pass, CXCursor function, CXCursor body)
{
	struct block_walk w = {.pass = pass};
	struct place_in_flow flow = {.loop = -1, .exact = true};
	size_t end = 0;
	w.irregular = is_irregular(body);
	flow.bound = w.irregular ? BOUND_NONE : BOUND_ONCE;
	CXSourceRange range = clang_getRange(clang_getCursorLocation(function),
	                                     clang_getRangeEnd(clang_getCursorExtent(body)));
	if (add_marked_block(&w, range, "entry", flow, after_brace(&w, body), &flow.block))
		return pass->result;
	pass->a->blocks[flow.block].bound = BOUND_NONE;
	pass->unit->edits[pass->unit->edit_count - 1].entry = true;
	w.entry = flow.block;
	w.conditions = w.irregular ? NULL : conditions_new(body);
	walk_statement(&w, body, flow, &end);
	if (!pass->result && pass->function->kernel) {
		struct edit *e = add_edit(pass, EDIT_KERNEL_END, end - 1, 0);
		if (e)
			e->block = flow.block;
	}
	free(w.jumps);
	conditions_free(w.conditions);
	return pass->result;
}
