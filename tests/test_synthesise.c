/* Paths of warps made from counts: the walk through loops, branches, calls, and warps whose lanes differ. */
#include "tests.h"

#include "models/synthesise.h"
#include "models/walk.h"

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
static double edge_counts[12], block_counts[8];
static struct code_loop loops[2];
static uint32_t functions[2];
static struct kernel_code code;

/* Blocks of one instruction each; ways sorted by their block. Block counts are what leaves them. */
static void make_code(uint32_t block_count, const struct way *ways, uint32_t way_count)
{
	code = (struct kernel_code){.blocks = blocks, .block_count = block_count, .edges = edges, .edge_count = way_count,
	                            .loops = loops, .functions = functions, .function_count = 1};
	memset(block_counts, 0, sizeof block_counts);
	for (uint32_t b = 0; b < block_count; b++)
		blocks[b] = (struct code_block){.count = 1, .first = b, .call = -1, .join = -1, .loop = -1};
	for (uint32_t i = 0; i < way_count; i++) {
		struct code_block *b = &blocks[ways[i].from];
		if (!b->edge_count++)
			b->first_edge = i;
		edges[i] = (struct code_edge){.from = ways[i].from, .to = ways[i].to, .taken = ways[i].taken, .denominator = 1};
		edge_counts[i] = ways[i].count;
		block_counts[ways[i].from] += ways[i].count;
	}
}

static void check_path(const char *expected)
{
	struct gs_buf path = {0};
	char text[64] = "";
	struct walk_counts counts = {edge_counts, block_counts};
	int64_t wanted = walk_warp(&code, &counts, 1000, &path);
	for (size_t i = 0; i < path.len / sizeof(uint32_t) && i < sizeof text - 1; i++)
		text[i] = (char)('0' + ((uint32_t *)(void *)path.data)[i]);
	CU_ASSERT_STRING_EQUAL(text, expected);
	CU_ASSERT_EQUAL(wanted, (int64_t)strlen(expected));
	gs_buf_free(&path);
}

/* 0 -> 1 (outer header) -> 2 (inner, itself) -> 3 (latch of the outer) -> 4. The outer runs twice, the inner 5 times in
 * all: 4 entries of back and 1 ... its 3 back edges over 2 entries are 2 at the first (3 / 2 rounded), 1 at the second. */
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

/* A branch in a loop of four trips that is taken every second time. */
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

/* Some lanes go to 1, others to 2: the branch ran once, both ways were taken. Taken arm first, then the other. */
static void divergent_arms_run_one_after_the_other(void)
{
	make_code(4, (struct way[]){{0, 2, 1, 1}, {0, 1, 0, 1}, {1, 3, 1, 1}, {2, 3, 0, 1}, {3, -1, 1, 1}}, 5);
	blocks[0].join = 3;
	block_counts[0] = 1;
	check_path("0213");
}

/* Some lanes return at 0; the others go on. */
static void lanes_that_leave_take_nobody_along(void)
{
	make_code(2, (struct way[]){{0, -1, 1, 1}, {0, 1, 0, 1}, {1, -1, 1, 1}}, 3);
	block_counts[0] = 1;
	check_path("01");
}

/* 0 calls the function at 2 and goes on at 1, which calls it again. */
static void calls_return(void)
{
	make_code(4, (struct way[]){{0, 1, 0, 1}, {1, 3, 0, 1}, {2, -1, 1, 2}, {3, -1, 1, 1}}, 4);
	blocks[0].call = blocks[1].call = 2;
	check_path("02123");
}

/* Counts of a loop that nothing leaves: the walk ends all the same. */
static void contradicting_counts_end(void)
{
	struct gs_buf path = {0};
	make_code(2, (struct way[]){{0, 1, 0, 1}, {1, 1, 1, 1e18}}, 2);
	loops[0] = (struct code_loop){.header = 1, .outer = -1};
	code.loop_count = 1;
	blocks[1].loop = 0;
	walk_warp(&code, &(struct walk_counts){edge_counts, block_counts}, 1000, &path);
	CU_ASSERT_EQUAL(path.len, 1000 * sizeof(uint32_t));
	gs_buf_free(&path);
}

/* ---- warps ---- */

/* Counter 0 is 1 in every lane, counter 1 the trips: of group g, lane i, it is g for i < 2, else 0. */
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

/* 0 enters a loop 1 or goes to 2: `while`. Edges: 0->1 is c0; 1->1 back c1, 1->2 leaves c0. 8 lanes a warp, 12 a group: two
 * warps, the second of 4 lanes. Group g: its first warp goes round g times, its second 0 times. */
static void warps_take_the_most_of_their_lanes(void)
{
	static struct code_term terms[] = {{0, 1}, {1, 1}, {0, 1}, {0, 1}};
	make_code(3, (struct way[]){{0, 1, 0, 1}, {1, 1, 1, 1}, {1, 2, 0, 1}, {2, -1, 1, 1}}, 4);
	loops[0] = (struct code_loop){.header = 1, .outer = -1};
	static struct code_instruction instructions[3];
	code.loop_count = 1;
	blocks[1].loop = 0;
	code.terms = terms;
	code.term_count = 4;
	code.counter_count = 2;
	code.code = instructions;
	code.code_count = 3;
	for (uint32_t i = 0; i < 4; i++) {
		edges[i].first_term = i;
		edges[i].term_count = 1;
	}
	struct lane_counts lanes = {.columns = 1, .gather = gather, .expand = expand};
	struct synthesis s;
	CU_ASSERT_EQUAL_FATAL(synthesise(&code, &(struct launch_shape){4, 12, 8}, &lanes,
	                                 &(struct synthesis_limits){1000, 1000}, &s), 0);
	CU_ASSERT_EQUAL(s.warps.warps_per_group, 2);
	CU_ASSERT_EQUAL(s.sampled_groups, 4);
	CU_ASSERT_EQUAL(s.warps.path_count, 4); /* 0 to 3 trips */
	for (uint64_t g = 0; g < 4; g++) {
		CU_ASSERT_EQUAL(s.paths[s.path_of[2 * g]].block_count, 3 + g);
		CU_ASSERT_EQUAL(s.paths[s.path_of[2 * g + 1]].block_count, 3);
	}
	/* Lanes: 48 * 3 + 2 * (0 + 1 + 2 + 3) = 156; warps: 8 * 3 + 6 = 30 instructions of 8 lanes. */
	CU_ASSERT_DOUBLE_EQUAL(s.lane_efficiency, 156.0 / 240, 1e-12);
	CU_ASSERT_FALSE(s.inconsistent);
	synthesis_free(&s);
}

void add_synthesise_tests(void)
{
	CU_pSuite suite = CU_add_suite("synthesise", NULL, NULL);
	CU_add_test(suite, "trips are shared among entries", trips_are_shared_among_entries);
	CU_add_test(suite, "branches alternate", branches_alternate);
	CU_add_test(suite, "divergent arms run one after the other", divergent_arms_run_one_after_the_other);
	CU_add_test(suite, "lanes that leave take nobody along", lanes_that_leave_take_nobody_along);
	CU_add_test(suite, "calls return", calls_return);
	CU_add_test(suite, "contradicting counts end", contradicting_counts_end);
	CU_add_test(suite, "warps take the most of their lanes", warps_take_the_most_of_their_lanes);
}
