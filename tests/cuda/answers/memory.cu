/* Memory: allocations, copies and fills that are wrong, pointers of every kind, variables. */
#include "answers.h"

#include <sys/mman.h>

__device__ int device_array[100];
__constant__ double constant_array[10];
__managed__ long long managed_array[6];
static int host_variable;

__global__ void uses_variables(int *out)
{
	out[threadIdx.x] = device_array[threadIdx.x] + (int)constant_array[1] + (int)managed_array[2];
}

static void allocations(void)
{
	void *p = NULL, *q = NULL, *inside;
	size_t pitch = 0, free = 0, total = 0, before = 0;
	said("malloc_0", cudaMalloc(&p, 0));
	is("malloc_0_is_null", p == NULL);
	said("malloc_null", cudaMalloc(NULL, 16));
	said("malloc_huge", cudaMalloc(&p, (size_t)1 << 60));
	said("malloc_500g", cudaMalloc(&p, (size_t)500 << 30));
	said("malloc", cudaMalloc(&p, 100));
	is("aligned", (uintptr_t)p % 512);
	said("malloc_another", cudaMalloc(&q, 100));
	inside = (char *)p + 16;
	said("free_inside", cudaFree(inside));
	said("free", cudaFree(p));
	said("free_twice", cudaFree(p));
	said("free_null", cudaFree(NULL));
	said("free_of_host", cudaFree(&host_variable));
	said("free_of_garbage", cudaFree((void *)0x1234));
	said("free_host_of_device", cudaFreeHost(q));
	said("free_host_of_host", cudaFreeHost(&host_variable));
	said("free_host_null", cudaFreeHost(NULL));
	said("pitch", cudaMallocPitch(&p, &pitch, 100, 10));
	is("pitch_of_100", (long long)pitch);
	said("pitch_513", cudaMallocPitch(&p, &pitch, 513, 10));
	is("pitch_of_513", (long long)pitch);
	said("pitch_0", cudaMallocPitch(&p, &pitch, 0, 10));
	is("pitch_of_0", (long long)pitch);
	said("malloc_host", cudaMallocHost(&p, 100));
	said("free_of_pinned", cudaFree(p));
	said("free_host", cudaFreeHost(p));
	said("free_host_twice", cudaFreeHost(p));
	said("malloc_host_0", cudaMallocHost(&p, 0));
	is("malloc_host_0_is_null", p == NULL);
	said("host_alloc_flags", cudaHostAlloc(&p, 16, 0xffff));
	said("managed", cudaMallocManaged(&p, 100));
	said("managed_0", cudaMallocManaged(&p, 0));
	said("managed_flags", cudaMallocManaged(&p, 16, 77));
	said("info", cudaMemGetInfo(&before, &total));
	is("free_within_total", before > 0 && before <= total);
	said("malloc_64m", cudaMalloc(&p, 64 << 20));
	said("info_again", cudaMemGetInfo(&free, &total));
	is("taken_mib", (long long)((before - free) >> 20));
	said("free_64m", cudaFree(p));
	said("info_after", cudaMemGetInfo(&free, &total));
	is("same_as_before", free == before);
	said("info_null", cudaMemGetInfo(NULL, NULL));
	said("free_async_null", cudaFreeAsync(NULL, 0));
	said("malloc_async", cudaMallocAsync(&p, 100, 0));
	said("free_async", cudaFreeAsync(p, 0));
	said("free_async_twice", cudaFreeAsync(p, 0));
	said("malloc_async_0", cudaMallocAsync(&p, 0, 0));
	said("malloc_async_huge", cudaMallocAsync(&p, (size_t)1 << 50, 0));
}

static void registered(void)
{
	char *page = (char *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *device = NULL;
	unsigned flags = 99;
	said("register", cudaHostRegister(page, 4096, 0));
	said("register_twice", cudaHostRegister(page, 4096, 0));
	said("register_overlap", cudaHostRegister(page + 2048, 8192, 0));
	said("register_0", cudaHostRegister(page + 8192, 0, 0));
	said("register_null", cudaHostRegister(NULL, 4096, 0));
	said("register_flags", cudaHostRegister(page + 8192, 4096, 0x1000));
	said("device_pointer", cudaHostGetDevicePointer(&device, page, 0));
	is("same_pointer", device == page);
	said("device_pointer_of_none", cudaHostGetDevicePointer(&device, &host_variable, 0));
	said("flags", cudaHostGetFlags(&flags, page));
	is("flags_of", flags);
	said("flags_of_none", cudaHostGetFlags(&flags, &host_variable));
	said("unregister_inside", cudaHostUnregister(page + 16));
	said("unregister", cudaHostUnregister(page));
	said("unregister_twice", cudaHostUnregister(page));
	said("unregister_null", cudaHostUnregister(NULL));
}

static void copies(void)
{
	char host[256], other[256];
	char *a, *b, *pinned;
	cudaMalloc(&a, 1000);
	cudaMalloc(&b, 1000);
	cudaMallocHost(&pinned, 1000);
	memset(host, 7, sizeof host);
	said("first", cudaSuccess);
	said("to_device", cudaMemcpy(a, host, 100, cudaMemcpyHostToDevice));
	said("to_host", cudaMemcpy(other, a, 100, cudaMemcpyDeviceToHost));
	said("default", cudaMemcpy(other, a, 100, cudaMemcpyDefault));
	said("default_of_hosts", cudaMemcpy(other, host, 100, cudaMemcpyDefault));
	said("of_hosts", cudaMemcpy(other, host, 100, cudaMemcpyHostToHost));
	said("wrong_way", cudaMemcpy(a, host, 100, cudaMemcpyDeviceToHost));
	said("wrong_way_back", cudaMemcpy(other, a, 100, cudaMemcpyHostToDevice));
	said("hosts_as_devices", cudaMemcpy(other, host, 100, cudaMemcpyDeviceToDevice));
	said("devices_as_hosts", cudaMemcpy(a, b, 100, cudaMemcpyHostToHost));
	said("pinned_as_device", cudaMemcpy(a, pinned, 100, cudaMemcpyDeviceToDevice));
	said("kind_77", cudaMemcpy(a, host, 100, (cudaMemcpyKind)77));
	said("size_0", cudaMemcpy(a, host, 0, cudaMemcpyHostToDevice));
	said("size_0_null", cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
	said("size_0_kind_77", cudaMemcpy(a, host, 0, (cudaMemcpyKind)77));
	said("to_null", cudaMemcpy(NULL, host, 10, cudaMemcpyHostToDevice));
	said("from_null", cudaMemcpy(a, NULL, 10, cudaMemcpyHostToDevice));
	said("to_null_host", cudaMemcpy(NULL, a, 10, cudaMemcpyDeviceToHost));
	said("beyond_end", cudaMemcpy(a, pinned, (size_t)1 << 33, cudaMemcpyHostToDevice));
	said("overlap", cudaMemcpy(a + 10, a, 100, cudaMemcpyDeviceToDevice));
	said("same", cudaMemcpy(a, a, 100, cudaMemcpyDeviceToDevice));
	said("async_pageable", cudaMemcpyAsync(a, host, 100, cudaMemcpyHostToDevice, 0));
	said("async_kind_77", cudaMemcpyAsync(a, host, 100, (cudaMemcpyKind)77, 0));
	said("rows", cudaMemcpy2D(a, 20, host, 10, 10, 10, cudaMemcpyHostToDevice));
	said("rows_pitch_small", cudaMemcpy2D(a, 5, host, 10, 10, 10, cudaMemcpyHostToDevice));
	said("rows_source_pitch_small", cudaMemcpy2D(a, 10, host, 5, 10, 10, cudaMemcpyHostToDevice));
	said("rows_0", cudaMemcpy2D(a, 20, host, 10, 10, 0, cudaMemcpyHostToDevice));
	said("rows_width_0", cudaMemcpy2D(a, 20, host, 10, 0, 10, cudaMemcpyHostToDevice));
	said("rows_pitch_huge", cudaMemcpy2D(a, (size_t)1 << 40, host, 10, 10, 1, cudaMemcpyHostToDevice));
	said("memset", cudaMemset(a, 1, 1000));
	said("memset_0", cudaMemset(a, 1, 0));
	said("memset_null", cudaMemset(NULL, 1, 10));
	said("memset_null_0", cudaMemset(NULL, 1, 0));
	said("memset_of_host", cudaMemset(host, 1, 10));
	said("memset_of_pinned", cudaMemset(pinned, 1, 10));
	said("memset_beyond", cudaMemset(a, 1, (size_t)1 << 33));
	said("memset_rows", cudaMemset2D(a, 5, 1, 10, 10));
	said("peer", cudaMemcpyPeer(a, 0, b, 0, 100));
	said("peer_none", cudaMemcpyPeer(a, 0, b, 99, 100));
	said("end", cudaDeviceSynchronize());
}

static void freed(void)
{
	char host[100];
	char *a;
	cudaMalloc(&a, 4 << 20);
	cudaFree(a);
	said("first", cudaSuccess);
	said("copy_to_freed", cudaMemcpy(a, host, 100, cudaMemcpyHostToDevice));
	said("copy_from_freed", cudaMemcpy(host, a, 100, cudaMemcpyDeviceToHost));
	said("fill_freed", cudaMemset(a, 0, 100));
	said("end", cudaDeviceSynchronize());
}

static void pointer(const char *name, const void *p)
{
	cudaPointerAttributes a;
	memset(&a, 0x55, sizeof a);
	said(name, cudaPointerGetAttributes(&a, p));
	printf("%s: type %d device %d pointers %s %s\n", name, (int)a.type, a.device, a.devicePointer ? a.devicePointer == p ? "same" : "other" : "null",
		a.hostPointer ? a.hostPointer == p ? "same" : "other" : "null");
}

static void pointers(void)
{
	static char registered_page[3 * 4096];
	char *device, *pinned, *managed, *pooled, *write_combined, *page = (char *)(((uintptr_t)registered_page + 4095) & ~(uintptr_t)4095);
	void *symbol = NULL;
	int local = 0;
	cudaMalloc(&device, 1000);
	cudaMallocHost(&pinned, 1000);
	cudaHostAlloc(&write_combined, 1000, cudaHostAllocWriteCombined | cudaHostAllocMapped);
	cudaMallocManaged(&managed, 1000);
	cudaMallocAsync(&pooled, 1000, 0);
	cudaHostRegister(page, 4096, 0);
	cudaGetSymbolAddress(&symbol, device_array);
	said("first", cudaSuccess);
	pointer("device", device);
	pointer("inside_device", device + 500);
	pointer("end_of_device", device + 1000);
	pointer("far_beyond_device", device + (1 << 30));
	pointer("pinned", pinned);
	pointer("inside_pinned", pinned + 500);
	pointer("write_combined", write_combined);
	pointer("managed", managed);
	pointer("inside_managed", managed + 10);
	pointer("pooled", pooled);
	pointer("registered", page);
	pointer("beside_registered", page + 4096);
	pointer("symbol", symbol);
	pointer("managed_variable", managed_array);
	pointer("host_variable", &host_variable);
	pointer("local_variable", &local);
	pointer("null", NULL);
	pointer("garbage", (void *)0x1234);
	pointer("shadow", &device_array);
	said("to_null", cudaPointerGetAttributes(NULL, device));
	cudaFree(device);
	pointer("freed", device);
}

static void symbols(void)
{
	void *p = NULL;
	size_t size = 0;
	int value[200] = {0};
	said("address", cudaGetSymbolAddress(&p, device_array));
	said("size", cudaGetSymbolSize(&size, device_array));
	is("size_of", (long long)size);
	said("address_constant", cudaGetSymbolAddress(&p, constant_array));
	said("size_constant", cudaGetSymbolSize(&size, constant_array));
	is("size_of_constant", (long long)size);
	said("address_managed", cudaGetSymbolAddress(&p, managed_array));
	is("managed_is_host_address", p == (void *)managed_array);
	said("size_managed", cudaGetSymbolSize(&size, managed_array));
	is("size_of_managed", (long long)size);
	said("address_of_none", cudaGetSymbolAddress(&p, host_variable));
	said("size_of_none", cudaGetSymbolSize(&size, host_variable));
	said("address_of_null", cudaGetSymbolAddress(&p, (const void *)NULL));
	said("address_to_null", cudaGetSymbolAddress((void **)NULL, device_array));
	said("to_symbol", cudaMemcpyToSymbol(device_array, value, 400));
	said("to_symbol_too_much", cudaMemcpyToSymbol(device_array, value, 404));
	said("to_symbol_offset", cudaMemcpyToSymbol(device_array, value, 200, 300));
	said("to_symbol_wrong_way", cudaMemcpyToSymbol(device_array, value, 4, 0, cudaMemcpyDeviceToHost));
	said("to_symbol_0", cudaMemcpyToSymbol(device_array, value, 0));
	said("to_symbol_of_none", cudaMemcpyToSymbol(host_variable, value, 4));
	said("from_symbol", cudaMemcpyFromSymbol(value, device_array, 400));
	said("from_symbol_too_much", cudaMemcpyFromSymbol(value, device_array, 404));
	said("to_managed", cudaMemcpyToSymbol(managed_array, value, 48));
	said("end", cudaDeviceSynchronize());
}

static void managed_memory(void)
{
	char *managed, *device;
	cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, none = {cudaMemLocationTypeDevice, 99}, host = {cudaMemLocationTypeHost, 0};
	int value = 77;
	cudaMallocManaged(&managed, 1 << 20);
	cudaMalloc(&device, 1 << 20);
	said("first", cudaSuccess);
	said("prefetch", cudaMemPrefetchAsync(managed, 1 << 20, here, 0, 0));
	said("prefetch_host", cudaMemPrefetchAsync(managed, 1 << 20, host, 0, 0));
	said("prefetch_none", cudaMemPrefetchAsync(managed, 1 << 20, none, 0, 0));
	said("prefetch_device", cudaMemPrefetchAsync(device, 1 << 20, here, 0, 0));
	said("prefetch_beyond", cudaMemPrefetchAsync(managed, 1 << 30, here, 0, 0));
	said("prefetch_0", cudaMemPrefetchAsync(managed, 0, here, 0, 0));
	said("prefetch_flags", cudaMemPrefetchAsync(managed, 1 << 20, here, 5, 0));
	said("advise", cudaMemAdvise(managed, 1 << 20, cudaMemAdviseSetReadMostly, here));
	said("advise_device", cudaMemAdvise(device, 1 << 20, cudaMemAdviseSetReadMostly, here));
	said("advise_77", cudaMemAdvise(managed, 1 << 20, (cudaMemoryAdvise)77, here));
	said("range", cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, managed, 1 << 20));
	is("read_mostly", value);
	said("range_device", cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, device, 1 << 20));
	said("attach", cudaStreamAttachMemAsync(0, managed));
	said("end", cudaDeviceSynchronize());
}

static void arrays(void)
{
	cudaArray_t array = NULL;
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), wrong = {7, 0, 0, 0, cudaChannelFormatKindFloat};
	float host[64] = {0};
	said("array", cudaMallocArray(&array, &format, 8, 8));
	said("array_wrong_format", cudaMallocArray(&array, &wrong, 8, 8));
	said("array_0", cudaMallocArray(&array, &format, 0, 8));
	said("array_too_wide", cudaMallocArray(&array, &format, 1 << 20, 8));
	said("array_again", cudaMallocArray(&array, &format, 8, 8));
	said("to_array", cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 8, cudaMemcpyHostToDevice));
	said("to_array_beyond", cudaMemcpy2DToArray(array, 16, 0, host, 32, 32, 8, cudaMemcpyHostToDevice));
	said("free_array", cudaFreeArray(array));
	said("free_array_null", cudaFreeArray(NULL));
	cudaTextureObject_t texture = 0;
	cudaResourceDesc resource = {};
	cudaTextureDesc description = {};
	resource.resType = cudaResourceTypeLinear;
	said("texture_of_nothing", cudaCreateTextureObject(&texture, &resource, &description, NULL));
	void *p;
	cudaMalloc(&p, 4096);
	resource.res.linear.devPtr = p;
	resource.res.linear.desc = format;
	resource.res.linear.sizeInBytes = 4096;
	said("texture", cudaCreateTextureObject(&texture, &resource, &description, NULL));
	said("destroy_texture", cudaDestroyTextureObject(texture));
	said("destroy_texture_0", cudaDestroyTextureObject(0));
	resource.res.linear.devPtr = (char *)p + 4;
	said("texture_misaligned", cudaCreateTextureObject(&texture, &resource, &description, NULL));
}

static void pools(void)
{
	cudaMemPool_t pool = NULL, other = NULL;
	unsigned long long value = 99;
	int reuse = -1;
	said("default_pool", cudaDeviceGetDefaultMemPool(&pool, 0));
	said("current_pool", cudaDeviceGetMemPool(&other, 0));
	is("same_pool", pool == other);
	said("threshold", cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
	is("threshold_of", (long long)value);
	said("reuse", cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
	is("reuse_of", reuse);
	said("used", cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
	is("used_of", (long long)value);
	said("attribute_77", cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)77, &value));
	said("destroy_default", cudaMemPoolDestroy(pool));
	said("destroy_null", cudaMemPoolDestroy(NULL));
	said("trim", cudaMemPoolTrimTo(pool, 0));
	cudaMemPoolProps props = {};
	said("create_of_nothing", cudaMemPoolCreate(&other, &props));
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	said("create", cudaMemPoolCreate(&other, &props));
	void *p = NULL;
	said("from_pool", cudaMallocFromPoolAsync(&p, 1000, other, 0));
	said("used_again", cudaMemPoolGetAttribute(other, cudaMemPoolAttrUsedMemCurrent, &value));
	is("used_by_1000", (long long)value);
	said("free", cudaFreeAsync(p, 0));
	said("destroy", cudaMemPoolDestroy(other));
}

const struct group memory_groups[] = {{"allocations", allocations}, {"registered", registered}, {"copies", copies}, {"freed", freed}, {"pointers", pointers},
	{"symbols", symbols}, {"managed_memory", managed_memory}, {"arrays", arrays}, {"pools", pools}, {NULL, NULL}};
