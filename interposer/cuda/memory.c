/* Allocations of all kinds. Device memory is host memory, so that every address is good on both sides. */
#include "interposer/cuda/memory.h"

#include "interposer/cuda/registration.h"
#include "interposer/cuda/streams.h"

enum address_kind address_kind_of(const void *address, size_t *bytes)
{
	struct cuda_allocation a;
	size_t ignored;
	bytes = bytes ? bytes : &ignored;
	*bytes = SIZE_MAX;
	if (cuda_find_allocation(address, &a)) {
		*bytes = a.bytes - (size_t)((const char *)address - (const char *)a.address);
		if (a.kind == CUDA_DEVICE_MEMORY)
			return variable_is_managed(address) ? ADDRESS_MANAGED : ADDRESS_DEVICE;
		return a.kind == CUDA_MANAGED_MEMORY ? ADDRESS_MANAGED : ADDRESS_HOST;
	}
	return variable_contains(address, bytes) ? ADDRESS_DEVICE : ADDRESS_PAGEABLE;
}

int memory_allocate(void **out, size_t bytes, enum cuda_memory_kind kind, unsigned flags)
{
	struct gs_error err;
	if (!out)
		return cudaErrorInvalidValue;
	*out = NULL;
	return bytes ? error_of(cuda_allocate(bytes, kind, flags, out, &err), cudaErrorMemoryAllocation) : cudaSuccess;
}

/* Freeing NULL does nothing. */
static int release(void *address, bool device, int otherwise)
{
	struct gs_error err;
	struct cuda_allocation a;
	if (!address)
		return cudaSuccess;
	if (!cuda_find_allocation(address, &a) || a.address != address || a.kind == CUDA_REGISTERED_MEMORY)
		return otherwise;
	if (device != (a.kind != CUDA_HOST_MEMORY))
		return otherwise;
	int error = error_of(cuda_release(address, &err), otherwise);
	if (!error && a.kind == CUDA_DEVICE_MEMORY)
		pool_freed(a.flags, a.bytes);
	return error;
}

int hook_cudaMalloc(void **out, size_t bytes)
{
	int error = capture_check_unsafe();
	return error ? error : memory_allocate(out, bytes, CUDA_DEVICE_MEMORY, 0);
}

int hook_cudaFree(void *address)
{
	int error = capture_check_unsafe();
	return error ? error : release(address, true, cudaErrorInvalidValue);
}

/* Rows begin at multiples of it. */
enum { PITCH = 512 };

int hook_cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
	if (!pitch || width > SIZE_MAX - PITCH)
		return cudaErrorInvalidValue;
	*pitch = (width + PITCH - 1) / PITCH * PITCH;
	size_t bytes;
	return __builtin_mul_overflow(*pitch, height, &bytes) ? cudaErrorMemoryAllocation : memory_allocate(out, bytes, CUDA_DEVICE_MEMORY, 0);
}

int hook_cudaMalloc3D(struct api_pitched *out, struct api_extent extent)
{
	size_t rows;
	if (!out)
		return cudaErrorInvalidValue;
	if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
		return cudaErrorMemoryAllocation;
	out->width = extent.width;
	out->height = extent.height;
	return hook_cudaMallocPitch(&out->address, &out->pitch, extent.width, rows);
}

/* ---- host memory ---- */

int hook_cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
	return flags & ~(unsigned)API_HOST_ALLOC_FLAGS ? cudaErrorInvalidValue : memory_allocate(out, bytes, CUDA_HOST_MEMORY, flags);
}

int hook_cudaMallocHost(void **out, size_t bytes)
{
	return hook_cudaHostAlloc(out, bytes, 0);
}

int hook_cudaFreeHost(void *address)
{
	return release(address, false, cudaErrorInvalidValue);
}

int hook_cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
	struct gs_error err;
	struct cuda_allocation a;
	if (!address || !bytes || (flags & ~(unsigned)API_HOST_REGISTER_FLAGS))
		return cudaErrorInvalidValue;
	if (cuda_find_allocation(address, &a) || cuda_find_allocation((char *)address + bytes - 1, &a))
		return cudaErrorHostMemoryAlreadyRegistered;
	return error_of(cuda_register(address, bytes, flags, &err), cudaErrorInvalidValue);
}

int hook_cudaHostUnregister(void *address)
{
	struct gs_error err;
	struct cuda_allocation a;
	bool known = cuda_find_allocation(address, &a) && a.kind == CUDA_REGISTERED_MEMORY;
	if (!known || a.address != address)
		return address && !known ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue;
	return error_of(cuda_release(address, &err), cudaErrorInvalidValue);
}

static bool find_host_memory(const void *address, struct cuda_allocation *a)
{
	return cuda_find_allocation(address, a) && (a->kind == CUDA_HOST_MEMORY || a->kind == CUDA_REGISTERED_MEMORY);
}

int hook_cudaHostGetDevicePointer(void **out, void *address, unsigned flags)
{
	struct cuda_allocation a;
	if (!out || flags || !find_host_memory(address, &a))
		return cudaErrorInvalidValue;
	*out = address;
	return cudaSuccess;
}

int hook_cudaHostGetFlags(unsigned *flags, void *address)
{
	struct cuda_allocation a;
	if (!flags || !find_host_memory(address, &a))
		return cudaErrorInvalidValue;
	*flags = a.flags | API_HOST_MAPPED; /* with one address space, all of it is mapped */
	return cudaSuccess;
}

/* ---- managed memory ---- */

int hook_cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
	if (flags != API_ATTACH_GLOBAL && flags != API_ATTACH_HOST)
		return cudaErrorInvalidValue;
	return memory_allocate(out, bytes, CUDA_MANAGED_MEMORY, flags);
}

/* What is advised changes nothing, but must be about managed memory, or memory of the host. */
static int check_range(const void *address, size_t bytes)
{
	size_t follow;
	enum address_kind kind = address_kind_of(address, &follow);
	return !address || !bytes || kind == ADDRESS_DEVICE || bytes > follow ? cudaErrorInvalidValue : cudaSuccess;
}

#define ADVICE(name) \
	int hook_##name(const void *address, size_t bytes) \
	{ \
		return check_range(address, bytes); \
	}
ADVICE(cudaMemAdvise)
ADVICE(cudaMemAdvise_v2)

/* Until CUDA 12, `where` is a device, or -1 for the host. Since then it is a pair of a kind and a number. */
static bool is_of_gpu(uint64_t where)
{
	enum { NONE, DEVICE };
	uint32_t kind = (uint32_t)where;
	return kind == NONE || kind == DEVICE;
}

#define PREFETCH(name) \
	int hook_##name(const void *address, size_t bytes, uint64_t where) \
	{ \
		int error = check_range(address, bytes); \
		if (!error) \
			cuda_prefetched(address, bytes, is_of_gpu(where)); \
		return error; \
	}
PREFETCH(cudaMemPrefetchAsync)
PREFETCH(cudaMemPrefetchAsync_ptsz)
PREFETCH(cudaMemPrefetchAsync_v2)
PREFETCH(cudaMemPrefetchAsync_v2_ptsz)

/* What is discarded may keep what it has. */
#define ADVICE_FOR_MANY(name) \
	int hook_##name(void **addresses, const size_t *bytes, size_t count) \
	{ \
		int error = addresses && bytes && count ? cudaSuccess : cudaErrorInvalidValue; \
		for (size_t i = 0; i < count && !error; i++) \
			error = check_range(addresses[i], bytes[i]); \
		return error; \
	}
ADVICE_FOR_MANY(cudaMemPrefetchBatchAsync)
ADVICE_FOR_MANY(cudaMemPrefetchBatchAsync_ptsz)
ADVICE_FOR_MANY(cudaMemDiscardBatchAsync)
ADVICE_FOR_MANY(cudaMemDiscardBatchAsync_ptsz)
ADVICE_FOR_MANY(cudaMemDiscardAndPrefetchBatchAsync)
ADVICE_FOR_MANY(cudaMemDiscardAndPrefetchBatchAsync_ptsz)

int hook_cudaStreamAttachMemAsync(void *stream, void *address, size_t bytes, unsigned flags)
{
	(void)bytes;
	if (!stream_exists(stream))
		return cudaErrorInvalidResourceHandle;
	bool good = address && (flags == API_ATTACH_GLOBAL || flags == API_ATTACH_HOST || flags == API_ATTACH_SINGLE);
	return good ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- in the order of a stream ---- */

/* The runtime waits for all commands before it frees. */
/* Memory of a graph keeps its address from launch to launch. What a capture frees stays for that. */
int hook_cudaFreeAsync(void *address, void *stream)
{
	struct cuda_allocation a;
	if (!stream_exists(stream))
		return cudaErrorInvalidResourceHandle;
	if (stream_is_capturing(stream))
		return cuda_find_allocation(address, &a) ? cudaSuccess : cudaErrorInvalidValue;
	return release(address, true, cudaErrorInvalidValue);
}

/* ---- questions ---- */

int hook_cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	size_t unused = 0, total = 0;
	cuda_memory_info(&unused, &total);
	if (free_bytes)
		*free_bytes = unused;
	if (total_bytes)
		*total_bytes = total;
	return cudaSuccess;
}

int hook_cudaPointerGetAttributes(struct api_pointer_attributes *attributes, const void *address)
{
	static const enum api_memory_type types[] = {API_MEMORY_UNKNOWN, API_MEMORY_HOST, API_MEMORY_DEVICE, API_MEMORY_MANAGED};
	if (!attributes)
		return cudaErrorInvalidValue;
	enum address_kind kind = address_kind_of(address, NULL);
	void *same = (void *)address;
	*attributes = (struct api_pointer_attributes){
		.type = (int)types[kind],
		.device = kind == ADDRESS_PAGEABLE ? -2 : 0, /* -2: of no device */
		.device_address = kind == ADDRESS_PAGEABLE ? NULL : same,
		.host_address = kind == ADDRESS_DEVICE ? NULL : same,
	};
	return cudaSuccess;
}
