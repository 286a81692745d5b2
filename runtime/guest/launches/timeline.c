/* Logs calls and commands, and answers with their times when applications ask; see timeline.h. */
#include "runtime/guest/launches/timeline.h"

#include "runtime/guest/launches/worker.h"
#include "runtime/guest/driver/several.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/support/table.h"
#include "runtime/estimates/launch_demand.h"
#include "runtime/process/signals.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_COMMANDS = 1 << 20 };

static struct table by_event; /* the latest command of each event; under the timeline's lock */

static bool timeline_wanted(void)
{
	uint64_t formats = simulation.options.report.number;
	return ((formats & (REPORT_JSON | REPORT_HTML | REPORT_TRACE)) && !(formats & REPORT_NONE)) ||
	       simulation.options.profiling.number == PROFILING_SIMULATED || *simulation.options.record.text;
}

uint64_t call_begins(void)
{
	return timeline_wanted() ? clock_ns() : 0;
}

/* ---- logging, with the lock held ---- */

static bool is_in_order(cl_command_queue queue)
{
	cl_command_queue_properties properties = 0;
	cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
	return !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

static uint64_t since_start(uint64_t ns)
{
	return ns > simulation.start_ns ? ns - simulation.start_ns : 0;
}

static void keep_wait_list(struct schedule_command *c, cl_uint count, const cl_event *events)
{
	c->after = count && events ? calloc(count, sizeof *c->after) : NULL;
	for (cl_uint i = 0; i < count && c->after; i++) {
		const struct schedule_command *before = table_get(&by_event, events[i]);
		if (before) /* otherwise it may be a user event */
			c->after[c->after_count++] = before;
	}
}

/* What add_command needs of a call. */
struct logged_call {
	const void *queue; /* NULL: the call waits for events */
	bool in_order, blocking, part;
	uint64_t begin_ns;
	uint32_t device;
};

static bool start_schedule(struct schedule *s)
{
	if (schedule_start(s, simulation.target_count))
		return false;
	for (size_t t = 0; t < simulation.target_count; t++)
		schedule_limit(s, t, schedule_limits_of(&simulation.targets[t].gpu));
	return true;
}

static struct schedule_command *add_command(const char *what, const char *name, const struct logged_call *call)
{
	struct schedule *s = &simulation.timeline.schedule;
	if (!simulation.timeline.started && !(simulation.timeline.started = start_schedule(s)))
		return NULL;
	if (s->count >= MOST_COMMANDS) {
		simulation.timeline.omitted++;
		return NULL;
	}
	struct schedule_thread *thread = schedule_thread(s, (uint64_t)gettid());
	struct schedule_queue *queue = call->queue ? schedule_queue(s, call->queue, call->in_order) : NULL;
	if (queue && !queue->last)
		schedule_queue_device(s, queue, call->device);
	struct schedule_command *c = thread && (queue || !call->queue) ? schedule_add(s, what, name) : NULL;
	if (!c)
		return NULL;
	c->thread = thread;
	c->queue = queue;
	c->waits = call->blocking;
	c->call_ns = since_start(call->begin_ns);
	c->return_ns = call->part ? c->call_ns : since_start(clock_ns());
	return c;
}

static void resolve(struct schedule_command *c)
{
	c->resolved = true;
	schedule_replay(&simulation.timeline.schedule);
}

/* Makes a new command. Unless it is NULL, the lock is held until log_ends. */
static struct schedule_command *log_begins(const char *what, const char *name, const struct command_call *call)
{
	if (!timeline_wanted())
		return NULL;
	bool in_order = call->queue && is_in_order(call->queue); /* asks the driver before the lock is taken */
	uint32_t device = call->queue ? several_of_queue(call->queue) : 0;
	lock_for_report(&simulation.timeline.lock);
	struct schedule_command *c = add_command(what, name, &(struct logged_call){call->queue, in_order, call->blocking, false, call->begin_ns, device});
	if (!c) {
		unlock_for_report(&simulation.timeline.lock);
		return NULL;
	}
	keep_wait_list(c, call->wait_count, call->wait);
	if (call->event && *call->event)
		table_put(&by_event, *call->event, c);
	return c;
}

static struct schedule_command *stream_begins(const char *what, const char *name, const struct stream_call *call)
{
	if (!timeline_wanted())
		return NULL;
	lock_for_report(&simulation.timeline.lock);
	struct schedule_command *c = add_command(what, name, &(struct logged_call){call->stream, true, call->blocking, call->part, call->begin_ns, call->device});
	if (!c) {
		unlock_for_report(&simulation.timeline.lock);
		return NULL;
	}
	if (c->queue && call->name)
		snprintf(c->queue->name, sizeof c->queue->name, "%s", call->name);
	if (c->queue) {
		c->queue->priority = call->priority;
		c->queue->stream = true;
	}
	c->after = call->after_count ? calloc(call->after_count, sizeof *c->after) : NULL;
	for (size_t i = 0; i < call->after_count && c->after; i++)
		if (call->after[i])
			c->after[c->after_count++] = call->after[i];
	return c;
}

static void log_ends(void)
{
	unlock_for_report(&simulation.timeline.lock);
}

/* ---- what happened ---- */

struct schedule_command *timeline_launch(const char *kernel, const struct command_call *call)
{
	struct schedule_command *c = log_begins("launch", kernel, call);
	if (c) {
		c->engine = ENGINE_COMPUTE;
		log_ends();
	}
	return c;
}

void timeline_resolve(struct schedule_command *c, uint64_t launch, const struct launch_result *r)
{
	if (!c)
		return;
	lock_for_report(&simulation.timeline.lock);
	c->launch = launch;
	for (size_t t = 0; t < simulation.target_count; t++) {
		bool known = r && r->estimated[t];
		c->times[t].duration = known ? r->estimates[t].time_ns : NAN;
		if (known)
			c->times[t].demand = launch_demand(&simulation.targets[t].gpu, &r->profile, &r->estimates[t]);
	}
	resolve(c);
	unlock_for_report(&simulation.timeline.lock);
}

/* ends: of a copy between GPUs, else NULL */
static void fill_transfer(struct schedule_command *c, enum transfer_kind kind, uint64_t size_bytes, const struct peer_ends *ends)
{
	static const enum command_engine engines[TRANSFER_KINDS] = {
		[TRANSFER_READ] = ENGINE_FROM_GPU, [TRANSFER_MAP] = ENGINE_FROM_GPU,   [TRANSFER_WRITE] = ENGINE_TO_GPU,
		[TRANSFER_UNMAP] = ENGINE_TO_GPU,  [TRANSFER_COPY] = ENGINE_COMPUTE, [TRANSFER_FILL] = ENGINE_COMPUTE,
		[TRANSFER_PEER] = ENGINE_FROM_GPU,
	};
	c->size_bytes = size_bytes;
	c->engine = engines[kind];
	c->from = ends ? (uint8_t)ends->from : 0;
	c->to = ends ? (uint8_t)ends->to : 0;
	for (size_t t = 0; t < simulation.target_count; t++) {
		const struct gpu *gpu = &simulation.targets[t].gpu;
		c->times[t].duration = ends ? topology_time_ns(&simulation.topology, gpu, *ends, 1, size_bytes)
		                            : transfer_time_ns(gpu, kind, &(struct transfer_stats){1, size_bytes});
		c->times[t].demand = demand_of_copy();
	}
	resolve(c);
}

static void log_transfer(enum transfer_kind kind, uint64_t size_bytes, const struct peer_ends *ends, const struct command_call *call)
{
	struct schedule_command *c = log_begins(transfer_name(kind), NULL, call);
	if (c) {
		fill_transfer(c, kind, size_bytes, ends);
		log_ends();
	}
}

void timeline_transfer(enum transfer_kind kind, uint64_t size_bytes, const struct command_call *call)
{
	log_transfer(kind, size_bytes, NULL, call);
}

void timeline_peer_copy(struct peer_ends ends, uint64_t size_bytes, const struct command_call *call)
{
	log_transfer(TRANSFER_PEER, size_bytes, &ends, call);
}

void timeline_marker(const struct command_call *call, bool barrier)
{
	struct schedule_command *c = log_begins(barrier ? "barrier" : "marker", NULL, call);
	if (c) {
		c->waits_all = !c->after_count;
		c->barrier = barrier;
		resolve(c);
		log_ends();
	}
}

void timeline_wait(const char *name, const struct command_call *call)
{
	struct schedule_command *c = log_begins("wait", name, call);
	if (c) {
		c->waits_all = call->queue;
		c->waits = true;
		resolve(c);
		log_ends();
	}
}

/* ---- the same of streams ---- */

struct schedule_command *timeline_stream_launch(const char *kernel, const struct stream_call *call)
{
	struct schedule_command *c = stream_begins("launch", kernel, call);
	if (c) {
		c->engine = ENGINE_COMPUTE;
		log_ends();
	}
	return c;
}

static struct schedule_command *log_stream_transfer(enum transfer_kind kind, uint64_t size_bytes, const struct peer_ends *ends, const struct stream_call *call)
{
	struct schedule_command *c = stream_begins(transfer_name(kind), NULL, call);
	if (c) {
		fill_transfer(c, kind, size_bytes, ends);
		log_ends();
	}
	return c;
}

struct schedule_command *timeline_stream_transfer(enum transfer_kind kind, uint64_t size_bytes, const struct stream_call *call)
{
	return log_stream_transfer(kind, size_bytes, NULL, call);
}

struct schedule_command *timeline_stream_peer_copy(struct peer_ends ends, uint64_t size_bytes, const struct stream_call *call)
{
	return log_stream_transfer(TRANSFER_PEER, size_bytes, &ends, call);
}

void timeline_contents(cl_context context, uint64_t size_bytes, uint64_t begin_ns)
{
	const struct stream_call call = {.stream = context, .name = "contents of new memory", .blocking = true, .begin_ns = begin_ns};
	timeline_stream_transfer(TRANSFER_WRITE, size_bytes, &call);
}

struct schedule_command *timeline_stream_marker(const struct stream_call *call)
{
	struct schedule_command *c = stream_begins("marker", NULL, call);
	if (c) {
		c->records = call->records;
		for (size_t t = 0; t < simulation.target_count && c->records; t++)
			c->times[t].duration = simulation.targets[t].gpu.cuda_event_ns;
		resolve(c);
		log_ends();
	}
	return c;
}

void timeline_stream_wait(const char *name, const struct stream_call *call)
{
	struct schedule_command *c = stream_begins("wait", name, call);
	if (c) {
		c->waits_all = call->stream;
		c->waits = true;
		resolve(c);
		log_ends();
	}
}

/* ---- MPI calls: the same log has them, and the profile gets it ---- */

struct schedule_command *timeline_host_call(const char *what, const char *name, uint64_t begin_ns)
{
	struct schedule_command *c = stream_begins(what, name, &(struct stream_call){.begin_ns = begin_ns});
	if (c) {
		resolve(c);
		log_ends();
	}
	return c;
}

bool timeline_host_call_goes_on(const char *what, const char *name, uint64_t begin_ns, uint64_t most_ns)
{
	lock_for_report(&simulation.timeline.lock);
	struct schedule_command *c = simulation.timeline.started ? simulation.timeline.schedule.last : NULL;
	bool same = c && !strcmp(c->what, what) && c->name && !strcmp(c->name, name) && c->thread->id == (uint64_t)gettid() &&
	            since_start(begin_ns) <= c->return_ns + most_ns;
	if (same)
		c->return_ns = c->thread->returned_ns = since_start(clock_ns());
	unlock_for_report(&simulation.timeline.lock);
	return same;
}

void timeline_rename(struct schedule_command *c, const char *name)
{
	lock_for_report(&simulation.timeline.lock);
	char *copy = strdup(name);
	if (copy) {
		free(c->name);
		c->name = copy;
	}
	unlock_for_report(&simulation.timeline.lock);
}

/* ---- what the application asks for ---- */

/* The time in which we wait is not the application's own. Its next call comes right after, as if we had not waited. */
static void leave_out_time(uint64_t begin_ns)
{
	struct schedule_thread *thread = schedule_thread(&simulation.timeline.schedule, (uint64_t)gettid());
	if (thread && thread->called)
		thread->returned_ns += clock_ns() - begin_ns;
}

void timeline_stream_returned(const struct schedule_command *entry)
{
	if (!entry)
		return;
	struct schedule_command *c = (struct schedule_command *)(uintptr_t)entry;
	lock_for_report(&simulation.timeline.lock);
	c->return_ns = since_start(clock_ns());
	if (c->replayed && c->thread->returned_ns < c->return_ns)
		c->thread->returned_ns = c->return_ns;
	unlock_for_report(&simulation.timeline.lock);
}

void timeline_leave_out(uint64_t begin_ns)
{
	if (!timeline_wanted())
		return;
	lock_for_report(&simulation.timeline.lock);
	if (simulation.timeline.started)
		leave_out_time(begin_ns);
	unlock_for_report(&simulation.timeline.lock);
}

/* With the timeline's lock held; it is released meanwhile. Waits until the command is replayed, and what was called until now, because
 * that may run beside it. False: its times are not known. */
static bool wait_for_replay(const struct schedule_command *c)
{
	enum { PATIENCE_MS = 2000 };
	static const struct schedule_command *stuck; /* where others were not worth waiting any longer; under the timeline's lock */
	const struct schedule *s = &simulation.timeline.schedule;
	const struct schedule_command *last = s->last;
	uint64_t begin = clock_ns();
	bool moving = true;
	while (moving && (!c->replayed || (!last->replayed && s->next != stuck))) {
		uint64_t moves = worker_moves();
		unlock_for_report(&simulation.timeline.lock);
		moving = worker_wait_progress(moves, PATIENCE_MS, 0);
		lock_for_report(&simulation.timeline.lock);
	}
	if (!moving)
		stuck = s->next;
	if (c->replayed)
		schedule_settle(&simulation.timeline.schedule, c);
	leave_out_time(begin);
	simulation.cost.profiling_ns += clock_ns() - begin;
	return c->replayed && !isnan(c->times[0].duration);
}

enum { EPOCH_NS = 1000000000 }; /* not 0, which could mean no time */

/* With simulated profiling, the answer to clGetEventProfilingInfo. Waits until the launch is modelled. */
static bool simulated_time(cl_event event, cl_profiling_info what, cl_ulong *time)
{
	if (simulation.options.profiling.number != PROFILING_SIMULATED)
		return false;
	int saved = errno;
	lock_for_report(&simulation.timeline.lock);
	const struct schedule_command *c = simulation.timeline.started ? table_get(&by_event, event) : NULL;
	bool known = c && wait_for_replay(c);
	if (known) {
		const struct command_times *t = &c->times[0];
		bool ended = what == CL_PROFILING_COMMAND_END || what == CL_PROFILING_COMMAND_COMPLETE;
		*time = EPOCH_NS + (cl_ulong)(ended ? t->end : what == CL_PROFILING_COMMAND_START ? t->start : t->host_begin);
	}
	unlock_for_report(&simulation.timeline.lock);
	errno = saved;
	return known;
}

bool timeline_simulated_end(const struct schedule_command *c, uint64_t *ns)
{
	if (simulation.options.profiling.number != PROFILING_SIMULATED || !c)
		return false;
	lock_for_report(&simulation.timeline.lock);
	bool known = wait_for_replay(c);
	if (known)
		*ns = EPOCH_NS + (uint64_t)c->times[0].end;
	unlock_for_report(&simulation.timeline.lock);
	return known;
}

cl_int event_profiling_info(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
	cl_int result = cl.clGetEventProfilingInfo(event, what, room, value, size);
	cl_ulong simulated;
	if (result == CL_SUCCESS && value && room >= sizeof simulated && simulated_time(event, what, &simulated))
		memcpy(value, &simulated, sizeof simulated); /* memcpy, because value may not be aligned */
	return result;
}
