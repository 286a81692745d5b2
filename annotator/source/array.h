/*
 * Arrays that grow one element at a time.
 */
#ifndef GPUSIM_ANNOTATOR_SOURCE_ARRAY_H
#define GPUSIM_ANNOTATOR_SOURCE_ARRAY_H

#include <stddef.h>

/* Adds one element of `size` bytes to an array that grows by doubling. Returns the element, zeroed, or NULL. */
void *array_grow(void *array_pointer, size_t *count, size_t size);

#endif
