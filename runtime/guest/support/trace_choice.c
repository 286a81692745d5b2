/* Chooses the groups of a launch that are traced, by its counters (trace_choice.h). */
#include "runtime/guest/support/trace_choice.h"

#include "models/sampling/families.h"

#include <pthread.h>
#include <stdlib.h>

enum { RUN = 32 }; /* work-items in a row, as in measure_runs of runtime/model/profile.c */

struct trace_choice {
	pthread_mutex_t lock;
	atomic_bool known;
	struct choice_counters counters;
	uint64_t most;
	bool always;
	atomic_uint *none;
	bool recorded[]; /* by group; before it is known: those of the sample */
};

struct ranked_group {
	uint64_t longest, group;
};

static void mark_sample(const struct boxes *sample, const uint64_t groups[3], bool *marks)
{
	for (size_t i = 0; i < sample->count; i++) {
		const struct box *b = &sample->list[i];
		for (uint64_t g = 0; b->traced && g < box_groups(b); g++) {
			uint64_t x = b->first[0] + g % b->count[0], y = b->first[1] + g / b->count[0] % b->count[1];
			marks[((b->first[2] + g / b->count[0] / b->count[1]) * groups[1] + y) * groups[0] + x] = true;
		}
	}
}

struct trace_choice *trace_choice_new(const struct choice_counters *counters, const struct boxes *sample, const uint64_t groups[3], uint64_t most,
                                      bool always, atomic_uint *none)
{
	struct trace_choice *c = calloc(1, sizeof *c + counters->groups * sizeof *c->recorded);
	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	c->counters = *counters;
	c->most = most;
	c->always = always;
	c->none = none;
	mark_sample(sample, groups, c->recorded);
	return c;
}

/* What a run of work-items does together: the largest of each counter, and how many flags any of them has. */
static uint64_t work_of_run(const struct choice_counters *c, uint64_t first, uint64_t count)
{
	uint64_t sum = 0;
	for (size_t w = 0; w < c->word_count; w++) {
		const uint32_t *column = c->words + w * c->places + first;
		uint32_t largest = 0, any = 0;
		for (uint64_t i = 0; i < count; i++) {
			largest = column[i] > largest ? column[i] : largest;
			any |= column[i];
		}
		sum += w < c->flag_words ? (uint32_t)__builtin_popcount(any) : largest;
	}
	return sum;
}

/* The longest first; of those that are as long, the first. */
static int compare_ranked(const void *a, const void *b)
{
	const struct ranked_group *x = a, *y = b;
	return x->longest != y->longest ? (x->longest < y->longest ? 1 : -1) : (x->group > y->group) - (x->group < y->group);
}

/* The longest run of each group; and whether few are much longer than all are on average. */
static bool rank_groups(const struct choice_counters *c, struct ranked_group *ranked)
{
	double together = 0, longest = 0, runs = 0;
	for (uint64_t g = 0; g < c->groups; g++) {
		ranked[g] = (struct ranked_group){.group = g};
		for (uint64_t i = 0; i < c->group_items; i += RUN, runs++) {
			uint64_t work = work_of_run(c, g * c->group_items + i, c->group_items - i < RUN ? c->group_items - i : RUN);
			together += (double)work;
			ranked[g].longest = work > ranked[g].longest ? work : ranked[g].longest;
		}
		longest = (double)ranked[g].longest > longest ? (double)ranked[g].longest : longest;
	}
	return few_are_longer(longest, together, runs);
}

/* Those that do half as much as the longest may end last: they meet other data. */
static void choose(struct trace_choice *c)
{
	struct ranked_group *ranked = calloc(c->counters.groups, sizeof *ranked);
	bool few = ranked && rank_groups(&c->counters, ranked);
	if (few)
		qsort(ranked, c->counters.groups, sizeof *ranked, compare_ranked);
	for (uint64_t i = 0; few && i < c->counters.groups && i < c->most && 2 * ranked[i].longest >= ranked[0].longest; i++)
		c->recorded[ranked[i].group] = true;
	for (uint64_t g = 0; !few && !c->always && g < c->counters.groups; g++)
		c->recorded[g] = false;
	if (c->none)
		*c->none = few ? 0 : *c->none + 1;
	free(ranked);
}

bool trace_choice_has(struct trace_choice *c, uint64_t group)
{
	if (!c->known) {
		pthread_mutex_lock(&c->lock);
		if (!c->known)
			choose(c);
		c->known = true;
		pthread_mutex_unlock(&c->lock);
	}
	return group < c->counters.groups && c->recorded[group];
}

void trace_choice_free(struct trace_choice *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c);
}
