/* Sorts the commands of a schedule by their starts, for sums and for lanes that do not overlap; see totals.h. */
#include "runtime/timeline/totals.h"

#include <math.h>
#include <stdlib.h>

enum { ALL_DEVICES = SCHEDULE_DEVICES };

struct command_span {
	double start, end;
	struct schedule_command *command;
};

static int by_start(const void *a, const void *b)
{
	const struct command_span *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->command->id < y->command->id ? -1 : x->command->id > y->command->id;
}

/* Launches and copies whose times are known; NULL: none, or memory is short. */
static struct command_span *spans_of(const struct schedule *s, size_t target, uint32_t device, size_t *count)
{
	struct command_span *spans = s->count ? malloc(s->count * sizeof *spans) : NULL;
	*count = 0;
	for (struct schedule_command *c = spans ? s->first : NULL; c; c = c->next) {
		const struct command_times *t = &c->times[target];
		if (c->engine && c->queue && (device == ALL_DEVICES || c->queue->device == device) && t->state == COMMAND_DONE && !isnan(t->duration))
			spans[(*count)++] = (struct command_span){t->start, t->end, c};
	}
	if (spans)
		qsort(spans, *count, sizeof *spans, by_start);
	return spans;
}

struct schedule_totals schedule_device_totals(const struct schedule *s, size_t target, uint32_t device)
{
	struct schedule_totals totals = {0};
	double reached = 0, first = INFINITY, last = 0;
	size_t count;
	struct command_span *spans = spans_of(s, target, device, &count);
	for (size_t i = 0; i < count; i++) {
		double from = spans[i].start > reached ? spans[i].start : reached;
		totals.commands += spans[i].end - spans[i].start;
		totals.busy += spans[i].end > from ? spans[i].end - from : 0;
		reached = spans[i].end > reached ? spans[i].end : reached;
	}
	for (const struct schedule_command *c = s->first; c; c = c->next) {
		first = c->replayed && c->times[target].host_begin < first ? c->times[target].host_begin : first;
		last = c->replayed && c->times[target].host_end > last ? c->times[target].host_end : last;
	}
	last = reached > last ? reached : last;
	totals.program = last > first ? last - first : 0;
	free(spans);
	return totals;
}

struct schedule_totals schedule_totals(const struct schedule *s, size_t target)
{
	return schedule_device_totals(s, target, ALL_DEVICES);
}

static void choose_lanes(struct command_span *spans, size_t count, const struct schedule_queue *q, enum command_engine engine)
{
	double ends[SCHEDULE_LANES] = {0};
	for (size_t i = 0; i < count; i++) {
		struct schedule_command *c = spans[i].command;
		if (c->queue != q || c->engine != engine)
			continue;
		for (c->lane = 0; c->lane + 1 < SCHEDULE_LANES && ends[c->lane] > spans[i].start;)
			c->lane++;
		ends[c->lane] = spans[i].end;
	}
}

void schedule_lanes(struct schedule *s, size_t target)
{
	size_t count;
	struct command_span *spans = spans_of(s, target, ALL_DEVICES, &count);
	for (struct schedule_queue *q = s->queues; q; q = q->next)
		for (int engine = ENGINE_COMPUTE; engine < ENGINE_COUNT && !q->in_order; engine++)
			choose_lanes(spans, count, q, (enum command_engine)engine);
	free(spans);
}
