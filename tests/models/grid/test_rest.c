/* What is left of a launch whose simulation ends early. SMs are set up by hand, so that every expected number can be computed by hand. */
#include "tests/tests.h"

#include "models/grid/rest.h"

#include <stdlib.h>

enum { A, B, C, D }; /* blocks, of 2, 3, 1 and 1 instructions */
enum { SLOTS = 3, GAPS = 2, LENGTH = 100, MARKED = 1000, ENDED = 1100 };

/* SMs with room for three warps, each of a group of its own. */
struct stopped_launch {
	struct code_block blocks[4];
	struct kernel_code code;
	struct launch_warps launch;
	struct ov_machine machine;
	struct ov_sm sms[2], *list[2];
	struct ov_warp warps[2 * SLOTS];
	struct ov_group groups[2 * SLOTS];
	double rounds[2 * SLOTS * GAPS];
	uint32_t straight_blocks[LENGTH]; /* of one instruction each */
	struct warp_path straight;
	struct rest rest;
};

static void start(struct stopped_launch *s, uint32_t sms)
{
	*s = (struct stopped_launch){.blocks = {[A].count = 2, [B].count = 3, [C].count = 1, [D].count = 1}};
	s->code = (struct kernel_code){.blocks = s->blocks, .block_count = 4};
	s->launch.code = &s->code;
	s->machine = (struct ov_machine){.launch = &s->launch, .slots = SLOTS, .gap_room = GAPS};
	for (uint32_t i = 0; i < LENGTH; i++)
		s->straight_blocks[i] = C;
	s->straight = (struct warp_path){.blocks = s->straight_blocks, .block_count = LENGTH};
	for (uint32_t i = 0; i < sms; i++) {
		s->sms[i] = (struct ov_sm){.m = &s->machine, .warps = &s->warps[i * SLOTS], .groups = &s->groups[i * SLOTS],
		                           .rounds = &s->rounds[i * SLOTS * GAPS]};
		s->list[i] = &s->sms[i];
		for (uint16_t slot = 0; slot < SLOTS; slot++)
			s->sms[i].warps[slot].group = slot;
	}
	CU_ASSERT_EQUAL_FATAL(rest_init(&s->rest, s->list, sms), 0);
}

/* A group with one warp comes to a slot of an SM. */
static void give_warp(struct ov_sm *sm, uint32_t slot, uint64_t group, const struct warp_path *path)
{
	sm->groups[slot] = (struct ov_group){.live = 1, .id = group};
	sm->warps[slot].path = path;
	sm->warps[slot].block = path->blocks;
}

static void move_warp(struct ov_sm *sm, uint32_t slot, uint32_t block)
{
	sm->warps[slot].block = sm->warps[slot].path->blocks + block;
}

static struct rest_estimate estimate(struct stopped_launch *s, double queued)
{
	struct rest_estimate e = rest_of(&s->rest, ENDED, queued);
	rest_free(&s->rest);
	return e;
}

/* Two warps, one of which is twice as fast. In 100 cycles they do 50 and 25 instructions, and have 50 and 75 left. */
static void two_warps(struct stopped_launch *s)
{
	start(s, 1);
	give_warp(s->list[0], 0, 7, &s->straight);
	give_warp(s->list[0], 2, 8, &s->straight);
	rest_begin(&s->rest, MARKED);
	move_warp(s->list[0], 0, 50);
	move_warp(s->list[0], 2, 25);
}

/* Each waits for its own results: the slow one needs 75 / 0.25 cycles. */
static void test_warps_alone(void)
{
	static struct stopped_launch s;
	two_warps(&s);
	s.sms[0].by[CYCLES_dependency] = 60;
	s.sms[0].by[CYCLES_barrier] = 40;
	struct rest_estimate e = estimate(&s, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 300, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.spread, 0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.instructions, 125, 1e-9);
}

/* They wait for one another: 125 instructions at 0.75 a cycle. */
static void test_warps_share(void)
{
	static struct stopped_launch s;
	two_warps(&s);
	s.sms[0].by[CYCLES_issue] = 100;
	struct rest_estimate e = estimate(&s, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 125 / 0.75, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.spread, 0, 1e-9);
}

/* Only what was after the mark counts, stepped through or jumped over: a quarter of the cycles were the warps' own. */
static void test_some_of_both(void)
{
	static struct stopped_launch s;
	start(&s, 1);
	give_warp(s.list[0], 0, 7, &s.straight);
	give_warp(s.list[0], 2, 8, &s.straight);
	s.sms[0].by[CYCLES_dependency] = 5000;
	rest_begin(&s.rest, MARKED);
	move_warp(s.list[0], 0, 50);
	move_warp(s.list[0], 2, 25);
	s.sms[0].by[CYCLES_dependency] += 10;
	s.sms[0].jumped_by[CYCLES_dependency] = 15;
	s.sms[0].by[CYCLES_issue] = 40;
	s.sms[0].jumped_by[CYCLES_l1] = 35;
	struct rest_estimate e = estimate(&s, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 0.25 * 300 + 0.75 * 125 / 0.75, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.spread, (300 - 125 / 0.75) * 0.25, 1e-9);
}

/* A load's latency is the warp's own, but for the time that it waits behind others. */
static void test_queues_are_shared(void)
{
	static struct stopped_launch s;
	two_warps(&s);
	s.sms[0].by[CYCLES_memory] = 100;
	struct rest_estimate e = estimate(&s, 0.4);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 0.6 * 300 + 0.4 * 125 / 0.75, 1e-9);
}

/* A group that came after the mark goes on as others do on average, 0.375 a cycle; one that has ended is none. */
static void test_late_group(void)
{
	static struct stopped_launch s;
	two_warps(&s);
	give_warp(s.list[0], 1, 9, &s.straight);
	move_warp(s.list[0], 1, 10);
	s.sms[0].by[CYCLES_dependency] = 100;
	struct rest_estimate e = rest_of(&s.rest, ENDED, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 300, 1e-9); /* 90 / 0.375 is less */
	CU_ASSERT_DOUBLE_EQUAL(e.instructions, 215, 1e-9);
	s.sms[0].groups[2].live = 0;
	s.sms[0].warps[0].finished = true;
	s.sms[0].instructions = 45;
	e = rest_of(&s.rest, ENDED, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.instructions, 90, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 90 / 0.45, 1e-9); /* of no warp is a rate known, but of the SM */
	/* Another group in the place of one that was marked has not done what that one did. */
	s.sms[0].warps[0].finished = false;
	move_warp(s.list[0], 0, 50);
	give_warp(s.list[0], 2, 10, &s.straight);
	move_warp(s.list[0], 2, 80);
	e = estimate(&s, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 90 / 0.5, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.instructions, 50 + 90 + 20, 1e-9);
}

/* The SM that needs longest counts, and what all do. */
static void test_last_sm(void)
{
	static struct stopped_launch s;
	start(&s, 2);
	give_warp(s.list[0], 0, 1, &s.straight);
	give_warp(s.list[1], 1, 2, &s.straight);
	rest_begin(&s.rest, MARKED);
	move_warp(s.list[0], 0, 80);
	move_warp(s.list[1], 1, 40);
	struct rest_estimate e = estimate(&s, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 60 / 0.4, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.instructions, 20 + 60, 1e-9);
}

/* A window of B B B B, of which 9 rounds follow, then C. */
static void test_rounds_are_left(void)
{
	static struct stopped_launch s;
	const uint32_t blocks[] = {A, B, B, B, B, C};
	double weights[6];
	struct path_gap gap = {.from = 1, .at = 5, .outer = -1, .rounds = 9, .iterations = 4};
	start(&s, 1);
	path_weigh(&s.code, blocks, 6, &gap, 1, weights);
	struct warp_path path = {.blocks = blocks, .block_count = 6, .gaps = &gap, .gap_count = 1, .weights = weights};
	give_warp(s.list[0], 0, 1, &path);
	s.rounds[0] = 9;
	rest_begin(&s.rest, MARKED); /* 2 + 10 * 12 + 1 = 123 are left */
	move_warp(s.list[0], 0, 2); /* in the fourth of those rounds, before its second block */
	s.rounds[0] = 5;
	struct rest_estimate e = rest_of(&s.rest, ENDED, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.instructions, 3 * 3 + 5 * 12 + 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 70 / ((123 - 70) / 100.0), 1e-9);
	move_warp(s.list[0], 0, 5); /* behind it */
	s.warps[0].next_gap = 1;
	s.rounds[0] = 0;
	e = estimate(&s, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.instructions, 1, 1e-9);
}

/* A window of B and an inner window of D D, which end together: the inner one has 4 more rounds, the outer one 2. */
static void test_rounds_in_rounds(void)
{
	static struct stopped_launch s;
	const uint32_t blocks[] = {A, B, D, D, C};
	double weights[5];
	struct path_gap gaps[2] = {{.from = 2, .at = 4, .outer = 1, .rounds = 4, .iterations = 2},
	                           {.from = 1, .at = 4, .outer = -1, .rounds = 2, .iterations = 1}};
	start(&s, 1);
	path_weigh(&s.code, blocks, 5, gaps, 2, weights);
	struct warp_path path = {.blocks = blocks, .block_count = 5, .gaps = gaps, .gap_count = 2, .weights = weights};
	give_warp(s.list[0], 0, 1, &path);
	s.rounds[0] = 4;
	s.rounds[1] = 2;
	CU_ASSERT_DOUBLE_EQUAL(rest_of(&s.rest, ENDED, 0).instructions, 2 + 3 * (3 + 5 * 2) + 1, 1e-9);
	move_warp(s.list[0], 0, 1); /* before B, in the last round */
	s.rounds[1] = 0;
	CU_ASSERT_DOUBLE_EQUAL(rest_of(&s.rest, ENDED, 0).instructions, 3 + 5 * 2 + 1, 1e-9);
	move_warp(s.list[0], 0, 3); /* between D and D, two rounds of them to come, and one of all */
	s.rounds[0] = 2;
	s.rounds[1] = 1;
	CU_ASSERT_DOUBLE_EQUAL(estimate(&s, 0).instructions, 1 + 2 * 2 + (3 + 5 * 2) + 1, 1e-9);
}

/* Two windows of one loop, B B with 4 more rounds and B with 7. Of the second, 5 rounds were jumped over before its time. */
static void test_rounds_jumped_ahead(void)
{
	static struct stopped_launch s;
	const uint32_t blocks[] = {A, B, B, B, C};
	double weights[5];
	struct path_gap gaps[2] = {{.from = 1, .at = 3, .outer = -1, .rounds = 4, .iterations = 2},
	                           {.from = 3, .at = 4, .outer = -1, .rounds = 7, .iterations = 1}};
	start(&s, 1);
	path_weigh(&s.code, blocks, 5, gaps, 2, weights);
	CU_ASSERT_EQUAL(gaps[0].next, 1);
	CU_ASSERT_EQUAL(gaps[1].next, -1);
	CU_ASSERT_EQUAL(gaps[1].first, 0);
	CU_ASSERT_DOUBLE_EQUAL(gaps[1].before, 5 * 2, 1e-9);
	struct warp_path path = {.blocks = blocks, .block_count = 5, .gaps = gaps, .gap_count = 2, .weights = weights};
	give_warp(s.list[0], 0, 1, &path);
	move_warp(s.list[0], 0, 2);
	s.warps[0].left = 2; /* instructions of the first B */
	s.rounds[0] = 0;
	s.rounds[1] = 2;
	CU_ASSERT_DOUBLE_EQUAL(estimate(&s, 0).instructions, 2 + 3 + (1 + 2) * 3 + 1, 1e-9);
}

/* Three warps in one loop of 10 rounds of B B, 60 instructions, then C. In 100 cycles two do 24 instructions, and the third, which comes last with the
 * scheduler, does 3. All wait for their own results. The third goes on at the mean, (24 + 24 + 3) / 3 / 100 = 0.17, when the others have left. */
static void test_served_last(void)
{
	static struct stopped_launch s;
	const uint32_t blocks[] = {B, B, C};
	double weights[3];
	struct path_gap gap = {.from = 0, .at = 2, .outer = -1, .rounds = 9, .iterations = 2};
	start(&s, 1);
	path_weigh(&s.code, blocks, 3, &gap, 1, weights);
	struct warp_path path = {.blocks = blocks, .block_count = 3, .gaps = &gap, .gap_count = 1, .weights = weights};
	for (uint32_t slot = 0; slot < 3; slot++) {
		give_warp(s.list[0], slot, slot, &path);
		s.rounds[slot * GAPS] = 9;
	}
	rest_begin(&s.rest, MARKED);
	s.rounds[0] = s.rounds[GAPS] = 5;
	move_warp(s.list[0], 2, 1);
	s.sms[0].by[CYCLES_dependency] = 100;
	s.sms[0].instructions = 51;
	struct rest_estimate e = estimate(&s, 0);
	CU_ASSERT_DOUBLE_EQUAL(e.instructions, 2 * (6 * 6 + 1) + 58, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 58 / 0.17, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.rate, 0.51, 1e-9);
}

void add_rest_tests(void)
{
	CU_pSuite s = CU_add_suite("rest", NULL, NULL);
	CU_add_test(s, "warps that wait for their own results end with the slowest", test_warps_alone);
	CU_add_test(s, "warps that wait for one another end together", test_warps_share);
	CU_add_test(s, "what was before the mark does not count, what was jumped over does", test_some_of_both);
	CU_add_test(s, "loads wait in queues for others", test_queues_are_shared);
	CU_add_test(s, "groups that come after the mark, or have ended", test_late_group);
	CU_add_test(s, "the last SM counts", test_last_sm);
	CU_add_test(s, "rounds of a window are left", test_rounds_are_left);
	CU_add_test(s, "rounds in rounds are left", test_rounds_in_rounds);
	CU_add_test(s, "who is served last in a loop goes on as the others did", test_served_last);
	CU_add_test(s, "rounds that were jumped over ahead are not left", test_rounds_jumped_ahead);
}
