/* The table of blocks, and the formulas of blocks whose count follows from other blocks. */
#include "annotator/blocks/walk.h"
#include "annotator/source/array.h"
#include "annotator/source/parse.h"

#include <errno.h>

struct block *add_block(struct block_walk *w, CXSourceRange range, const char *kind, struct place_in_flow flow)
{
	struct annotation *a = w->pass->a;
	struct block *b = array_grow(&a->blocks, &a->block_count, sizeof *b);
	if (b)
		*b = (struct block){
			.id = (unsigned)a->block_count - 1,
			.unit = (unsigned)w->pass->unit_index,
			.function = w->pass->function->name,
			.kind = kind,
			.at = offset_of(clang_getRangeStart(range)),
			.end_at = offset_of(clang_getRangeEnd(range)),
			.loop = flow.loop,
			.bound = flow.bound,
			.between_barriers = flow.between_barriers,
			.half = -1,
			.parent = -1,
		};
	if (!b || place_of(a, clang_getRangeStart(range), &b->place) || place_of(a, clang_getRangeEnd(range), &b->end)) {
		w->pass->result = gs_fail(w->pass->err, ENOMEM, "out of memory");
		return NULL;
	}
	return b;
}

int add_term(struct block_walk *w, unsigned block, unsigned of, int factor)
{
	struct block *b = &w->pass->a->blocks[block];
	for (size_t i = 0; i < b->term_count; i++)
		if (b->terms[i].block == of) {
			b->terms[i].factor += factor;
			return 0;
		}
	struct block_term *t = array_grow(&b->terms, &b->term_count, sizeof *t);
	if (!t)
		return w->pass->result = gs_fail(w->pass->err, ENOMEM, "out of memory");
	*t = (struct block_term){.block = of, .factor = factor};
	return 0;
}
