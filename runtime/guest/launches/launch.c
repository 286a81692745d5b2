/*
 * The application's launch. The twin runs in place of the kernel, or on copies before it, or not at all (ways.c). The application gets
 * the event of one command. That command has the wait list, range and arguments of the application's call.
 */
#include "runtime/guest/launches/launch.h"

#include "runtime/config/log.h"
#include "runtime/format/counters.h"
#include "runtime/guest/launches/commands.h"
#include "runtime/guest/launches/images.h"
#include "runtime/guest/launches/shadow.h"
#include "runtime/guest/launches/traced.h"
#include "runtime/guest/launches/unsized.h"
#include "runtime/guest/launches/verify.h"
#include "runtime/guest/launches/ways.h"
#include "runtime/guest/launches/worker.h"
#include "runtime/guest/driver/device.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/support/memory_log.h"
#include "runtime/guest/support/trace_choice.h"
#include "runtime/guest/launches/timeline.h"
#include "runtime/model/profile.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/timeline/schedule.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <math.h>
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

static void one_event_completed(struct launch *l)
{
	if (--l->pending)
		return;
	if (l->beside_twins) /* the driver's compiler may have been at work */
		run_first_at_exit();
	worker_completed(l);
}

static void CL_CALLBACK launch_completed(cl_event event, cl_int status, void *data)
{
	struct launch *l = data;
	cl_ulong start = 0, end = 0;
	l->status = status;
	l->times.own_end_ns = clock_ns();
	if (l->profiled && status == CL_COMPLETE &&
	    cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) == CL_SUCCESS &&
	    cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS && end > start)
		l->record.measured_ns = end - start;
	one_event_completed(l);
}

/* The status does not matter: the launch depends on its parts, or they depend on it. */
static void CL_CALLBACK part_completed(cl_event event, cl_int status, void *data)
{
	struct launch_part *part = data;
	(void)event;
	(void)status;
	*part->end_ns = clock_ns();
	one_event_completed(part->launch);
}

/* The number of work-groups, or the most that there can be. If the driver chooses the local size, there could be as many groups
 * as work-items: POCL makes groups of one work-item if their number is prime. Where work-items have places, groups need no
 * slot. */
static uint64_t upper_group_count(const struct launch *l)
{
	enum { MOST_OF_UNKNOWN = 65536 };
	uint64_t groups = 1;
	for (int d = 0; d < 3; d++)
		groups *= l->record.local[d] ? (l->record.global[d] + l->record.local[d] - 1) / l->record.local[d] : l->record.global[d];
	return !l->record.local[0] && groups > MOST_OF_UNKNOWN ? MOST_OF_UNKNOWN : groups;
}

/*
 * Gives a slot to every group and a place to every work-item, if that fits so many bytes. Otherwise groups share slots and may lose counts, or only
 * the first work-items are counted.
 */
static void choose_size(struct launch *l, uint64_t bytes)
{
	uint64_t items = 1;
	for (int d = 0; d < 3; d++)
		items *= l->record.global[d];
	launch_share_room(&l->record, upper_group_count(l), items, bytes / sizeof(uint64_t));
}

const char no_room_for_counters[] = "there was no room for its counters (GPUSIM_COUNTER_MEMORY)";

/* Launches of the kernel up to now that have about the same number of work-items; sizes are in steps of a fifth. */
static unsigned count_by_size(const struct launch *l)
{
	enum { STEPS_PER_DOUBLING = 4 };
	double items = (double)l->record.global[0] * (double)l->record.global[1] * (double)l->record.global[2];
	double step = items > 1 ? log2(items) * STEPS_PER_DOUBLING : 0;
	return l->record.facts->launches_by_size[step < LAUNCH_SIZES - 1 ? (unsigned)step : LAUNCH_SIZES - 1]++;
}

/* Whether no launch of the kernel has had these arguments. Of more than ARGUMENTS_COUNTED, nobody knows. */
static bool has_new_arguments(const struct launch *l)
{
	atomic_uint_fast64_t *known = l->record.facts->arguments_counted;
	uint64_t own = trace_arguments(l->record.argument_values, l->record.argument_count) | 1;
	for (size_t i = 0; i < ARGUMENTS_COUNTED; i++) {
		uint_fast64_t there = 0;
		if (atomic_compare_exchange_strong(&known[i], &there, own))
			return true;
		if (there == own)
			return false;
	}
	return false;
}

/* Buffers for so many bytes of counters may be taken until so much of the bound is in use. */
static struct counter_buffer *take_counters(struct launch *l, struct context_pool *pool, cl_device_id device, uint64_t bytes, uint64_t most)
{
	choose_size(l, bytes);
	uint64_t size = launch_words(&l->record) * sizeof(uint64_t);
	return buffers_in_use(COUNTER_BUFFER) + size <= most ? buffer_take(pool, device, COUNTER_BUFFER, launch_words(&l->record)) : NULL;
}

/*
 * Where half of the memory for counters is in use, the program launches faster than launches are modelled. The rest is then for launches
 * that tell most about those without counters: of each kernel and size the 1st, 2nd, 4th, 8th and so on, and the first with other arguments. An
 * eighth is kept for such launches alone, with few counters each, so that no kernel goes without.
 */
unsigned launch_take_counters(struct launch *l, struct context_pool *pool, cl_device_id device)
{
	const uint64_t bound = simulation.options.counter_memory.number, usual = bound / 4, least = bound / 1024;
	unsigned seen = count_by_size(l);
	bool tells_most = has_new_arguments(l) || !(seen & (seen + 1));
	l->buffer = take_counters(l, pool, device, usual, tells_most ? bound - bound / 8 : bound / 2 + usual);
	if (!l->buffer && tells_most)
		l->buffer = take_counters(l, pool, device, least, bound);
	return seen;
}

/* Keeps the arguments from which addresses may be computed. A number of 8 bytes may be a handle. It is then taken for a buffer,
 * and drivers align buffers. */
static void keep_arguments(struct launch *l, const struct kernel *k)
{
	for (size_t i = 0; i < k->arg_count; i++) {
		const struct kernel_arg *a = &k->args[i];
		uint64_t value = 0;
		l->record.arguments_known[i] = a->kind == ARG_SVM || (a->kind == ARG_VALUE && a->size <= sizeof value);
		if (l->record.arguments_known[i] && a->kind == ARG_VALUE && a->value)
			memcpy(&value, a->value, a->size);
		if (a->kind == ARG_SVM || (a->size == sizeof value && value >> 32))
			value = (uint64_t)(i + 1) << 40;
		l->record.argument_values[i] = value;
	}
}

/* The number of bytes that an argument points to; 0: none, or not known. To ask about anything but memory could crash. */
static uint64_t argument_size(const struct artifact_kernel *facts, const struct kernel_arg *a, size_t index)
{
	enum argument_kind kind = index < facts->arguments ? facts->argument_kinds[index] : ARGUMENT_OTHER;
	cl_mem mem = NULL;
	size_t bytes = 0;
	if (a->kind == ARG_LOCAL)
		return a->size;
	if (a->kind != ARG_VALUE || a->size != sizeof mem || kind == ARGUMENT_OTHER || kind == ARGUMENT_VALUE || kind == ARGUMENT_LOCAL ||
	    kind == ARGUMENT_SAMPLER)
		return 0;
	memcpy(&mem, a->value, sizeof mem);
	if (mem && (kind == ARGUMENT_READ || kind == ARGUMENT_WRITE))
		return image_argument_shape(mem, kind == ARGUMENT_WRITE);
	if (mem)
		cl.clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
	return bytes;
}

static void keep_sizes(struct launch *l, const struct kernel *k, cl_command_queue queue)
{
	for (size_t i = 0; i < k->arg_count; i++) {
		cl_mem mem;
		l->record.argument_bytes[i] = argument_size(l->record.facts, &k->args[i], i);
		if (!l->record.argument_bytes[i] || k->args[i].kind == ARG_LOCAL)
			continue;
		memcpy(&mem, k->args[i].value, sizeof mem); /* argument_size knows that it is one */
		memory_log_used(whole_memory(mem), &l->record.argument_memory[i]);
		memory_at(mem, queue);
	}
}

struct launch *launch_new(struct artifact *a, struct artifact_kernel *facts, const char *name, size_t arguments)
{
	size_t each = 2 * sizeof(uint64_t) + sizeof(struct argument_memory) + sizeof(struct argument_pages) + sizeof(bool);
	struct launch *l = calloc(1, sizeof *l + arguments * each);
	if (!l || !(l->record.kernel_name = strdup(name))) {
		free(l);
		return NULL;
	}
	l->record.argument_values = (uint64_t *)(l + 1);
	l->record.argument_bytes = l->record.argument_values + arguments;
	l->record.argument_memory = (struct argument_memory *)(l->record.argument_bytes + arguments);
	l->record.argument_pages = (struct argument_pages *)(l->record.argument_memory + arguments);
	l->record.arguments_known = (bool *)(l->record.argument_pages + arguments);
	l->record.argument_count = arguments;
	l->record.artifact = a;
	a->refs++;
	l->record.facts = facts;
	return l;
}

static struct launch *launch_of_twin(const struct kernel *k, const struct request *r, const struct kernel_twin *t, cl_device_id device)
{
	struct launch *l = launch_new(t->twin->artifact, t->facts, k->name, k->arg_count);
	if (!l)
		return NULL;
	keep_arguments(l, k);
	for (cl_uint d = 0; d < 3; d++) {
		l->record.global[d] = r->global && d < r->dims ? r->global[d] : 1;
		l->record.local[d] = !r->global || (r->local && d < r->dims) ? (r->global ? r->local[d] : 1) : r->local ? 1 : 0;
	}
	for (size_t i = 0; i < k->arg_count; i++)
		if (k->args[i].kind == ARG_LOCAL)
			l->record.local_bytes += k->args[i].size;
	keep_sizes(l, k, r->queue);
	choose_local_size(l, k, r, t, device);
	return l;
}

void launch_free(struct launch *l)
{
	artifact_release(l->record.artifact);
	free(l->record.kernel_name);
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

static cl_int set_sizes(struct kernel_twin *t, const struct artifact *a, const struct counter_use *counters)
{
	const cl_ulong sizes[2] = {counters->slots, counters->places};
	cl_int code = CL_SUCCESS;
	if (!a->counts_by_item || (t->sizes_set && !memcmp(t->sizes, sizes, sizeof sizes)))
		return CL_SUCCESS;
	for (cl_uint i = 0; i < 2 && code == CL_SUCCESS; i++)
		code = cl.clSetKernelArg(t->kernel, t->facts->arguments + 1 + i, sizeof sizes[i], &sizes[i]);
	memcpy(t->sizes, sizes, sizeof sizes);
	t->sizes_set = code == CL_SUCCESS;
	return code;
}

cl_int set_arguments(struct kernel_twin *t, const struct artifact *a, const struct counter_use *counters, const cl_ulong16 *box)
{
	if (buffer_set_slots(counters->buffer, counters->slots))
		return CL_OUT_OF_RESOURCES;
	cl_int code = cl.clSetKernelArg(t->kernel, t->facts->arguments, sizeof counters->buffer->mem, &counters->buffer->mem);
	if (code == CL_SUCCESS)
		code = set_sizes(t, a, counters);
	return code == CL_SUCCESS ? set_box(t, box) : code;
}

void launch_give_back(struct launch *l)
{
	/* Events first: releasing an event may need its device, and the device may go with the pool of the memory. */
	events_release(l->events, l->event_count);
	if (l->buffer)
		buffer_give_back(l->buffer, launch_words(&l->record));
	if (l->scratch)
		buffer_give_back(l->scratch, l->scratch->word_count);
	if (l->trace_buffer)
		buffer_give_back(l->trace_buffer, l->trace_buffer->word_count);
	trace_choice_free(l->choice);
	shadow_release(l->shadow);
	shadow_release(l->inputs);
	l->events = NULL;
	l->event_count = 0;
	l->buffer = l->scratch = l->trace_buffer = NULL;
	l->choice = NULL;
	l->shadow = l->inputs = NULL;
}

static struct schedule_command *log_launch(const struct request *r, const char *kernel, const cl_event *event)
{
	return timeline_launch(kernel, &(struct command_call){r->queue, r->wait_count, r->wait, event, false, r->begin_ns});
}

/* ---- enqueueing ---- */

/* In the shadow, the twin gets copies as arguments. Its next launch sets all of its arguments again. */
static cl_int set_copies(struct attempt *a, enum copy_of which, struct kernel_twin *t)
{
	t->applied = 0;
	return shadow_set(a->launch->shadow, which, &a->plan, t->kernel);
}

/* Copies the memory on which the kernel may run again. */
static cl_int copy_before(struct attempt *a)
{
	struct launch *l = a->launch;
	cl_int code = shadow_copy(l->shadow, COPY_BEFORE, &a->plan, &a->commands);
	if (code == CL_SUCCESS && l->inputs)
		a->runs_again = shadow_copy(l->inputs, COPY_BEFORE, a->inputs, &a->commands) == CL_SUCCESS;
	return code;
}

static void enqueue_traces(struct attempt *a)
{
	struct launch *l = a->launch;
	/* What the twin that counted has left is still to be compared. What the kernel leaves comes later. */
	enum copy_of which = a->way == WAY_VERIFY && a->trace.chosen ? COPY_AFTER : COPY_FOR_TWIN;
	cl_int code = shadow_copy(l->shadow, which, &a->plan, &a->commands);
	if (code == CL_SUCCESS && a->way == WAY_VERIFY && a->traced_counts)
		code = copy_before(a);
	if (code == CL_SUCCESS)
		code = set_copies(a, which, a->trace.twin);
	if (code == CL_SUCCESS)
		code = enqueue_traced(&a->commands, l, &a->trace);
	shadow_enqueued(&a->plan);
	l->times.first_traced = !a->trace.twin->launched;
	a->trace.twin->launched = true;
	a->traces_end = a->commands.count;
	if (code == CL_SUCCESS)
		return;
	log_debug("%s is not traced: the driver does not take the launch (%d)", l->record.kernel_name, code);
	l->void_trace = true;
	l->uncounted = l->uncounted || a->traced_counts;
}

/* Enqueues the twin that counts, with the arguments that are set on it. */
static cl_int enqueue_counting(struct attempt *a, cl_event *event)
{
	const struct launch *l = a->launch;
	const struct counter_use counters = {l->buffer, l->record.slots, l->record.places};
	struct request r = twin_request(a->request, l);
	r.wait_count = commands_wait(&a->commands, &r.wait);
	cl_int code = set_arguments(a->twin, l->record.artifact, &counters, NULL);
	if (code == CL_SUCCESS)
		code = enqueue(&r, a->twin->kernel, event);
	a->request->not_ours_ns = r.not_ours_ns;
	return code;
}

static void enqueue_in_shadow(struct attempt *a)
{
	struct launch *l = a->launch;
	cl_event event;
	cl_int code = shadow_copy(l->shadow, COPY_FOR_TWIN, &a->plan, &a->commands);
	if (code == CL_SUCCESS && a->way == WAY_VERIFY)
		code = copy_before(a);
	if (code == CL_SUCCESS)
		code = set_copies(a, COPY_FOR_TWIN, a->twin);
	if (code == CL_SUCCESS)
		code = enqueue_counting(a, &event);
	if (code == CL_SUCCESS)
		commands_done(&a->commands, event);
	shadow_enqueued(&a->plan);
	l->times.first_counted = !a->twin->launched;
	a->twin->launched = true;
	a->twin_end = a->commands.count;
	if (code == CL_SUCCESS)
		return;
	log_debug("%s is not counted: the driver does not take its twin (%d)", l->record.kernel_name, code);
	l->uncounted = true;
}

/* Enqueues the command whose event the application gets. */
static cl_int enqueue_own(struct attempt *a, cl_event *event)
{
	struct request r = *a->request;
	if (a->traced_in_place) {
		cl_int result = enqueue_traced(&a->commands, a->launch, &a->trace);
		*event = result == CL_SUCCESS && a->commands.count ? a->commands.events[--a->commands.count] : NULL;
		return *event || result != CL_SUCCESS ? result : CL_OUT_OF_HOST_MEMORY;
	}
	if (a->way == WAY_DIRECT)
		return enqueue_counting(a, event);
	r.wait_count = commands_wait(&a->commands, &r.wait);
	cl_int code = enqueue(&r, a->kernel->handle, event);
	a->request->not_ours_ns = r.not_ours_ns;
	return code;
}

/* The kernel is enqueued. What it writes is copied after it, and compared later. */
static void enqueue_snapshot(struct attempt *a, cl_event own)
{
	struct launch *l = a->launch;
	struct commands *c = &a->commands;
	cl.clRetainEvent(own);
	commands_done(c, own);
	bool copied = !l->uncounted && shadow_copy(l->shadow, COPY_AFTER, &a->plan, c) == CL_SUCCESS;
	l->verification = copied ? verification_new(a) : NULL;
	l->proof = l->verification ? a->proof : NULL;
	if (!l->verification)
		no_verdict(a);
}

static void call_back(cl_event event, void (CL_CALLBACK *what)(cl_event, cl_int, void *), void *data)
{
	if (cl.clSetEventCallback(event, CL_COMPLETE, what, data) != CL_SUCCESS)
		log_info("the driver takes no callback for an event: the launch will not be modelled");
}

/* Notes when our commands up to `last` have ended. NULL: there are none. */
static void follow_part(struct launch *l, struct launch_part *part, uint64_t *end_ns, cl_event last)
{
	*part = (struct launch_part){l, end_ns};
	if (last)
		call_back(last, part_completed, part);
}

/* The driver may have to compile the twin that takes the kernel's place. */
static bool is_first(const struct attempt *a)
{
	return a->way == WAY_DIRECT && !(a->traced_in_place ? a->trace.twin : a->twin)->launched;
}

/* From here on the launch belongs to the worker, and may already be freed. The driver keeps an event until its callbacks have
 * run, so we keep no reference. The application thus finds the reference counts that it expects. */
static void hand_over(struct attempt *a, cl_event mine, cl_event *event)
{
	struct launch *l = a->launch;
	const struct request *r = a->request;
	cl_event copies = l->verification && a->commands.count ? a->commands.events[a->commands.count - 1] : NULL;
	cl_event traces = a->traces_end ? a->commands.events[a->traces_end - 1] : NULL;
	cl_event twin = a->twin_end && a->twin_end != a->traces_end ? a->commands.events[a->twin_end - 1] : NULL;
	l->events = a->commands.events;
	l->event_count = a->commands.count;
	l->profiled = r->properties & CL_QUEUE_PROFILING_ENABLE;
	l->command = log_launch(r, l->record.kernel_name, event ? &mine : NULL);
	l->pending = 1 + (copies != NULL) + (traces != NULL) + (twin != NULL);
	l->times.enqueued_ns = clock_ns();
	l->times.in_shadow = a->way != WAY_DIRECT;
	l->record.in_shadow = l->times.in_shadow && !l->alone;
	l->beside_twins = l->record.in_shadow || a->traced || is_first(a);
	worker_launched(l);
	follow_part(l, &l->traces, &l->times.traces_end_ns, traces);
	follow_part(l, &l->twin, &l->times.twin_end_ns, twin);
	follow_part(l, &l->copies, &l->times.copies_end_ns, copies);
	call_back(mine, launch_completed, l);
	if (event)
		*event = mine;
	else
		cl.clReleaseEvent(mine);
}

/* Returns true if the driver was asked. *result is its answer. */
static bool enqueue_all(struct attempt *a, cl_int *result, cl_event *event, struct gs_error *err)
{
	struct launch *l = a->launch;
	cl_event mine = NULL;
	commands_begin(&a->commands, a->request);
	if (a->traced && !a->trace.chosen)
		enqueue_traces(a);
	if ((a->way == WAY_SHADOW || a->way == WAY_VERIFY) && !a->traced_counts)
		enqueue_in_shadow(a);
	if (a->traced && a->trace.chosen) /* by what was counted */
		enqueue_traces(a);
	*result = enqueue_own(a, &mine);
	bool taken = *result == CL_SUCCESS, ours = a->commands.count;
	if (taken && a->way == WAY_VERIFY)
		enqueue_snapshot(a, mine);
	else
		no_verdict(a);
	if (taken) {
		hand_over(a, mine, event);
		return true;
	}
	events_release(a->commands.events, a->commands.count);
	if (ours) /* some of these commands may still run and use our memory, so it is never freed */
		log_debug("%s: the driver refuses the launch (%d) after it has taken commands of ours", l->record.kernel_name, *result);
	gs_fail(err, EIO, "the driver refuses to launch the annotated kernel (%d)", *result);
	if (ours)
		a->launch = NULL;
	return ours && a->way != WAY_DIRECT;
}

/* The kernel runs without a twin, and its estimate follows from other launches. Returns true if the driver has taken it. */
static bool enqueue_alone(struct attempt *a, cl_int *result, cl_event *event, struct gs_error *err)
{
	cl_event mine = NULL;
	gs_fail(err, ENOMEM, "%s", a->alone);
	if (program_is_ending())
		return false;
	launch_give_back(a->launch);
	a->launch->alone = a->alone;
	a->way = WAY_ALONE;
	commands_begin(&a->commands, a->request);
	*result = enqueue_own(a, &mine);
	if (*result == CL_SUCCESS)
		hand_over(a, mine, event);
	return *result == CL_SUCCESS;
}

/* With the kernel's lock held, so that no other thread sets arguments before the twin is enqueued. Takes the launch over. */
static bool launch_with(struct kernel *k, struct request *r, struct kernel_twin *t, cl_device_id device, struct launch *l,
                        cl_int *result, cl_event *event, struct gs_error *err)
{
	struct attempt a = {.kernel = k, .request = r, .twin = t, .device = device, .launch = l};
	bool asked = false;
	a.seen = launch_take_counters(l, k->build->pool, device);
	if (!l->buffer)
		a.alone = no_room_for_counters;
	else if (!choose_way(&a, err))
		asked = enqueue_all(&a, result, event, err);
	if (a.alone)
		asked = enqueue_alone(&a, result, event, err);
	free(a.inputs);
	if (asked && a.way == WAY_DIRECT)
		(a.traced_in_place ? a.trace.twin : t)->launched = true;
	if (!asked && a.launch) {
		launch_give_back(l);
		launch_free(l);
	}
	return asked;
}

static bool launch_twin(struct kernel *k, struct request *r, cl_int *result, cl_event *event, struct gs_error *err)
{
	cl_device_id device = NULL;
	if (cl.clGetCommandQueueInfo(r->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
	    r->dims < 1 || r->dims > 3)
		return gs_fail(err, EINVAL, "the launch is not valid"), false;
	if (!worker_ready())
		return gs_fail(err, EAGAIN, "no thread could be started"), false;
	if (!device_wanted(device))
		return gs_fail(err, ENOTSUP, "its device is not the one of GPUSIM_DEVICE"), false;
	cl.clGetCommandQueueInfo(r->queue, CL_QUEUE_PROPERTIES, sizeof r->properties, &r->properties, NULL);
	pthread_mutex_lock(&k->lock);
	struct kernel_twin *t = kernel_prepare_twin(k, device, false, err);
	struct launch *l = t ? launch_of_twin(k, r, t, device) : NULL;
	if (t && !l)
		gs_fail(err, ENOMEM, "out of memory");
	bool launched = l && launch_with(k, r, t, device, l, result, event, err);
	pthread_mutex_unlock(&k->lock);
	return launched;
}

void launch_not_modelled(const char *kernel, const char *reason)
{
	stats_add_not_modelled(&simulation.stats, kernel, reason);
}

cl_int kernel_launch(cl_command_queue queue, cl_kernel handle, cl_uint dims, const size_t *offset, const size_t *global,
                     const size_t *local, cl_uint wait_count, const cl_event *wait, cl_event *event)
{
	uint64_t begin = clock_ns(), waited_ns = thread_waited_ns;
	struct request r = {queue, dims, offset, global, local, wait_count, wait, 0, begin, 0};
	struct gs_error err = {""};
	struct kernel *k = kernel_find(handle);
	int saved = errno;
	cl_int result = CL_SUCCESS;
	if (k && !k->wanted)
		gs_fail(&err, 0, "not among GPUSIM_KERNELS");
	else if (k && k->why)
		gs_fail(&err, 0, "%s", k->why);
	else if (k && launch_twin(k, &r, &result, event, &err))
		goto out;
	errno = saved;
	result = enqueue(&r, handle, event);
	saved = errno;
	if (result == CL_SUCCESS) {
		const char *name = k && k->name ? k->name : "(unknown)";
		launch_not_modelled(name, k ? err.text : "gpusim does not know this kernel: it has not seen how it was created");
		timeline_resolve(log_launch(&r, name, event), 0, NULL);
	}
out:
	if (k)
		kernel_unref(k);
	simulation.cost.launches++;
	simulation.cost.launch_ns += clock_ns() - begin - r.not_ours_ns - (thread_waited_ns - waited_ns); /* without builds */
	errno = saved;
	return result;
}
