/* How fast launches run that share a GPU; see sharing.h. */
#include "runtime/timeline/sharing.h"

#include "runtime/base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of what SMs can issue. Launches that want 1 and hardly any were measured (docs/overlap.md); where between them it changes was not. */
static const double ISSUES_ALL_THE_TIME = 0.9;
static const double ROUNDING = 1e-6; /* what sums of floats may be off by; less than a group takes of a GPU */

void sharing_free(struct sharing *s)
{
	free(s->launches);
	*s = (struct sharing){0};
}

/* ---- parts ---- */

static double part_time(const struct shared_launch *l, enum demand_part part)
{
	const struct command_demand *d = &l->demand;
	double driver = d->driver * l->duration, launch = d->launch * l->duration, tail = d->tail * l->duration;
	double rest = fmax(l->duration - driver - launch - tail, 0);
	return part == PART_DRIVER ? driver : part == PART_LAUNCH ? launch : part == PART_TAIL ? tail : rest;
}

static double room_wanted(const struct shared_launch *l, int kind)
{
	return l->part < PART_FULL ? 0 : l->demand.room[kind] * (l->part == PART_TAIL ? l->demand.tail_room : 1);
}

static double use_wanted(const struct shared_launch *l, int kind)
{
	return l->part < PART_FULL ? 0 : l->demand.use[kind] * (l->part == PART_TAIL ? l->demand.tail_use : 1);
}

static size_t known(const struct sharing *s)
{
	return s->count < s->most ? s->count : s->most;
}

/* ---- rates ---- */

static bool keeps_room(const struct sharing *s, const struct shared_launch *l)
{
	return l->kept_until > s->now;
}

static void take_room(const struct sharing *s, struct shared_launch *l, double left[ROOM_KINDS])
{
	double share = keeps_room(s, l) ? l->share : 1;
	for (int k = 0; k < ROOM_KINDS && !keeps_room(s, l); k++) {
		double wanted = room_wanted(l, k);
		if (wanted > left[k] + ROUNDING)
			share = fmin(share, left[k] > ROUNDING ? left[k] / wanted : 0);
	}
	for (int k = 0; k < ROOM_KINDS; k++)
		left[k] = fmax(left[k] - share * room_wanted(l, k), 0);
	l->share = share;
}

/* What is left of the wave that runs, or of the tail. */
static double wave_left(const struct shared_launch *l)
{
	double wave = l->demand.wave * l->duration, done = part_time(l, PART_FULL) - l->left;
	return l->part == PART_TAIL || !(wave > 0) ? l->left : fmin(l->left, wave - fmod(done, wave));
}

/* Its groups would issue all the time if they had all SMs for themselves. */
static bool issues_all_the_time(const struct shared_launch *l)
{
	double room = 0;
	for (int k = 0; k < ROOM_KINDS; k++)
		room = fmax(room, room_wanted(l, k));
	return use_wanted(l, THROUGHPUT_ISSUE) > ISSUES_ALL_THE_TIME * room;
}

/*
 * For how long a launch still keeps its room from another one, or holds up its groups. Those of a wave end together. But if they want to issue more than
 * there is, the oldest go first: what comes then and wants the same is behind all groups that are there, as many as a wave, wherever that is.
 */
static double room_kept(const struct shared_launch *l, const struct shared_launch *from)
{
	double wave = fmin(l->demand.wave * l->duration, l->left);
	return issues_all_the_time(l) && issues_all_the_time(from) ? wave : wave_left(l);
}

/* Launches that have no groups yet ask for room: those of lower priorities give theirs when their groups have ended. */
static void ask_for_room(struct sharing *s)
{
	for (size_t i = 0; i < known(s); i++) {
		struct shared_launch *l = &s->launches[i];
		if (l->part < PART_FULL || l->asked)
			continue;
		l->asked = true;
		for (size_t k = i + 1; k < known(s); k++) {
			struct shared_launch *other = &s->launches[k];
			if (other->priority > l->priority && other->part >= PART_FULL && other->rate > 0 && !keeps_room(s, other))
				other->kept_until = s->now + room_kept(other, l) / other->rate;
		}
	}
}

/* What one gets at most of a throughput: those that ask for less leave the rest to the others. INFINITY: there is enough. */
static double fair_share(const struct sharing *s, int kind)
{
	double all = 0, level = 0, before;
	for (size_t i = 0; i < known(s); i++)
		all += s->launches[i].rate * use_wanted(&s->launches[i], kind);
	if (all <= 1 + ROUNDING)
		return INFINITY;
	do { /* the level rises until all that ask for less have what they want */
		double left = 1;
		size_t others = 0;
		before = level;
		for (size_t i = 0; i < known(s); i++) {
			double use = s->launches[i].rate * use_wanted(&s->launches[i], kind);
			if (use > before)
				others++;
			else
				left -= use;
		}
		level = others ? left / (double)others : before;
	} while (level > before);
	return level;
}

static void share_equally(struct sharing *s, int kind)
{
	double level = fair_share(s, kind);
	for (size_t i = 0; i < known(s); i++) {
		struct shared_launch *l = &s->launches[i];
		double use = l->rate * use_wanted(l, kind);
		if (use > level)
			l->rate *= level / use;
	}
}

static void share_in_order(struct sharing *s, int kind)
{
	double left = 1;
	for (size_t i = 0; i < known(s); i++) {
		struct shared_launch *l = &s->launches[i];
		double use = l->rate * use_wanted(l, kind);
		if (use > left + ROUNDING)
			l->rate *= left / use;
		left = fmax(left - use, 0);
	}
}

/* ---- DRAM that others use ---- */

/* Mean time that an access waits for its bank, in times of an access, where banks are busy for this share of the time: the queue M/D/1. */
static double bank_wait(double busy)
{
	double most = fmin(busy, 0.99);
	return most / (2 * (1 - most));
}

static double slowed(const struct sharing *s, const struct shared_launch *l, double busy)
{
	double longer = bank_wait(busy) - bank_wait(use_wanted(l, THROUGHPUT_DRAM));
	return longer > 0 ? l->rate / (1 + l->demand.memory * s->bank_time * longer) : l->rate;
}

/* Launches that wait for memory use it less, the busier it is: what it is when both agree. */
static void wait_for_banks(struct sharing *s)
{
	enum { HALVINGS = 30 };
	double low = 0, high = 1;
	size_t users = 0;
	for (size_t i = 0; i < known(s); i++)
		users += s->launches[i].rate * use_wanted(&s->launches[i], THROUGHPUT_DRAM) > 0;
	for (int k = 0; k < HALVINGS && users > 1; k++) {
		double busy = (low + high) / 2, use = 0;
		for (size_t i = 0; i < known(s); i++)
			use += slowed(s, &s->launches[i], busy) * use_wanted(&s->launches[i], THROUGHPUT_DRAM);
		if (use > busy)
			low = busy;
		else
			high = busy;
	}
	for (size_t i = 0; i < known(s) && users > 1; i++)
		s->launches[i].rate = slowed(s, &s->launches[i], low);
}

/* ---- all of it ---- */

static void begin(struct sharing *s, struct shared_launch *l)
{
	l->entered = true;
	l->start = s->now;
	l->left = part_time(l, PART_DRIVER);
}

/* Where it had to wait for room, it starts as late as it could have to find it. */
static void place(const struct sharing *s, struct shared_launch *l)
{
	l->placed = true;
	if (!l->undisturbed)
		l->start = fmax(l->start, s->now - part_time(l, PART_DRIVER) - part_time(l, PART_LAUNCH));
}

/* The one that launches: one that has begun is not overtaken. NULL: none. */
static const struct shared_launch *who_launches(struct sharing *s)
{
	struct shared_launch *first = NULL;
	for (size_t i = 0; i < known(s); i++) {
		struct shared_launch *l = &s->launches[i];
		if (l->part == PART_LAUNCH && (!first || l->launching))
			first = l;
	}
	if (first)
		first->launching = true;
	return first;
}

/* Groups of it wait for room: none of a launch after it goes before them, even if that would find room. */
static bool groups_wait(const struct shared_launch *l)
{
	bool more_waves = l->part == PART_FULL && (l->demand.tail > 0 || l->left > l->demand.wave * l->duration * (1 + ROUNDING));
	return l->part >= PART_FULL && (l->share < 1 - ROUNDING || more_waves);
}

static void set_rates(struct sharing *s)
{
	double left[ROOM_KINDS];
	const struct shared_launch *launching = who_launches(s);
	bool waiting = false;
	for (int k = 0; k < ROOM_KINDS; k++)
		left[k] = 1;
	ask_for_room(s);
	for (size_t i = 0; i < known(s); i++)
		if (keeps_room(s, &s->launches[i]))
			take_room(s, &s->launches[i], left);
	for (size_t i = 0; i < known(s); i++) {
		struct shared_launch *l = &s->launches[i];
		if (!l->entered)
			begin(s, l);
		if (!keeps_room(s, l) && l->part >= PART_FULL && waiting)
			l->share = 0;
		else if (!keeps_room(s, l))
			take_room(s, l, left);
		waiting |= groups_wait(l);
		l->rate = l->part == PART_LAUNCH && l != launching ? 0 : l->share;
		if (l->part == PART_FULL && l->rate > 0 && !l->placed)
			place(s, l);
	}
	share_in_order(s, THROUGHPUT_ISSUE);
	share_equally(s, THROUGHPUT_L2);
	wait_for_banks(s);
	share_equally(s, THROUGHPUT_DRAM);
	for (size_t i = 0; i < known(s); i++)
		s->launches[i].undisturbed = s->launches[i].undisturbed && s->launches[i].rate == 1;
}

/* ---- time ---- */

static void advance(struct sharing *s, double to)
{
	for (size_t i = 0; i < known(s); i++) {
		struct shared_launch *l = &s->launches[i];
		l->left = fmax(l->left - (to - s->now) * l->rate, 0);
	}
	s->now = to;
}

bool sharing_add(struct sharing *s, void *what, double duration, const struct command_demand *demand, int priority, double ready)
{
	if (!gs_reserve(&s->launches, s->count, &s->room, sizeof *s->launches))
		return false;
	if (ready > s->now)
		advance(s, ready);
	size_t at = s->count++;
	for (; at && s->launches[at - 1].priority > priority; at--)
		s->launches[at] = s->launches[at - 1];
	s->launches[at] = (struct shared_launch){.what = what, .duration = duration, .demand = *demand, .undisturbed = true, .priority = priority};
	set_rates(s);
	return true;
}

/* The one whose part ends first. count: it is the time at which one gives room. */
static size_t first_change(const struct sharing *s, double *when)
{
	size_t first = 0;
	*when = INFINITY;
	for (size_t i = 0; i < known(s); i++) {
		const struct shared_launch *l = &s->launches[i];
		double end = l->rate > 0 ? s->now + l->left / l->rate : INFINITY;
		if (end < *when)
			*when = end, first = i;
		if (keeps_room(s, l) && l->kept_until < *when)
			*when = l->kept_until, first = s->count;
	}
	return first;
}

double sharing_next(const struct sharing *s)
{
	double when;
	first_change(s, &when);
	return when;
}

bool sharing_step(struct sharing *s, struct shared_launch *ended)
{
	double when;
	size_t i = first_change(s, &when);
	if (isinf(when))
		return false;
	if (i == s->count) {
		advance(s, when);
		set_rates(s);
		return false;
	}
	struct shared_launch *l = &s->launches[i];
	bool over = l->part == PART_TAIL || (l->part == PART_FULL && !(l->demand.tail > 0));
	if (over && l->undisturbed)
		when = fmax(s->now, l->start + l->duration); /* not what sums of its parts make of it */
	advance(s, when);
	if (!over) {
		l->part++;
		l->left = part_time(l, l->part);
	} else {
		l->end = when;
		*ended = *l;
		s->count--;
		memmove(l, l + 1, (s->count - i) * sizeof *l);
	}
	set_rates(s);
	return over;
}
