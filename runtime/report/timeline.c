/* The timeline of the JSON report: when every command would run on each target. */
#include "runtime/report/timeline.h"

#include "runtime/report/json.h"
#include "runtime/timeline/totals.h"

#include <math.h>

void timeline_finish(struct timeline *timeline)
{
	pthread_mutex_lock(&timeline->lock);
	for (struct schedule_command *c = timeline->schedule.next; c; c = c->next) {
		for (size_t t = 0; t < timeline->schedule.target_count && !c->resolved; t++)
			c->times[t].duration = NAN;
		c->resolved = true;
	}
	schedule_replay(&timeline->schedule);
	schedule_settle(&timeline->schedule, NULL);
	pthread_mutex_unlock(&timeline->lock);
}

static void add_times(struct gs_buf *b, const struct schedule_command *c, size_t target_count)
{
	gs_buf_puts(b, "\"times\":[");
	for (size_t t = 0; t < target_count; t++)
		if (isnan(c->times[t].duration))
			gs_buf_puts(b, "[null,null],");
		else
			gs_buf_printf(b, "[%.0f,%.0f],", c->times[t].start, c->times[t].end);
	json_end(b, "],");
}

static void add_command(struct gs_buf *b, const struct schedule_command *c, const struct schedule *s)
{
	gs_buf_puts(b, "{");
	json_add_count(b, "id", c->id);
	json_add_string(b, "kind", c->what);
	json_add_string(b, "kernel", c->name ? c->name : "");
	json_add_count(b, "queue", c->queue->index);
	if (s->device_count > 1)
		json_add_count(b, "gpu", c->queue->device);
	json_add_count(b, "thread", c->thread->index);
	json_add_count(b, "size_bytes", c->size_bytes);
	gs_buf_puts(b, "\"after\":[");
	for (size_t i = 0; i < c->after_count; i++)
		gs_buf_printf(b, "%llu,", (unsigned long long)c->after[i]->id);
	json_end(b, "],");
	add_times(b, c, s->target_count);
	json_end(b, "},\n");
}

static void add_totals(struct gs_buf *b, const struct schedule *s)
{
	gs_buf_puts(b, "\"totals\":[");
	for (size_t t = 0; t < s->target_count; t++) {
		struct schedule_totals totals = schedule_totals(s, t);
		gs_buf_puts(b, "{");
		json_add_number(b, "program_ns", totals.program);
		json_add_number(b, "busy_ns", totals.busy);
		json_add_number(b, "commands_ns", totals.commands);
		json_end(b, "},");
	}
	json_end(b, "],");
}

/* By target, then by GPU; nothing where the program has one. */
static void add_devices(struct gs_buf *b, const struct schedule *s)
{
	gs_buf_puts(b, "\"gpus\":[");
	for (size_t t = 0; t < s->target_count && s->device_count > 1; t++) {
		gs_buf_puts(b, "[");
		for (uint32_t d = 0; d < s->device_count; d++) {
			struct schedule_totals totals = schedule_device_totals(s, t, d);
			gs_buf_puts(b, "{");
			json_add_number(b, "busy_ns", totals.busy);
			json_add_number(b, "commands_ns", totals.commands);
			json_end(b, "},");
		}
		json_end(b, "],");
	}
	json_end(b, "],");
}

/* What the host of a task list computes. */
static void add_host_steps(struct gs_buf *b, const struct schedule *s)
{
	enum { MOST_SHOWN = 20000 };
	size_t shown = 0;
	gs_buf_puts(b, "\"host_steps\":[");
	for (const struct schedule_command *c = s->first; c && shown < MOST_SHOWN; c = c->next) {
		if (!c->works || !c->replayed)
			continue;
		shown++;
		gs_buf_puts(b, "[");
		for (size_t t = 0; t < s->target_count; t++)
			gs_buf_printf(b, "[%.0f,%.0f],", c->times[t].host_begin, c->times[t].host_end);
		json_end(b, "],");
	}
	json_end(b, "],");
}

void json_timeline(struct gs_buf *b, struct timeline *timeline)
{
	enum { MOST_SHOWN = 20000 };
	uint64_t shown = 0, omitted = timeline->omitted;
	gs_buf_puts(b, "\"timeline\":{\"commands\":[");
	pthread_mutex_lock(&timeline->lock);
	for (const struct schedule_command *c = timeline->schedule.first; c; c = c->next) {
		if (!c->engine || !c->queue || !c->replayed)
			continue;
		if (shown++ < MOST_SHOWN)
			add_command(b, c, &timeline->schedule);
		else
			omitted++;
	}
	if (shown)
		b->len--; /* the line's end, so that the comma goes */
	json_end(b, "],");
	add_totals(b, &timeline->schedule);
	add_devices(b, &timeline->schedule);
	add_host_steps(b, &timeline->schedule);
	pthread_mutex_unlock(&timeline->lock);
	json_add_count(b, "omitted", omitted);
	json_end(b, "},\n");
}
