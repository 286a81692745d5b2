/* Streams, events and commands as the interposer asks for them: each is logged for the timeline, and given to its stream. */
#include "runtime/guest/cuda/commands.h"

#include "runtime/guest/cuda/copies.h"
#include "runtime/guest/cuda/faults.h"
#include "runtime/guest/cuda/memory.h"
#include "runtime/guest/cuda/prints.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/support/memory_log.h"
#include "runtime/guest/support/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- calls ---- */

/* Of cuda_one_call: its begin, or 0, and the last entry that was made. */
static __thread uint64_t one_call_ns;
static __thread const struct schedule_command *one_call_last;

void cuda_one_call(bool begins)
{
	timeline_stream_returned(one_call_last);
	one_call_ns = begins ? call_begins() : 0;
	one_call_last = NULL;
}

int call_begin(struct call_log *l, const struct cuda_call *call, struct cuda_command *c, struct gs_error *err)
{
	*l = (struct call_log){.call = call, .blocking = call->blocking};
	l->timeline = (struct stream_call){.stream = call->stream, .name = call->stream->name, .begin_ns = one_call_ns ? one_call_ns : call_begins()};
	l->timeline.priority = call->stream->priority;
	l->timeline.device = call->stream->device;
	l->timeline.part = one_call_ns;
	l->timeline.records = call->records;
	int failed = fault_now(err);
	if (!failed)
		failed = command_prepare(c, call, err);
	if (failed)
		return failed;
	l->event = c->event ? cuda_event_retain(c->event) : NULL;
	l->after = c->wait_count ? calloc(c->wait_count, sizeof *l->after) : NULL;
	for (unsigned i = 0; i < c->wait_count && l->after; i++)
		l->after[l->timeline.after_count++] = c->wait[i]->command;
	l->timeline.after = l->after;
	return 0;
}

/* A call that waits is logged when it returns, because that is part of the entry. */
void call_end(struct call_log *l, struct cuda_command *c, enum stream_turn turn,
              const struct schedule_command *(*log)(const struct stream_call *call, void *data), void *data)
{
	const struct schedule_command *entry = NULL;
	l->timeline.blocking = l->blocking;
	if (!l->blocking && log)
		entry = log(&l->timeline, data);
	if (l->event && entry)
		l->event->command = entry;
	stream_submit(l->call->stream, c, l->blocking ? TURN_WAIT : turn);
	if (l->timeline.part)
		one_call_last = entry ? entry : one_call_last;
	else
		timeline_stream_returned(entry);
	if (l->blocking && log)
		entry = log(&l->timeline, data);
	if (l->blocking && l->event && entry)
		l->event->command = entry;
	if (l->event)
		*l->call->event = l->event;
	free(l->after);
}

/* ---- marks and functions of the application ---- */

struct host_command {
	struct cuda_command command;
	void (*f)(void *); /* NULL: a mark */
	void *data;
};

static void run_host(struct cuda_command *c, struct cuda_stream *s)
{
	struct host_command *h = (struct host_command *)c;
	(void)s;
	if (h->f)
		h->f(h->data);
}

static void discard(struct cuda_command *c)
{
	command_end(c);
	free(c);
}

static const struct schedule_command *log_marker(const struct stream_call *call, void *unused)
{
	(void)unused;
	return timeline_stream_marker(call);
}

int cuda_host_call(const struct cuda_call *call, void (*f)(void *), void *data, struct gs_error *err)
{
	struct host_command *h = calloc(1, sizeof *h);
	struct call_log l;
	if (!h)
		return gs_fail(err, ENOMEM, "out of memory");
	*h = (struct host_command){{.run = run_host, .discard = discard}, f, data};
	int failed = call_begin(&l, call, &h->command, err);
	if (failed)
		free(h);
	else
		call_end(&l, &h->command, f ? TURN_LATER : TURN_HERE, log_marker, NULL);
	return failed;
}

int cuda_mark(const struct cuda_call *call, struct gs_error *err)
{
	return cuda_host_call(call, NULL, NULL, err);
}

/* ---- copies and fills ---- */

struct copy_command {
	struct cuda_command command;
	struct cuda_copy copy;
	void *staged; /* the source, or NULL */
	uint32_t value;
	unsigned unit; /* 0: a copy */
};

static void run_copy(struct cuda_command *c, struct cuda_stream *s)
{
	struct copy_command *m = (struct copy_command *)c;
	(void)s;
	pages_before_command();
	pages_used(m->copy.to);
	pages_used(m->copy.from);
	if (m->unit)
		fill_execute(&m->copy, m->value, m->unit);
	else
		copy_execute(&m->copy);
	pages_after_command();
}

static void discard_copy(struct cuda_command *c)
{
	struct copy_command *m = (struct copy_command *)c;
	free(m->staged);
	discard(c);
}

struct logged_copy {
	enum cuda_copy_kind kind;
	uint64_t bytes;
	bool fill;
	const void *to;
	bool peer;
	struct peer_ends ends;
};

/* A copy by addresses goes from one GPU to another where their memory is of two. */
static bool is_peer_copy(const struct cuda_copy *c, struct peer_ends *ends)
{
	struct cuda_allocation to, from;
	*ends = (struct peer_ends){c->from_device, c->to_device};
	if (c->peer || c->kind != CUDA_WITHIN_DEVICE || cuda_device_count() < 2)
		return c->peer;
	bool known = cuda_find_allocation(c->to, &to) && cuda_find_allocation(c->from, &from) && to.kind == CUDA_DEVICE_MEMORY && from.kind == CUDA_DEVICE_MEMORY;
	if (known)
		*ends = (struct peer_ends){from.device, to.device};
	return known && ends->from != ends->to;
}

static void log_change(const struct logged_copy *c)
{
	struct cuda_allocation a;
	if ((!c->fill && c->kind == CUDA_TO_HOST) || !cuda_find_allocation(c->to, &a))
		return;
	if (c->fill || c->kind == CUDA_WITHIN_DEVICE)
		memory_log_written(a.address, c->bytes);
	else
		memory_log_copied(a.address, c->bytes);
}

static const struct schedule_command *log_copy(const struct stream_call *call, void *data)
{
	const struct logged_copy *c = data;
	static const enum transfer_kind kinds[] = {
		[CUDA_TO_DEVICE] = TRANSFER_WRITE, [CUDA_TO_HOST] = TRANSFER_READ, [CUDA_WITHIN_DEVICE] = TRANSFER_COPY};
	if (!c->fill && c->kind == CUDA_WITHIN_HOST)
		return timeline_stream_marker(call);
	enum transfer_kind kind = c->fill ? TRANSFER_FILL : kinds[c->kind];
	log_change(c);
	if (!c->fill && c->peer) {
		stats_add_peer_copy(&simulation.stats, c->ends, c->bytes);
		return timeline_stream_peer_copy(c->ends, c->bytes, call);
	}
	transfer_enqueued(kind, c->bytes);
	return timeline_stream_transfer(kind, c->bytes, call);
}

static bool is_pageable(const void *address)
{
	struct cuda_allocation a;
	return !cuda_find_allocation(address, &a);
}

/* What CUDA does with memory that the application may change or give back at any time: it is read now, or the call waits until it is
 * written. A copy that can run at once needs no copy of its source. */
static enum stream_turn guard_pageable(struct call_log *l, struct copy_command *m)
{
	const struct cuda_copy *c = &m->copy;
	if (c->in_turn)
		return TURN_HERE;
	if ((c->kind == CUDA_TO_HOST || c->kind == CUDA_WITHIN_HOST) && is_pageable(c->to))
		l->blocking = true;
	if (l->blocking || c->kind != CUDA_TO_DEVICE || !is_pageable(c->from))
		return TURN_HERE;
	bool at_once = stream_is_idle(l->call->stream);
	for (unsigned i = 0; i < l->call->wait_count; i++)
		at_once = at_once && (!l->call->wait[i] || cuda_event_done(l->call->wait[i]));
	return at_once || !copy_stage(&m->copy, &m->staged) ? TURN_WAIT : TURN_HERE;
}

static int enqueue(const struct cuda_call *call, struct copy_command *m, struct gs_error *err)
{
	struct logged_copy logged = {.kind = m->copy.kind, .bytes = copy_bytes(&m->copy), .fill = m->unit, .to = m->copy.to};
	logged.peer = !m->unit && is_peer_copy(&m->copy, &logged.ends);
	struct call_log l;
	int failed = call_begin(&l, call, &m->command, err);
	if (failed) {
		free(m);
		return failed;
	}
	enum stream_turn turn = m->unit ? TURN_HERE : guard_pageable(&l, m);
	call_end(&l, &m->command, turn, log_copy, &logged);
	return 0;
}

int cuda_enqueue_copy(const struct cuda_call *call, const struct cuda_copy *copy, struct gs_error *err)
{
	struct copy_command *m = calloc(1, sizeof *m);
	if (!m)
		return gs_fail(err, ENOMEM, "out of memory");
	*m = (struct copy_command){{.run = run_copy, .discard = discard_copy}, .copy = *copy};
	return enqueue(call, m, err);
}

int cuda_enqueue_fill(const struct cuda_call *call, const struct cuda_copy *shape, uint32_t value, unsigned unit, struct gs_error *err)
{
	struct copy_command *m = unit == 1 || unit == 2 || unit == 4 ? calloc(1, sizeof *m) : NULL;
	if (!m)
		return unit == 1 || unit == 2 || unit == 4 ? gs_fail(err, ENOMEM, "out of memory")
		                                           : gs_fail(err, EINVAL, "memory is filled by 1, 2 or 4 bytes, not %u", unit);
	*m = (struct copy_command){{.run = run_copy, .discard = discard_copy}, .copy = *shape, .value = value, .unit = unit};
	return enqueue(call, m, err);
}

/* ---- streams and waiting ---- */

uint32_t cuda_device_count(void)
{
	uint64_t wanted = simulation.options.devices.number;
	_Static_assert((int)CUDA_MOST_DEVICES == (int)SCHEDULE_DEVICES, "as many as a schedule has");
	return wanted < SCHEDULE_DEVICES ? (uint32_t)wanted : SCHEDULE_DEVICES;
}

int cuda_stream_new(const char *name, struct cuda_stream **out, struct gs_error *err)
{
	*out = stream_new(name);
	if (*out)
		(*out)->device = cuda_current_device();
	return *out ? 0 : gs_fail(err, ENOMEM, "out of memory");
}

void cuda_stream_set_priority(struct cuda_stream *s, int priority)
{
	s->priority = priority;
}

void cuda_stream_free(struct cuda_stream *s)
{
	stream_close(s);
}

bool cuda_stream_idle(struct cuda_stream *s)
{
	return stream_is_idle(s);
}

int cuda_stream_wait(struct cuda_stream *s, struct gs_error *err)
{
	struct stream_call call = {.stream = s, .name = s->name, .priority = s->priority, .device = s->device, .begin_ns = call_begins()};
	stream_wait(s);
	timeline_stream_wait("cudaStreamSynchronize", &call);
	prints_write();
	return fault_now(err);
}

static void log_wait(struct cuda_stream *s, void *data)
{
	if (s->device != cuda_current_device())
		return;
	struct stream_call call = {.stream = s, .name = s->name, .priority = s->priority, .device = s->device, .begin_ns = *(const uint64_t *)data};
	timeline_stream_wait("cudaDeviceSynchronize", &call);
}

int cuda_wait_all(struct gs_error *err)
{
	uint64_t begin_ns = call_begins();
	streams_wait_all();
	if (begin_ns)
		streams_each(log_wait, &begin_ns);
	prints_write();
	return fault_now(err);
}

int cuda_event_wait(struct cuda_event *e, struct gs_error *err)
{
	struct stream_call call = {.after = &e->command, .after_count = 1, .begin_ns = call_begins()};
	event_wait(e);
	timeline_stream_wait("cudaEventSynchronize", &call);
	prints_write();
	return fault_now(err);
}

int cuda_fault_now(struct gs_error *err)
{
	return fault_now(err);
}

uint64_t cuda_event_ns(struct cuda_event *e)
{
	uint64_t ns;
	return timeline_simulated_end(e->command, &ns) ? ns : event_time(e);
}

int cuda_release(void *address, struct gs_error *err)
{
	struct cuda_allocation a;
	if (!cuda_find_allocation(address, &a) || a.address != address)
		return gs_fail(err, EINVAL, "no allocation begins at %p", address);
	int failed = cuda_wait_all(err);
	return failed ? failed : memory_release(address, err);
}
