/*
 * The blocks of functions, and all other edits of a unit.
 */
#ifndef GPUSIM_ANNOTATOR_BLOCKS_BLOCKS_H
#define GPUSIM_ANNOTATOR_BLOCKS_BLOCKS_H

#include "annotator/source/state.h"

/* The second pass: collects the blocks, sites, kernels and edits of a unit. */
int collect_edits(struct annotation *a, size_t unit, struct gs_error *err);
/* After all units: fills in the windows of loops. */
int choose_windows(struct annotation *a, struct gs_error *err);

#endif
