/*
 * The timeline in the trace event format of Chrome and Perfetto (PREFIX.trace.json): a process for each target, with a lane
 * for each thread of the application and, for each queue, one per engine; more of them where launches of an out-of-order queue
 * overlap. Times are simulated, in microseconds. Arrows lead from a call to its command.
 * Source: Google, Trace Event Format: complete events (X), metadata (M), flow events (s, f).
 */
#include "runtime/report/formats.h"

#include "runtime/model/simulation.h"
#include "runtime/report/file.h"
#include "runtime/report/json.h"
#include "runtime/timeline/totals.h"

#include <math.h>
#include <stdio.h>

/* A lane with the number of its process would be taken for that process's main thread; viewers sort lanes by number. */
enum { HOST_LANES = 1000, QUEUE_LANES = 1000000 };

static struct report_file file = {.ending = ".trace.json", .fd = -1};

static void add_metadata(struct gs_buf *b, size_t target, uint32_t lane, const char *what, const char *name)
{
	gs_buf_printf(b, "{\"ph\":\"M\",\"pid\":%zu,\"tid\":%u,\"name\":\"%s\",\"args\":{", target + 1, lane, what);
	json_add_string(b, "name", name);
	json_end(b, "}},\n");
}

static uint32_t lane_of(const struct schedule_command *c)
{
	return QUEUE_LANES + (c->queue->index * ENGINE_COUNT + c->engine) * SCHEDULE_LANES + c->lane;
}

/* Events of a lane must not overlap, not even by a rounding error: a duration is the difference of two times that were rounded to
 * nanoseconds. */
static void add_time(struct gs_buf *b, const char *key, long long ns)
{
	gs_buf_printf(b, "\"%s\":%lld.%03lld,", key, ns / 1000, ns % 1000);
}

/* The call that enqueues a kernel has another name than the kernel, so that sums by name count the kernel's time alone. */
static void add_name(struct gs_buf *b, const struct schedule_command *c, bool host)
{
	struct gs_buf name = {0};
	gs_buf_printf(&name, "%s%s", host && c->engine ? "enqueue " : "", c->name ? c->name : c->what);
	json_add_string(b, "name", name.data ? name.data : c->what);
	gs_buf_free(&name);
}

static void add_event(struct gs_buf *b, const struct schedule_command *c, size_t target, bool host)
{
	const struct command_times *t = &c->times[target];
	long long begin = llround(host ? t->host_begin : t->start), end = llround(host ? t->host_end : t->end);
	gs_buf_printf(b, "{\"ph\":\"X\",\"pid\":%zu,\"tid\":%u,", target + 1, host ? HOST_LANES + c->thread->index : lane_of(c));
	add_time(b, "ts", begin);
	add_time(b, "dur", end - begin);
	gs_buf_printf(b, "\"cat\":\"%s\",", host ? "call" : c->what);
	add_name(b, c, host);
	gs_buf_printf(b, "\"args\":{\"command\":%llu,\"kind\":\"%s\",\"size_bytes\":%llu}},\n", (unsigned long long)c->id, c->what,
	              (unsigned long long)c->size_bytes);
}

/* One end of an arrow: it belongs to the event around its time. */
static void add_arrow_end(struct gs_buf *b, const char *phase, size_t target, uint32_t lane, double ns, unsigned long long id)
{
	gs_buf_printf(b, "{\"ph\":%s,\"pid\":%zu,\"tid\":%u,", phase, target + 1, lane);
	add_time(b, "ts", llround(ns));
	gs_buf_printf(b, "\"id\":%llu,\"cat\":\"flow\",\"name\":\"enqueue\"},\n", id);
}

static void add_arrow(struct gs_buf *b, const struct schedule_command *c, size_t target)
{
	const struct command_times *t = &c->times[target];
	unsigned long long id = (unsigned long long)c->id * MAX_TARGETS + target;
	add_arrow_end(b, "\"s\"", target, HOST_LANES + c->thread->index, t->host_begin, id);
	add_arrow_end(b, "\"f\",\"bp\":\"e\"", target, lane_of(c), t->start, id);
}

/* "GPU 1, " where the program has several. */
static const char *gpu_prefix(const struct schedule *s, const struct schedule_queue *q, char text[24])
{
	snprintf(text, 24, s->device_count > 1 ? "GPU %u, " : "", q->device);
	return text;
}

static const char *const engine_names[ENGINE_COUNT] = {"", "launches", "copies to the GPU", "copies from the GPU"};

/* Lanes beside the first of an out-of-order queue, where it has any. */
static void add_more_lanes(struct gs_buf *b, const struct schedule *schedule, const struct schedule_queue *q, size_t target)
{
	uint32_t most[ENGINE_COUNT] = {0};
	char name[128], gpu[24];
	for (const struct schedule_command *c = schedule->first; c && !q->in_order; c = c->next)
		if (c->queue == q && c->lane > most[c->engine])
			most[c->engine] = c->lane;
	for (uint32_t e = ENGINE_COMPUTE; e < ENGINE_COUNT; e++)
		for (uint32_t lane = 1; lane <= most[e]; lane++) {
			snprintf(name, sizeof name, "%squeue %u: %s (%u)", gpu_prefix(schedule, q, gpu), q->index, engine_names[e], lane + 1);
			add_metadata(b, target, QUEUE_LANES + (q->index * ENGINE_COUNT + e) * SCHEDULE_LANES + lane, "thread_name", name);
		}
}

static void add_lanes(struct gs_buf *b, const struct schedule *schedule, const struct gpu *gpu, size_t target)
{
	char name[128], prefix[24];
	snprintf(name, sizeof name, "%s (%s)", gpu->name, gpu->title);
	add_metadata(b, target, 0, "process_name", name);
	for (const struct schedule_thread *t = schedule->threads; t; t = t->next) {
		snprintf(name, sizeof name, "host thread %u", t->index);
		add_metadata(b, target, HOST_LANES + t->index, "thread_name", name);
	}
	for (const struct schedule_queue *q = schedule->queues; q; q = q->next) {
		for (uint32_t e = ENGINE_COMPUTE; e < ENGINE_COUNT; e++) {
			snprintf(name, sizeof name, "%squeue %u: %s", gpu_prefix(schedule, q, prefix), q->index, engine_names[e]);
			if (*q->name)
				snprintf(name, sizeof name, "%s%s: %s", gpu_prefix(schedule, q, prefix), q->name, engine_names[e]);
			add_metadata(b, target, QUEUE_LANES + (q->index * ENGINE_COUNT + e) * SCHEDULE_LANES, "thread_name", name);
		}
		add_more_lanes(b, schedule, q, target);
	}
}

void report_trace(struct simulation *sim)
{
	struct timeline *timeline = &sim->timeline;
	struct gs_buf b = {0};
	/* highres-ticks: without it chrome://tracing warns that times are coarse. */
	gs_buf_puts(&b, "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"otherData\":{\"schema\":\"gpusim.trace/1\"},"
	                "\"traceEvents\":[\n");
	pthread_mutex_lock(&timeline->lock);
	for (size_t t = 0; t < timeline->schedule.target_count; t++) {
		schedule_lanes(&timeline->schedule, t);
		add_lanes(&b, &timeline->schedule, &sim->targets[t].gpu, t);
		for (const struct schedule_command *c = timeline->schedule.first; c && c->replayed; c = c->next) {
			add_event(&b, c, t, true);
			if (!c->engine || !c->queue || isnan(c->times[t].duration))
				continue;
			add_event(&b, c, t, false);
			add_arrow(&b, c, t);
		}
	}
	pthread_mutex_unlock(&timeline->lock);
	if (b.len > 2 && b.data[b.len - 2] == ',')
		b.len -= 2;
	gs_buf_puts(&b, "]}\n");
	file.prefix = sim->options.output.text;
	if (!b.failed)
		report_write(&file, b.data, b.len, 0);
	gs_buf_free(&b);
}
