/*
 * Loads of constants by an index that all lanes of a warp share (ULDC). The assembler makes words that follow one another one load, and one of many words
 * several, in any order. So where lines do not say which load of the PTX they come from, those of a piece are dealt out to the loads of its block in order:
 * near each other, they mostly go to the same line of the cache, which is what counts.
 */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>

static bool loads_constants(const struct kernel_code *c, int32_t origin)
{
	return origin >= 0 && c->code[origin].class == CODE_load && c->code[origin].space == SPACE_const;
}

bool assembled_is_uniform(const struct assembled_kernel *k, uint32_t instruction)
{
	return k->in[instruction].indexed && loads_constants(k->code, k->origin[instruction]);
}

/* Of the block, and of those that are executed with it. */
static uint32_t list_ptx(const struct assembled_kernel *k, int32_t owner, uint32_t *list)
{
	uint32_t count = 0;
	for (uint32_t p = 0; p < k->code->code_count; p++) {
		int32_t b = k->block_of[p];
		if (loads_constants(k->code, (int32_t)p) && (b == owner || (!k->has_code[b] && k->merged[b] == owner)))
			list[count++] = p;
	}
	return count;
}

/* Those of the piece that `first` is of, if it is the first block of it. */
static uint32_t list_machine(const struct assembled_kernel *k, uint32_t first, uint32_t *list)
{
	const struct assembled_block *f = &k->blocks[first];
	uint32_t count = 0;
	for (uint32_t b = 0; b < k->block_count; b++) {
		const struct assembled_block *s = &k->blocks[b];
		bool same = s->reached && s->owner == f->owner && s->times == f->times && s->copy == f->copy && (!s->copy || b == first);
		if (same && b < first)
			return 0;
		for (uint32_t i = s->first; i < s->first + s->count && same; i++)
			if (k->in[i].indexed && !loads_constants(k->code, k->origin[i]))
				list[count++] = i;
	}
	return count;
}

int assembled_infer_uniform(struct assembled_kernel *k)
{
	uint32_t *machine = calloc(k->count + 1u, sizeof *machine), *ptx = calloc(k->code->code_count + 1u, sizeof *ptx);
	int rc = machine && ptx ? 0 : -ENOMEM;
	for (uint32_t b = 0; b < k->block_count && !rc; b++) {
		const struct assembled_block *s = &k->blocks[b];
		uint32_t all = s->reached && s->owner >= 0 && s->times ? list_machine(k, b, machine) : 0, loads = all ? list_ptx(k, s->owner, ptx) : 0;
		for (uint32_t n = 0; n < all; n++) {
			uint64_t of_copy = (uint64_t)n * s->times % all / s->times; /* its number among those of its copy */
			k->origin[machine[n]] = loads ? (int32_t)ptx[of_copy * loads * s->times / all] : -1;
		}
	}
	free(machine);
	free(ptx);
	return rc;
}
