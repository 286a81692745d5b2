#include "tests/lift/runner.h"

#include "runtime/format/counters.h"
#include "runtime/format/native.h"
#include "runtime/format/traces.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRINT_ROOM = 1 << 16 };

struct lift_runner {
	struct ptx_module *module;
	struct lifted *lifted;
	struct gs_buf text;
	uint8_t *image;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_uint units;
	double build_seconds;
	uint64_t *counters; /* of all launches in turn, so that their pages are there */
	uint64_t counter_words;
};

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int find_device(cl_device_id *out)
{
	cl_platform_id platforms[8];
	cl_uint count = 0;
	if (clGetPlatformIDs(8, platforms, &count))
		return -ENODEV;
	for (cl_uint i = 0; i < count && i < 8; i++)
		if (!clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, out, NULL))
			return 0;
	return -ENODEV;
}

static int build(struct lift_runner *r, struct gs_error *err)
{
	cl_device_id device;
	cl_int rc;
	const char *text = r->text.data;
	if (find_device(&device))
		return gs_fail(err, ENODEV, "there is no CPU device");
	clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof r->units, &r->units, NULL);
	r->context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
	r->queue = r->context ? clCreateCommandQueue(r->context, device, CL_QUEUE_PROFILING_ENABLE, &rc) : NULL;
	r->program = r->queue ? clCreateProgramWithSource(r->context, 1, &text, &r->text.len, &rc) : NULL;
	if (!r->program)
		return gs_fail(err, ENODEV, "no context, queue or program (%d)", rc);
	double begun = now(CLOCK_MONOTONIC);
	rc = clBuildProgram(r->program, 1, &device, "-w", NULL, NULL);
	r->build_seconds = now(CLOCK_MONOTONIC) - begun;
	if (!rc)
		return 0;
	char log[4096] = "";
	clGetProgramBuildInfo(r->program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
	const char *error = strstr(log, "error");
	return gs_fail(err, EINVAL, "the driver does not build it (%d): %.400s", rc, error ? error : log);
}

/* The image as it begins, with its addresses. */
static int load_image(struct lift_runner *r, struct gs_error *err)
{
	const struct lifted *l = r->lifted;
	if (posix_memalign((void **)&r->image, 4096, l->image_bytes + 4096))
		return gs_fail(err, ENOMEM, "out of memory");
	memcpy(r->image, l->image, l->image_bytes);
	for (uint32_t i = 0; i < l->relocation_count; i++) {
		uint64_t value = l->relocations[i].addend + (l->relocations[i].function ? 0 : (uint64_t)r->image);
		memcpy(r->image + l->relocations[i].offset, &value, sizeof value);
	}
	return 0;
}

int runner_create(const char *ptx, size_t length, enum lift_form form, struct lift_runner **out, struct gs_error *err)
{
	struct lift_runner *r = calloc(1, sizeof *r);
	int result = r ? ptx_read(ptx, length, &r->module, err) : gs_fail(err, ENOMEM, "out of memory");
	if (!result)
		result = lift_module(r->module, &r->lifted, err);
	if (!result)
		result = lift_write(r->lifted, form, &r->text, err);
	if (!result)
		result = load_image(r, err);
	if (result)
		runner_free(r);
	else
		*out = r;
	return result;
}

void runner_free(struct lift_runner *r)
{
	if (!r)
		return;
	if (r->program)
		clReleaseProgram(r->program);
	if (r->queue)
		clReleaseCommandQueue(r->queue);
	if (r->context)
		clReleaseContext(r->context);
	lift_free(r->lifted);
	ptx_free(r->module);
	gs_buf_free(&r->text);
	free(r->counters);
	free(r->image);
	free(r);
}

const struct lifted *runner_lifted(const struct lift_runner *r)
{
	return r->lifted;
}

const struct lift_kernel *runner_kernel(const struct lift_runner *r, const char *name)
{
	for (uint32_t k = 0; k < r->lifted->kernel_count; k++)
		if (!strcmp(r->lifted->kernels[k].name, name))
			return &r->lifted->kernels[k];
	return NULL;
}

const char *runner_text(const struct lift_runner *r)
{
	return r->text.data;
}

double runner_build_seconds(const struct lift_runner *r)
{
	return r->build_seconds;
}

void *runner_variable(const struct lift_runner *r, const char *name)
{
	for (uint32_t v = 0; v < r->lifted->variable_count; v++)
		if (!strcmp(r->lifted->variables[v].name, name))
			return r->image + r->lifted->variables[v].offset;
	return NULL;
}

/* ---- launches ---- */

/* Memory of one launch. */
struct launch_memory {
	struct lifted_launch launch;
	uint8_t *parameters;
	uint32_t flags[MOST_SLOTS];
	void *scratch;
	struct lifted_prints *prints;
	void *groups;
};

static void free_memory(struct launch_memory *m)
{
	free(m->parameters);
	free(m->scratch);
	free(m->prints);
	free(m->groups);
}

static uint64_t volume(const uint64_t size[3])
{
	return size[0] * size[1] * size[2];
}

static bool clear_counters(struct lift_runner *r, uint64_t words)
{
	if (words > r->counter_words) {
		free(r->counters);
		r->counters = malloc(words * 8);
		r->counter_words = r->counters ? words : 0;
	}
	if (r->counters)
		memset(r->counters, 0, words * 8);
	return r->counters != NULL;
}

static int make_memory(struct lift_runner *r, const struct lift_kernel *k, struct lift_run *run, struct launch_memory *m,
                       struct gs_error *err)
{
	uint64_t groups = volume(run->grid), words = COUNTER_HEADER_WORDS + groups + 1;
	struct lifted_launch *l = &m->launch;
	run->threads = groups * volume(run->block);
	l->slots = run->held ? run->held : r->units < MOST_SLOTS ? r->units : MOST_SLOTS;
	l->slot_bytes = lifted_slot_bytes(&k->sizes, run->dynamic_shared, volume(run->block));
	words += (run->threads * k->column_count + COUNTER_SPARE) / 2 + 1;
	m->parameters = calloc(1, k->sizes.parameter_bytes + 8u);
	m->prints = calloc(1, sizeof *m->prints + PRINT_ROOM);
	run->trace_words = run->chunks ? TRACE_HEADER_WORDS + (uint64_t)run->chunks * (TRACE_CHUNK_BYTES / 8) : 0;
	run->trace = calloc(run->trace_words + 1, 8);
	m->groups = calloc(run->held + 1u, LIFTED_GROUP_BYTES);
	if (!m->parameters || !m->groups || !clear_counters(r, words) || !m->prints || !run->trace || posix_memalign(&m->scratch, 4096, l->slots * l->slot_bytes + 4096))
		return gs_fail(err, ENOMEM, "out of memory");
	memset(m->scratch, 0xa5, l->slots * l->slot_bytes);
	for (uint32_t p = 0; p < k->parameter_count && p < run->argument_count; p++)
		memcpy(m->parameters + k->parameters[p].offset, run->arguments[p], k->parameters[p].bytes);
	m->prints->room = PRINT_ROOM;
	l->parameters = (uint64_t)m->parameters;
	l->variables = (uint64_t)r->image;
	l->order = (uint64_t)run->order;
	memcpy(l->grid, run->grid, sizeof l->grid);
	memcpy(l->block, run->block, sizeof l->block);
	l->dynamic_shared = run->dynamic_shared;
	l->slot_flags = (uint64_t)m->flags;
	l->scratch = (uint64_t)m->scratch;
	l->counters = run->uncounted ? 0 : (uint64_t)r->counters;
	l->counter_slots = groups;
	l->counter_places = run->threads;
	l->traces = run->chunks ? (uint64_t)run->trace : 0;
	l->chunks = run->chunks;
	l->traced_whole = run->whole;
	l->together = run->held ? groups : 0;
	l->held = run->held;
	l->groups = (uint64_t)m->groups;
	l->fault = (uint64_t)&run->fault;
	l->prints = (uint64_t)m->prints;
	return 0;
}

static int launch(struct lift_runner *r, struct lift_run *run, struct launch_memory *m, struct gs_error *err)
{
	cl_int rc;
	char name[LIFTED_NAME_BYTES];
	lifted_kernel_name(run->kernel, name);
	cl_kernel kernel = clCreateKernel(r->program, name, &rc);
	cl_ulong address = (cl_ulong)&m->launch;
	size_t global = lifted_items(&m->launch, run->order ? run->order_count : volume(run->grid), r->units, runner_kernel(r, run->kernel)->waits), local = 1;
	global = run->held ? 1 : global;
	if (!kernel)
		return gs_fail(err, EINVAL, "%s: the driver has no such kernel (%d)", run->kernel, rc);
	rc = clSetKernelArg(kernel, 0, sizeof address, &address);
	double begun = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
	cl_event event = NULL;
	cl_ulong times[2] = {0};
	if (!rc)
		rc = clEnqueueNDRangeKernel(r->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event);
	if (!rc)
		rc = clFinish(r->queue);
	run->seconds = now(CLOCK_MONOTONIC) - begun;
	run->cpu_seconds = now(CLOCK_PROCESS_CPUTIME_ID) - used;
	if (event && !clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 8, &times[0], NULL) &&
	    !clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 8, &times[1], NULL))
		run->seconds = 1e-9 * (double)(times[1] - times[0]);
	if (event)
		clReleaseEvent(event);
	clReleaseKernel(kernel);
	return rc ? gs_fail(err, EIO, "%s: the launch failed (%d)", run->kernel, rc) : 0;
}

/* Counts of all rows from those of the columns. */
static int sum_rows(const struct lifted *l, const struct lift_kernel *k, struct lift_run *run)
{
	run->rows = calloc(l->row_count + 1u, sizeof *run->rows);
	if (!run->rows)
		return -ENOMEM;
	for (uint32_t c = 0; c < k->column_count; c++)
		for (uint64_t i = 0; i < run->threads; i++)
			run->rows[k->columns[c]] += run->words[c * run->threads + i];
	for (uint32_t row = 0; row < l->row_count; row++)
		for (uint32_t t = l->rows[row].first_term; t < l->rows[row].first_term + l->rows[row].term_count; t++)
			run->rows[row] += (uint64_t)(int64_t)l->terms[t].factor * run->rows[l->terms[t].row];
	return 0;
}

static int take_results(const struct lift_runner *r, const struct lift_kernel *k, struct lift_run *run, struct launch_memory *m)
{
	uint64_t bytes = run->threads * k->column_count * 4;
	run->words = malloc(bytes + 4);
	run->printed_bytes = m->prints->used < PRINT_ROOM ? m->prints->used : PRINT_ROOM;
	run->printed = malloc(run->printed_bytes + 1);
	if (!run->words || !run->printed)
		return -ENOMEM;
	memcpy(run->words, r->counters + COUNTER_HEADER_WORDS + volume(run->grid) + 1, bytes);
	memcpy(run->printed, m->prints + 1, run->printed_bytes);
	return sum_rows(r->lifted, k, run);
}

int runner_run(struct lift_runner *r, struct lift_run *run, struct gs_error *err)
{
	const struct lift_kernel *k = runner_kernel(r, run->kernel);
	struct launch_memory m = {0};
	if (!k)
		return gs_fail(err, ENOENT, "%s: no such kernel", run->kernel);
	if (*k->refused.text)
		return gs_fail(err, ENOTSUP, "%s: %s", k->name, k->refused.text);
	for (int d = 0; d < 3; d++) {
		run->grid[d] = run->grid[d] ? run->grid[d] : 1;
		run->block[d] = run->block[d] ? run->block[d] : 1;
	}
	int result = r->program ? 0 : build(r, err);
	if (!result)
		result = make_memory(r, k, run, &m, err);
	if (!result)
		result = launch(r, run, &m, err);
	if (!result && take_results(r, k, run, &m))
		result = gs_fail(err, ENOMEM, "out of memory");
	free_memory(&m);
	return result;
}

void runner_run_free(struct lift_run *run)
{
	free(run->rows);
	free(run->words);
	free(run->printed);
	free(run->trace);
	run->rows = run->trace = NULL;
	run->words = NULL;
	run->printed = NULL;
}
