/*
 * The text of box functions (edits/box_calls.h).
 */
#ifndef GPUSIM_ANNOTATOR_TEXT_BOXES_H
#define GPUSIM_ANNOTATOR_TEXT_BOXES_H

#include "runtime/base/base.h"

#include <stddef.h>

void write_box_function_name(int function, size_t unit, struct gs_buf *out);
void write_box_functions(unsigned wanted, size_t unit, struct gs_buf *out); /* `wanted` has one bit for each */
void write_box_macros(unsigned wanted, size_t unit, struct gs_buf *out); /* by which markers call them */

#endif
