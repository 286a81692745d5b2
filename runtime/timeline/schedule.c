/* The replay of the application's commands on targets; see schedule.h. */
#include "runtime/timeline/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int schedule_start(struct schedule *s, size_t target_count)
{
	*s = (struct schedule){.target_count = target_count, .device_count = 1, .gpus = calloc(target_count * SCHEDULE_DEVICES + 1, sizeof *s->gpus)};
	for (size_t t = 0; t < target_count && s->gpus; t++)
		schedule_limit(s, t, (struct schedule_limits){UINT32_MAX, 2, 1, 0});
	return s->gpus ? 0 : -1;
}

struct schedule_limits schedule_limits_of(const struct gpu *gpu)
{
	double left = gpu->link_both_gbps > 0 ? gpu->link_both_gbps / gpu->link_gbps - 1 : 1, latency_ns = gpu->dram_latency * 1000 / gpu->clock_mhz;
	return (struct schedule_limits){
		.launches = gpu->concurrent_kernels,
		.copies = gpu->copy_engines,
		.second_copy = fmin(1, fmax(left, 0.1)), /* it never stops */
		.bank_time = latency_ns > 0 ? gpu->dram_cycle_ns / latency_ns : 0,
	};
}

static struct schedule_gpu *gpu_of(const struct schedule *s, size_t target, uint32_t device)
{
	return &s->gpus[target * SCHEDULE_DEVICES + device];
}

void schedule_limit(struct schedule *s, size_t target, struct schedule_limits limits)
{
	for (uint32_t d = 0; d < SCHEDULE_DEVICES; d++) {
		struct schedule_gpu *gpu = gpu_of(s, target, d);
		gpu->sharing.most = limits.launches;
		gpu->sharing.bank_time = limits.bank_time;
		gpu->one_copy = limits.copies == 1;
		gpu->second_copy = limits.second_copy;
	}
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
		free(q);
	}
	for (struct schedule_thread *t = s->threads, *next; t; t = next) {
		next = t->next;
		free(t->clock);
		free(t);
	}
	for (size_t i = 0; i < s->target_count * SCHEDULE_DEVICES && s->gpus; i++)
		sharing_free(&s->gpus[i].sharing);
	free(s->gpus);
	*s = (struct schedule){0};
}

/* ---- the log ---- */

struct schedule_queue *schedule_queue(struct schedule *s, const void *handle, bool in_order)
{
	uint32_t count = 0;
	for (struct schedule_queue *q = s->queues; q; q = q->next, count++)
		if (q->handle == handle)
			return q;
	struct schedule_queue *q = calloc(1, sizeof *q + s->target_count * sizeof q->places[0]);
	if (!q)
		return NULL;
	q->handle = handle;
	q->in_order = in_order;
	q->index = count;
	q->next = s->queues;
	s->queues = q;
	return q;
}

void schedule_queue_device(struct schedule *s, struct schedule_queue *q, uint32_t device)
{
	q->device = device < SCHEDULE_DEVICES ? device : SCHEDULE_DEVICES - 1;
	s->device_count = q->device >= s->device_count ? q->device + 1 : s->device_count;
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

/* ---- whose turn it is ---- */

/* False: something that it waits for is not done. */
static bool may_start(const struct schedule_command *c, size_t t, double *ready)
{
	*ready = c->times[t].host_begin;
	for (size_t i = 0; i < c->after_count; i++) {
		if (c->after[i]->times[t].state != COMMAND_DONE)
			return false;
		*ready = later(*ready, c->after[i]->times[t].end);
	}
	const struct queue_place *q = c->queue ? &c->queue->places[t] : NULL;
	if (q && (c->waits_all || c->queue->in_order) && q->open != c)
		return false;
	if (q)
		*ready = later(*ready, c->waits_all || c->queue->in_order ? q->before_open : q->floor);
	return true;
}

struct start {
	struct schedule_command *command; /* NULL: none may start */
	double ready;
};

static void consider(struct start *turn, struct schedule_command *c, size_t t)
{
	double ready;
	if (may_start(c, t, &ready) && (!turn->command || ready < turn->ready || (ready == turn->ready && c->id < turn->command->id)))
		*turn = (struct start){c, ready};
}

static struct start next_turn(const struct schedule *s, size_t t)
{
	enum { MOST_LOOKED_AT = 256 }; /* of an out-of-order queue: it may have very many */
	struct start turn = {0};
	for (const struct schedule_queue *q = s->queues; q; q = q->next) {
		unsigned seen = 0;
		for (struct schedule_command *c = q->places[t].head; c && seen < (q->in_order ? 1 : MOST_LOOKED_AT); c = c->next_in_queue) {
			if (c->times[t].state != COMMAND_WAITS)
				continue;
			consider(&turn, c, t);
			seen++;
			if (c->barrier)
				break;
		}
	}
	return turn;
}

/* ---- running ---- */

static void leave_open(struct queue_place *q, size_t t)
{
	for (; q->open && q->open->times[t].state == COMMAND_DONE; q->open = q->open->next_in_queue)
		q->before_open = later(q->before_open, q->open->times[t].end);
}

static void finish(struct schedule_command *c, size_t t, double start, double end)
{
	struct command_times *at = &c->times[t];
	struct queue_place *q = c->queue ? &c->queue->places[t] : NULL;
	at->start = start;
	at->end = end;
	at->state = COMMAND_DONE;
	if (q) {
		leave_open(q, t);
		q->all_end = later(q->all_end, end);
		if (c->barrier)
			q->floor = end;
	}
}

/* When a copy ends that is slower until the one in the other direction has ended. */
static double copy_end(double start, double duration, double other_end, double slower)
{
	double beside = other_end > start ? other_end - start : 0;
	if (beside * slower >= duration)
		return start + duration / slower;
	return beside > 0 ? other_end + duration - beside * slower : start + duration;
}

static void start_copy(struct schedule *s, struct schedule_command *c, size_t t, double ready)
{
	struct schedule_gpu *gpu = gpu_of(s, t, c->queue->device);
	enum command_engine engine = gpu->one_copy ? ENGINE_TO_GPU : c->engine;
	enum command_engine other = engine == ENGINE_TO_GPU ? ENGINE_FROM_GPU : ENGINE_TO_GPU;
	double start = later(ready, gpu->copies_end[engine]);
	gpu->copies_end[engine] = copy_end(start, c->times[t].duration, gpu->copies_end[other], gpu->second_copy);
	finish(c, t, start, gpu->copies_end[engine]);
}

static void leave_head(struct queue_place *q, size_t t)
{
	while (q->head && q->head->times[t].state != COMMAND_WAITS)
		q->head = q->head->next_in_queue;
}

static void start_command(struct schedule *s, struct start turn, size_t t)
{
	struct schedule_command *c = turn.command;
	struct command_times *at = &c->times[t];
	at->state = COMMAND_RUNS;
	if (!c->engine || isnan(at->duration))
		finish(c, t, turn.ready, turn.ready + (c->records ? at->duration : 0));
	else if (c->engine != ENGINE_COMPUTE)
		start_copy(s, c, t, turn.ready);
	else if (!sharing_add(&gpu_of(s, t, c->queue->device)->sharing, c, at->duration, &at->demand, c->queue->priority, turn.ready))
		/* memory is short */
		finish(c, t, turn.ready, turn.ready + at->duration);
	leave_head(&c->queue->places[t], t);
}

static void end_launch(struct sharing *sharing, size_t t)
{
	struct shared_launch ended;
	if (!sharing_step(sharing, &ended))
		return;
	finish(ended.what, t, ended.start, ended.end);
}

/* The GPU that changes first. */
static struct sharing *next_change(const struct schedule *s, size_t t, double *change)
{
	struct sharing *first = &gpu_of(s, t, 0)->sharing;
	*change = sharing_next(first);
	for (uint32_t d = 1; d < s->device_count; d++) {
		struct sharing *other = &gpu_of(s, t, d)->sharing;
		double at = sharing_next(other);
		if (at < *change) {
			*change = at;
			first = other;
		}
	}
	return first;
}

/* Until the command is done; NULL: everything. Earlier changes come first. What ends makes room for what starts at that time. */
static void run_until(struct schedule *s, const struct schedule_command *goal, size_t t)
{
	while (!goal || goal->times[t].state != COMMAND_DONE) {
		struct start turn = next_turn(s, t);
		double change;
		struct sharing *sharing = next_change(s, t, &change);
		if (!isinf(change) && (!turn.command || change <= turn.ready))
			end_launch(sharing, t);
		else if (turn.command)
			start_command(s, turn, t);
		else
			break;
	}
}

/* ---- calls ---- */

static void enter_queue(struct schedule *s, struct schedule_command *c)
{
	struct schedule_queue *q = c->queue;
	if (q->last)
		q->last->next_in_queue = c;
	q->last = c;
	for (size_t t = 0; t < s->target_count; t++) {
		struct queue_place *place = &q->places[t];
		place->head = place->head ? place->head : c;
		place->open = place->open ? place->open : c;
	}
}

/* A call that waits for events, without a queue. */
static void wait_for_events(struct schedule *s, struct schedule_command *c, size_t t)
{
	double ready;
	for (size_t i = 0; i < c->after_count; i++)
		run_until(s, c->after[i], t);
	may_start(c, t, &ready);
	finish(c, t, ready, ready);
}

/* What a call takes at most, unless the host works in it. */
static double call_limit(const struct schedule_command *c)
{
	if (!c->queue || !c->queue->stream)
		return CALL_NS;
	if (c->engine == ENGINE_NONE)
		return STREAM_MARK_NS;
	return c->engine == ENGINE_COMPUTE && !c->size_bytes ? STREAM_LAUNCH_NS : CALL_NS;
}

static void end_call(struct schedule_command *c, size_t t)
{
	double took = c->return_ns > c->call_ns ? (double)(c->return_ns - c->call_ns) : 0;
	double end = c->times[t].host_begin + (c->works ? took : fmin(took, call_limit(c)));
	c->times[t].host_end = c->waits ? later(end, c->times[t].end) : end;
	c->thread->clock[t] = c->times[t].host_end;
}

void schedule_replay(struct schedule *s)
{
	for (struct schedule_command *c = s->next; c && c->resolved; c = s->next = c->next) {
		if (c->queue)
			enter_queue(s, c);
		for (size_t t = 0; t < s->target_count; t++) {
			begin_call(s, c, t);
			if (!c->queue)
				wait_for_events(s, c, t);
			else if (c->waits)
				run_until(s, c, t);
			end_call(c, t);
		}
		c->thread->returned_ns = c->return_ns;
		c->thread->called = true;
		c->replayed = true;
	}
}

double schedule_call_begins(struct schedule *s, struct schedule_command *c, size_t target)
{
	begin_call(s, c, target);
	return c->times[target].host_begin;
}

void schedule_call_ends(struct schedule *s, struct schedule_command *c, size_t target, double end)
{
	finish(c, target, c->times[target].host_begin, end);
	c->times[target].host_end = c->thread->clock[target] = end;
	c->thread->returned_ns = c->return_ns;
	c->thread->called = c->resolved = c->replayed = true;
	s->next = c->next;
}

double schedule_end(const struct schedule *s, size_t target)
{
	double end = 0;
	for (const struct schedule_thread *t = s->threads; t; t = t->next)
		end = later(end, t->clock[target]);
	for (const struct schedule_queue *q = s->queues; q; q = q->next)
		end = later(end, q->places[target].all_end);
	return end;
}

void schedule_settle(struct schedule *s, const struct schedule_command *c)
{
	for (size_t t = 0; t < s->target_count; t++)
		run_until(s, c, t);
}
