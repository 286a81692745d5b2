#include "interposer/cuda/streams.h"

#include "interposer/cuda/events.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct application_stream {
	struct cuda_stream *queue;
	unsigned flags, users; /* users: calls that use it now, and 1 for the application */
	int priority;
	unsigned long long id;
	bool blocking, legacy;
	uint32_t device;
	pthread_mutex_t turn;    /* held while a command that the caller does not wait for is enqueued */
	struct cuda_event *last; /* of the last such command, or NULL */
	/* How many there were; and between this stream and the legacy one: for how many of these a command of the legacy stream waits, and
	 * for how many of the legacy stream's one of this stream does. */
	unsigned long long commands, legacy_waits, waits_for_legacy;
	struct capture_place place;
	void *attributes; /* see stream_attributes() */
	struct application_stream *next;
};

/* Everything below, `last` and `users` of all streams. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct application_stream *streams, *legacy[CUDA_MOST_DEVICES];
static unsigned long long stream_count;
/* What destroyed blocking streams still have to do. */
static struct cuda_event **orphans;
static size_t orphan_count, orphan_room;

static __thread struct application_stream *thread_stream;
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

/* ---- making and finding them ---- */

static struct application_stream *new_stream(const char *name, unsigned flags, int priority)
{
	struct gs_error err;
	char text[32];
	struct application_stream *s = calloc(1, sizeof *s);
	pthread_mutex_lock(&lock);
	unsigned long long id = ++stream_count;
	pthread_mutex_unlock(&lock);
	snprintf(text, sizeof text, "stream %llu", id);
	if (!s || cuda_stream_new(name ? name : text, &s->queue, &err)) {
		free(s);
		return NULL;
	}
	s->flags = flags;
	s->priority = priority;
	cuda_stream_set_priority(s->queue, priority);
	s->id = id;
	s->blocking = !(flags & API_STREAM_NON_BLOCKING);
	s->users = 1;
	s->device = cuda_current_device();
	pthread_mutex_init(&s->turn, NULL);
	pthread_mutex_lock(&lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&lock);
	return s;
}

static bool has_happened(struct cuda_event **event)
{
	if (*event && cuda_event_done(*event)) {
		cuda_event_release(*event);
		*event = NULL;
	}
	return !*event;
}

/* With the lock held. What the stream still has to do is kept for the legacy stream to wait for. */
static void keep_orphan(struct application_stream *s)
{
	size_t kept = 0;
	for (size_t i = 0; i < orphan_count; i++)
		if (!has_happened(&orphans[i]))
			orphans[kept++] = orphans[i];
	orphan_count = kept;
	if (has_happened(&s->last))
		return;
	if (s->blocking && gs_reserve(&orphans, orphan_count, &orphan_room, sizeof *orphans))
		orphans[orphan_count++] = s->last;
	else
		cuda_event_release(s->last);
	s->last = NULL;
}

static void put_stream(struct application_stream *s)
{
	pthread_mutex_lock(&lock);
	bool unused = !--s->users;
	if (unused)
		keep_orphan(s);
	pthread_mutex_unlock(&lock);
	if (!unused)
		return;
	capture_leave(&s->place);
	cuda_stream_free(s->queue);
	pthread_mutex_destroy(&s->turn);
	free(s->attributes);
	free(s);
}

/* With the lock held. */
static void unlist_stream(struct application_stream *s)
{
	struct application_stream **at = &streams;
	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
}

static void end_thread_stream(void *data)
{
	struct application_stream *s = data;
	pthread_mutex_lock(&lock);
	unlist_stream(s);
	pthread_mutex_unlock(&lock);
	put_stream(s);
}

static void make_thread_key(void)
{
	pthread_key_create(&thread_key, end_thread_stream);
}

static struct application_stream *own_stream(void)
{
	pthread_once(&thread_once, make_thread_key);
	if (!thread_stream && (thread_stream = new_stream(NULL, 0, 0)))
		pthread_setspecific(thread_key, thread_stream);
	return thread_stream;
}

static struct application_stream *legacy_stream(void)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&making);
	pthread_mutex_lock(&lock);
	struct application_stream *s = legacy[cuda_current_device()];
	pthread_mutex_unlock(&lock);
	if (!s && (s = new_stream("default stream", 0, 0))) {
		pthread_mutex_lock(&lock);
		s->legacy = true;
		legacy[cuda_current_device()] = s;
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_unlock(&making);
	return s;
}

/* The stream of a handle, which the caller puts back with put_stream, or NULL. */
static struct application_stream *take_stream(void *handle)
{
	struct application_stream *wanted = handle;
	if (!handle || handle == API_LEGACY_STREAM)
		wanted = legacy_stream();
	else if (handle == API_THREAD_STREAM)
		wanted = own_stream();
	pthread_mutex_lock(&lock);
	struct application_stream *s = wanted ? streams : NULL;
	while (s && s != wanted)
		s = s->next;
	if (s)
		s->users++;
	pthread_mutex_unlock(&lock);
	return s;
}

bool stream_exists(void *stream)
{
	struct application_stream *s = take_stream(stream);
	if (s)
		put_stream(s);
	return s;
}

void **stream_attributes(void *stream)
{
	struct application_stream *s = take_stream(stream);
	if (s)
		put_stream(s);
	return s ? &s->attributes : NULL;
}

bool stream_is_capturing(void *stream)
{
	struct application_stream *s = take_stream(stream);
	bool is = s && capture_active(&s->place);
	if (s)
		put_stream(s);
	return is;
}

int stream_mark_place(void *stream, struct capture_place *event)
{
	struct application_stream *s = take_stream(stream);
	int error = s ? capture_mark(&s->place, event) : cudaErrorInvalidResourceHandle;
	if (s)
		put_stream(s);
	return error;
}

/* ---- commands ---- */

static bool add_wait(struct ordered_command *c, struct cuda_event *event)
{
	if (!gs_reserve(&c->waits, c->count, &c->room, sizeof *c->waits))
		return false;
	c->waits[c->count++] = cuda_event_retain(event);
	return true;
}

/* Whether a command of s has to wait for what o does. What has happened here may still run in simulated time, so it is waited for once. */
static bool implies_wait(struct application_stream *s, struct application_stream *o)
{
	if (o == s || o->device != s->device || !o->blocking || !s->blocking || (!s->legacy && !o->legacy) || !o->last)
		return false;
	unsigned long long *waits = s->legacy ? &o->legacy_waits : &s->waits_for_legacy;
	bool known = *waits == o->commands;
	*waits = o->commands;
	return !known || !cuda_event_done(o->last);
}

/* What the default streams' rules make the command wait for. */
static bool add_implied_waits(struct ordered_command *c)
{
	struct application_stream *s = c->stream;
	bool good = true;
	pthread_mutex_lock(&lock);
	for (struct application_stream *o = streams; o && good; o = o->next)
		if (implies_wait(s, o))
			good = add_wait(c, o->last);
	for (size_t i = 0; i < orphan_count && s->legacy && good; i++)
		good = add_wait(c, orphans[i]);
	pthread_mutex_unlock(&lock);
	return good;
}

static void drop_waits(struct ordered_command *c)
{
	for (size_t i = 0; i < c->count; i++)
		cuda_event_release(c->waits[i]);
	free(c->waits);
}

int ordered_begin(struct ordered_command *c, void *stream, bool blocking, struct cuda_event *wait)
{
	*c = (struct ordered_command){.stream = take_stream(stream)};
	if (!c->stream)
		return cudaErrorInvalidResourceHandle;
	int capturing = capture_info(&c->stream->place, NULL, NULL, NULL, NULL), error = c->stream->legacy ? capture_check_legacy() : cudaSuccess;
	if (error) {
		put_stream(c->stream);
		return error;
	}
	if (capturing == CAPTURE_TAKES && !blocking && !wait) {
		c->place = &c->stream->place;
		return cudaSuccess;
	}
	if (capturing) {
		error = capturing == CAPTURE_INVALID ? cudaErrorStreamCaptureInvalidated : capture_refuse(&c->stream->place);
		put_stream(c->stream);
		return wait && capturing == CAPTURE_TAKES ? cudaErrorStreamCaptureIsolation : error;
	}
	if (!blocking)
		pthread_mutex_lock(&c->stream->turn);
	if ((wait && !add_wait(c, wait)) || !add_implied_waits(c)) {
		if (!blocking)
			pthread_mutex_unlock(&c->stream->turn);
		drop_waits(c);
		put_stream(c->stream);
		return cudaErrorMemoryAllocation;
	}
	/* A command that has ended when the call returns need not be waited for. */
	c->call = (struct cuda_call){c->stream->queue, c->waits, (unsigned)c->count, blocking ? NULL : &c->event, blocking, false};
	return cudaSuccess;
}

/* Who has waited learns what happened meanwhile. */
int ordered_end(struct ordered_command *c, int result, int otherwise)
{
	struct cuda_event *before = c->event;
	if (!result && c->call.blocking)
		result = cuda_fault_now(NULL);
	if (!c->place && !c->call.blocking) {
		pthread_mutex_lock(&lock);
		if (c->event) {
			before = c->stream->last;
			c->stream->last = c->event;
			c->stream->commands++;
		}
		pthread_mutex_unlock(&lock);
		pthread_mutex_unlock(&c->stream->turn);
	}
	if (before)
		cuda_event_release(before);
	drop_waits(c);
	put_stream(c->stream);
	return error_of(result, otherwise);
}

int stream_mark(void *stream, struct cuda_event *wait, struct cuda_event **out)
{
	struct ordered_command c;
	int error = ordered_begin(&c, stream, false, wait);
	if (error)
		return error;
	int result = cuda_mark(&c.call, &c.err);
	if (out)
		*out = c.event ? cuda_event_retain(c.event) : NULL;
	return ordered_end(&c, result, cudaErrorUnknown);
}

struct cuda_event *stream_last(void *stream)
{
	struct application_stream *s = take_stream(stream);
	if (!s)
		return NULL;
	pthread_mutex_lock(&lock);
	struct cuda_event *last = s->last ? cuda_event_retain(s->last) : NULL;
	pthread_mutex_unlock(&lock);
	put_stream(s);
	return last;
}

/* Makes a node of a command that is not to be kept by the caller. */
static int capture(struct ordered_command *c, const struct graph_command *command)
{
	struct graph_command own;
	if (!graph_command_copy(command, &own) || capture_add(c->place, &own))
		return gs_fail(&c->err, ENOMEM, "out of memory");
	return 0;
}

int ordered_launch(struct ordered_command *c, const struct registered_function *f, const struct cuda_launch *l)
{
	if (!c->place)
		return cuda_enqueue_launch(&c->call, l, &c->err);
	struct graph_command command = {.kind = NODE_KERNEL};
	command.function = (struct registered_function *)f;
	command.launch = *l;
	return capture(c, &command);
}

int ordered_copy(struct ordered_command *c, const struct cuda_copy *copy)
{
	if (!c->place)
		return cuda_enqueue_copy(&c->call, copy, &c->err);
	struct graph_command command = {.kind = NODE_COPY};
	command.copy = *copy;
	command.copy.in_turn = true;
	return capture(c, &command);
}

int ordered_fill(struct ordered_command *c, const struct cuda_copy *shape, uint32_t value, unsigned unit)
{
	if (!c->place)
		return cuda_enqueue_fill(&c->call, shape, value, unit, &c->err);
	struct graph_command command = {.kind = NODE_FILL};
	command.copy = *shape;
	command.value = value;
	command.unit = unit;
	return capture(c, &command);
}

int ordered_host_call(struct ordered_command *c, void (*f)(void *), void *data)
{
	if (!c->place)
		return cuda_host_call(&c->call, f, data, &c->err);
	struct graph_command command = {.kind = NODE_HOST};
	command.host_function = f;
	command.host_data = data;
	return capture(c, &command);
}

/* ---- the entry points ---- */

static int create(void **out, unsigned flags, int priority)
{
	if (!out || (flags & ~(unsigned)API_STREAM_NON_BLOCKING))
		return cudaErrorInvalidValue;
	*out = new_stream(NULL, flags, priority);
	return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

int hook_cudaStreamCreate(void **out)
{
	return create(out, 0, 0);
}

int hook_cudaStreamCreateWithFlags(void **out, unsigned flags)
{
	return create(out, flags, 0);
}

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

int hook_cudaStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
	int clamped = priority > LEAST_PRIORITY ? LEAST_PRIORITY : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
	return create(out, flags, clamped);
}

int hook_cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = LEAST_PRIORITY;
	if (greatest)
		*greatest = GREATEST_PRIORITY;
	return cudaSuccess;
}

int hook_cudaStreamDestroy(void *stream)
{
	bool numbered = !stream || stream == API_LEGACY_STREAM || stream == API_THREAD_STREAM;
	struct application_stream *s = numbered ? NULL : take_stream(stream);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	pthread_mutex_lock(&lock);
	unlist_stream(s);
	pthread_mutex_unlock(&lock);
	put_stream(s); /* of take_stream */
	put_stream(s); /* of the application */
	return cudaSuccess;
}

/* The legacy stream has ended its work when the others have, too. */
static bool others_idle(const struct application_stream *s)
{
	bool idle = true;
	pthread_mutex_lock(&lock);
	for (struct application_stream *o = s->legacy ? streams : NULL; o; o = o->next)
		idle = idle && (o->device != s->device || !o->blocking || !o->last || cuda_event_done(o->last));
	pthread_mutex_unlock(&lock);
	return idle;
}

int hook_cudaStreamQuery(void *stream)
{
	struct gs_error err;
	struct application_stream *s = take_stream(stream);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	int error = capture_refuse(&s->place);
	if (error) {
		put_stream(s);
		return error;
	}
	bool idle = cuda_stream_idle(s->queue) && others_idle(s);
	int result = idle ? cuda_stream_wait(s->queue, &err) : 0; /* for its error */
	put_stream(s);
	return idle ? error_of(result, cudaErrorUnknown) : cudaErrorNotReady;
}

int hook_cudaStreamSynchronize(void *stream)
{
	struct gs_error err;
	struct application_stream *s = take_stream(stream);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	struct ordered_command c;
	int error = capture_refuse(&s->place);
	if (!error && s->legacy && !(error = ordered_begin(&c, stream, true, NULL)))
		error = ordered_end(&c, cuda_mark(&c.call, &c.err), cudaErrorUnknown);
	if (!error)
		error = error_of(cuda_stream_wait(s->queue, &err), cudaErrorUnknown);
	put_stream(s);
	return error;
}

static int join(void *stream, void *event)
{
	struct application_stream *s = take_stream(stream);
	int error = !s ? cudaErrorInvalidResourceHandle : s->legacy ? cudaErrorStreamCaptureImplicit : event_join(event, &s->place);
	if (s)
		put_stream(s);
	return error;
}

int hook_cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	struct cuda_event *wait = NULL;
	if (flags <= 1 && event_is_captured(event))
		return join(stream, event);
	int error = flags > 1 ? cudaErrorInvalidValue : event_recorded(event, &wait);
	if (!error && !stream_exists(stream))
		error = cudaErrorInvalidResourceHandle;
	if (!error && wait)
		error = stream_mark(stream, wait, NULL);
	if (wait)
		cuda_event_release(wait);
	return error;
}

struct stream_callback {
	void (*function)(void *stream, int error, void *data);
	void *stream, *data;
};

static void run_callback(void *data)
{
	struct stream_callback callback = *(struct stream_callback *)data;
	free(data);
	callback.function(callback.stream, error_sticky(), callback.data);
}

int hook_cudaStreamAddCallback(void *stream, void (*function)(void *stream, int error, void *data), void *data, unsigned flags)
{
	struct ordered_command c;
	if (!function || flags)
		return cudaErrorInvalidValue;
	if (stream_is_capturing(stream))
		return cudaErrorStreamCaptureUnsupported;
	struct stream_callback *callback = malloc(sizeof *callback);
	if (!callback)
		return cudaErrorMemoryAllocation;
	*callback = (struct stream_callback){function, stream, data};
	int error = ordered_begin(&c, stream, false, NULL);
	if (error) {
		free(callback);
		return error;
	}
	int result = cuda_host_call(&c.call, run_callback, callback, &c.err);
	if (result)
		free(callback);
	return ordered_end(&c, result, cudaErrorUnknown);
}

int hook_cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
	struct ordered_command c;
	int error = function ? ordered_begin(&c, stream, false, NULL) : cudaErrorInvalidValue;
	return error ? error : ordered_end(&c, ordered_host_call(&c, function, data), cudaErrorUnknown);
}

int device_wait_all(void)
{
	struct gs_error err;
	return error_of(cuda_wait_all(&err), cudaErrorUnknown);
}

int hook_cudaDeviceSynchronize(void)
{
	int error = capture_check_unsafe();
	return error ? error : device_wait_all();
}

int hook_cudaThreadSynchronize(void)
{
	return device_wait_all();
}

/* ---- questions ---- */

#define STREAM_ANSWER(name, type, what) \
	int hook_##name(void *stream, type *out) \
	{ \
		struct application_stream *s = out ? take_stream(stream) : NULL; \
		if (!s) \
			return out ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue; \
		*out = what; \
		put_stream(s); \
		return cudaSuccess; \
	}

STREAM_ANSWER(cudaStreamGetFlags, unsigned, s->flags)
STREAM_ANSWER(cudaStreamGetPriority, int, s->priority)
STREAM_ANSWER(cudaStreamGetId, unsigned long long, s->id)
STREAM_ANSWER(cudaStreamGetDevice, int, 0)
STREAM_ANSWER(cudaStreamIsCapturing, int, capture_info(&s->place, NULL, NULL, NULL, NULL))

/* ---- captures ---- */

int hook_cudaStreamBeginCapture(void *stream, int mode)
{
	struct application_stream *s = mode < 0 || mode > 2 ? NULL : take_stream(stream);
	if (!s)
		return mode < 0 || mode > 2 ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
	int error = s->legacy ? cudaErrorStreamCaptureUnsupported : capture_begin(&s->place, (enum capture_mode)mode, s->blocking);
	put_stream(s);
	return error;
}

int hook_cudaStreamEndCapture(void *stream, void **graph)
{
	struct application_stream *s = graph ? take_stream(stream) : NULL;
	if (!s)
		return graph ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
	int error = capture_end(&s->place, graph);
	put_stream(s);
	return error;
}

static int tell_capture(void *stream, int *status, unsigned long long *id, void **graph, void *const **nodes, size_t *count)
{
	struct application_stream *s = status ? take_stream(stream) : NULL;
	if (!s)
		return status ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
	*status = capture_info(&s->place, id, graph, nodes, count);
	put_stream(s);
	return cudaSuccess;
}

int hook_cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph, void *const **nodes, size_t *count)
{
	return tell_capture(stream, status, id, graph, nodes, count);
}

/* Edges have no data here. */
int hook_cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph, void *const **nodes, void **data,
                                     size_t *count)
{
	if (data)
		*data = NULL;
	return tell_capture(stream, status, id, graph, nodes, count);
}

int hook_cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph, void *const **nodes, void **data,
                                  size_t *count, int version)
{
	if (version < 13)
		return tell_capture(stream, status, id, NULL, NULL, NULL);
	return hook_cudaStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, data, count);
}

int hook_cudaStreamGetCaptureInfo_ptsz(void *stream, int *status, unsigned long long *id, void **graph, void *const **nodes, void **data,
                                       size_t *count, int version)
{
	return hook_cudaStreamGetCaptureInfo(stream ? stream : API_THREAD_STREAM, status, id, graph, nodes, data, count, version);
}

int hook_cudaThreadExchangeStreamCaptureMode(int *mode)
{
	if (!mode || *mode < 0 || *mode > 2)
		return cudaErrorInvalidValue;
	*mode = (int)capture_exchange_mode((enum capture_mode)*mode);
	return cudaSuccess;
}
