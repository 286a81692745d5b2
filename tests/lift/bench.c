/*
 * bench - times lifted kernels and the same kernels in OpenCL C, side by side, on the CPU device.
 *
 *   bench CASES SOURCE_FOLDER PTX_FOLDER [PATTERN...]
 *
 * Prints for each case the shortest of several runs of both, their ratio, and the time that both take to build and to run first; then the
 * geometric mean of the ratios.
 */
#include "tests/lift/runner.h"

#define CL_TARGET_OPENCL_VERSION 120
#include "kernels/cases.h"

#include <CL/cl.h>
#include <math.h>
#include <time.h>

enum { REPEATS = 15 };

struct timing {
	double first, best; /* seconds: with building, and the shortest */
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(cl_int code, const char *what)
{
	if (code)
		fail(what, "bench", code);
}

static double event_seconds(cl_event e)
{
	cl_ulong begin = 0, end = 0;
	clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, 8, &begin, NULL);
	clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, 8, &end, NULL);
	clReleaseEvent(e);
	return 1e-9 * (double)(end - begin);
}

static struct timing time_source(struct test_case *c, const char *text)
{
	cl_platform_id platforms[8];
	cl_device_id device = NULL;
	cl_uint count = 0;
	cl_int rc;
	clGetPlatformIDs(8, platforms, &count);
	for (cl_uint i = 0; i < count && !device; i++)
		clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL);
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
	cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &rc);
	struct timing t = {.best = 1e9};
	double begun = now();
	cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &rc);
	check(clBuildProgram(program, 1, &device, "-w", NULL, NULL), "build");
	cl_kernel kernel = clCreateKernel(program, c->kernel, &rc);
	check(rc, "kernel");
	for (int i = 0; i < c->arg_count; i++) {
		struct arg *a = &c->args[i];
		cl_mem m = a->init ? clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, a->size_bytes, a->init, &rc) : NULL;
		if (a->init)
			check(clSetKernelArg(kernel, (cl_uint)i, sizeof m, &m), "buffer");
		else if (a->kind == 'L')
			check(clSetKernelArg(kernel, (cl_uint)i, a->count, NULL), "local");
		else
			check(clSetKernelArg(kernel, (cl_uint)i, 4, a->kind == 'F' ? (void *)&a->f : (void *)&a->i), "value");
	}
	for (int i = 0; i < REPEATS; i++) {
		cl_event e;
		check(clEnqueueNDRangeKernel(queue, kernel, c->dims, NULL, c->global, c->local, 0, NULL, &e), "launch");
		clFinish(queue);
		t.first = i ? t.first : now() - begun;
		double seconds = event_seconds(e);
		t.best = seconds < t.best ? seconds : t.best;
	}
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return t;
}

static int time_lifted(struct test_case *c, const struct gs_buf *ptx, struct timing *t)
{
	uint64_t values[MAX_ARGS] = {0}, shared = 0;
	const void *arguments[MAX_ARGS];
	struct lift_runner *r = NULL;
	struct gs_error err = {""};
	struct lift_run run = {.kernel = c->kernel, .arguments = arguments, .argument_count = (uint32_t)c->arg_count};
	*t = (struct timing){.best = 1e9};
	double begun = now();
	for (int i = 0; i < c->arg_count; i++) {
		struct arg *a = &c->args[i];
		arguments[i] = &values[i];
		if (a->init)
			values[i] = (uint64_t)a->init;
		else if (a->kind == 'L') {
			values[i] = shared;
			shared += (a->count + 15) / 16 * 16;
		} else
			memcpy(&values[i], a->kind == 'F' ? (void *)&a->f : (void *)&a->i, 4);
	}
	for (uint32_t d = 0; d < 3; d++) {
		run.grid[d] = d < c->dims ? c->global[d] / c->local[d] : 1;
		run.block[d] = d < c->dims ? c->local[d] : 1;
	}
	run.dynamic_shared = shared;
	int result = runner_create(ptx->data, ptx->len, LIFT_COUNTING, &r, &err);
	for (int i = 0; i < REPEATS && !result; i++) {
		runner_run_free(&run);
		result = runner_run(r, &run, &err);
		t->first = i ? t->first : now() - begun;
		t->best = run.seconds < t->best ? run.seconds : t->best;
	}
	if (result)
		printf("%-20s %s\n", c->name, err.text);
	runner_run_free(&run);
	runner_free(r);
	return result;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		fail("usage: bench CASES SOURCE_FOLDER PTX_FOLDER [PATTERN...]", "bench", 0);
	size_t size;
	char *text = read_file(argv[1], &size), *save, path[4096];
	double sum = 0;
	int count = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct test_case c;
		struct gs_buf ptx = {0};
		struct gs_error err;
		if (line[0] == '#' || !strcspn(line, " \t") || !wanted(line, argc - 4, argv + 4))
			continue;
		parse_case(&c, line);
		snprintf(path, sizeof path, "%s/%.*s.ptx", argv[3], (int)strcspn(c.file, "."), c.file);
		if (gs_read_file(path, &ptx, &err))
			continue;
		snprintf(path, sizeof path, "%s/%s", argv[2], c.file);
		char *source = read_file(path, &size);
		struct timing plain = time_source(&c, source), lifted;
		if (!time_lifted(&c, &ptx, &lifted)) {
			sum += log(lifted.best / plain.best);
			count++;
			printf("%-20s plain %9.3f ms  lifted %9.3f ms  ratio %5.2f   first %5.2f s and %5.2f s\n", c.name, 1e3 * plain.best, 1e3 * lifted.best,
			       lifted.best / plain.best, plain.first, lifted.first);
			fflush(stdout);
		}
		free(source);
		gs_buf_free(&ptx);
		for (int i = 0; i < c.arg_count; i++)
			free(c.args[i].init);
	}
	printf("%d cases, geometric mean of ratios %.2f\n", count, exp(sum / (count ? count : 1)));
	free(text);
	return 0;
}
