/*
 * windows: where warps are in the windows of their loops (struct path_gap), and how they are moved on in them.
 *
 * Windows of one loop that follow one another, and ask for as much of memory, are one loop. A warp that is moved past a window is put into the
 * next one at the place that it had, if both have the same blocks in the same order. Else it does what was not jumped over of each, a round at
 * least.
 */
#ifndef GPUSIM_MODELS_GRID_WINDOWS_H
#define GPUSIM_MODELS_GRID_WINDOWS_H

#include "models/sm/state/sm.h"

enum { WINDOWS_DEPTH = 16 }; /* of windows in one another */

/* The gaps whose windows a warp is in, the innermost first. Returns how many. */
uint32_t windows_of(const struct ov_warp *w, int32_t out[WINDOWS_DEPTH]);
double windows_rounds_left(const struct ov_sm *sm, uint32_t slot, int32_t gap);
/* Blocks of its path before the place where a warp is, with the part of its block that it has done. */
double windows_blocks_done(const struct ov_sm *sm, const struct ov_warp *w);
/* Rounds that a warp has done of gaps[n], the first of which are the innermost: where it is in an inner window counts as a place in the
 * outer one by how much of the inner one's rounds is done. */
double windows_rounds_done(const struct ov_sm *sm, uint32_t slot, const int32_t *gaps, uint32_t n);
/* Iterations by which a warp can be moved on, in a window and in those of the same loop after it. */
double windows_left(const struct ov_sm *sm, uint32_t slot, int32_t gap);
/* The same up to the end of the loop, whatever it asks of memory there. */
double windows_horizon(const struct ov_sm *sm, uint32_t slot, int32_t gap);
/* Iterations of windows after this one that were jumped over. */
double windows_ahead(const struct ov_sm *sm, uint32_t slot, int32_t gap);
/* A warp goes on in its loop. */
void windows_move(const struct ov_sm *sm, uint32_t slot, int32_t gap, double iterations);

#endif
