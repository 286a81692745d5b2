/* The driver's functions, modules, launches and their times (cuda.h). */
#include "runtime/cmd/tune/cuda.h"

#include "runtime/cmd/tune/tune.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What this needs of NVIDIA's driver interface: names as the library exports them, and parameters. */
#define CUDA_FUNCTIONS(X)                                                                                              \
	X(cuInit, (unsigned flags))                                                                                    \
	X(cuDriverGetVersion, (int *version))                                                                          \
	X(cuDeviceGet, (int *device, int ordinal))                                                                     \
	X(cuDeviceGetName, (char *name, int size, int device))                                                         \
	X(cuDeviceGetAttribute, (int *value, int attribute, int device))                                               \
	X(cuDevicePrimaryCtxRetain, (void **context, int device))                                                      \
	X(cuCtxSetCurrent, (void *context))                                                                            \
	X(cuModuleLoadData, (void **module, const void *image))                                                        \
	X(cuModuleGetFunction, (void **function, void *module, const char *name))                                      \
	X(cuFuncSetAttribute, (void *function, int attribute, int value))                                              \
	X(cuMemAlloc_v2, (uint64_t *address, size_t bytes))                                                            \
	X(cuMemFree_v2, (uint64_t address))                                                                            \
	X(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                                              \
	X(cuMemFreeHost, (void *address))                                                                              \
	X(cuMemsetD8_v2, (uint64_t address, unsigned char value, size_t bytes))                                        \
	X(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, void *stream))                           \
	X(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))                                                    \
	X(cuStreamCreate, (void **stream, unsigned flags))                                                             \
	X(cuStreamSynchronize, (void *stream))                                                                         \
	X(cuEventCreate, (void **event, unsigned flags))                                                               \
	X(cuEventRecord, (void *event, void *stream))                                                                  \
	X(cuEventElapsedTime, (float *ms, void *from, void *to))                                                       \
	X(cuLaunchKernel, (void *function, unsigned x, unsigned y, unsigned z, unsigned width, unsigned height, unsigned depth, \
	                   unsigned shared, void *stream, void **parameters, void **extra))

struct cuda_functions {
#define FIELD(name, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(FIELD)
#undef FIELD
};

/* Numbers of the driver interface. */
enum {
	ATTRIBUTE_CLOCK_KHZ = 13,
	ATTRIBUTE_MULTIPROCESSORS = 16,
	ATTRIBUTE_SHARED_PER_GROUP = 8,
	ATTRIBUTE_MOST_SHARED_PER_GROUP = 97,
	FUNCTION_MOST_DYNAMIC_SHARED = 8,
	STREAM_NON_BLOCKING = 1,
};

enum { COPY_BYTES = 16 << 20, LAUNCHES_TIMED = 16 };

static int fail(struct cuda_machine *m, const char *what, int code)
{
	return gs_fail(&m->error, EIO, "%s failed with CUDA error %d", what, code);
}

#define CALL(m, function, ...)                                                                                         \
	do {                                                                                                           \
		int code_ = (m)->calls->function(__VA_ARGS__);                                                         \
		if (code_)                                                                                             \
			return fail(m, #function, code_);                                                              \
	} while (0)

/* Under the library the process has its functions already, even where NVIDIA's driver is installed as well. */
static int load_functions(struct cuda_machine *m)
{
	void *library = RTLD_DEFAULT;
	m->simulated = dlsym(RTLD_DEFAULT, "cuInit") != NULL;
	if (!m->simulated && !(library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)))
		return gs_fail(&m->error, ENOENT, "there is no CUDA driver (libcuda.so.1)");
#define LOAD(name, parameters)                                                                                         \
	if (!(m->calls->name = (__typeof__(m->calls->name))dlsym(library, #name)))                                     \
		return gs_fail(&m->error, ENOENT, "the CUDA driver has no %s", #name);
	CUDA_FUNCTIONS(LOAD)
#undef LOAD
	return 0;
}

static int learn_machine(struct cuda_machine *m, int device)
{
	int version = 0, small = 0;
	CALL(m, cuDeviceGetName, m->name, sizeof m->name - 1, device);
	CALL(m, cuDriverGetVersion, &version);
	snprintf(m->driver, sizeof m->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
	CALL(m, cuDeviceGetAttribute, &m->units, ATTRIBUTE_MULTIPROCESSORS, device);
	CALL(m, cuDeviceGetAttribute, &small, ATTRIBUTE_SHARED_PER_GROUP, device);
	m->calls->cuDeviceGetAttribute(&m->clock_khz, ATTRIBUTE_CLOCK_KHZ, device);
	m->calls->cuDeviceGetAttribute(&m->shared_bytes, ATTRIBUTE_MOST_SHARED_PER_GROUP, device);
	if (m->shared_bytes < small)
		m->shared_bytes = small;
	return m->units > 0 ? 0 : gs_fail(&m->error, ENODEV, "%s has no multiprocessors", m->name);
}

int cuda_open(struct cuda_machine *m)
{
	int device = 0;
	if (!(m->calls = calloc(1, sizeof *m->calls)))
		return gs_fail(&m->error, ENOMEM, "out of memory");
	int result = load_functions(m);
	if (result)
		return result;
	int code = m->calls->cuInit(0);
	if (code || m->calls->cuDeviceGet(&device, 0))
		return gs_fail(&m->error, ENODEV, "there is no CUDA device (cuInit: error %d)", code);
	result = learn_machine(m, device);
	if (result)
		return result;
	CALL(m, cuDevicePrimaryCtxRetain, &m->context, device);
	CALL(m, cuCtxSetCurrent, m->context);
	CALL(m, cuStreamCreate, &m->stream, STREAM_NON_BLOCKING);
	CALL(m, cuEventCreate, &m->from, 0);
	CALL(m, cuEventCreate, &m->to, 0);
	CALL(m, cuMemAlloc_v2, &m->area, CUDA_AREA);
	CALL(m, cuMemAlloc_v2, &m->room, COPY_BYTES);
	CALL(m, cuMemHostAlloc, &m->pinned, COPY_BYTES, 0);
	CALL(m, cuMemsetD8_v2, m->area, 0, CUDA_AREA);
	return 0;
}

void cuda_close(struct cuda_machine *m)
{
	if (m->area)
		m->calls->cuMemFree_v2(m->area);
	if (m->room)
		m->calls->cuMemFree_v2(m->room);
	if (m->pinned)
		m->calls->cuMemFreeHost(m->pinned);
	free(m->calls);
	*m = (struct cuda_machine){0};
}

static int load_module(struct cuda_machine *m, const char *file, void **module)
{
	const struct micro_source *s = micro_sources;
	for (size_t i = 0; i < m->module_count; i++)
		if (!strcmp(m->modules[i].file, file)) {
			*module = m->modules[i].module;
			return 0;
		}
	while (s->name && strcmp(s->name, file))
		s++;
	if (!s->name || m->module_count == CUDA_MODULES)
		return gs_fail(&m->error, EINVAL, "%s: no such benchmark, or too many", file);
	CALL(m, cuModuleLoadData, module, s->text);
	m->modules[m->module_count].file = s->name;
	m->modules[m->module_count++].module = *module;
	return 0;
}

static int find_function(struct cuda_machine *m, const struct machine_launch *l, void **function)
{
	void *module = NULL;
	int result = load_module(m, l->file, &module);
	if (result)
		return result;
	CALL(m, cuModuleGetFunction, function, module, l->kernel);
	if (l->shared)
		CALL(m, cuFuncSetAttribute, *function, FUNCTION_MOST_DYNAMIC_SHARED, (int)l->shared);
	return 0;
}

static int launch(struct cuda_machine *m, void *function, const struct machine_launch *l)
{
	uint32_t numbers[CUDA_NUMBERS];
	uint64_t area = m->area;
	void *parameters[1 + CUDA_NUMBERS] = {&area};
	for (unsigned i = 0; i < CUDA_NUMBERS; i++) {
		numbers[i] = l->numbers[i].number;
		parameters[1 + i] = &numbers[i];
	}
	CALL(m, cuLaunchKernel, function, l->groups, 1, 1, l->threads, 1, 1, (unsigned)l->shared, m->stream, l->bare ? NULL : parameters, NULL);
	return 0;
}

/* Something that takes so long that the host puts all else into the stream meanwhile: so the events show the GPU's time, and not the host's. On a
 * real GPU that is a kernel: copies run elsewhere, and what follows them begins at any time. On a simulated one, copies cost nothing to simulate. */
static int hold_stream(struct cuda_machine *m)
{
	enum { ROUNDS = 4000 }; /* of 32 multiply-adds, 4 cycles each: a quarter of a millisecond */
	struct machine_launch hold = {"groups.ptx", "spin", 1, 32, 0, 2, false, {{.number = ROUNDS}, {.real = 0.5f}}};
	void *function = NULL;
	if (m->simulated) {
		CALL(m, cuMemcpyHtoDAsync_v2, m->room, m->pinned, COPY_BYTES, m->stream);
		return 0;
	}
	int result = find_function(m, &hold, &function);
	return result ? result : launch(m, function, &hold);
}

int cuda_time(struct cuda_machine *m, const struct machine_launch *l, double *ns)
{
	unsigned times = m->simulated ? 1 : LAUNCHES_TIMED;
	void *function = NULL;
	float ms = 0;
	int result = find_function(m, l, &function);
	if (!result)
		result = hold_stream(m);
	if (result)
		return result;
	CALL(m, cuEventRecord, m->from, m->stream);
	for (unsigned i = 0; i < times && !result; i++)
		result = launch(m, function, l);
	if (result)
		return result;
	CALL(m, cuEventRecord, m->to, m->stream);
	CALL(m, cuStreamSynchronize, m->stream);
	CALL(m, cuEventElapsedTime, &ms, m->from, m->to);
	*ns = 1e6 * (double)ms / times;
	return 0;
}

int cuda_run(struct cuda_machine *m, const struct machine_launch *l, void *out, size_t bytes)
{
	void *function = NULL;
	int result = find_function(m, l, &function);
	if (!result)
		result = launch(m, function, l);
	if (result)
		return result;
	CALL(m, cuStreamSynchronize, m->stream);
	CALL(m, cuMemcpyDtoH_v2, out, m->area, bytes);
	return 0;
}

int cuda_warm(struct cuda_machine *m)
{
	enum { LAUNCHES = 8, ROUNDS = 100000 }; /* 16 times, of 32 multiply-adds, 4 cycles each: 100 to 200 ms */
	struct machine_launch l = {"groups.ptx", "spin", (unsigned)m->units, 256, 0, 2, false, {{.number = ROUNDS}, {.real = 0.5f}}};
	double ns;
	int result = 0;
	for (int i = 0; i < LAUNCHES && !result && !m->simulated; i++)
		result = cuda_time(m, &l, &ns);
	return result;
}
