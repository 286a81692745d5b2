/*
 * A GPU for programs that require one.
 *
 * A program may ask for a device of the type CL_DEVICE_TYPE_GPU where no platform has a GPU. It then gets the host device. From
 * then on the host device reports that it is a GPU, with the work-group limits of the first target. A program that has asked
 * for a CPU by type does not need this. It gets the true answers.
 */
#include "interposer/opencl/interposer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_bool offered, asked_for_cpu;
static bool gpu_exists;
static pthread_once_t gpu_once = PTHREAD_ONCE_INIT;

static void look_for_gpu(void)
{
	enum { MAX_PLATFORMS = 64 };
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_uint count = 0, devices;
	if (cl.clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS)
		return;
	for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; i++)
		if (cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 0, NULL, &devices) == CL_SUCCESS && devices)
			gpu_exists = true;
}

static bool may_offer(void)
{
	uint64_t how = runtime_options()->offer_gpu.number;
	if (how == OFFER_NEVER || (how == OFFER_AUTO && asked_for_cpu))
		return false;
	pthread_once(&gpu_once, look_for_gpu);
	return !gpu_exists;
}

static void note_request(cl_device_type type)
{
	if (type == CL_DEVICE_TYPE_CPU)
		asked_for_cpu = true;
}

cl_int hook_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices,
                           cl_uint *count)
{
	note_request(type);
	cl_int result = cl.clGetDeviceIDs(platform, type, room, devices, count);
	if (result != CL_DEVICE_NOT_FOUND || !(type & CL_DEVICE_TYPE_GPU) || !may_offer())
		return result;
	cl_int second = cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, room, devices, count);
	if (second == CL_SUCCESS)
		offered = true;
	return second == CL_SUCCESS ? second : result;
}

cl_context hook_clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                        void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                        void *data, cl_int *error)
{
	cl_int result = CL_SUCCESS;
	note_request(type);
	cl_context context = cl.clCreateContextFromType(properties, type, notify, data, &result);
	/* With an error, POCL 3.1 returns a pointer that is not NULL. A program (clinfo) takes it for a context and releases
	 * it. If another context exists, perhaps ours, POCL then aborts in clReleaseContext. The standard says NULL. */
	if (result != CL_SUCCESS)
		context = NULL;
	if (result == CL_DEVICE_NOT_FOUND && (type & CL_DEVICE_TYPE_GPU) && may_offer()) {
		cl_int second;
		cl_context host = cl.clCreateContextFromType(properties, CL_DEVICE_TYPE_CPU, notify, data, &second);
		if (second == CL_SUCCESS) {
			offered = true;
			context = host;
			result = CL_SUCCESS;
		}
	}
	if (error)
		*error = result;
	return context;
}

/* Whether the application takes `device` for a GPU although it is not one. */
static bool is_offered(cl_device_id device)
{
	cl_device_type type;
	if (!offered && !(runtime_options()->offer_gpu.number == OFFER_ALWAYS && may_offer()))
		return false;
	return cl.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
	       (type & CL_DEVICE_TYPE_CPU);
}

static void limit_sizes(void *value, size_t size)
{
	size_t limit = runtime_work_group_limit(), *sizes = value;
	for (size_t i = 0; limit && i < size / sizeof *sizes; i++)
		if (sizes[i] > limit)
			sizes[i] = limit;
}

/* ---- the target's identity ---- */

static cl_int answer_text(const char *text, size_t room, void *value, size_t *size)
{
	size_t length = strlen(text) + 1;
	if (value && room < length)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, text, length);
	if (size)
		*size = length;
	return CL_SUCCESS;
}

static bool is_promise(cl_device_info what)
{
	return what == CL_DEVICE_MAX_WORK_GROUP_SIZE || what == CL_DEVICE_MAX_WORK_ITEM_SIZES || what == CL_DEVICE_LOCAL_MEM_SIZE ||
	       what == CL_DEVICE_GLOBAL_MEM_SIZE || what == CL_DEVICE_MAX_MEM_ALLOC_SIZE;
}

/* Replaces the host's number by the target's. It has 4 or 8 bytes, once or for each dimension. For resources that a program may
 * use up, the host device's number stays if it is smaller. */
static void answer_number(cl_device_info what, uint64_t number, void *value, size_t written)
{
	size_t width = written % 8 ? 4 : 8;
	for (char *p = value; p + width <= (char *)value + written; p += width) {
		uint64_t host = 0;
		memcpy(&host, p, width);
		uint64_t answer = is_promise(what) && host < number ? host : number;
		memcpy(p, &answer, width);
	}
}

static cl_int answer_as_target(cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size)
{
	const char *text = runtime_target_text(what);
	uint64_t number = runtime_target_number(what);
	size_t written = 0;
	if (text)
		return answer_text(text, room, value, size);
	cl_int result = cl.clGetDeviceInfo(device, what, room, value, &written);
	if (size && result == CL_SUCCESS)
		*size = written;
	if (result == CL_SUCCESS && value && number)
		answer_number(what, number, value, written);
	return result;
}

cl_int hook_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size)
{
	if (runtime_options()->identity.number == IDENTITY_TARGET)
		return answer_as_target(device, what, room, value, size);
	size_t written = 0;
	cl_int result = cl.clGetDeviceInfo(device, what, room, value, &written);
	if (size && result == CL_SUCCESS)
		*size = written;
	bool is_limit = what == CL_DEVICE_MAX_WORK_GROUP_SIZE || what == CL_DEVICE_MAX_WORK_ITEM_SIZES;
	if (result != CL_SUCCESS || !value || (what != CL_DEVICE_TYPE && !is_limit) || !is_offered(device))
		return result;
	if (what == CL_DEVICE_TYPE)
		*(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
	else if (runtime_options()->limits.number == LIMITS_TARGET)
		limit_sizes(value, written);
	return result;
}

cl_int hook_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t room,
                                     void *value, size_t *size)
{
	cl_int result = cl.clGetKernelWorkGroupInfo(kernel, device, what, room, value, size);
	/* A call without a device is about the kernel's only device. That may be the one that we offered as a GPU. */
	bool as_target = runtime_options()->identity.number == IDENTITY_TARGET;
	if (result == CL_SUCCESS && value && what == CL_KERNEL_WORK_GROUP_SIZE &&
	    (as_target || (offered && runtime_options()->limits.number == LIMITS_TARGET && (!device || is_offered(device)))))
		limit_sizes(value, sizeof(size_t));
	return result;
}

cl_int hook_clReleaseDevice(cl_device_id device)
{
	TELL(device_released(device));
	return cl.clReleaseDevice(device);
}
