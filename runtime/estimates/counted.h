/*
 * counted: launches of a kernel whose counters were read, for those that ran without counters (flag not_counted).
 *
 * A launch without counters follows from one of the same sizes, the nearest in the order of launches, rather with the same arguments, and rather
 * not from the kernel's first launch, which found cold caches. If there is none, it is between the next smaller and the next larger one, by their
 * work-items; beyond all of them it is scaled.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_COUNTED_H
#define GPUSIM_RUNTIME_ESTIMATES_COUNTED_H

#include "runtime/model/launch_record.h"

struct estimate_job;

enum { COUNTED_KEPT = 128 };

struct counted_launch {
	uint64_t seq;
	uint64_t global[3], local[3]; /* as the application gave them */
	uint64_t chosen[3];           /* the local size that it ran with */
	uint64_t local_bytes, arguments; /* arguments: a hash of those that are known */
	double items;
	bool first; /* of the kernel, that was counted */
	struct estimate_job *job; /* held; it may still be under way */
	double *counts; /* executions by block, over all work-items */
};

/* Of one kernel on one target; the latest COUNTED_KEPT. Only the thread that takes launches in uses it. */
struct counted_launches {
	struct counted_launch *launches; /* NULL: there are none yet */
	size_t count;                    /* that there ever were */
};

/* What a launch without counters follows from; the pointers are good until the next call of counted_add. */
struct counted_between {
	const struct counted_launch *a, *b; /* the same: it is like a */
	double weight; /* b's share */
	double error;  /* relative, of time */
};

/* A launch comes in, with its counts in the profile and a job of its own or another's. */
void counted_add(struct counted_launches *c, const struct launch_record *l, const struct launch_profile *p, struct estimate_job *job);
/* Whether what a launch without counters is to follow from is known. no_more: no launches come for now; else one after it may be nearer
 * than those before it. */
bool counted_ready(const struct counted_launches *c, const struct launch_record *l, bool no_more);
bool counted_find(const struct counted_launches *c, const struct launch_record *l, struct counted_between *out); /* false: there is none */
/* Fills the sizes of a launch without counters, and its counts as they follow from others. between: NULL: there are none. */
void counted_profile(const struct launch_record *l, const struct counted_between *between, uint64_t *counts, struct launch_profile *out);
/* Its job on a target, which is done at once. NULL when out of memory. */
struct estimate_job *counted_job(const struct simulation *sim, const struct launch_record *l, const struct launch_profile *p, size_t target,
                                 const struct counted_between *between);
void counted_clear(struct counted_launches *c);

#endif
