/* Warps of a launch without a trace, whose addresses are computed by hand. */
#include "tests/tests.h"

#include "models/trace/warps.h"
#include "tests/models/code_builder.h"

#define BUFFER (1ull << 40)

/* a[id + 0] with a table of steps: address = a + (group * 32 + item) * 4. */
static struct code_step steps[] = {
	{STEP_FIRST, 0, {.op = NODE_param, .from_bits = 64, .to_bits = 64, .a = -1, .b = -1, .c = -1, .value = 0}},
	{STEP_FIRST, 1, {.op = NODE_ctaid, .from_bits = 64, .to_bits = 64, .a = -1, .b = -1, .c = -1, .value = 0}},
	{STEP_FIRST, 2, {.op = NODE_ntid, .from_bits = 64, .to_bits = 64, .a = -1, .b = -1, .c = -1, .value = 0}},
	{STEP_FIRST, 3, {.op = NODE_tid, .from_bits = 64, .to_bits = 64, .a = -1, .b = -1, .c = -1, .value = 0}},
	{STEP_FIRST, 4, {.op = NODE_value, .from_bits = 64, .to_bits = 64, .a = -1, .b = -1, .c = -1, .value = 4}},
	{0, 5, {.op = NODE_mad, .from_bits = 64, .to_bits = 64, .a = 1, .b = 2, .c = 3}},
	{0, 6, {.op = NODE_mad, .from_bits = 64, .to_bits = 64, .a = 5, .b = 4, .c = 0}},
	{0, -1, {.op = NODE_cvt, .from_bits = 64, .to_bits = 64, .a = 6, .b = -1, .c = -1}},
};

/* Every work-item is counted once: all rows are the same. */
static void gather(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	(void)ctx, (void)group, (void)item;
	row[0] = 1;
}

static void expand(void *ctx, const uint32_t *row, uint64_t *counts)
{
	(void)ctx;
	counts[0] = row[0];
}

static void make(struct built_code *b, uint64_t groups, struct trace_warps *out)
{
	static struct code_term once = {0, 1};
	static uint32_t entry;
	static uint16_t usual[2] = {1, 1};
	struct gpu gpu = test_gpu("h200", NULL);
	struct launch_arguments arguments = {.local = {32, 1, 1}, .groups = {groups, 1, 1}, .values = (uint64_t[]){BUFFER}, .known = (bool[]){true},
	                                     .bytes = (uint64_t[]){groups * 128}, .count = 1};
	struct trace_shape shape = {.groups = {groups, 1, 1}, .local = {32, 1, 1}, .requests = true};
	struct lane_counts lanes = {.columns = 1, .gather = gather, .expand = expand};
	struct gs_error err;
	build_start(b);
	build_memory(b, CODE_load, SPACE_global, "1 <- 0")->bytes = 4;
	build(b, CODE_branch, "")->flags = CODE_EXIT;
	b->code.counter_count = 1;
	b->code.functions = &entry;
	b->code.function_count = 1;
	b->code.terms = &once;
	b->code.term_count = 1;
	b->code.edges[0].term_count = 1;
	b->code.edges[0].denominator = 1;
	b->code.steps = steps;
	b->code.step_count = GS_ARRAY_LEN(steps);
	CU_ASSERT_EQUAL_FATAL(computed_warps(&gpu, &b->code, &arguments, &shape, &lanes, usual, out, &err), 0);
}

/* 4 groups, all of them computed: group g reads the line of 128 bytes at 128 g. */
static void all_groups_of_a_small_launch_are_computed(void)
{
	struct built_code b;
	struct trace_warps t;
	make(&b, 4, &t);
	CU_ASSERT_EQUAL(t.traced_groups, 4);
	CU_ASSERT_EQUAL_FATAL(t.warps.pattern_groups, 4);
	for (uint64_t g = 0; g < 4; g++) {
		const struct warp_path *path = &t.warps.paths[t.warps.path_of[g]];
		CU_ASSERT_EQUAL(t.warps.pattern_ids[g], g);
		CU_ASSERT_EQUAL_FATAL(path->access_count, 1);
		CU_ASSERT_EQUAL(path->requests->first[1], 1);
		CU_ASSERT_EQUAL(path->requests->parts[0].address, BUFFER + 128 * g);
		CU_ASSERT_EQUAL(path->requests->parts[0].sectors, 15);
	}
	CU_ASSERT_EQUAL(t.accessing, 1);
	CU_ASSERT_EQUAL(t.drawn, 0);
	CU_ASSERT_DOUBLE_EQUAL(t.fraction, 1, 0);
	trace_warps_free(&t);
}

/* Of 100,000 groups of 32 work-items 256 are, 8,192 work-items; the others are 128 bytes further each. */
static void others_move_as_the_computed_ones_do(void)
{
	struct built_code b;
	struct trace_warps t;
	make(&b, 100000, &t);
	CU_ASSERT_TRUE(t.traced_groups > 200 && t.traced_groups <= 264);
	CU_ASSERT_TRUE(t.warps.shifts[0].linear);
	CU_ASSERT_EQUAL(t.warps.shifts[0].step[0], 128);
	CU_ASSERT_EQUAL(t.warps.groups, 100000);
	trace_warps_free(&t);
}

void add_computed_tests(void)
{
	CU_pSuite suite = CU_add_suite("computed", NULL, NULL);
	CU_add_test(suite, "all groups of a small launch are computed", all_groups_of_a_small_launch_are_computed);
	CU_add_test(suite, "others move as the computed ones do", others_move_as_the_computed_ones_do);
}
