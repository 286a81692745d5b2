/*
 * gpu_only - needs a GPU. Without one, it ends with exit code 3.
 *
 *   gpu_only            asks with clGetDeviceIDs
 *   gpu_only context    asks with clCreateContextFromType
 *
 * Unlike the other guests, it should behave differently with gpusim on a machine without a GPU.
 */
#include "guest.h"

enum { COUNT = 1000 };

static const char source[] =
	"__kernel void half_of(__global int *out) { out[get_global_id(0)] = (int)get_global_id(0) / 2; }\n";

static void no_gpu(const char *call, cl_int err)
{
	printf("%s: %d\n", call, err);
	EXPECT(err == CL_DEVICE_NOT_FOUND, "%s gave %d", call, err);
	exit(3);
}

static cl_device_id by_device(cl_platform_id platform)
{
	cl_device_id device;
	cl_uint count = 0;
	cl_int err = clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 0, NULL, &count);

	if (err)
		no_gpu("clGetDeviceIDs", err);
	EXPECT(count > 0, "no error, and no device");
	OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
	return device;
}

static cl_context by_type(cl_platform_id platform, cl_device_id *device)
{
	cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
	cl_uint count = 0;
	cl_int err;
	cl_context context = clCreateContextFromType(properties, CL_DEVICE_TYPE_GPU, NULL, NULL, &err);

	if (err)
		no_gpu("clCreateContextFromType", err);
	OK(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL));
	EXPECT(count == 1, "the context has %u devices", count);
	OK(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof *device, device, NULL));
	return context;
}

int main(int argc, char **argv)
{
	struct guest g;
	cl_device_type type = 0;
	size_t group_size, item_sizes[3];
	cl_int out[COUNT], err;

	OK(clGetPlatformIDs(1, &g.platform, NULL));
	if (argc > 1 && !strcmp(argv[1], "context")) {
		g.context = by_type(g.platform, &g.device);
	} else {
		g.device = by_device(g.platform);
		g.context = clCreateContext(NULL, 1, &g.device, NULL, NULL, &err);
		CREATED(err);
	}
	OK(clGetDeviceInfo(g.device, CL_DEVICE_TYPE, sizeof type, &type, NULL));
	EXPECT(type == CL_DEVICE_TYPE_GPU, "the GPU's type is %#lx", (unsigned long)type);
	OK(clGetDeviceInfo(g.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group_size, &group_size, NULL));
	OK(clGetDeviceInfo(g.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof item_sizes, item_sizes, NULL));
	printf("a GPU with groups of %zu (%zu x %zu x %zu)\n", group_size, item_sizes[0], item_sizes[1], item_sizes[2]);
	g.queue = clCreateCommandQueue(g.context, g.device, 0, &err);
	CREATED(err);
	cl_program program = guest_build(&g, source, NULL);
	cl_kernel kernel = guest_kernel(program, "half_of");
	cl_mem mem = guest_buffer(&g, sizeof out, NULL);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	guest_launch(&g, kernel, COUNT);
	guest_read(&g, mem, out, sizeof out);
	for (int i = 0; i < COUNT; i++)
		EXPECT(out[i] == i / 2, "element %d is %d", i, out[i]);
	printf("result %08x\n", guest_sum(out, sizeof out));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	guest_close(&g);
	return 0;
}
