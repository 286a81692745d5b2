/* The replay of the application's commands on targets; see schedule.h. */
#include "runtime/timeline/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int schedule_start(struct schedule *s, size_t target_count)
{
	*s = (struct schedule){.target_count = target_count, .engine_free = calloc(target_count * ENGINE_COUNT + 1, sizeof(double))};
	return s->engine_free ? 0 : -1;
}

void schedule_free(struct schedule *s)
{
	for (struct schedule_command *c = s->first, *next; c; c = next) {
		next = c->next;
		free(c->name);
		free(c->after);
		free(c);
	}
	for (struct schedule_queue *q = s->queues, *next; q; q = next) {
		next = q->next;
		free(q->last_end);
		free(q);
	}
	for (struct schedule_thread *t = s->threads, *next; t; t = next) {
		next = t->next;
		free(t->clock);
		free(t);
	}
	free(s->engine_free);
	*s = (struct schedule){0};
}

/* ---- the log ---- */

struct schedule_queue *schedule_queue(struct schedule *s, const void *handle, bool in_order)
{
	uint32_t count = 0;
	for (struct schedule_queue *q = s->queues; q; q = q->next, count++)
		if (q->handle == handle)
			return q;
	struct schedule_queue *q = calloc(1, sizeof *q);
	if (!q || !(q->last_end = calloc(3 * s->target_count + 1, sizeof(double)))) {
		free(q);
		return NULL;
	}
	q->all_end = q->last_end + s->target_count;
	q->floor = q->all_end + s->target_count;
	q->handle = handle;
	q->in_order = in_order;
	q->index = count;
	q->next = s->queues;
	s->queues = q;
	return q;
}

/* A thread begins where the latest of the others is: one of them has started it. */
struct schedule_thread *schedule_thread(struct schedule *s, uint64_t id)
{
	uint32_t count = 0;
	for (struct schedule_thread *t = s->threads; t; t = t->next, count++)
		if (t->id == id)
			return t;
	struct schedule_thread *t = calloc(1, sizeof *t);
	if (!t || !(t->clock = calloc(s->target_count + 1, sizeof(double)))) {
		free(t);
		return NULL;
	}
	t->id = id;
	t->index = count;
	t->next = s->threads;
	s->threads = t;
	return t;
}

struct schedule_command *schedule_add(struct schedule *s, const char *what, const char *name)
{
	struct schedule_command *c = calloc(1, sizeof *c + s->target_count * sizeof c->times[0]);
	if (!c)
		return NULL;
	c->what = what;
	c->name = name ? strdup(name) : NULL;
	c->id = s->count++;
	if (s->last)
		s->last->next = c;
	else
		s->first = c;
	s->last = c;
	if (!s->next)
		s->next = c;
	return c;
}

/* ---- the replay ---- */

static double later(double a, double b)
{
	return a > b ? a : b;
}

static void begin_call(const struct schedule *s, struct schedule_command *c, size_t t)
{
	struct schedule_thread *thread = c->thread;
	double between = thread->called && c->call_ns > thread->returned_ns ? (double)(c->call_ns - thread->returned_ns) : 0;
	if (!thread->called) {
		between = (double)c->call_ns;
		for (const struct schedule_thread *other = s->threads; other; other = other->next)
			if (other->called && other->clock[t] > 0)
				between = 0, thread->clock[t] = later(thread->clock[t], other->clock[t]);
	}
	c->times[t].host_begin = thread->clock[t] + between;
}

static double start_of(const struct schedule *s, const struct schedule_command *c, size_t t)
{
	const struct schedule_queue *q = c->queue;
	double start = c->times[t].host_begin;
	for (size_t i = 0; i < c->after_count; i++)
		start = later(start, c->after[i]->times[t].end);
	if (q)
		start = later(start, c->waits_all ? q->all_end[t] : q->in_order ? later(q->last_end[t], q->floor[t]) : q->floor[t]);
	return c->engine ? later(start, s->engine_free[t * ENGINE_COUNT + c->engine]) : start;
}

static void run_command(struct schedule *s, struct schedule_command *c, size_t t)
{
	struct schedule_queue *q = c->queue;
	struct command_times *at = &c->times[t];
	at->start = start_of(s, c, t);
	at->end = at->start + (isnan(at->duration) ? 0 : at->duration);
	if (c->engine)
		s->engine_free[t * ENGINE_COUNT + c->engine] = at->end;
	if (q) {
		q->last_end[t] = at->end;
		q->all_end[t] = later(q->all_end[t], at->end);
		if (c->barrier)
			q->floor[t] = at->end;
	}
}

static void end_call(struct schedule_command *c, size_t t)
{
	double took = c->return_ns > c->call_ns ? (double)(c->return_ns - c->call_ns) : 0;
	double end = c->times[t].host_begin + (took < CALL_NS ? took : CALL_NS);
	c->times[t].host_end = c->waits ? later(end, c->times[t].end) : end;
	c->thread->clock[t] = c->times[t].host_end;
}

void schedule_replay(struct schedule *s)
{
	for (struct schedule_command *c = s->next; c && c->resolved; c = s->next = c->next) {
		for (size_t t = 0; t < s->target_count; t++) {
			begin_call(s, c, t);
			run_command(s, c, t);
			end_call(c, t);
		}
		c->thread->returned_ns = c->return_ns;
		c->thread->called = true;
		c->replayed = true;
	}
}
