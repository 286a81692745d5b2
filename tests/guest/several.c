/* several - a launch that fills a small GPU on every device of the platform, each with a queue of its own, in one context, and copies
 * from the first device to the others. It checks the results. */
#include "guest.h"

enum { MOST = 16, COUNT = 46080, STEPS = 400 };

static const char source[] =
	"__kernel void spin(__global uint *v, int n)\n"
	"{\n"
	"	uint x = v[get_global_id(0)];\n"
	"	for (int i = 0; i < n; i++)\n"
	"		x = x * 1664525u + 1013904223u;\n"
	"	v[get_global_id(0)] = x;\n"
	"}\n";

static cl_uint zeroes[COUNT], found[COUNT];

int main(void)
{
	cl_platform_id platform;
	cl_device_id devices[MOST];
	cl_command_queue queues[MOST];
	cl_mem memory[MOST];
	cl_uint count, expected = 0;
	cl_int err;
	const char *text = source;
	size_t global = COUNT, local = 256;
	int steps = STEPS;
	OK(clGetPlatformIDs(1, &platform, NULL));
	OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, devices, &count));
	cl_context context = clCreateContext(NULL, count, devices, NULL, NULL, &err);
	CREATED(err);
	cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
	CREATED(err);
	OK(clBuildProgram(program, count, devices, "", NULL, NULL));
	cl_kernel kernel = clCreateKernel(program, "spin", &err);
	CREATED(err);
	for (cl_uint d = 0; d < count; d++) {
		queues[d] = clCreateCommandQueue(context, devices[d], 0, &err);
		CREATED(err);
		memory[d] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeroes, zeroes, &err);
		CREATED(err);
	}
	for (cl_uint d = 0; d < count; d++) {
		OK(clSetKernelArg(kernel, 0, sizeof memory[d], &memory[d]));
		OK(clSetKernelArg(kernel, 1, sizeof steps, &steps));
		for (int again = 0; again < 2; again++)
			OK(clEnqueueNDRangeKernel(queues[d], kernel, 1, NULL, &global, &local, 0, NULL, NULL));
		OK(clFlush(queues[d]));
	}
	for (int i = 0; i < 2 * STEPS; i++)
		expected = expected * 1664525u + 1013904223u;
	for (cl_uint d = 0; d < count; d++) {
		OK(clEnqueueReadBuffer(queues[d], memory[d], CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
		for (int i = 0; i < COUNT; i++)
			EXPECT(found[i] == expected, "element %d on device %u is %u, not %u", i, d, found[i], expected);
	}
	/* From the first device to each other, enqueued there, and back to where it was already. */
	for (cl_uint d = 1; d < count; d++) {
		OK(clEnqueueCopyBuffer(queues[d], memory[0], memory[d], 0, 0, sizeof found, 0, NULL, NULL));
		OK(clFinish(queues[d]));
	}
	OK(clEnqueueCopyBuffer(queues[0], memory[0], memory[0], 0, COUNT * 2, COUNT * 2, 0, NULL, NULL));
	OK(clFinish(queues[0]));
	printf("several: %u ok\n", count);
	return 0;
}
