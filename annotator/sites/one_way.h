/* Whether all work-items of a group go the same way through a function. */
#ifndef GPUSIM_ANNOTATOR_SITES_ONE_WAY_H
#define GPUSIM_ANNOTATOR_SITES_ONE_WAY_H

#include "annotator/source/state.h"

/* Of its own text, without functions that it calls. What is not certain is a no. */
bool goes_one_way(const struct annotation *a, CXCursor function);

#endif
