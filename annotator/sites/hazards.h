/*
 * Hazards: what may make a twin behave unlike its kernel (runtime/format/facts.h).
 */
#ifndef GPUSIM_ANNOTATOR_SITES_HAZARDS_H
#define GPUSIM_ANNOTATOR_SITES_HAZARDS_H

#include "annotator/source/state.h"

int find_argument_kinds(struct kernel_entry *k, CXCursor kernel);
void find_hazards(struct annotation *a); /* once all kernels are known */

#endif
