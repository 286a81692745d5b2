/*
 * The blocks of loops: the table of loops, the headers, the bodies, and what follows a loop.
 */
#include "annotator/blocks/walk.h"
#include "annotator/source/array.h"

struct barrier_search {
	const struct annotation *a;
	bool found;
};

static enum CXChildVisitResult find_barrier(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct barrier_search *b = data;
	(void)parent;
	if (clang_getCursorKind(cursor) == CXCursor_CallExpr) {
		const struct function *f = called_function(b->a, cursor);
		b->found |= f ? f->has_barrier : is_barrier(cursor);
	}
	return b->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool contains_barrier(struct block_walk *w, CXCursor s)
{
	struct barrier_search b = {.a = w->pass->a};
	clang_visitChildren(s, find_barrier, &b);
	return b.found;
}

/* The parts of a loop's header run a number of times that no block has. */
static int walk_header(struct block_walk *w, const CXCursor *parts, size_t count, struct place_in_flow flow, unsigned loop)
{
	struct annotation *a = w->pass->a;
	size_t blocks = a->block_count, calls = a->call_count;
	flow.exact = false;
	flow.bound = BOUND_NONE;
	flow.loop = (int)loop;
	for (size_t i = 0; i < count && !w->pass->result; i++)
		walk_header_expression(w, parts[i], flow);
	/* With && alone, the way of a condition that was true may also be that of one which was false. */
	a->loops[loop].needs_last |= a->call_count > calls || (a->block_count > blocks && !only_ands(parts, count));
	return w->pass->result;
}

static int add_loop(struct block_walk *w, struct place_in_flow flow, CXCursor s, unsigned *id)
{
	struct annotation *a = w->pass->a;
	struct loop *l = array_grow(&a->loops, &a->loop_count, sizeof *l);
	if (!l)
		return no_memory(w);
	*id = (unsigned)a->loop_count - 1;
	*l = (struct loop){.id = *id, .unit = (unsigned)w->pass->unit_index, .parent = flow.block, .outer = flow.loop,
	                   .next = -1, .has_trips = !w->irregular || !contains_label(s)};
	return 0;
}

/* The body of a loop with one trip runs as often as the block around it. */
static int set_body_bound(struct block_walk *w, unsigned id, unsigned around, bool once)
{
	struct block *b = &w->pass->a->blocks[id];
	if (once)
		return add_term(w, id, around, 1);
	b->bound = b->bound != BOUND_NONE && b->between_barriers ? BOUND_BARRIERS : BOUND_NONE;
	return 0;
}

static int walk_loop_body(struct block_walk *w, CXCursor s, CXCursor body, struct place_in_flow flow, size_t at, unsigned loop,
                          bool once, size_t *end)
{
	size_t outer = w->loop_depth, edits = w->pass->unit->edit_count;
	unsigned id = 0, around = flow.block;
	w->loop_depth = ++w->depth;
	if (flow.bound != BOUND_NONE && !once) {
		flow.bound = BOUND_ROUND;
		flow.between_barriers = contains_barrier(w, body);
	}
	walk_branch(w, body, "body", flow, at, (int)loop, &id, end);
	w->depth--;
	w->loop_depth = outer;
	w->pass->a->loops[loop].body = id;
	if (!w->pass->result)
		note_parts(w, s, loop, at, *end, edits, w->pass->unit->edit_count);
	return w->pass->result ? w->pass->result : set_body_bound(w, id, around, once);
}

/* Macros often wrap their statements in do ... while (0). */
static bool is_zero(CXCursor condition)
{
	CXEvalResult value = clang_Cursor_Evaluate(condition);
	bool zero = value && clang_EvalResult_getKind(value) == CXEval_Int && !clang_EvalResult_getAsLongLong(value);
	if (value)
		clang_EvalResult_dispose(value);
	return zero;
}

static int walk_do(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, unsigned loop,
                   size_t *end)
{
	size_t at = after_word(w, s, start_of(s), "do");
	bool once = !w->irregular && !may_jump_out(w, c->items[1]) && is_zero(c->items[1]);
	if (once)
		w->pass->a->loops[loop].trips = 1;
	if (w->pass->result || walk_loop_body(w, s, c->items[0], flow, at, loop, once, end))
		return w->pass->result;
	at = after_header(w, s, *end, "while");
	if (w->pass->result || walk_header(w, &c->items[1], 1, flow, loop))
		return w->pass->result;
	return after_character(w, s, at, ';', end);
}

static int walk_header_first(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow,
                             unsigned loop, size_t *end)
{
	const char *word = clang_getCursorKind(s) == CXCursor_ForStmt ? "for" : "while";
	size_t at = after_header(w, s, start_of(s), word);
	if (w->pass->result || walk_header(w, c->items, c->count - 1, flow, loop))
		return w->pass->result;
	return walk_loop_body(w, s, c->items[c->count - 1], flow, at, loop, false, end);
}

/* Adds a second marker of the block around a loop, after the loop. Host text does not count there, because the count is known. */
static int mark_next(struct block_walk *w, CXCursor s, struct place_in_flow flow, unsigned loop, size_t at)
{
	CXSourceLocation end = clang_getRangeEnd(clang_getCursorExtent(s));
	unsigned id = 0;
	if (w->pass->a->loops[loop].leaves || w->irregular ||
	    add_marked_block(w, clang_getRange(end, end), "next", flow, at, &id))
		return w->pass->result;
	w->pass->a->loops[loop].next = (int)id;
	w->pass->a->blocks[id].parent = (int)flow.block;
	return add_term(w, id, flow.block, 1);
}

int walk_loop(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	unsigned loop = 0;
	size_t first = w->jump_count;
	const struct function *f = w->pass->function;
	bool hollow = !w->pass->a->blocks[flow.block].solid && !(f->kernel && flow.block == w->entry);
	struct edit *e = add_edit(w->pass, EDIT_LOOP, w->start, 0);
	if (!e || add_loop(w, flow, s, &loop))
		return w->pass->result;
	e->block = loop;
	w->pass->a->loops[loop].trips = constant_trips(s, c);
	if (clang_getCursorKind(s) == CXCursor_DoStmt)
		walk_do(w, s, c, flow, loop, end);
	else
		walk_header_first(w, s, c, flow, loop, end);
	e = w->pass->result ? NULL : add_edit(w->pass, EDIT_LOOP_END, *end, 0);
	if (e)
		e->block = loop;
	for (size_t i = first; i < w->jump_count; i++)
		w->pass->a->loops[loop].leaves |= !w->jumps[i].target;
	if (hollow && !w->pass->result)
		mark_next(w, s, flow, loop, *end);
	return w->pass->result;
}
