/* api: what the programs of this folder share. A program checks, says what is wrong, and ends with "PASS" or exit status 1. */
#ifndef GPUSIM_TESTS_CUDA_API_API_H
#define GPUSIM_TESTS_CUDA_API_API_H

#include "kernels/cuda/runtime.h"

#include <stdbool.h>
#include <string.h>

enum {
	invalid_value = 1,
	out_of_memory = 2,
	invalid_configuration = 9,
	invalid_pitch = 12,
	invalid_symbol = 13,
	invalid_direction = 21,
	invalid_function = 98,
	invalid_device = 101,
	invalid_handle = 400,
	not_ready = 600,
	already_registered = 712,
	not_registered = 713,
	not_supported = 801,
};

struct pitched {
	void *address;
	size_t pitch, width, height;
};
struct extent {
	size_t width, height, depth;
};
struct position {
	size_t x, y, z;
};
struct copy3d {
	void *from_array;
	struct position from_position;
	struct pitched from;
	void *to_array;
	struct position to_position;
	struct pitched to;
	struct extent extent;
	int kind;
};
struct pointer_attributes {
	int type, device;
	void *device_address, *host_address;
	long reserved[8];
};

#define API(name, ...) extern int name(__VA_ARGS__)
API(cudaGetDriverEntryPoint, const char *, void **, unsigned long long, int *);
API(cudaMalloc3D, struct pitched *, struct extent);
API(cudaMemcpy3D, const struct copy3d *);
API(cudaMemset2D, void *, size_t, int, size_t, size_t);
API(cudaMemset3D, struct pitched, int, struct extent);
API(cudaHostRegister, void *, size_t, unsigned);
API(cudaHostUnregister, void *);
API(cudaHostGetFlags, unsigned *, void *);
API(cudaMemGetInfo, size_t *, size_t *);
API(cudaPointerGetAttributes, struct pointer_attributes *, const void *);
API(cudaMallocAsync, void **, size_t, void *);
API(cudaFreeAsync, void *, void *);
API(cudaDeviceGetDefaultMemPool, void **, int);
API(cudaMemPoolSetAttribute, void *, int, void *);
API(cudaMemPoolGetAttribute, void *, int, void *);
API(cudaGetSurfaceReference, const void **, const void *);
API(cudaMemcpyAsync_ptsz, void *, const void *, size_t, int, void *);
#if CUDA_MAJOR >= 13
API(cudaMemcpyBatchAsync, void *const *, const void *const *, const size_t *, size_t, const void *, const size_t *, size_t, void *);
#define BATCH(to, from, bytes, count, wishes, firsts, wish_count, failed, stream) \
	cudaMemcpyBatchAsync(to, from, bytes, count, wishes, firsts, wish_count, stream)
#else
API(cudaMemcpyBatchAsync, void *const *, const void *const *, const size_t *, size_t, const void *, const size_t *, size_t, size_t *, void *);
#define BATCH cudaMemcpyBatchAsync
#endif
API(cudaMemPrefetchBatchAsync, void **, const size_t *, size_t, const void *, const size_t *, size_t, unsigned long long, void *);
API(cudaLaunchHostFunc_ptsz, void *, void (*)(void *), void *);
API(cudaStreamCreateWithPriority, cudaStream_t *, unsigned, int);
API(cudaStreamGetPriority, cudaStream_t, int *);
API(cudaStreamGetFlags, cudaStream_t, unsigned *);
API(cudaStreamGetId, cudaStream_t, unsigned long long *);
API(cudaStreamIsCapturing, cudaStream_t, int *);
API(cudaThreadExchangeStreamCaptureMode, int *);
API(cudaStreamAddCallback, cudaStream_t, void (*)(cudaStream_t, int, void *), void *, unsigned);
API(cudaEventCreateWithFlags, cudaEvent_t *, unsigned);
API(cudaGetDevice, int *);
API(cudaDeviceGetAttribute, int *, int, int);
API(cudaGetDeviceProperties, void *, int);
API(cudaGetDeviceProperties_v2, void *, int);
API(cudaRuntimeGetVersion, int *);
API(cudaDriverGetVersion, int *);
API(cudaDeviceGetLimit, size_t *, int);
API(cudaDeviceSetLimit, int, size_t);
API(cudaDeviceGetPCIBusId, char *, int, int);
API(cudaDeviceGetByPCIBusId, int *, const char *);
API(cudaDeviceCanAccessPeer, int *, int, int);
API(cudaUserObjectCreate, void **, unsigned);
API(cudaFuncGetAttributes, void *, const void *);
#undef API

static int failures;

/* The first is what is computed, the second what must come out. */
#define EXPECT(is, should) \
	do { \
		long long expect_is = (long long)(is), expect_should = (long long)(should); \
		if (expect_is != expect_should) { \
			printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #is, expect_is, expect_should); \
			failures++; \
		} \
	} while (0)
#define EXPECT_TEXT(is, should) \
	do { \
		if (strcmp(is, should)) { \
			printf("%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #is, is, should); \
			failures++; \
		} \
	} while (0)

static inline int verdict(void)
{
	puts(failures ? "FAIL" : "PASS");
	return failures != 0;
}

#endif
