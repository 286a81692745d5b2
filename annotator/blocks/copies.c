/*
 * Loops that traced text for GPUs may contain twice (annotator/text/windows.c): once as text that records, once as text that only counts.
 *
 * The second text runs many iterations in a row. So a jump must not leave the loop from inside of it, and what follows the loop must not
 * depend on the way of the last iteration. All work-items of a group have to meet at the same barrier, and they do not all take the
 * same text. A variable that outlives the loop's body would be two variables.
 */
#include "annotator/blocks/walk.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

struct obstacle_search {
	const struct annotation *a;
	bool found;
};

static enum CXChildVisitResult find_obstacle(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct obstacle_search *b = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	(void)parent;
	if (kind == CXCursor_CallExpr) {
		const struct function *f = called_function(b->a, cursor);
		b->found |= f ? f->has_barrier : is_barrier(cursor);
	} else if (kind == CXCursor_VarDecl) {
		enum CX_StorageClass class = clang_Cursor_getStorageClass(cursor);
		b->found |= class != CX_SC_None && class != CX_SC_Auto && class != CX_SC_Register;
	} else if (kind == CXCursor_LabelStmt || kind == CXCursor_AsmStmt || kind == CXCursor_MSAsmStmt) {
		b->found = true;
	}
	return b->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* The first ; at or after `at` that is in no bracket, or the end. */
static size_t end_of_part(const struct parsed_unit *u, size_t at, size_t end)
{
	int depth = 0;
	for (; (at = scan_significant(u->text, end, at)) < end; at++) {
		char c = u->text[at];
		depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
		if (c == ';' && !depth)
			break;
	}
	return at;
}

/* Finds the parts of the header whose word is at or after `at`. */
static void find_header(struct block_walk *w, CXCursor s, size_t at, const char *word, struct loop_parts *p)
{
	const struct parsed_unit *u = w->pass->unit;
	size_t open = scan_blanks(u->text, u->length, after_word(w, s, at, word)), close = scan_closing(u->text, u->length, open);
	p->condition = open + 1;
	p->condition_end = p->step = p->step_end = close;
	if (clang_getCursorKind(s) != CXCursor_ForStmt)
		return;
	p->condition = end_of_part(u, open + 1, close) + 1;
	p->condition_end = end_of_part(u, p->condition, close);
	p->step = p->condition_end + 1;
	p->step_end = close;
}

/* Notes where the parts of a loop are, if the loop may be written twice. The edits of its body have orders above `first`, up to `last`. */
void note_parts(struct block_walk *w, CXCursor s, unsigned loop, size_t body, size_t body_end, size_t first, size_t last)
{
	struct loop_parts p = {.body = body, .body_end = body_end, .first_order = first, .last_order = last};
	struct obstacle_search b = {.a = w->pass->a};
	if (clang_getCursorKind(s) == CXCursor_DoStmt)
		find_header(w, s, body_end, "while", &p);
	else
		find_header(w, s, start_of(s), clang_getCursorKind(s) == CXCursor_ForStmt ? "for" : "while", &p);
	clang_visitChildren(s, find_obstacle, &b);
	p.known = !w->pass->result && !b.found && p.condition <= p.condition_end && p.step <= p.step_end;
	w->pass->a->loops[loop].parts = p;
}
