/*
 * Text around loops that are traced in windows.
 */
#ifndef GPUSIM_ANNOTATOR_TEXT_WINDOWS_H
#define GPUSIM_ANNOTATOR_TEXT_WINDOWS_H

#include "annotator/edits/edits.h"

bool has_windows(const struct annotation *a, size_t unit);
void write_window(const struct annotation *a, const struct edit *loop, struct gs_buf *out); /* before and after a loop */
void write_leave(const struct annotation *a, const struct edit *jump, struct gs_buf *out);  /* before a jump out of loops */
/* At the marker of a loop's body. False: it is none, or the loop has no windows. */
bool write_body(const struct annotation *a, unsigned block, struct gs_buf *out);
/* The loop that has this body, if the text for GPUs contains it twice. */
const struct loop *loop_written_twice(const struct annotation *a, unsigned body);
bool is_short(const struct annotation *a, const struct loop *l); /* the driver's compiler should unroll its second text */

#endif
