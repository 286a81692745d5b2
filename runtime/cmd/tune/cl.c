/* The device that is measured. The OpenCL library is opened only when it is needed. */
#include "runtime/cmd/tune/tune.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CL_FUNCTIONS(X)                                                                                                \
	X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext)               \
	X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clCreateProgramWithSource)              \
	X(clBuildProgram) X(clGetProgramBuildInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel)            \
	X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clWaitForEvents) X(clReleaseEvent) X(clGetEventProfilingInfo)    \
	X(clCreateBuffer) X(clReleaseMemObject) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueMapBuffer)   \
	X(clEnqueueUnmapMemObject)

enum { MOST_DEVICES = 64, MOST_REPEATS = 32 };
/* Numbers of the extension cl_nv_device_attribute_query. */
enum { DEVICE_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000, DEVICE_COMPUTE_CAPABILITY_MINOR_NV = 0x4001 };

struct micro_program {
	char key[160]; /* file and options */
	cl_program program;
};

struct tune_cl {
	void *library;
#define FIELD(name) __typeof__(name) *name;
	CL_FUNCTIONS(FIELD)
#undef FIELD
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	struct micro_program programs[TUNE_PROGRAMS];
	size_t program_count;
};

static int fail(struct tuner *t, const char *what, cl_int code)
{
	return gs_fail(&t->error, EIO, "%s failed with OpenCL error %d", what, code);
}

void tune_say(struct tuner *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vfprintf(t->log, fmt, ap);
	fputs("\n", t->log);
	fflush(t->log);
	va_end(ap);
}

/* ---- the library and its devices ---- */

static int load_library(struct tuner *t)
{
	static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so"};
	struct tune_cl *cl = t->cl;
	for (size_t i = 0; i < GS_ARRAY_LEN(names) && !cl->library; i++)
		cl->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!cl->library)
		return gs_fail(&t->error, ENOENT, "there is no OpenCL library (libOpenCL.so.1)");
#define LOAD(name)                                                                                                     \
	if (!(cl->name = (__typeof__(cl->name))dlsym(cl->library, #name)))                                             \
		return gs_fail(&t->error, ENOENT, "the OpenCL library has no %s", #name);
	CL_FUNCTIONS(LOAD)
#undef LOAD
	return 0;
}

static size_t all_devices(struct tuner *t, cl_device_id *devices)
{
	cl_platform_id platforms[MOST_DEVICES];
	cl_uint platform_count = 0, count;
	size_t found = 0;
	if (t->cl->clGetPlatformIDs(MOST_DEVICES, platforms, &platform_count))
		return 0;
	for (cl_uint p = 0; p < platform_count && p < MOST_DEVICES && found < MOST_DEVICES; p++) {
		count = 0;
		if (!t->cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, (cl_uint)(MOST_DEVICES - found), devices + found, &count))
			found += count < MOST_DEVICES - found ? count : MOST_DEVICES - found;
	}
	return found;
}

static void device_text(struct tuner *t, cl_device_id device, cl_device_info what, char *text, size_t size)
{
	char all[1024] = "";
	t->cl->clGetDeviceInfo(device, what, sizeof all - 1, all, NULL);
	snprintf(text, size, "%s", all);
}

static void device_number(struct tuner *t, cl_device_info what, void *number, size_t size)
{
	memset(number, 0, size);
	t->cl->clGetDeviceInfo(t->cl->device, what, size, number, NULL);
}

static bool is_gpu(struct tuner *t, cl_device_id device)
{
	cl_device_type type = 0;
	t->cl->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	return type & CL_DEVICE_TYPE_GPU;
}

static void learn_device(struct tuner *t)
{
	struct tune_device *d = &t->device;
	cl_platform_id platform = NULL;
	device_text(t, t->cl->device, CL_DEVICE_NAME, d->name, sizeof d->name);
	device_text(t, t->cl->device, CL_DRIVER_VERSION, d->driver, sizeof d->driver);
	device_number(t, CL_DEVICE_PLATFORM, &platform, sizeof platform);
	if (t->cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof d->platform - 1, d->platform, NULL))
		d->platform[0] = 0;
	device_number(t, CL_DEVICE_MAX_COMPUTE_UNITS, &d->units, sizeof d->units);
	device_number(t, CL_DEVICE_MAX_CLOCK_FREQUENCY, &d->clock_mhz, sizeof d->clock_mhz);
	device_number(t, CL_DEVICE_MAX_WORK_GROUP_SIZE, &d->group_size, sizeof d->group_size);
	device_number(t, CL_DEVICE_GLOBAL_MEM_SIZE, &d->memory_bytes, sizeof d->memory_bytes);
	device_number(t, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &d->most_bytes, sizeof d->most_bytes);
	device_number(t, CL_DEVICE_LOCAL_MEM_SIZE, &d->local_bytes, sizeof d->local_bytes);
	d->is_nvidia = strstr(d->platform, "NVIDIA") != NULL;
	if (d->is_nvidia) {
		device_number(t, DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, &d->major, sizeof d->major);
		device_number(t, DEVICE_COMPUTE_CAPABILITY_MINOR_NV, &d->minor, sizeof d->minor);
	}
}

static int open_queue(struct tuner *t)
{
	cl_int code;
	struct tune_cl *cl = t->cl;
	cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &code);
	if (!cl->context)
		return fail(t, "clCreateContext", code);
	cl->queue = cl->clCreateCommandQueue(cl->context, cl->device, CL_QUEUE_PROFILING_ENABLE, &code);
	if (!cl->queue)
		return gs_fail(&t->error, ENOTSUP, "%s has no queue with profiling (OpenCL error %d)", t->device.name, code);
	return 0;
}

static int prepare(struct tuner *t, cl_device_id *devices, size_t *count)
{
	t->cl = calloc(1, sizeof *t->cl);
	if (!t->cl)
		return gs_fail(&t->error, ENOMEM, "out of memory");
	int result = load_library(t);
	if (result)
		return result;
	*count = all_devices(t, devices);
	return *count ? 0 : gs_fail(&t->error, ENODEV, "there is no OpenCL device");
}

int tune_list(struct tuner *t)
{
	cl_device_id devices[MOST_DEVICES];
	size_t count;
	int result = prepare(t, devices, &count);
	for (size_t i = 0; !result && i < count; i++) {
		char name[128];
		device_text(t, devices[i], CL_DEVICE_NAME, name, sizeof name);
		printf("%zu %s%s\n", i, name, is_gpu(t, devices[i]) ? "" : " (not a GPU)");
	}
	return result;
}

int tune_open(struct tuner *t, int index)
{
	cl_device_id devices[MOST_DEVICES];
	size_t count, chosen = index < 0 ? 0 : (size_t)index;
	int result = prepare(t, devices, &count);
	if (result)
		return result;
	if (chosen >= count)
		return gs_fail(&t->error, ENODEV, "there is no device %zu (gpusim tune --list has %zu)", chosen, count);
	for (size_t i = 0; index < 0 && i < count; i++)
		if (is_gpu(t, devices[i])) {
			chosen = i;
			break;
		}
	t->cl->device = devices[chosen];
	learn_device(t);
	return open_queue(t);
}

void tune_close(struct tuner *t)
{
	struct tune_cl *cl = t->cl;
	if (!cl)
		return;
	for (size_t i = 0; i < cl->program_count; i++)
		cl->clReleaseProgram(cl->programs[i].program);
	if (cl->queue)
		cl->clReleaseCommandQueue(cl->queue);
	if (cl->context)
		cl->clReleaseContext(cl->context);
	free(cl);
	t->cl = NULL;
}

/* ---- programs ---- */

static const char *source_text(const char *file)
{
	for (const struct micro_source *s = micro_sources; s->name; s++)
		if (!strcmp(s->name, file))
			return s->text;
	return NULL;
}

/* Fails with the first line of the build's log that has text. */
static int build_failed(struct tuner *t, cl_program program, const char *key, cl_int code)
{
	char text[4096] = "";
	t->cl->clGetProgramBuildInfo(program, t->cl->device, CL_PROGRAM_BUILD_LOG, sizeof text - 1, text, NULL);
	tune_say(t, "build of %s: %s", key, text);
	char *line = text + strspn(text, " \t\n");
	line[strcspn(line, "\n")] = 0;
	return gs_fail(&t->error, EIO, "%s was not built (OpenCL error %d%s%.100s)", key, code, *line ? ": " : "", line);
}

static int build(struct tuner *t, const char *file, const char *options, cl_program *out)
{
	struct tune_cl *cl = t->cl;
	char key[sizeof cl->programs[0].key];
	cl_int code;
	snprintf(key, sizeof key, "%s %s", file, options ? options : "");
	for (size_t i = 0; i < cl->program_count; i++)
		if (!strcmp(cl->programs[i].key, key)) {
			*out = cl->programs[i].program;
			return 0;
		}
	const char *text = source_text(file);
	if (!text || cl->program_count == TUNE_PROGRAMS)
		return gs_fail(&t->error, EINVAL, "%s: no such benchmark, or too many", key);
	cl_program program = cl->clCreateProgramWithSource(cl->context, 1, &text, NULL, &code);
	if (!program)
		return fail(t, "clCreateProgramWithSource", code);
	code = cl->clBuildProgram(program, 1, &cl->device, options, NULL, NULL);
	if (code) {
		int result = build_failed(t, program, key, code);
		cl->clReleaseProgram(program);
		return result;
	}
	snprintf(cl->programs[cl->program_count].key, sizeof key, "%s", key);
	*out = cl->programs[cl->program_count++].program = program;
	return 0;
}

int tune_build_log(struct tuner *t, const char *file, const char *options, char *text, size_t size)
{
	cl_program program = NULL;
	int result = build(t, file, options, &program);
	memset(text, 0, size);
	if (!result)
		t->cl->clGetProgramBuildInfo(program, t->cl->device, CL_PROGRAM_BUILD_LOG, size - 1, text, NULL);
	return result;
}

/* ---- launches ---- */

static int set_arguments(struct tuner *t, cl_kernel kernel, const struct tune_job *job)
{
	for (cl_uint i = 0; i < TUNE_ARGUMENTS && job->arguments[i].kind != TUNE_END; i++) {
		const struct tune_argument *a = &job->arguments[i];
		size_t size = a->kind == TUNE_MEM ? sizeof a->mem : a->kind == TUNE_UINT ? sizeof a->number :
			      a->kind == TUNE_ULONG ? sizeof a->wide : a->bytes;
		cl_int code = t->cl->clSetKernelArg(kernel, i, size, a->kind == TUNE_LOCAL ? NULL : &a->mem);
		if (code)
			return fail(t, "clSetKernelArg", code);
	}
	return 0;
}

/* Waits for an event, and releases it. */
static int event_ns(struct tuner *t, cl_event event, double *ns)
{
	cl_ulong start = 0, end = 0;
	cl_int code = t->cl->clWaitForEvents(1, &event);
	if (!code)
		code = t->cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
	if (!code)
		code = t->cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
	t->cl->clReleaseEvent(event);
	*ns = (double)(end - start);
	if (code)
		return fail(t, "timing a command", code);
	return end >= start ? 0 : gs_fail(&t->error, EIO, "a command ended before it began: events have no times");
}

static int run_once(struct tuner *t, cl_kernel kernel, const struct tune_job *job, double *ns)
{
	cl_event event;
	cl_int code = t->cl->clEnqueueNDRangeKernel(t->cl->queue, kernel, 1, NULL, &job->global, &job->local, 0, NULL, &event);
	return code ? fail(t, "clEnqueueNDRangeKernel", code) : event_ns(t, event, ns);
}

static void log_job(struct tuner *t, const struct tune_job *job, const struct tune_sample *s)
{
	char arguments[128] = "";
	for (unsigned i = 0; i < TUNE_ARGUMENTS && job->arguments[i].kind != TUNE_END; i++) {
		const struct tune_argument *a = &job->arguments[i];
		size_t used = strlen(arguments);
		unsigned long long number = a->kind == TUNE_UINT ? a->number : a->kind == TUNE_ULONG ? a->wide : a->bytes;
		if (a->kind != TUNE_MEM)
			snprintf(arguments + used, sizeof arguments - used, " %llu", number);
	}
	tune_say(t, "  %s%s%s %zux%zu%s: %.0f ns, spread %.2f%%", job->kernel, job->options ? " " : "",
	         job->options ? job->options : "", job->global / job->local, job->local, arguments, s->ns, 100 * s->spread);
}

int tune_run(struct tuner *t, const struct tune_job *job, struct tune_sample *s)
{
	double samples[MOST_REPEATS];
	cl_program program = NULL;
	cl_int code;
	int result = build(t, job->file, job->options, &program);
	if (result)
		return result;
	cl_kernel kernel = t->cl->clCreateKernel(program, job->kernel, &code);
	if (!kernel)
		return fail(t, job->kernel, code);
	result = set_arguments(t, kernel, job);
	/* The first run copies the code to the device, finds none of it in instruction caches, and is not counted. */
	for (unsigned i = 0; i <= t->repeats && !result; i++)
		result = run_once(t, kernel, job, &samples[i ? i - 1 : 0]);
	t->cl->clReleaseKernel(kernel);
	if (result)
		return result;
	tune_median(samples, t->repeats, s);
	log_job(t, job, s);
	return 0;
}

/* ---- memory ---- */

cl_mem tune_buffer(struct tuner *t, size_t bytes, const void *data)
{
	cl_int code;
	cl_mem mem = t->cl->clCreateBuffer(t->cl->context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), bytes,
	                                   (void *)(uintptr_t)data, &code);
	if (!mem)
		fail(t, "clCreateBuffer", code);
	return mem;
}

void tune_free(struct tuner *t, cl_mem mem)
{
	if (mem)
		t->cl->clReleaseMemObject(mem);
}

int tune_read(struct tuner *t, cl_mem mem, void *data, size_t bytes)
{
	cl_int code = t->cl->clEnqueueReadBuffer(t->cl->queue, mem, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
	return code ? fail(t, "clEnqueueReadBuffer", code) : 0;
}

static int copy_samples(struct tuner *t, cl_mem to, const void *from, size_t bytes, double *samples)
{
	int result = 0;
	for (unsigned i = 0; i <= t->repeats && !result; i++) {
		cl_event event;
		cl_int code = t->cl->clEnqueueWriteBuffer(t->cl->queue, to, CL_FALSE, 0, bytes, from, 0, NULL, &event);
		result = code ? fail(t, "clEnqueueWriteBuffer", code) : event_ns(t, event, &samples[i ? i - 1 : 0]);
	}
	return result;
}

int tune_copy(struct tuner *t, size_t bytes, struct tune_sample *s)
{
	double samples[MOST_REPEATS];
	struct tune_cl *cl = t->cl;
	cl_int code;
	int result = -EIO;
	void *from = NULL;
	cl_mem to = tune_buffer(t, bytes, NULL);
	cl_mem host = cl->clCreateBuffer(cl->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
	if (!to || !host)
		goto out;
	from = cl->clEnqueueMapBuffer(cl->queue, host, CL_TRUE, CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
	if (!from) {
		fail(t, "clEnqueueMapBuffer", code);
		goto out;
	}
	memset(from, 1, bytes);
	result = copy_samples(t, to, from, bytes, samples);
	cl->clEnqueueUnmapMemObject(cl->queue, host, from, 0, NULL, NULL);
	if (!result) {
		tune_median(samples, t->repeats, s);
		tune_say(t, "  copy of %zu bytes: %.0f ns, spread %.2f%%", bytes, s->ns, 100 * s->spread);
	}
out:
	tune_free(t, to);
	tune_free(t, host);
	return result;
}
