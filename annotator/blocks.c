/*
 * The blocks of a function's statements.
 *
 * Every place where control may arrive by a jump or a branch gets a marker: behind the bracket of a header, `else`,
 * `do` or the colon of a label. Bodies without braces get braces there, so that a marker is always a statement of
 * a list, and pragmas and attributes stay where they are, before their loop. What follows a statement that may leave is a
 * block of its own ("after"). Where nothing jumps in from outside, its count is that of the block before less those of
 * the jumps that leave; likewise `else` is what `then` is not, and the body of do ... while (0) what is around it. These
 * need no counter.
 */
#include "annotator/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct jump {
	unsigned block;
	size_t target; /* depth of the loop or switch that it ends or continues; 0: leaves all of them */
};

struct walk {
	struct edit_pass *pass;
	unsigned entry; /* block */
	bool irregular; /* jumps by goto, or a case inside of another statement: the flow is not a tree */
	size_t start; /* behind the token before the statement that is visited next */
	size_t depth, loop_depth; /* loops and switches around; the number of the innermost loop among them */
	struct jump *jumps; /* so far in this function */
	size_t jump_count;
};

/* Visits one statement and gives its end, behind its ; or }, in *end. */
static int walk_statement(struct walk *w, CXCursor s, struct place_in_flow flow, size_t *end);

static int fail_at(struct walk *w, CXCursor s, const char *what)
{
	return w->pass->result = refuse(clang_getCursorLocation(s), w->pass->err, what);
}

static int no_memory(struct walk *w)
{
	return w->pass->result = gs_fail(w->pass->err, ENOMEM, "out of memory");
}

static size_t start_of(CXCursor s)
{
	return offset_of(clang_getRangeStart(clang_getCursorExtent(s)));
}

/* Where the first statement of a compound statement may stand. */
static size_t behind_brace(const struct walk *w, CXCursor s)
{
	return scan_block_start(w->pass->unit->text, w->pass->unit->length, start_of(s));
}

static void add_text(struct walk *w, size_t at, const char *fixed)
{
	struct edit *e = add_edit(w->pass, EDIT_TEXT, at, 0);
	if (e)
		e->fixed = fixed;
}

/* Behind the word that has to stand at `at`; 0 and an error when it does not. */
static size_t behind_word(struct walk *w, CXCursor s, size_t at, const char *word)
{
	const struct unit *u = w->pass->unit;
	size_t from = scan_blanks(u->text, u->length, at), to = scan_word(u->text, u->length, from);
	if (scan_is_word(u->text, from, to, word))
		return to;
	fail_at(w, s, "a statement whose words are not where they should be");
	return 0;
}

/* Behind the bracket that closes the header of a statement that starts with `word`. */
static size_t behind_header(struct walk *w, CXCursor s, size_t at, const char *word)
{
	const struct unit *u = w->pass->unit;
	size_t open = behind_word(w, s, at, word), close = u->length;
	if (w->pass->result)
		return 0;
	open = scan_blanks(u->text, u->length, open);
	if (open < u->length && u->text[open] == '(')
		close = scan_closing(u->text, u->length, open);
	if (close < u->length)
		return close + 1;
	fail_at(w, s, "a statement whose brackets are not where they should be");
	return 0;
}

static int behind_character(struct walk *w, CXCursor s, size_t at, char c, size_t *end)
{
	const struct unit *u = w->pass->unit;
	at = scan_blanks(u->text, u->length, at);
	/* libclang ends a vector literal, (float4)(x), before its last bracket. */
	while (c == ';' && at < u->length && u->text[at] == ')')
		at = scan_blanks(u->text, u->length, at + 1);
	if (at >= u->length || u->text[at] != c)
		return fail_at(w, s, "a statement whose end is not where it should be");
	*end = at + 1;
	return 0;
}

/* A new block with its marker at `at`; *id is left alone on failure. */
static int mark(struct walk *w, CXSourceRange range, const char *kind, struct place_in_flow flow, size_t at, unsigned *id)
{
	struct block *b = add_block(w->pass, range, kind, flow);
	struct edit *e = b ? add_edit(w->pass, EDIT_COUNT, at, 0) : NULL;
	if (e)
		*id = e->block = b->id;
	return w->pass->result;
}

/*
 * A statement that depends on another: then, else, the body of a loop; behind the token that ends at `at`. The
 * block that it starts with is given back in *id.
 */
static int walk_branch(struct walk *w, CXCursor s, const char *kind, struct place_in_flow flow, size_t at, int loop,
                       unsigned *id, size_t *end)
{
	bool braces = clang_getCursorKind(s) == CXCursor_CompoundStmt;
	if (!braces)
		add_text(w, at, "{");
	at = braces ? behind_brace(w, s) : at;
	flow.loop = loop;
	if (kind && mark(w, clang_getCursorExtent(s), kind, flow, at, id))
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

/* ---- jumps ---- */

static int add_jump(struct walk *w, unsigned block, size_t target)
{
	struct jump *j = array_grow(&w->jumps, &w->jump_count, sizeof *j);
	if (!j)
		return no_memory(w);
	*j = (struct jump){.block = block, .target = target};
	return 0;
}

static bool is_label(enum CXCursorKind kind)
{
	return kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt || kind == CXCursor_LabelStmt;
}

static enum CXChildVisitResult find_label(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	*(bool *)data |= is_label(clang_getCursorKind(cursor));
	return *(bool *)data ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* Not the labels of the statement itself. */
static bool contains_label(CXCursor s)
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

/* What follows the statement that made the jumps from `first` on, in a list of statements at the walk's depth. */
static int mark_after(struct walk *w, CXCursor before, CXCursor next, size_t first, size_t at,
                      struct place_in_flow *flow)
{
	bool leaves = w->irregular && contains_label(before);
	for (size_t i = first; i < w->jump_count; i++)
		leaves |= w->jumps[i].target <= w->depth;
	if (!leaves || is_label(clang_getCursorKind(next)))
		return 0;
	unsigned before_id = flow->block;
	if (mark(w, clang_getCursorExtent(next), "after", *flow, at, &flow->block) || w->irregular)
		return w->pass->result;
	w->pass->a->blocks[flow->block].parent = (int)before_id;
	add_term(w->pass, flow->block, before_id, 1);
	for (size_t i = first; i < w->jump_count && !w->pass->result; i++)
		if (w->jumps[i].target <= w->depth)
			add_term(w->pass, flow->block, w->jumps[i].block, -1);
	return w->pass->result;
}

/* ---- statements ---- */

static int walk_labelled(struct walk *w, CXCursor s, struct place_in_flow *flow, size_t *end);

static int walk_list(struct walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	size_t after = behind_brace(w, s);
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

/* Attributes behind the colon of a label are the label's, and nothing may stand between. */
static size_t behind_attributes(const struct unit *u, size_t at)
{
	for (;;) {
		size_t from = scan_blanks(u->text, u->length, at), to = scan_word(u->text, u->length, from);
		if (!scan_is_word(u->text, from, to, "__attribute__") && !scan_is_word(u->text, from, to, "__attribute"))
			return at;
		size_t close = scan_closing(u->text, u->length, scan_blanks(u->text, u->length, to));
		if (close == u->length)
			return at;
		at = close + 1;
	}
}

/* The statement under a label: behind the colon, which is where the last of a chain of labels gets its marker. */
static int walk_labelled(struct walk *w, CXCursor s, struct place_in_flow *flow, size_t *end)
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
	free(c.items);
	/* A constant in brackets or a __attribute__ would stand between. */
	if (kind == CXCursor_CaseStmt)
		while (w->pass->unit->text[scan_blanks(w->pass->unit->text, w->pass->unit->length, from)] == ')')
			from = scan_blanks(w->pass->unit->text, w->pass->unit->length, from) + 1;
	if (behind_character(w, s, from, ':', &colon))
		return w->pass->result;
	if (kind == CXCursor_LabelStmt)
		colon = behind_attributes(w->pass->unit, colon);
	if (is_label(clang_getCursorKind(sub)))
		return walk_labelled(w, sub, flow, end);
	const char *name = kind == CXCursor_LabelStmt ? "label" : kind == CXCursor_CaseStmt ? "case" : "default";
	if (mark(w, clang_getCursorExtent(s), name, *flow, colon, &flow->block))
		return w->pass->result;
	w->start = colon;
	return walk_statement(w, sub, *flow, end);
}

static int walk_if(struct walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	unsigned then = 0, otherwise = 0;
	size_t at = behind_header(w, s, start_of(s), "if");
	if (w->pass->result || collect_expression(w->pass, c->items[0], flow) ||
	    walk_branch(w, c->items[1], "then", flow, at, flow.loop, &then, end) || c->count < 3)
		return w->pass->result;
	at = behind_word(w, s, *end, "else");
	if (w->pass->result || walk_branch(w, c->items[2], "else", flow, at, flow.loop, &otherwise, end))
		return w->pass->result;
	add_term(w->pass, otherwise, flow.block, 1);
	if (!w->pass->result)
		add_term(w->pass, otherwise, then, -1);
	return w->pass->result;
}

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

static bool contains_barrier(struct walk *w, CXCursor s)
{
	struct barrier_search b = {.a = w->pass->a};
	clang_visitChildren(s, find_barrier, &b);
	return b.found;
}

static enum CXChildVisitResult find_own_call(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct barrier_search *b = data;
	(void)parent;
	if (clang_getCursorKind(cursor) == CXCursor_CallExpr)
		b->found |= called_function(b->a, cursor) != NULL;
	return b->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/*
 * The parts of a loop's header run another number of times than any block. In a loop with a barrier POCL evaluates
 * them once for the whole group, so nothing can be counted in them.
 */
static int walk_header(struct walk *w, CXCursor s, const CXCursor *parts, size_t count, struct place_in_flow flow,
                       unsigned loop)
{
	flow.exact = false;
	flow.bound = BOUND_NONE;
	flow.loop = (int)loop;
	flow.quiet = contains_barrier(w, s);
	for (size_t i = 0; i < count && !w->pass->result; i++) {
		struct barrier_search b = {.a = w->pass->a};
		find_own_call(parts[i], s, &b);
		if (!b.found)
			clang_visitChildren(parts[i], find_own_call, &b);
		if (flow.quiet && b.found)
			return fail_at(w, parts[i], "a function called in the header of a loop with a barrier");
		collect_expression(w->pass, parts[i], flow);
	}
	return w->pass->result;
}

static int add_loop(struct walk *w, struct place_in_flow flow, CXCursor s, unsigned *id)
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

/* The body of a loop that does not go round runs as often as what is around it. */
static int bind_body(struct walk *w, unsigned id, unsigned around, bool once)
{
	struct block *b = &w->pass->a->blocks[id];
	if (once)
		return add_term(w->pass, id, around, 1);
	b->bound = b->bound != BOUND_NONE && b->between_barriers ? BOUND_BARRIERS : BOUND_NONE;
	return 0;
}

static int walk_loop_body(struct walk *w, CXCursor body, struct place_in_flow flow, size_t at, unsigned loop, bool once,
                          size_t *end)
{
	size_t outer = w->loop_depth;
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
	return w->pass->result ? w->pass->result : bind_body(w, id, around, once);
}

/* Macros that are to be one statement are wrapped in do ... while (0). */
static bool is_zero(CXCursor condition)
{
	CXEvalResult value = clang_Cursor_Evaluate(condition);
	bool zero = value && clang_EvalResult_getKind(value) == CXEval_Int && !clang_EvalResult_getAsLongLong(value);
	if (value)
		clang_EvalResult_dispose(value);
	return zero;
}

static int walk_do(struct walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, unsigned loop,
                   size_t *end)
{
	size_t at = behind_word(w, s, start_of(s), "do");
	bool once = !w->irregular && is_zero(c->items[1]);
	if (w->pass->result || walk_loop_body(w, c->items[0], flow, at, loop, once, end))
		return w->pass->result;
	at = behind_header(w, s, *end, "while");
	if (w->pass->result || walk_header(w, s, &c->items[1], 1, flow, loop))
		return w->pass->result;
	return behind_character(w, s, at, ';', end);
}

static int walk_header_first(struct walk *w, CXCursor s, const struct children *c, struct place_in_flow flow,
                             unsigned loop, size_t *end)
{
	const char *word = clang_getCursorKind(s) == CXCursor_ForStmt ? "for" : "while";
	size_t at = behind_header(w, s, start_of(s), word);
	if (w->pass->result || walk_header(w, s, c->items, c->count - 1, flow, loop))
		return w->pass->result;
	return walk_loop_body(w, c->items[c->count - 1], flow, at, loop, false, end);
}

/* A second marker of the block around a loop, for the target's text only: its count is known. */
static int mark_next(struct walk *w, CXCursor s, struct place_in_flow flow, unsigned loop, size_t at)
{
	CXSourceLocation end = clang_getRangeEnd(clang_getCursorExtent(s));
	unsigned id = 0;
	if (w->pass->a->loops[loop].leaves || w->irregular ||
	    mark(w, clang_getRange(end, end), "next", flow, at, &id))
		return w->pass->result;
	w->pass->a->loops[loop].next = (int)id;
	w->pass->a->blocks[id].parent = (int)flow.block;
	return add_term(w->pass, id, flow.block, 1);
}

static int walk_loop(struct walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	unsigned loop = 0;
	size_t first = w->jump_count;
	const struct function *f = w->pass->function;
	bool hollow = !w->pass->a->blocks[flow.block].solid && !(f->kernel && flow.block == w->entry);
	struct edit *e = add_edit(w->pass, EDIT_LOOP, w->start, 0);
	if (!e || add_loop(w, flow, s, &loop))
		return w->pass->result;
	e->block = loop;
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

static int walk_switch(struct walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	size_t at = behind_header(w, s, start_of(s), "switch");
	if (w->pass->result || collect_expression(w->pass, c->items[0], flow))
		return w->pass->result;
	w->depth++;
	walk_branch(w, c->items[1], NULL, flow, at, flow.loop, NULL, end);
	w->depth--;
	return w->pass->result;
}

static int walk_return(struct walk *w, CXCursor s, const struct children *c, struct place_in_flow flow)
{
	if (w->pass->function->kernel) {
		if (c->count)
			return fail_at(w, s, "a kernel that returns an expression");
		struct edit *e = add_edit(w->pass, EDIT_RETURN, start_of(s), 0);
		if (e)
			e->block = w->entry;
	}
	if (c->count)
		collect_expression(w->pass, c->items[0], flow);
	return w->pass->result ? w->pass->result : add_jump(w, flow.block, 0);
}

/* Statements that end with a semicolon, which libclang leaves out of all but declarations and empty ones. */
static int walk_simple(struct walk *w, CXCursor s, enum CXCursorKind kind, const struct children *c,
                       struct place_in_flow flow, size_t *end)
{
	const char *text = w->pass->unit->text;
	size_t at = offset_of(clang_getRangeEnd(clang_getCursorExtent(s)));
	if (kind == CXCursor_ReturnStmt)
		walk_return(w, s, c, flow);
	else if (kind == CXCursor_BreakStmt)
		add_jump(w, flow.block, w->depth);
	else if (kind == CXCursor_ContinueStmt)
		add_jump(w, flow.block, w->loop_depth);
	else if (kind == CXCursor_GotoStmt || kind == CXCursor_IndirectGotoStmt)
		add_jump(w, flow.block, 0);
	else
		collect_expression(w->pass, s, flow);
	if (w->pass->result)
		return w->pass->result;
	if ((kind == CXCursor_DeclStmt || kind == CXCursor_NullStmt) && at && text[at - 1] == ';') {
		*end = at;
		return 0;
	}
	if (behind_character(w, s, at, ';', end))
		return w->pass->result;
	struct edit *e = NULL;
	if (kind == CXCursor_ReturnStmt && w->pass->function->kernel)
		e = add_edit(w->pass, EDIT_RETURN_END, *end, 0);
	if (e)
		e->block = w->entry;
	return w->pass->result;
}

/* A statement with attributes, among them those that #pragma unroll makes: the statement is the last child. */
static bool is_attributed(enum CXCursorKind kind, const struct children *c)
{
	return kind == CXCursor_UnexposedStmt && c->count && clang_isStatement(clang_getCursorKind(c->items[c->count - 1]));
}

static int walk_kind(struct walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end)
{
	enum CXCursorKind kind = clang_getCursorKind(s);
	switch (kind) {
	case CXCursor_CompoundStmt:
		return walk_list(w, s, c, flow, end);
	case CXCursor_IfStmt:
		return c->count < 2 ? fail_at(w, s, "an if that cannot be read") : walk_if(w, s, c, flow, end);
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

static int walk_statement(struct walk *w, CXCursor s, struct place_in_flow flow, size_t *end)
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

/* Labels, and cases that are not statements of their switch's own list: control enters in the middle. */
static enum CXChildVisitResult find_irregular(CXCursor cursor, CXCursor parent, CXClientData data)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor), above = clang_getCursorKind(parent);
	struct walk *w = data;
	if (kind == CXCursor_LabelStmt || kind == CXCursor_IndirectGotoStmt)
		w->irregular = true;
	if ((kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt) && above != CXCursor_CaseStmt &&
	    above != CXCursor_DefaultStmt && above != CXCursor_SwitchStmt && above != CXCursor_CompoundStmt)
		w->irregular = true;
	if (kind == CXCursor_SwitchStmt) {
		struct children c = children_of(cursor), list = {0};
		if (c.count && clang_getCursorKind(c.items[c.count - 1]) == CXCursor_CompoundStmt)
			list = children_of(c.items[c.count - 1]);
		/* What stands before the first case never runs. */
		if (list.count && clang_getCursorKind(list.items[0]) != CXCursor_CaseStmt &&
		    clang_getCursorKind(list.items[0]) != CXCursor_DefaultStmt)
			w->irregular = true;
		free(c.items);
		free(list.items);
	}
	/* A case in a block inside of the switch's block. */
	if (kind == CXCursor_CompoundStmt && above != CXCursor_SwitchStmt) {
		struct children list = children_of(cursor);
		for (size_t i = 0; i < list.count; i++) {
			enum CXCursorKind k = clang_getCursorKind(list.items[i]);
			w->irregular |= k == CXCursor_CaseStmt || k == CXCursor_DefaultStmt;
		}
		free(list.items);
	}
	return CXChildVisit_Recurse;
}

static int walk_inner(struct walk *w, CXCursor body, struct place_in_flow flow)
{
	size_t first = w->jump_count, start = w->start, end;
	struct place_in_flow inside = {.loop = flow.loop, .exact = true};
	if (mark(w, clang_getCursorExtent(body), "inner", inside, behind_brace(w, body), &inside.block))
		return w->pass->result;
	if (flow.exact && add_term(w->pass, inside.block, flow.block, 1))
		return w->pass->result;
	if (walk_statement(w, body, inside, &end))
		return w->pass->result;
	for (size_t i = first; i < w->jump_count; i++)
		if (w->jumps[i].target <= w->depth)
			return fail_at(w, body, "a jump out of statements in an expression");
	w->start = start;
	return 0;
}

/* Nothing may jump into or out of them: then they run as a whole or not at all, like any operand. */
int collect_inner_blocks(struct edit_pass *pass, CXCursor expression, struct place_in_flow flow)
{
	struct children c = children_of(expression);
	bool label = false;
	clang_visitChildren(expression, find_label, &label);
	if (c.failed)
		no_memory(pass->walk);
	else if (c.count != 1 || label || flow.quiet)
		fail_at(pass->walk, expression, "statements in an expression");
	else
		walk_inner(pass->walk, c.items[0], flow);
	free(c.items);
	return pass->result;
}

int collect_blocks(struct edit_pass *pass, CXCursor function, CXCursor body)
{
	struct walk w = {.pass = pass};
	pass->walk = &w;
	struct place_in_flow flow = {.loop = -1, .exact = true};
	size_t end = 0;
	clang_visitChildren(body, find_irregular, &w);
	flow.bound = w.irregular ? BOUND_NONE : BOUND_ONCE;
	CXSourceRange range = clang_getRange(clang_getCursorLocation(function),
	                                     clang_getRangeEnd(clang_getCursorExtent(body)));
	if (mark(&w, range, "entry", flow, behind_brace(&w, body), &flow.block))
		return pass->result;
	pass->a->blocks[flow.block].bound = BOUND_NONE;
	pass->unit->edits[pass->unit->edit_count - 1].entry = true;
	w.entry = flow.block;
	walk_statement(&w, body, flow, &end);
	if (!pass->result && pass->function->kernel) {
		struct edit *e = add_edit(pass, EDIT_KERNEL_END, end - 1, 0);
		if (e)
			e->block = flow.block;
	}
	free(w.jumps);
	return pass->result;
}
