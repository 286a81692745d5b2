/* Launches that share a GPU of 4 SMs with room for 2 groups each. Times are computed by hand, in ns. */
#include "tests/tests.h"

#include "runtime/timeline/sharing.h"

#include <math.h>

static const struct gpu gpu = {.sm_count = 4};

/* Groups without other limits than that 2 fit on an SM. */
static struct command_demand demand(uint64_t groups, double issue, double dram)
{
	struct launch_alone l = {.groups = groups,
	                         .occupancy = {.blocks_per_sm = 2, .allowed = {2, 32, UINT32_MAX, UINT32_MAX}},
	                         .use = {[THROUGHPUT_ISSUE] = issue, [THROUGHPUT_DRAM] = dram}};
	return demand_of_launch(&gpu, &l);
}

struct one {
	double duration, ready;
	struct command_demand demand;
	double start, end; /* expected */
};

static void check_all(struct one *launches, const int *priorities, size_t count, struct sharing s)
{
	size_t ended = 0;
	struct shared_launch l;
	for (size_t i = 0; i < count; i++) {
		while (sharing_next(&s) <= launches[i].ready)
			if (sharing_step(&s, &l)) {
				struct one *o = l.what;
				CU_ASSERT_DOUBLE_EQUAL(l.start, o->start, 0.01);
				CU_ASSERT_DOUBLE_EQUAL(l.end, o->end, 0.01);
				ended++;
			}
		CU_ASSERT_TRUE(sharing_add(&s, &launches[i], launches[i].duration, &launches[i].demand, priorities ? priorities[i] : 0, launches[i].ready));
	}
	while (!isinf(sharing_next(&s)))
		if (sharing_step(&s, &l)) {
			struct one *o = l.what;
			CU_ASSERT_DOUBLE_EQUAL(l.start, o->start, 0.01);
			CU_ASSERT_DOUBLE_EQUAL(l.end, o->end, 0.01);
			ended++;
		}
	CU_ASSERT_EQUAL(ended, count);
	sharing_free(&s);
}

static void check_with(struct one *launches, size_t count, struct sharing s)
{
	check_all(launches, NULL, count, s);
}

static void check_priorities(struct one *launches, const int *priorities, size_t count)
{
	check_all(launches, priorities, count, (struct sharing){.most = 128});
}

static void check(struct one *launches, size_t count, size_t most)
{
	check_with(launches, count, (struct sharing){.most = most});
}

/* 2 groups take a quarter of the room each. The longest decides, not the sum. */
static void small_launches_run_beside_each_other(void)
{
	struct one launches[] = {
		{1000, 0, demand(2, 0.5, 0.1), 0, 1000},
		{3000, 200, demand(2, 0.5, 0.1), 200, 3200},
	};
	check(launches, 2, 128);
}

/* Two waves of 8 groups, and 8 groups that come in the first of them. They wait for that wave; the second one waits for them. */
static void the_higher_priority_comes_next(void)
{
	struct one after[] = {
		{2000, 0, demand(16, 0.5, 0.1), 0, 2000},
		{1000, 300, demand(8, 0.5, 0.1), 2000, 3000},
	};
	struct one before[] = {
		{2000, 0, demand(16, 0.5, 0.1), 0, 3000},
		{1000, 300, demand(8, 0.5, 0.1), 1000, 2000},
	};
	struct one in_the_last_wave[] = {
		{2000, 0, demand(16, 0.5, 0.1), 0, 2000},
		{1000, 1500, demand(8, 0.5, 0.1), 2000, 3000},
	};
	check(after, 2, 128);
	check_priorities(before, (const int[]){0, -1}, 2);
	check_priorities(in_the_last_wave, (const int[]){0, -1}, 2);
}

/* Two of a priority go one after the other, before what waits with a lower one. */
static void a_priority_keeps_its_order(void)
{
	struct one launches[] = {
		{1000, 0, demand(8, 0.5, 0.1), 0, 1000},
		{1000, 10, demand(8, 0.5, 0.1), 3000, 4000},
		{1000, 20, demand(8, 0.5, 0.1), 1000, 2000},
		{1000, 30, demand(8, 0.5, 0.1), 2000, 3000},
	};
	check_priorities(launches, (const int[]){0, 0, -1, -1}, 4);
}

/* 8 groups fill the GPU: the second waits. */
static void full_launches_run_one_after_the_other(void)
{
	struct one launches[] = {
		{1000, 0, demand(8, 0.5, 0.1), 0, 1000},
		{1000, 0, demand(8, 0.5, 0.1), 1000, 2000},
		{500, 100, demand(2, 0.5, 0.1), 2000, 2500},
	};
	check(launches, 3, 128);
}

/*
 * 12 groups are one and a half waves, of 500 ns each, held up by latencies. The second launch gets half of its room from 500 on. Its
 * first wave of 500 is half done at 1000, when it gets all: it ends at 1250. Its tail, 500 more, leaves half of the room to the third,
 * a wave of 8 groups: at 1750, 250 of its 400 ns are done, and it takes 150 more.
 */
static void the_next_launch_begins_in_the_tail(void)
{
	struct one launches[] = {
		{1000, 0, demand(12, 0.3, 0), 0, 1000},
		{1000, 0, demand(12, 0.3, 0), 500, 1750},
		{400, 0, demand(8, 0.3, 0), 1250, 1900},
	};
	check(launches, 3, 128);
}

/* The same, but what the SMs issue limits them: the mean of 0.9 is 1 in the full wave, which takes 600 = 0.9 x 1000 / 1.5. The tail
 * issues 0.5 x 600 / 400 = 0.75. Of the 0.5 that the second could issue with half of the room, it has the remaining 0.25: 100 of its wave
 * of 600 are done at 1000. It ends at 1500, and its tail at 1900. */
static void a_tail_that_issues_leaves_less(void)
{
	struct command_demand d = demand(12, 0.9, 0);
	CU_ASSERT_DOUBLE_EQUAL(d.use[THROUGHPUT_ISSUE], 1, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(d.tail, 0.4, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(d.tail_use, 0.75, 1e-6);
	struct one launches[] = {
		{1000, 0, d, 0, 1000},
		{1000, 0, d, 600, 1900},
	};
	check(launches, 2, 128);
}

/* Half of the room each, and 0.8 of DRAM: both get 0.5, and run at 0.625 of their speed. The third uses little of it, and is not
 * slower: it leaves 0.45 to each of the others. They have done 400 x 0.45 / 0.8 = 225 at 400, and the remaining 775 at 0.625. */
static void memory_is_shared(void)
{
	struct one two[] = {
		{1000, 0, demand(4, 0.1, 0.8), 0, 1600},
		{1000, 0, demand(4, 0.1, 0.8), 0, 1600},
	};
	struct one three[] = {
		{1000, 0, demand(2, 0.1, 0.8), 0, 1640},
		{1000, 0, demand(2, 0.1, 0.8), 0, 1640},
		{400, 0, demand(2, 0.1, 0.1), 0, 400},
	};
	check(two, 2, 128);
	check(three, 3, 128);
}

/* Half of DRAM each, and waiting for nothing else. Accesses occupy a bank for a sixth of the latency. If both run at 0.8 of their speed, banks
 * are busy for 0.8 of the time, and an access waits for 0.8 / (2 x 0.2) = 2 others; with one launch, 0.5 / (2 x 0.5) = 0.5. So latencies
 * are 1 + 1.5 / 6 = 1.25 times as long, which is 0.8 of the speed. */
static void waiting_for_memory_takes_longer_if_others_use_it(void)
{
	struct command_demand d = demand(4, 0.1, 0.5);
	d.memory = 1;
	struct one launches[] = {
		{1000, 0, d, 0, 1250},
		{1000, 0, d, 0, 1250},
	};
	check_with(launches, 2, (struct sharing){.most = 128, .bank_time = 1 / 6.});
}

static void the_limit_of_launches_holds(void)
{
	struct one launches[] = {
		{1000, 0, demand(1, 0.1, 0), 0, 1000},
		{1500, 0, demand(1, 0.1, 0), 0, 1500},
		{1000, 0, demand(1, 0.1, 0), 1000, 2000},
		{1000, 0, demand(1, 0.1, 0), 1500, 2500},
	};
	check(launches, 4, 2);
}

/* The launch itself, here 200 of 1000, needs no room: it is over when the groups of the second find some. */
static void launching_needs_no_room(void)
{
	struct launch_alone l = {.groups = 8, .occupancy = {.blocks_per_sm = 2, .allowed = {2, 32, 8, UINT32_MAX}}, .launch = 0.2};
	struct command_demand d = demand_of_launch(&gpu, &l);
	CU_ASSERT_DOUBLE_EQUAL(d.room[OCCUPANCY_REGISTERS], 0.25, 1e-6);
	struct one launches[] = {
		{1000, 0, d, 0, 1000},
		{1000, 0, d, 800, 1800},
	};
	check(launches, 2, 128);
}

/* One launch at a time: that of the second waits for 200. */
static void launches_begin_one_after_the_other(void)
{
	struct launch_alone l = {.groups = 1, .occupancy = {.blocks_per_sm = 2, .allowed = {2, 2, 2, 2}}, .launch = 0.2};
	struct command_demand d = demand_of_launch(&gpu, &l);
	struct one launches[] = {
		{1000, 0, d, 0, 1000},
		{1000, 0, d, 200, 1200},
	};
	check(launches, 2, 128);
}

/* That of a higher priority comes while the first is launched: its own is next, and then it waits for the wave of the first, until 1000. */
static void a_launch_that_has_begun_is_not_overtaken(void)
{
	struct launch_alone l = {.groups = 8, .occupancy = {.blocks_per_sm = 2, .allowed = {2, 2, 2, 2}}, .launch = 0.2};
	struct command_demand d = demand_of_launch(&gpu, &l);
	struct one launches[] = {
		{1000, 0, d, 0, 1000},
		{1000, 100, d, 800, 1800},
	};
	check_priorities(launches, (const int[]){0, -1}, 2);
}

/* Two waves that issue all the time: what comes at 300 is behind as many groups as a wave has, until 1300. 700 of the first are left then. */
static void groups_that_issue_go_oldest_first(void)
{
	struct one launches[] = {
		{2000, 0, demand(16, 1, 0), 0, 2500},
		{500, 300, demand(8, 1, 0), 1300, 1800},
	};
	check_priorities(launches, (const int[]){0, -1}, 2);
}

/* 12 groups that take all registers. The next launch takes none, but it does not pass the 4 groups that wait until 500. */
static void groups_that_wait_are_not_passed(void)
{
	struct launch_alone l = {.groups = 12, .occupancy = {.blocks_per_sm = 2, .allowed = {8, 8, 2, 8}}};
	struct launch_alone small = {.groups = 1, .occupancy = {.blocks_per_sm = 8, .allowed = {8, 8, UINT32_MAX, 8}}};
	struct one launches[] = {
		{1000, 0, demand_of_launch(&gpu, &l), 0, 1000},
		{100, 200, demand_of_launch(&gpu, &small), 500, 600},
	};
	check(launches, 2, 128);
}

/*
 * What an H200 took (docs/overlap.md): launches of blocks of 256 threads in 1, 2, 4 and 8 streams, in us from the first start to the last
 * end. dense and chain compute, so that a block occupies what its SM issues for 230.7 and 117.4 us (from 12 blocks per SM). reads brings
 * 256 MB from DRAM, of 4680.7 GB/s. The model gets the time of one launch, and must come within 15% of the others.
 */
static const struct measured {
	double issue_us, dram_us;
	uint64_t blocks;
	double us[4];
} measured[] = {
	{230.7, 0, 16, {270.0, 271.9, 277.0, 285.0}},        {230.7, 0, 66, {269.9, 272.3, 482.6, 943.7}},
	{230.7, 0, 132, {270.1, 480.1, 942.1, 1856.9}},      {230.7, 0, 264, {479.2, 941.6, 1856.9, 3684.3}},
	{230.7, 0, 1056, {1855.4, 3683.2, 7338.3, 14646.6}}, {230.7, 0, 1584, {2769.1, 5510.5, 10992.6, 21955.6}},
	{117.4, 0, 16, {228.6, 230.5, 235.4, 242.8}},        {117.4, 0, 66, {228.5, 230.7, 254.8, 496.4}},
	{117.4, 0, 132, {228.7, 251.3, 494.2, 958.3}},       {117.4, 0, 264, {250.6, 493.2, 958.2, 1860.5}},
	{117.4, 0, 1056, {956.5, 1859.6, 3654.2, 7240.5}},   {117.4, 0, 1584, {1409.4, 2756.8, 5447.5, 10827.3}},
	{0, 57.35, 16, {1584.2, 1596.8, 1595.3, 1639.0}},    {0, 57.35, 66, {390.9, 403.6, 439.4, 563.1}},
	{0, 57.35, 132, {205.0, 222.6, 283.4, 491.2}},       {0, 57.35, 264, {113.4, 144.5, 248.8, 483.1}},
	{0, 57.35, 1056, {65.7, 125.4, 246.0, 482.4}},       {0, 57.35, 1584, {67.0, 125.7, 245.1, 479.1}},
};

static double total_us(const struct measured *m, int streams)
{
	static const struct gpu h200 = {.sm_count = 132};
	struct launch_alone l = {.groups = m->blocks, .occupancy = {.blocks_per_sm = 8, .allowed = {8, 32, 8, UINT32_MAX}}};
	struct sharing s = {.most = 128, .bank_time = 47.62 / (684 / 1.958)};
	struct shared_launch ended = {0};
	l.launch = 1.376 / m->us[0];
	l.use[THROUGHPUT_ISSUE] = m->issue_us * (double)m->blocks / 132 / m->us[0];
	l.use[THROUGHPUT_DRAM] = m->dram_us / m->us[0];
	l.memory = m->dram_us > 0;
	struct command_demand d = demand_of_launch(&h200, &l);
	for (int i = 0; i < streams; i++)
		CU_ASSERT_TRUE(sharing_add(&s, NULL, m->us[0], &d, 0, 0));
	while (!isinf(sharing_next(&s)))
		sharing_step(&s, &ended);
	sharing_free(&s);
	return ended.end;
}

static void streams_take_what_an_h200_takes(void)
{
	double sum = 0;
	size_t count = 0;
	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
		for (int k = 1; k < 4; k++, count++) {
			double error = total_us(&measured[i], 1 << k) / measured[i].us[k] - 1;
			sum += fabs(error);
			CU_ASSERT_TRUE(fabs(error) < 0.15);
		}
	CU_ASSERT_TRUE(sum / (double)count < 0.05);
}

/*
 * The same with priorities (tests/accuracy/truth/micro_priorities.cu): 4224 blocks, of which 8 fit on an SM, and blocks of a higher priority that may
 * start at `ready`. A wave of dense or chain (which issue all the time) or of reads (20.5 us of DRAM alone, or 18.5) takes 20 us. Not here: dense before
 * others, which it starves. The times of each alone are given; the ends must come within 35%, and within 10% in the mean.
 */
enum kind { DENSE, CHAIN, READS };
static const double low_alone_us[] = {[DENSE] = 86.9, [CHAIN] = 86.7, [READS] = 82.8};
static const struct prior {
	enum kind low, high;
	uint64_t blocks;
	double alone_us, ready, high_us, low_us;
} priors[] = {
	{DENSE, DENSE, 16, 4.5, 24.1, 49.3, 86.9}, {DENSE, DENSE, 132, 4.5, 23.6, 49.0, 89.7},
	{DENSE, DENSE, 1056, 22.6, 13.6, 60.3, 107.6}, {DENSE, DENSE, 4224, 86.9, 12.8, 122.0, 169.3},
	{CHAIN, DENSE, 16, 4.5, 23.3, 37.0, 89.5}, {CHAIN, DENSE, 132, 4.5, 12.6, 35.2, 93.6},
	{CHAIN, DENSE, 1056, 22.6, 12.1, 52.9, 110.5}, {CHAIN, DENSE, 4224, 86.9, 15.1, 116.6, 171.9},
	{CHAIN, CHAIN, 16, 11.6, 11.8, 42.9, 91.0}, {CHAIN, CHAIN, 132, 11.6, 13.6, 42.6, 93.3},
	{CHAIN, CHAIN, 1056, 23.2, 13.3, 55.9, 111.2}, {CHAIN, CHAIN, 4224, 86.7, 12.1, 118.1, 172.4},
	{CHAIN, READS, 16, 6.0, 13.3, 33.1, 90.7}, {CHAIN, READS, 132, 7.0, 23.6, 41.6, 86.9},
	{CHAIN, READS, 1056, 23.2, 23.8, 59.5, 99.4}, {CHAIN, READS, 4224, 82.8, 11.8, 107.9, 158.8},
	{READS, DENSE, 16, 4.5, 12.6, 24.4, 82.5}, {READS, DENSE, 132, 4.5, 13.1, 29.8, 83.3},
	{READS, DENSE, 1056, 22.6, 12.6, 45.7, 100.2}, {READS, DENSE, 4224, 86.9, 12.8, 105.3, 162.4},
	{READS, CHAIN, 16, 11.6, 12.1, 30.1, 82.8}, {READS, CHAIN, 132, 11.6, 14.1, 31.9, 82.8},
	{READS, CHAIN, 1056, 23.2, 13.3, 48.5, 97.4}, {READS, CHAIN, 4224, 86.7, 13.1, 109.2, 158.1},
	{READS, READS, 16, 6.0, 13.6, 36.7, 83.1}, {READS, READS, 132, 7.0, 13.6, 39.3, 85.1},
	{READS, READS, 1056, 23.2, 13.9, 53.9, 102.0}, {READS, READS, 4224, 82.8, 14.4, 112.0, 161.4},
};

static struct command_demand demand_of_kind(enum kind kind, uint64_t blocks, double us)
{
	static const struct gpu h200 = {.sm_count = 132};
	struct launch_alone l = {.groups = blocks, .occupancy = {.blocks_per_sm = 8, .allowed = {16, 32, UINT32_MAX, 8}}, .launch = 1.4 / us};
	double waves = (double)blocks / (132 * 8);
	if (kind == READS)
		l.use[THROUGHPUT_DRAM] = fmin(1, 18.5 * waves / (us - 1.4));
	else
		l.use[THROUGHPUT_ISSUE] = fmin(1, 20 * waves / (us - 1.4));
	l.memory = kind == READS;
	return demand_of_launch(&h200, &l);
}

static void run_prior(const struct prior *p, double ends[2])
{
	struct sharing s = {.most = 128, .bank_time = 47.62 / (684 / 1.958)};
	struct command_demand low = demand_of_kind(p->low, 4224, low_alone_us[p->low]), high = demand_of_kind(p->high, p->blocks, p->alone_us);
	struct shared_launch ended;
	CU_ASSERT_TRUE(sharing_add(&s, &ends[0], low_alone_us[p->low], &low, 0, 0));
	while (sharing_next(&s) <= p->ready)
		sharing_step(&s, &ended);
	CU_ASSERT_TRUE(sharing_add(&s, &ends[1], p->alone_us, &high, -5, p->ready));
	while (!isinf(sharing_next(&s)))
		if (sharing_step(&s, &ended))
			*(double *)ended.what = ended.end;
	sharing_free(&s);
}

static void priorities_take_what_an_h200_takes(void)
{
	double sums[2] = {0};
	size_t count = sizeof priors / sizeof *priors;
	for (size_t i = 0; i < count; i++) {
		double ends[2] = {0}, low = 0, high = 0;
		run_prior(&priors[i], ends);
		low = fabs(ends[0] / priors[i].low_us - 1);
		high = fabs(ends[1] / priors[i].high_us - 1);
		CU_ASSERT_TRUE(low < 0.1 && high < 0.35);
		sums[0] += low;
		sums[1] += high;
	}
	CU_ASSERT_TRUE(sums[0] / (double)count < 0.03 && sums[1] / (double)count < 0.1);
}

/* Alone, a launch takes exactly its time, whatever its parts add up to. */
static void alone_a_launch_takes_its_time(void)
{
	struct launch_alone l = {.groups = 29, .occupancy = {.blocks_per_sm = 2, .allowed = {2, 2, 2, 2}}, .launch = 0.1, .use = {0.7, 0.3, 0.1}};
	struct command_demand d = demand_of_launch(&gpu, &l);
	struct sharing s = {.most = 4};
	struct shared_launch ended;
	double start = 1234567.891, duration = 98765.4321;
	CU_ASSERT_TRUE(sharing_add(&s, NULL, duration, &d, 0, start));
	while (!sharing_step(&s, &ended))
		continue;
	CU_ASSERT_EQUAL(ended.start, start);
	CU_ASSERT_EQUAL(ended.end, start + duration);
	sharing_free(&s);
}

void add_sharing_tests(void)
{
	CU_pSuite s = CU_add_suite("sharing", NULL, NULL);
	CU_ADD_TEST(s, small_launches_run_beside_each_other);
	CU_ADD_TEST(s, full_launches_run_one_after_the_other);
	CU_ADD_TEST(s, the_higher_priority_comes_next);
	CU_ADD_TEST(s, a_priority_keeps_its_order);
	CU_ADD_TEST(s, the_next_launch_begins_in_the_tail);
	CU_ADD_TEST(s, a_tail_that_issues_leaves_less);
	CU_ADD_TEST(s, memory_is_shared);
	CU_ADD_TEST(s, the_limit_of_launches_holds);
	CU_ADD_TEST(s, launching_needs_no_room);
	CU_ADD_TEST(s, waiting_for_memory_takes_longer_if_others_use_it);
	CU_ADD_TEST(s, launches_begin_one_after_the_other);
	CU_ADD_TEST(s, a_launch_that_has_begun_is_not_overtaken);
	CU_ADD_TEST(s, groups_that_issue_go_oldest_first);
	CU_ADD_TEST(s, groups_that_wait_are_not_passed);
	CU_ADD_TEST(s, priorities_take_what_an_h200_takes);
	CU_ADD_TEST(s, streams_take_what_an_h200_takes);
	CU_ADD_TEST(s, alone_a_launch_takes_its_time);
}
