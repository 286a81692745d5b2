/* The device: properties, attributes, limits, texts of errors. Left out is what differs between machines. */
#include "answers.h"

static void properties(void)
{
	cudaDeviceProp p;
	said("properties", cudaGetDeviceProperties(&p, 0));
	said("properties_of_none", cudaGetDeviceProperties(&p, 99));
	said("properties_of_negative", cudaGetDeviceProperties(&p, -1));
	said("properties_again", cudaGetDeviceProperties(&p, 0));
#define PROPERTY(name) is("property " #name, (long long)p.name);
	PROPERTY(sharedMemPerBlock)
	PROPERTY(regsPerBlock)
	PROPERTY(warpSize)
	PROPERTY(memPitch)
	PROPERTY(maxThreadsPerBlock)
	PROPERTY(maxThreadsDim[0])
	PROPERTY(maxThreadsDim[1])
	PROPERTY(maxThreadsDim[2])
	PROPERTY(maxGridSize[0])
	PROPERTY(maxGridSize[1])
	PROPERTY(maxGridSize[2])
	PROPERTY(totalConstMem)
	PROPERTY(major)
	PROPERTY(minor)
	PROPERTY(textureAlignment)
	PROPERTY(texturePitchAlignment)
	PROPERTY(multiProcessorCount)
	PROPERTY(integrated)
	PROPERTY(canMapHostMemory)
	PROPERTY(maxTexture1D)
	PROPERTY(maxTexture1DMipmap)
	PROPERTY(maxTexture2D[0])
	PROPERTY(maxTexture2D[1])
	PROPERTY(maxTexture2DMipmap[0])
	PROPERTY(maxTexture2DMipmap[1])
	PROPERTY(maxTexture2DLinear[0])
	PROPERTY(maxTexture2DLinear[1])
	PROPERTY(maxTexture2DLinear[2])
	PROPERTY(maxTexture2DGather[0])
	PROPERTY(maxTexture2DGather[1])
	PROPERTY(maxTexture3D[0])
	PROPERTY(maxTexture3D[1])
	PROPERTY(maxTexture3D[2])
	PROPERTY(maxTexture3DAlt[0])
	PROPERTY(maxTexture3DAlt[1])
	PROPERTY(maxTexture3DAlt[2])
	PROPERTY(maxTextureCubemap)
	PROPERTY(maxTexture1DLayered[0])
	PROPERTY(maxTexture1DLayered[1])
	PROPERTY(maxTexture2DLayered[0])
	PROPERTY(maxTexture2DLayered[1])
	PROPERTY(maxTexture2DLayered[2])
	PROPERTY(maxTextureCubemapLayered[0])
	PROPERTY(maxTextureCubemapLayered[1])
	PROPERTY(maxSurface1D)
	PROPERTY(maxSurface2D[0])
	PROPERTY(maxSurface2D[1])
	PROPERTY(maxSurface3D[0])
	PROPERTY(maxSurface3D[1])
	PROPERTY(maxSurface3D[2])
	PROPERTY(maxSurface1DLayered[0])
	PROPERTY(maxSurface1DLayered[1])
	PROPERTY(maxSurface2DLayered[0])
	PROPERTY(maxSurface2DLayered[1])
	PROPERTY(maxSurface2DLayered[2])
	PROPERTY(maxSurfaceCubemap)
	PROPERTY(maxSurfaceCubemapLayered[0])
	PROPERTY(maxSurfaceCubemapLayered[1])
	PROPERTY(surfaceAlignment)
	PROPERTY(concurrentKernels)
	PROPERTY(ECCEnabled)
	PROPERTY(tccDriver)
	PROPERTY(asyncEngineCount)
	PROPERTY(unifiedAddressing)
	PROPERTY(memoryBusWidth)
	PROPERTY(l2CacheSize)
	PROPERTY(persistingL2CacheMaxSize)
	PROPERTY(maxThreadsPerMultiProcessor)
	PROPERTY(streamPrioritiesSupported)
	PROPERTY(globalL1CacheSupported)
	PROPERTY(localL1CacheSupported)
	PROPERTY(sharedMemPerMultiprocessor)
	PROPERTY(regsPerMultiprocessor)
	PROPERTY(managedMemory)
	PROPERTY(isMultiGpuBoard)
	PROPERTY(multiGpuBoardGroupID)
	PROPERTY(hostNativeAtomicSupported)
	PROPERTY(pageableMemoryAccess)
	PROPERTY(concurrentManagedAccess)
	PROPERTY(computePreemptionSupported)
	PROPERTY(canUseHostPointerForRegisteredMem)
	PROPERTY(cooperativeLaunch)
	PROPERTY(sharedMemPerBlockOptin)
	PROPERTY(pageableMemoryAccessUsesHostPageTables)
	PROPERTY(directManagedMemAccessFromHost)
	PROPERTY(maxBlocksPerMultiProcessor)
	PROPERTY(accessPolicyMaxWindowSize)
	PROPERTY(reservedSharedMemPerBlock)
	PROPERTY(hostRegisterSupported)
	PROPERTY(sparseCudaArraySupported)
	PROPERTY(hostRegisterReadOnlySupported)
	PROPERTY(timelineSemaphoreInteropSupported)
	PROPERTY(memoryPoolsSupported)
	PROPERTY(gpuDirectRDMASupported)
	PROPERTY(gpuDirectRDMAFlushWritesOptions)
	PROPERTY(gpuDirectRDMAWritesOrdering)
	PROPERTY(memoryPoolSupportedHandleTypes)
	PROPERTY(deferredMappingCudaArraySupported)
	PROPERTY(ipcEventSupported)
	PROPERTY(clusterLaunch)
	PROPERTY(unifiedFunctionPointers)
	PROPERTY(deviceNumaConfig)
	PROPERTY(deviceNumaId)
	PROPERTY(mpsEnabled)
	PROPERTY(gpuPciDeviceID)
	PROPERTY(hostNumaMultinodeIpcSupported)
}

static void attributes(void)
{
	int value = 0;
	for (int k = 0; k < 160; k++) {
		char name[32];
		if (k == 33 || k == 34 || k == 50 || k == 134 || k == 138 || k == 139) /* where the device is */
			continue;
		snprintf(name, sizeof name, "attribute %d", k);
		value = -7;
		cudaError_t error = cudaDeviceGetAttribute(&value, (cudaDeviceAttr)k, 0);
		said(name, error);
		if (error == cudaSuccess)
			is(name, value);
	}
	said("attribute_of_none", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
	said("attribute_to_null", cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
}

static void limits(void)
{
	size_t value;
	for (int k = 0; k < 9; k++) {
		char name[32];
		snprintf(name, sizeof name, "limit %d", k);
		value = 0;
		cudaError_t error = cudaDeviceGetLimit(&value, (cudaLimit)k);
		said(name, error);
		if (error == cudaSuccess)
			is(name, (long long)value);
	}
	said("set_stack", cudaDeviceSetLimit(cudaLimitStackSize, 5000));
	said("get_stack", cudaDeviceGetLimit(&value, cudaLimitStackSize));
	is("stack_set", (long long)value);
	said("set_heap", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 100000000));
	said("get_heap", cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
	is("heap_set", (long long)value);
	said("set_fifo", cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 3000000));
	said("get_fifo", cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize));
	is("fifo_set", (long long)value);
	said("set_persisting", cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
	said("get_persisting", cudaDeviceGetLimit(&value, cudaLimitPersistingL2CacheSize));
	is("persisting_set", (long long)value);
	said("set_huge_stack", cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40));
	said("set_no_limit", cudaDeviceSetLimit((cudaLimit)77, 1));
	said("reset_persisting", cudaCtxResetPersistingL2Cache());
}

static void devices(void)
{
	int value = -1, least = -1, greatest = -1;
	unsigned flags = 99;
	cudaFuncCache cache = (cudaFuncCache)9;
	char bus[32] = "";
	said("set_device_none", cudaSetDevice(99));
	said("set_device_negative", cudaSetDevice(-1));
	said("get_device", cudaGetDevice(&value));
	is("device", value);
	said("get_device_null", cudaGetDevice(NULL));
	said("get_count_null", cudaGetDeviceCount(NULL));
	said("get_flags", cudaGetDeviceFlags(&flags));
	is("flags", flags);
	said("set_flags", cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
	said("get_flags_again", cudaGetDeviceFlags(&flags));
	is("flags_again", flags);
	said("set_flags_wrong", cudaSetDeviceFlags(0x1000));
	said("set_device", cudaSetDevice(0));
	said("priorities", cudaDeviceGetStreamPriorityRange(&least, &greatest));
	is("least", least);
	is("greatest", greatest);
	said("cache_config", cudaDeviceGetCacheConfig(&cache));
	is("cache", cache);
	said("set_cache", cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
	said("get_cache", cudaDeviceGetCacheConfig(&cache));
	is("cache_set", cache);
	said("bus_id_short", cudaDeviceGetPCIBusId(bus, 3, 0));
	said("bus_id", cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
	said("by_bus_id", cudaDeviceGetByPCIBusId(&value, bus));
	said("by_wrong_bus_id", cudaDeviceGetByPCIBusId(&value, "nonsense"));
	said("peer_self", cudaDeviceCanAccessPeer(&value, 0, 0));
	is("peer_self", value);
	said("peer_none", cudaDeviceCanAccessPeer(&value, 0, 99));
	said("enable_self", cudaDeviceEnablePeerAccess(0, 0));
	said("enable_none", cudaDeviceEnablePeerAccess(99, 0));
	said("valid_devices", cudaSetValidDevices(NULL, 0));
	said("init_device", cudaInitDevice(0, 0, 0));
	said("reset", cudaDeviceReset());
	said("after_reset", cudaFree(NULL));
}

static void errors(void)
{
	for (int k = 0; k < 1001; k++) {
		const char *name = cudaGetErrorName((cudaError_t)k);
		if (strcmp(name, "unrecognized error code"))
			printf("error %d %s\n", k, name);
	}
	printf("error -1 %s\n", cudaGetErrorName((cudaError_t)-1));
}

/* Which errors stay, and which calls clear or set the last one. */
static void last_errors(void)
{
	void *p;
	cudaStream_t stream;
	said("first", cudaSuccess);
	is("malloc_huge", cudaMalloc(&p, (size_t)1 << 50));
	is("peek", cudaPeekAtLastError());
	is("malloc", cudaMalloc(&p, 16));
	is("peek_after_success", cudaPeekAtLastError());
	is("set_device_wrong", cudaSetDevice(99));
	is("peek_the_later", cudaPeekAtLastError());
	is("get", cudaGetLastError());
	is("get_again", cudaGetLastError());
	is("stream", cudaStreamCreate(&stream));
	is("query", cudaStreamQuery(stream));
	is("peek_after_query", cudaPeekAtLastError());
	is("malloc_null", cudaMalloc(NULL, 16));
	is("synchronize", cudaDeviceSynchronize());
	is("peek_after_synchronize", cudaPeekAtLastError());
	is("get_after_synchronize", cudaGetLastError());
}

const struct group device_groups[] = {{"properties", properties}, {"attributes", attributes}, {"limits", limits}, {"devices", devices}, {"errors", errors},
	{"last_errors", last_errors}, {NULL, NULL}};
