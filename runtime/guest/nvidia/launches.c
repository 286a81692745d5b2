#include "runtime/guest/nvidia/launches.h"

#include "runtime/config/log.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/nvidia/calls.h"
#include "runtime/guest/cuda/launches.h"
#include "runtime/guest/launches/worker.h"
#include "runtime/guest/nvidia/clock.h"
#include "runtime/guest/nvidia/graphs.h"
#include "runtime/guest/nvidia/twins.h"
#include "runtime/nvidia.h"
#include "runtime/process/thread.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

static struct {
	pthread_once_t once;
	void *(*find)(const char *name);
	atomic_bool ready;
	atomic_int captures;
} on_gpu = {.once = PTHREAD_ONCE_INIT};

static void start_once(void)
{
	runtime_start(); /* without OpenCL, whose drivers nobody needs here */
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

/* ---- what the program loads ---- */

void nvidia_used(void)
{
	twin_thread(is_ready());
}

void nvidia_loaded(const void *handle, const void *image, bool library)
{
	int saved = errno;
	nvidia_used();
	kernels_loaded(handle, image, library);
	errno = saved;
}

void nvidia_module_alias(const void *handle, const void *same)
{
	kernels_module_alias(handle, same);
}

void nvidia_function_found(const void *function, const void *module, const char *name)
{
	int saved = errno;
	kernels_found(function, module, name);
	errno = saved;
}

void nvidia_function_alias(const void *function, const void *same)
{
	kernels_alias(function, same);
}

void nvidia_memory_made(void *address, uint64_t bytes, bool host)
{
	int saved = errno;
	nvidia_used();
	if (on_gpu.captures) /* it may be a graph's, which is there while that runs */
		twin_memory_unknown("an allocation of a graph");
	twin_memory_made(address, bytes, host);
	errno = saved;
}

void nvidia_memory_gone(const void *address)
{
	nvidia_used();
	twin_memory_gone(address);
}

void nvidia_memory_unknown(const char *function)
{
	nvidia_used();
	twin_memory_unknown(function);
}

void nvidia_stream_made(void *stream, unsigned flags)
{
	enum { NON_BLOCKING = 1 };
	if (flags & NON_BLOCKING)
		twin_stream_made(stream);
}

void nvidia_stream_gone(void *stream)
{
	nvidia_used();
	twin_stream_gone(stream);
}

/* ---- a launch ---- */

struct gpu_launch {
	struct nvidia_launch what;
	struct gpu_kernel *kernel; /* NULL: a graph */
	struct nvidia_measurement *measurement; /* NULL: it is not measured */
	struct launch *record;     /* for the models; the worker's from the launch on. NULL: it is not modelled */
	const char *why;           /* that */
};

static struct measured_shape shape_of(const struct gpu_launch *g)
{
	struct measured_shape s = {.local_bytes = g->what.dynamic_shared};
	for (int d = 0; d < 3; d++) {
		s.local[d] = g->what.block[d];
		s.global[d] = (uint64_t)g->what.grid[d] * g->what.block[d];
	}
	return s;
}

static const char *title_of(const struct gpu_launch *g)
{
	return g->kernel ? g->kernel->title : "(graph)";
}

/* It has ended, or nothing more is known of it. */
static void complete(struct gpu_launch *g, uint64_t ns)
{
	struct measured_shape shape = shape_of(g);
	if (ns)
		stats_add_measured(&simulation.stats, title_of(g), g->record ? NULL : g->why, &shape, ns);
	if (g->record) {
		g->record->record.measured_ns = ns;
		g->record->times.own_end_ns = clock_ns();
		g->record->status = CL_COMPLETE;
		worker_completed(g->record);
	}
	free(g);
}

static void measured(void *owner, uint64_t ns)
{
	complete(owner, ns);
}

/* The driver loads a kernel when it is first used, and that must not count. */
static void load_kernel(const void *function)
{
	int registers;
	enum { NUM_REGS = 4 };
	if (nvidia.function_attribute)
		nvidia.function_attribute(&registers, NUM_REGS, function);
}

/* ---- its record ---- */

/* The parameters in one block, as the kernel sees them. */
static bool take_parameters(const struct nvidia_launch *l, const struct lifted_kernel *k, uint8_t *out)
{
	enum { BUFFER = 1, BUFFER_BYTES = 2, MOST = 8 };
	const void *buffer = NULL;
	size_t bytes = 0;
	for (uint32_t p = 0; l->parameters && p < k->parameter_count; p++)
		memcpy(out + k->parameters[p].offset, l->parameters[p], k->parameters[p].bytes);
	for (unsigned i = 0; !l->parameters && l->extra && l->extra[i] && i < MOST; i += 2) {
		buffer = l->extra[i] == (void *)BUFFER ? l->extra[i + 1] : buffer;
		bytes = l->extra[i] == (void *)BUFFER_BYTES ? *(size_t *)l->extra[i + 1] : bytes;
	}
	if (buffer && bytes >= k->sizes.parameter_bytes)
		memcpy(out, buffer, k->sizes.parameter_bytes);
	return l->parameters || !k->parameter_count || (buffer && bytes >= k->sizes.parameter_bytes);
}

/* As launches of lifted kernels on the CPU are recorded (runtime/guest/cuda/launches.h). */
static struct launch *record_new(struct gpu_launch *g, uint8_t *parameters, uint64_t *pairs, struct twin_bases *bases)
{
	struct launch_command c = {.kernel = g->kernel->kernel, .parameters = parameters, .bases = pairs};
	for (int d = 0; d < 3; d++)
		c.words.grid[d] = g->what.grid[d];
	struct launch *l = launch_record_new(&c, g->what.block, g->what.dynamic_shared);
	*bases = (struct twin_bases){pairs, c.words.base_count};
	return l;
}

/* Of each kernel and size the 1st, 2nd, 3rd, 5th, 9th and so on tell most. With the lock held. */
static bool is_next(struct gpu_kernel *k, const struct measured_shape *shape)
{
	enum { MOST_SIZES = 64 };
	for (unsigned i = 0; i < k->size_count; i++)
		if (!memcmp(&k->sizes[i].shape, shape, sizeof *shape)) {
			unsigned n = ++k->sizes[i].launches;
			return !(n & (n - 1));
		}
	if (k->size_count == MOST_SIZES)
		return false;
	struct gpu_sizes *larger = realloc(k->sizes, (k->size_count + 1) * sizeof *larger);
	if (!larger)
		return false;
	k->sizes = larger;
	k->sizes[k->size_count++] = (struct gpu_sizes){*shape, 0};
	return true;
}

static bool is_counted(struct gpu_kernel *k, const struct measured_shape *shape)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	bool counted = is_next(k, shape);
	pthread_mutex_unlock(&lock);
	return counted;
}

static void make_record(struct gpu_launch *g)
{
	static const char no_twin[] = "its twin did not run";
	struct gpu_kernel *k = g->kernel;
	struct measured_shape shape = shape_of(g);
	enum { SLACK = 16 };
	uint8_t *parameters = calloc(1, k->kernel->lifted->sizes.parameter_bytes + SLACK);
	uint64_t *pairs = calloc(launch_most_bases(k->kernel) * 2 + 1, sizeof *pairs);
	struct twin_bases bases = {0};
	if (parameters && pairs && take_parameters(&g->what, k->kernel->lifted, parameters) && worker_ready())
		g->record = record_new(g, parameters, pairs, &bases);
	g->why = "its parameters are not known";
	if (g->record) {
		const char *why = !nvidia_can_count()     ? "the driver lacks functions for that"
		                  : is_counted(k, &shape) ? twin_count(k, &g->what, parameters, &bases, g->record)
		                                          : no_twin;
		g->record->alone = why;
		if (why && why != no_twin)
			log_info("a launch of %s is not counted: %s", k->title, why);
	}
	free(parameters);
	free(pairs);
}

/* ---- from the interposer ---- */

/* The driver has not looked at it yet, and refuses one without threads. */
static bool has_threads(const struct nvidia_launch *l)
{
	bool none = false;
	for (int d = 0; d < 3; d++)
		none = none || !l->grid[d] || !l->block[d];
	return !l->function || !none;
}

struct gpu_launch *nvidia_launch_begins(const struct nvidia_launch *l)
{
	int saved = errno;
	enum { EACH_TIME = 8 };
	struct gpu_launch *g = is_ready() && !on_gpu.captures && has_threads(l) ? calloc(1, sizeof *g) : NULL;
	if (g) {
		uint64_t begin = clock_ns();
		nvidia_used();
		clock_collect(EACH_TIME, 0, measured);
		g->what = *l;
		g->why = "a graph is measured as a whole";
		g->kernel = l->function ? kernels_get(l->function) : NULL;
		if (g->kernel && kernels_ask(g->kernel))
			load_kernel(l->function);
		if (g->kernel && g->kernel->kernel)
			make_record(g);
		else if (g->kernel)
			g->why = g->kernel->why ? g->kernel->why : "out of memory";
		g->measurement = clock_begins(l->stream);
		simulation.cost.launch_ns += clock_ns() - begin;
	}
	errno = saved;
	return g;
}

static void discard(struct gpu_launch *g)
{
	if (g->measurement)
		clock_abandon(g->measurement);
	if (g->record) {
		launch_give_back(g->record);
		launch_free(g->record);
	}
	free(g);
}

void nvidia_launch_ends(struct gpu_launch *g, int result)
{
	int saved = errno;
	if (g && result) {
		discard(g);
	} else if (g) {
		struct measured_shape shape = shape_of(g);
		stats_add_shape(&simulation.stats, title_of(g), &shape);
		simulation.cost.launches++;
		if (g->record) {
			g->record->times.enqueued_ns = clock_ns();
			worker_launched(g->record);
		} else {
			launch_not_modelled(title_of(g), g->why);
		}
		if (!g->kernel)
			graphs_launched(g->what.graph);
		if (!g->measurement || clock_ends(g->measurement, g->what.stream, g))
			complete(g, 0);
	}
	errno = saved;
}

void nvidia_graph_made(const void *executable, void *graph)
{
	int saved = errno;
	nvidia_used();
	if (is_ready())
		graphs_made(executable, graph);
	errno = saved;
}

void nvidia_graph_gone(const void *executable)
{
	int saved = errno;
	graphs_gone(executable);
	errno = saved;
}

void nvidia_captures(int change)
{
	nvidia_used();
	on_gpu.captures += change;
}

void nvidia_context_ends(void)
{
	enum { PATIENCE_MS = 1000 };
	int saved = errno;
	nvidia_used();
	if (is_ready() && !on_gpu.captures)
		clock_collect(UINT32_MAX, PATIENCE_MS, measured);
	twin_context_ends();
	errno = saved;
}

void nvidia_finish(void)
{
	nvidia_context_ends();
	if (is_ready())
		clock_give_up(measured);
}
