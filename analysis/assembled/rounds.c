/*
 * Loops that test at their begin, of which the assembler has the first test before the loop and the others at the end
 * of each round.
 */
#include "analysis/assembled/assembled.h"

/* The loop's first block whose first round is at the end of block `b`: it ends with that one's branch, and another
 * block in the loop does, too; -1: none. */
static int32_t round_at_end(const struct assembled_kernel *k, uint32_t b)
{
	const struct assembled_block *s = &k->blocks[b];
	int32_t origin = k->origin[s->first + s->count - 1], header = origin < 0 ? -1 : k->block_of[origin];
	bool branch =
	    header >= 0 && k->code->blocks[header].edge_count > 1 && k->code->code[origin].class == CODE_branch;
	if (!branch || s->owner == header || assembled_depth(k->code, (uint32_t)header) != s->depth + 1 ||
	    k->unrolled[header])
		return -1;
	int32_t loop = k->code->blocks[header].loop;
	for (uint32_t t = b + 1; t < k->block_count && k->code->loops[loop].header == (uint32_t)header; t++) {
		const struct assembled_block *o = &k->blocks[t];
		if (o->reached && o->owner == header && o->depth == s->depth + 1 &&
		    k->origin[o->first + o->count - 1] == origin)
			return header;
	}
	return -1;
}

/* Instructions of the loop's first block in the loop: so many are left out where its first round is, from its end back,
 * and all accesses. What the first round has beyond that, such as operands that stay the same, is executed once. */
static void leave_out_round(struct assembled_kernel *k, uint32_t last, int32_t header)
{
	uint32_t left = 0;
	for (uint32_t b = 0; b < k->block_count; b++)
		left +=
		    k->blocks[b].reached && k->blocks[b].owner == header && !k->blocks[b].copy ? k->blocks[b].count : 0;
	for (uint32_t b = last + 1; b-- > 0;)
		for (uint32_t n = k->blocks[b].count; n-- > 0 && k->blocks[b].owner == k->blocks[last].owner;) {
			uint32_t i = k->blocks[b].first + n;
			uint8_t class = assembled_class(k, i).class;
			bool access = assembled_is_access(class) || class == CODE_barrier;
			if (k->origin[i] < 0 || k->block_of[k->origin[i]] != header || (!left && !access))
				continue;
			k->moved[i] = true;
			left -= left > 0;
		}
}

/* The first round of a loop's test may stand in the block before the loop. As many rounds as a warp makes execute the
 * loop's own block then. */
void assembled_rounds(struct assembled_kernel *k)
{
	for (uint32_t b = 0; b < k->block_count; b++) {
		struct assembled_block *s = &k->blocks[b];
		int32_t header = s->reached && s->owner >= 0 && !s->copy ? round_at_end(k, b) : -1;
		if (header < 0)
			continue;
		s->end = header;
		leave_out_round(k, b, header);
	}
	/* What else its owner has after it comes after the round, too: the way into the loop. */
	for (uint32_t b = 0; b < k->block_count; b++)
		for (int n = 0; n < 2 && k->blocks[b].reached && k->blocks[b].end >= 0; n++) {
			int32_t next = k->blocks[b].next[n];
			if (next > (int32_t)b && k->blocks[next].owner == k->blocks[b].owner && k->blocks[next].end < 0)
				k->blocks[next].end = k->blocks[b].end;
		}
}
