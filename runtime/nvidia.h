/*
 * nvidia: a CUDA program that runs on a real GPU, with NVIDIA's own runtime and driver (GPUSIM_CUDA_HOST=gpu).
 *
 * The interposer (interposer/cuda/host) passes every call of the program on to the driver and tells the runtime about launches. The runtime
 * measures them, with events of the driver before and after each. Nothing that the program asks for is changed, reordered or left out, and no
 * result of ours reaches it. Any thread may call every function at any time.
 */
#ifndef GPUSIM_RUNTIME_NVIDIA_H
#define GPUSIM_RUNTIME_NVIDIA_H

#include <stdbool.h>
#include <stdint.h>

/* Once, before the first launch. `find` finds functions of NVIDIA's driver by name; NULL: it has none of that name. */
void nvidia_start(void *(*find)(const char *name));

/* What the program launches, in the driver's terms. */
struct nvidia_launch {
	const void *function; /* CUfunction or CUkernel; NULL: a graph */
	uint32_t grid[3], block[3], dynamic_shared;
	void *stream; /* 0 is the default stream of the process, 2 that of the thread */
};

struct nvidia_measurement;
/* Just before the driver is called for it. NULL: it is not measured. */
struct nvidia_measurement *nvidia_launch_begins(const struct nvidia_launch *l);
/* Just after that, with what the driver returned. */
void nvidia_launch_ends(const struct nvidia_launch *l, struct nvidia_measurement *m, int result);

/* The driver has given a handle for the kernel of that name. */
void nvidia_function_found(const void *function, const char *name);
/* The same kernel has another handle. */
void nvidia_function_alias(const void *function, const void *same);
/* Some stream begins (1) or ends (-1) to record commands instead of executing them. Nothing is measured meanwhile. */
void nvidia_captures(int change);
/* The current context is about to end: what was measured in it is collected. */
void nvidia_context_ends(void);

#endif
