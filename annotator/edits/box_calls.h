/*
 * Box functions: work-item functions whose answer depends on the box.
 *
 * A box is the part of a launch that one run of a twin covers (runtime/format/traces.h). Calls of these builtins go to functions
 * of ours that take the box. text/boxes.c writes them.
 */
#ifndef GPUSIM_ANNOTATOR_EDITS_BOX_CALLS_H
#define GPUSIM_ANNOTATOR_EDITS_BOX_CALLS_H

#include <clang-c/Index.h>

enum box_function { BOX_GROUP_ID, BOX_NUM_GROUPS, BOX_GLOBAL_SIZE, BOX_GLOBAL_OFFSET, BOX_GLOBAL_LINEAR_ID, BOX_FUNCTION_COUNT };

int box_function_of(CXCursor call); /* the box function that the call of a builtin needs, or -1 */

#endif
