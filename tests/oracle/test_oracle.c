/* The oracle that runs PTX: joins, counts and accesses, computed by hand. Also compares the graphs of the analysis with the
 * oracle's own. */
#include "tests/tests.h"

#include "analysis/graph/graph.h"
#include "tests/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

static struct gs_error error;

static struct oracle *create(const char *text, const char *kernel)
{
	struct oracle *o = NULL;
	int result = oracle_create(text, strlen(text), kernel, &o, &error);
	CU_ASSERT_EQUAL(result, 0);
	if (result)
		fprintf(stderr, "%s\n", error.text);
	return o;
}

#define HEAD                                                                                                           \
	".version 8.0\n.target sm_20\n.entry k(.param .u64 out)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 "   \
	"%rd<9>;\n"

/* Lanes below 8 go around the loop lane + 1 times, the others not at all. All lanes store. */
static const char loop_text[] = HEAD
	"ld.param.u64 %rd1, [out];\n"      /* block 0: 5 instructions */
	"mov.u32 %r1, %tid.x;\n"
	"mov.u32 %r2, 0;\n"
	"setp.ge.u32 %p1, %r1, 8;\n"
	"@%p1 bra END;\n"
	"LOOP: add.s32 %r2, %r2, 1;\n"     /* block 1: 3 */
	"setp.le.u32 %p2, %r2, %r1;\n"
	"@%p2 bra LOOP;\n"
	"END: mul.wide.u32 %rd2, %r1, 4;\n" /* block 2: 4 */
	"add.s64 %rd3, %rd1, %rd2;\n"
	"st.global.u32 [%rd3], %r2;\n"
	"ret;\n}\n";

static void divergent_lanes_join_at_the_post_dominator(void)
{
	struct oracle *o = create(loop_text, "k");
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	uint32_t count;
	const struct oracle_block *blocks = oracle_blocks(o, &count);
	CU_ASSERT_EQUAL_FATAL(count, 3);
	CU_ASSERT_EQUAL(blocks[0].join, 2);
	CU_ASSERT_EQUAL(blocks[1].join, 2);
	CU_ASSERT_EQUAL(blocks[2].join, 3);
	uint32_t out[40] = {0};
	uint64_t warps[3] = {0}, threads[3] = {0};
	struct oracle_argument argument = {ORACLE_BUFFER, out, sizeof out};
	struct oracle_launch launch = {
	    .arguments = &argument, .argument_count = 1, .global = {40, 1, 1}, .local = {40, 1, 1}};
	struct oracle_counts counts = {.block_warps = warps, .block_threads = threads};
	CU_ASSERT_EQUAL_FATAL(oracle_run(o, &launch, &counts, &error), 0);
	/* Warp 0 goes round 8 times with 8, 7, ... 1 lanes, 36 in all. Warp 1 has 8 lanes and takes the branch. */
	CU_ASSERT_EQUAL(warps[0] * 10000 + warps[1] * 100 + warps[2], 20802);
	CU_ASSERT_EQUAL(threads[1], 36);
	CU_ASSERT_EQUAL(counts.warp_instructions, 2 * 5 + 8 * 3 + 2 * 4);
	/* A branch counts the lanes that take it: 24 + 8 for the first branch, 36 - 8 for the second. */
	CU_ASSERT_EQUAL(counts.thread_instructions, 40 * 4 + 32 + 36 * 2 + 28 + 40 * 4);
	for (uint32_t i = 0; i < 40; i++)
		CU_ASSERT_EQUAL(out[i], i < 8 ? i + 1 : 0);
	oracle_free(o);
}

static void paths_are_kept_once(void)
{
	struct oracle *o = create(loop_text, "k");
	struct oracle_trace trace;
	static uint32_t out[96];
	struct oracle_argument argument = {ORACLE_BUFFER, out, sizeof out};
	struct oracle_launch launch = {
	    .arguments = &argument, .argument_count = 1, .global = {96, 1, 1}, .local = {32, 1, 1}};
	CU_ASSERT_EQUAL_FATAL(oracle_trace(o, &launch, &trace, &error), 0);
	CU_ASSERT_EQUAL(trace.warps.groups, 3);
	CU_ASSERT_EQUAL(trace.warps.warps_per_group, 1);
	CU_ASSERT_EQUAL_FATAL(trace.warps.path_count, 1);
	CU_ASSERT_EQUAL(trace.warps.paths[0].block_count, 10);
	CU_ASSERT_EQUAL_FATAL(trace.warps.paths[0].access_count, 2);
	CU_ASSERT_EQUAL(trace.warps.paths[0].accesses[0], 1);
	CU_ASSERT_EQUAL(trace.warps.paths[0].accesses[1], 1);
	CU_ASSERT_EQUAL(trace.accesses, 6);
	oracle_trace_free(&trace);
	oracle_free(o);
}

/* The warps wait for the last one: each stores a value that its neighbour wrote to shared memory before the barrier. */
static void barriers_hold_the_warps_of_a_group(void)
{
	static const char text[] = HEAD
	    ".shared .b32 tile[64];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, tile;\nadd.s32 %r4, %r3, "
	    "%r2;\n"
	    "mad.lo.s32 %r5, %r1, 10, 7;\nst.shared.u32 [%r4], %r5;\nbar.sync 0;\nxor.b32 %r6, %r1, 32;\nshl.b32 %r6, "
	    "%r6, 2;\n"
	    "add.s32 %r6, %r3, %r6;\nld.shared.u32 %r7, [%r6];\nld.param.u64 %rd1, [out];\ncvt.u64.u32 %rd2, %r2;\n"
	    "add.s64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %r7;\nret;\n}\n";
	struct oracle *o = create(text, "k");
	uint32_t out[64] = {0};
	struct oracle_argument argument = {ORACLE_BUFFER, out, sizeof out};
	struct oracle_launch launch = {
	    .arguments = &argument, .argument_count = 1, .global = {64, 1, 1}, .local = {64, 1, 1}};
	struct oracle_counts counts = {0};
	CU_ASSERT_EQUAL_FATAL(oracle_run(o, &launch, &counts, &error), 0);
	for (uint32_t i = 0; i < 64; i++)
		CU_ASSERT_EQUAL(out[i], (i ^ 32) * 10 + 7);
	oracle_free(o);
}

static void an_access_outside_of_a_buffer_is_an_error(void)
{
	struct oracle *o = create(loop_text, "k");
	uint32_t out[8] = {0};
	struct oracle_argument argument = {ORACLE_BUFFER, out, sizeof out};
	struct oracle_launch launch = {
	    .arguments = &argument, .argument_count = 1, .global = {512, 1, 1}, .local = {128, 1, 1}};
	struct oracle_counts counts = {0};
	CU_ASSERT_NOT_EQUAL(oracle_run(o, &launch, &counts, &error), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "outside"));
	oracle_free(o);
}

static uint32_t accesses_of(uint8_t space, uint8_t class, uint32_t bytes, uint32_t mask, uint64_t first,
			    uint64_t stride)
{
	uint64_t addresses[ORACLE_WARP];
	for (uint32_t l = 0; l < ORACLE_WARP; l++)
		addresses[l] = first + l * stride;
	struct oracle_access a = {.mask = mask, .bytes = bytes, .addresses = addresses, .space = space, .class = class};
	return oracle_gtx480_accesses(&a);
}

static void accesses_are_lines_banks_and_turns(void)
{
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_load, 4, ~0u, 0, 4), 1);
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_load, 4, ~0u, 64, 4), 2);   /* half of two lines */
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_load, 16, ~0u, 0, 16), 4);  /* 512 bytes */
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_load, 4, ~0u, 0, 128), 32);
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_store, 4, 0xff, 0, 128), 8); /* eight lanes */
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_load, 4, 0, 0, 4), 0);
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_load, 1, ~0u, 0, 4), 4);    /* bytes: 32-byte lines */
	CU_ASSERT_EQUAL(accesses_of(SPACE_shared, CODE_load, 4, ~0u, 0, 4), 1);
	CU_ASSERT_EQUAL(accesses_of(SPACE_shared, CODE_load, 4, ~0u, 0, 8), 2);
	CU_ASSERT_EQUAL(accesses_of(SPACE_shared, CODE_load, 4, ~0u, 0, 128), 32);
	CU_ASSERT_EQUAL(accesses_of(SPACE_shared, CODE_load, 4, ~0u, 12, 0), 1);   /* one word for all */
	CU_ASSERT_EQUAL(accesses_of(SPACE_const, CODE_load, 4, ~0u, 0, 4), 2);     /* 64-byte lines */
	CU_ASSERT_EQUAL(accesses_of(SPACE_local, CODE_load, 8, ~0u, 16, 0), 2);    /* two words of each lane */
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_atomic, 4, ~0u, 0, 4), 4);  /* 32-byte segments */
	CU_ASSERT_EQUAL(accesses_of(SPACE_global, CODE_atomic, 4, ~0u, 0, 0), 32); /* one after the other */
}

static void loads_wait_for_lines_that_are_not_in_l1(void)
{
	struct oracle_l1 cache = {0};
	uint64_t address = 4096;
	struct oracle_access load = {
	    .mask = 1, .bytes = 4, .addresses = &address, .space = SPACE_global, .class = CODE_load};
	struct oracle_access store = load;
	store.class = CODE_store;
	CU_ASSERT_EQUAL(oracle_gtx480_wait(&cache, &load), 4);
	CU_ASSERT_EQUAL(oracle_gtx480_wait(&cache, &load), 0);
	address = 4096 + 124; /* the same line */
	CU_ASSERT_EQUAL(oracle_gtx480_wait(&cache, &load), 0);
	CU_ASSERT_EQUAL(oracle_gtx480_wait(&cache, &store), 0);
	CU_ASSERT_EQUAL(oracle_gtx480_wait(&cache, &load), 4); /* the store dropped it */
	for (uint64_t way = 1; way <= 4; way++) {
		address = 4096 + (way << 20); /* the same set: no bit of the index or of those mixed into it differs */
		CU_ASSERT_EQUAL(oracle_gtx480_wait(&cache, &load), 4);
	}
	address = 4096;
	CU_ASSERT_EQUAL(oracle_gtx480_wait(&cache, &load), 4); /* four other lines came after it */
	store.space = load.space = SPACE_shared;
	CU_ASSERT_EQUAL(oracle_gtx480_wait(&cache, &load), 0);
}

/* Compares blocks and joins of every kernel of a file between the analysis and the oracle. */
static void compare_graphs(const struct ptx_module *module, const char *text)
{
	for (uint32_t f = 0; f < module->function_count; f++) {
		struct graph *g = NULL;
		struct oracle *o = create(text, module->functions[f].name);
		if (!o || graph_build(&module->functions[f], &g, &error)) {
			CU_FAIL("no graph");
			continue;
		}
		uint32_t count;
		const struct oracle_block *blocks = oracle_blocks(o, &count);
		CU_ASSERT_EQUAL(g->block_count, count);
		for (uint32_t b = 0; b < count && b < g->block_count; b++) {
			CU_ASSERT_EQUAL(g->blocks[b].first, blocks[b].first);
			CU_ASSERT_EQUAL(g->blocks[b].ipdom, blocks[b].join == count ? -1 : (int32_t)blocks[b].join);
		}
		graph_free(g);
		oracle_free(o);
	}
}

static void the_analysis_has_the_same_blocks_and_joins(void)
{
	static const char *const files[] = {"compute", "control", "local", "memory"};
	const char *root = getenv("GPUSIM_TEST_ROOT");
	for (size_t i = 0; i < GS_ARRAY_LEN(files); i++) {
		char path[4096];
		struct gs_buf text = {0};
		struct ptx_module *module;
		snprintf(path, sizeof path, "%s/tests/reference/%s.ptx", root ? root : ".", files[i]);
		CU_ASSERT_EQUAL_FATAL(gs_read_file(path, &text, &error), 0);
		CU_ASSERT_EQUAL_FATAL(ptx_read(text.data, text.len, &module, &error), 0);
		CU_ASSERT_TRUE(module->function_count >= 4);
		CU_ASSERT_EQUAL(module->unknown_count, 0);
		compare_graphs(module, text.data);
		ptx_free(module);
		gs_buf_free(&text);
	}
}

void add_oracle_tests(void)
{
	CU_pSuite suite = CU_add_suite("oracle", NULL, NULL);
	CU_ADD_TEST(suite, divergent_lanes_join_at_the_post_dominator);
	CU_ADD_TEST(suite, paths_are_kept_once);
	CU_ADD_TEST(suite, barriers_hold_the_warps_of_a_group);
	CU_ADD_TEST(suite, an_access_outside_of_a_buffer_is_an_error);
	CU_ADD_TEST(suite, accesses_are_lines_banks_and_turns);
	CU_ADD_TEST(suite, loads_wait_for_lines_that_are_not_in_l1);
	CU_ADD_TEST(suite, the_analysis_has_the_same_blocks_and_joins);
}
