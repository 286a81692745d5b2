#include "interposer/cuda/events.h"

#include "interposer/cuda/streams.h"

#include <pthread.h>
#include <stdlib.h>

struct application_event {
	unsigned flags;
	struct cuda_event *recorded; /* NULL: nothing yet */
	struct capture_place place;  /* where it was recorded instead, in a capture */
	struct application_event *next, *before;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and its members */
static struct application_event *events;

/* With the lock held. NULL: there is no such event. */
static struct application_event *find_event(void *handle)
{
	struct application_event *e = handle ? events : NULL;
	while (e && e != handle)
		e = e->next;
	return e;
}

int event_recorded(void *event, struct cuda_event **out)
{
	pthread_mutex_lock(&lock);
	struct application_event *e = find_event(event);
	*out = e && e->recorded ? cuda_event_retain(e->recorded) : NULL;
	pthread_mutex_unlock(&lock);
	return e ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

bool event_is_captured(void *event)
{
	pthread_mutex_lock(&lock);
	struct application_event *e = find_event(event);
	bool is = e && capture_was(&e->place);
	pthread_mutex_unlock(&lock);
	return is;
}

int event_join(void *event, struct capture_place *stream)
{
	pthread_mutex_lock(&lock);
	struct application_event *e = find_event(event);
	int error = e ? capture_join(stream, &e->place) : cudaErrorInvalidResourceHandle;
	pthread_mutex_unlock(&lock);
	return error;
}

static int record_captured(void *event, void *stream)
{
	pthread_mutex_lock(&lock);
	struct application_event *e = find_event(event);
	int error = e ? stream_mark_place(stream, &e->place) : cudaErrorInvalidResourceHandle;
	pthread_mutex_unlock(&lock);
	return error;
}

int hook_cudaEventCreateWithFlags(void **out, unsigned flags)
{
	bool good = !(flags & ~(unsigned)API_EVENT_FLAGS) && (!(flags & API_EVENT_INTERPROCESS) || (flags & API_EVENT_NO_TIMING));
	if (!out || !good)
		return cudaErrorInvalidValue;
	struct application_event *e = calloc(1, sizeof *e);
	if (!e)
		return cudaErrorMemoryAllocation;
	e->flags = flags;
	pthread_mutex_lock(&lock);
	e->next = events;
	if (events)
		events->before = e;
	events = e;
	pthread_mutex_unlock(&lock);
	*out = e;
	return cudaSuccess;
}

int hook_cudaEventCreate(void **out)
{
	return hook_cudaEventCreateWithFlags(out, 0);
}

int hook_cudaEventDestroy(void *event)
{
	pthread_mutex_lock(&lock);
	struct application_event *e = find_event(event);
	if (e) {
		*(e->before ? &e->before->next : &events) = e->next;
		if (e->next)
			e->next->before = e->before;
	}
	pthread_mutex_unlock(&lock);
	if (!e)
		return cudaErrorInvalidResourceHandle;
	if (e->recorded)
		cuda_event_release(e->recorded);
	capture_leave(&e->place);
	free(e);
	return cudaSuccess;
}

/* Takes the reference to `recorded`. */
static bool is_timed(void *event)
{
	pthread_mutex_lock(&lock);
	struct application_event *e = find_event(event);
	bool timed = e && !(e->flags & API_EVENT_NO_TIMING);
	pthread_mutex_unlock(&lock);
	return timed;
}

static int set_recorded(void *event, struct cuda_event *recorded)
{
	pthread_mutex_lock(&lock);
	struct application_event *e = find_event(event);
	struct cuda_event *before = e ? e->recorded : recorded;
	if (e) {
		e->recorded = recorded;
		capture_leave(&e->place);
	}
	pthread_mutex_unlock(&lock);
	if (before)
		cuda_event_release(before);
	return e ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

int hook_cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
	struct ordered_command c;
	struct cuda_event *mark = NULL, *before;
	int error = flags > 1 ? cudaErrorInvalidValue : event_recorded(event, &before);
	if (error)
		return error;
	if (before)
		cuda_event_release(before);
	if (stream_is_capturing(stream) && flags) {
		error_say_once("cudaEventRecordExternal", "graphs do not record events yet");
		return cudaErrorNotSupported;
	}
	if (stream_is_capturing(stream))
		return record_captured(event, stream);
	error = ordered_begin(&c, stream, false, NULL);
	if (error)
		return error;
	c.call.records = is_timed(event);
	int result = cuda_mark(&c.call, &c.err);
	if (!result && c.event)
		mark = cuda_event_retain(c.event);
	error = ordered_end(&c, result, cudaErrorUnknown);
	return mark ? set_recorded(event, mark) : error;
}

int hook_cudaEventRecord(void *event, void *stream)
{
	return hook_cudaEventRecordWithFlags(event, stream, 0);
}

int hook_cudaEventQuery(void *event)
{
	struct gs_error err;
	struct cuda_event *recorded;
	int error = event_is_captured(event) ? cudaErrorCapturedEvent : event_recorded(event, &recorded);
	if (error || !recorded)
		return error;
	if (cuda_event_done(recorded))
		error = error_of(cuda_event_wait(recorded, &err), cudaErrorUnknown); /* for its error */
	else
		error = cudaErrorNotReady;
	cuda_event_release(recorded);
	return error;
}

int hook_cudaEventSynchronize(void *event)
{
	struct gs_error err;
	struct cuda_event *recorded;
	int error = event_is_captured(event) ? cudaErrorCapturedEvent : event_recorded(event, &recorded);
	if (error || !recorded)
		return error;
	error = error_of(cuda_event_wait(recorded, &err), cudaErrorUnknown);
	cuda_event_release(recorded);
	return error;
}

/* What was recorded, for a time. */
static int timed_event(void *event, struct cuda_event **out)
{
	*out = NULL;
	pthread_mutex_lock(&lock);
	struct application_event *e = find_event(event);
	if (e && e->recorded && !(e->flags & API_EVENT_NO_TIMING))
		*out = cuda_event_retain(e->recorded);
	pthread_mutex_unlock(&lock);
	if (!*out)
		return cudaErrorInvalidResourceHandle;
	return cuda_event_done(*out) ? cudaSuccess : cudaErrorNotReady;
}

int hook_cudaEventElapsedTime(float *milliseconds, void *begin, void *end)
{
	struct cuda_event *from, *to;
	if (!milliseconds)
		return cudaErrorInvalidValue;
	int begin_error = timed_event(begin, &from), end_error = timed_event(end, &to);
	bool known = from && to; /* an event that does not exist comes before one that has not happened */
	int error = !known ? cudaErrorInvalidResourceHandle : begin_error ? begin_error : end_error;
	if (!error)
		*milliseconds = (float)((double)(int64_t)(cuda_event_ns(to) - cuda_event_ns(from)) / 1e6);
	if (from)
		cuda_event_release(from);
	if (to)
		cuda_event_release(to);
	return error;
}

int hook_cudaEventElapsedTime_v2(float *milliseconds, void *begin, void *end)
{
	return hook_cudaEventElapsedTime(milliseconds, begin, end);
}
