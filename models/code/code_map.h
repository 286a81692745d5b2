/*
 * code_map: executions of target blocks as sums of source counts, made once for the work-items of a launch.
 *
 * code_count chooses what counters leave open anew for each set of counts, which takes long for thousands of work-items. A map takes the
 * choice for all of them together, and holds on to the shares that branches have there. Then every count is a sum of source counts, and
 * the sums over all work-items are those of code_count, but for bounds: a single count may be below 0, and is 0 then.
 */
#ifndef GPUSIM_MODELS_CODE_CODE_MAP_H
#define GPUSIM_MODELS_CODE_CODE_MAP_H

#include "models/code/code.h"

struct code_map {
	const struct kernel_code *code;
	uint32_t *first; /* of the entries of each counter, then of what each work-item has whatever it counts, then their end */
	struct code_map_entry {
		uint32_t block; /* block_count: thread instructions */
		double times;
	} *entries;
};

/* sums: the counts of so many work-items, or of a sample of them. Returns 0 or -ENOMEM; code_map_free in any case. */
int code_map_init(struct code_map *m, const struct kernel_code *code, const uint64_t *sums, uint64_t items);
void code_map_free(struct code_map *m);
/* blocks: block_count + 1 entries, executions of a work-item with these counts and, at last, its instructions. */
void code_map_count(const struct code_map *m, const uint64_t *counts, double *blocks);

#endif
