/*
 * bench - times lifted kernels and the same kernels in OpenCL C, side by side, on the CPU device.
 *
 *   bench [-t] CASES SOURCE_FOLDER PTX_FOLDER [PATTERN...]      (bench kernels/medium-cases.txt kernels kernels/cuda/ptx)
 *
 * Prints for each case the processor time of a launch (the shortest of several) as plain OpenCL C, lifted, and lifted and counting; with -t
 * also traced, all groups of it. Then the geometric means of the ratios to plain ones. Processor time, because other work on the machine
 * adds to elapsed time. The driver gets one thread. Every launch has fresh data, and the first one, which compiles, does not count.
 */
#include "tests/lift/runner.h"

#define CL_TARGET_OPENCL_VERSION 120
#include "kernels/cases.h"

#include <CL/cl.h>
#include <math.h>
#include <time.h>

enum { MOST_REPEATS = 15, LEAST_REPEATS = 3 };
static const double enough_seconds = 0.4; /* of repeats of one case */

enum way { PLAIN, LIFTED, COUNTING, TRACED, WAYS };
static const char *const way_names[WAYS] = {"plain", "lifted", "counting", "traced"};

struct repeats {
	int count;
	double all, best; /* seconds */
};

static bool again(struct repeats *r, double seconds)
{
	r->count++;
	if (r->count == 1)
		return true;
	r->all += seconds;
	r->best = r->count == 2 || seconds < r->best ? seconds : r->best;
	return r->count <= LEAST_REPEATS || (r->count <= MOST_REPEATS && r->all < enough_seconds);
}

static double cpu_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(cl_int code, const char *what)
{
	if (code)
		fail(what, "bench", code);
}

/* ---- plain ---- */

struct plain_run {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem memory[MAX_ARGS];
};

static cl_device_id find_device(void)
{
	cl_platform_id platforms[8];
	cl_device_id device = NULL;
	cl_uint count = 0;
	clGetPlatformIDs(8, platforms, &count);
	for (cl_uint i = 0; i < count && i < 8 && !device; i++)
		clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL);
	check(device ? 0 : CL_DEVICE_NOT_FOUND, "there is no CPU device");
	return device;
}

static void create_plain(struct plain_run *p, const char *text, const char *kernel)
{
	cl_device_id device = find_device();
	cl_int rc;
	p->context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
	check(rc, "clCreateContext");
	p->queue = clCreateCommandQueue(p->context, device, 0, &rc);
	check(rc, "clCreateCommandQueue");
	p->program = clCreateProgramWithSource(p->context, 1, &text, NULL, &rc);
	check(rc, "clCreateProgramWithSource");
	check(clBuildProgram(p->program, 1, &device, "-w", NULL, NULL), "clBuildProgram");
	p->kernel = clCreateKernel(p->program, kernel, &rc);
	check(rc, kernel);
}

static void set_argument(struct plain_run *p, uint32_t i, const struct arg *a)
{
	const cl_image_format format = {CL_RGBA, CL_FLOAT};
	const cl_image_desc size = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = a->width, .image_height = a->height};
	cl_int rc = 0;
	if (a->kind == 'm')
		p->memory[i] = clCreateImage(p->context, CL_MEM_COPY_HOST_PTR, &format, &size, a->init, &rc);
	else if (a->init)
		p->memory[i] = clCreateBuffer(p->context, CL_MEM_READ_WRITE, a->size_bytes, NULL, &rc);
	check(rc, "memory");
	if (a->init)
		check(clSetKernelArg(p->kernel, i, sizeof p->memory[i], &p->memory[i]), "memory");
	else if (a->kind == 'L')
		check(clSetKernelArg(p->kernel, i, a->count, NULL), "local memory");
	else
		check(clSetKernelArg(p->kernel, i, 4, a->kind == 'F' ? (const void *)&a->f : &a->i), "value");
}

static void free_plain(struct plain_run *p)
{
	for (uint32_t i = 0; i < MAX_ARGS; i++)
		if (p->memory[i])
			clReleaseMemObject(p->memory[i]);
	clReleaseKernel(p->kernel);
	clReleaseProgram(p->program);
	clReleaseCommandQueue(p->queue);
	clReleaseContext(p->context);
}

static double time_plain(struct test_case *c, const char *text)
{
	struct plain_run p = {0};
	struct repeats r = {0};
	double seconds;
	create_plain(&p, text, c->kernel);
	for (uint32_t i = 0; i < (uint32_t)c->arg_count; i++)
		set_argument(&p, i, &c->args[i]);
	do {
		for (int i = 0; i < c->arg_count; i++)
			if (c->args[i].init && c->args[i].kind != 'm') /* kernels do not write images */
				check(clEnqueueWriteBuffer(p.queue, p.memory[i], CL_TRUE, 0, c->args[i].size_bytes, c->args[i].init, 0, NULL, NULL), "write");
		seconds = cpu_now();
		check(clEnqueueNDRangeKernel(p.queue, p.kernel, c->dims, NULL, c->global, c->local, 0, NULL, NULL), "launch");
		check(clFinish(p.queue), "clFinish");
		seconds = cpu_now() - seconds;
	} while (again(&r, seconds));
	free_plain(&p);
	return r.best;
}

/* ---- lifted ---- */

/* Local memory is not an argument in CUDA. */
static void prepare(const struct test_case *c, struct lift_run *run, uint64_t values[MAX_ARGS], const void *arguments[MAX_ARGS])
{
	for (int i = 0; i < c->arg_count; i++) {
		const struct arg *a = &c->args[i];
		if (a->kind == 'L') {
			run->dynamic_shared += a->count;
			continue;
		}
		void *copy = a->init ? aligned_alloc(128, (a->size_bytes + 127) / 128 * 128) : NULL;
		if (a->init && !copy)
			fail("out of memory", "bench", 0);
		if (copy)
			values[run->argument_count] = (uint64_t)copy;
		else
			memcpy(&values[run->argument_count], a->kind == 'F' ? (const void *)&a->f : &a->i, 4);
		arguments[run->argument_count] = &values[run->argument_count];
		run->argument_count++;
	}
	for (uint32_t d = 0; d < 3; d++) {
		run->grid[d] = d < c->dims ? c->global[d] / c->local[d] : 1;
		run->block[d] = d < c->dims ? c->local[d] : 1;
	}
	run->arguments = arguments;
}

static void refresh(const struct test_case *c, const uint64_t *values)
{
	for (int i = 0, n = 0; i < c->arg_count; i++) {
		if (c->args[i].init)
			memcpy((void *)values[n], c->args[i].init, c->args[i].size_bytes);
		n += c->args[i].kind != 'L';
	}
}

static void release(const struct test_case *c, const uint64_t *values)
{
	for (int i = 0, n = 0; i < c->arg_count; i++) {
		if (c->args[i].init)
			free((void *)values[n]);
		n += c->args[i].kind != 'L';
	}
}

static int time_lifted(const struct test_case *c, struct lift_runner *runner, enum way way, double *out, struct gs_error *err)
{
	uint64_t values[MAX_ARGS] = {0};
	const void *arguments[MAX_ARGS];
	struct lift_run run = {.kernel = c->kernel, .uncounted = way == LIFTED, .chunks = way == TRACED ? 1 << 16 : 0};
	struct repeats r = {0};
	int result;
	prepare(c, &run, values, arguments);
	do {
		refresh(c, values);
		runner_run_free(&run);
		result = runner_run(runner, &run, err);
	} while (!result && again(&r, run.cpu_seconds));
	runner_run_free(&run);
	release(c, values);
	*out = r.best;
	return result;
}

static int time_ways(const struct test_case *c, const struct gs_buf *ptx, bool traced, double times[WAYS], struct gs_error *err)
{
	struct lift_runner *runner = NULL;
	int result = runner_create(ptx->data, ptx->len, LIFT_COUNTING, &runner, err);
	for (enum way w = LIFTED; w <= COUNTING && !result; w++)
		result = time_lifted(c, runner, w, &times[w], err);
	runner_free(runner);
	runner = NULL;
	if (!result && traced)
		result = runner_create(ptx->data, ptx->len, LIFT_TRACING, &runner, err);
	if (!result && traced)
		result = time_lifted(c, runner, TRACED, &times[TRACED], err);
	runner_free(runner);
	return result;
}

/* ---- all cases ---- */

struct means {
	double logs[WAYS];
	int count;
};

static void print_case(const char *name, const double times[WAYS], enum way last, struct means *m)
{
	printf("%-20s %9.3f ms", name, 1e3 * times[PLAIN]);
	for (enum way w = LIFTED; w <= last; w++) {
		printf("  %9.3f ms %5.2f", 1e3 * times[w], times[w] / times[PLAIN]);
		m->logs[w] += log(times[w] / times[PLAIN]);
	}
	printf("\n");
	fflush(stdout);
	m->count++;
}

static void run_case(struct test_case *c, char **folders, bool traced, struct means *m)
{
	double times[WAYS];
	struct gs_buf ptx = {0};
	struct gs_error err;
	char path[4096];
	size_t size;
	snprintf(path, sizeof path, "%s/%.*s.ptx", folders[1], (int)strcspn(c->file, "."), c->file);
	if (gs_read_file(path, &ptx, &err))
		fail(err.text, path, 0);
	snprintf(path, sizeof path, "%s/%s", folders[0], c->file);
	char *source = read_file(path, &size);
	times[PLAIN] = time_plain(c, source);
	if (time_ways(c, &ptx, traced, times, &err))
		printf("%-20s %s\n", c->name, err.text);
	else
		print_case(c->name, times, traced ? TRACED : COUNTING, m);
	free(source);
	gs_buf_free(&ptx);
}

int main(int argc, char **argv)
{
	bool traced = argc > 1 && !strcmp(argv[1], "-t");
	argc -= traced;
	argv += traced;
	if (argc < 4)
		fail("usage: bench [-t] CASES SOURCE_FOLDER PTX_FOLDER [PATTERN...]", "bench", 0);
	setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
	size_t size;
	char *text = read_file(argv[1], &size), *save;
	struct means m = {0};
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct test_case c;
		if (line[0] == '#' || !strcspn(line, " \t") || !wanted(line, argc - 4, argv + 4))
			continue;
		parse_case(&c, line);
		run_case(&c, argv + 2, traced, &m);
		for (int i = 0; i < c.arg_count; i++)
			free(c.args[i].init);
	}
	printf("geometric means of the ratios of %d cases:", m.count);
	for (enum way w = LIFTED; w <= (traced ? TRACED : COUNTING); w++)
		printf(" %s %.2f%s", way_names[w], exp(m.logs[w] / (m.count ? m.count : 1)), w == (traced ? TRACED : COUNTING) ? "\n" : ",");
	free(text);
	return 0;
}
