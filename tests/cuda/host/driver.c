/*
 * A driver for tests of interposer/cuda/host: libcuda.so.1 without a GPU. It has a clock instead. A kernel takes as many ns as its first parameter
 * says; one of gpusim's that does nothing 1400, as on a GPU. An event takes 500 ns. A command on an idle stream begins 3000 ns after the one
 * before, because the processor is slow; a stream is busy for as long as a kernel with a name of gpusim's ran just before.
 *
 * Memory of the GPU is the host's. A kernel of an image that has COUNT_VARIABLE in it (runtime/format/counted.h) is a twin. The kernel `step` takes 5000 ns
 * and adds 1 to each word of the program's memory; its twin spoils that memory for a while, and counts. If its image has TRACE_VARIABLE, it traces as well.
 * Memory of OTHER_GPU bytes is on another GPU. With FAKE_DRIVER_REGISTERS, twins take so many registers that no group of step fits, unless the driver was
 * told how many. With FAKE_DRIVER_ENDLESS, a twin ends only when it is told to stop.
 *
 * With FAKE_DRIVER_IMAGE=FILE, the last image that traces; with FAKE_DRIVER_LOG=FILE, what kernels the program itself launched, in their order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/format/counted.h"
#include "runtime/format/traces.h"
#include "tests/cuda/host/shared.h"

#define EXPORT __attribute__((visibility("default")))

static double now_ns;
static int busy;

enum { KERNELS = 16 };
/* By what its image has, and how it was loaded. */
static struct module {
	int twin, traces, tight;
} modules[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {1, 1, 1}};

static struct kernel {
	char name[64];
	const struct module *module;
} kernels[KERNELS];
static int kernel_count;

enum { ALLOCATIONS = 64, COLUMNS = 3 };
static struct {
	unsigned char *at;
	size_t bytes;
} memory[ALLOCATIONS];
static uint64_t count_variable[COUNT_WORDS], trace_variable[TRACE_WORDS];
EXPORT volatile int fake_twin_runs;

static int context;
struct event {
	double ns;
};

EXPORT int cuInit(unsigned flags);
EXPORT int cuCtxGetCurrent(void **out);
EXPORT int cuCtxGetId(void *c, unsigned long long *id);
EXPORT int cuEventCreate(void **out, unsigned flags);
EXPORT int cuEventRecord(void *event, void *stream);
EXPORT int cuEventQuery(void *event);
EXPORT int cuEventElapsedTime(float *ms, void *begin, void *end);
EXPORT int cuStreamCreate(void **out, unsigned flags);
EXPORT int cuStreamQuery(void *stream);
EXPORT int cuStreamIsCapturing(void *stream, int *status);
EXPORT int cuStreamBeginCapture_v2(void *stream, int mode);
EXPORT int cuStreamEndCapture(void *stream, void **graph);
EXPORT int cuGraphLaunch(void *graph, void *stream);
EXPORT int cuGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags);
EXPORT int cuGraphExecDestroy(void *executable);
EXPORT int cuGraphGetNodes(void *graph, void **nodes, size_t *count);
EXPORT int cuGraphNodeGetType(void *node, int *type);
EXPORT int cuGraphKernelNodeGetParams_v2(void *node, void *out);
EXPORT int cuModuleLoadData(void **out, const void *image);
EXPORT int cuModuleLoadDataEx(void **out, const void *image, unsigned count, int *options, void **values);
EXPORT int cuFuncGetAttribute(int *value, int attribute, const void *function);
EXPORT int cuStreamSynchronize(void *stream);
EXPORT int cuModuleGetFunction(void **out, void *module, const char *name);
EXPORT int cuFuncGetName(const char **name, const void *function);
EXPORT int cuCtxDestroy_v2(void *c);
EXPORT int cuMemAlloc_v2(uint64_t *out, size_t bytes);
EXPORT int cuMemFree_v2(uint64_t address);
EXPORT int cuMemHostAlloc(void **out, size_t bytes, unsigned flags);
EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
EXPORT int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream);
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream);
EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
EXPORT int cuIpcOpenMemHandle_v2(uint64_t *out, struct shared_handle handle, unsigned flags);
EXPORT int cuCtxGetDevice(int *out);
EXPORT int cuPointerGetAttribute(void *out, int attribute, uint64_t address);
EXPORT int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name);
EXPORT int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags, int *status);
EXPORT int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                          void **params, void **extra);
EXPORT int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                               void **params, void **extra);

static int capturing;
enum { NODES = 4 };
static void *recorded[NODES]; /* kernels of the only graph */
static size_t node_count;

int cuInit(unsigned flags)
{
	return (int)flags;
}

int cuCtxGetCurrent(void **out)
{
	*out = &context;
	return 0;
}

int cuCtxGetId(void *c, unsigned long long *id)
{
	*id = c == &context ? 7 : 0;
	return 0;
}

int cuCtxDestroy_v2(void *c)
{
	return c != &context;
}

int cuEventCreate(void **out, unsigned flags)
{
	*out = calloc(1, sizeof(struct event));
	return (int)(flags & ~2u);
}

static void idle_begin(void)
{
	now_ns += busy ? 0 : 3000;
}

int cuEventRecord(void *event, void *stream)
{
	(void)stream;
	if (capturing)
		return 900;
	idle_begin();
	now_ns += 500;
	((struct event *)event)->ns = now_ns;
	return 0;
}

int cuEventQuery(void *event)
{
	busy = 0;
	return !event;
}

int cuEventElapsedTime(float *ms, void *begin, void *end)
{
	*ms = (float)((((struct event *)end)->ns - ((struct event *)begin)->ns) / 1e6);
	return 0;
}

int cuStreamCreate(void **out, unsigned flags)
{
	*out = &busy;
	return flags != 1;
}

int cuStreamQuery(void *stream)
{
	(void)stream;
	return getenv("FAKE_DRIVER_ENDLESS") && fake_twin_runs && !count_variable[COUNT_STOP] ? 600 : 0;
}

int cuStreamIsCapturing(void *stream, int *status)
{
	(void)stream;
	*status = capturing;
	return 0;
}

int cuStreamBeginCapture_v2(void *stream, int mode)
{
	(void)stream;
	capturing = 1;
	return mode;
}

int cuStreamEndCapture(void *stream, void **graph)
{
	*graph = stream;
	capturing = 0;
	return 0;
}

int cuModuleLoadData(void **out, const void *image)
{
	const int traces = strstr(image, TRACE_VARIABLE) != NULL;
	*out = &modules[traces ? 2 : strstr(image, COUNT_VARIABLE) != NULL];
	const char *path = traces ? getenv("FAKE_DRIVER_IMAGE") : NULL;
	FILE *f = path ? fopen(path, "w") : NULL;
	if (f) {
		fputs(image, f);
		fclose(f);
	}
	return 0;
}

int cuModuleLoadDataEx(void **out, const void *image, unsigned count, int *options, void **values)
{
	int result = cuModuleLoadData(out, image);
	*out = (struct module *)*out + 2;
	return result || count != 1 || *options || *values != (void *)64;
}

int cuFuncGetAttribute(int *value, int attribute, const void *function)
{
	const struct kernel *k = function;
	*value = k->module->twin && !k->module->tight && getenv("FAKE_DRIVER_REGISTERS") ? 64 : 1024;
	return attribute && attribute != 4;
}

int cuStreamSynchronize(void *stream)
{
	return !stream;
}

int cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
	for (int i = 0; i < ALLOCATIONS; i++)
		if (!memory[i].at) {
			memory[i].at = calloc(1, bytes);
			memory[i].bytes = bytes;
			*out = (uint64_t)(uintptr_t)memory[i].at;
			return 0;
		}
	return 2;
}

int cuMemFree_v2(uint64_t address)
{
	for (int i = 0; i < ALLOCATIONS; i++)
		if (memory[i].at == (unsigned char *)(uintptr_t)address) {
			free(memory[i].at);
			memory[i].at = NULL;
			return 0;
		}
	return 1;
}

int cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
	*out = calloc(1, bytes);
	return (int)flags;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	*free_bytes = *total = 1 << 30;
	return 0;
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
	(void)stream;
	memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	return 0;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
	return cuMemcpyAsync(to, (uint64_t)(uintptr_t)from, bytes, stream);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
	return cuMemcpyAsync((uint64_t)(uintptr_t)to, from, bytes, stream);
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
	(void)stream;
	memset((void *)(uintptr_t)to, value, bytes);
	return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
	return cuMemcpyAsync((uint64_t)(uintptr_t)to, from, bytes, NULL);
}

/* Tells what it was given. */
int cuIpcOpenMemHandle_v2(uint64_t *out, struct shared_handle handle, unsigned flags)
{
	*out = flags;
	for (size_t i = 0; i < sizeof handle.bytes; i++)
		*out = *out * 3 + (unsigned char)handle.bytes[i];
	return 0;
}

int cuCtxGetDevice(int *out)
{
	*out = 0;
	return 0;
}

int cuPointerGetAttribute(void *out, int attribute, uint64_t address)
{
	for (int i = 0; i < ALLOCATIONS; i++)
		if (memory[i].at == (unsigned char *)(uintptr_t)address)
			*(int *)out = memory[i].bytes == OTHER_GPU;
	return attribute != 9;
}

int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name)
{
	const struct module *m = module;
	const int traced = m->traces && !strcmp(name, TRACE_VARIABLE);
	*address = (uint64_t)(uintptr_t)(traced ? trace_variable : count_variable);
	*bytes = traced ? sizeof trace_variable : sizeof count_variable;
	return !m->twin || (strcmp(name, COUNT_VARIABLE) && !traced) ? 500 : 0;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
	if (kernel_count == KERNELS)
		return 500;
	kernels[kernel_count].module = module;
	snprintf(kernels[kernel_count].name, sizeof kernels->name, "%s", name);
	*out = &kernels[kernel_count++];
	return 0;
}

int cuFuncGetName(const char **name, const void *function)
{
	*name = ((const struct kernel *)function)->name;
	return 0;
}

static void put_event(uint64_t *column, uint64_t *count, uint64_t word)
{
	column[(COLUMN_HEADER_WORDS + (*count)++) * trace_variable[TRACE_COLUMN_COUNT]] = word;
}

/* A thread of step that goes three times through its loop: rows 3, 4, 5 and 2 are its blocks, and sites 0 and 1 its accesses. */
static void trace_thread(uint64_t group, uint64_t slot, uint64_t lane, uint64_t threads, uint64_t word)
{
	const uint64_t columns = trace_variable[TRACE_COLUMN_COUNT], address = word << COLUMN_ADDRESS_SHIFT;
	uint64_t *column = (uint64_t *)(uintptr_t)trace_variable[TRACE_BUFFER_AT] + TRACE_HEADER_WORDS + slot * threads + lane;
	uint64_t count = lane ? 0 : trace_variable[TRACE_TOLD_WORDS];
	put_event(column, &count, 3 << COLUMN_TAG_BITS);
	put_event(column, &count, 4 << COLUMN_TAG_BITS);
	for (int i = 0; i < 3; i++) {
		put_event(column, &count, 5 << COLUMN_TAG_BITS);
		put_event(column, &count, address | COLUMN_ACCESS);
		put_event(column, &count, address | 1 << COLUMN_SITE_SHIFT | COLUMN_ACCESS);
	}
	put_event(column, &count, 2 << COLUMN_TAG_BITS);
	column[0] = group;
	column[columns] = count << 32 | lane;
}

static void trace_step(const unsigned *data, uint64_t groups, uint64_t threads)
{
	const uint32_t *table = (const uint32_t *)(uintptr_t)trace_variable[TRACE_TABLE_AT];
	for (uint64_t g = 0; g < groups && trace_variable[TRACE_BUFFER_AT]; g++)
		for (uint64_t i = 0; i < threads && (!table || table[g]); i++)
			trace_thread(g, table ? table[g] - 1 : g, i, threads, (uint64_t)(uintptr_t)(data + i));
}

/* The kernel `step` of program.c, of n threads that have data each: every loop but the last thread's is of one round. */
static double run_step(const struct kernel *k, unsigned groups, unsigned threads, void **params)
{
	unsigned *data = *(unsigned **)params[0], n = *(unsigned *)params[1];
	uint32_t *counts = (uint32_t *)(uintptr_t)count_variable[COUNT_ADDRESS];
	for (unsigned i = 0; i < n && !k->module->twin; i++)
		data[i]++;
	for (unsigned i = 0; i < n && k->module->twin; i++)
		data[i] = 0xdeadbeef;
	for (uint64_t i = 0; i < count_variable[COUNT_PLACES] && k->module->twin; i++) {
		counts[counted_word(i, 0, COLUMNS)] = 2;
		counts[counted_word(i, 1, COLUMNS)] = 1;
		counts[counted_word(i, 2, COLUMNS)] = 1;
	}
	if (k->module->traces)
		trace_step(data, groups, threads);
	return 5000;
}

static int run(struct kernel *k, unsigned groups, unsigned threads, void **params, const char *form)
{
	const char *log = getenv("FAKE_DRIVER_LOG");
	idle_begin();
	if (!strncmp(k->name, "gpusim_", 7)) {
		busy = 1;
		now_ns += !strcmp(k->name, "gpusim_empty") ? 1400 : (double)*(unsigned long *)params[0];
		return 0;
	}
	if (k->module->twin) {
		run_step(k, groups, threads, params);
		fake_twin_runs = 1;
		usleep(20000);
		return 0;
	}
	FILE *f = log ? fopen(log, "a") : NULL;
	if (f) {
		fprintf(f, "%s %s %u\n", form, k->name, groups);
		fclose(f);
	}
	if (!strcmp(k->name, "fails"))
		return 719;
	if (capturing && node_count < NODES)
		recorded[node_count++] = k;
	if (!capturing)
		now_ns += !strcmp(k->name, "step") ? run_step(k, groups, threads, params) : (double)*(unsigned long *)params[0];
	return 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                   void **extra)
{
	(void)shared, (void)stream, (void)extra;
	return bx && by && bz ? run(f, gx * gy * gz, bx * by * bz, params, "plain") : 1;
}

int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                        void **params, void **extra)
{
	(void)shared, (void)stream, (void)extra;
	return run(f, gx * gy * gz, bx * by * bz, params, "thread");
}

int cuGraphLaunch(void *graph, void *stream)
{
	(void)graph, (void)stream;
	idle_begin();
	now_ns += 7000;
	return 0;
}

/* A graph is NULL, its executable form is not. A node is its kernel. */
int cuGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags)
{
	*out = recorded;
	return graph || flags != 5;
}

int cuGraphExecDestroy(void *executable)
{
	return executable != recorded;
}

int cuGraphGetNodes(void *graph, void **nodes, size_t *count)
{
	for (size_t i = 0; nodes && i < node_count; i++)
		nodes[i] = recorded[i];
	*count = node_count;
	return graph != NULL;
}

int cuGraphNodeGetType(void *node, int *type)
{
	*type = 0;
	return !node;
}

int cuGraphKernelNodeGetParams_v2(void *node, void *out)
{
	*(void **)out = node;
	return 0;
}

int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags, int *status)
{
	static const struct {
		const char *name;
		void *plain, *thread;
	} list[] = {
		{"cuLaunchKernel", (void *)cuLaunchKernel, (void *)cuLaunchKernel_ptsz}, {"cuModuleLoadData", (void *)cuModuleLoadData, NULL},
		{"cuModuleGetFunction", (void *)cuModuleGetFunction, NULL},             {"cuGraphLaunch", (void *)cuGraphLaunch, NULL},
		{"cuStreamBeginCapture", (void *)cuStreamBeginCapture_v2, NULL},        {"cuStreamEndCapture", (void *)cuStreamEndCapture, NULL},
		{"cuGetProcAddress", (void *)cuGetProcAddress_v2, NULL},                {"cuCtxDestroy", (void *)cuCtxDestroy_v2, NULL},
		{"cuMemAlloc", (void *)cuMemAlloc_v2, NULL},                            {"cuMemFree", (void *)cuMemFree_v2, NULL},
		{"cuMemHostAlloc", (void *)cuMemHostAlloc, NULL},                        {"cuMemcpyDtoH", (void *)cuMemcpyDtoH_v2, NULL},
		{"cuIpcOpenMemHandle", (void *)cuIpcOpenMemHandle_v2, NULL},
		{"cuGraphInstantiate", (void *)cuGraphInstantiateWithFlags, NULL},       {"cuGraphExecDestroy", (void *)cuGraphExecDestroy, NULL},
	};
	(void)version;
	*out = NULL;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (!strcmp(list[i].name, name))
			*out = flags & 2 && list[i].thread ? list[i].thread : list[i].plain;
	if (status)
		*status = !*out;
	return *out ? 0 : 500;
}
