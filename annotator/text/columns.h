/*
 * Columns: the counters that each work-item of a kernel stores.
 */
#ifndef GPUSIM_ANNOTATOR_TEXT_COLUMNS_H
#define GPUSIM_ANNOTATOR_TEXT_COLUMNS_H

#include "annotator/source/state.h"

int choose_columns(struct annotation *a, struct gs_error *err);
bool inlines_all(const struct annotation *a); /* kernels stay small enough with all functions that they call inlined */

#endif
