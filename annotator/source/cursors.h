/*
 * The children of a libclang cursor as an array.
 */
#ifndef GPUSIM_ANNOTATOR_SOURCE_CURSORS_H
#define GPUSIM_ANNOTATOR_SOURCE_CURSORS_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

struct children {
	CXCursor *items; /* the caller frees them */
	size_t count;
	bool failed; /* out of memory */
};
struct children children_of(CXCursor cursor);

#endif
