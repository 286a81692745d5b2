#include "runtime/guest/nvidia/launches.h"

#include "runtime/config/log.h"
#include "runtime/guest/driver/cl.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/nvidia/calls.h"
#include "runtime/guest/nvidia/clock.h"
#include "runtime/guest/support/names.h"
#include "runtime/guest/support/table.h"
#include "runtime/nvidia.h"
#include "runtime/process/thread.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

static const char only_measured[] = "it ran on the GPU itself, and was only measured";

static struct {
	pthread_once_t once;
	void *(*find)(const char *name);
	atomic_bool ready;
	atomic_int captures;
	pthread_mutex_t lock;
	struct table names; /* of kernels, by handle: what reports call them */
} on_gpu = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void start_once(void)
{
	runtime_serves_cuda();
	cl_start();
	if (!runtime_active())
		return;
	if (!nvidia_find_calls(on_gpu.find)) {
		log_warning("launches are not measured: the driver has not all functions that this needs");
		return;
	}
	on_gpu.ready = true;
}

void nvidia_start(void *(*find)(const char *name))
{
	int saved = errno;
	on_gpu.find = find;
	pthread_once(&on_gpu.once, start_once);
	errno = saved;
}

/* A forked child cannot use the driver. */
static bool is_ready(void)
{
	return on_gpu.ready && runtime_active();
}

/* ---- names ---- */

void nvidia_function_found(const void *function, const char *name)
{
	int saved = errno;
	char *title = name ? readable_name(name) : NULL;
	pthread_mutex_lock(&on_gpu.lock);
	if (title) /* a handle may come back for another kernel; what held the former name may still be in use */
		table_put(&on_gpu.names, function, title);
	pthread_mutex_unlock(&on_gpu.lock);
	errno = saved;
}

static const char *known_name(const void *function)
{
	pthread_mutex_lock(&on_gpu.lock);
	const char *name = table_get(&on_gpu.names, function);
	pthread_mutex_unlock(&on_gpu.lock);
	return name;
}

void nvidia_function_alias(const void *function, const void *same)
{
	const char *name = known_name(same);
	if (!name || known_name(function) == name)
		return;
	pthread_mutex_lock(&on_gpu.lock);
	table_put(&on_gpu.names, function, (void *)name);
	pthread_mutex_unlock(&on_gpu.lock);
}

/* Libraries may get handles in ways that we do not see. */
static const char *name_of(const void *function)
{
	const char *name = function ? known_name(function) : "(graph)";
	if (name)
		return name;
	if (nvidia.function_name && nvidia.function_name(&name, function))
		name = NULL;
	if (!name && nvidia.kernel_name && nvidia.kernel_name(&name, function))
		name = NULL;
	nvidia_function_found(function, name ? name : "(unknown)");
	name = known_name(function);
	return name ? name : "(unknown)";
}

/* ---- launches ---- */

/* A launch that is being measured. */
struct measured_launch {
	const char *name;
	struct nvidia_launch what;
};

static struct measured_shape shape_of(const struct measured_launch *l)
{
	struct measured_shape s = {.local_bytes = l->what.dynamic_shared};
	for (int d = 0; d < 3; d++) {
		s.local[d] = l->what.block[d];
		s.global[d] = (uint64_t)l->what.grid[d] * l->what.block[d];
	}
	return s;
}

static void measured(void *owner, uint64_t ns)
{
	struct measured_launch *l = owner;
	struct measured_shape shape = shape_of(l);
	if (ns)
		stats_add_measured(&simulation.stats, l->name, only_measured, &shape, ns);
	free(l);
}

/* The driver loads a kernel when it is first used, and that must not count. */
static void load_kernel(const void *function)
{
	int registers;
	enum { NUM_REGS = 4 };
	if (nvidia.function_attribute)
		nvidia.function_attribute(&registers, NUM_REGS, function);
}

struct nvidia_measurement *nvidia_launch_begins(const struct nvidia_launch *l)
{
	int saved = errno;
	enum { EACH_TIME = 8 };
	struct nvidia_measurement *m = NULL;
	if (is_ready() && !on_gpu.captures) {
		uint64_t begin = clock_ns();
		clock_collect(EACH_TIME, 0, measured);
		if (l->function && !known_name(l->function)) {
			name_of(l->function);
			load_kernel(l->function);
		}
		m = clock_begins(l->stream);
		simulation.cost.launch_ns += clock_ns() - begin;
	}
	errno = saved;
	return m;
}

void nvidia_launch_ends(const struct nvidia_launch *l, struct nvidia_measurement *m, int result)
{
	int saved = errno;
	struct measured_launch *kept = m && !result ? malloc(sizeof *kept) : NULL;
	if (kept) {
		*kept = (struct measured_launch){name_of(l->function), *l};
		clock_ends(m, l->stream, kept);
	} else if (m) {
		clock_abandon(m);
	}
	if (is_ready() && !on_gpu.captures && !result) {
		struct measured_shape shape = shape_of(&(struct measured_launch){.what = *l});
		launch_not_modelled(name_of(l->function), only_measured);
		stats_add_shape(&simulation.stats, name_of(l->function), &shape);
		simulation.cost.launches++;
	}
	errno = saved;
}

void nvidia_captures(int change)
{
	on_gpu.captures += change;
}

void nvidia_context_ends(void)
{
	enum { PATIENCE_MS = 1000 };
	int saved = errno;
	if (is_ready() && !on_gpu.captures)
		clock_collect(UINT32_MAX, PATIENCE_MS, measured);
	errno = saved;
}

void nvidia_finish(void)
{
	nvidia_context_ends();
}
