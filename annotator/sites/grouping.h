/* Whether a function can tell into which groups the work-items of a launch were divided (runtime/format/facts.h). */
#ifndef GPUSIM_ANNOTATOR_SITES_GROUPING_H
#define GPUSIM_ANNOTATOR_SITES_GROUPING_H

#include "annotator/source/state.h"

/* HAZARD_GROUPED and HAZARD_NUMBERED of the function's own text. What is not certain is a yes. */
unsigned facts_of_grouping(const struct annotation *a, CXCursor function);

#endif
