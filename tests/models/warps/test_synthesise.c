/* Paths made from counts: the walk of a lane through loops, branches and calls, and the replay of lanes as a warp. */
#include "tests/models/code_builder.h"
#include "tests/tests.h"

#include "models/accesses/accesses.h"
#include "models/models.h"
#include "models/warps/replay.h"
#include "models/warps/synthesise.h"
#include "models/warps/walk.h"

#include <errno.h>
#include <string.h>

/* ---- the walk ---- */

struct way {
	uint32_t from;
	int32_t to;
	bool taken;
	double count;
};

static struct code_block blocks[8];
static struct code_edge edges[12];
static double edge_counts[12];
static struct code_instruction instructions[8];
static struct code_loop loops[2];
static uint32_t functions[3];
static struct kernel_code code;

/* Makes blocks of one instruction each. Their branches are the same in all lanes. Ways are sorted by their block. */
static void make_code(uint32_t block_count, const struct way *ways, uint32_t way_count)
{
	code = (struct kernel_code){.blocks = blocks, .block_count = block_count, .edges = edges, .edge_count = way_count,
	                            .loops = loops, .functions = functions, .function_count = 1, .code = instructions,
	                            .code_count = block_count};
	for (uint32_t b = 0; b < block_count; b++) {
		blocks[b] = (struct code_block){.count = 1, .first = b, .call = -1, .join = -1, .loop = -1};
		instructions[b] = (struct code_instruction){.class = CODE_branch, .flags = CODE_UNIFORM, .address = -1};
	}
	for (uint32_t i = 0; i < way_count; i++) {
		struct code_block *b = &blocks[ways[i].from];
		if (!b->edge_count++)
			b->first_edge = i;
		edges[i] = (struct code_edge){.from = ways[i].from, .to = ways[i].to, .taken = ways[i].taken, .denominator = 1};
		edge_counts[i] = ways[i].count;
	}
}

static void check_path(const char *expected)
{
	struct gs_buf path = {0};
	char text[64] = "";
	int64_t wanted = walk_lane(&code, edge_counts, 1, 1000, &path);
	for (size_t i = 0; i < path.len / sizeof(uint32_t) && i < sizeof text - 1; i++)
		text[i] = (char)('0' + ((uint32_t *)(void *)path.data)[i]);
	CU_ASSERT_STRING_EQUAL(text, expected);
	CU_ASSERT_EQUAL(wanted, (int64_t)strlen(expected));
	gs_buf_free(&path);
}

/* 0 -> 1 (outer header) -> 2 (inner, itself) -> 3 (latch of the outer) -> 4. The outer loop runs twice, the inner one 5 times in
 * all. Its 3 back edges are divided between 2 entries: 2 at the first (3 / 2 rounded), 1 at the second. */
static void trips_are_shared_among_entries(void)
{
	make_code(5, (struct way[]){{0, 1, 0, 1}, {1, 2, 0, 2}, {2, 2, 1, 3}, {2, 3, 0, 2}, {3, 1, 1, 1}, {3, 4, 0, 1},
	                            {4, -1, 1, 1}}, 7);
	loops[0] = (struct code_loop){.header = 1, .outer = -1};
	loops[1] = (struct code_loop){.header = 2, .outer = 0};
	code.loop_count = 2;
	blocks[1].loop = blocks[3].loop = 0;
	blocks[2].loop = 1;
	check_path("01222312234");
}

/* A branch in a loop of four trips. It is taken every second time. */
static void branches_alternate(void)
{
	make_code(5, (struct way[]){{0, 1, 0, 1}, {1, 2, 1, 2}, {1, 3, 0, 2}, {2, 3, 0, 2}, {3, 1, 1, 3}, {3, 4, 0, 1},
	                            {4, -1, 1, 1}}, 7);
	loops[0] = (struct code_loop){.header = 1, .outer = -1};
	code.loop_count = 1;
	blocks[1].loop = blocks[2].loop = blocks[3].loop = 0;
	blocks[1].join = 3;
	check_path("0123131231" "34");
}

/* Each of two lanes takes a branch in 500 of 1000 trips. The lanes need not agree, so they take it in the same number of trips,
 * but not in the same trips. With order, each lane takes its taken trips first. */
static void lanes_that_need_not_agree_do_not(void)
{
	struct gs_buf paths[3] = {{0}};
	make_code(5, (struct way[]){{0, 1, 0, 1}, {1, 2, 1, 500}, {1, 3, 0, 500}, {2, 3, 0, 500}, {3, 1, 1, 999}, {3, 4, 0, 1},
	                            {4, -1, 1, 1}}, 7);
	loops[0] = (struct code_loop){.header = 1, .outer = -1};
	code.loop_count = 1;
	blocks[1].loop = blocks[2].loop = blocks[3].loop = 0;
	CU_ASSERT_FALSE(walk_may_differ(&code, edge_counts));
	instructions[1].flags = 0;
	CU_ASSERT_TRUE(walk_may_differ(&code, edge_counts));
	walk_lane(&code, edge_counts, 1, 10000, &paths[0]);
	walk_lane(&code, edge_counts, 2, 10000, &paths[1]);
	CU_ASSERT_EQUAL(paths[0].len, paths[1].len);
	CU_ASSERT_NOT_EQUAL(memcmp(paths[0].data, paths[1].data, paths[0].len), 0);
	instructions[1].flags = CODE_ORDERED;
	walk_lane(&code, edge_counts, 3, 10000, &paths[2]);
	const uint32_t *ordered = (uint32_t *)(void *)paths[2].data;
	for (size_t trip = 0; trip < 500; trip++)
		CU_ASSERT_EQUAL(ordered[1 + 3 * trip + 1], 2);
	CU_ASSERT_EQUAL(ordered[1 + 3 * 500 + 1], 3);
	for (int i = 0; i < 3; i++)
		gs_buf_free(&paths[i]);
}

/* 0 calls the function at 2 and goes on at 1, which calls it again. */
static void calls_return(void)
{
	make_code(4, (struct way[]){{0, 1, 0, 1}, {1, 3, 0, 1}, {2, -1, 1, 2}, {3, -1, 1, 1}}, 4);
	blocks[0].call = blocks[1].call = 2;
	check_path("02123");
}

/* 0, 1 and 2 call functions by their addresses: that at 4 was called twice, and that at 5 once. */
static void functions_are_called_as_often_as_they_ran(void)
{
	make_code(6, (struct way[]){{0, 1, 0, 1}, {1, 2, 0, 1}, {2, 3, 0, 1}, {3, -1, 1, 1}, {4, -1, 1, 2}, {5, -1, 1, 1}}, 6);
	blocks[0].call = blocks[1].call = blocks[2].call = CODE_CALL_ANY;
	functions[1] = 4;
	functions[2] = 5;
	code.function_count = 3;
	check_path("0414253");
}

/* Counts of a loop that is never left. The walk must end anyway. */
static void contradicting_counts_end(void)
{
	struct gs_buf path = {0};
	make_code(2, (struct way[]){{0, 1, 0, 1}, {1, 1, 1, 1e18}}, 2);
	loops[0] = (struct code_loop){.header = 1, .outer = -1};
	code.loop_count = 1;
	blocks[1].loop = 0;
	walk_lane(&code, edge_counts, 1, 1000, &path);
	CU_ASSERT(path.len <= 1000 * sizeof(uint32_t));
	gs_buf_free(&path);
}

/* ---- the replay ---- */

static bool tell(void *ctx, uint32_t block, uint64_t lanes)
{
	gs_buf_printf(ctx, "%u:%llx ", block, (unsigned long long)lanes);
	return true;
}

static void check_replay(const struct lane_path *paths, uint32_t count, const char *expected)
{
	struct gs_buf text = {0};
	CU_ASSERT_EQUAL(replay_warp(&code, paths, count, tell, &text), 0);
	CU_ASSERT_STRING_EQUAL(text.data, expected);
	gs_buf_free(&text);
}

#define LANE(...) {(const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)}

/* if (0) 2 else 1; 3: lanes 0 and 2 take the branch to 2, lane 1 falls through to 1; all meet at 3. */
static void divergent_arms_run_one_after_the_other(void)
{
	make_code(4, (struct way[]){{0, 2, 1, 1}, {0, 1, 0, 1}, {1, 3, 1, 1}, {2, 3, 0, 1}, {3, -1, 1, 1}}, 5);
	blocks[0].join = blocks[1].join = blocks[2].join = 3;
	const struct lane_path paths[] = {LANE(0, 2, 3), LANE(0, 1, 3), LANE(0, 2, 3)};
	check_replay(paths, 3, "0:7 2:5 1:2 3:7 ");
	/* A trace has shown that the other arm comes first. */
	make_code(4, (struct way[]){{0, 2, 0, 1}, {0, 1, 1, 1}, {1, 3, 1, 1}, {2, 3, 0, 1}, {3, -1, 1, 1}}, 5);
	blocks[0].join = blocks[1].join = blocks[2].join = 3;
	code.origin = CODE_OF_TRACE;
	check_replay(paths, 3, "0:7 1:2 2:5 3:7 ");
	code.origin = CODE_SELECTED;
}

/* A branch in an arm: 0 -> 1 -> (2 | 3) -> 4, or 0 -> 5; 4 and 5 meet at 6. The inner join comes first. */
static void nested_divergence_joins_inside_out(void)
{
	make_code(7, (struct way[]){{0, 5, 1, 1}, {0, 1, 0, 1}, {1, 3, 1, 1}, {1, 2, 0, 1}, {2, 4, 1, 1}, {3, 4, 0, 1}, {4, 6, 1, 1},
	                            {5, 6, 0, 1}, {6, -1, 1, 1}}, 9);
	blocks[0].join = 6;
	blocks[1].join = 4;
	const struct lane_path paths[] = {LANE(0, 1, 2, 4, 6), LANE(0, 1, 3, 4, 6), LANE(0, 5, 6), LANE(0, 1, 2, 4, 6)};
	check_replay(paths, 4, "0:f 5:4 1:b 3:2 2:9 4:b 6:f ");
}

/* A loop of one block, 1. Lanes go round 1, 3 and 2 times. A lane that is done waits at 2. */
static void lanes_wait_behind_a_loop(void)
{
	make_code(3, (struct way[]){{0, 1, 0, 1}, {1, 1, 1, 1}, {1, 2, 0, 1}, {2, -1, 1, 1}}, 4);
	blocks[0].join = 1;
	blocks[1].join = 2;
	const struct lane_path paths[] = {LANE(0, 1, 2), LANE(0, 1, 1, 1, 2), LANE(0, 1, 1, 2)};
	check_replay(paths, 3, "0:7 1:7 1:6 1:2 2:7 ");
}

/* Lane 1 returns at 0, lane 2 at 1. The others do not wait for them. */
static void lanes_that_have_left_are_not_waited_for(void)
{
	make_code(3, (struct way[]){{0, -1, 1, 1}, {0, 1, 0, 1}, {1, -1, 1, 1}, {1, 2, 0, 1}, {2, -1, 1, 1}}, 5);
	const struct lane_path paths[] = {LANE(0, 1, 2), LANE(0), LANE(0, 1)};
	check_replay(paths, 3, "0:7 1:5 2:1 ");
}

/* 0 calls 2. There, lanes diverge (to 3 and 4) until the function returns to 1. */
static void lanes_join_where_a_function_returns(void)
{
	make_code(5, (struct way[]){{0, 1, 0, 1}, {1, -1, 1, 1}, {2, 4, 1, 1}, {2, 3, 0, 1}, {3, -1, 1, 1}, {4, -1, 1, 1}}, 6);
	blocks[0].call = 2;
	blocks[0].join = 1;
	const struct lane_path paths[] = {LANE(0, 2, 3, 1), LANE(0, 2, 4, 1)};
	check_replay(paths, 2, "0:3 2:3 4:2 3:1 1:3 ");
}

/* 0 calls 2, 3 or nothing at all by address. All lanes go on together at 1. */
static void lanes_that_call_different_functions_meet_again(void)
{
	make_code(4, (struct way[]){{0, 1, 0, 1}, {1, -1, 1, 1}, {2, -1, 1, 1}, {3, -1, 1, 1}}, 4);
	blocks[0].call = CODE_CALL_ANY;
	blocks[0].join = 1;
	const struct lane_path paths[] = {LANE(0, 2, 1), LANE(0, 3, 1), LANE(0, 2, 1), LANE(0, 1)};
	check_replay(paths, 4, "0:f 2:5 3:2 1:f ");
}

/* ---- warps ---- */

/* Counter 0 is 1 in every lane. Counter 1 is the trips: in group g, it is g for lanes i < 2, else 0. */
static void gather(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	(void)ctx;
	row[0] = item < 2 ? (uint32_t)group : 0;
}

static void expand(void *ctx, const uint32_t *row, uint64_t *counts)
{
	(void)ctx;
	counts[0] = 1;
	counts[1] = row[0];
}

/* 0 enters a loop 1 or goes to 2: `while`. Edges: 0->1 is c0; 1->1 back c1, 1->2 leaves c0. A warp has 8 lanes, a group has 12:
 * two warps, the second with 4 lanes. The first warp of group g goes round g times, the second 0 times. */
static void warps_go_round_with_their_longest_lane(void)
{
	static struct code_term terms[] = {{0, 1}, {1, 1}, {0, 1}, {0, 1}};
	make_code(3, (struct way[]){{0, 1, 0, 1}, {1, 1, 1, 1}, {1, 2, 0, 1}, {2, -1, 1, 1}}, 4);
	loops[0] = (struct code_loop){.header = 1, .outer = -1};
	code.loop_count = 1;
	blocks[1].loop = 0;
	blocks[1].join = 2;
	code.terms = terms;
	code.term_count = 4;
	code.counter_count = 2;
	for (uint32_t i = 0; i < 4; i++) {
		edges[i].first_term = i;
		edges[i].term_count = 1;
	}
	struct lane_counts lanes = {.columns = 1, .gather = gather, .expand = expand};
	struct synthesis s;
	CU_ASSERT_EQUAL_FATAL(synthesise(&code, &(struct launch_shape){4, 12, 8}, &lanes, NULL,
	                                 &(struct synthesis_limits){1000, 1000, 128, NULL}, &s, NULL), 0);
	CU_ASSERT_EQUAL(s.warps.warps_per_group, 2);
	CU_ASSERT_EQUAL(s.sampled_groups, 4);
	CU_ASSERT_EQUAL(s.warps.path_count, 5); /* 0 to 3 trips of 8 lanes, and 0 of 4 */
	for (uint64_t g = 0; g < 4; g++) {
		CU_ASSERT_EQUAL(s.paths[s.path_of[2 * g]].block_count, 3 + g);
		CU_ASSERT_EQUAL(s.paths[s.path_of[2 * g + 1]].block_count, 3);
	}
	/* Lanes: 48 * 3 + 2 * (0 + 1 + 2 + 3) = 156; warps: 8 * 3 + 6 = 30 instructions of 8 lanes. */
	CU_ASSERT_DOUBLE_EQUAL(s.lane_efficiency, 156.0 / 240, 1e-12);
	CU_ASSERT_FALSE(s.inconsistent);
	synthesis_free(&s);
}

static void gather_twelve(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	(void)ctx;
	(void)group;
	(void)item;
	row[0] = 11;
}

/* 32 lanes go 12 times through block 1, which loads 4 bytes. The caller frees the result. */
static void synthesise_loads(enum code_space space, uint16_t accesses, const double *chance, struct synthesis *s)
{
	static struct code_term terms[] = {{0, 1}, {1, 1}, {0, 1}, {0, 1}};
	make_code(3, (struct way[]){{0, 1, 0, 1}, {1, 1, 1, 1}, {1, 2, 0, 1}, {2, -1, 1, 1}}, 4);
	loops[0] = (struct code_loop){.header = 1, .outer = -1};
	code.loop_count = 1;
	blocks[1].loop = 0;
	blocks[1].join = 2;
	code.terms = terms;
	code.term_count = 4;
	code.counter_count = 2;
	instructions[1].class = CODE_load;
	instructions[1].space = space;
	instructions[1].bytes = 4;
	for (uint32_t i = 0; i < 4; i++) {
		edges[i].first_term = i;
		edges[i].term_count = 1;
	}
	struct lane_counts lanes = {.columns = 1, .gather = gather_twelve, .expand = expand};
	const uint16_t usual[3] = {1, accesses, 1};
	CU_ASSERT_EQUAL_FATAL(synthesise(&code, &(struct launch_shape){1, 32, 32}, &lanes, usual,
	                                 &(struct synthesis_limits){1000, 10000, 128, chance}, s, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(s->paths[0].access_count, 12);
}

/* Parts are 12 * 4 = 48 bytes long, so 32 lanes are on 32 * 48 / 128 = 12 lines. */
static void parts_of_a_list_share_lines(void)
{
	struct synthesis s;
	synthesise_loads(SPACE_global, ACCESSES_OF_LIST, NULL, &s);
	for (size_t i = 0; i < 12; i++)
		CU_ASSERT_EQUAL(s.paths[0].accesses[i], 12);
	synthesis_free(&s);
}

/* 3.25 accesses on average: every fourth has one more, 39 in all. */
static void chance_keeps_to_its_mean(void)
{
	double chance[33] = {[32] = 3.25};
	struct synthesis s;
	uint32_t sum = 0;
	synthesise_loads(SPACE_shared, ACCESSES_BY_CHANCE, chance, &s);
	for (size_t i = 0; i < 12; i++) {
		CU_ASSERT_TRUE(s.paths[0].accesses[i] == 3 || s.paths[0].accesses[i] == 4);
		sum += s.paths[0].accesses[i];
	}
	CU_ASSERT_EQUAL(sum, 39);
	synthesis_free(&s);
}

static void gather_nothing(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	(void)ctx, (void)group, (void)item;
	row[0] = 0;
}

/* A group of 2^18 work-items has 8192 warps of 32. An SM is modelled with up to 4096. The lanes of a warp are bits of a 64-bit
 * word. */
static void a_launch_that_cannot_be_modelled_says_why(void)
{
	struct synthesis s;
	struct estimate e;
	struct gs_error err = {"nothing"};
	struct gpu gpu = test_gpu("gtx480", "");
	uint64_t counts[2] = {0};
	struct launch_profile launch = {.global = {1 << 18, 1, 1}, .local = {1 << 18, 1, 1}, .groups = {1, 1, 1}, .code = &code, .counts = counts,
	                                .scale = 1, .lanes = {.columns = 1, .gather = gather_nothing, .expand = expand}};
	struct model_options options = {.kind = MODEL_OCCUPANCY};
	synthesise_loads(SPACE_global, 1, NULL, &s); /* makes the code */
	synthesis_free(&s);
	CU_ASSERT_EQUAL(model_launch(&gpu, &launch, &options, &e, &err), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err.text, "an SM would have 8192 warps at once; from 1 to 4096 can be modelled");
	launch.local[0] = 64;
	CU_ASSERT_EQUAL(model_launch(&gpu, &launch, &options, &e, &err), 0);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	/* One of no work-items takes no time, and has no warps to be tried with. */
	struct made_warps *made = NULL;
	launch.groups[0] = 0;
	CU_ASSERT_EQUAL(model_launch(&gpu, &launch, &options, &e, &err), 0);
	CU_ASSERT_EQUAL(e.warps, 0);
	CU_ASSERT_EQUAL(made_warps_new(&gpu, &launch, &options, &made, &err), -EINVAL);
	CU_ASSERT_PTR_NULL(made);
	launch.groups[0] = 1;
	gpu.warp_size = 128;
	CU_ASSERT_EQUAL(model_launch(&gpu, &launch, &options, &e, &err), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err.text, "its warps have 128 lanes; at most 64 can be modelled");
}

/* Cycles count the clock of such launches, where a description has one. Products of fp64 do not lower it. */
static void products_of_matrices_lower_the_clock(void)
{
	static const struct { enum code_class class; double mhz; } cases[] = {{CODE_int, 1000}, {CODE_tensor_fp64, 1000}, {CODE_tensor, 800}, {CODE_tensor_half, 800}};
	struct synthesis s;
	struct estimate e;
	struct gpu gpu = test_gpu("gtx480", "clock_mhz=1000,tensor_clock_mhz=800");
	uint64_t counts[2] = {0};
	struct launch_profile launch = {.global = {64, 1, 1}, .local = {64, 1, 1}, .groups = {1, 1, 1}, .code = &code, .counts = counts,
	                                .scale = 1, .lanes = {.columns = 1, .gather = gather_nothing, .expand = expand}};
	struct model_options options = {.kind = MODEL_OCCUPANCY};
	synthesise_loads(SPACE_global, 1, NULL, &s); /* makes the code */
	synthesis_free(&s);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		instructions[2].class = cases[i].class;
		CU_ASSERT_EQUAL(model_launch(&gpu, &launch, &options, &e, NULL), 0);
		CU_ASSERT_DOUBLE_EQUAL(e.time_ns, e.cycles * 1000 / cases[i].mhz, 1e-6);
	}
}

void add_synthesise_tests(void)
{
	CU_pSuite suite = CU_add_suite("synthesise", NULL, NULL);
	CU_add_test(suite, "trips are shared among entries", trips_are_shared_among_entries);
	CU_add_test(suite, "branches alternate", branches_alternate);
	CU_add_test(suite, "divergent arms run one after the other", divergent_arms_run_one_after_the_other);
	CU_add_test(suite, "lanes that need not agree do not", lanes_that_need_not_agree_do_not);
	CU_add_test(suite, "nested divergence joins inside out", nested_divergence_joins_inside_out);
	CU_add_test(suite, "lanes wait behind a loop", lanes_wait_behind_a_loop);
	CU_add_test(suite, "lanes that have left are not waited for", lanes_that_have_left_are_not_waited_for);
	CU_add_test(suite, "parts of a list share lines", parts_of_a_list_share_lines);
	CU_add_test(suite, "chance keeps to its mean", chance_keeps_to_its_mean);
	CU_add_test(suite, "lanes join where a function returns", lanes_join_where_a_function_returns);
	CU_add_test(suite, "lanes that call different functions meet again", lanes_that_call_different_functions_meet_again);
	CU_add_test(suite, "calls return", calls_return);
	CU_add_test(suite, "functions are called as often as they ran", functions_are_called_as_often_as_they_ran);
	CU_add_test(suite, "products of matrices lower the clock", products_of_matrices_lower_the_clock);
	CU_add_test(suite, "a launch that cannot be modelled says why", a_launch_that_cannot_be_modelled_says_why);
	CU_add_test(suite, "contradicting counts end", contradicting_counts_end);
	CU_add_test(suite, "warps go round with their longest lane", warps_go_round_with_their_longest_lane);
}
