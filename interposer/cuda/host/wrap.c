/*
 * Our functions in place of the driver's. Each calls the driver's own with what it was given, and returns what that returns.
 *
 * A name of the driver may have several functions: older forms, and those for a default stream of each thread. Their parameters are the same
 * in what we look at, so there is one row for each, with the driver's address that it calls.
 */
#include "interposer/cuda/host/host.h"

#include "runtime/base/base.h"
#include "runtime/nvidia.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Name, whether NULL means the thread's default stream, and what of it ours is made of. */
#define ROWS(X) \
	X(cuLaunchKernel, false, launch) \
	X(cuLaunchKernel_ptsz, true, launch) \
	X(cuLaunchKernelEx, false, launch_ex) \
	X(cuLaunchKernelEx_ptsz, true, launch_ex) \
	X(cuLaunchCooperativeKernel, false, launch_cooperative) \
	X(cuLaunchCooperativeKernel_ptsz, true, launch_cooperative) \
	X(cuGraphLaunch, false, graph_launch) \
	X(cuGraphLaunch_ptsz, true, graph_launch) \
	X(cuStreamBeginCapture, false, begin_capture) \
	X(cuStreamBeginCapture_ptsz, false, begin_capture) \
	X(cuStreamBeginCapture_v2, false, begin_capture) \
	X(cuStreamBeginCapture_v2_ptsz, false, begin_capture) \
	X(cuStreamBeginCaptureToGraph, false, begin_capture) \
	X(cuStreamBeginCaptureToGraph_ptsz, false, begin_capture) \
	X(cuStreamEndCapture, false, end_capture) \
	X(cuStreamEndCapture_ptsz, false, end_capture) \
	X(cuModuleGetFunction, false, get_function) \
	X(cuLibraryGetKernel, false, get_function) \
	X(cuKernelGetFunction, false, kernel_function) \
	X(cuCtxDestroy, false, context_ends) \
	X(cuCtxDestroy_v2, false, context_ends) \
	X(cuDevicePrimaryCtxReset, false, context_ends) \
	X(cuDevicePrimaryCtxReset_v2, false, context_ends) \
	X(cuDevicePrimaryCtxRelease, false, context_ends) \
	X(cuDevicePrimaryCtxRelease_v2, false, context_ends) \
	X(cuGetProcAddress, false, find_1) \
	X(cuGetProcAddress_v2, false, find_2)

#define X(name, thread, kind) ROW_##name,
enum row { ROWS(X) ROW_COUNT };
#undef X

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
	struct nvidia_launch l = {.function = function, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_shared = shared, .stream = stream_of(stream, thread)};
	struct nvidia_measurement *m = nvidia_launch_begins(&l);
	int result = THEIRS(row, (const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))(
		function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
	nvidia_launch_ends(&l, m, result);
	return result;
}

struct host_launch_config {
	unsigned grid[3], block[3], dynamic_shared;
	void *stream;
};

static int launch_ex(enum row row, bool thread, const struct host_launch_config *c, const void *function, void **parameters, void **extra)
{
	struct nvidia_launch l = {.function = function};
	nvidia_start(driver_function);
	if (c) {
		memcpy(l.grid, c->grid, sizeof l.grid);
		memcpy(l.block, c->block, sizeof l.block);
		l.dynamic_shared = c->dynamic_shared;
		l.stream = stream_of(c->stream, thread);
	}
	struct nvidia_measurement *m = c && function ? nvidia_launch_begins(&l) : NULL;
	int result = THEIRS(row, (const void *, const void *, void **, void **))(c, function, parameters, extra);
	nvidia_launch_ends(&l, m, result);
	return result;
}

static int launch_cooperative(enum row row, bool thread, const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void *stream, void **parameters)
{
	return launch(row, thread, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, NULL);
}

static int graph_launch(enum row row, bool thread, void *graph, void *stream)
{
	struct nvidia_launch l = {.stream = stream_of(stream, thread)};
	nvidia_start(driver_function);
	struct nvidia_measurement *m = nvidia_launch_begins(&l);
	int result = THEIRS(row, (void *, void *))(graph, stream);
	nvidia_launch_ends(&l, m, result);
	return result;
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
	enum { NOT_CAPTURING = 1, INVALIDATED = 901 };
	if (!result || result == INVALIDATED)
		nvidia_captures(-1);
	return result;
}

static int get_function(enum row row, bool thread, void **out, void *module, const char *name)
{
	(void)thread;
	int result = THEIRS(row, (void **, void *, const char *))(out, module, name);
	if (!result && out)
		nvidia_function_found(*out, name);
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

static int context_ends(enum row row, bool thread, uintptr_t context)
{
	(void)thread;
	nvidia_context_ends();
	return THEIRS(row, (uintptr_t))(context);
}

/* ---- functions by name ---- */

static void *wrap_found(const char *name, void *function, int version, unsigned long long flags)
{
	enum { PER_THREAD = 2, SECOND_FORM = 12000 };
	char text[64];
	bool second = !strcmp(name, "cuGetProcAddress") && version >= SECOND_FORM;
	if (flags & PER_THREAD) {
		snprintf(text, sizeof text, "%s_ptsz", name);
		void *wrapped = host_wrap(text, function);
		if (wrapped != function)
			return wrapped;
	}
	return host_wrap(second ? "cuGetProcAddress_v2" : name, function);
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
#define PARAMETERS_begin_capture (void *stream, void *b, void *c, void *d, uintptr_t e, int f)
#define ARGUMENTS_begin_capture stream, b, c, d, e, f
#define PARAMETERS_end_capture (void *stream, void **graph)
#define ARGUMENTS_end_capture stream, graph
#define PARAMETERS_get_function (void **out, void *module, const char *name)
#define ARGUMENTS_get_function out, module, name
#define PARAMETERS_kernel_function (void **out, void *kernel)
#define ARGUMENTS_kernel_function out, kernel
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
ROWS(X)
#undef X

static const struct host_row {
	const char *name;
	void *ours;
} rows[] = {
#define X(name, thread, kind) {#name, (void *)ours_##name},
	ROWS(X)
#undef X
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
