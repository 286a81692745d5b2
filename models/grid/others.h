/*
 * others: what the groups of a launch that are not simulated do for those that are, where L2 begins without the launch's memory.
 *
 * Of a line that n groups ask for, m of them simulated, DRAM sends one copy. All that run at once wait for it. A simulated group is the one that has
 * it sent in m of n cases; else it waits for what is left of that, by how far apart such groups are (models/memory/slice.c), and the simulated share of DRAM has nothing to do. Where the n ask one after the other, because
 * other instructions or other rounds of a loop come to the same line, only the first of them waits, and the others find the line in L2. Once a group that asks for the line has
 * ended, the line is there. Likewise a simulated group is the one that a row of DRAM is opened for in as many cases as lines of that row are
 * sent for such groups.
 */
#ifndef GPUSIM_MODELS_GRID_OTHERS_H
#define GPUSIM_MODELS_GRID_OTHERS_H

#include "models/grid/plan.h"

struct others;
/* resident: groups of the launch that run at once. *out is NULL where all groups are simulated, where the launch's memory is in L2 or does
 * not fit into it, or where it is not known how groups' addresses follow from one another. Returns 0 or -ENOMEM. */
int others_new(const struct gpu *gpu, const struct launch_warps *launch, const struct ov_plan *plan, uint64_t resident,
               struct others **out);
void others_free(struct others *o);
/* What groups that are not simulated have done for the line, if none has had it yet. */
enum memory_others others_fetch(void *others, uint64_t address, struct memory_sharers *sharers);
typedef void others_fn(void *ctx, uint64_t address);
/* Before the first group: calls `bring` for lines that others ask for before simulated groups do. o may be NULL. */
void others_begin(const struct others *o, others_fn *bring, void *ctx);
/* A group of the launch starts: calls `bring` for all lines that came in since the last call. */
void others_bring(struct others *o, uint64_t group, others_fn *bring, void *ctx);

#endif
