#include "runtime/guest/nvidia/clock.h"

#include "runtime/base/base.h"
#include "runtime/config/log.h"
#include "runtime/guest/nvidia/calls.h"
#include "runtime/process/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define LOG_DOMAIN "cuda"

enum { MOST_CONTEXTS = 16, MOST_EVENTS = 4096, DELAY_NS = 8000, CALIBRATIONS = 8, CALIBRATION_MS = 200 };
/* What profilers show for a kernel that does nothing, in ns: an H200, Nsight Compute (docs/cuda.md). */
enum { EMPTY_KERNEL_NS = 1400 };

/* Waits for so many ns; and one that does nothing. A clock that stands still ends the first after a while, too. */
static const char kernels_text[] =
	".version 6.0\n.target sm_50\n.address_size 64\n"
	".visible .entry gpusim_delay(.param .u64 ns)\n{\n"
	".reg .pred %p<3>;\n.reg .b32 %r<2>;\n.reg .b64 %d<5>;\n"
	"ld.param.u64 %d1, [ns];\nmov.u64 %d2, %globaltimer;\nmov.u32 %r1, 0;\n"
	"again:\n"
	"mov.u64 %d3, %globaltimer;\nsub.u64 %d4, %d3, %d2;\nadd.u32 %r1, %r1, 1;\n"
	"setp.lt.u64 %p1, %d4, %d1;\nsetp.lt.and.u32 %p2, %r1, 100000, %p1;\n@%p2 bra again;\n"
	"ret;\n}\n"
	".visible .entry gpusim_empty()\n{\nret;\n}\n";

struct context_clock {
	unsigned long long id;
	enum { CLOCK_NEW, CLOCK_STARTING, CLOCK_READY, CLOCK_FAILED } state;
	void *delay, *empty;
	double offset_ns;
	struct nvidia_measurement *free, *pending, **pending_end;
	unsigned made;
};

static struct {
	pthread_mutex_t lock;
	struct context_clock contexts[MOST_CONTEXTS];
	unsigned count;
	double offset_ns;
} clocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

double clock_offset_ns(void)
{
	return clocks.offset_ns;
}

/* With the lock held. A context that was destroyed does not come back with its number; without numbers, its address must do. */
static struct context_clock *current_clock(bool add)
{
	void *context = NULL;
	unsigned long long id = 0;
	if (nvidia.context(&context) || !context)
		return NULL;
	if (!nvidia.context_id || nvidia.context_id(context, &id))
		id = (unsigned long long)(uintptr_t)context;
	for (unsigned i = 0; i < clocks.count; i++)
		if (clocks.contexts[i].id == id)
			return &clocks.contexts[i];
	if (!add || clocks.count == MOST_CONTEXTS)
		return NULL;
	struct context_clock *c = &clocks.contexts[clocks.count++];
	*c = (struct context_clock){.id = id};
	c->pending_end = &c->pending;
	return c;
}

/* ---- how far apart two events are ---- */

static bool wait_for(void *event, unsigned ms)
{
	uint64_t end = clock_ns() + ms * UINT64_C(1000000);
	int result;
	while ((result = nvidia.event_query(event)) == NVIDIA_NOT_READY && clock_ns() < end)
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	return !result;
}

static bool delay_stream(const struct context_clock *c, void *stream)
{
	uint64_t ns = DELAY_NS;
	void *parameters[] = {&ns};
	return !nvidia.launch(c->delay, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

static bool calibrate(struct context_clock *c)
{
	void *module, *stream, *begin, *end;
	float ms, least = -1;
	enum { NON_BLOCKING = 1 };
	if (nvidia.module_load(&module, kernels_text) || nvidia.module_function(&c->delay, module, "gpusim_delay") ||
	    nvidia.module_function(&c->empty, module, "gpusim_empty") || nvidia.stream_create(&stream, NON_BLOCKING) ||
	    nvidia.event_create(&begin, 0) || nvidia.event_create(&end, 0))
		return false;
	for (int i = 0; i < CALIBRATIONS; i++) {
		if (!delay_stream(c, stream) || nvidia.event_record(begin, stream) || nvidia.launch(c->empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) ||
		    nvidia.event_record(end, stream) || !wait_for(end, CALIBRATION_MS) || nvidia.event_elapsed(&ms, begin, end))
			return false;
		if (i && (least < 0 || ms < least)) /* the first loads the kernels */
			least = ms;
	}
	c->offset_ns = least * 1e6 - EMPTY_KERNEL_NS;
	clocks.offset_ns = c->offset_ns;
	log_info("two events around a kernel that does nothing are %.1f us apart", least * 1e3);
	return true;
}

/* ---- measuring ---- */

/* With the lock held; it is released while the driver works. */
static bool clock_is_ready(struct context_clock *c)
{
	if (c->state == CLOCK_NEW) {
		c->state = CLOCK_STARTING;
		pthread_mutex_unlock(&clocks.lock);
		bool ready = calibrate(c);
		if (!ready)
			log_warning("launches are not measured: the driver has no events, or does not build our kernels");
		pthread_mutex_lock(&clocks.lock);
		c->state = ready ? CLOCK_READY : CLOCK_FAILED;
	}
	return c->state == CLOCK_READY;
}

/* With the lock held. Some commands are enqueued in the stream that have not ended, so that it will not be idle soon. */
static bool is_behind(const struct context_clock *c, const void *stream)
{
	enum { ENOUGH = 4, MOST_LOOKED_AT = 64 };
	unsigned found = 0, looked_at = 0;
	for (const struct nvidia_measurement *m = c->pending; m && found < ENOUGH && looked_at < MOST_LOOKED_AT; m = m->next, looked_at++)
		found += m->stream == stream;
	return found >= ENOUGH;
}

static struct nvidia_measurement *take_events(struct context_clock *c)
{
	struct nvidia_measurement *m = c->free;
	if (m) {
		c->free = m->next;
		return m;
	}
	if (c->made == MOST_EVENTS || !(m = calloc(1, sizeof *m)))
		return NULL;
	m->clock = c;
	if (nvidia.event_create(&m->begin, 0) || nvidia.event_create(&m->end, 0)) {
		c->made = MOST_EVENTS;
		free(m);
		return NULL;
	}
	c->made++;
	return m;
}

void clock_abandon(struct nvidia_measurement *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&clocks.lock);
	m->next = m->clock->free;
	m->clock->free = m;
	pthread_mutex_unlock(&clocks.lock);
}

struct nvidia_measurement *clock_begins(void *stream)
{
	int capturing = 0;
	pthread_mutex_lock(&clocks.lock);
	struct context_clock *c = current_clock(true);
	struct nvidia_measurement *m = c && clock_is_ready(c) ? take_events(c) : NULL;
	const bool behind = m && is_behind(c, stream);
	pthread_mutex_unlock(&clocks.lock);
	if (!m)
		return NULL;
	if (nvidia.stream_is_capturing(stream, &capturing) || capturing || (!behind && !delay_stream(c, stream)) ||
	    nvidia.event_record(m->begin, stream)) {
		clock_abandon(m);
		return NULL;
	}
	return m;
}

int clock_ends(struct nvidia_measurement *m, void *stream, void *owner)
{
	if (nvidia.event_record(m->end, stream)) {
		clock_abandon(m);
		return -1;
	}
	pthread_mutex_lock(&clocks.lock);
	m->owner = owner;
	m->stream = stream;
	m->next = NULL;
	*m->clock->pending_end = m;
	m->clock->pending_end = &m->next;
	pthread_mutex_unlock(&clocks.lock);
	return 0;
}

static struct nvidia_measurement *take_pending(void)
{
	pthread_mutex_lock(&clocks.lock);
	struct context_clock *c = current_clock(false);
	struct nvidia_measurement *m = c ? c->pending : NULL;
	if (m && !(c->pending = m->next))
		c->pending_end = &c->pending;
	pthread_mutex_unlock(&clocks.lock);
	return m;
}

static void put_back(struct nvidia_measurement *m)
{
	pthread_mutex_lock(&clocks.lock);
	if (!m->clock->pending)
		m->clock->pending_end = &m->next;
	m->next = m->clock->pending;
	m->clock->pending = m;
	pthread_mutex_unlock(&clocks.lock);
}

static void give(struct nvidia_measurement *m, clock_each_fn *each)
{
	float ms;
	if (!nvidia.event_elapsed(&ms, m->begin, m->end)) {
		double ns = ms * 1e6 - m->clock->offset_ns;
		each(m->owner, ns > 1 ? (uint64_t)(ns + 0.5) : 1);
	} else {
		each(m->owner, 0);
	}
	clock_abandon(m);
}

void clock_collect(unsigned most, unsigned wait_ms, clock_each_fn *each)
{
	struct nvidia_measurement *m;
	for (unsigned i = 0; i < most && (m = take_pending()); i++) {
		int result = nvidia.event_query(m->end);
		if (result == NVIDIA_NOT_READY && !(wait_ms && wait_for(m->end, wait_ms))) {
			put_back(m);
			return;
		}
		give(m, each);
	}
}

void clock_give_up(clock_each_fn *each)
{
	for (unsigned i = 0; i < clocks.count; i++) {
		pthread_mutex_lock(&clocks.lock);
		struct nvidia_measurement *m = clocks.contexts[i].pending;
		clocks.contexts[i].pending = NULL;
		clocks.contexts[i].pending_end = &clocks.contexts[i].pending;
		pthread_mutex_unlock(&clocks.lock);
		for (; m; m = m->next)
			each(m->owner, 0);
	}
}
