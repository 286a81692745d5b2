/*
 * Types of OpenCL C: their text and their address space.
 */
#ifndef GPUSIM_ANNOTATOR_SOURCE_TYPES_H
#define GPUSIM_ANNOTATOR_SOURCE_TYPES_H

#include "models/code/code.h"

#include <clang-c/Index.h>

/* The type as text that can be written into a program. NULL: it has no name. The caller frees it. */
char *spell_type(CXType type);
enum code_space space_of(CXType type); /* where a value of this type lies; SPACE_none: not in memory */

#endif
