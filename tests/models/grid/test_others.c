/* What groups that are not simulated do for those that are, where L2 is cold. */
#include "tests/tests.h"

#include "models/grid/others.h"
#include "tests/models/scene.h"

#include <stdlib.h>

/* A grid of 64 by 64 groups of one warp that loads a line of its row, a line of its column, and a line that is its own. */
enum { SIDE = 64, LINE = 128, ROWS = 1 << 20, COLUMNS = 1 << 21, OWN = 1 << 22 };
static struct scene scene;
static struct memory_part parts[3] = {{.address = ROWS, .sectors = 15, .bytes = LINE}, {.address = COLUMNS, .sectors = 15, .bytes = LINE},
                                      {.address = OWN, .sectors = 15, .bytes = LINE}};
static const uint32_t first[4] = {0, 1, 2, 3}, zero;
static const uint64_t id;
static const uint16_t accesses[3] = {1, 1, 1};
static const struct address_shift shifts[4] = {{.linear = true, .step = {0, LINE, 0}}, {.linear = true, .step = {LINE, 0, 0}},
                                               {.linear = true, .step = {LINE, SIDE * LINE, 0}}, {.linear = true}};
static const struct path_requests requests = {first, parts};
static struct memory_range ranges[3];
static struct warp_path path;
static struct launch_warps launch;

static void make_grid(double cold)
{
	scene_start(&scene, "h200", NULL);
	for (int i = 0; i < 3; i++) {
		build_memory(&scene.code, CODE_load, SPACE_global, "2 <- 1");
		ranges[i] = (struct memory_range){.address = parts[i].address, .bytes = (i < 2 ? SIDE : SIDE * SIDE) * LINE, .traffic = 1,
		                                  .times = i < 2 ? SIDE : 1, .cold = cold};
	}
	scene_exit(&scene);
	path = (struct warp_path){.blocks = &zero, .block_count = 1, .accesses = accesses, .access_count = 3, .requests = &requests};
	launch = (struct launch_warps){.code = &scene.code.code, .paths = &path, .path_count = 1, .groups = SIDE * SIDE, .warps_per_group = 1,
	                               .path_of = &zero, .pattern_groups = 1, .grid = {SIDE, SIDE, 1}, .pattern_ids = &id, .shifts = shifts,
	                               .warm = ranges, .warm_count = 3};
}

/* Lines of a range that others have done that for. */
static int done_by_others(struct others *o, uint64_t address, int count, enum memory_others what)
{
	int sum = 0;
	struct memory_sharers sharers;
	for (int i = 0; i < count; i++)
		sum += others_fetch(o, address + (uint64_t)i * LINE, &sharers) == what;
	return sum;
}

static void count_line(void *ctx, uint64_t address)
{
	(void)address;
	++*(int *)ctx;
}

/* The first 8 and the last 8 rows of groups are simulated; 1024 groups run at once. */
static struct others *of_outer_rows(void)
{
	static const struct group_run runs[] = {{0, 0}, {8 * SIDE, 56 * SIDE}};
	struct ov_plan plan = {.groups = 16 * SIDE, .all = SIDE * SIDE, .runs = runs, .run_count = 2};
	struct others *o = NULL;
	CU_ASSERT_EQUAL_FATAL(others_new(&scene.gpu, &launch, &plan, 1024, &o), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	return o;
}

/* Simulated groups have the lines of their rows sent, and their own; of the 64 lines of columns,
 * which 16 of 64 groups that ask for one are among, a quarter, evenly. */
static void of_shared_lines_dram_sends_a_share(void)
{
	make_grid(1);
	struct others *o = of_outer_rows();
	CU_ASSERT_EQUAL(done_by_others(o, ROWS, 8, OTHERS_SENT), 0);
	CU_ASSERT_EQUAL(done_by_others(o, OWN, 8 * SIDE, OTHERS_SENT), 0);
	CU_ASSERT_EQUAL(done_by_others(o, OWN + 56 * SIDE * LINE, 8 * SIDE, OTHERS_SENT), 0);
	CU_ASSERT_DOUBLE_EQUAL(done_by_others(o, COLUMNS, SIDE, OTHERS_SENT), SIDE * 3 / 4.0, 1);
	others_free(o);
}

/* 64 groups ask for a line of a row and for one of a column, all and 16 of them simulated. */
static void sharers_are_those_at_one_time(void)
{
	struct memory_sharers s;
	make_grid(1);
	struct others *o = of_outer_rows();
	(void)others_fetch(o, ROWS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.all, SIDE, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(s.simulated, SIDE, 1e-3);
	(void)others_fetch(o, COLUMNS + 5 * LINE, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.all, SIDE, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(s.simulated, 16, 1e-3);
	(void)others_fetch(o, OWN, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.all, 1, 1e-3);
	others_free(o);
}

/* 1024 lines that follow one another are in the same rows. Of the first 1024 that groups have for themselves, simulated ones ask for the first
 * half. For half of these a group that is not simulated has opened the row, or by chance three standard deviations more or less. */
static void rows_are_opened_for_others(void)
{
	make_grid(1);
	scene.gpu.l2_slices = scene.gpu.dram_channels = 64;
	scene.gpu.dram_row_bytes = 2048;
	struct others *o = of_outer_rows();
	CU_ASSERT_DOUBLE_EQUAL(done_by_others(o, OWN, 8 * SIDE, OTHERS_OPENED), 8 * SIDE / 2.0, 34);
	others_free(o);
}

/* 1024 groups run at once. When group 1023 starts, none has ended; when 1024 + 63 does, the first row has, which asked for all lines of
 * columns. The lines of rows are asked for by simulated groups alone. */
static void lines_come_in_when_others_have_ended(void)
{
	int lines = 0;
	make_grid(1);
	struct others *o = of_outer_rows();
	others_bring(o, 1023, count_line, &lines);
	CU_ASSERT_EQUAL(lines, 0);
	others_bring(o, 1024 + 63, count_line, &lines);
	CU_ASSERT_EQUAL(lines, SIDE);
	others_bring(o, SIDE * SIDE - 1, count_line, &lines); /* not again */
	CU_ASSERT_EQUAL(lines, SIDE);
	others_free(o);
}

/* Each line that a group has for itself is asked for by eight groups in all, at different times. The simulated one comes first in one of eight
 * cases; in the others the line is there. Lines of rows and columns are asked for at one time. */
static void lines_asked_for_at_other_times_are_there(void)
{
	int lines = 0;
	make_grid(1);
	struct others *o = of_outer_rows();
	others_begin(o, count_line, &lines);
	CU_ASSERT_EQUAL(lines, 0);
	others_free(o);
	ranges[2].times = 8;
	o = of_outer_rows();
	others_begin(o, count_line, &lines);
	CU_ASSERT_DOUBLE_EQUAL(lines, SIDE * SIDE * 7 / 8.0, SIDE);
	others_free(o);
}

/* Every group loads the first and the last sector of one of 4096 lines, by chance. Half a line is sent at a time. */
struct random_launch {
	struct memory_part parts[SIDE * SIDE][2];
	struct path_requests requests[SIDE * SIDE];
	struct warp_path paths[SIDE * SIDE];
	uint32_t path_of[SIDE * SIDE];
	uint64_t ids[SIDE * SIDE];
	struct address_shift anywhere[4];
};

static void make_random(struct random_launch *l)
{
	static const uint32_t starts[2] = {0, 2};
	uint64_t number = 1;
	make_grid(1);
	for (uint32_t g = 0; g < SIDE * SIDE; g++) {
		number = number * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* Knuth's */
		for (int half = 0; half < 2; half++)
			l->parts[g][half] = (struct memory_part){.address = OWN + (number >> 52) * LINE, .sectors = half ? 8 : 1, .bytes = 4};
		l->requests[g] = (struct path_requests){starts, l->parts[g]};
		l->paths[g] = path;
		l->paths[g].access_count = 1;
		l->paths[g].requests = &l->requests[g];
		l->path_of[g] = g;
		l->ids[g] = g;
	}
	for (int i = 0; i < 4; i++)
		l->anywhere[i] = (struct address_shift){.low = OWN, .bytes = SIDE * SIDE * LINE};
	launch.paths = l->paths;
	launch.path_of = l->path_of;
	launch.path_count = launch.pattern_groups = SIDE * SIDE;
	launch.pattern_ids = l->ids;
	launch.shifts = l->anywhere;
	launch.warm = &ranges[2];
	launch.warm_count = 1;
}

/* As simulated groups ask, one after the other: how many halves of lines others have sent, of the first eighth of the groups, and of all. */
static void ask_in_turn(struct others *o, const struct random_launch *l, const struct ov_plan *plan, int sent[2])
{
	bool *had = calloc(SIDE * SIDE, sizeof *had);
	for (uint64_t n = 0; n < plan->groups && had; n++) {
		uint64_t address = l->parts[ov_group_id(plan, n)][0].address, line = (address - OWN) / LINE;
		struct memory_sharers s;
		for (uint64_t half = 0; half < 2 && !had[line]; half++) {
			bool others = others_fetch(o, address + half * LINE / 2, &s) == OTHERS_SENT;
			sent[0] += others && n < plan->groups / 8;
			sent[1] += others;
		}
		had[line] = true;
	}
	free(had);
}

/* 4096 groups ask for a line each, 1024 of them simulated: these ask for 4096 (1 - e^-1/4) = 906 lines, and all for 4096 (1 - e^-1) = 2589, a
 * quarter of which, 647, DRAM sends for simulated ones. The other 259 of 906 others have asked for before; both halves of each. When the n-th
 * simulated group asks, others have asked for a line 3 n / 4096 times: of the 126 lines of the first eighth of them, 4.5% on average, 6, others
 * have asked for before. Three standard deviations. */
static void others_come_first_as_time_goes_by(void)
{
	static const struct group_run runs[] = {{0, 0}, {8 * SIDE, 56 * SIDE}};
	struct ov_plan plan = {.groups = 16 * SIDE, .all = SIDE * SIDE, .runs = runs, .run_count = 2};
	struct random_launch *l = calloc(1, sizeof *l);
	struct others *o = NULL;
	int sent[2] = {0}, lines = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	make_random(l);
	CU_ASSERT_EQUAL_FATAL(others_new(&scene.gpu, &launch, &plan, 1024, &o), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	others_begin(o, count_line, &lines);
	CU_ASSERT_EQUAL(lines, 0);
	ask_in_turn(o, l, &plan, sent);
	CU_ASSERT_DOUBLE_EQUAL(sent[0], 2 * 6, 3 * 2 * 2.5);
	CU_ASSERT_DOUBLE_EQUAL(sent[1], 2 * 259, 2 * 3 * 20);
	others_free(o);
	plan.jumps = true; /* they are there from the begin: (906 - 647) / 906 of all lines */
	CU_ASSERT_EQUAL_FATAL(others_new(&scene.gpu, &launch, &plan, 1024, &o), 0);
	others_begin(o, count_line, &lines);
	CU_ASSERT_DOUBLE_EQUAL(lines, SIDE * SIDE * 259 / 906.0, 3 * 60);
	others_free(o);
	free(l);
}

/* Groups 2n and 2n + 1 ask for a line: both are simulated, and it is sent for them. */
static void neighbours_that_share_are_not_by_chance(void)
{
	static const struct group_run runs[] = {{0, 0}, {8 * SIDE, 56 * SIDE}};
	struct ov_plan plan = {.groups = 16 * SIDE, .all = SIDE * SIDE, .runs = runs, .run_count = 2};
	struct random_launch *l = calloc(1, sizeof *l);
	struct others *o = NULL;
	int sent[2] = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	make_random(l);
	ranges[2].times = 2;
	for (uint64_t g = 0; g < SIDE * SIDE; g++)
		l->parts[g][0].address = l->parts[g][1].address = OWN + g / 2 * LINE;
	CU_ASSERT_EQUAL_FATAL(others_new(&scene.gpu, &launch, &plan, 1024, &o), 0);
	ask_in_turn(o, l, &plan, sent);
	CU_ASSERT_EQUAL(sent[1], 0);
	others_free(o);
	free(l);
}

static void others_matter_where_l2_is_cold_and_some_groups_are_left_out(void)
{
	struct ov_plan some = {.groups = SIDE, .all = SIDE * SIDE}, all = {.groups = SIDE * SIDE, .all = SIDE * SIDE};
	struct others *o = NULL;
	make_grid(0);
	CU_ASSERT_EQUAL_FATAL(others_new(&scene.gpu, &launch, &some, 1024, &o), 0);
	CU_ASSERT_PTR_NULL(o);
	make_grid(1);
	CU_ASSERT_EQUAL_FATAL(others_new(&scene.gpu, &launch, &all, 1024, &o), 0);
	CU_ASSERT_PTR_NULL(o);
	ranges[2].bytes = scene.gpu.l2_bytes; /* does not fit */
	CU_ASSERT_EQUAL_FATAL(others_new(&scene.gpu, &launch, &some, 1024, &o), 0);
	CU_ASSERT_PTR_NULL(o);
}

void add_others_tests(void)
{
	CU_pSuite s = CU_add_suite("others", NULL, NULL);
	CU_ADD_TEST(s, of_shared_lines_dram_sends_a_share);
	CU_ADD_TEST(s, sharers_are_those_at_one_time);
	CU_ADD_TEST(s, rows_are_opened_for_others);
	CU_ADD_TEST(s, lines_come_in_when_others_have_ended);
	CU_ADD_TEST(s, lines_asked_for_at_other_times_are_there);
	CU_ADD_TEST(s, others_come_first_as_time_goes_by);
	CU_ADD_TEST(s, neighbours_that_share_are_not_by_chance);
	CU_ADD_TEST(s, others_matter_where_l2_is_cold_and_some_groups_are_left_out);
}
