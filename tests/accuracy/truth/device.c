/* An OpenCL device, its clocks and caches; see device.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/accuracy/truth/device.h"

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AREA_BYTES = 256 << 20, QUICK_AREA_BYTES = 1 << 20, SPIN_GROUPS = 1056, SPIN_SIZE = 128, RATE_CYCLES = 400000 };

/* flush reads and writes more than caches hold. rate counts cycles and ns of one SM. */
static const char own_source[] =
	"kernel void spin(global float *out, uint n, float a, float b)\n"
	"{\n"
	"	float x = get_local_id(0);\n"
	"	for (uint i = 0; i < n; i++)\n"
	"		x = fma(x, a, b);\n"
	"	if (x == -1.0f)\n"
	"		out[0] = x;\n"
	"}\n"
	"kernel void nothing(void)\n"
	"{\n"
	"}\n"
	"kernel void flush(global uint4 *area, uint add)\n"
	"{\n"
	"	area[get_global_id(0)] += add;\n"
	"}\n"
	"#ifdef PTX\n"
	"ulong cycles(void)\n"
	"{\n"
	"	ulong t;\n"
	"	__asm__ volatile(\"mov.u64 %0, %%clock64;\" : \"=l\"(t)::\"memory\");\n"
	"	return t;\n"
	"}\n"
	"ulong nanoseconds(void)\n"
	"{\n"
	"	ulong t;\n"
	"	__asm__ volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t)::\"memory\");\n"
	"	return t;\n"
	"}\n"
	"kernel void rate(global ulong *out, uint most)\n"
	"{\n"
	"	ulong first_ns = nanoseconds(), first = cycles(), now;\n"
	"	do\n"
	"		now = cycles();\n"
	"	while (now - first < most);\n"
	"	out[1] = nanoseconds() - first_ns;\n"
	"	out[0] = now - first;\n"
	"}\n"
	"kernel void stamp(global ulong *out, uint slot)\n"
	"{\n"
	"	out[slot] = nanoseconds();\n"
	"}\n"
	"#endif\n";

bool succeeded(cl_int err, const char *what)
{
	if (err)
		fprintf(stderr, "error: %s failed (%d)\n", what, err);
	return !err;
}

static bool load_functions(struct measured_device *d, void *library)
{
#define LOAD(name)                                                                                                     \
	if (!(d->name = (__typeof__(d->name))dlsym(library, #name))) {                                                 \
		fprintf(stderr, "error: no %s\n", #name);                                                              \
		return false;                                                                                          \
	}
	TRUTH_FUNCTIONS(LOAD)
#undef LOAD
	return true;
}

/* Without the common library: NVIDIA's driver has a table of its functions behind every platform. */
static bool load_driver(struct measured_device *d)
{
	void *library = dlopen("libnvidia-opencl.so.1", RTLD_NOW);
	void *(*address_of)(const char *) = library ? (void *(*)(const char *))dlsym(library, "clGetExtensionFunctionAddress") : NULL;
	__typeof__(clGetPlatformIDs) *platforms = address_of ? (__typeof__(platforms))address_of("clIcdGetPlatformIDsKHR") : NULL;
	cl_platform_id platform;
	if (!platforms || platforms(1, &platform, NULL)) {
		fprintf(stderr, "error: neither libOpenCL.so.1 nor libnvidia-opencl.so.1 can be used\n");
		return false;
	}
	const struct _cl_icd_dispatch *table = *(struct _cl_icd_dispatch **)platform;
#define TAKE(name) d->name = (__typeof__(d->name))table->name;
	TRUTH_FUNCTIONS(TAKE)
#undef TAKE
	d->clGetPlatformIDs = platforms;
	return true;
}

static bool open_library(struct measured_device *d)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
	cl_uint count = 0;
	if (library && load_functions(d, library) && !d->clGetPlatformIDs(0, NULL, &count) && count)
		return true;
	return load_driver(d);
}

/* The first GPU, or whatever there is. */
static bool find_device(struct measured_device *d)
{
	cl_platform_id platforms[8];
	cl_uint count = 0;
	if (!succeeded(d->clGetPlatformIDs(8, platforms, &count), "clGetPlatformIDs"))
		return false;
	for (int gpu = 1; gpu >= 0; gpu--)
		for (cl_uint p = 0; p < count && p < 8; p++) {
			char name[256] = "";
			if (d->clGetDeviceIDs(platforms[p], gpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_ALL, 1, &d->id, NULL))
				continue;
			d->clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
			d->is_nvidia = strstr(name, "NVIDIA") != NULL;
			return true;
		}
	fprintf(stderr, "error: no OpenCL device\n");
	return false;
}

static bool build(struct measured_device *d, cl_program program, const char *options, const char *name)
{
	char log[8192] = "";
	cl_int err = d->clBuildProgram(program, 1, &d->id, options, NULL, NULL);
	if (err) {
		d->clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
		fprintf(stderr, "%s\n", log);
	}
	return succeeded(err, name);
}

static bool make_own(struct measured_device *d)
{
	const char *text = own_source;
	cl_int err;
	size_t bytes = d->is_quick ? QUICK_AREA_BYTES : AREA_BYTES;
	cl_program own = d->clCreateProgramWithSource(d->context, 1, &text, NULL, &err);
	if (err || !build(d, own, d->is_nvidia ? "-DPTX" : "", "clBuildProgram"))
		return false;
	d->spin = d->clCreateKernel(own, "spin", &err);
	d->flush = err ? NULL : d->clCreateKernel(own, "flush", &err);
	d->nothing = err ? NULL : d->clCreateKernel(own, "nothing", &err);
	if (d->is_nvidia) {
		d->rate = err ? NULL : d->clCreateKernel(own, "rate", &err);
		d->stamp = err ? NULL : d->clCreateKernel(own, "stamp", &err);
	}
	d->scratch = err ? NULL : d->clCreateBuffer(d->context, CL_MEM_READ_WRITE, 4096, NULL, &err);
	d->area = err ? NULL : d->clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &err);
	return succeeded(err, "what is needed to measure");
}

bool open_measured_device(struct measured_device *d)
{
	cl_int err = 0;
	if (!open_library(d) || !find_device(d))
		return false;
	d->context = d->clCreateContext(NULL, 1, &d->id, NULL, NULL, &err);
	if (!succeeded(err, "clCreateContext"))
		return false;
	d->queue = d->clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &err);
	return succeeded(err, "clCreateCommandQueue") && make_own(d);
}

static char *text_of_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 20);
	if (!f || !text || !fread(text, 1, (1 << 20) - 1, f)) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return text;
}

/* NVIDIA's binaries are PTX. Others have no use here. */
static void keep_ptx(struct measured_device *d, cl_program program, const char *file, const char *folder)
{
	char path[4096];
	size_t size = 0;
	unsigned char *binary;
	if (d->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || !(binary = calloc(1, size + 1)))
		return;
	snprintf(path, sizeof path, "%s/%.*s.ptx", folder, (int)strcspn(file, "."), file);
	FILE *f = d->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) ? NULL : fopen(path, "w");
	if (f) {
		fwrite(binary, 1, size, f);
		fclose(f);
	}
	free(binary);
}

cl_program built_program(struct measured_device *d, const char *folder, const char *file, const char *ptx_dir)
{
	char path[4096];
	cl_int err;
	for (int i = 0; i < d->program_count; i++)
		if (!strcmp(d->programs[i].file, file))
			return d->programs[i].program;
	if (d->program_count == TRUTH_PROGRAMS)
		return NULL;
	snprintf(path, sizeof path, "%s/%s", folder, file);
	char *text = text_of_file(path);
	cl_program program = d->clCreateProgramWithSource(d->context, 1, (const char **)&text, NULL, &err);
	free(text);
	if (!succeeded(err, "clCreateProgramWithSource") || !build(d, program, "", file))
		program = NULL;
	if (program && ptx_dir)
		keep_ptx(d, program, file, ptx_dir);
	snprintf(d->programs[d->program_count].file, sizeof d->programs[0].file, "%s", file);
	return d->programs[d->program_count++].program = program;
}

static bool event_times(struct measured_device *d, cl_event event, cl_ulong *start, cl_ulong *end)
{
	cl_int err = d->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof *start, start, NULL);
	if (!err)
		err = d->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *end, end, NULL);
	d->clReleaseEvent(event);
	return succeeded(err, "clGetEventProfilingInfo");
}

static bool enqueue(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, cl_event *event)
{
	return succeeded(d->clEnqueueNDRangeKernel(d->queue, kernel, dims, NULL, global, local, 0, NULL, event), "clEnqueueNDRangeKernel");
}

bool timed_launch(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, double *ns)
{
	cl_event event;
	cl_ulong start, end;
	if (!enqueue(d, kernel, dims, global, local, &event) || !succeeded(d->clFinish(d->queue), "clFinish") ||
	    !event_times(d, event, &start, &end))
		return false;
	*ns = (double)(end - start);
	return true;
}

static bool enqueue_own(struct measured_device *d, cl_kernel kernel, cl_uint number)
{
	const size_t one = 1;
	return succeeded(d->clSetKernelArg(kernel, 0, sizeof d->scratch, &d->scratch), "clSetKernelArg") &&
	       succeeded(d->clSetKernelArg(kernel, 1, sizeof number, &number), "clSetKernelArg") && enqueue(d, kernel, 1, &one, &one, NULL);
}

static bool read_scratch(struct measured_device *d, cl_ulong words[2])
{
	return succeeded(d->clEnqueueReadBuffer(d->queue, d->scratch, CL_TRUE, 0, 2 * sizeof *words, words, 0, NULL, NULL), "clEnqueueReadBuffer");
}

double sm_clock_mhz(struct measured_device *d)
{
	cl_ulong counted[2];
	if (!d->is_nvidia || !enqueue_own(d, d->rate, RATE_CYCLES) || !read_scratch(d, counted) || !counted[1])
		return 0;
	return (double)counted[0] * 1e3 / (double)counted[1];
}

bool launch_row(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, int count, double *ns,
                double *clock_mhz)
{
	cl_event first, last;
	cl_ulong start, end, other;
	for (int i = 0; i < count; i++)
		if (!enqueue(d, kernel, dims, global, local, i == 0 ? &first : i == count - 1 ? &last : NULL))
			return false;
	*clock_mhz = sm_clock_mhz(d);
	if (!succeeded(d->clFinish(d->queue), "clFinish") || !event_times(d, first, &start, &end))
		return false;
	if (count > 1 && !event_times(d, last, &other, &end))
		return false;
	*ns = (double)(end - start) / count;
	return true;
}

bool stamped_launch(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, double *ns)
{
	cl_ulong stamps[2];
	*ns = 0;
	if (!d->is_nvidia)
		return true;
	if (!enqueue_own(d, d->stamp, 0) || !enqueue(d, kernel, dims, global, local, NULL) || !enqueue_own(d, d->stamp, 1) || !read_scratch(d, stamps))
		return false;
	*ns = (double)(stamps[1] - stamps[0]);
	return true;
}

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Launches of half a millisecond or so, one queued behind the other. */
bool spin_up(struct measured_device *d, double ms)
{
	const size_t local = SPIN_SIZE, global = d->is_quick ? SPIN_SIZE : SPIN_SIZE * SPIN_GROUPS;
	cl_uint trips = d->is_quick ? 16 : 60000;
	cl_float a = 0.999f, b = 0.5f;
	double end = now_ms() + ms;
	if (!succeeded(d->clSetKernelArg(d->spin, 0, sizeof d->scratch, &d->scratch), "clSetKernelArg") ||
	    !succeeded(d->clSetKernelArg(d->spin, 1, sizeof trips, &trips), "clSetKernelArg") ||
	    !succeeded(d->clSetKernelArg(d->spin, 2, sizeof a, &a), "clSetKernelArg") ||
	    !succeeded(d->clSetKernelArg(d->spin, 3, sizeof b, &b), "clSetKernelArg"))
		return false;
	do {
		for (int i = 0; i < 4; i++)
			if (!enqueue(d, d->spin, 1, &global, &local, NULL))
				return false;
		if (!succeeded(d->clFinish(d->queue), "clFinish"))
			return false;
	} while (now_ms() < end);
	return true;
}

bool flush_caches(struct measured_device *d)
{
	const size_t local = 256, global = (d->is_quick ? QUICK_AREA_BYTES : AREA_BYTES) / 16;
	cl_uint add = 1;
	return succeeded(d->clSetKernelArg(d->flush, 0, sizeof d->area, &d->area), "clSetKernelArg") &&
	       succeeded(d->clSetKernelArg(d->flush, 1, sizeof add, &add), "clSetKernelArg") && enqueue(d, d->flush, 1, &global, &local, NULL) &&
	       succeeded(d->clFinish(d->queue), "clFinish");
}
