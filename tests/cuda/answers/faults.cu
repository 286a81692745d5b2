/* Kernels that fail: what calls return then and afterwards. Not those that access shared or local memory far beyond its end: on a CPU that may be
 * memory of something else. */
#include "answers.h"

#include <cassert>

__device__ int *volatile nowhere;

__global__ void stores(int *p)
{
	p[threadIdx.x] = 5;
}

__global__ void loads(const int *p, int *out)
{
	out[threadIdx.x] = p[threadIdx.x];
}

__global__ void adds(int *p)
{
	atomicAdd(p, 1);
}

__global__ void traps(int *p)
{
	p[threadIdx.x] = 1;
	__trap();
}

__global__ void asserts(int n)
{
	assert(n > 5);
}

__global__ void loads_wide(const char *p, int4 *out)
{
	out[threadIdx.x] = *(const int4 *)p;
}

static int *memory;

static void prepare(void)
{
	cudaMalloc(&memory, 4096);
	cudaMemset(memory, 0, 4096);
	said("first", cudaDeviceSynchronize());
}

/* What calls return after a kernel has failed. */
static void after(void)
{
	int host[4];
	void *p;
	cudaStream_t stream;
	cudaEvent_t event;
	said("launch", cudaSuccess);
	said("synchronize", cudaDeviceSynchronize());
	said("synchronize_again", cudaDeviceSynchronize());
	is("peek", cudaPeekAtLastError());
	said("copy", cudaMemcpy(host, memory, 16, cudaMemcpyDeviceToHost));
	said("malloc", cudaMalloc(&p, 16));
	said("malloc_host", cudaMallocHost(&p, 16));
	said("free", cudaFree(memory));
	said("stream", cudaStreamCreate(&stream));
	said("event", cudaEventCreate(&event));
	said("query", cudaStreamQuery(0));
	stores<<<1, 32>>>(NULL);
	said("launch_again", cudaSuccess);
	said("set_device", cudaSetDevice(0));
	size_t value;
	said("info", cudaMemGetInfo(&value, &value));
	int device;
	cudaDeviceProp properties;
	said("get_device", cudaGetDevice(&device));
	said("properties", cudaGetDeviceProperties(&properties, 0));
	said("reset", cudaDeviceReset());
	said("malloc_after_reset", cudaMalloc(&p, 4096));
	stores<<<1, 32>>>((int *)p);
	said("launch_after_reset", cudaSuccess);
	said("synchronize_after_reset", cudaDeviceSynchronize());
}

#define FAULT(name, ...)          \
	static void name(void)        \
	{                             \
		prepare();                \
		__VA_ARGS__;              \
		after();                  \
	}

FAULT(store_null, stores<<<1, 32>>>(NULL))
FAULT(load_null, loads<<<1, 32>>>(NULL, memory))
FAULT(store_far, stores<<<1, 32>>>(memory + ((size_t)1 << 40)))
FAULT(load_far, loads<<<4, 32>>>(memory - ((size_t)1 << 40), memory))
FAULT(store_low, stores<<<1, 32>>>((int *)0x1230))
FAULT(store_beyond_48_bits, stores<<<1, 32>>>((int *)0x7fff000000000000))
FAULT(atomic_null, adds<<<1, 32>>>(NULL))
FAULT(store_misaligned, stores<<<1, 32>>>((int *)((char *)memory + 1)))
FAULT(load_misaligned, loads_wide<<<1, 32>>>((const char *)memory + 4, (int4 *)memory))
FAULT(atomic_misaligned, adds<<<1, 32>>>((int *)((char *)memory + 2)))
FAULT(trap, traps<<<1, 32>>>(memory))
FAULT(assertion, asserts<<<1, 1>>>(3))

/* By which calls a fault is seen first. */
static void seen_by_copy(void)
{
	int host[4];
	prepare();
	stores<<<1, 32>>>(NULL);
	said("launch", cudaSuccess);
	said("copy", cudaMemcpy(host, memory, 16, cudaMemcpyDeviceToHost));
	said("synchronize", cudaDeviceSynchronize());
}

static void seen_by_event(void)
{
	cudaEvent_t event;
	float ms;
	prepare();
	cudaEventCreate(&event);
	stores<<<1, 32>>>(NULL);
	said("record", cudaEventRecord(event, 0));
	said("event", cudaEventSynchronize(event));
	said("elapsed", cudaEventElapsedTime(&ms, event, event));
	said("destroy", cudaEventDestroy(event));
	said("end", cudaDeviceSynchronize());
}

static void seen_by_free(void)
{
	cudaStream_t stream;
	prepare();
	cudaStreamCreate(&stream);
	stores<<<1, 32, 0, stream>>>(NULL);
	said("free", cudaFree(memory));
	said("stream", cudaStreamSynchronize(stream));
	said("destroy", cudaStreamDestroy(stream));
}

/* A neighbour of an allocation, within the page that the driver maps: no fault. */
static void store_beside(void)
{
	prepare();
	stores<<<1, 32>>>(memory + 1024 + 16);
	said("synchronize", cudaDeviceSynchronize());
}

static void host_memory(void)
{
	static int host[64];
	prepare();
	stores<<<1, 32>>>(host);
	said("store_to_host_variable", cudaDeviceSynchronize());
}

const struct group fault_groups[] = {{"store_null", store_null}, {"load_null", load_null}, {"store_far", store_far}, {"load_far", load_far},
	{"store_low", store_low}, {"store_beyond_48_bits", store_beyond_48_bits}, {"atomic_null", atomic_null}, {"store_misaligned", store_misaligned},
	{"load_misaligned", load_misaligned}, {"atomic_misaligned", atomic_misaligned}, {"trap", trap}, {"assertion", assertion},
	{"seen_by_copy", seen_by_copy}, {"seen_by_event", seen_by_event}, {"seen_by_free", seen_by_free},
	{"store_beside", store_beside}, {"host_memory", host_memory}, {NULL, NULL}};
