/* The application's launch: its twin with the same range, arguments, wait list and event; or the kernel itself. */
#include "launch.h"
#include "programs.h"
#include "timeline.h"

#include "runtime/cc/counters.h"
#include "runtime/cc/traces.h"
#include "runtime/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "launch"

cl_int enqueue(struct request *r, cl_kernel kernel, cl_event *event)
{
	uint64_t begin = clock_ns();
	cl_int result = r->global ? cl.clEnqueueNDRangeKernel(r->queue, kernel, r->dims, r->offset, r->global, r->local,
	                                                      r->wait_count, r->wait, event)
	                          : cl.clEnqueueTask(r->queue, kernel, r->wait_count, r->wait, event);
	r->not_ours_ns += clock_ns() - begin;
	return result;
}

static void CL_CALLBACK launch_completed(cl_event event, cl_int status, void *data)
{
	struct launch *l = data;
	cl_ulong start = 0, end = 0;
	l->status = status;
	if (l->boxed)
		start = boxed_event_completed(l->boxed, event);
	else if (l->profiled && status == CL_COMPLETE)
		cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
	if (start && cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS && end > start)
		l->measured_ns = end - start;
	worker_completed(l);
}

/* Work-groups, as far as the local size is known. Where the driver chooses it there could be as many as work-items: POCL has
 * groups of one where their number is prime. Where work-items have places, groups need no slot. */
static uint64_t upper_group_count(const struct launch *l)
{
	enum { MOST_OF_UNKNOWN = 65536 };
	uint64_t groups = 1;
	for (int d = 0; d < 3; d++)
		groups *= l->local[d] ? (l->global[d] + l->local[d] - 1) / l->local[d] : l->global[d];
	return !l->local[0] && groups > MOST_OF_UNKNOWN ? MOST_OF_UNKNOWN : groups;
}

static size_t at_most(uint64_t wanted, uint64_t room)
{
	uint64_t n = wanted > room ? room : wanted;
	return n ? (size_t)n : 1;
}

/*
 * A slot for every group and a place for every work-item where that fits a quarter of the bound; else groups share slots
 * and may lose counts, or only the first work-items are counted.
 */
static void choose_size(struct launch *l)
{
	const struct artifact *a = l->artifact;
	uint64_t room = runtime.options.counter_memory.number / 4 / sizeof(uint64_t), items = 1;
	if (!a->counts_by_item || l->facts->summed) {
		l->slots = at_most(upper_group_count(l), room / (launch_columns(l) + 1));
		return;
	}
	for (int d = 0; d < 3; d++)
		items *= l->global[d];
	size_t words = l->facts->words;
	l->slots = at_most(upper_group_count(l), words ? room / 2 : room);
	l->places = words ? at_most(items, (room - room / 2) * 2 / words) : 0;
}

/* When the bound is reached, launches that end make room; but nothing may depend on our waiting. */
struct counter_buffer *take_buffer(const struct request *r, struct context_pool *pool, cl_device_id device,
                                   enum buffer_kind kind, size_t words)
{
	enum { PATIENCE_MS = 4000, ROUNDS = 50 }; /* one launch may well take seconds, and minutes on a busy machine */
	uint64_t moves = worker_moves();
	struct counter_buffer *b = buffer_take(pool, device, kind, words);
	if (b)
		return b;
	cl.clFlush(r->queue);
	while (!b && worker_wait_progress(moves, PATIENCE_MS, ROUNDS)) {
		moves = worker_moves();
		b = buffer_take(pool, device, kind, words);
	}
	return b;
}

/* What addresses may be computed from. A number of 8 bytes that could be a handle is taken for a buffer, which drivers
 * align. */
static void keep_arguments(struct launch *l, const struct kernel *k)
{
	l->argument_count = k->arg_count;
	for (size_t i = 0; i < k->arg_count; i++) {
		const struct kernel_arg *a = &k->args[i];
		uint64_t value = 0;
		l->arguments_known[i] = a->kind == ARG_SVM || (a->kind == ARG_VALUE && a->size <= sizeof value);
		if (l->arguments_known[i] && a->kind == ARG_VALUE && a->value)
			memcpy(&value, a->value, a->size);
		if (a->kind == ARG_SVM || (a->size == sizeof value && value >> 32))
			value = (uint64_t)(i + 1) << 40;
		l->argument_values[i] = value;
	}
}

static struct launch *launch_new(const struct kernel *k, const struct request *r, const struct kernel_twin *t)
{
	struct launch *l = calloc(1, sizeof *l + k->arg_count * (sizeof(uint64_t) + sizeof(bool)));
	if (!l || !(l->kernel_name = strdup(k->name))) {
		free(l);
		return NULL;
	}
	l->argument_values = (uint64_t *)(l + 1);
	l->arguments_known = (bool *)(l->argument_values + k->arg_count);
	keep_arguments(l, k);
	for (cl_uint d = 0; d < 3; d++) {
		l->global[d] = r->global && d < r->dims ? r->global[d] : 1;
		l->local[d] = !r->global || (r->local && d < r->dims) ? (r->global ? r->local[d] : 1) : r->local ? 1 : 0;
	}
	for (size_t i = 0; i < k->arg_count; i++)
		if (k->args[i].kind == ARG_LOCAL)
			l->local_bytes += k->args[i].size;
	l->artifact = t->twin->artifact;
	l->artifact->refs++;
	l->facts = t->facts;
	return l;
}

void launch_free(struct launch *l)
{
	artifact_release(l->artifact);
	free(l->kernel_name);
	free(l->argument_bytes);
	free(l);
}

static cl_int set_box(struct kernel_twin *t, const cl_ulong16 *box)
{
	static const cl_ulong16 whole; /* the device's own answers are right */
	if (t->box_argument < 0 || (t->whole && !box))
		return CL_SUCCESS;
	t->whole = false;
	cl_int code = cl.clSetKernelArg(t->kernel, (cl_uint)t->box_argument, sizeof whole, box ? box : &whole);
	t->whole = code == CL_SUCCESS && !box;
	return code;
}

static cl_int set_sizes(struct kernel_twin *t, const struct launch *l)
{
	const cl_ulong sizes[2] = {l->slots, l->places};
	cl_int code = CL_SUCCESS;
	if (!l->artifact->counts_by_item || (t->sizes_set && !memcmp(t->sizes, sizes, sizeof sizes)))
		return CL_SUCCESS;
	for (cl_uint i = 0; i < 2 && code == CL_SUCCESS; i++)
		code = cl.clSetKernelArg(t->kernel, t->facts->arguments + 1 + i, sizeof sizes[i], &sizes[i]);
	memcpy(t->sizes, sizes, sizeof sizes);
	t->sizes_set = code == CL_SUCCESS;
	return code;
}

cl_int set_arguments(struct kernel_twin *t, const struct launch *l, const cl_ulong16 *box)
{
	cl_int code = cl.clSetKernelArg(t->kernel, t->facts->arguments, sizeof l->buffer->mem, &l->buffer->mem);
	if (code == CL_SUCCESS)
		code = set_sizes(t, l);
	return code == CL_SUCCESS ? set_box(t, box) : code;
}

/* The counting twin over the whole launch. */
static cl_int enqueue_whole(struct request *r, struct kernel_twin *t, const struct launch *l, cl_event *event,
                            struct gs_error *why)
{
	cl_int code = set_arguments(t, l, NULL);
	if (code != CL_SUCCESS) {
		gs_fail(why, EIO, "the driver refuses the counters of the annotated kernel");
		return code;
	}
	code = enqueue(r, t->kernel, event);
	if (code != CL_SUCCESS)
		gs_fail(why, EIO, "the driver refuses to launch the annotated kernel (%d)", code);
	return code;
}

static void give_back_buffers(struct launch *l)
{
	if (l->buffer)
		buffer_give_back(l->buffer, COUNTER_HEADER_WORDS);
	if (l->trace_buffer)
		buffer_give_back(l->trace_buffer, TRACE_HEADER_WORDS);
	l->buffer = l->trace_buffer = NULL;
}

/* Traced if that is due and possible. *started: groups are running, whatever the result. */
static cl_int enqueue_twin(struct kernel *k, struct request *r, struct kernel_twin *t, cl_device_id device, struct launch *l,
                           cl_event *mine, bool app_wants_event, bool *started, struct gs_error *why)
{
	struct trace_plan plan;
	cl_int code;
	if (buffer_set_slots(l->buffer, l->slots))
		return gs_fail(why, EIO, "the driver refuses the counters of the annotated kernel"), CL_OUT_OF_RESOURCES;
	if (plan_trace(k, r, device, l, &plan)) {
		code = enqueue_traced(r, t, l, &plan, mine, app_wants_event, started);
		if (code == CL_SUCCESS || *started)
			return code;
		log_debug("%s is not traced: the driver does not take the launch (%d)", l->kernel_name, code);
	}
	if (l->trace_buffer)
		buffer_give_back(l->trace_buffer, TRACE_HEADER_WORDS);
	l->trace_buffer = NULL;
	code = enqueue_whole(r, t, l, mine, why);
	*started = code == CL_SUCCESS;
	return code;
}

static struct schedule_command *log_launch(const struct request *r, const char *kernel, const cl_event *event)
{
	return timeline_launch(kernel, &(struct command_call){r->queue, r->wait_count, r->wait, event, false, r->begin_ns});
}

/* The launch is the worker's from here on, and may be gone. The driver keeps an event until its callbacks have run, so we
 * keep no reference: the application finds its objects with the counts that it expects. */
static void hand_over(const struct request *r, struct launch *l, cl_event mine, cl_event *event)
{
	l->profiled = r->properties & CL_QUEUE_PROFILING_ENABLE;
	l->command = log_launch(r, l->kernel_name, event ? &mine : NULL);
	if (runtime.model.hierarchy)
		trace_launched(l->facts, l->global, l->local);
	worker_launched(l);
	bool told = cl.clSetEventCallback(mine, CL_COMPLETE, launch_completed, l) == CL_SUCCESS;
	if (!told)
		log_info("the driver takes no callback for an event: the launch will not be modelled");
	if (event)
		*event = mine;
	else
		cl.clReleaseEvent(mine);
}

/* With the kernel's lock held, so that nobody sets other arguments before the twin is enqueued. The launch is given away. */
static bool launch_with(struct kernel *k, struct request *r, struct kernel_twin *t, cl_device_id device, struct launch *l,
                        cl_int *result, cl_event *event, struct gs_error *why)
{
	cl_event mine = NULL;
	bool started = false;
	choose_size(l);
	l->buffer = take_buffer(r, k->build->pool, device, COUNTER_BUFFER, launch_words(l));
	if (!l->buffer) {
		gs_fail(why, ENOMEM, "its counters do not fit (GPUSIM_COUNTER_MEMORY)");
	} else {
		*result = enqueue_twin(k, r, t, device, l, &mine, event != NULL, &started, why);
		if (started)
			t->launched = true;
		if (*result == CL_SUCCESS) {
			hand_over(r, l, mine, event);
			return true;
		}
	}
	if (started) {
		/* A part of it runs, with our memory, and the rest never will: the application is told what the driver says. */
		log_warning("%s: the driver has taken only a part of the launch (%d)", l->kernel_name, *result);
		return true;
	}
	give_back_buffers(l);
	launch_free(l);
	return false;
}

static bool launch_twin(struct kernel *k, struct request *r, cl_int *result, cl_event *event, struct gs_error *why)
{
	cl_device_id device = NULL;
	if (cl.clGetCommandQueueInfo(r->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
	    r->dims < 1 || r->dims > 3)
		return gs_fail(why, EINVAL, "the launch is not valid"), false;
	if (!device_wanted(device))
		return gs_fail(why, ENOTSUP, "its device is not the one of GPUSIM_DEVICE"), false;
	cl.clGetCommandQueueInfo(r->queue, CL_QUEUE_PROPERTIES, sizeof r->properties, &r->properties, NULL);
	pthread_mutex_lock(&k->lock);
	uint64_t begin = clock_ns();
	struct kernel_twin *t = kernel_prepare_twin(k, device, false, why);
	if (t && !t->launched) /* the first time it waited for the build */
		r->not_ours_ns += clock_ns() - begin;
	struct launch *l = t ? launch_new(k, r, t) : NULL;
	if (t && !l)
		gs_fail(why, ENOMEM, "out of memory");
	bool launched = l && launch_with(k, r, t, device, l, result, event, why);
	pthread_mutex_unlock(&k->lock);
	return launched;
}

cl_int kernel_launch(cl_command_queue queue, cl_kernel handle, cl_uint dims, const size_t *offset, const size_t *global,
                     const size_t *local, cl_uint wait_count, const cl_event *wait, cl_event *event)
{
	uint64_t begin = clock_ns();
	struct request r = {queue, dims, offset, global, local, wait_count, wait, 0, begin, 0};
	struct gs_error why = {""};
	struct kernel *k = kernel_find(handle);
	int saved = errno;
	cl_int result = CL_SUCCESS;
	if (k && !k->wanted)
		gs_fail(&why, 0, "not among GPUSIM_KERNELS");
	else if (k && k->why)
		gs_fail(&why, 0, "%s", k->why);
	else if (k && launch_twin(k, &r, &result, event, &why))
		goto out;
	errno = saved;
	result = enqueue(&r, handle, event);
	saved = errno;
	if (result == CL_SUCCESS) {
		const char *name = k && k->name ? k->name : "(unknown)";
		launch_not_modelled(name, k ? why.text : "a kernel that we do not know");
		timeline_resolve(log_launch(&r, name, event), NULL);
	}
out:
	if (k)
		kernel_unref(k);
	tool_cost.launches++;
	tool_cost.launch_ns += clock_ns() - begin - r.not_ours_ns;
	errno = saved;
	return result;
}
