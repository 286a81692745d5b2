/*
 * Refuses what nests too deeply: for our own recursion, or for the compiler that gets the markers as well.
 */
#ifndef GPUSIM_ANNOTATOR_SOURCE_NESTING_H
#define GPUSIM_ANNOTATOR_SOURCE_NESTING_H

#include "runtime/base/base.h"

#include <clang-c/Index.h>

int refuse_deep(CXCursor function, struct gs_error *err);
int refuse_deep_brackets(const char *text, size_t length, struct gs_error *err);

#endif
