/* Which rank waited for which, over all of its calls. */
#include "runtime/cmd/cluster/cluster.h"

#include <stdlib.h>

static int by_ranks(const void *a, const void *b)
{
	const struct rank_wait *x = a, *y = b;
	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->partner < y->partner ? -1 : x->partner > y->partner;
}

/* Longest first. */
static int by_time(const void *a, const void *b)
{
	const struct rank_wait *x = a, *y = b;
	return x->time != y->time ? (x->time > y->time ? -1 : 1) : by_ranks(a, b);
}

/* Makes one of all that have the same ranks. Returns how many there are then. */
static size_t combine(struct rank_wait *list, size_t count)
{
	size_t kept = 0;
	qsort(list, count, sizeof *list, by_ranks);
	for (size_t i = 0; i < count; i++)
		if (kept && !by_ranks(&list[kept - 1], &list[i])) {
			list[kept - 1].calls += list[i].calls;
			list[kept - 1].time += list[i].time;
		} else {
			list[kept++] = list[i];
		}
	return kept;
}

size_t cluster_partners(const struct cluster *c, struct rank_wait **out)
{
	struct rank_wait *list = NULL;
	size_t count = 0, room = 0, combined = 0;
	for (size_t i = 0; i < c->count; i++) {
		const struct rank *r = &c->ranks[i];
		for (size_t o = 0; o < r->op_count; o++) {
			const struct mpi_span *s = &r->spans[o];
			if (s->others <= 0)
				continue;
			if (!gs_reserve(&list, count, &room, sizeof *list))
				break;
			list[count++] = (struct rank_wait){r->number, s->partner, 1, s->others};
		}
		/* A rank at a time, so that what is kept is pairs, not calls. */
		if (count > combined)
			combined = count = combined + combine(list + combined, count - combined);
	}
	if (count)
		qsort(list, count, sizeof *list, by_time);
	*out = list;
	return count;
}
