/*
 * demo - a small, ordinary OpenCL program: saxpy, a tiled matrix product and a reduction. It launches each several times, copies
 * data to and from the device, and checks all results.
 *
 *   demo [repeats]
 *
 * It does not know about gpusim. It prints one line, and exits 0 if every result is right.
 */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { VECTOR = 1 << 20, MATRIX = 256, TILE = 16, GROUP = 256 };

static const char source[] =
	"__kernel void saxpy(__global float *y, __global const float *x, float a)\n"
	"{\n"
	"	size_t i = get_global_id(0);\n"
	"	y[i] = a * x[i] + y[i];\n"
	"}\n"
	"\n"
	"__kernel void matmul(__global const float *a, __global const float *b, __global float *c, int n)\n"
	"{\n"
	"	__local float ta[TILE][TILE], tb[TILE][TILE];\n"
	"	int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);\n"
	"	float sum = 0.0f;\n"
	"	for (int t = 0; t < n; t += TILE) {\n"
	"		ta[ly][lx] = a[y * n + t + lx];\n"
	"		tb[ly][lx] = b[(t + ly) * n + x];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"		for (int k = 0; k < TILE; k++)\n"
	"			sum += ta[ly][k] * tb[k][lx];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	}\n"
	"	c[y * n + x] = sum;\n"
	"}\n"
	"\n"
	"__kernel void reduce(__global const float *in, __global float *out, __local float *tmp)\n"
	"{\n"
	"	int l = get_local_id(0);\n"
	"	tmp[l] = in[get_global_id(0)];\n"
	"	for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"		if (l < s)\n"
	"			tmp[l] += tmp[l + s];\n"
	"	}\n"
	"	if (l == 0)\n"
	"		out[get_group_id(0)] = tmp[0];\n"
	"}\n";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

static void fail(const char *what, long code)
{
	fprintf(stderr, "demo: %s (%ld)\n", what, code);
	exit(1);
}

static void check(cl_int err, const char *what)
{
	if (err)
		fail(what, err);
}

static void setup(void)
{
	cl_platform_id platform;
	const char *text = source;
	char log[4096] = "", options[32];
	cl_int err;

	check(clGetPlatformIDs(1, &platform, NULL), "no OpenCL platform");
	if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL))
		check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "no OpenCL device");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	check(err, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &err);
	check(err, "clCreateCommandQueue");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
	check(err, "clCreateProgramWithSource");
	snprintf(options, sizeof options, "-DTILE=%d", TILE);
	err = clBuildProgram(program, 1, &device, options, NULL, NULL);
	if (err) {
		clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
		fputs(log, stderr);
	}
	check(err, "clBuildProgram");
}

static void finish(void)
{
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
}

static cl_kernel create_kernel(const char *name)
{
	cl_int err;
	cl_kernel kernel = clCreateKernel(program, name, &err);

	check(err, name);
	return kernel;
}

static cl_mem create_buffer(const float *data, size_t count)
{
	cl_int err;
	cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, count * sizeof *data, NULL, &err);

	check(err, "clCreateBuffer");
	if (data)
		check(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, count * sizeof *data, data, 0, NULL, NULL), "write");
	return mem;
}

static void read_back(cl_mem mem, float *data, size_t count)
{
	check(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, count * sizeof *data, data, 0, NULL, NULL), "read");
	clReleaseMemObject(mem);
}

static void launch(cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, int repeats)
{
	for (int r = 0; r < repeats; r++)
		check(clEnqueueNDRangeKernel(queue, kernel, dims, NULL, global, local, 0, NULL, NULL), "launch");
	clReleaseKernel(kernel);
}

static float *vector(size_t count, unsigned step)
{
	float *v = malloc(count * sizeof *v);

	if (!v)
		fail("out of memory", 0);
	for (size_t i = 0; i < count; i++)
		v[i] = (float)(i * step % 16);
	return v;
}

/* All values are small integers, so the sums are exact in any order. */
static void run_saxpy(int repeats)
{
	float a = 2.0f, *x = vector(VECTOR, 3), *y = vector(VECTOR, 1), *got = vector(VECTOR, 0);
	cl_mem mx = create_buffer(x, VECTOR), my = create_buffer(y, VECTOR);
	cl_kernel kernel = create_kernel("saxpy");
	size_t global = VECTOR, local = GROUP;

	clSetKernelArg(kernel, 0, sizeof my, &my);
	clSetKernelArg(kernel, 1, sizeof mx, &mx);
	clSetKernelArg(kernel, 2, sizeof a, &a);
	launch(kernel, 1, &global, &local, repeats);
	read_back(my, got, VECTOR);
	clReleaseMemObject(mx);
	for (size_t i = 0; i < VECTOR; i++)
		if (got[i] != y[i] + (float)repeats * a * x[i])
			fail("saxpy: wrong result at", (long)i);
	free(x);
	free(y);
	free(got);
}

static void run_matmul(int repeats)
{
	enum { N = MATRIX };
	float *a = vector(N * N, 5), *b = vector(N * N, 7), *c = vector(N * N, 0);
	cl_mem ma = create_buffer(a, N * N), mb = create_buffer(b, N * N), mc = create_buffer(NULL, N * N);
	cl_kernel kernel = create_kernel("matmul");
	size_t global[2] = {N, N}, local[2] = {TILE, TILE};
	cl_int n = N;

	clSetKernelArg(kernel, 0, sizeof ma, &ma);
	clSetKernelArg(kernel, 1, sizeof mb, &mb);
	clSetKernelArg(kernel, 2, sizeof mc, &mc);
	clSetKernelArg(kernel, 3, sizeof n, &n);
	launch(kernel, 2, global, local, repeats);
	read_back(mc, c, N * N);
	clReleaseMemObject(ma);
	clReleaseMemObject(mb);
	for (size_t i = 0; i < N * N; i++) {
		float sum = 0.0f;
		for (size_t k = 0; k < N; k++)
			sum += a[i / N * N + k] * b[k * N + i % N];
		if (c[i] != sum)
			fail("matmul: wrong result at", (long)i);
	}
	free(a);
	free(b);
	free(c);
}

static double run_reduce(int repeats)
{
	float *in = vector(VECTOR, 1), *out = vector(VECTOR / GROUP, 0);
	cl_mem min = create_buffer(in, VECTOR), mout = create_buffer(NULL, VECTOR / GROUP);
	cl_kernel kernel = create_kernel("reduce");
	size_t global = VECTOR, local = GROUP;
	double want = 0.0, got = 0.0;

	clSetKernelArg(kernel, 0, sizeof min, &min);
	clSetKernelArg(kernel, 1, sizeof mout, &mout);
	clSetKernelArg(kernel, 2, GROUP * sizeof(float), NULL);
	launch(kernel, 1, &global, &local, repeats);
	read_back(mout, out, VECTOR / GROUP);
	clReleaseMemObject(min);
	for (size_t i = 0; i < VECTOR; i++)
		want += in[i];
	for (size_t i = 0; i < VECTOR / GROUP; i++)
		got += out[i];
	if (got != want)
		fail("reduce: wrong sum", (long)got);
	free(in);
	free(out);
	return got;
}

int main(int argc, char **argv)
{
	int repeats = argc > 1 ? atoi(argv[1]) : 4;

	if (repeats < 1 || repeats > 1000)
		fail("usage: demo [repeats, 1 to 1000]", repeats);
	setup();
	run_saxpy(repeats);
	run_matmul(repeats);
	printf("demo: saxpy, matmul and reduce are right, the sum is %.0f\n", run_reduce(repeats));
	finish();
	return 0;
}
