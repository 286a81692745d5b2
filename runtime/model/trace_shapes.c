/*
 * Which launches are traced: the 1st, 8th, 64th and so on of each kernel and shape, because data may change what a kernel does; of small
 * launches, which cost little, the first FIRST_SMALL, or FIRST_CHANGING of kernels whose work-items count their loops, because data decides
 * how long they are; the next NEXT_MISSED once traces missed the longest work-items, unless counters choose the groups (trace_chooses); and
 * the first ones with other arguments, MOST_ARGUMENTS_TRACED at most. Where a kernel is launched with ever new sizes, the first MANY_SHAPES are all
 * traced, then every eighth. On devices where a traced launch takes longer than many others, however small it is, small launches are as
 * others are, and fewer sizes are traced. The other launches take the trace of their shape whose launch did most nearly the same, by its
 * counters, or of a shape alike. When there are too many bytes of traces, the
 * least recently used ones go; when a kernel has too many shapes, or traces, so do they. Shapes are of launches as the application makes
 * them, traces are used as launches are modelled: which trace a launch finds does not depend on how far the application is ahead.
 */
#include "runtime/model/trace_shapes.h"

#include "models/util/minmax.h"
#include "runtime/model/simulation.h"
#include "runtime/process/memory.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHAPES = 256, MANY_SHAPES = 64, FURTHER = 8, FIRST_SMALL = 16, MOST_OF_SHAPE = FIRST_SMALL };
/* Where data decides which work-items work long, so many times as many of them are traced, and all of the next launches: none is like others.
 * Applications may be many launches ahead before it is known. */
enum { MORE_ITEMS = 16, NEXT_MISSED = 8 };
enum { MANY_DEAR_SHAPES = 4, MOST_DEAR_ARGUMENTS = 4 }; /* instead, where traces are dear */
enum { FIRST_CHANGING = 128 };
enum { SMALL_ITEMS = 4096 }; /* work-items of a launch that is traced as a whole by default */
static const double about_the_same = 0.05; /* work of launches, relative */
/* By how much more than that of another launch a launch's own trace may miss of its work. What is missed is the longest work-items, which
 * time may hang on; and the own trace has its own addresses. */
static const double own_misses = 0.1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_trace *newest, *oldest;
static uint64_t kept_bytes;

/* ---- kept traces; with the lock held ---- */

static uint64_t size_of(const struct kept_trace *t)
{
	return sizeof *t + t->length + t->argument_count * sizeof *t->argument_bytes;
}

void kept_trace_free(struct kept_trace *t)
{
	if (!t)
		return;
	kept_trace_free_bytes(t);
	free(t->argument_bytes);
	free(t);
}

static void leave_order(struct kept_trace *t)
{
	*(t->newer ? &t->newer->older : &newest) = t->older;
	*(t->older ? &t->older->newer : &oldest) = t->newer;
}

static void enter_order(struct kept_trace *t)
{
	t->newer = NULL;
	t->older = newest;
	*(newest ? &newest->newer : &oldest) = t;
	newest = t;
}

/* Takes it out of its kernel's list. */
static void leave_kernel(struct kept_trace *t)
{
	struct kept_trace **link = &t->kernel->traces;
	while (*link != t)
		link = &(*link)->next;
	*link = t->next;
}

static void drop_kept_trace(struct kept_trace *t)
{
	leave_order(t);
	leave_kernel(t);
	kept_bytes -= size_of(t);
	t->gone = true;
	if (!t->holders)
		kept_trace_free(t);
}

void trace_let_go(struct kept_trace *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&lock);
	bool last = !--t->holders && t->gone;
	pthread_mutex_unlock(&lock);
	if (last)
		kept_trace_free(t);
}

/* ---- shapes; with the lock held ---- */

static void remove_last(struct artifact_kernel *k)
{
	struct launches_alike **link = &k->shapes;
	while ((*link)->next)
		link = &(*link)->next;
	free(*link);
	*link = NULL;
}

/* Where traces are dear, sizes are traced in steps of an eighth. Launches of several rows need a trace with rows as long as theirs. */
static bool is_shape_due(const struct artifact_kernel *k, const uint64_t global[3], uint64_t number)
{
	bool sparing = k->dear_traces && global[1] == 1 && global[2] == 1;
	if (number <= (sparing ? MANY_DEAR_SHAPES : MANY_SHAPES))
		return true;
	if (!sparing || number <= MANY_SHAPES)
		return number % FURTHER == 0;
	return number % (number / FURTHER / FURTHER * FURTHER) == 0;
}

/* Moves it to the front; made if `make` says so. */
static struct launches_alike *shape_of(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], bool make)
{
	struct launches_alike **link = &k->shapes;
	size_t count = 0, size = sizeof(uint64_t[3]);
	while (*link && (memcmp((*link)->global, global, size) || memcmp((*link)->local, local, size))) {
		link = &(*link)->next;
		count++;
	}
	struct launches_alike *s = *link;
	if (s) {
		*link = s->next;
	} else if (!make || !(s = calloc(1, sizeof *s))) {
		return NULL;
	} else {
		memcpy(s->global, global, size);
		memcpy(s->local, local, size);
		s->due = is_shape_due(k, global, ++k->shape_count) ? 1 : FURTHER;
		if (count >= MOST_SHAPES)
			remove_last(k);
	}
	s->next = k->shapes;
	k->shapes = s;
	return s;
}

/*
 * A profile with all that a program did is what `gpusim export` needs. Where nobody says how much may be taken for that, it is an eighth of the
 * machine's memory, so that the copies on the way to the file have room, too; a launch may have half of it, and of a record 1 GB is a trace.
 */
void traces_settle(struct simulation *sim)
{
	const uint64_t most = UINT64_C(1) << 31, memory = memory_bytes() / 8;
	struct gs_options *o = &sim->options;
	sim->all_groups = o->trace.number == TRACE_ALL && *o->record.text && !o->trace_items.given;
	sim->whole_traces = sim->all_groups || o->exact.number;
	if (sim->all_groups && !o->trace_memory.given && o->trace_memory.number < memory)
		o->trace_memory.number = min_u64(memory, most);
}

bool traces_wanted(const struct simulation *sim)
{
	return sim->options.trace.number == TRACE_ALL || (sim->model.hierarchy && sim->options.trace.number != TRACE_NEVER);
}

uint64_t trace_arguments(const uint64_t *values, size_t count)
{
	return gs_hash(values, count * sizeof *values);
}

static bool are_new_arguments(const struct artifact_kernel *k, struct launches_alike *s, uint64_t arguments)
{
	const unsigned most = k->dear_traces ? MOST_DEAR_ARGUMENTS : MOST_ARGUMENTS_TRACED;
	for (unsigned i = 0; i < s->arguments_count; i++)
		if (s->arguments[i] == arguments)
			return false;
	if (s->arguments_count == most)
		return false;
	s->arguments[s->arguments_count++] = arguments;
	return true;
}

bool trace_due(const struct simulation *sim, struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], uint64_t arguments)
{
	pthread_mutex_lock(&lock);
	struct launches_alike *s = shape_of(k, global, local, true);
	bool first = s && are_new_arguments(k, s, arguments) && s->launches;
	bool due = s && (++s->launches >= s->due || first || sim->options.trace.number == TRACE_ALL);
	pthread_mutex_unlock(&lock);
	return due;
}

static bool is_small(const uint64_t global[3])
{
	return (double)global[0] * (double)global[1] * (double)global[2] <= SMALL_ITEMS;
}

/*
 * Loops are traced in windows, so that 16 chunks, some 4,000 events, are enough for one or two nested loops. Three have up to 16 x 16 x 64
 * iterations in windows. What needs more than 1,024 has so many loops one after another that it stays cut. Without loops there are a few
 * hundred events at most: programs that launch such kernels quickly, one after the other, have room for all their traces.
 */
enum { ROOM = 16, ROOM_WHERE_LANES_PART = 32, ROOM_OF_NESTS = 64, ROOM_OF_STRAIGHT = 2, MORE_ROOM = 4, MOST_ROOM = 1024 };

static uint32_t room_of(const struct artifact_kernel *k)
{
	if (k->trace_room)
		return k->trace_room;
	if (k->hazards & HAZARD_PARTS && !k->dear_traces)
		return ROOM_WHERE_LANES_PART;
	return k->hazards & HAZARD_NESTS ? ROOM_OF_NESTS : k->hazards & HAZARD_STRAIGHT ? ROOM_OF_STRAIGHT : ROOM;
}

double trace_usual_room(void)
{
	return ROOM;
}

/* Work-items that are chosen have room for a part of that; and after so many launches nothing is expected of choosing any more. */
enum { CHOSEN_SHARE = 4, EVEN_ENOUGH = 4 };

/* Data must decide how long work-items are. Twins run a launch twice more, so it must not be large; and of most kernels that take long,
 * the first launch is the only one. */
bool trace_chooses(const struct simulation *sim, struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], uint64_t *each)
{
	double items = (double)global[0] * (double)global[1] * (double)global[2];
	if (sim->whole_traces || k->dear_traces || k->summed || k->column_count <= k->flag_count || k->hazards & (HAZARD_PRINTS | HAZARD_VARIABLES) ||
	    is_small(global) || items > (double)SMALL_ITEMS * MORE_ITEMS)
		return false;
	pthread_mutex_lock(&lock);
	struct launches_alike *s = shape_of(k, global, local, false);
	if (s)
		s->chooses = true;
	bool now = s && s->launches > 1 && (s->launches <= FIRST_CHANGING || s->launches % FURTHER == 0);
	*each = room_of(k) > CHOSEN_SHARE ? room_of(k) / CHOSEN_SHARE : 1;
	pthread_mutex_unlock(&lock);
	return now && k->even_launches < EVEN_ENOUGH;
}

void trace_chosen(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], uint64_t chosen[3])
{
	pthread_mutex_lock(&lock);
	const struct launches_alike *s = shape_of(k, global, local, false);
	memcpy(chosen, s && !local[0] ? s->chosen : local, sizeof s->chosen);
	pthread_mutex_unlock(&lock);
}

void trace_learn(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], const uint64_t chosen[3])
{
	pthread_mutex_lock(&lock);
	struct launches_alike *s = shape_of(k, global, local, false);
	if (s)
		memcpy(s->chosen, chosen, sizeof s->chosen);
	pthread_mutex_unlock(&lock);
}

void trace_taken(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3])
{
	pthread_mutex_lock(&lock);
	struct launches_alike *s = shape_of(k, global, local, false);
	while (s && s->due <= s->launches) {
		uint64_t first = k->column_count > k->flag_count ? FIRST_CHANGING : FIRST_SMALL;
		bool next = (s->due < first && is_small(global)) || s->due < s->missed_until;
		s->due = next && !k->dear_traces ? s->due + 1 : s->due * FURTHER;
	}
	pthread_mutex_unlock(&lock);
}

void trace_was_cut(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3])
{
	pthread_mutex_lock(&lock);
	struct launches_alike *s = shape_of(k, global, local, false);
	uint32_t room = room_of(k);
	if (s && room < MOST_ROOM)
		s->due = s->launches + 1;
	if (s) {
		s->missed *= MORE_ROOM;
		s->took = INFINITY;
	}
	k->trace_room = room * MORE_ROOM < MOST_ROOM ? room * MORE_ROOM : MOST_ROOM;
	pthread_mutex_unlock(&lock);
}

void trace_took(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], double chunks)
{
	pthread_mutex_lock(&lock);
	struct launches_alike *s = shape_of(k, global, local, false);
	if (s)
		s->took = fmax(s->took, chunks);
	pthread_mutex_unlock(&lock);
}

double trace_least_room(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3])
{
	static const double more = 1.9; /* buffers have powers of two */
	pthread_mutex_lock(&lock);
	const struct launches_alike *s = shape_of(k, global, local, false);
	double took = s ? s->took : 0;
	pthread_mutex_unlock(&lock);
	return isinf(took) ? 0 : more * took;
}

uint64_t trace_items(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], uint64_t usual, uint64_t chunks, double *each)
{
	pthread_mutex_lock(&lock);
	const struct launches_alike *s = shape_of(k, global, local, false);
	double room = room_of(k), seen = s ? s->missed : 0;
	pthread_mutex_unlock(&lock);
	*each = seen > 0 ? fmin(2 * seen, room) : room; /* twice: others may work longer than those that were seen */
	return min_u64((uint64_t)((double)chunks / *each), seen > 0 ? usual * MORE_ITEMS : usual);
}

void trace_missed(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], double chunks)
{
	pthread_mutex_lock(&lock);
	struct launches_alike *s = shape_of(k, global, local, false);
	if (s && !(s->missed > 0) && !s->chooses) {
		s->missed = fmax(chunks, 1);
		s->due = s->launches + 1;
		s->missed_until = s->launches + NEXT_MISSED;
	}
	pthread_mutex_unlock(&lock);
}

/* Unless it is among them. */
static void add_needed(struct needed_groups *all, uint64_t id)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (all->ids[i] == id)
			return;
	if (all->count < MOST_NEEDED)
		all->ids[all->count++] = id;
}

void trace_need(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], const struct needed_groups *needed)
{
	struct needed_groups all = *needed;
	if (!needed->count)
		return;
	pthread_mutex_lock(&lock);
	struct launches_alike *s = shape_of(k, global, local, false);
	if (s) { /* what was needed before is not needed any more only because it was traced */
		for (uint32_t i = 0; i < s->needed.count; i++)
			add_needed(&all, s->needed.ids[i]);
		s->needed = all;
	}
	pthread_mutex_unlock(&lock);
}

struct needed_groups trace_needed(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3])
{
	pthread_mutex_lock(&lock);
	const struct launches_alike *s = shape_of(k, global, local, false);
	struct needed_groups all = s ? s->needed : (struct needed_groups){.count = 0};
	pthread_mutex_unlock(&lock);
	return all;
}

static bool has_sizes(const struct kept_trace *t, const uint64_t global[3], const uint64_t local[3])
{
	return (!global || !memcmp(t->global, global, sizeof t->global)) && !memcmp(t->given_local, local, sizeof t->given_local);
}

/* The latest of these sizes; of any global size where that is NULL. */
static struct kept_trace *latest_of(const struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3])
{
	struct kept_trace *t = k->traces;
	while (t && !has_sizes(t, global, local))
		t = t->next;
	return t;
}

static double relative(double a, double b)
{
	return fmax(a, b) > 0 ? fabs(a - b) / fmax(a, b) : 0;
}

double trace_unlike(const struct kept_trace *t, const struct launch_work *work)
{
	return fmax(relative(t->work.together, work->together), relative(t->work.longest, work->longest));
}

bool trace_misses(const struct kept_trace *t, const struct launch_work *work)
{
	return work->longest > 0 && t->work.longest < (1 - own_misses) * work->longest;
}

/* Other arguments weigh less than other work: most do not matter. */
static double distance(const struct kept_trace *t, const struct launch_work *work)
{
	return trace_unlike(t, work) + (t->work.arguments != work->arguments ? about_the_same / 2 : 0);
}

/* Of these sizes, the one whose launch did most nearly the same; of those, the latest. */
static struct kept_trace *nearest_of(const struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3],
                                     const struct launch_work *work)
{
	struct kept_trace *best = NULL;
	for (struct kept_trace *t = k->traces; t; t = t->next)
		if (has_sizes(t, global, local) && (!best || distance(t, work) < distance(best, work)))
			best = t;
	return best;
}

/* Makes room for a trace: one of a launch that did about the same goes, else the one that was used longest ago if there are many. */
static void drop_replaced(const struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], const struct launch_work *work)
{
	struct kept_trace *near = nearest_of(k, global, local, work), *last = NULL;
	size_t count = 0;
	for (struct kept_trace *t = k->traces; t; t = t->next)
		if (has_sizes(t, global, local)) {
			last = t;
			count++;
		}
	if (near && near->work.arguments == work->arguments && trace_unlike(near, work) <= about_the_same)
		drop_kept_trace(near);
	else if (count >= MOST_OF_SHAPE)
		drop_kept_trace(last);
}

static void enter_kernel(struct artifact_kernel *k, struct kept_trace *t)
{
	size_t count = 0;
	struct kept_trace *last = NULL;
	t->kernel = k;
	t->next = k->traces;
	k->traces = t;
	for (struct kept_trace *at = t; at; at = at->next, count++)
		last = at;
	if (count > MOST_SHAPES)
		drop_kept_trace(last);
}

void trace_keep(const struct simulation *sim, struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3],
                struct kept_trace *t)
{
	pthread_mutex_lock(&lock);
	drop_replaced(k, global, local, &t->work);
	memcpy(t->global, global, sizeof t->global);
	memcpy(t->given_local, local, sizeof t->given_local);
	kept_bytes += size_of(t);
	enter_order(t);
	enter_kernel(k, t);
	/* A single one may be larger than all should be together. */
	while (kept_bytes > TRACE_KEPT_SHARE(sim->options.trace_memory.number) && oldest != t)
		drop_kept_trace(oldest);
	pthread_mutex_unlock(&lock);
}

struct kept_trace *trace_find(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], const struct launch_work *work,
                              struct kept_trace *own)
{
	pthread_mutex_lock(&lock);
	struct kept_trace *t = nearest_of(k, global, local, work);
	if (t && own && trace_unlike(own, work) <= trace_unlike(t, work) + own_misses)
		t = own;
	if (!t)
		t = latest_of(k, NULL, local);
	if (t) {
		leave_order(t);
		enter_order(t);
		leave_kernel(t);
		t->next = k->traces;
		k->traces = t;
		t->holders++;
	}
	pthread_mutex_unlock(&lock);
	return t;
}

void trace_shapes_free(struct artifact_kernel *k)
{
	pthread_mutex_lock(&lock);
	while (k->shapes)
		remove_last(k);
	while (k->traces)
		drop_kept_trace(k->traces);
	pthread_mutex_unlock(&lock);
}
