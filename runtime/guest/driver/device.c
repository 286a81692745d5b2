#include "runtime/guest/driver/device.h"

#include "runtime/guest/driver/simulation.h"

#include <stdio.h>
#include <string.h>

static bool device_has_indices(cl_device_id device, unsigned platform_index, unsigned device_index)
{
	enum { MOST = 64 };
	cl_platform_id platforms[MOST];
	cl_device_id devices[MOST];
	cl_uint count = 0;
	if (cl.clGetPlatformIDs(MOST, platforms, &count) != CL_SUCCESS || platform_index >= count || platform_index >= MOST)
		return false;
	if (cl.clGetDeviceIDs(platforms[platform_index], CL_DEVICE_TYPE_ALL, MOST, devices, &count) != CL_SUCCESS)
		return false;
	return device_index < count && device_index < MOST && devices[device_index] == device;
}

static bool device_name_contains(cl_device_id device, const char *part)
{
	char device_name[512] = "", platform_name[512] = "";
	cl_platform_id platform = NULL;
	cl.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name - 1, device_name, NULL);
	cl.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
	if (platform)
		cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof platform_name - 1, platform_name, NULL);
	return strcasestr(device_name, part) || strcasestr(platform_name, part);
}

bool device_wanted(cl_device_id device)
{
	const char *wanted = simulation.options.device.text;
	unsigned platform_index, device_index;
	char rest;
	if (!*wanted)
		return true;
	if (sscanf(wanted, "%u.%u%c", &platform_index, &device_index, &rest) == 2)
		return device_has_indices(device, platform_index, device_index);
	return device_name_contains(device, wanted);
}

bool device_is_cpu(cl_device_id device)
{
	cl_device_type type = 0;
	cl.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	return type & CL_DEVICE_TYPE_CPU;
}
