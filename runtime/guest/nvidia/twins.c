#include "runtime/guest/nvidia/twins.h"

#include "runtime/config/log.h"
#include "runtime/format/counted.h"
#include "runtime/format/counters.h"
#include "runtime/guest/cuda/memory.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/nvidia/calls.h"
#include "runtime/guest/nvidia/forms.h"
#include "runtime/model/profile.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOG_DOMAIN "cuda"

enum { OF_GPU = 0x47505500, OF_HOST, MOST_ALLOCATIONS = 4096, MOST_STREAMS = 64, QUIET_MS = 2000, TWIN_MS = 4000, DEFAULT_SHARED = 48 << 10 };

static struct {
	pthread_mutex_t running; /* held while a twin runs; taken before the other */
	pthread_mutex_t lock;
	void *streams[MOST_STREAMS]; /* that do not wait for the default stream */
	unsigned stream_count;
	bool too_many_streams;
	_Atomic(const char *) unknown;  /* a function that made memory which cannot be put back */
	atomic_bool threads;            /* several use the GPU */
	_Atomic(pthread_t) thread;
	void *stream, *event, *begin, *end; /* ours, in the context; the last two are around twins */
	void *stop_stream;                  /* likewise, beside a twin */
	unsigned long long context;
} twins = {.running = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what the program does ---- */

void twin_memory_made(void *address, uint64_t bytes, bool host)
{
	struct gs_error err;
	int failed = bytes ? memory_add(&(struct cuda_allocation){address, bytes, CUDA_DEVICE_MEMORY, host ? OF_HOST : OF_GPU, 0}, &err) : 0;
	struct cuda_allocation before;
	bool same = failed == -EEXIST && cuda_find_allocation(address, &before) && before.address == address && before.bytes == bytes;
	if (failed && !same) /* it has lost memory in a way that we do not know */
		twin_memory_unknown("an allocation");
}

void twin_memory_gone(const void *address)
{
	memory_forget(address);
}

void twin_memory_unknown(const char *function)
{
	if (!twins.unknown)
		twins.unknown = function;
}

void twin_context_ends(void)
{
	if (memory_list(NULL, 0))
		twin_memory_unknown("a context that has ended");
}

void twin_stream_made(void *stream)
{
	pthread_mutex_lock(&twins.lock);
	if (twins.stream_count < MOST_STREAMS)
		twins.streams[twins.stream_count++] = stream;
	else
		twins.too_many_streams = true;
	pthread_mutex_unlock(&twins.lock);
}

void twin_stream_gone(void *stream)
{
	pthread_mutex_lock(&twins.lock);
	for (unsigned i = 0; i < twins.stream_count; i++)
		if (twins.streams[i] == stream)
			twins.streams[i] = twins.streams[--twins.stream_count];
	pthread_mutex_unlock(&twins.lock);
}

void twin_thread(bool wait)
{
	pthread_t none = 0, self = pthread_self();
	if (atomic_compare_exchange_strong(&twins.thread, &none, self) || pthread_equal(none, self))
		return;
	twins.threads = true;
	if (wait) {
		pthread_mutex_lock(&twins.running);
		pthread_mutex_unlock(&twins.running);
	}
}

/* ---- quiet ---- */

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static bool ends(int (*query)(void *), void *what, uint64_t until)
{
	int result;
	while ((result = query(what)) == NVIDIA_NOT_READY && clock_ns() < until)
		nap();
	return !result;
}

/* Commands of the default stream wait for those of most others. */
static bool is_quiet(void *stream)
{
	uint64_t until = clock_ns() + QUIET_MS * UINT64_C(1000000);
	void *streams[MOST_STREAMS];
	pthread_mutex_lock(&twins.lock);
	unsigned count = twins.stream_count;
	memcpy(streams, twins.streams, sizeof streams);
	pthread_mutex_unlock(&twins.lock);
	if (twins.too_many_streams || nvidia.event_record(twins.event, NULL) || !ends(nvidia.event_query, twins.event, until) ||
	    !ends(nvidia.stream_query, stream, until))
		return false;
	for (unsigned i = 0; i < count; i++)
		if (!ends(nvidia.stream_query, streams[i], until))
			return false;
	return true;
}

static bool own_stream(void)
{
	void *context = NULL;
	unsigned long long id = 0;
	enum { NON_BLOCKING = 1, NO_TIMING = 2 };
	if (nvidia.context(&context) || !context || !nvidia.context_id || nvidia.context_id(context, &id))
		return false;
	if (twins.stream && twins.context == id)
		return true;
	if (nvidia.stream_create(&twins.stream, NON_BLOCKING) || nvidia.event_create(&twins.event, NO_TIMING) || nvidia.event_create(&twins.begin, 0) ||
	    nvidia.stream_create(&twins.stop_stream, NON_BLOCKING) ||
	    nvidia.event_create(&twins.end, 0)) {
		twins.stream = NULL;
		return false;
	}
	twins.context = id;
	return true;
}

/* ---- copies of the program's memory ---- */

struct saved_memory {
	struct cuda_allocation list[MOST_ALLOCATIONS];
	size_t count;
	uint64_t bytes, copy; /* all of them together, and where the copy is */
};

/* Commands of another GPU may be under way, which is_quiet() does not ask. */
static bool is_elsewhere(const struct cuda_allocation *a)
{
	int own, device;
	enum { DEVICE_ORDINAL = 9 };
	return nvidia.context_device && nvidia.pointer_attribute && !nvidia.context_device(&own) &&
	       !nvidia.pointer_attribute(&device, DEVICE_ORDINAL, (uint64_t)(uintptr_t)a->address) && device != own;
}

/* What there is to copy; why it cannot be, or NULL. */
static const char *list_memory(struct saved_memory *s)
{
	size_t all = memory_list(s->list, MOST_ALLOCATIONS);
	s->count = s->bytes = 0;
	if (all > MOST_ALLOCATIONS)
		return "the program has too many allocations to copy them";
	for (size_t i = 0; i < all; i++) {
		if (s->list[i].flags == OF_HOST)
			return "the program has pinned or managed memory, which kernels and threads can write at the same time";
		if (s->list[i].flags != OF_GPU)
			continue;
		if (is_elsewhere(&s->list[i]))
			return "the program has memory of another GPU";
		s->list[s->count++] = s->list[i];
		s->bytes += (s->list[i].bytes + 255) / 256 * 256;
	}
	return NULL;
}

static const char *save_memory(struct saved_memory *s)
{
	size_t free_bytes = 0, total;
	const char *why = list_memory(s);
	if (why)
		return why;
	if (nvidia.memory_info(&free_bytes, &total) || s->bytes > free_bytes / 2 || s->bytes > simulation.options.shadow_memory.number)
		return "there is no room to copy the program's memory (GPUSIM_SHADOW_MEMORY)";
	if (s->bytes && nvidia.allocate(&s->copy, s->bytes)) {
		s->copy = 0;
		return "there is no room to copy the program's memory (GPUSIM_SHADOW_MEMORY)";
	}
	uint64_t at = s->copy;
	for (size_t i = 0; i < s->count; i++) {
		if (nvidia.copy(at, (uint64_t)(uintptr_t)s->list[i].address, s->list[i].bytes, twins.stream))
			return "the driver could not copy the program's memory";
		at += (s->list[i].bytes + 255) / 256 * 256;
	}
	return NULL;
}

static bool restore_memory(const struct saved_memory *s)
{
	uint64_t at = s->copy;
	bool good = true;
	for (size_t i = 0; i < s->count; i++) {
		good = !nvidia.copy((uint64_t)(uintptr_t)s->list[i].address, at, s->list[i].bytes, twins.stream) && good;
		at += (s->list[i].bytes + 255) / 256 * 256;
	}
	return good;
}

/* ---- counters ---- */

/* Every thread has a place, as far as there is room. */
static bool choose_places(struct launch_record *r)
{
	uint64_t threads = r->global[0] * r->global[1] * r->global[2], groups = threads / (r->local[0] * r->local[1] * r->local[2]);
	uint64_t room = simulation.options.counter_memory.number / 4, words = r->facts->words;
	if (!r->artifact->counts_by_item || r->facts->summed || !words || threads > UINT32_MAX)
		return false;
	uint64_t most = room / (words * sizeof(uint32_t));
	r->places = threads < most ? threads : most;
	r->slots = groups < room / sizeof(uint64_t) ? groups : room / sizeof(uint64_t);
	return r->places;
}

static void fill_counters(const struct launch_record *r, const uint32_t *counts, uint64_t *words)
{
	uint64_t local = r->local[0] | r->local[1] << COUNTER_SIZE_BITS | r->local[2] << 2 * COUNTER_SIZE_BITS;
	words[COUNTER_SLOTS] = r->slots;
	for (size_t g = 0; g <= r->slots; g++)
		words[COUNTER_HEADER_WORDS + g] = local;
	uint32_t *out = (uint32_t *)(words + COUNTER_HEADER_WORDS + r->slots + 1);
	for (size_t c = 0; c < r->facts->words; c++)
		for (size_t i = 0; i < r->places; i++)
			out[c * r->places + i] = counts[counted_word(i, c, r->facts->words)];
}

/* ---- running it ---- */

struct twin_run {
	struct gpu_kernel *kernel;
	const struct nvidia_launch *launch;
	void **parameters;
	struct launch *record;
	enum twin_form form, tracing; /* what counts, and what traces: the same where all groups are traced */
	struct twin_trace trace;
	struct saved_memory saved;
	uint64_t counts, count_bytes, places; /* on the GPU */
	uint64_t variable;                    /* of the module that runs (counted.h) */
	uint32_t *words;                      /* what was counted */
};

static bool set_counters(struct twin_run *t, void *module, uint64_t places)
{
	uint64_t words[COUNT_WORDS] = {[COUNT_ADDRESS] = t->counts, [COUNT_PLACES] = places};
	size_t bytes;
	return !nvidia.module_global(&t->variable, &bytes, module, COUNT_VARIABLE) && bytes >= sizeof words &&
	       !nvidia.fill(t->counts, 0, t->count_bytes, twins.stream) && !nvidia.copy_to(t->variable, words, sizeof words, twins.stream);
}

static bool launch_twin(struct twin_run *t, void *twin)
{
	const struct nvidia_launch *l = t->launch;
	enum { MAX_DYNAMIC_SHARED = 8 };
	if (l->dynamic_shared > DEFAULT_SHARED && nvidia.function_set && nvidia.function_set(twin, MAX_DYNAMIC_SHARED, (int)l->dynamic_shared))
		return false;
	return !nvidia.launch(twin, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->dynamic_shared, twins.stream,
	                      t->parameters, NULL);
}

/* Memory is put back behind the twin, so the program cannot go on before it has ended. One that takes long is told to stop. */
static const char *wait_for_own_stream(const struct twin_run *t)
{
	static const uint64_t stop = 1;
	uint64_t until = clock_ns() + TWIN_MS * UINT64_C(1000000);
	bool stopped = false;
	int result;
	while ((result = nvidia.stream_query(twins.stream)) == NVIDIA_NOT_READY) {
		if (!stopped && t->variable && clock_ns() > until)
			stopped = !nvidia.copy_to(t->variable + COUNT_STOP * sizeof stop, &stop, sizeof stop, twins.stop_stream);
		nap();
	}
	if (stopped)
		t->kernel->cannot_count = true;
	return result ? "its twin failed" : stopped ? "its twin took too long" : NULL;
}

static void log_time(const struct twin_run *t, bool traces)
{
	float ms;
	if (!nvidia.event_elapsed(&ms, twins.begin, twins.end))
		log_debug("a twin of %s that %s took %.1f us", t->kernel->title, traces ? "traces" : "counts", ms * 1e3);
}

/* Whatever happens, memory is as it was afterwards. Where only some groups run, their counts are of no use. */
static const char *run_form(struct twin_run *t, enum twin_form form)
{
	const struct gpu_twin *twin = &t->kernel->module->twins[form];
	const bool traces = t->trace.wanted && form == t->tracing, alone = form != t->form;
	if (!variables_copy(t->kernel->module, twin, twins.stream) || !set_counters(t, twin->module, alone ? 0 : t->places) ||
	    (traces && !trace_prepare(&t->trace, t->record, twin->module, alone, twins.stream)))
		return "the driver could not copy what its twin needs";
	if (alone && !t->trace.wanted)
		return NULL; /* there was no room */
	bool launched = !nvidia.event_record(twins.begin, twins.stream) && launch_twin(t, t->kernel->twins[form]) &&
	                !nvidia.event_record(twins.end, twins.stream);
	bool restored = restore_memory(&t->saved);
	const char *why = wait_for_own_stream(t);
	if (launched && !why)
		log_time(t, traces);
	return why ? why : !launched ? "the driver could not launch its twin" : !restored ? "the driver could not put memory back behind its twin" : NULL;
}

static const char *run_twin(struct twin_run *t)
{
	variables_note(t->kernel->module);
	const char *why = save_memory(&t->saved);
	if (!why && t->trace.wanted && t->tracing != t->form)
		why = run_form(t, t->tracing);
	if (!why)
		why = run_form(t, t->form);
	if (!why && nvidia.copy_from(t->words, t->counts, t->count_bytes, twins.stream))
		why = "the driver could not copy what its twin counted";
	const char *problem = wait_for_own_stream(t); /* for copies, too */
	return why ? why : problem;
}

static const char *run_and_wait(struct twin_run *t)
{
	const uint64_t columns = t->kernel->kernel->facts->words;
	t->count_bytes = counted_words(t->places, columns) * sizeof(uint32_t);
	t->words = malloc(t->count_bytes + 1);
	if (!t->words || nvidia.allocate(&t->counts, counted_room(t->places, columns) * sizeof(uint32_t))) {
		t->counts = 0;
		return no_room_for_counters;
	}
	const char *why = run_twin(t);
	if (!why && t->trace.wanted)
		trace_fetch(&t->trace, t->record, twins.stream);
	return why;
}

/* What takes no time to find out comes first: waiting for quiet delays the program. */
static const char *not_now(const struct nvidia_launch *l, struct saved_memory *memory)
{
	if (twins.threads)
		return "several threads of the program use the GPU";
	if (twins.unknown)
		return "the program has memory that cannot be copied";
	if (l->special)
		return "it is a cooperative launch, or has attributes";
	const char *why = list_memory(memory);
	if (why)
		return why;
	if (!own_stream())
		return "the driver has no stream for its twin";
	if (!is_quiet(l->stream))
		return "other commands were under way";
	return NULL;
}

/*
 * The form that traces, if that is due and the driver builds it. It counts as well. But where only some groups are traced, they run first without the others,
 * and all run in the form that counts: the other takes more registers and twice the time.
 */
static const char *choose_form(struct twin_run *t, const struct twin_bases *bases)
{
	const struct nvidia_launch *l = t->launch;
	const unsigned threads = l->block[0] * l->block[1] * l->block[2];
	int form = -1, tracing = -1;
	if (t->kernel->cannot_count)
		return "its PTX that counts cannot be used";
	if (form_has_traces(t->kernel))
		trace_choose(&t->trace, t->record, bases);
	if (t->trace.wanted)
		tracing = form_for(t->kernel, true, twins.context, threads);
	t->trace.wanted = tracing >= 0;
	form = t->trace.wanted && t->trace.plan.whole ? tracing : form_for(t->kernel, false, twins.context, threads);
	t->tracing = tracing < 0 ? TWIN_TRACES : (enum twin_form)tracing;
	t->form = form < 0 ? TWIN_COUNTS : (enum twin_form)form;
	return form < 0 ? "the driver does not build PTX that counts, or that takes too many registers" : NULL;
}

static const char *count(struct gpu_kernel *k, const struct nvidia_launch *l, const void *parameters, const struct twin_bases *bases,
                         struct launch *record)
{
	const struct lifted_kernel *lifted = k->kernel->lifted;
	struct twin_run *t = calloc(1, sizeof *t);
	const char *why = t ? not_now(l, &t->saved) : no_room_for_counters;
	void **pointers = t ? calloc(lifted->parameter_count + 1u, sizeof *pointers) : NULL;
	if (!why && (!pointers || !choose_places(&record->record)))
		why = no_room_for_counters;
	if (!why) {
		for (uint32_t p = 0; p < lifted->parameter_count; p++)
			pointers[p] = (char *)parameters + lifted->parameters[p].offset;
		t->kernel = k;
		t->launch = l;
		t->parameters = pointers;
		t->record = record;
		t->places = (record->record.places + COUNTED_WARP - 1) / COUNTED_WARP * COUNTED_WARP;
		why = choose_form(t, bases);
	}
	if (!why)
		why = run_and_wait(t);
	if (!why && !(record->buffer = buffer_of_host(COUNTER_BUFFER, launch_words(&record->record))))
		why = no_room_for_counters;
	if (!why)
		fill_counters(&record->record, t->words, record->buffer->words);
	if (t) {
		if (t->counts)
			nvidia.release(t->counts);
		if (t->saved.copy)
			nvidia.release(t->saved.copy);
		trace_release(&t->trace);
		free(t->words);
	}
	free(pointers);
	free(t);
	return why;
}

const char *twin_count(struct gpu_kernel *k, const struct nvidia_launch *l, const void *parameters, const struct twin_bases *bases,
                       struct launch *record)
{
	pthread_mutex_lock(&twins.running);
	const char *why = count(k, l, parameters, bases, record);
	pthread_mutex_unlock(&twins.running);
	return why;
}
