/* Loops that go anywhere in memory which L2 comes to hold. */
#include "tests/tests.h"

#include "tests/models/scene.h"
#include "models/grid/learn.h"
#include "models/util/hash.h"

#include <math.h>
#include <stdlib.h>

/* Of 1000 sectors, half is missing after 100 instructions, a quarter after 200. These 100 took 1000 cycles, and 100 later ones 600. */
static const struct learn halved = {.sectors = 1000, .parts = 1, .share = 1, .of_all = 1000, .begin = 1000, .from = {900, 100, 500},
                                    .to = {1900, 200, 250}, .known = {2000, 210, 0}, .end = {2600, 310, 0}};

/* The quarter that was learned in that time cost 400 cycles: so does the quarter that L2 was given; and half of it, if the launch ends after as
 * many instructions again. */
static void test_given_lines_are_charged(void)
{
	struct learn l = halved;
	CU_ASSERT_DOUBLE_EQUAL(learn_cycles(&l, 3000), 400, 1);
	CU_ASSERT_DOUBLE_EQUAL(learn_cycles(&l, 300), 200, 1);
	l.end.time = 3000; /* as slow as before: L2 was not what loads waited for */
	CU_ASSERT_DOUBLE_EQUAL(learn_cycles(&l, 3000), 0, 1e-9);
	l.end.time = 0;
	CU_ASSERT_DOUBLE_EQUAL(learn_cycles(&l, 3000), 0, 1e-9);
}

/* A load of many parts waits for DRAM while few of the sectors are missing, so that more of the time is to come: 1 - (1 - u)^2 = 2u - u^2. Over the
 * window, that is (2 / 4 - 3 / 32) / k, of what comes after it (2 / 4 - 1 / 32) / k. */
static void test_one_of_many_parts(void)
{
	struct learn l = halved;
	l.parts = 2;
	CU_ASSERT_DOUBLE_EQUAL(learn_cycles(&l, 3000), 400 * (0.5 - 1.0 / 32) / (0.5 - 3.0 / 32), 2);
}

/* Half of the groups are simulated, and find half of the memory in L2. All together learn twice as fast, from the whole of it: in integrals of what
 * is missing, 1 / 2k in place of what was stepped through, (1 / 2 - 1 / 8) / k. A quarter of 1 / k had cost 1600 / 4 cycles. */
static void test_others_learn_too(void)
{
	struct learn l = halved;
	l.share = 0.5;
	l.begin = 500;
	l.from.missing = 250;
	l.to.missing = 125;
	CU_ASSERT_DOUBLE_EQUAL(learn_cycles(&l, 3000), 400 / 0.125 * (0.5 - 0.375), 2);
}

static void test_missing_sectors(void)
{
	static struct scene s;
	scene_start(&s, "h200", NULL);
	const struct memory_range r = {.address = (1ull << 40) + 128, .bytes = 1 << 16};
	struct memory_system *m = memory_new(&s.gpu, 132, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	CU_ASSERT_DOUBLE_EQUAL(memory_missing(m, &r, 1, false), 2048, 1e-9);
	memory_touch(m, (1ull << 40) + 256, false);
	CU_ASSERT_DOUBLE_EQUAL(memory_missing(m, &r, 1, true), 2044, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(memory_missing(m, &r, 1, false), 0, 1e-9);
	memory_free(m);
}

/* ---- a launch ---- */

enum { WARPS = 4, COUNT = 40000, WINDOW = 64, BYTES = 1 << 22 };
#define BASE (1ull << 40)

struct chance_path {
	uint32_t blocks[COUNT + 2], first[COUNT + 1];
	double weights[COUNT + 2];
	struct path_gap gap;
	struct round_shift shifts[WINDOW];
	struct memory_part parts[COUNT + 1];
	uint16_t accesses[COUNT + 1];
	struct path_requests requests;
};

/* Where the window's loads go in its rounds (models/sm/gaps.h). */
static uint64_t chance_address(uint32_t warp, uint32_t i)
{
	const struct round_shift shift = {.chance = true, .low = BASE, .bytes = BYTES};
	uint64_t first = BASE + (hash_number(((uint64_t)warp << 32) + i % WINDOW) % BYTES) / 128 * 128;
	return round_address(&shift, first, i / WINDOW, WINDOW, 0, 128);
}

/* COUNT loads of lines anywhere, each of which waits for the one before; all of them, or a window. */
static struct warp_path write_chance(const struct scene *s, struct chance_path *p, uint32_t warp, uint32_t window)
{
	for (uint32_t i = 0; i < window; i++) {
		p->blocks[1 + i] = 1;
		p->first[i + 1] = i + 1;
		p->accesses[i] = 1;
		p->parts[i] = (struct memory_part){.address = chance_address(warp, i), .sectors = 15, .bytes = 128};
	}
	p->blocks[1 + window] = 2;
	p->requests = (struct path_requests){p->first, p->parts};
	struct warp_path path = {.blocks = p->blocks, .block_count = window + 2, .requests = &p->requests, .accesses = p->accesses, .access_count = window};
	if (window == COUNT)
		return path;
	for (uint32_t i = 0; i < window; i++)
		p->shifts[i] = (struct round_shift){.chance = true, .low = BASE, .bytes = BYTES};
	p->gap = (struct path_gap){.from = 1, .at = 1 + window, .outer = -1, .rounds = (double)COUNT / window - 1, .iterations = window,
	                           .access_count = window, .shifts = p->shifts};
	path_weigh(&s->code.code, p->blocks, path.block_count, &p->gap, 1, p->weights);
	path.gaps = &p->gap;
	path.gap_count = 1;
	path.weights = p->weights;
	return path;
}

static double run_chance(struct scene *s, uint32_t window)
{
	struct chance_path *p = calloc(WARPS, sizeof *p);
	struct warp_path paths[WARPS];
	const uint32_t path_of[WARPS] = {0, 1, 2, 3};
	const struct memory_range cold = {.address = BASE, .bytes = BYTES, .traffic = 1, .anywhere = true, .cold = 1};
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	for (uint32_t w = 0; w < WARPS; w++)
		paths[w] = write_chance(s, &p[w], w, window);
	struct launch_warps launch = {.code = &s->code.code, .paths = paths, .path_count = WARPS, .groups = 1, .warps_per_group = WARPS,
	                              .path_of = path_of, .pattern_groups = 1, .warm = &cold, .warm_count = 1};
	CU_ASSERT_EQUAL_FATAL(model_occupancy_vector(&s->gpu, &launch, 1, &s->options, &s->timing, NULL), 0);
	free(p);
	return s->timing.cycles;
}

/* 160,000 loads of 32,768 lines that are not in L2: the first thousands tell how long they take, and L2 is given the others. A simulation that ends
 * where it has cost enough is as good as all of it, though L2 still misses nearly everything there. */
static void test_cold_begin(void)
{
	static struct scene s;
	scene_start(&s, "h200", NULL);
	s.options.on_issue = NULL;
	s.options.hierarchy = true;
	s.options.exact = false;
	build(&s.code, CODE_move, "1 <-");
	build_block(&s.code);
	build_memory(&s.code, CODE_load, SPACE_global, "1 <- 1");
	build(&s.code, CODE_fp32_fma, "3 <- 3 1 4");
	build(&s.code, CODE_branch, "? 3");
	build_block(&s.code);
	scene_exit(&s);
	double whole = run_chance(&s, COUNT);
	run_chance(&s, WINDOW);
	CU_ASSERT_DOUBLE_EQUAL(s.timing.cycles, whole, 0.02 * whole);
	s.options.most_steps = 40000; /* of 640,000 */
	run_chance(&s, WINDOW);
	CU_ASSERT_DOUBLE_EQUAL(s.timing.cycles, whole, 0.03 * whole);
	CU_ASSERT_TRUE(s.timing.simulated_fraction < 0.1);
}

void add_learn_tests(void)
{
	CU_pSuite s = CU_add_suite("learn", NULL, NULL);
	CU_add_test(s, "lines that L2 was given cost what learned ones did", test_given_lines_are_charged);
	CU_add_test(s, "a load waits if one of its parts is missing", test_one_of_many_parts);
	CU_add_test(s, "groups that are not simulated learn, too", test_others_learn_too);
	CU_add_test(s, "sectors that L2 does not have", test_missing_sectors);
	CU_add_test(s, "a launch that begins with a cold L2", test_cold_begin);
}
