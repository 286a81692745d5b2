/* The host's side of our OpenCL programs. */
#define _GNU_SOURCE
#include "kernels/shapes/host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

unsigned long launches;
unsigned long long kernels_ns, launched_ns;

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static const char *kernel_dir;

static void fail(const char *what, long code)
{
	fprintf(stderr, "%s: %s failed (%ld)\n", program_invocation_short_name, what, code);
	exit(1);
}

static void check(cl_int code, const char *what)
{
	if (code)
		fail(what, code);
}

void *allocate(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);
	if (!p)
		fail("calloc", (long)count);
	return p;
}

/* ---- the device ---- */

static bool is_timed;

void open_device(const char *dir, bool timed)
{
	cl_platform_id platform;
	cl_int code;
	kernel_dir = dir;
	is_timed = timed;
	check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	check(code, "clCreateContext");
	queue = clCreateCommandQueue(context, device, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
	check(code, "clCreateCommandQueue");
}

static char *read_source(const char *file, size_t *size)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", kernel_dir, file);
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END))
		fail(path, 0);
	long length = ftell(f);
	rewind(f);
	char *text = allocate((size_t)length + 1, 1);
	*size = fread(text, 1, (size_t)length, f);
	fclose(f);
	return text;
}

cl_program build(const char *file, const char *options)
{
	size_t size;
	cl_int code;
	char *text = read_source(file, &size);
	cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, &size, &code);
	check(code, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
	free(text);
	return program;
}

cl_kernel kernel(cl_program program, const char *name)
{
	cl_int code;
	cl_kernel k = clCreateKernel(program, name, &code);
	check(code, name);
	return k;
}

cl_mem buffer(size_t bytes, const void *from)
{
	cl_int code;
	cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes, (void *)from, &code);
	check(code, "clCreateBuffer");
	return m;
}

void put_at(cl_mem m, size_t offset, size_t bytes, const void *from)
{
	check(clEnqueueWriteBuffer(queue, m, CL_TRUE, offset, bytes, from, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

void put(cl_mem m, size_t bytes, const void *from)
{
	put_at(m, 0, bytes, from);
}

void arg(cl_kernel k, cl_uint index, size_t size, const void *value)
{
	check(clSetKernelArg(k, index, size, value), "clSetKernelArg");
}

void mem_args(cl_kernel k, const cl_mem *mems, cl_uint count)
{
	for (cl_uint i = 0; i < count; i++)
		arg(k, i, sizeof mems[i], &mems[i]);
}

void args(cl_kernel k, const char *kinds, ...)
{
	va_list list;
	va_start(list, kinds);
	for (cl_uint i = 0; kinds[i]; i++) {
		if (kinds[i] == 'm') {
			cl_mem m = va_arg(list, cl_mem);
			arg(k, i, sizeof m, &m);
		} else {
			int value = va_arg(list, int);
			if (kinds[i] == 'l')
				arg(k, i, (size_t)value, NULL);
			else
				arg(k, i, sizeof value, &value);
		}
	}
	va_end(list);
}

/* ---- launches and their time ---- */

static unsigned long long first_ns;
static cl_event *timed_events;
static size_t timed_count, timed_room;

static unsigned long long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static cl_event *next_event(void)
{
	if (!is_timed)
		return NULL;
	if (timed_count == timed_room) {
		timed_room = timed_room ? 2 * timed_room : 64;
		timed_events = realloc(timed_events, timed_room * sizeof *timed_events);
		if (!timed_events)
			fail("realloc", (long)timed_room);
	}
	return &timed_events[timed_count++];
}

/* All commands before have completed. */
static void add_times(void)
{
	for (size_t i = 0; i < timed_count; i++) {
		cl_ulong start = 0, end = 0;
		clGetEventProfilingInfo(timed_events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
		clGetEventProfilingInfo(timed_events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
		kernels_ns += end - start;
		clReleaseEvent(timed_events[i]);
	}
	timed_count = 0;
	if (first_ns)
		launched_ns = now_ns() - first_ns;
}

void get(cl_mem m, size_t bytes, void *to)
{
	check(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, bytes, to, 0, NULL, NULL), "clEnqueueReadBuffer");
	add_times();
}

void launch3(cl_kernel k, const size_t items[3], const size_t local[3])
{
	size_t global[3];
	cl_uint dims = items[2] > 1 ? 3 : items[1] > 1 ? 2 : 1;
	for (cl_uint d = 0; d < dims; d++)
		global[d] = (items[d] + local[d] - 1) / local[d] * local[d];
	if (!first_ns)
		first_ns = now_ns();
	check(clEnqueueNDRangeKernel(queue, k, dims, NULL, global, local, 0, NULL, next_event()), "clEnqueueNDRangeKernel");
	launches++;
}

void launch(cl_kernel k, size_t x, size_t y, size_t local_x, size_t local_y)
{
	launch3(k, (const size_t[3]){x, y, 1}, (const size_t[3]){local_x, local_y, 1});
}

void swap_mem(cl_mem *a, cl_mem *b)
{
	cl_mem was = *a;
	*a = *b;
	*b = was;
}

/* ---- data ---- */

static unsigned seed = 1;

unsigned next_random(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

float *random_floats(size_t count)
{
	float *f = allocate(count, sizeof *f);
	for (size_t i = 0; i < count; i++)
		f[i] = (float)next_random() / 16777216.0f;
	return f;
}

unsigned *random_words(size_t count, unsigned below)
{
	unsigned *w = allocate(count, sizeof *w);
	for (size_t i = 0; i < count; i++)
		w[i] = next_random() % below;
	return w;
}

unsigned long sum_of(const void *data, size_t bytes)
{
	const unsigned char *p = data;
	unsigned long sum = 1469598103934665603ul;
	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ p[i]) * 1099511628211ul;
	return sum & 0xffffffff;
}

unsigned long sum_of_buffer(cl_mem m, size_t bytes)
{
	void *data = allocate(bytes, 1);
	get(m, bytes, data);
	unsigned long sum = sum_of(data, bytes);
	free(data);
	return sum;
}
