/* jumped: what a jump over iterations of loops leaves in caches (rates.h). */
#ifndef GPUSIM_MODELS_GRID_JUMPED_H
#define GPUSIM_MODELS_GRID_JUMPED_H

#include "models/grid/rates.h"

/* Parts of requests that L1s were asked for up to now, and those that they had. */
void jumped_hits(const struct rates *r, uint64_t *looked_up, uint64_t *hits);
/* Whether L1s may come to know more of what loops ask for than they do now: these come back to lines before as many others came as L1 has. */
bool jumped_learns(const struct rates *r, const struct rate_place *places);
/* Warps were moved on from their places: caches see the last of the rounds between, the oldest first. l2_knows: nothing came from DRAM in
 * the unit before, nor went there. L2 then stays as it is, and SMs touch what their L1s know, one after the other. */
void jumped_touch(struct rates *r, const struct rate_level *l, const struct rate_place *places, bool l2_knows);

#endif
