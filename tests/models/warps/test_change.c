/* Warps without one cause of lost time: what becomes of their requests, turns, blocks and groups. */
#include "tests/tests.h"

#include "models/warps/change.h"
#include "models/warps/survey.h"
#include "tests/models/code_builder.h"

#include <string.h>

/* One warp: a load of 32 floats that lie in 32 lines, twice, and a load of a column of local memory. */
struct one_warp {
	struct gpu gpu;
	struct built_code b;
	uint32_t blocks[1], path_of[1], first[4];
	uint16_t accesses[3];
	struct memory_part parts[64];
	struct path_requests requests;
	struct warp_path path;
	struct launch_warps warps;
};

static void start(struct one_warp *w)
{
	memset(w, 0, sizeof *w);
	w->gpu = test_gpu("h200", NULL);
	build_start(&w->b);
	for (int i = 0; i < 2; i++) {
		struct code_instruction *load = build_memory(&w->b, CODE_load, SPACE_global, "1 <- 2");
		load->bytes = 4;
		load->line = 7;
	}
	build_memory(&w->b, CODE_load, SPACE_shared, "3 <- 2")->bytes = 4;
	for (uint32_t i = 0; i < 64; i++)
		w->parts[i] = (struct memory_part){.address = 4096 * (uint64_t)(i % 32), .sectors = i < 32 ? 1 : 2, .bytes = 4};
	memcpy(w->first, (uint32_t[]){0, 32, 64, 64}, sizeof w->first);
	memcpy(w->accesses, (uint16_t[]){32, 32, 32}, sizeof w->accesses);
	w->requests = (struct path_requests){w->first, w->parts};
	w->path = (struct warp_path){.blocks = w->blocks, .block_count = 1, .accesses = w->accesses, .access_count = 3, .requests = &w->requests};
	w->warps = (struct launch_warps){.code = &w->b.code, .paths = &w->path, .path_count = 1, .groups = 5, .warps_per_group = 1,
	                                 .path_of = w->path_of, .pattern_groups = 1, .grid = {5, 1, 1}};
}

/* 128 bytes of a request are one line. The second request takes another of the lines that both touched. */
static void coalesced_requests_ask_for_what_lanes_read(void)
{
	struct one_warp w;
	struct changed_warps c;
	start(&w);
	CU_ASSERT_EQUAL_FATAL(changed_warps_make(&w.gpu, &(struct warps_change){.kind = CHANGE_coalesced, .line = 7}, &w.warps, NULL, 0, &c), 0);
	const struct warp_path *p = &c.warps.paths[0];
	CU_ASSERT_EQUAL(p->requests->first[1], 1);
	CU_ASSERT_EQUAL(p->requests->first[3], 2);
	CU_ASSERT_EQUAL(p->requests->parts[0].sectors, 15);
	CU_ASSERT_EQUAL(p->requests->parts[0].bytes, 128);
	CU_ASSERT_NOT_EQUAL(p->requests->parts[0].address, p->requests->parts[1].address);
	CU_ASSERT_TRUE(p->accesses[0] == 1 && p->accesses[1] == 1 && p->accesses[2] == 32);
	changed_warps_free(&c);
	/* Another line's requests stay as they are. */
	CU_ASSERT_EQUAL_FATAL(changed_warps_make(&w.gpu, &(struct warps_change){.kind = CHANGE_coalesced, .line = 8}, &w.warps, NULL, 0, &c), 0);
	CU_ASSERT_EQUAL(c.warps.paths[0].requests->first[3], 64);
	CU_ASSERT_EQUAL(memcmp(c.warps.paths[0].requests->parts, w.parts, sizeof w.parts), 0);
	changed_warps_free(&c);
}

static void conflicts_leave_one_turn(void)
{
	struct one_warp w;
	struct changed_warps c;
	start(&w);
	CU_ASSERT_EQUAL_FATAL(changed_warps_make(&w.gpu, &(struct warps_change){.kind = CHANGE_conflicts}, &w.warps, NULL, 0, &c), 0);
	CU_ASSERT_TRUE(c.warps.paths[0].accesses[0] == 32 && c.warps.paths[0].accesses[2] == 1);
	changed_warps_free(&c);
	CU_ASSERT_EQUAL(shared_turns_needed(&w.gpu, &(struct code_instruction){.class = CODE_load, .bytes = 16}), 4);
}

/* Five groups, of which the GPU holds four at once: eight, of which five are the launch's. */
static void groups_fill_the_gpu(void)
{
	struct one_warp w;
	struct changed_warps c;
	start(&w);
	CU_ASSERT_EQUAL_FATAL(changed_warps_make(&w.gpu, &(struct warps_change){.kind = CHANGE_groups}, &w.warps, NULL, 4, &c), 0);
	CU_ASSERT_EQUAL(c.warps.groups, 8);
	CU_ASSERT_EQUAL(c.warps.grid[0], 8);
	CU_ASSERT_EQUAL(c.times, 5 / 8.0);
	changed_warps_free(&c);
}

/* Half of the lanes execute the block: every other execution goes, and those that stay have the requests of both. */
static void full_warps_execute_less(void)
{
	struct one_warp w;
	struct changed_warps c;
	uint32_t blocks[4] = {0, 1, 1, 0}, first[3] = {0, 1, 2};
	uint16_t accesses[2] = {1, 1};
	start(&w);
	build_start(&w.b);
	build(&w.b, CODE_int, "1 <- 2");
	build_block(&w.b);
	build_memory(&w.b, CODE_load, SPACE_global, "1 <- 2");
	w.requests = (struct path_requests){first, w.parts};
	w.path = (struct warp_path){.blocks = blocks, .block_count = 4, .accesses = accesses, .access_count = 2, .requests = &w.requests};
	CU_ASSERT_EQUAL_FATAL(changed_warps_make(&w.gpu, &(struct warps_change){.kind = CHANGE_lanes}, &w.warps, (double[]){1, 0.5}, 0, &c), 0);
	const struct warp_path *p = &c.warps.paths[0];
	CU_ASSERT_EQUAL(p->block_count, 3);
	CU_ASSERT_TRUE(p->blocks[0] == 0 && p->blocks[1] == 1 && p->blocks[2] == 0);
	CU_ASSERT_EQUAL(p->access_count, 1);
	CU_ASSERT_EQUAL(p->accesses[0], 2);
	CU_ASSERT_EQUAL(p->requests->first[1], 2);
	changed_warps_free(&c);
}

static void a_survey_says_what_would_do(void)
{
	struct one_warp w;
	struct instruction_survey s[3];
	struct launch_survey survey = {.instructions = s};
	memset(s, 0, sizeof s);
	start(&w);
	CU_ASSERT_EQUAL(survey_warps(&w.gpu, &w.warps, &survey), 0);
	CU_ASSERT_TRUE(survey.has_requests);
	CU_ASSERT_EQUAL(s[0].requests, 5);
	CU_ASSERT_EQUAL(s[0].sectors, 5 * 32);
	CU_ASSERT_EQUAL(s[0].sectors_needed, 5 * 4);
	CU_ASSERT_EQUAL(s[2].turns, 5 * 32);
	CU_ASSERT_EQUAL(s[2].turns_needed, 5);
}

void add_change_tests(void)
{
	CU_pSuite s = CU_add_suite("change", NULL, NULL);
	CU_ADD_TEST(s, coalesced_requests_ask_for_what_lanes_read);
	CU_ADD_TEST(s, conflicts_leave_one_turn);
	CU_ADD_TEST(s, groups_fill_the_gpu);
	CU_ADD_TEST(s, full_warps_execute_less);
	CU_ADD_TEST(s, a_survey_says_what_would_do);
}
