/* Sampling: clusters of points and of numbers, homogeneous regions, and the sampler that skips groups. */
#include "tests/tests.h"

#include "models/sampling/cluster.h"
#include "models/grid/plan.h"
#include "models/sampling/regions.h"
#include "models/sampling/runs.h"
#include "models/warps/warps.h"

#include <math.h>
#include <stdlib.h>

/* Two pairs of points within 0.1 of each other, and one point between them that is too far from both ends of either pair. */
static void test_points_by_furthest_members(void)
{
	const double points[] = {0, 0, 0.06, 0.08, 1, 1, 1, 1.05, 0.5, 0.5};
	uint32_t of[5];
	CU_ASSERT_EQUAL(cluster_points(points, 5, 2, 0.1, of), 3);
	CU_ASSERT(of[0] == 0 && of[1] == 0 && of[2] == 1 && of[3] == 1 && of[4] == 2);
	/* Single linkage would chain 0, 0.08, 0.17. Complete linkage joins the first two. The third is 0.17 from the first. */
	const double chain[] = {0, 0.08, 0.17};
	CU_ASSERT_EQUAL(cluster_points(chain, 3, 1, 0.1, of), 2);
	CU_ASSERT(of[0] == of[1] && of[1] != of[2]);
	CU_ASSERT_EQUAL(cluster_points(NULL, 0, 1, 0.1, of), 0);
}

/* Both ways of clustering agree on numbers whose distances all differ. */
static void test_numbers_as_points(void)
{
	enum { COUNT = 60 };
	double numbers[COUNT];
	uint32_t a[COUNT], b[COUNT], seed = 7;
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < COUNT; i++)
			numbers[i] = next_random(&seed) / 16777216.0;
		int64_t n = cluster_points(numbers, COUNT, 1, 0.05, a);
		CU_ASSERT_EQUAL(cluster_numbers(numbers, COUNT, 0.05, b), n);
		for (int i = 0; i < COUNT; i++)
			CU_ASSERT_EQUAL(a[i], b[i]);
	}
}

enum { EPOCH = 4, GROUPS = 8 * EPOCH };

/* TBPoint, Fig. 6: eight epochs of four groups. The stall probability is 0.2 in the first four epochs and 0.5 in the others. The
 * third and the fourth epoch have a group with five times the work. */
static void fill_figure_6(struct group_work *g)
{
	for (int i = 0; i < GROUPS; i++) {
		double stall = i < 4 * EPOCH ? 0.2 : 0.5, work = i / EPOCH == 2 || i / EPOCH == 3 ? (i % EPOCH ? 100 : 500) : 100;
		g[i] = (struct group_work){.memory_requests = stall * work, .warp_instructions = work};
	}
}

static void test_regions_of_figure_6(void)
{
	struct group_work g[GROUPS];
	struct region *r;
	size_t count;
	fill_figure_6(g);
	CU_ASSERT_EQUAL_FATAL(regions_build(g, GROUPS, EPOCH, &REGION_LIMITS_OF_PAPER, &r, &count), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT(r[0].first == 0 && r[0].end == 2 * EPOCH);
	CU_ASSERT(r[1].first == 4 * EPOCH && r[1].end == GROUPS);
	CU_ASSERT_NOT_EQUAL(r[0].id, r[1].id);
	free(r);
	/* With twice as many groups at once, the second epoch has only outliers, and the third begins the other region. */
	CU_ASSERT_EQUAL_FATAL(regions_build(g, GROUPS, 2 * EPOCH, &REGION_LIMITS_OF_PAPER, &r, &count), 0);
	CU_ASSERT(count == 2 && r[0].end == 8 && r[1].first == 16);
	free(r);
}

/* Every other group has three times the work: variation 0.5 in each epoch. Eight such epochs are a region. If one of them has
 * twice as much of everything, it is not like the others. */
static void test_mixtures_are_homogeneous(void)
{
	struct group_work g[GROUPS];
	struct region *r;
	size_t count;
	for (int i = 0; i < GROUPS; i++)
		g[i] = (struct group_work){.memory_requests = i % 2 ? 30 : 10, .warp_instructions = i % 2 ? 300 : 100};
	CU_ASSERT_EQUAL_FATAL(regions_build(g, GROUPS, EPOCH, &REGION_LIMITS_OF_PAPER, &r, &count), 0);
	CU_ASSERT(count == 1 && r[0].first == 0 && r[0].end == GROUPS);
	free(r);
	for (int i = 2 * EPOCH; i < 3 * EPOCH; i++)
		g[i] = (struct group_work){.memory_requests = 2 * g[i].memory_requests, .warp_instructions = 2 * g[i].warp_instructions};
	CU_ASSERT_EQUAL_FATAL(regions_build(g, GROUPS, EPOCH, &REGION_LIMITS_OF_PAPER, &r, &count), 0);
	CU_ASSERT(count == 1 && r[0].first == 3 * EPOCH && r[0].end == GROUPS);
	free(r);
}

/* Eight epochs differ only in their traffic: 1 per instruction, and 1.5 in the fifth and sixth. These are a region of their own
 * only if traffic counts. A traffic of 1.05 is not another region. */
static void test_traffic_divides_regions(void)
{
	struct region_limits limits = REGION_LIMITS_OF_PAPER;
	struct group_work g[GROUPS];
	struct region *r;
	size_t count;
	for (int i = 0; i < GROUPS; i++)
		g[i] = (struct group_work){.memory_requests = 10, .warp_instructions = 100, .traffic = i / EPOCH == 4 || i / EPOCH == 5 ? 150 : i / EPOCH == 1 ? 105 : 100};
	CU_ASSERT_EQUAL_FATAL(regions_build(g, GROUPS, EPOCH, &limits, &r, &count), 0);
	CU_ASSERT(count == 1 && r[0].first == 0 && r[0].end == GROUPS);
	free(r);
	limits.traffic = 0.1;
	CU_ASSERT_EQUAL_FATAL(regions_build(g, GROUPS, EPOCH, &limits, &r, &count), 0);
	CU_ASSERT_EQUAL_FATAL(count, 3);
	CU_ASSERT(r[0].first == 0 && r[0].end == 4 * EPOCH);
	CU_ASSERT(r[1].first == 4 * EPOCH && r[1].end == 6 * EPOCH);
	CU_ASSERT(r[2].first == 6 * EPOCH && r[2].end == GROUPS);
	free(r);
}

static uint64_t nth(const struct region *regions, size_t count, uint64_t groups, uint64_t n)
{
	struct group_run *runs = NULL;
	size_t run_count = 0;
	CU_ASSERT_EQUAL_FATAL(runs_choose(regions, count, groups, 3200, 10, 2, &runs, &run_count), 0);
	uint64_t id = runs_id(runs, run_count, n);
	free(runs);
	return id;
}

/* 320 of 3200 groups, 10 at a time: eight runs of 40, with gaps of 2880 / 7 groups. 30 of them: two runs. One run is from the
 * middle. */
static void test_runs_are_from_all_of_the_launch(void)
{
	const struct region all = {0, 0, 3200};
	CU_ASSERT_EQUAL(nth(&all, 1, 320, 0), 0);
	CU_ASSERT_EQUAL(nth(&all, 1, 320, 39), 39);
	CU_ASSERT_EQUAL(nth(NULL, 0, 320, 40), 40 + 411);
	CU_ASSERT_EQUAL(nth(&all, 1, 320, 160), 160 + 4 * 2880 / 7);
	CU_ASSERT_EQUAL(nth(&all, 1, 320, 319), 3199);
	CU_ASSERT_EQUAL(nth(&all, 1, 30, 14), 14);
	CU_ASSERT_EQUAL(nth(&all, 1, 30, 15), 3185);
	CU_ASSERT_EQUAL(nth(&all, 1, 30, 29), 3199);
	CU_ASSERT_EQUAL(nth(&all, 1, 1, 0), 1599);
}

/*
 * A tenth of a launch. Its first 60 groups are a region and give 6 groups, as 2 runs of 3. The 40 groups between them and the
 * next region give 4. So number 10 is the first of that region. Its 3100 groups give 310: eight runs of 38 or 39. Without
 * regions, 40 of the first 60 would be chosen. Twenty regions are too many for 320 groups in runs of 20, so then there are none.
 */
static void test_parts_have_their_share_of_runs(void)
{
	const struct region two[] = {{0, 0, 60}, {1, 100, 3200}};
	struct region many[20];
	uint64_t first = 0;
	for (uint64_t n = 0; n < 320; n++)
		first += nth(two, 2, 320, n) < 60;
	CU_ASSERT_EQUAL(first, 6);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 2), 2);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 3), 57);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 5), 59);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 6), 60);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 9), 99);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 10), 100);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 10 + 38), 100 + 38);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 10 + 39), 100 + 39 + 2790 / 7);
	CU_ASSERT_EQUAL(nth(two, 2, 320, 319), 3199);
	for (uint64_t i = 0; i < 20; i++)
		many[i] = (struct region){(uint32_t)i, 160 * i, 160 * (i + 1)};
	CU_ASSERT_EQUAL(nth(many, 20, 320, 39), 39);
	CU_ASSERT_EQUAL(nth(many, 16, 320, 39), 2 * 160 + 7);
}

static uint64_t nth_of_rounds_with(uint64_t groups, uint64_t all, uint64_t with, uint64_t n)
{
	struct group_run *runs = NULL;
	size_t run_count = 0;
	CU_ASSERT_EQUAL_FATAL(runs_of_rounds(groups, all, 8, 132, 2, with, &runs, &run_count), 0);
	uint64_t id = runs_id(runs, run_count, n);
	free(runs);
	return id;
}

static uint64_t nth_of_rounds(uint64_t groups, uint64_t all, uint64_t n)
{
	return nth_of_rounds_with(groups, all, RUNS_ANY, n);
}

/* Group 150 is on SM 18; group 263, on the last one, needs SMs 124 to 131. */
static void test_the_sm_of_a_group_is_among_the_few(void)
{
	CU_ASSERT_EQUAL(nth_of_rounds_with(16, 264, 150, 0), 18);
	CU_ASSERT_EQUAL(nth_of_rounds_with(16, 264, 150, 8), 150);
	CU_ASSERT_EQUAL(nth_of_rounds_with(16, 264, 263, 0), 124);
	CU_ASSERT_EQUAL(nth_of_rounds_with(16, 264, 263, 15), 263);
}

/* 8 of 132 SMs, 2 groups each at a time. The groups of an SM are 132 apart. The first two rounds are those of SMs 0.5 x 125 = 62 to 69, the
 * next two of SMs 0.118 x 125 = 14 to 21. Two rounds of four are from the middle, and no group is beyond the last. */
static void test_groups_of_an_sm_are_a_round_apart(void)
{
	CU_ASSERT_EQUAL(nth_of_rounds(32, 528, 0), 62);
	CU_ASSERT_EQUAL(nth_of_rounds(32, 528, 7), 69);
	CU_ASSERT_EQUAL(nth_of_rounds(32, 528, 8), 132 + 62);
	CU_ASSERT_EQUAL(nth_of_rounds(32, 528, 16), 2 * 132 + 14);
	CU_ASSERT_EQUAL(nth_of_rounds(32, 528, 31), 3 * 132 + 21);
	CU_ASSERT_EQUAL(nth_of_rounds(16, 528, 0), 132 + 62);
	CU_ASSERT_EQUAL(nth_of_rounds(16, 528, 15), 2 * 132 + 69);
	CU_ASSERT_EQUAL(nth_of_rounds(9, 133, 8), 132);
	CU_ASSERT_EQUAL(nth_of_rounds(48, 1056, 16), (2 + 1) * 132 + 14);
	CU_ASSERT_EQUAL(nth_of_rounds(48, 1056, 47), 7 * 132 + 92 + 7);
}

/*
 * TBPoint, Fig. 7: two groups at a time, one region of groups 2 to 99, each group 10 instructions and 10 cycles. Groups 0 and 1
 * are outside. Group 2 starts when nothing else runs: the region is entered. Groups 3 and 4 are the sampling units, both at 20
 * instructions in 10 cycles. So groups 6 to 99 are skipped, and 100 and 101 are simulated.
 */
static void test_sampler_warms_up_and_skips(void)
{
	const struct region r = {0, 2, 100};
	struct region_sampler s;
	double cycle = 0, instructions = 0;
	uint64_t simulated = 0, next = 0, last = 0;
	sampler_start(&s, &r, 1, &REGION_LIMITS_OF_PAPER, 1);
	while (next < 102) {
		uint64_t in_flight[2];
		int n = 0;
		while (n < 2 && next < 102) {
			uint64_t skips = sampler_skips(&s, next);
			sampler_skip(&s, skips, 10 * (double)skips, 0);
			next += skips;
			sampler_dispatch(&s, next, cycle, instructions);
			last = in_flight[n++] = next++;
		}
		cycle += 10;
		instructions += 10 * n;
		simulated += (uint64_t)n;
		for (int i = 0; i < n; i++)
			sampler_retire(&s, in_flight[i], cycle, instructions);
	}
	CU_ASSERT_EQUAL(last, 101);
	CU_ASSERT_EQUAL(simulated, 8); /* 0 to 5, 100, 101 */
	CU_ASSERT_EQUAL(s.skipped_groups, 94);
	CU_ASSERT_DOUBLE_EQUAL(s.skipped_cycles, 94 * 10 / 2.0, 1e-9);
}

/* Ten of 95 groups run at once, 10 cycles each. Two units are groups 0 to 19. Groups 20 to 89 are skipped, so the last five run
 * alone. */
static void test_sampler_leaves_the_last_wave(void)
{
	const struct region r = {0, 0, 95};
	struct region_sampler s;
	double cycle = 0, given = 0;
	uint64_t next = 0, waves[8], count = 0;
	sampler_start(&s, &r, 1, &REGION_LIMITS_OF_PAPER, 10);
	for (; next < 95; cycle += 10, count++) {
		uint64_t first = next, n = 0;
		for (; n < 10 && next < 95; n++) {
			if (count)
				sampler_retire(&s, waves[count - 1] + n, cycle, given);
			uint64_t skips = sampler_skips(&s, next);
			sampler_skip(&s, skips, 10 * (double)skips, 0);
			next += skips;
			first = n ? first : next;
			sampler_dispatch(&s, next++, cycle, given);
			given += 10;
		}
		waves[count] = first;
	}
	CU_ASSERT_EQUAL(s.skipped_groups % 10, 0);
	CU_ASSERT_DOUBLE_EQUAL(cycle + s.skipped_cycles, 100, 1e-9); /* 95 groups are ten waves */
}

/* If rates keep changing by a half, the sampler never skips. */
static void test_sampler_waits_for_equal_rates(void)
{
	const struct region r = {0, 0, 50};
	struct region_sampler s;
	double cycle = 0, instructions = 0;
	sampler_start(&s, &r, 1, &REGION_LIMITS_OF_PAPER, 1);
	for (uint64_t g = 0; g < 50; g++) {
		CU_ASSERT_EQUAL(sampler_skips(&s, g), 0);
		sampler_dispatch(&s, g, cycle, instructions);
		cycle += g % 2 ? 10 : 20;
		instructions += 10;
		sampler_retire(&s, g, cycle, instructions);
	}
	CU_ASSERT_EQUAL(s.skipped_groups, 0);
}

/* One group at a time, of 10 instructions, in a region of 50. The first unit is group 1. */
static void run_eight(struct region_sampler *s, const struct region *r, const double *cycles)
{
	const struct region_limits limits = {0.2, 0.3, 0.1, 0.01, 1, 8, 0};
	double cycle = 0;
	sampler_start(s, r, 1, &limits, 1);
	for (uint64_t g = 0; g < 8; g++) {
		CU_ASSERT_EQUAL(sampler_skips(s, g), 0);
		sampler_dispatch(s, g, cycle, 10 * (double)g);
		cycle += cycles[g];
		sampler_retire(s, g, cycle, 10 * (double)g + 10);
	}
	CU_ASSERT_EQUAL(sampler_skips(s, 8), 42);
}

/* Eight groups are enough. Units are groups 1 to 7. The rate is that of groups 4 to 7, 40 / 43.1. The last two differ by 1%.
 * Group 4's rate is off by 1 - 43.1 / 48. But with four measured groups, one at either end is half of them. If group 4 takes 40
 * cycles, the rate is 40 / 71.1, and group 7's is off by 71.1 / 40 - 1. Other differences are added by squares. */
static void test_sampler_tells_how_units_differ(void)
{
	static const double even[] = {10, 10, 10, 10, 12, 11, 10.1, 10}, uneven[] = {10, 10, 10, 10, 40, 11, 10.1, 10};
	const struct region r = {0, 0, 50};
	struct region_sampler s;
	run_eight(&s, &r, even);
	CU_ASSERT_EQUAL(s.measured_from, 4);
	sampler_skip(&s, 42, 420, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.skipped_cycles, 420 * 43.1 / 40, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(s.spread_cycles, s.skipped_cycles * 2 / 4, 1e-9);
	run_eight(&s, &r, uneven);
	sampler_skip(&s, 42, 420, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.spread_cycles, s.skipped_cycles * (71.1 / 40 - 1), 1e-9);
	run_eight(&s, &r, even);
	sampler_skip(&s, 42, 420, 1.2);
	CU_ASSERT_DOUBLE_EQUAL(s.spread_cycles, s.skipped_cycles * 1.3, 1e-9);
}

/* 42 groups are skipped. At the rate of 40 / 43.1 they take 452.55 cycles. If a group takes 10 at least they do, and 840 if it takes 20. */
static void test_sampler_skips_no_faster_than_groups_are_given(void)
{
	static const double even[] = {10, 10, 10, 10, 12, 11, 10.1, 10};
	const struct region r = {0, 0, 50};
	struct region_sampler s;
	run_eight(&s, &r, even);
	s.interval = 10;
	sampler_skip(&s, 42, 420, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.skipped_cycles, 452.55, 1e-9);
	run_eight(&s, &r, even);
	s.interval = 20;
	sampler_skip(&s, 42, 420, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.skipped_cycles, 840, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(s.spread_cycles, 840 * 2 / 4.0, 1e-9);
}

/* 400 groups at a time, which begin and end together, in waves of 100 cycles and so many instructions per cycle. Each wave is a unit. */
static double spread_of_waves(const double *rates, uint32_t waves)
{
	const struct region_limits limits = {0.2, 0.3, 0.1, 0.01, 1, 20, 0};
	const struct region r = {0, 0, 8000};
	struct region_sampler s;
	double instructions = 0;
	sampler_start(&s, &r, 1, &limits, 400);
	for (uint32_t w = 0; w <= waves; w++) {
		CU_ASSERT(!s.forward);
		for (uint64_t n = 0; n < 400; n++) {
			if (w)
				sampler_retire(&s, 400 * (uint64_t)(w - 1) + n, 100.0 * w, instructions);
			if (w < waves)
				sampler_dispatch(&s, 400 * (uint64_t)w + n, 100.0 * w, instructions);
		}
		instructions += w < waves ? 100 * rates[w] : 0;
	}
	CU_ASSERT(s.forward);
	CU_ASSERT_EQUAL(s.units, waves);
	return s.spread;
}

/*
 * Two units agree by chance. Each is 0.3% from their mean, 100, whose standard error is sqrt((0.3^2 + 0.3^2) / 1 / 2) = 0.3%: of two, it is
 * known to 12.71 of these. Of three, 90, 99.5 and 100.1, the mean is 96.5333 and its standard error 3.27 or 3.39%, which 4.3 times would be
 * more than any unit after the first wave was off: 110 is, by 13.95%.
 */
static void test_units_agree_by_chance(void)
{
	static const double two[] = {150, 90, 99.7, 100.3}, three[] = {150, 90, 110, 90, 99.5, 100.1};
	CU_ASSERT_DOUBLE_EQUAL(spread_of_waves(two, 4), 12.71 * 0.003, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spread_of_waves(three, 6), 110 / (289.6 / 3) - 1, 1e-9);
}

/* 70 groups of a pattern represent 700 of a launch, in windows of 32, 32 and 6. Each represents ten, in its own part. */
static void test_patterns_in_order(void)
{
	struct launch_warps w = {.groups = 700, .pattern_groups = 70, .pattern_in_order = true};
	uint64_t times[70] = {0}, all = 0;
	CU_ASSERT_EQUAL(warps_pattern(&w, 0), 0);
	CU_ASSERT_EQUAL(warps_pattern(&w, 33), 1);
	CU_ASSERT_EQUAL(warps_pattern(&w, 319), 31);
	CU_ASSERT_EQUAL(warps_pattern(&w, 320), 32);
	CU_ASSERT_EQUAL(warps_pattern(&w, 699), 69);
	w.groups = 997; /* not a multiple: 14 or 15 each, which must agree with the reported numbers */
	for (uint64_t g = 0; g < w.groups; g++)
		times[warps_pattern(&w, g)]++;
	for (uint64_t p = 0; p < w.pattern_groups; p++) {
		CU_ASSERT_EQUAL(times[p], warps_pattern_times(&w, p));
		CU_ASSERT(times[p] == 14 || times[p] == 15);
		all += times[p];
	}
	CU_ASSERT_EQUAL(all, 997);
	w.pattern_in_order = false;
	CU_ASSERT_EQUAL(warps_pattern(&w, 71), 1);
}

/* How 3 of 15 SMs stand for all is known to a hundredth. Regions are off by 20 of 1000 cycles, traffic by 3%, and caches by 4%: the
 * root of 1 + 4 + 9 + 16 hundredths of a percent. If all groups run on all SMs and some are skipped, no share can be wrong. */
static void test_spreads_add_up_by_squares(void)
{
	struct gpu gpu = {.sm_count = 15};
	struct ov_work work = {.gpu = &gpu, .hierarchy = true};
	struct ov_plan plan = {.groups = 300, .all = 1500, .sm_count = 3, .unlike = 0.03};
	struct ov_outcome o = {.spread_cycles = 20, .skipped_instructions = 1};
	CU_ASSERT_DOUBLE_EQUAL(ov_spread(&work, &plan, &o, 1000, 0.01), sqrt(0.01 * 0.01 + 0.02 * 0.02 + 0.03 * 0.03 + 0.04 * 0.04), 1e-12);
	plan.groups = 1500;
	plan.sm_count = 15;
	CU_ASSERT_DOUBLE_EQUAL(ov_spread(&work, &plan, &o, 1000, 0), sqrt(0.02 * 0.02 + 0.04 * 0.04), 1e-12);
	work.hierarchy = false;
	CU_ASSERT_DOUBLE_EQUAL(ov_spread(&work, &plan, &o, 1000, 0), 0.02, 1e-12);
	o = (struct ov_outcome){0};
	work.hierarchy = true;
	CU_ASSERT_EQUAL(ov_spread(&work, &plan, &o, 1000, 0), 0);
}

void add_sampling_tests(void)
{
	CU_pSuite suite = CU_add_suite("sampling", NULL, NULL);
	CU_add_test(suite, "no two points of a cluster are too far apart", test_points_by_furthest_members);
	CU_add_test(suite, "numbers cluster as points on a line do", test_numbers_as_points);
	CU_add_test(suite, "regions of TBPoint's figure 6", test_regions_of_figure_6);
	CU_add_test(suite, "the sampler warms up, skips and goes on", test_sampler_warms_up_and_skips);
	CU_add_test(suite, "a mixture of groups is homogeneous if it stays the same", test_mixtures_are_homogeneous);
	CU_add_test(suite, "groups with other traffic are another region", test_traffic_divides_regions);
	CU_add_test(suite, "a part of the groups is from all of the launch", test_runs_are_from_all_of_the_launch);
	CU_add_test(suite, "the SM of a group is among the few", test_the_sm_of_a_group_is_among_the_few);
	CU_add_test(suite, "groups of one SM are a round of all SMs apart", test_groups_of_an_sm_are_a_round_apart);
	CU_add_test(suite, "every part of a launch has its share of the groups", test_parts_have_their_share_of_runs);
	CU_add_test(suite, "the last wave is as full as it would have been", test_sampler_leaves_the_last_wave);
	CU_add_test(suite, "a pattern in order stays in its part of the launch", test_patterns_in_order);
	CU_add_test(suite, "groups are skipped only once rates are equal", test_sampler_waits_for_equal_rates);
	CU_add_test(suite, "what may be wrong adds up by squares", test_spreads_add_up_by_squares);
	CU_add_test(suite, "a region's spread is that of its units", test_sampler_tells_how_units_differ);
	CU_add_test(suite, "skipped groups take as long as it takes to give them out", test_sampler_skips_no_faster_than_groups_are_given);
	CU_add_test(suite, "two units that agree may do so by chance", test_units_agree_by_chance);
}
