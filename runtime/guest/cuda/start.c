#include "runtime/guest/cuda/start.h"

#include "runtime/config/log.h"
#include "runtime/cuda.h"
#include "runtime/guest/cuda/memory.h"
#include "runtime/guest/cuda/prints.h"
#include "runtime/guest/cuda/streams.h"
#include "runtime/guest/driver/device.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define LOG_DOMAIN "cuda"

static struct {
	pthread_once_t once;
	struct cuda_device device;
	int result; /* of cuda_start */
	struct gs_error why;
	atomic_bool ready;
} start = {.once = PTHREAD_ONCE_INIT};

const struct cuda_device *cuda_device(void)
{
	return &start.device;
}

bool cuda_active(void)
{
	return start.ready && runtime_active();
}

const struct gpu *cuda_gpu(void)
{
	return &simulation.targets[0].gpu;
}

/* The first CPU device that GPUSIM_DEVICE allows. NULL: there is none. */
static cl_device_id find_device(void)
{
	enum { MOST = 64 };
	cl_platform_id platforms[MOST];
	cl_device_id devices[MOST];
	cl_uint platform_count = 0, count;
	if (!cl.clGetPlatformIDs || !cl.clCreateContext || cl.clGetPlatformIDs(MOST, platforms, &platform_count) != CL_SUCCESS)
		return NULL;
	for (cl_uint p = 0; p < platform_count && p < MOST; p++) {
		if (cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_CPU, MOST, devices, &count) != CL_SUCCESS)
			continue;
		for (cl_uint d = 0; d < count && d < MOST; d++)
			if (device_wanted(devices[d]))
				return devices[d];
	}
	return NULL;
}

static int open_device(struct cuda_device *d, struct gs_error *err)
{
	cl_int code;
	d->device = find_device();
	if (!d->device)
		return gs_fail(err, ENODEV, "no OpenCL device of a CPU to run CUDA kernels on: install the package pocl-opencl-icd");
	d->context = cl.clCreateContext(NULL, 1, &d->device, NULL, NULL, &code);
	d->pool = d->context ? pool_for(d->context) : NULL;
	if (!d->pool)
		return gs_fail(err, ENODEV, "the OpenCL driver gives no context (%d)", code);
	if (cl.clGetDeviceInfo(d->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof d->units, &d->units, NULL) != CL_SUCCESS || !d->units)
		d->units = 1;
	return 0;
}

/* The host has to have what the GPU has. */
static size_t device_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	size_t host = pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : (size_t)1 << 32, target = cuda_gpu()->dram_bytes;
	return !target ? host / 2 : target < host ? target : host;
}

static void start_once(void)
{
	int saved = errno;
	cl_start();
	if (!runtime_active()) {
		start.result = gs_fail(&start.why, ECANCELED, "gpusim is switched off");
	} else if ((start.result = open_device(&start.device, &start.why))) {
		log_warning("%s", start.why.text);
	} else {
		memory_bound(device_memory());
		start.ready = true;
	}
	errno = saved;
}

int cuda_start(struct gs_error *err)
{
	pthread_once(&start.once, start_once);
	return start.result ? gs_fail(err, -start.result, "%s", start.why.text) : 0;
}

void cuda_finish(void)
{
	enum { PATIENCE_MS = 10000 };
	if (!start.ready)
		return;
	if (!streams_finish(PATIENCE_MS))
		log_info("the program ended before its streams did");
	prints_write();
}
