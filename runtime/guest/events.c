/*
 * Times of events. A launch in boxes (launch_boxes.c) has the event of its last box; it was queued, submitted and started
 * when the first of its boxes was.
 *
 * We do not see when an event is released, and the driver may give its handle to another one. So what is kept of a launch that has
 * completed has the driver's own times too: an event that has others is another. The last RING launches are kept.
 */
#include "tracing.h"

#include "table.h"
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 3, RING = 1024 };

static const cl_profiling_info times[TIMES] = {
	CL_PROFILING_COMMAND_QUEUED,
	CL_PROFILING_COMMAND_SUBMIT,
	CL_PROFILING_COMMAND_START,
};

struct boxed_event {
	cl_event event; /* the last box's; NULL: the application cannot ask for its times */
	bool completed;
	cl_ulong own[TIMES], first[TIMES]; /* once completed */
	size_t part_count;
	cl_event parts[MOST_BOXES]; /* until then: of the boxes before the last */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table known;
static struct boxed_event *ring[RING];
static size_t ring_next;
static atomic_size_t known_count;

/* ---- what the launches tell ---- */

struct boxed_event *boxed_event_new(cl_event event, const cl_event *parts, size_t count)
{
	struct boxed_event *e = calloc(1, sizeof *e), *before = NULL;
	if (!e)
		return NULL;
	e->event = event;
	for (size_t i = 0; i < count; i++)
		e->parts[e->part_count++] = parts[i];
	if (!event)
		return e;
	pthread_mutex_lock(&lock);
	struct boxed_event **place = &ring[ring_next++ % RING], *oldest = *place;
	if (oldest && !oldest->completed) { /* a thousand launches later */
		e->event = NULL;
	} else {
		if (oldest && table_get(&known, oldest->event) == oldest)
			table_remove(&known, oldest->event);
		free(oldest);
		*place = e;
		before = table_put(&known, event, e);
		if (before == e) /* memory is short */
			*place = NULL;
		e->event = before == e ? NULL : event;
		known_count = known.count;
	}
	pthread_mutex_unlock(&lock);
	return e;
}

/* The lowest of the parts' and `own`. */
static cl_ulong first_of(const cl_event *parts, size_t count, cl_profiling_info what, cl_ulong own)
{
	cl_ulong first = own, one;
	for (size_t i = 0; i < count; i++)
		if (cl.clGetEventProfilingInfo(parts[i], what, sizeof one, &one, NULL) == CL_SUCCESS && one < first)
			first = one;
	return first;
}

uint64_t boxed_event_completed(struct boxed_event *e, cl_event event)
{
	cl_ulong own[TIMES] = {0}, first[TIMES] = {0};
	for (int i = 0; i < TIMES; i++)
		if (cl.clGetEventProfilingInfo(event, times[i], sizeof own[i], &own[i], NULL) == CL_SUCCESS)
			first[i] = first_of(e->parts, e->part_count, times[i], own[i]);
	pthread_mutex_lock(&lock);
	cl_event parts[MOST_BOXES];
	size_t count = e->part_count;
	for (size_t i = 0; i < count; i++)
		parts[i] = e->parts[i];
	for (int i = 0; i < TIMES; i++) {
		e->own[i] = own[i];
		e->first[i] = first[i];
	}
	e->part_count = 0;
	e->completed = true;
	bool kept = e->event;
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < count; i++)
		cl.clReleaseEvent(parts[i]);
	if (!kept)
		free(e);
	return first[TIMES - 1];
}

/* ---- what the application asks ---- */

/* The index in `times`, or -1. */
static int time_index(cl_profiling_info what)
{
	for (int i = 0; i < TIMES; i++)
		if (times[i] == what)
			return i;
	return -1;
}

/* What the application is to see where the driver says `own`. */
static cl_ulong time_of(cl_event event, int index, cl_ulong own)
{
	cl_event parts[MOST_BOXES];
	size_t count = 0;
	cl_ulong answer = own;
	pthread_mutex_lock(&lock);
	const struct boxed_event *e = table_get(&known, event);
	if (e && e->completed && e->own[index] == own)
		answer = e->first[index];
	for (; e && count < e->part_count; count++)
		cl.clRetainEvent(parts[count] = e->parts[count]);
	pthread_mutex_unlock(&lock);
	answer = first_of(parts, count, times[index], answer);
	for (size_t i = 0; i < count; i++)
		cl.clReleaseEvent(parts[i]);
	return answer;
}

cl_int event_profiling_info(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
	cl_int result = cl.clGetEventProfilingInfo(event, what, room, value, size);
	cl_ulong simulated;
	if (result == CL_SUCCESS && value && room >= sizeof simulated && timeline_profiling(event, what, &simulated)) {
		memcpy(value, &simulated, sizeof simulated);
		return result;
	}
	int index = result == CL_SUCCESS && value && room >= sizeof(cl_ulong) && known_count ? time_index(what) : -1;
	if (index >= 0) {
		int saved = errno;
		cl_ulong time; /* value may lie anywhere */
		memcpy(&time, value, sizeof time);
		time = time_of(event, index, time);
		memcpy(value, &time, sizeof time);
		errno = saved;
	}
	return result;
}
