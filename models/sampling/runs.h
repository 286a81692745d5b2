/*
 * runs: which groups of a launch are simulated, where not all of them can be.
 *
 * Neighbours meet in caches, so groups are chosen in runs of neighbours. A launch has parts whose groups behave alike
 * (regions.h), and what lies between two such parts. Each part has the same share of the chosen groups as of the launch. So
 * the chosen groups do as much as all, on average, and ask memory for as much.
 *
 * Groups of one SM meet in L1. They are not neighbours: all SMs get a group before one gets its next. runs_of_rounds chooses the groups
 * that some of the SMs get.
 */
#ifndef GPUSIM_MODELS_SAMPLING_RUNS_H
#define GPUSIM_MODELS_SAMPLING_RUNS_H

#include "models/sampling/regions.h"

/* The chosen groups from number `first` on are those of the launch from `id` on, up to the next run. */
struct group_run {
	uint64_t first, id;
};

/* `groups` of `all`, at least 1 and no more; regions: of the launch, in ascending order. whole: groups that run at once. least: runs of a
 * region, at least; 2 or more. The caller frees *out. Returns 0 or -ENOMEM. */
int runs_choose(const struct region *regions, size_t count, uint64_t groups, uint64_t all, uint64_t whole, uint64_t least,
                struct group_run **out, size_t *out_count);
/* Of each round of groups, one for each of `sms` SMs, those of `few` SMs. residency: groups that an SM holds, which are of rounds that
 * follow one another. with: a group whose SM is among them; RUNS_ANY: no matter. Otherwise as above. */
#define RUNS_ANY UINT64_MAX
int runs_of_rounds(uint64_t groups, uint64_t all, uint32_t few, uint32_t sms, uint32_t residency, uint64_t with, struct group_run **out,
                   size_t *out_count);
uint64_t runs_id(const struct group_run *runs, size_t count, uint64_t n);

#endif
