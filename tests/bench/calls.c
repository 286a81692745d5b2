/*
 * calls - measures how long OpenCL calls take, in microseconds. It is an ordinary program that times itself.
 *
 *   calls           prints "NAME MEDIAN_US" for a call that is only passed on, for an argument, and for a launch
 *                   (clGetPlatformInfo is not even passed on; it shows the lower limit)
 *   calls build N   prints the median of N builds of different programs, with and without their first launch
 *
 * tests/bench.sh runs it without the library, with GPUSIM_OFF=1 and with the library, and shows the ratios.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 200, BATCHES = 51 };

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_mem mem;

static const char text[] =
	"__kernel void add%d(__global float *x, float a)\n"
	"{\n"
	"	size_t i = get_global_id(0);\n"
	"	float s = x[i];\n"
	"	for (int k = 0; k < %d; k++)\n"
	"		s = s * a + x[(i + k) & 1023];\n"
	"	x[i] = s;\n"
	"}\n";

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void must(cl_int err, const char *what)
{
	if (err) {
		fprintf(stderr, "calls: %s gave %d\n", what, err);
		exit(1);
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *samples, int count)
{
	qsort(samples, (size_t)count, sizeof *samples, ascending);
	return samples[count / 2];
}

static void open_device(void)
{
	cl_platform_id platform;
	cl_int err;
	must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	must(err, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &err);
	must(err, "clCreateCommandQueue");
	mem = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &err);
	must(err, "clCreateBuffer");
}

static cl_kernel build(int variant)
{
	char source[1024], name[32];
	const char *s = source;
	cl_int err;
	snprintf(source, sizeof source, text, variant, variant + 1);
	snprintf(name, sizeof name, "add%d", variant);
	cl_program program = clCreateProgramWithSource(context, 1, &s, NULL, &err);
	must(err, "clCreateProgramWithSource");
	must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	cl_kernel kernel = clCreateKernel(program, name, &err);
	must(err, "clCreateKernel");
	must(clReleaseProgram(program), "clReleaseProgram");
	float a = 0.5f;
	must(clSetKernelArg(kernel, 0, sizeof mem, &mem), "clSetKernelArg");
	must(clSetKernelArg(kernel, 1, sizeof a, &a), "clSetKernelArg");
	return kernel;
}

static void launch(cl_kernel kernel)
{
	size_t global = 1024, local = 64;
	must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

/* Microseconds of one call, the median over batches. `what` chooses the call. */
static double time_call(cl_kernel kernel, char what)
{
	double samples[BATCHES];
	cl_ulong size;
	cl_uint units;
	float a = 0.25f;
	for (int b = 0; b < BATCHES; b++) {
		int calls = what == 'l' ? 20 : BATCH;
		double begin = now_us();
		for (int i = 0; i < calls; i++) {
			if (what == 'f')
				clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL);
			else if (what == 'p')
				clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
			else if (what == 'a')
				clSetKernelArg(kernel, 1, sizeof a, &a);
			else
				launch(kernel);
		}
		samples[b] = (now_us() - begin) / calls;
		if (what == 'l')
			clFinish(queue);
	}
	return median(samples, BATCHES);
}

static void time_calls(void)
{
	cl_kernel kernel = build(0);
	launch(kernel);
	must(clFinish(queue), "clFinish");
	printf("not-interposed %.3f\n", time_call(kernel, 'f'));
	printf("passed-on %.3f\n", time_call(kernel, 'p'));
	printf("argument %.3f\n", time_call(kernel, 'a'));
	printf("launch %.3f\n", time_call(kernel, 'l'));
}

static void time_builds(int count)
{
	double builds[64], wholes[64];
	if (count < 1 || count > 64)
		exit(2);
	for (int i = 0; i < count; i++) {
		double begin = now_us();
		cl_kernel kernel = build(i);
		builds[i] = now_us() - begin;
		launch(kernel);
		must(clFinish(queue), "clFinish");
		wholes[i] = now_us() - begin;
		clReleaseKernel(kernel);
	}
	printf("build %.0f\n", median(builds, count));
	printf("build-and-launch %.0f\n", median(wholes, count));
}

int main(int argc, char **argv)
{
	open_device();
	if (argc == 3 && !strcmp(argv[1], "build"))
		time_builds(atoi(argv[2]));
	else
		time_calls();
	return 0;
}
