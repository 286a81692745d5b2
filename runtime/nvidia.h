/*
 * nvidia: a CUDA program that runs on a real GPU, with NVIDIA's own runtime and driver (GPUSIM_CUDA_HOST=gpu).
 *
 * The interposer (interposer/cuda/host) passes every call of the program on to the driver and tells the runtime about launches, and what these
 * depend on. The runtime measures them, with events of the driver before and after each, and counts what some of them execute, with twins
 * (runtime/guest/nvidia/twins.h). Nothing that the program asks for is changed, reordered or left out, and no result of ours reaches it. Any thread may
 * call every function at any time.
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
	const void *graph;    /* CUgraphExec */
	uint32_t grid[3], block[3], dynamic_shared;
	void *stream; /* 0 is the default stream of the process, 2 that of the thread */
	void **parameters, **extra; /* as cuLaunchKernel takes them */
	bool special; /* cooperative, or with attributes */
};

struct gpu_launch;
/* Just before the driver is called for it. May execute a twin of the kernel, which leaves no trace in memory. NULL: nothing is kept of it. */
struct gpu_launch *nvidia_launch_begins(const struct nvidia_launch *l);
/* Just after that, with what the driver returned. */
void nvidia_launch_ends(struct gpu_launch *g, int result);

/* The driver has loaded an image: a fat binary, its wrapper, a cubin or PTX text. `handle` is a CUmodule, or a CUlibrary. */
void nvidia_loaded(const void *handle, const void *image, bool library);
void nvidia_module_alias(const void *handle, const void *same); /* another handle for the same module */
/* The driver has given a handle for the kernel of that name. */
void nvidia_function_found(const void *function, const void *module, const char *name);
void nvidia_function_alias(const void *function, const void *same);

/* This thread is about to use the GPU, in a way that is not told otherwise. Like the functions below, it returns when no twin runs. */
void nvidia_used(void);
/* Memory that kernels can write. `host`: the program's threads can write it at any time, too. What is known already is left as it is. */
void nvidia_memory_made(void *address, uint64_t bytes, bool host);
void nvidia_memory_gone(const void *address);
void nvidia_memory_unknown(const char *function); /* some that we do not see all of */
void nvidia_stream_made(void *stream, unsigned flags);
void nvidia_stream_gone(void *stream);

/* The driver has made an executable graph; and it is about to end. */
void nvidia_graph_made(const void *executable, void *graph);
void nvidia_graph_gone(const void *executable);

/* Some stream begins (1) or ends (-1) to record commands instead of executing them. Nothing is measured meanwhile. */
void nvidia_captures(int change);
/* The current context is about to end: what was measured in it is collected. */
void nvidia_context_ends(void);

#endif
