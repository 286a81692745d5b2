/*
 * guest.h - shared code of the guest programs.
 *
 * A guest is an ordinary OpenCL application that checks its own results. Its stdout and exit code are the same in every run.
 * Exit code 1 with a line on stderr means a wrong result. Guests do not know about gpusim. Tests run them with and without it
 * and compare.
 */
#ifndef GUEST_H
#define GUEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct guest {
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
};

__attribute__((noreturn, format(printf, 1, 2))) static inline void guest_fail(const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	va_start(ap, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

/* OK: a call that must succeed. CREATED: the error that a call wrote through its last argument; it must be 0. */
#define OK(call) \
	do { \
		cl_int ok_err = (call); \
		if (ok_err) \
			guest_fail("line %d: %s gave %d", __LINE__, #call, ok_err); \
	} while (0)
#define CREATED(err) \
	do { \
		if (err) \
			guest_fail("line %d: creation gave %d", __LINE__, err); \
	} while (0)
#define EXPECT(condition, ...) \
	do { \
		if (!(condition)) \
			guest_fail(__VA_ARGS__); \
	} while (0)

static inline void guest_open(struct guest *g)
{
	cl_int err;

	OK(clGetPlatformIDs(1, &g->platform, NULL));
	OK(clGetDeviceIDs(g->platform, CL_DEVICE_TYPE_ALL, 1, &g->device, NULL));
	g->context = clCreateContext(NULL, 1, &g->device, NULL, NULL, &err);
	CREATED(err);
	g->queue = clCreateCommandQueue(g->context, g->device, 0, &err);
	CREATED(err);
}

static inline void guest_close(struct guest *g)
{
	OK(clReleaseCommandQueue(g->queue));
	OK(clReleaseContext(g->context));
}

static inline cl_program guest_program(const struct guest *g, const char *source)
{
	cl_int err;
	cl_program program = clCreateProgramWithSource(g->context, 1, &source, NULL, &err);

	CREATED(err);
	return program;
}

static inline cl_program guest_build(const struct guest *g, const char *source, const char *options)
{
	cl_program program = guest_program(g, source);
	cl_int err = clBuildProgram(program, 1, &g->device, options, NULL, NULL);
	char log[4096] = "";

	if (err) {
		clGetProgramBuildInfo(program, g->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
		guest_fail("clBuildProgram gave %d: %s", err, log);
	}
	return program;
}

static inline cl_kernel guest_kernel(cl_program program, const char *name)
{
	cl_int err;
	cl_kernel kernel = clCreateKernel(program, name, &err);

	EXPECT(!err, "clCreateKernel of %s gave %d", name, err);
	return kernel;
}

static inline cl_mem guest_buffer(const struct guest *g, size_t size, const void *contents)
{
	cl_int err;
	cl_mem_flags flags = CL_MEM_READ_WRITE | (contents ? CL_MEM_COPY_HOST_PTR : 0);
	cl_mem mem = clCreateBuffer(g->context, flags, size, (void *)(uintptr_t)contents, &err);

	CREATED(err);
	return mem;
}

static inline void guest_read(const struct guest *g, cl_mem mem, void *to, size_t size)
{
	OK(clEnqueueReadBuffer(g->queue, mem, CL_TRUE, 0, size, to, 0, NULL, NULL));
}

static inline void guest_launch(const struct guest *g, cl_kernel kernel, size_t global)
{
	OK(clEnqueueNDRangeKernel(g->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
}

/* FNV-1a */
static inline uint32_t guest_sum(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

static inline int guest_has(cl_device_id device, cl_device_info what)
{
	cl_bool yes = CL_FALSE;

	return !clGetDeviceInfo(device, what, sizeof yes, &yes, NULL) && yes;
}

#endif
