/* Launches: sizes that are too large or nothing, functions and their attributes, occupancy. */
#include "answers.h"

__global__ void plain(int *out)
{
	if (out)
		out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void __launch_bounds__(128) bounded(int *out)
{
	if (out)
		out[threadIdx.x] = 1;
}

__global__ void static_shared(int *out)
{
	__shared__ int tile[4096];
	tile[threadIdx.x] = (int)threadIdx.x;
	__syncthreads();
	if (out)
		out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void dynamic_shared(int *out)
{
	extern __shared__ int tile[];
	tile[threadIdx.x] = (int)threadIdx.x;
	__syncthreads();
	if (out)
		out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void __cluster_dims__(2, 1, 1) of_clusters(int *out)
{
	if (out)
		out[blockIdx.x] = 1;
}

static void launch(const char *name, const void *kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
	int *out = NULL;
	void *arguments[] = {&out};
	said(name, cudaLaunchKernel(kernel, grid, block, arguments, shared, stream));
}

static void launches(void)
{
	const void *f = (const void *)plain;
	launch("launch", f, dim3(1), dim3(32), 0, 0);
	launch("grid_x_0", f, dim3(0), dim3(32), 0, 0);
	launch("grid_y_0", f, dim3(1, 0), dim3(32), 0, 0);
	launch("block_0", f, dim3(1), dim3(0), 0, 0);
	launch("block_z_0", f, dim3(1), dim3(32, 1, 0), 0, 0);
	launch("block_1024", f, dim3(1), dim3(1024), 0, 0);
	launch("block_1025", f, dim3(1), dim3(1025), 0, 0);
	launch("block_2048", f, dim3(1), dim3(2048), 0, 0);
	launch("block_64_64", f, dim3(1), dim3(64, 64), 0, 0);
	launch("block_z_64", f, dim3(1), dim3(1, 1, 64), 0, 0);
	launch("block_z_65", f, dim3(1), dim3(1, 1, 65), 0, 0);
	launch("block_y_1025", f, dim3(1), dim3(1, 1025), 0, 0);
	launch("grid_y_65535", f, dim3(1, 65535), dim3(32), 0, 0);
	launch("grid_y_65536", f, dim3(1, 65536), dim3(32), 0, 0);
	launch("grid_z_65536", f, dim3(1, 1, 65536), dim3(32), 0, 0);
	launch("grid_x_65536", f, dim3(65536), dim3(32), 0, 0);
	launch("grid_x_2^31", f, dim3(1u << 31), dim3(32), 0, 0);
	launch("grid_x_2^32-1", f, dim3(~0u), dim3(32), 0, 0);
	launch("shared_48k", (const void *)dynamic_shared, dim3(1), dim3(32), 49152, 0);
	launch("shared_48k+1", (const void *)dynamic_shared, dim3(1), dim3(32), 49153, 0);
	launch("shared_200k", (const void *)dynamic_shared, dim3(1), dim3(32), 200 * 1024, 0);
	launch("shared_1g", (const void *)dynamic_shared, dim3(1), dim3(32), 1 << 30, 0);
	launch("static_and_32k", (const void *)static_shared, dim3(1), dim3(32), 32768, 0);
	launch("static_and_32k+1", (const void *)static_shared, dim3(1), dim3(32), 32769, 0);
	launch("bounded_128", (const void *)bounded, dim3(1), dim3(128), 0, 0);
	launch("bounded_129", (const void *)bounded, dim3(1), dim3(129), 0, 0);
	launch("null_function", NULL, dim3(1), dim3(32), 0, 0);
	launch("no_function", (const void *)launches, dim3(1), dim3(32), 0, 0);
	launch("legacy_stream", f, dim3(1), dim3(32), 0, cudaStreamLegacy);
	launch("thread_stream", f, dim3(1), dim3(32), 0, cudaStreamPerThread);
	launch("clusters_of_2", (const void *)of_clusters, dim3(4), dim3(32), 0, 0);
	launch("clusters_of_2_odd", (const void *)of_clusters, dim3(3), dim3(32), 0, 0);
	plain<<<1, 2000>>>(NULL);
	is("peek_after_arrows", cudaPeekAtLastError());
	said("arrows", cudaSuccess);
	plain<<<1, 32>>>(NULL);
	said("after_arrows", cudaDeviceSynchronize());
}

static void cooperative_launches(void)
{
	int *out = NULL;
	void *arguments[] = {&out};
	said("cooperative", cudaLaunchCooperativeKernel((const void *)plain, dim3(1), dim3(32), arguments, 0, 0));
	said("cooperative_too_large", cudaLaunchCooperativeKernel((const void *)plain, dim3(1 << 20), dim3(32), arguments, 0, 0));
	said("cooperative_grid_0", cudaLaunchCooperativeKernel((const void *)plain, dim3(0), dim3(32), arguments, 0, 0));
	said("cooperative_block_2000", cudaLaunchCooperativeKernel((const void *)plain, dim3(1), dim3(2000), arguments, 0, 0));
}

static void launch_ex(const char *name, const void *kernel, unsigned grid, unsigned block, unsigned cluster)
{
	int *out = NULL;
	void *arguments[] = {&out};
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = cluster;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	config.gridDim = dim3(grid);
	config.blockDim = dim3(block);
	config.attrs = &attribute;
	config.numAttrs = 1;
	said(name, cudaLaunchKernelExC(&config, kernel, arguments));
}

static void cluster_launches(void)
{
	launch_ex("cluster_4", (const void *)plain, 8, 64, 4);
	launch_ex("cluster_8", (const void *)plain, 8, 64, 8);
	launch_ex("cluster_16", (const void *)plain, 16, 64, 16);
	launch_ex("cluster_3_of_8", (const void *)plain, 8, 64, 3);
	launch_ex("cluster_0", (const void *)plain, 8, 64, 0);
	launch_ex("cluster_fixed", (const void *)of_clusters, 8, 64, 2);
	launch_ex("cluster_other_than_fixed", (const void *)of_clusters, 8, 64, 4);
	said("launch_ex_null", cudaLaunchKernelExC(NULL, (const void *)plain, NULL));
}

static void function_attributes(void)
{
	cudaFuncAttributes a;
	memset(&a, 0, sizeof a);
	const struct {
		const char *name;
		const void *kernel;
	} kernels[] = {{"plain", (const void *)plain}, {"bounded", (const void *)bounded}, {"static_shared", (const void *)static_shared},
		{"dynamic_shared", (const void *)dynamic_shared}, {"of_clusters", (const void *)of_clusters}};
	for (const auto &k : kernels) {
		said(k.name, cudaFuncGetAttributes(&a, k.kernel));
		printf("%s: shared %zu const %zu local %zu threads %d dynamic %d carveout %d cluster %d %d %d must %d policy %d nonportable %d\n", k.name, a.sharedSizeBytes,
			a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.requiredClusterWidth,
			a.requiredClusterHeight, a.requiredClusterDepth, a.clusterDimMustBeSet, a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
	}
	said("attributes_null", cudaFuncGetAttributes(&a, NULL));
	said("attributes_to_null", cudaFuncGetAttributes(NULL, (const void *)plain));
	const void *f = (const void *)dynamic_shared;
	said("optin_200k", cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
	launch("optin_200k_launch", f, dim3(1), dim3(32), 200 * 1024, 0);
	launch("optin_200k+4_launch", f, dim3(1), dim3(32), 200 * 1024 + 4, 0);
	said("optin_most", cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
	launch("optin_most_launch", f, dim3(1), dim3(32), 232448, 0);
	said("optin_too_much", cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
	said("optin_negative", cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
	said("optin_less", cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
	launch("optin_less_launch", f, dim3(1), dim3(32), 2048, 0);
	said("optin_static_too_much", cudaFuncSetAttribute((const void *)static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
	said("carveout_50", cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
	said("carveout_101", cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
	said("carveout_-1", cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
	said("carveout_-2", cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
	said("attribute_unknown", cudaFuncSetAttribute(f, (cudaFuncAttribute)77, 1));
	said("attribute_no_function", cudaFuncSetAttribute((const void *)launches, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
	said("function_cache", cudaFuncSetCacheConfig(f, cudaFuncCachePreferShared));
}

static int blocks(const void *kernel, int threads, size_t shared)
{
	int n = -1;
	said("blocks", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, threads, shared));
	return n;
}

static int clusters(const void *kernel, unsigned cluster, unsigned threads, size_t shared)
{
	int n = -1;
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = cluster;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	config.gridDim = dim3(cluster * 64);
	config.blockDim = dim3(threads);
	config.dynamicSmemBytes = shared;
	config.attrs = &attribute;
	config.numAttrs = 1;
	said("clusters", cudaOccupancyMaxActiveClusters(&n, kernel, &config));
	return n;
}

static void occupancy(void)
{
	const void *f = (const void *)plain, *s = (const void *)static_shared, *d = (const void *)dynamic_shared;
	size_t bytes = 0;
	int grid = -1, block = -1;
	for (int threads : {1, 32, 64, 96, 128, 256, 512, 768, 1024})
		is("blocks_by_threads", blocks(f, threads, 0));
	is("blocks_1025", blocks(f, 1025, 0));
	is("blocks_0", blocks(f, 0, 0));
	is("blocks_-1", blocks(f, -1, 0));
	is("blocks_bounded_256", blocks((const void *)bounded, 256, 0));
	is("blocks_static", blocks(s, 128, 0));
	is("blocks_static_more", blocks(s, 128, 32768));
	is("blocks_static_too_much", blocks(s, 128, 32769));
	is("blocks_48k", blocks(d, 128, 49152));
	is("blocks_100k", blocks(d, 128, 100 * 1024));
	is("blocks_null", blocks(NULL, 128, 0));
	for (int n : {1, 2, 4, 8, 16, 32, 33}) {
		said("available", cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, d, n, 64));
		is("available_bytes", (long long)bytes);
	}
	said("available_static", cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, s, 2, 64));
	is("available_static_bytes", (long long)bytes);
	said("size", cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
	is("size_grid", grid);
	is("size_block", block);
	said("size_bounded", cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
	is("size_bounded_grid", grid);
	is("size_bounded_block", block);
	for (unsigned n : {1u, 2u, 4u, 8u, 16u, 3u}) {
		is("clusters_64", clusters(f, n, 64, 0));
		is("clusters_1024", clusters(f, n, 1024, 0));
	}
	said("optin", cudaFuncSetAttribute(d, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
	is("blocks_200k", blocks(d, 128, 200 * 1024));
	for (unsigned n : {2u, 4u, 8u})
		is("clusters_200k", clusters(d, n, 128, 200 * 1024));
	said("nonportable", cudaFuncSetAttribute(f, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
	is("clusters_16_allowed", clusters(f, 16, 64, 0));
	is("clusters_16_allowed_1024", clusters(f, 16, 1024, 0));
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3(64);
	config.blockDim = dim3(128);
	said("cluster_size", cudaOccupancyMaxPotentialClusterSize(&grid, f, &config));
	is("cluster_size_of", grid);
	said("cluster_size_portable", cudaOccupancyMaxPotentialClusterSize(&grid, d, &config));
	is("cluster_size_portable_of", grid);
}

const struct group launch_groups[] = {{"launches", launches}, {"cooperative_launches", cooperative_launches}, {"cluster_launches", cluster_launches},
	{"function_attributes", function_attributes}, {"occupancy", occupancy}, {NULL, NULL}};
