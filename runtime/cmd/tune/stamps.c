/*
 * What clocks inside of kernels tell (kernels/micro/groups.ptx): each group notes its SM, and that SM's clock when it begins and ends.
 *
 *   clock_mhz         cycles of a long group over its time
 *   group_turnaround  SMs with room for one group: from the end of a group to the begin of the next on the same SM
 *   group_interval    SMs with room for all: from the begin of a group to that of the next on the same SM
 *
 * Each is the median of several launches.
 */
#include "runtime/cmd/tune/search.h"

#include <errno.h>
#include <stdlib.h>

struct group_stamp {
	uint64_t begin, end;
	uint32_t sm, sum;
	uint64_t unused;
};

enum { LAUNCHES = 7, TURNS = 16, STARTS = 8 };

static int by_place(const void *a, const void *b)
{
	const struct group_stamp *x = a, *y = b;
	if (x->sm != y->sm)
		return x->sm < y->sm ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static struct machine_launch stamped(const struct cuda_machine *m, unsigned per_sm, bool lone, uint32_t rounds)
{
	return (struct machine_launch){"groups.ptx", "stamped", per_sm * (unsigned)m->units, 32, lone ? (size_t)m->shared_bytes : 0, 2, false,
	                            {{.number = rounds}, {.real = 0.5f}}};
}

/* Over pairs of groups that follow each other on an SM: to the begin of the second, from the end of the first, the median; or from its begin, the mean:
 * several may begin at once. */
static int typical_gap(struct cuda_machine *m, const struct machine_launch *l, bool from_end, double *cycles)
{
	size_t bytes = l->groups * sizeof(struct group_stamp), count = 0;
	struct group_stamp *groups = calloc(l->groups, sizeof *groups);
	double *gaps = calloc(l->groups, sizeof *gaps);
	struct tune_sample s;
	double sum = 0;
	int result = groups && gaps && bytes <= CUDA_AREA ? cuda_run(m, l, groups, bytes) : gs_fail(&m->error, ENOMEM, "out of memory");
	if (!result) {
		qsort(groups, l->groups, sizeof *groups, by_place);
		for (size_t i = 1; i < l->groups; i++)
			if (groups[i].sm == groups[i - 1].sm)
				sum += gaps[count++] = (double)groups[i].begin - (double)(from_end ? groups[i - 1].end : groups[i - 1].begin);
		if (count)
			tune_median(gaps, count, &s);
		else
			result = gs_fail(&m->error, ERANGE, "no SM got two groups");
		*cycles = !count ? 0 : from_end ? s.ns : sum / (double)count;
	}
	free(groups);
	free(gaps);
	return result;
}

static void put_stamp(struct tune_times *times, const char *key, struct tune_sample s, FILE *log)
{
	struct tune_stamp *stamp = &times->stamps[times->stamp_count++];
	snprintf(stamp->key, sizeof stamp->key, "%s", key);
	stamp->value = s.ns;
	stamp->spread = s.spread;
	fprintf(log, "  %s: %.2f by clocks, spread %.2f%%\n", key, s.ns, 100 * s.spread);
}

static int measure_gap(struct cuda_machine *m, struct tune_times *times, const char *key, const struct machine_launch *l, bool from_end, FILE *log)
{
	double samples[LAUNCHES];
	struct tune_sample s;
	int result = typical_gap(m, l, from_end, &samples[0]); /* the first one is not counted */
	for (size_t i = 0; i < LAUNCHES && !result; i++)
		result = typical_gap(m, l, from_end, &samples[i]);
	if (result)
		return result;
	tune_median(samples, LAUNCHES, &s);
	put_stamp(times, key, s, log);
	return 0;
}

static int measure_clock(struct cuda_machine *m, struct tune_times *times, FILE *log)
{
	double samples[LAUNCHES], ns[2];
	struct group_stamp group[2];
	int result = 0;
	for (size_t i = 0; i < LAUNCHES && !result; i++) {
		for (int k = 0; k < 2 && !result; k++) {
			struct machine_launch l = stamped(m, 1, false, k ? 40000 : 10000);
			result = cuda_time(m, &l, &ns[k]);
			if (!result)
				result = cuda_run(m, &l, &group[k], sizeof group[k]);
		}
		samples[i] = 1000 * ((double)(group[1].end - group[1].begin) - (double)(group[0].end - group[0].begin)) / (ns[1] - ns[0]);
	}
	struct tune_sample s;
	if (result)
		return result;
	tune_median(samples, LAUNCHES, &s);
	put_stamp(times, "clock_mhz", s, log);
	return 0;
}

int tune_measure_stamps(struct cuda_machine *m, struct tune_times *times, FILE *log)
{
	struct machine_launch turns = stamped(m, TURNS, true, 16), starts = stamped(m, STARTS, false, 256);
	if (m->simulated)
		return 0;
	int result = measure_clock(m, times, log);
	if (!result)
		result = measure_gap(m, times, "group_turnaround", &turns, true, log);
	if (!result)
		result = measure_gap(m, times, "group_interval", &starts, false, log);
	return result;
}
