/*
 * caller: which version of CUDA the code that calls us was built with. Some structs depend on it, and no parameter says it.
 *
 * An object that was linked with the shared runtime names it: libcudart.so.13 is in its list of needed libraries. An object that
 * contains the runtime was looked at when it was loaded (static_runtime.h). Others (a function that was found with dlsym) are taken to
 * be of the version that is loaded.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_WAYS_CALLER_H
#define GPUSIM_INTERPOSER_CUDA_WAYS_CALLER_H

#include <stdint.h>

/* 11, 12, 13, ... for the object that contains this address. */
int caller_version(const void *address);
/* The version of the runtime that an object contains; load_address is that of dl_iterate_phdr. Called before other threads are there. */
void caller_set_static_version(uint64_t load_address, int version);

#endif
