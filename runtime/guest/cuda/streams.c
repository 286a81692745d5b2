/* Streams and events. One lock is for all of them: commands are long, and what happens under the lock is short. */
#include "runtime/guest/cuda/streams.h"

#include "runtime/process/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t progress; /* a command has ended */
	unsigned waiting;        /* threads that wait for progress */
	struct cuda_stream *streams;
	uint64_t ended;          /* commands, ever */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .progress = PTHREAD_COND_INITIALIZER};

static void wait_for_progress(void)
{
	all.waiting++;
	pthread_cond_wait(&all.progress, &all.lock);
	all.waiting--;
}

/* ---- events ---- */

struct cuda_event *event_new(void)
{
	struct cuda_event *e = calloc(1, sizeof *e);
	if (e)
		e->refs = 1;
	return e;
}

struct cuda_event *cuda_event_retain(struct cuda_event *e)
{
	e->refs++;
	return e;
}

void cuda_event_release(struct cuda_event *e)
{
	if (e && !--e->refs)
		free(e);
}

void event_wait(struct cuda_event *e)
{
	pthread_mutex_lock(&all.lock);
	while (!e->done)
		wait_for_progress();
	pthread_mutex_unlock(&all.lock);
}

bool cuda_event_done(struct cuda_event *e)
{
	pthread_mutex_lock(&all.lock);
	bool done = e->done;
	pthread_mutex_unlock(&all.lock);
	return done;
}

uint64_t event_time(struct cuda_event *e)
{
	pthread_mutex_lock(&all.lock);
	uint64_t ns = e->done_ns;
	pthread_mutex_unlock(&all.lock);
	return ns;
}

/* ---- commands ---- */

int command_prepare(struct cuda_command *c, const struct cuda_call *call, struct gs_error *err)
{
	c->wait = call->wait_count ? calloc(call->wait_count, sizeof *c->wait) : NULL;
	c->event = call->event ? event_new() : NULL;
	if ((call->wait_count && !c->wait) || (call->event && !c->event)) {
		command_end(c);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	for (unsigned i = 0; i < call->wait_count; i++)
		if (call->wait[i])
			c->wait[c->wait_count++] = cuda_event_retain(call->wait[i]);
	return 0;
}

void command_end(struct cuda_command *c)
{
	for (unsigned i = 0; i < c->wait_count; i++)
		cuda_event_release(c->wait[i]);
	free(c->wait);
	cuda_event_release(c->event);
	c->wait = NULL;
	c->wait_count = 0;
	c->event = NULL;
}

/* With the lock held. */
static bool may_begin(const struct cuda_command *c)
{
	for (unsigned i = 0; i < c->wait_count; i++)
		if (!c->wait[i]->done)
			return false;
	return true;
}

/* With the lock held; it is released while the command runs. The stream must not be busy. */
static void run_command(struct cuda_stream *s, struct cuda_command *c)
{
	s->busy = true;
	while (!may_begin(c))
		wait_for_progress();
	pthread_mutex_unlock(&all.lock);
	c->run(c, s);
	uint64_t now = clock_ns();
	pthread_mutex_lock(&all.lock);
	s->busy = false;
	s->completed++;
	all.ended++;
	if (c->event) {
		c->event->done = true;
		c->event->done_ns = now;
	}
	if (all.waiting)
		pthread_cond_broadcast(&all.progress);
	if (s->first || s->closed)
		pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&all.lock);
	c->discard(c);
	pthread_mutex_lock(&all.lock);
}

/* ---- streams ---- */

/* With the lock held. */
static void leave_list(struct cuda_stream *s)
{
	if (s->previous)
		s->previous->next_stream = s->next_stream;
	else
		all.streams = s->next_stream;
	if (s->next_stream)
		s->next_stream->previous = s->previous;
}

/* With the lock held; it is released. */
static void unref_and_unlock(struct cuda_stream *s)
{
	bool last = !--s->refs;
	if (last)
		leave_list(s);
	pthread_mutex_unlock(&all.lock);
	if (!last)
		return;
	if (s->driver)
		s->driver_free(s->driver);
	pthread_cond_destroy(&s->work);
	free(s);
}

static void *stream_thread(void *data)
{
	struct cuda_stream *s = data;
	pthread_mutex_lock(&all.lock);
	while (s->first || s->busy || !s->closed) {
		struct cuda_command *c = s->busy ? NULL : s->first;
		if (!c) {
			pthread_cond_wait(&s->work, &all.lock);
			continue;
		}
		s->first = c->next;
		if (!s->first)
			s->end = &s->first;
		run_command(s, c);
	}
	unref_and_unlock(s);
	return NULL;
}

/* With the lock held. */
static bool ensure_thread(struct cuda_stream *s)
{
	pthread_t thread;
	if (s->has_thread)
		return true;
	s->refs++;
	s->has_thread = !start_thread(&thread, stream_thread, s);
	if (s->has_thread)
		pthread_detach(thread);
	else
		s->refs--;
	return s->has_thread;
}

/* With the lock held: there is no thread, so the caller runs it when its turn comes. */
static void run_here(struct cuda_stream *s, struct cuda_command *c)
{
	while (s->busy || s->first)
		wait_for_progress();
	s->submitted++;
	run_command(s, c);
}

void stream_submit(struct cuda_stream *s, struct cuda_command *c, enum stream_turn turn)
{
	pthread_mutex_lock(&all.lock);
	s->refs++;
	bool idle = !s->busy && !s->first && may_begin(c);
	if ((turn != TURN_LATER && idle) || !ensure_thread(s)) {
		run_here(s, c);
	} else {
		uint64_t number = ++s->submitted;
		c->next = NULL;
		*s->end = c;
		s->end = &c->next;
		pthread_cond_signal(&s->work);
		while (turn == TURN_WAIT && s->completed < number)
			wait_for_progress();
	}
	unref_and_unlock(s);
}

struct cuda_stream *stream_new(const char *name)
{
	struct cuda_stream *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->refs = 1;
	s->end = &s->first;
	snprintf(s->name, sizeof s->name, "%s", name ? name : "");
	pthread_cond_init(&s->work, NULL);
	pthread_mutex_lock(&all.lock);
	s->next_stream = all.streams;
	if (s->next_stream)
		s->next_stream->previous = s;
	all.streams = s;
	pthread_mutex_unlock(&all.lock);
	return s;
}

void stream_close(struct cuda_stream *s)
{
	pthread_mutex_lock(&all.lock);
	s->closed = true;
	pthread_cond_signal(&s->work);
	unref_and_unlock(s);
}

/* With the lock held. */
static void wait_for_number(struct cuda_stream *s, uint64_t number)
{
	while (s->completed < number)
		wait_for_progress();
}

void stream_wait(struct cuda_stream *s)
{
	pthread_mutex_lock(&all.lock);
	s->refs++;
	wait_for_number(s, s->submitted);
	unref_and_unlock(s);
}

bool stream_is_idle(struct cuda_stream *s)
{
	pthread_mutex_lock(&all.lock);
	bool idle = s->completed == s->submitted;
	pthread_mutex_unlock(&all.lock);
	return idle;
}

void streams_each(void (*visit)(struct cuda_stream *s, void *data), void *data)
{
	pthread_mutex_lock(&all.lock);
	struct cuda_stream *s = all.streams;
	if (s)
		s->refs++;
	while (s) {
		pthread_mutex_unlock(&all.lock);
		visit(s, data);
		pthread_mutex_lock(&all.lock);
		struct cuda_stream *next = s->next_stream;
		if (next)
			next->refs++;
		unref_and_unlock(s);
		s = next;
		pthread_mutex_lock(&all.lock);
	}
	pthread_mutex_unlock(&all.lock);
}

/* Streams are in the order of their making, the latest first. None that was there at the beginning is left out: one that is gone by
 * now had nothing left to do. */
static void wait_for_one(struct cuda_stream *s, void *unused)
{
	(void)unused;
	stream_wait(s);
}

void streams_wait_all(void)
{
	streams_each(wait_for_one, NULL);
}

/* With the lock held. */
static bool all_completed(void)
{
	for (const struct cuda_stream *s = all.streams; s; s = s->next_stream)
		if (s->completed < s->submitted)
			return false;
	return true;
}

bool streams_finish(unsigned patience_ms)
{
	struct timespec deadline = deadline_in(patience_ms);
	if (pthread_mutex_timedlock(&all.lock, &deadline)) /* exit() in a signal handler may have interrupted a thread that has it */
		return false;
	bool late = false;
	all.waiting++;
	while (!all_completed() && !late) {
		uint64_t before = all.ended;
		deadline = deadline_in(patience_ms);
		while (all.ended == before && !late)
			late = pthread_cond_timedwait(&all.progress, &all.lock, &deadline) == ETIMEDOUT;
	}
	all.waiting--;
	bool finished = all_completed();
	pthread_mutex_unlock(&all.lock);
	return finished;
}
