/*
 * Finds places in the text of a statement that libclang does not report, and adds markers there.
 */
#include "annotator/blocks/walk.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

#include <errno.h>

int fail_at(struct block_walk *w, CXCursor s, const char *what)
{
	return w->pass->result = refuse(clang_getCursorLocation(s), w->pass->err, what);
}

int no_memory(struct block_walk *w)
{
	return w->pass->result = gs_fail(w->pass->err, ENOMEM, "out of memory");
}

size_t start_of(CXCursor s)
{
	return offset_of(clang_getRangeStart(clang_getCursorExtent(s)));
}

size_t after_brace(const struct block_walk *w, CXCursor s)
{
	return scan_block_start(w->pass->unit->text, w->pass->unit->length, start_of(s));
}

void add_text(struct block_walk *w, size_t at, const char *fixed)
{
	struct edit *e = add_edit(w->pass, EDIT_TEXT, at, 0);
	if (e)
		e->fixed = fixed;
}

size_t after_word(struct block_walk *w, CXCursor s, size_t at, const char *word)
{
	const struct parsed_unit *u = w->pass->unit;
	size_t from = scan_blanks(u->text, u->length, at), to = scan_word(u->text, u->length, from);
	if (scan_is_word(u->text, from, to, word))
		return to;
	fail_at(w, s, "a statement whose words are not where they should be");
	return 0;
}

size_t after_header(struct block_walk *w, CXCursor s, size_t at, const char *word)
{
	const struct parsed_unit *u = w->pass->unit;
	size_t open = after_word(w, s, at, word), close = u->length;
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

int after_character(struct block_walk *w, CXCursor s, size_t at, char c, size_t *end)
{
	const struct parsed_unit *u = w->pass->unit;
	at = scan_blanks(u->text, u->length, at);
	/* libclang ends a vector literal, (float4)(x), before its last bracket. */
	while (c == ';' && at < u->length && u->text[at] == ')')
		at = scan_blanks(u->text, u->length, at + 1);
	if (at >= u->length || u->text[at] != c)
		return fail_at(w, s, "a statement whose end is not where it should be");
	*end = at + 1;
	return 0;
}

int add_marked_block(struct block_walk *w, CXSourceRange range, const char *kind, struct place_in_flow flow, size_t at, unsigned *id)
{
	struct block *b = add_block(w, range, kind, flow);
	struct edit *e = b ? add_edit(w->pass, EDIT_COUNT, at, 0) : NULL;
	if (e)
		*id = e->block = b->id;
	return w->pass->result;
}
