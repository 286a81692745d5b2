/*
 * peak - a benchmark of peak rates: multiply-adds and reads, timed by the events of their launches.
 *
 *   peak compute|read GROUPS
 *
 * Prints 10^9 operations or bytes per second. A group has 256 work-items. Each work-item does 8192 operations or reads 256
 * bytes.
 */
#include "guest.h"

enum { LOCAL = 256, OPERATIONS = 8192, READ_BYTES = 256 };

static const char source[] =
	"#define STEP x = mad(y, x, y); y = mad(x, y, x);\n"
	"#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP\n"
	"__kernel void compute(__global float4 *out)\n"
	"{\n"
	"	float4 x = 0.25f, y = (float)get_local_id(0) * 1e-6f;\n"
	"	for (int i = 0; i < 64; i++) { STEPS }\n"
	"	out[get_global_id(0)] = x + y;\n"
	"}\n"
	"__kernel void read(__global float4 *in)\n"
	"{\n"
	"	float4 sum = 0;\n"
	"	size_t at = get_global_id(0);\n"
	"	for (int i = 0; i < 16; i++, at += get_global_size(0)) sum += in[at];\n"
	"	if (sum.x + sum.y + sum.z + sum.w == 0.5f) in[0] = sum;\n"
	"}\n";

/* Times the second launch, because the first one may have cold caches. */
static double seconds_of(const struct guest *g, cl_kernel kernel, size_t global)
{
	size_t local = LOCAL;
	cl_ulong begin, end;
	cl_event event;
	cl_int err;
	cl_command_queue queue = clCreateCommandQueue(g->context, g->device, CL_QUEUE_PROFILING_ENABLE, &err);

	CREATED(err);
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
	OK(clWaitForEvents(1, &event));
	OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL));
	OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
	OK(clReleaseEvent(event));
	OK(clReleaseCommandQueue(queue));
	return (double)(end - begin) * 1e-9;
}

int main(int argc, char **argv)
{
	EXPECT(argc == 3, "usage: peak compute|read GROUPS");
	int computes = !strcmp(argv[1], "compute");
	size_t global = LOCAL * strtoul(argv[2], NULL, 10), each = computes ? sizeof(cl_float4) : READ_BYTES;
	struct guest g;

	guest_open(&g);
	cl_program program = guest_build(&g, source, "-cl-mad-enable");
	cl_kernel kernel = guest_kernel(program, argv[1]);
	void *zero = calloc(global, each);
	EXPECT(zero, "no memory");
	cl_mem mem = guest_buffer(&g, global * each, zero);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	double seconds = seconds_of(&g, kernel, global);
	printf("%.1f\n", (double)global * (computes ? OPERATIONS : READ_BYTES) / seconds * 1e-9);
	free(zero);
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	guest_close(&g);
	return 0;
}
