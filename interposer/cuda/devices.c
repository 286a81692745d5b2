/* The devices, which are alike (GPUSIM_DEVICES): their properties, settings of it, versions. */
#include "interposer/cuda/device/properties.h"
#include "interposer/cuda/streams.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

bool is_device(int device)
{
	return device >= 0 && (uint32_t)device < cuda_device_count();
}

static int check_device(int device)
{
	return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

static int answer(int *out, int value)
{
	if (!out)
		return cudaErrorInvalidValue;
	*out = value;
	return cudaSuccess;
}

int hook_cudaGetDeviceCount(int *count)
{
	return answer(count, (int)cuda_device_count());
}

int hook_cudaSetDevice(int device)
{
	int error = check_device(device);
	if (!error)
		cuda_set_device((uint32_t)device);
	return error;
}

int hook_cudaGetDevice(int *device)
{
	return answer(device, (int)cuda_current_device());
}

int hook_cudaChooseDevice(int *device, const void *wish)
{
	return wish ? answer(device, 0) : cudaErrorInvalidValue;
}

int hook_cudaSetValidDevices(int *devices, int count)
{
	for (int i = 0; devices && i < count; i++)
		if (check_device(devices[i]))
			return cudaErrorInvalidDevice;
	return devices || count <= 0 ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- properties ---- */

static int get_properties(void *out, int device, int version)
{
	size_t unused, total = 0;
	if (!out || check_device(device))
		return out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	cuda_memory_info(&unused, &total);
	properties_fill(out, version, cuda_gpu(), total);
	return cudaSuccess;
}

/* The struct changed in 12, and the function's name with it. In 13 it changed again, and the function has its old name. */
int hook_cudaGetDeviceProperties(void *properties, int device, int version)
{
	return get_properties(properties, device, version < 13 ? 11 : version);
}

int hook_cudaGetDeviceProperties_v2(void *properties, int device)
{
	return get_properties(properties, device, 12);
}

int hook_cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	int found;
	if (!value || !properties_attribute(attribute, cuda_gpu(), &found))
		return cudaErrorInvalidValue;
	return check_device(device) ? cudaErrorInvalidDevice : answer(value, found);
}

/* ---- flags, limits and preferences ---- */

static atomic_uint device_flags;

int hook_cudaSetDeviceFlags(unsigned flags)
{
	unsigned schedule = flags & API_DEVICE_SCHEDULE;
	if ((flags & ~(unsigned)API_DEVICE_FLAGS) || (schedule & (schedule - 1)))
		return cudaErrorInvalidValue;
	device_flags = flags;
	return cudaSuccess;
}

int hook_cudaGetDeviceFlags(unsigned *flags)
{
	return answer((int *)flags, (int)(device_flags | API_DEVICE_MAP_HOST));
}

int hook_cudaInitDevice(int device, unsigned new_flags, unsigned flags)
{
	int error = flags > 1 ? cudaErrorInvalidValue : check_device(device);
	return error || !flags ? error : hook_cudaSetDeviceFlags(new_flags);
}

/* By number: stack of a thread, buffer of printf, heap of malloc, depth and count of nested launches, L2 fetches, L2 that persists. The buffer's is
 * what an H200 begins with. */
static atomic_size_t limits[] = {1024, 8650752, 8 << 20, 2, 2048, 64, 0};

static int set_limit(int limit, size_t value)
{
	enum { LIMIT_STACK = 0, LIMIT_HEAP = 2, MOST_STACK = 512 << 10 };
	if (limit < 0 || limit >= (int)GS_ARRAY_LEN(limits))
		return cudaErrorInvalidValue;
	if ((limit == LIMIT_HEAP && cuda_set_heap_size(value)) || (limit == LIMIT_STACK && value > MOST_STACK))
		return cudaErrorInvalidValue;
	limits[limit] = value;
	return cudaSuccess;
}

static int get_limit(size_t *value, int limit)
{
	if (!value || limit < 0 || limit >= (int)GS_ARRAY_LEN(limits))
		return value ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
	*value = limits[limit];
	return cudaSuccess;
}

static atomic_int cache_config, shared_config;

static int set_config(atomic_int *config, int value, int most)
{
	if (value < 0 || value > most)
		return cudaErrorInvalidValue;
	*config = value;
	return cudaSuccess;
}

/* cudaThread* are the old names. */
#define OLD_AND_NEW(what, params, call) \
	int hook_cudaDevice##what params \
	{ \
		return call; \
	} \
	int hook_cudaThread##what params \
	{ \
		return call; \
	}

OLD_AND_NEW(SetLimit, (int limit, size_t value), set_limit(limit, value))
OLD_AND_NEW(GetLimit, (size_t *value, int limit), get_limit(value, limit))
OLD_AND_NEW(SetCacheConfig, (int config), set_config(&cache_config, config, 3))
OLD_AND_NEW(GetCacheConfig, (int *config), answer(config, cache_config))

int hook_cudaDeviceSetSharedMemConfig(int config)
{
	return set_config(&shared_config, config, 2);
}

int hook_cudaDeviceGetSharedMemConfig(int *config)
{
	return answer(config, shared_config ? shared_config : 1);
}

/* Waits for all that runs. Memory, streams and events stay as they are. */
static int reset(void)
{
	int error = device_wait_all();
	if (!error || error != error_sticky())
		return error;
	error_after_reset();
	return cudaSuccess;
}

int hook_cudaDeviceReset(void)
{
	return reset();
}

int hook_cudaThreadExit(void)
{
	return reset();
}

/* ---- where it is, and others ---- */

int hook_cudaDeviceGetPCIBusId(char *text, int room, int device)
{
	char id[16];
	int length = snprintf(id, sizeof id, "%04x:%02x:%02x.0", 0, DEVICE_PCI_BUS + (device > 0 ? device : 0), 0);
	if (!text || room <= length)
		return cudaErrorInvalidValue;
	memcpy(text, id, (size_t)length + 1);
	return check_device(device);
}

int hook_cudaDeviceGetByPCIBusId(int *device, const char *text)
{
	unsigned domain = 0, bus = 0, slot = 0;
	if (!device || !text)
		return cudaErrorInvalidValue;
	if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) < 3) {
		domain = 0;
		if (sscanf(text, "%x:%x", &bus, &slot) < 2)
			return cudaErrorInvalidValue;
	}
	bool known = !domain && !slot && bus >= DEVICE_PCI_BUS && is_device((int)(bus - DEVICE_PCI_BUS));
	return known ? answer(device, (int)(bus - DEVICE_PCI_BUS)) : cudaErrorInvalidDevice;
}

int hook_cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	int error = check_device(device);
	error = error ? error : check_device(peer);
	return error ? error : answer(can, device != peer);
}

static atomic_bool peers[CUDA_MOST_DEVICES][CUDA_MOST_DEVICES]; /* from the first, the second can be reached */

/* A device is no peer of itself. */
int hook_cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	if (flags || !is_device(peer))
		return flags ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
	if ((uint32_t)peer == cuda_current_device())
		return cudaErrorPeerAccessUnsupported;
	return atomic_exchange(&peers[cuda_current_device()][peer], true) ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess;
}

int hook_cudaDeviceDisablePeerAccess(int peer)
{
	if (!is_device(peer))
		return cudaErrorInvalidDevice;
	return atomic_exchange(&peers[cuda_current_device()][peer], false) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
}

int hook_cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to)
{
	enum { ACCESS_SUPPORTED = 2 };
	if (!value || !is_device(from) || !is_device(to) || from == to)
		return value ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	return answer(value, attribute == ACCESS_SUPPORTED);
}

int hook_cudaCtxResetPersistingL2Cache(void)
{
	return cudaSuccess;
}

int hook_cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope)
{
	(void)target, (void)scope;
	return cudaSuccess;
}

int hook_cudaProfilerStart(void)
{
	return cudaSuccess;
}

int hook_cudaProfilerStop(void)
{
	return cudaSuccess;
}

struct api_channel hook_cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
	return (struct api_channel){x, y, z, w, kind};
}

/* ---- versions: 1000 * major + 10 * minor ---- */

enum { DRIVER_VERSION = 13000 };

int hook_cudaDriverGetVersion(int *out)
{
	return answer(out, DRIVER_VERSION);
}

int hook_cudaRuntimeGetVersion(int *out, int version)
{
	return answer(out, version == 11 ? 11080 : version == 12 ? 12080 : 1000 * version);
}
