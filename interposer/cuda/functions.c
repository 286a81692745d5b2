/* Questions about kernels, and settings of them. */
#include "interposer/cuda/device/limits.h"
#include "interposer/cuda/launch.h"

#include <string.h>

static int dynamic_shared_of(const struct registered_function *f)
{
	return (int)limit_dynamic_shared(cuda_gpu(), cuda_kernel_facts(f->kernel)->shared_bytes, f->max_dynamic_shared);
}

int hook_cudaFuncGetAttributes(struct api_function_attributes *attributes, const void *function, int version)
{
	struct registered_function *f;
	int error = attributes ? function_prepare(function, &f) : cudaErrorInvalidValue;
	if (error)
		return error;
	const struct cuda_kernel_facts *facts = cuda_kernel_facts(f->kernel);
	struct api_function_attributes all = {
		.shared_bytes = facts->shared_bytes,
		.const_bytes = facts->const_bytes,
		.local_bytes = facts->local_bytes,
		.max_threads = (int)facts->max_threads,
		.registers = (int)facts->registers,
		.ptx_version = facts->ptx_version,
		.binary_version = facts->binary_version,
		.cached_in_l1 = 0,
		.max_dynamic_shared = dynamic_shared_of(f),
		.carveout = f->carveout,
		.cluster_required = facts->cluster[0] != 0,
		.cluster = {(int)facts->cluster[0], (int)facts->cluster[1], (int)facts->cluster[2]},
		.non_portable_cluster = f->large_clusters,
	};
	memcpy(attributes, &all, version < 12 ? offsetof(struct api_function_attributes, cluster_required) : sizeof all);
	return cudaSuccess;
}

int hook_cudaFuncSetAttribute(const void *function, int attribute, int value)
{
	struct registered_function *f;
	int error = function_prepare(function, &f);
	if (error)
		return error;
	size_t own = cuda_kernel_facts(f->kernel)->shared_bytes;
	switch (attribute) {
	case API_DYNAMIC_SHARED:
		if (value < 0 || own + (size_t)value > cuda_gpu()->max_shared_bytes_per_block)
			return cudaErrorInvalidValue;
		f->max_dynamic_shared = (size_t)value;
		return cudaSuccess;
	case API_SHARED_CARVEOUT:
		if (value < -1 || value > 100)
			return cudaErrorInvalidValue;
		f->carveout = value;
		return cudaSuccess;
	case API_LARGE_CLUSTERS:
		f->large_clusters = value != 0;
		return cudaSuccess;
	case API_CLUSTER_POLICY: /* a wish */
		return cudaSuccess;
	default:
		return attribute > API_SHARED_CARVEOUT && attribute < API_FUNCTION_ATTRIBUTES ? cudaErrorNotSupported : cudaErrorInvalidValue;
	}
}

int hook_cudaKernelSetAttributeForDevice(const void *kernel, int attribute, int value, int device)
{
	return !is_device(device) ? cudaErrorInvalidDevice : hook_cudaFuncSetAttribute(kernel, attribute, value);
}

/* Preferences: they change nothing here. */
static int accept_preference(const void *function, int value, int most)
{
	struct registered_function *f;
	return value < 0 || value > most ? cudaErrorInvalidValue : function_find(function, &f);
}

int hook_cudaFuncSetCacheConfig(const void *function, int config)
{
	return accept_preference(function, config, 3);
}

int hook_cudaFuncSetSharedMemConfig(const void *function, int config)
{
	return accept_preference(function, config, 2);
}

int hook_cudaFuncGetName(const char **name, const void *function)
{
	struct registered_function *f;
	int error = name ? function_find(function, &f) : cudaErrorInvalidValue;
	if (!error)
		*name = f->name;
	return error;
}

int hook_cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes)
{
	struct registered_function *f;
	int error = offset ? function_prepare(function, &f) : cudaErrorInvalidValue;
	if (error)
		return error;
	const struct cuda_kernel_facts *facts = cuda_kernel_facts(f->kernel);
	if (index >= facts->parameter_count)
		return cudaErrorInvalidValue;
	*offset = facts->parameters[index].offset;
	if (bytes)
		*bytes = facts->parameters[index].bytes;
	return cudaSuccess;
}

int hook_cudaGetFuncBySymbol(void **out, const void *symbol)
{
	return hook___cudaGetKernel(out, symbol);
}

int hook_cudaGetKernel(void **kernel, const void *function)
{
	return hook___cudaGetKernel(kernel, function);
}

/* ---- occupancy ---- */

int hook_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads, size_t dynamic_shared,
                                                                unsigned flags)
{
	struct registered_function *f;
	int error = !blocks || threads < 1 || flags > 1 ? cudaErrorInvalidValue : function_prepare(function, &f);
	if (error)
		return error;
	const struct gpu *g = cuda_gpu();
	bool fits = (unsigned)threads <= g->max_threads_per_block && dynamic_shared <= (size_t)dynamic_shared_of(f);
	*blocks = fits ? (int)cuda_occupancy(f->kernel, (unsigned)threads, dynamic_shared) : 0;
	return cudaSuccess;
}

int hook_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t dynamic_shared)
{
	return hook_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared, 0);
}

/* Clusters of that launch that the GPU holds at once. An SM of an H200 has no more than 8 blocks of clusters. How SMs form GPCs, which a cluster does not
 * leave, is not known here: an H200 has 124 of 132 SMs for clusters of 4 blocks. */
int hook_cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const struct api_launch_config *config)
{
	enum { MOST_BLOCKS = 8 };
	struct registered_function *f;
	unsigned size[3];
	int blocks, error = clusters && config ? function_prepare(function, &f) : cudaErrorInvalidValue;
	if (!error)
		error = launch_cluster(f, config, size);
	if (!error)
		error = hook_cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)(config->block.x * config->block.y * config->block.z),
		                                                           config->dynamic_shared);
	if (!error)
		*clusters = (blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS) * (int)cuda_gpu()->sm_count / (size[0] ? (int)(size[0] * size[1] * size[2]) : 1);
	return error;
}

int hook_cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const struct api_launch_config *config)
{
	struct registered_function *f;
	int error = size && config ? function_prepare(function, &f) : cudaErrorInvalidValue;
	if (!error)
		*size = (int)limit_cluster(cuda_gpu(), f->large_clusters);
	return error;
}

/* A block's share of the SM's shared memory, if that many blocks fit otherwise, and no more than it may have. An H200's driver leaves out what is
 * reserved for each block. */
int hook_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int threads)
{
	struct registered_function *f;
	int error = !bytes || blocks < 1 || threads < 1 ? cudaErrorInvalidValue : function_prepare(function, &f);
	if (error)
		return error;
	const struct gpu *g = cuda_gpu();
	size_t own = cuda_kernel_facts(f->kernel)->shared_bytes, allowed = (size_t)dynamic_shared_of(f);
	size_t share = (size_t)g->shared_bytes_per_sm / (unsigned)blocks / g->shared_allocation_unit * g->shared_allocation_unit;
	if ((unsigned)threads > g->max_threads_per_block || cuda_occupancy(f->kernel, (unsigned)threads, 0) < (unsigned)blocks)
		return cudaErrorInvalidValue;
	share = share > own ? share - own : 0;
	*bytes = share < allowed ? share : allowed;
	return cudaSuccess;
}
