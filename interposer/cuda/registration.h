/*
 * registration: the kernels and variables that the application's code has registered before main, and those of libraries it opens.
 *
 * Code names a kernel by the address of a function on the host, and a variable by that of its shadow. Nothing is lifted or built
 * before one of them is needed.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_REGISTRATION_H
#define GPUSIM_INTERPOSER_CUDA_REGISTRATION_H

#include "interposer/cuda/interposer.h"

#include <stdatomic.h>

struct registered_function {
	const void *host;
	char *name;
	struct registered_binary *binary;
	_Atomic(struct cuda_kernel *) kernel; /* NULL: not asked for yet */
	atomic_size_t max_dynamic_shared;     /* what the application has asked for; 0: nothing */
	atomic_int carveout;                  /* the same; -1: nothing */
	atomic_bool large_clusters;           /* of more than 8 blocks: allowed */
	struct registered_function *next, *next_handle;
};

/* A function by the host's address, or by the handle that we gave out for it: its own address. Returns an error number. With
 * function_prepare its kernel is ready to be launched. */
int function_find(const void *function, struct registered_function **out);
int function_prepare(const void *function, struct registered_function **out);
/* Address and size of a variable on the device. */
int variable_find(const void *symbol, void **address, size_t *bytes);
/* Of a texture reference: whether it was registered as one that fetches integers as reals. */
bool variable_reads_reals(const void *symbol);
/* Whether the address is that of a variable we know, and how many bytes of it follow. */
bool variable_contains(const void *address, size_t *bytes);
bool variable_is_managed(const void *address); /* It is in a managed variable. */

/* ---- images that the application loads itself: the driver's modules ---- */

struct registered_binary;
/* A fat binary or its wrapper, a cubin, or PTX text. It is copied, and lifted at once. 0 bytes: as many as the image says. */
int binary_load(const void *image, size_t bytes, struct registered_binary **out);
int binary_unload(struct registered_binary *b);
bool binary_exists(const struct registered_binary *b);
int binary_function(struct registered_binary *b, const char *name, struct registered_function **out);
/* All functions of it, by their numbers from 0. Those that cannot be lifted have a handle as well; launching them fails. */
int binary_function_count(struct registered_binary *b, unsigned *count);
int binary_function_at(struct registered_binary *b, unsigned number, struct registered_function **out);
int binary_variable(struct registered_binary *b, const char *name, void **address, size_t *bytes);

#endif
