/*
 * The edits of calls.
 */
#ifndef GPUSIM_ANNOTATOR_EDITS_CALLS_H
#define GPUSIM_ANNOTATOR_EDITS_CALLS_H

#include "annotator/edits/edits.h"

/* Edits what stands before the arguments of a call. */
int edit_callee(struct edit_pass *pass, CXCursor call);
/* Adds the last argument. Called after the edits inside of the arguments are made. */
int edit_argument(struct edit_pass *pass, CXCursor call);

#endif
