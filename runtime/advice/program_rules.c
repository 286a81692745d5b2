/* Rules about the program as a whole: sums over its launches and copies say what would be saved. */
#include "runtime/advice/program_rules.h"

#include <stdio.h>
#include <stdlib.h>

/* What starting its launches takes; *launches: how many there are, *kernels: of how many kernels. */
static double starting_ns(const struct simulation *sim, size_t target, uint64_t *launches, uint64_t *kernels)
{
	double ns = 0;
	*launches = *kernels = 0;
	for (const struct kernel_stats *k = sim->stats.kernels; k; k = k->next) {
		const struct target_stats *t = &k->by_target[target];
		ns += t->by[CYCLES_launch] * 1000 / sim->targets[target].gpu.clock_mhz;
		*launches += t->launches;
		*kernels += t->launches > 0;
	}
	return ns;
}

/* One launch of each kernel would do. */
static bool many_launches(const struct simulation *sim, size_t target, struct advice *out)
{
	static const double least = 0.3; /* of the kernels' time */
	enum { FEW = 16 };
	uint64_t launches, kernels;
	double starting = starting_ns(sim, target, &launches, &kernels), all = kernels_total_ns(&sim->stats, target);
	if (launches < FEW || launches < 4 * kernels || starting < least * all)
		return false;
	*out = (struct advice){.rule = "launches", .remedy = "do more in each launch: fuse kernels, or let one launch do several steps",
	                       .saving = starting / all * (1 - (double)kernels / (double)launches)};
	snprintf(out->evidence, sizeof out->evidence, "%llu launches take %.1f us each, of which %.0f%% is starting them", (unsigned long long)launches,
	         all / (double)launches / 1000, 100 * starting / all);
	return true;
}

struct interval {
	double start, end;
};

static int by_start(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static bool is_kept(const struct schedule_command *c, size_t target, bool copies)
{
	bool copy = c->engine == ENGINE_TO_GPU || c->engine == ENGINE_FROM_GPU;
	return c->replayed && c->engine != ENGINE_NONE && copy == copies && c->times[target].end > c->times[target].start;
}

/* When launches run, or copies, in order. The caller frees. */
static struct interval *intervals_of(const struct schedule *s, size_t target, bool copies, size_t *count)
{
	struct interval *list = calloc(s->count + 1, sizeof *list);
	*count = 0;
	for (const struct schedule_command *c = s->first; c && list && *count < s->count; c = c->next)
		if (is_kept(c, target, copies))
			list[(*count)++] = (struct interval){c->times[target].start, c->times[target].end};
	if (list)
		qsort(list, *count, sizeof *list, by_start);
	return list;
}

static double overlap_of(const struct interval *a, size_t a_count, const struct interval *b, size_t b_count)
{
	double sum = 0;
	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		double begin = a[i].start > b[j].start ? a[i].start : b[j].start, end = a[i].end < b[j].end ? a[i].end : b[j].end;
		sum += end > begin ? end - begin : 0;
		if (a[i].end < b[j].end)
			i++;
		else
			j++;
	}
	return sum;
}

/* How long copies and launches run at the same time. False: not known, because no report wants the timeline, or of a replayed profile. */
static bool overlap_ns(struct simulation *sim, size_t target, double *ns)
{
	size_t launches, copies;
	pthread_mutex_lock(&sim->timeline.lock);
	struct interval *a = intervals_of(&sim->timeline.schedule, target, false, &launches);
	struct interval *b = intervals_of(&sim->timeline.schedule, target, true, &copies);
	pthread_mutex_unlock(&sim->timeline.lock);
	bool known = a && b && launches && copies;
	*ns = known ? overlap_of(a, launches, b, copies) : 0;
	free(a);
	free(b);
	return known;
}

/* The shorter of kernels and copies would be hidden behind the longer. */
static bool serial_copies(struct simulation *sim, size_t target, struct advice *out)
{
	double kernels = kernels_total_ns(&sim->stats, target), copies = transfers_total_ns(sim, target), all = kernels + copies;
	double less = kernels < copies ? kernels : copies, now;
	if (all <= 0 || less < 0.1 * all || !overlap_ns(sim, target, &now) || now > 0.2 * less)
		return false;
	*out = (struct advice){.rule = "copies", .saving = less / all,
	                       .remedy = "copy and compute in parts, in two queues, so that copies and kernels run at the same time"};
	snprintf(out->evidence, sizeof out->evidence, "copies between host and GPU take %.0f%% of the time, one after the other with the kernels", 100 * copies / all);
	return true;
}

size_t advice_of_program(struct simulation *sim, size_t target, struct advice *out, double *of_ns)
{
	size_t count = 0;
	if (many_launches(sim, target, &out[count]))
		of_ns[count++] = kernels_total_ns(&sim->stats, target);
	if (serial_copies(sim, target, &out[count]))
		of_ns[count++] = kernels_total_ns(&sim->stats, target) + transfers_total_ns(sim, target);
	return count;
}
