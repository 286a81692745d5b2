/*
 * The functions that trace, and what a kernel does where it begins.
 */
#ifndef GPUSIM_ANNOTATOR_TEXT_TRACE_TEXT_H
#define GPUSIM_ANNOTATOR_TEXT_TRACE_TEXT_H

#include "annotator/edits/functions.h"

void write_trace_functions(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out);
void write_trace_begin(const struct function *kernel, unsigned block, struct gs_buf *out);

#endif
