/*
 * The macros that the markers of a unit's host text use.
 */
#ifndef GPUSIM_ANNOTATOR_TEXT_COUNTER_MACROS_H
#define GPUSIM_ANNOTATOR_TEXT_COUNTER_MACROS_H

#include "annotator/source/state.h"

#define COUNTER_TYPE "__global volatile unsigned long *"
void write_counter_macros(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out);

#endif
