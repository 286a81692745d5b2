/*
 * built: what the driver made of a text of ours, in the cache.
 *
 * POCL keeps what it has compiled, but to know that it has, it preprocesses its own headers each time: 65 ms of processor time for any
 * text. From a binary that it gave us before, the same program takes 2 ms. Only POCL has such binaries here; what other drivers would
 * do with theirs was not measured.
 */
#ifndef GPUSIM_RUNTIME_GUEST_PROGRAMS_BUILT_H
#define GPUSIM_RUNTIME_GUEST_PROGRAMS_BUILT_H

#include "runtime/guest/driver/cl.h"

#include <stdbool.h>

/* Identifies what the driver would make of a text with these options. False: it is not kept. */
bool built_key(cl_device_id device, const char *text, const char *options, char key[33]);
/* The program, built. NULL: the cache does not have it, or the driver does not take it any more. */
cl_program built_find(cl_context context, cl_device_id device, const char *options, const char key[33]);
/* Keeps a program that was built for one device. */
void built_keep(cl_program program, const char key[33]);

#endif
