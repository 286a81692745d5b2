/*
 * Our functions in place of the driver's. Each calls the driver's own with what it was given, and returns what that returns.
 *
 * A name of the driver may have several functions: older forms, and those for a default stream of each thread. Their parameters are the same
 * in what we look at, so there is one row for each (rows.def), with the driver's address that it calls.
 */
#include "interposer/cuda/host/host.h"

#include "runtime/base/base.h"
#include "runtime/nvidia.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum row {
#define X(name, thread, kind) ROW_##name,
#include "interposer/cuda/host/rows.def"
	ROW_COUNT
};

static _Atomic(void *) theirs[ROW_COUNT]; /* the driver's own */
#define THEIRS(row, params) ((int(*) params)atomic_load_explicit(&theirs[row], memory_order_relaxed))

/* ---- the driver, for the runtime ---- */

static void *driver_function(const char *name)
{
	static void *library;
	if (!library)
		library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	void *f = library ? host_real_dlsym(library, name) : NULL;
	if (!f)
		f = host_real_dlsym(RTLD_DEFAULT, name);
	return f && !host_is_ours(f) ? f : NULL;
}

/* ---- launches ---- */

static void *stream_of(void *stream, bool thread)
{
	return !stream && thread ? (void *)2 : stream;
}

static int launch(enum row row, bool thread, const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, void *stream, void **parameters, void **extra)
{
	nvidia_start(driver_function);
	struct nvidia_launch l = {.function = function, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_shared = shared, .stream = stream_of(stream, thread),
	                          .parameters = parameters, .extra = extra, .special = row == ROW_cuLaunchCooperativeKernel || row == ROW_cuLaunchCooperativeKernel_ptsz};
	struct gpu_launch *g = nvidia_launch_begins(&l);
	int result = THEIRS(row, (const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))(
		function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
	nvidia_launch_ends(g, result);
	return result;
}

struct host_launch_config {
	unsigned grid[3], block[3], dynamic_shared;
	void *stream;
	const void *attributes;
	unsigned attribute_count;
};

static int launch_ex(enum row row, bool thread, const struct host_launch_config *c, const void *function, void **parameters, void **extra)
{
	struct nvidia_launch l = {.function = function, .parameters = parameters, .extra = extra};
	nvidia_start(driver_function);
	if (c) {
		memcpy(l.grid, c->grid, sizeof l.grid);
		memcpy(l.block, c->block, sizeof l.block);
		l.dynamic_shared = c->dynamic_shared;
		l.stream = stream_of(c->stream, thread);
		l.special = c->attribute_count;
	}
	struct gpu_launch *g = c && function ? nvidia_launch_begins(&l) : NULL;
	int result = THEIRS(row, (const void *, const void *, void **, void **))(c, function, parameters, extra);
	nvidia_launch_ends(g, result);
	return result;
}

static int launch_cooperative(enum row row, bool thread, const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void *stream, void **parameters)
{
	return launch(row, thread, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, NULL);
}

static int graph_launch(enum row row, bool thread, void *graph, void *stream)
{
	struct nvidia_launch l = {.graph = graph, .stream = stream_of(stream, thread)};
	nvidia_start(driver_function);
	struct gpu_launch *g = nvidia_launch_begins(&l);
	int result = THEIRS(row, (void *, void *))(graph, stream);
	nvidia_launch_ends(g, result);
	return result;
}

static int instantiate(enum row row, bool thread, void **out, void *graph, uintptr_t c, uintptr_t d, uintptr_t e)
{
	(void)thread;
	nvidia_start(driver_function);
	int result = THEIRS(row, (void **, void *, uintptr_t, uintptr_t, uintptr_t))(out, graph, c, d, e);
	if (!result && out)
		nvidia_graph_made(*out, graph);
	return result;
}

static int graph_ends(enum row row, bool thread, void *executable)
{
	(void)thread;
	nvidia_graph_gone(executable);
	return THEIRS(row, (void *))(executable);
}

/* ---- what else the runtime must know ---- */

static int begin_capture(enum row row, bool thread, void *stream, void *b, void *c, void *d, uintptr_t e, int f)
{
	(void)thread;
	nvidia_captures(1);
	int result = THEIRS(row, (void *, void *, void *, void *, uintptr_t, int))(stream, b, c, d, e, f);
	if (result)
		nvidia_captures(-1);
	return result;
}

static int end_capture(enum row row, bool thread, void *stream, void **graph)
{
	(void)thread;
	int result = THEIRS(row, (void *, void **))(stream, graph);
	enum { INVALIDATED = 901 };
	if (!result || result == INVALIDATED)
		nvidia_captures(-1);
	return result;
}

static int get_function(enum row row, bool thread, void **out, void *module, const char *name)
{
	(void)thread;
	int result = THEIRS(row, (void **, void *, const char *))(out, module, name);
	if (!result && out)
		nvidia_function_found(*out, module, name);
	return result;
}

static int kernel_function(enum row row, bool thread, void **out, void *kernel)
{
	(void)thread;
	int result = THEIRS(row, (void **, void *))(out, kernel);
	if (!result && out)
		nvidia_function_alias(*out, kernel);
	return result;
}

static int load(enum row row, bool thread, void **out, const void *image, uintptr_t c, void *d, void *e)
{
	(void)thread;
	int result = THEIRS(row, (void **, const void *, uintptr_t, void *, void *))(out, image, c, d, e);
	if (!result && out)
		nvidia_loaded(*out, image, false);
	return result;
}

static int load_library(enum row row, bool thread, void **out, const void *image, void *c, void *d, uintptr_t e, void *f, void *g, uintptr_t h)
{
	(void)thread;
	int result = THEIRS(row, (void **, const void *, void *, void *, uintptr_t, void *, void *, uintptr_t))(out, image, c, d, e, f, g, h);
	if (!result && out)
		nvidia_loaded(*out, image, true);
	return result;
}

static int library_module(enum row row, bool thread, void **out, void *library)
{
	(void)thread;
	int result = THEIRS(row, (void **, void *))(out, library);
	if (!result && out)
		nvidia_module_alias(*out, library);
	return result;
}

static int allocate(enum row row, bool thread, void **out, size_t bytes, uintptr_t c, uintptr_t d)
{
	(void)thread;
	int result = THEIRS(row, (void **, size_t, uintptr_t, uintptr_t))(out, bytes, c, d);
	if (!result && out)
		nvidia_memory_made(*out, bytes, false);
	return result;
}

static int allocate_host(enum row row, bool thread, void **out, size_t bytes, unsigned flags)
{
	(void)thread;
	int result = THEIRS(row, (void **, size_t, unsigned))(out, bytes, flags);
	if (!result && out)
		nvidia_memory_made(*out, bytes, true);
	return result;
}

/* A program that asks where a variable is may give the address to any kernel. */
static int variable(enum row row, void **out, size_t *bytes, void *module, const char *name, bool host)
{
	void *address = NULL;
	size_t size = 0;
	int result = THEIRS(row, (void **, size_t *, void *, const char *))(out ? out : &address, bytes ? bytes : &size, module, name);
	if (!result)
		nvidia_memory_made(out ? *out : address, bytes ? *bytes : size, host);
	return result;
}

static int get_variable(enum row row, bool thread, void **out, size_t *bytes, void *module, const char *name)
{
	(void)thread;
	return variable(row, out, bytes, module, name, false);
}

static int get_managed(enum row row, bool thread, void **out, size_t *bytes, void *module, const char *name)
{
	(void)thread;
	return variable(row, out, bytes, module, name, true);
}

static int allocate_rows(enum row row, bool thread, void **out, size_t *pitch, size_t width, size_t height, unsigned element)
{
	(void)thread;
	int result = THEIRS(row, (void **, size_t *, size_t, size_t, unsigned))(out, pitch, width, height, element);
	if (!result && out && pitch)
		nvidia_memory_made(*out, *pitch * height, false);
	return result;
}

static int register_memory(enum row row, bool thread, void *address, size_t bytes, unsigned flags)
{
	(void)thread;
	int result = THEIRS(row, (void *, size_t, unsigned))(address, bytes, flags);
	if (!result)
		nvidia_memory_made(address, bytes, true);
	return result;
}

/* It is gone for us before it is for the driver: another thread may get the same address. */
static int release(enum row row, bool thread, void *address, void *stream)
{
	(void)thread;
	nvidia_memory_gone(address);
	return THEIRS(row, (void *, void *))(address, stream);
}

/* Memory that we do not see all of; or variables, of a module that ends, which we do not know all of. */
static int unknown_memory(enum row row, bool thread, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
{
	(void)thread;
	nvidia_memory_unknown("");
	return THEIRS(row, (uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))(a, b, c, d, e, f);
}

/* The handle is a structure, and not a pointer to one. */
struct shared_handle {
	char bytes[64];
};

static int open_shared(enum row row, bool thread, void **out, struct shared_handle handle, unsigned flags)
{
	(void)thread;
	nvidia_memory_unknown("");
	return THEIRS(row, (void **, struct shared_handle, unsigned))(out, handle, flags);
}

/* Parameters of none of these are structures or reals, and none has more than six. */
static int use(enum row row, bool thread, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
{
	(void)thread;
	nvidia_used();
	return THEIRS(row, (uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))(a, b, c, d, e, f);
}

/* The same for functions with more parameters. What a caller did not pass is not looked at. */
static int use_many(enum row row, bool thread, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h,
                    uintptr_t i)
{
	(void)thread;
	nvidia_used();
	return THEIRS(row, (uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))(a, b, c, d, e, f, g, h, i);
}

static int make_stream(enum row row, bool thread, void **out, unsigned flags, int priority)
{
	(void)thread;
	int result = THEIRS(row, (void **, unsigned, int))(out, flags, priority);
	if (!result && out)
		nvidia_stream_made(*out, flags);
	return result;
}

static int end_stream(enum row row, bool thread, void *stream)
{
	(void)thread;
	nvidia_stream_gone(stream);
	return THEIRS(row, (void *))(stream);
}

static int context_ends(enum row row, bool thread, uintptr_t context)
{
	(void)thread;
	nvidia_context_ends();
	return THEIRS(row, (uintptr_t))(context);
}

/* ---- functions by name ---- */

/* The newest form of a name that is older than the version that is asked for. All that we know came long before today's. */
static void *wrap_found(const char *name, void *function, int version, unsigned long long flags)
{
	enum { PER_THREAD = 2, SECOND_FORM = 12000, OF_PROCESS = 4 };
	static const char *const ends[] = {"_v2_ptsz", "_v2_ptds", "_ptsz", "_ptds", "_v2", ""};
	char text[64];
	if (!strcmp(name, "cuGetProcAddress"))
		return host_wrap(version >= SECOND_FORM ? "cuGetProcAddress_v2" : name, function);
	for (size_t i = flags & PER_THREAD ? 0 : OF_PROCESS; i < GS_ARRAY_LEN(ends); i++) {
		snprintf(text, sizeof text, "%s%s", name, ends[i]);
		void *wrapped = host_wrap(text, function);
		if (wrapped != function)
			return wrapped;
	}
	return function;
}

static int find_1(enum row row, bool thread, const char *name, void **out, int version, unsigned long long flags)
{
	(void)thread;
	int result = THEIRS(row, (const char *, void **, int, unsigned long long))(name, out, version, flags);
	if (!result && name && out && *out)
		*out = wrap_found(name, *out, version, flags);
	return result;
}

static int find_2(enum row row, bool thread, const char *name, void **out, int version, unsigned long long flags, int *status)
{
	(void)thread;
	int result = THEIRS(row, (const char *, void **, int, unsigned long long, int *))(name, out, version, flags, status);
	if (!result && name && out && *out)
		*out = wrap_found(name, *out, version, flags);
	return result;
}

/* ---- the functions ---- */

#define PARAMETERS_launch \
	(const void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params, \
	 void **extra)
#define ARGUMENTS_launch f, gx, gy, gz, bx, by, bz, shared, stream, params, extra
#define PARAMETERS_launch_ex (const struct host_launch_config *config, const void *f, void **params, void **extra)
#define ARGUMENTS_launch_ex config, f, params, extra
#define PARAMETERS_launch_cooperative \
	(const void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params)
#define ARGUMENTS_launch_cooperative f, gx, gy, gz, bx, by, bz, shared, stream, params
#define PARAMETERS_graph_launch (void *graph, void *stream)
#define ARGUMENTS_graph_launch graph, stream
#define PARAMETERS_instantiate (void **out, void *graph, uintptr_t c, uintptr_t d, uintptr_t e)
#define ARGUMENTS_instantiate out, graph, c, d, e
#define PARAMETERS_graph_ends (void *executable)
#define ARGUMENTS_graph_ends executable
#define PARAMETERS_begin_capture (void *stream, void *b, void *c, void *d, uintptr_t e, int f)
#define ARGUMENTS_begin_capture stream, b, c, d, e, f
#define PARAMETERS_end_capture (void *stream, void **graph)
#define ARGUMENTS_end_capture stream, graph
#define PARAMETERS_get_function (void **out, void *module, const char *name)
#define ARGUMENTS_get_function out, module, name
#define PARAMETERS_kernel_function (void **out, void *kernel)
#define ARGUMENTS_kernel_function out, kernel
#define PARAMETERS_load (void **out, const void *image, uintptr_t c, void *d, void *e)
#define ARGUMENTS_load out, image, c, d, e
#define PARAMETERS_load_library (void **out, const void *image, void *c, void *d, uintptr_t e, void *f, void *g, uintptr_t h)
#define ARGUMENTS_load_library out, image, c, d, e, f, g, h
#define PARAMETERS_library_module (void **out, void *library)
#define ARGUMENTS_library_module out, library
#define PARAMETERS_allocate (void **out, size_t bytes, uintptr_t c, uintptr_t d)
#define ARGUMENTS_allocate out, bytes, c, d
#define PARAMETERS_allocate_host (void **out, size_t bytes, unsigned flags)
#define ARGUMENTS_allocate_host out, bytes, flags
#define PARAMETERS_get_variable (void **out, size_t *bytes, void *module, const char *name)
#define ARGUMENTS_get_variable out, bytes, module, name
#define PARAMETERS_get_managed (void **out, size_t *bytes, void *module, const char *name)
#define ARGUMENTS_get_managed out, bytes, module, name
#define PARAMETERS_allocate_rows (void **out, size_t *pitch, size_t width, size_t height, unsigned element)
#define ARGUMENTS_allocate_rows out, pitch, width, height, element
#define PARAMETERS_register_memory (void *address, size_t bytes, unsigned flags)
#define ARGUMENTS_register_memory address, bytes, flags
#define PARAMETERS_release (void *address, void *stream)
#define ARGUMENTS_release address, stream
#define PARAMETERS_unknown_memory (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
#define ARGUMENTS_unknown_memory a, b, c, d, e, f
#define PARAMETERS_open_shared (void **out, struct shared_handle handle, unsigned flags)
#define ARGUMENTS_open_shared out, handle, flags
#define PARAMETERS_use PARAMETERS_unknown_memory
#define ARGUMENTS_use ARGUMENTS_unknown_memory
#define PARAMETERS_use_many \
	(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h, uintptr_t i)
#define ARGUMENTS_use_many a, b, c, d, e, f, g, h, i
#define PARAMETERS_make_stream (void **out, unsigned flags, int priority)
#define ARGUMENTS_make_stream out, flags, priority
#define PARAMETERS_end_stream (void *stream)
#define ARGUMENTS_end_stream stream
#define PARAMETERS_context_ends (uintptr_t context)
#define ARGUMENTS_context_ends context
#define PARAMETERS_find_1 (const char *name, void **out, int version, unsigned long long flags)
#define ARGUMENTS_find_1 name, out, version, flags
#define PARAMETERS_find_2 (const char *name, void **out, int version, unsigned long long flags, int *status)
#define ARGUMENTS_find_2 name, out, version, flags, status

#define X(name, thread, kind) \
	static int ours_##name PARAMETERS_##kind \
	{ \
		return kind(ROW_##name, thread, ARGUMENTS_##kind); \
	}
#include "interposer/cuda/host/rows.def"

static const struct host_row {
	const char *name;
	void *ours;
} rows[] = {
#define X(name, thread, kind) {#name, (void *)ours_##name},
#include "interposer/cuda/host/rows.def"
};

void *host_wrap(const char *name, void *function)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].name, name))
			continue;
		if (host_is_ours(function)) /* it leads to the driver by another way */
			return function;
		atomic_store_explicit(&theirs[i], function, memory_order_relaxed);
		return rows[i].ours;
	}
	return function;
}
