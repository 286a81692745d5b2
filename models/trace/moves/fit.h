/*
 * fit: how the addresses of an instruction follow from the number of its group, from where some groups were seen to go.
 *
 * Between two groups only addresses of the same work-item are compared. Work-items that are off at a border of the grid, or by the data that
 * they meet, are seen in some groups and not in others; so there may be several of them.
 */
#ifndef GPUSIM_MODELS_TRACE_MOVES_FIT_H
#define GPUSIM_MODELS_TRACE_MOVES_FIT_H

#include "models/warps/warps.h"

/* What one work-item of a group did with one instruction. */
struct sighting {
	uint64_t group;       /* linear id */
	uint32_t witness;     /* which work-item, the same in all groups; sightings are in the order of these */
	uint64_t first, last; /* addresses of its first and its last execution */
};

/*
 * Fills `linear`, step and split if all sightings agree with them, or all of groups that are at no border of the grid. False: they do not, or
 * there are too few to tell.
 */
bool fit_moves(const struct sighting *sightings, size_t count, const uint64_t grid[3], struct address_shift *out);

#endif
