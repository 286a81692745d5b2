/* Launches of functions, with their parameters in either form. */
#include "interposer/cuda/driver/driver.h"
#include "interposer/cuda/launch.h"

#include <stdlib.h>

int launch_function(const void *function, struct api_size3 grid, struct api_size3 block, unsigned dynamic_shared, void *stream, void **args, void **extra,
                    bool cooperative)
{
	struct registered_function *f;
	void **own = NULL;
	if (function_prepare(function, &f))
		return cudaErrorInvalidResourceHandle;
	if (args && extra)
		return cudaErrorInvalidValue;
	if (extra && !(own = launch_arguments(cuda_kernel_facts(f->kernel), extra)))
		return cudaErrorInvalidValue;
	args = own ? own : args;
	int error = cooperative ? hook_cudaLaunchCooperativeKernel(function, grid, block, args, dynamic_shared, stream)
	                        : hook_cudaLaunchKernel(function, grid, block, args, dynamic_shared, stream);
	free(own);
	return error;
}

struct api_launch_config config_of(const struct driver_launch_config *c, void *default_stream)
{
	return (struct api_launch_config){
		.grid = {c->grid[0], c->grid[1], c->grid[2]},
		.block = {c->block[0], c->block[1], c->block[2]},
		.dynamic_shared = c->dynamic_shared,
		.stream = c->stream ? c->stream : default_stream,
		.attributes = c->attributes,
		.attribute_count = c->attribute_count,
	};
}

int launch_with_config(const struct driver_launch_config *config, const void *function, void **args, void **extra, void *default_stream)
{
	struct registered_function *f;
	void **own = NULL;
	if (!config)
		return cudaErrorInvalidValue;
	if (function_prepare(function, &f))
		return cudaErrorInvalidResourceHandle;
	if (extra && !(own = launch_arguments(cuda_kernel_facts(f->kernel), extra)))
		return cudaErrorInvalidValue;
	struct api_launch_config c = config_of(config, default_stream);
	int error = hook_cudaLaunchKernelExC(&c, function, own ? own : args);
	free(own);
	return error;
}

int best_block_size(int *grid, int *block, const void *function, size_t (*shared)(int), size_t dynamic_shared, int limit)
{
	struct registered_function *f;
	if (!grid || !block)
		return cudaErrorInvalidValue;
	if (function_prepare(function, &f))
		return cudaErrorInvalidResourceHandle;
	const struct gpu *g = cuda_gpu();
	int warp = (int)g->warp_size, most = (int)cuda_kernel_facts(f->kernel)->max_threads, best = 0;
	most = limit > 0 && limit < most ? limit : most;
	*grid = *block = 0;
	for (int size = (most + warp - 1) / warp * warp; size > 0; size -= warp) {
		int threads = size < most ? size : most, blocks = 0;
		int error = hook_cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared ? shared(threads) : dynamic_shared);
		if (error)
			return error;
		if (blocks * threads <= best)
			continue;
		best = blocks * threads;
		*block = threads;
		*grid = blocks * (int)g->sm_count;
	}
	return cudaSuccess;
}
