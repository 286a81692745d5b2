/* calls: the functions of NVIDIA's driver that we call ourselves. Handles are pointers, and 0 is success, as everywhere in that driver. */
#ifndef GPUSIM_RUNTIME_GUEST_NVIDIA_CALLS_H
#define GPUSIM_RUNTIME_GUEST_NVIDIA_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NVIDIA_NOT_READY = 600 };

/* CUDA_KERNEL_NODE_PARAMS, with room for what later versions add. */
struct nvidia_node {
	const void *function;
	unsigned grid[3], block[3], dynamic_shared;
	void **parameters, **extra;
	const void *kernel;
	void *rest[8];
};

/* X(name, its name in the library, parameters) */
#define NVIDIA_CALLS(X) \
	X(context, "cuCtxGetCurrent", (void **out)) \
	X(event_create, "cuEventCreate", (void **out, unsigned flags)) \
	X(event_record, "cuEventRecord", (void *event, void *stream)) \
	X(event_query, "cuEventQuery", (void *event)) \
	X(event_elapsed, "cuEventElapsedTime", (float *milliseconds, void *begin, void *end)) \
	X(stream_create, "cuStreamCreate", (void **out, unsigned flags)) \
	X(stream_query, "cuStreamQuery", (void *stream)) \
	X(stream_is_capturing, "cuStreamIsCapturing", (void *stream, int *status)) \
	X(module_load, "cuModuleLoadData", (void **out, const void *image)) \
	X(module_function, "cuModuleGetFunction", (void **out, void *module, const char *name)) \
	X(launch, "cuLaunchKernel", (const void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
	                             unsigned block_z, unsigned dynamic_shared, void *stream, void **parameters, void **extra))
/* Those that older drivers do not have. */
#define NVIDIA_NEWER_CALLS(X) \
	X(context_id, "cuCtxGetId", (void *context, unsigned long long *id)) \
	X(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, const void *function)) \
	X(function_name, "cuFuncGetName", (const char **name, const void *function)) \
	X(kernel_name, "cuKernelGetName", (const char **name, const void *kernel)) \
	X(graph_nodes, "cuGraphGetNodes", (void *graph, void **nodes, size_t *count)) \
	X(node_type, "cuGraphNodeGetType", (void *node, int *type)) \
	X(node_kernel, "cuGraphKernelNodeGetParams_v2", (void *node, struct nvidia_node *out)) \
	X(node_graph, "cuGraphChildGraphNodeGetGraph", (void *node, void **graph)) \
	X(stream_wait, "cuStreamSynchronize", (void *stream)) \
	X(module_load_with, "cuModuleLoadDataEx", (void **out, const void *image, unsigned count, int *options, void **values)) \
	X(function_set, "cuFuncSetAttribute", (const void *function, int attribute, int value)) \
	X(library_global, "cuLibraryGetGlobal", (uint64_t *address, size_t *bytes, void *library, const char *name)) \
	X(module_global, "cuModuleGetGlobal_v2", (uint64_t *address, size_t *bytes, void *module, const char *name)) \
	X(context_device, "cuCtxGetDevice", (int *device)) \
	X(pointer_attribute, "cuPointerGetAttribute", (void *value, int attribute, uint64_t address)) \
	X(memory_info, "cuMemGetInfo_v2", (size_t *free_bytes, size_t *total)) \
	X(allocate, "cuMemAlloc_v2", (uint64_t *address, size_t bytes)) \
	X(release, "cuMemFree_v2", (uint64_t address)) \
	X(copy, "cuMemcpyAsync", (uint64_t to, uint64_t from, size_t bytes, void *stream)) \
	X(copy_to, "cuMemcpyHtoDAsync_v2", (uint64_t to, const void *from, size_t bytes, void *stream)) \
	X(copy_from, "cuMemcpyDtoHAsync_v2", (void *to, uint64_t from, size_t bytes, void *stream)) \
	X(fill, "cuMemsetD8Async", (uint64_t to, unsigned char value, size_t bytes, void *stream))

struct nvidia_calls {
#define X(name, symbol, params) int (*name) params;
	NVIDIA_CALLS(X)
	NVIDIA_NEWER_CALLS(X)
#undef X
};

extern struct nvidia_calls nvidia;

bool nvidia_can_count(void); /* false: some that twins need are not there */
bool nvidia_find_calls(void *(*find)(const char *name)); /* false: some that we need are not there */

#endif
