/*
 * estimates: how long launches take on every target. Start reading here.
 *
 * A launch goes through here like this, on one thread and in the order of launches:
 *   estimates_take     reads its counters, finds its trace, and decides on each target whether it is simulated or takes the estimate
 *                      of another launch, which may still be under way. Simulations are jobs of a crew of threads (job.h)
 *   estimates_commit   hands over the results of launches that are done
 * What is decided, and what is handed over when, does not depend on how many threads there are.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_ESTIMATES_H
#define GPUSIM_RUNTIME_ESTIMATES_ESTIMATES_H

#include "runtime/model/launch_record.h"

struct estimates;

/* What the caller does with its launches. `owner` is what it gave to estimates_take. */
struct estimates_calls {
	void (*commit)(const struct launch_result *r, void *owner); /* in the order of launches */
	void (*give_back)(void *owner); /* its counters are not needed any more; before or after `commit` */
	void (*release)(void *owner);   /* nothing of it is needed any more; the last call */
	void (*moved)(void);            /* on any thread: estimates_commit may have something to do */
};

/* jobs: threads; 0: one less than there are processors, and all once the program waits. NULL when out of memory. */
struct estimates *estimates_new(struct simulation *sim, const struct estimates_calls *calls, unsigned jobs);
/* Whether more launches may come in: those under way hold counters and traces. There is always room for one. */
bool estimates_has_room(struct estimates *e);
/* Takes a launch whose counters are in its record. The record must live until it is released. `brought`: its trace, which this takes,
 * or NULL. -ENOMEM: nothing was taken but the trace. */
int estimates_take(struct estimates *e, const struct launch_record *l, struct kept_trace *brought, void *owner);
/* Takes a launch that has no counters: it gets its estimate from others of its kernel. why: it is not modelled, if there are none. */
int estimates_take_uncounted(struct estimates *e, const struct launch_record *l, const char *why, void *owner);
/* A launch that is not modelled: those after it find its trace, and what it left in caches. Takes `brought`; the record may go afterwards. */
int estimates_pass(struct estimates *e, const struct launch_record *l, struct kept_trace *brought);
/* Hands over what is done, in order, as far as it goes. */
void estimates_commit(struct estimates *e);
/* No more launches come for now: those that wait for others of their family do so no longer. hurried: because somebody waits for them; they
 * may be estimated from launches that are further away. */
void estimates_flush(struct estimates *e, bool hurried);
/* Launches are under way, and all of them wait for others: only estimates_flush or more launches get them on. */
bool estimates_all_wait(const struct estimates *e);
/* Waits until everything is handed over. */
void estimates_wait(struct estimates *e);
/* Waits for advice about launches that were handed over; the statistics have it then. */
void estimates_finish_advice(struct estimates *e);
/* On any thread: the program waits for the estimates. They come before other work. */
void estimates_hurry(struct estimates *e);
/* When to call estimates_commit at the latest, because the budget is over then; UINT64_MAX: never. */
uint64_t estimates_budget_ns(const struct estimates *e);
size_t estimates_under_way(const struct estimates *e); /* launches that were taken and not handed over yet */
unsigned estimates_threads(const struct estimates *e);
/* About the time that processors will take for the launches that are under way, and for `others` like all up to now; 0: nothing is known. */
double estimates_left_ns(struct estimates *e, uint64_t others);
uint64_t estimates_ran_ns(struct estimates *e); /* the time that processors have spent on jobs */
void estimates_free(struct estimates *e); /* waits for all */

/* One launch at once, on this thread; for tests. */
void estimate_launch(struct simulation *sim, const struct launch_record *l, void (*commit)(const struct launch_result *r, void *owner));

#endif
