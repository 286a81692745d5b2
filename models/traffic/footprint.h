/*
 * footprint: which memory a launch touches, from the requests of the groups that were traced and how addresses move from
 * group to group (struct address_shift).
 */
#ifndef GPUSIM_MODELS_TRAFFIC_FOOTPRINT_H
#define GPUSIM_MODELS_TRAFFIC_FOOTPRINT_H

#include "models/warps/warps.h"

/* Whether the launch's paths say where they go. */
bool launch_has_requests(const struct launch_warps *warps);

/* What all groups touch, as ranges in the order of addresses that do not meet; the caller frees them. 0 or -ENOMEM. */
int footprint_ranges(const struct gpu *gpu, const struct launch_warps *warps, struct memory_range **out, size_t *count);

/* The share of lines that the first `some` of `all` groups touch, of the lines that all of these touch; by a sample of lines. The
 * groups are from the middle of the launch. */
int footprint_share(const struct gpu *gpu, const struct launch_warps *warps, uint64_t some, uint64_t all, double *out);

/*
 * The part of L2's capacity that `some` groups have when `all` run at once: what they touch of all that these do, so that it
 * is as full as the whole one would be; lines that all groups share count for all of them. Where groups ask for lines anywhere,
 * what makes them miss as often (reuse.h). What fits whole (`ranges`) never goes, and the capacity is left whole.
 */
int footprint_capacity(const struct gpu *gpu, const struct launch_warps *warps, const struct memory_range *ranges, size_t count,
                       uint64_t some, uint64_t all, double *out);

/* How far a group is from the one whose requests it has, by dimension. False: it is that one, or it is not known. */
bool launch_move(const struct launch_warps *warps, uint64_t group, int64_t moved[3]);
/* Where a part of an instruction's request is for such a group; a multiple of line_bytes. */
uint64_t launch_address(const struct launch_warps *warps, uint32_t instruction, uint64_t address, uint64_t group,
                        const int64_t moved[3], uint64_t line_bytes);

/* Calls `visit` for every part of global memory that warps of the pattern's group ask for, in the order of each warp;
 * it returns false to end. */
typedef bool footprint_fn(void *ctx, uint32_t instruction, const struct memory_part *part);
bool footprint_visit(const struct launch_warps *warps, uint64_t pattern_group, footprint_fn *visit, void *ctx);

#endif
