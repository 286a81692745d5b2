/*
 * Lists that groups have one after the other, as rows of a sparse matrix, or edges of the nodes of a graph.
 *
 *   w_g: instructions of the work-items of group g, by counters; W_g: the sum of those before it
 *   a, b: the traced groups next to g; the list of g begins at start_a + (start_b - start_a) (W_g - W_a) / (W_b - W_a)
 * A list is as long as it takes to go through it: so long ones have room of their own, and groups that were not traced do not meet in memory that
 * only one of them asks for. Before the first traced group and after the last one, it is the same with these two.
 */
#include "models/trace/internal.h"

#include <errno.h>
#include <stdlib.h>

static struct list_place place_of(const uint64_t *ids, size_t count, size_t before, const double *work, uint64_t group)
{
	bool beside = ids[before] <= group && (before + 1 < count || ids[before] == group);
	size_t from = beside ? before : 0, to = beside && before + 1 < count ? before + 1 : count - 1;
	double way = work[ids[to]] - work[ids[from]];
	return (struct list_place){(uint32_t)from, (uint32_t)to, way > 0 ? (work[group] - work[ids[from]]) / way : 0};
}

int lists_place(struct trace_store *s, const struct kernel_code *code, const struct traced_ids *traced, const struct counted_work *work,
                uint64_t groups)
{
	double *before = calloc(groups + 1, sizeof *before);
	s->places = calloc(groups + 1, sizeof *s->places);
	for (uint64_t g = 0; g < groups && before; g++)
		before[g + 1] = before[g] + (work ? work[g].threads : 1);
	for (uint64_t g = 0, n = 0; g < groups && before && s->places; g++) {
		while (n + 1 < traced->count && traced->ids[n + 1] <= g)
			n++;
		s->places[g] = place_of(traced->ids, traced->count, n, before, g);
	}
	for (uint32_t i = 0; i < code->code_count; i++) {
		s->shifts[i].places = s->shifts[i].starts ? s->places : NULL;
		s->shifts[i].place_count = groups;
	}
	bool done = before && s->places;
	free(before);
	return done ? 0 : -ENOMEM;
}
