/* All requests of a launch together: footprints, reuse, a walk through the levels, and which part represents the whole. */
#include "tests/tests.h"

#include "models/traffic/footprint.h"
#include "models/traffic/walk.h"
#include "models/analytical/optimistic.h"
#include "models/traffic/reuse.h"
#include "models/memory/warm.h"
#include "tests/models/scene.h"

#include <stdlib.h>

/* 4096 groups of one warp: a load that moves by a line per group, and a load that is the same for all. */
struct moving {
	struct scene scene;
	struct memory_part parts[2];
	uint32_t first[3], zero;
	uint16_t accesses[2];
	uint64_t id;
	struct address_shift shifts[3];
	struct path_requests requests;
	struct warp_path path;
	struct launch_warps launch;
};

static void make_moving(struct moving *m, const char *gpu, const char *overrides)
{
	scene_start(&m->scene, gpu, overrides);
	m->scene.gpu.sm_count = 80;
	build_memory(&m->scene.code, CODE_load, SPACE_global, "2 <- 1");
	build_memory(&m->scene.code, CODE_load, SPACE_global, "3 <- 1");
	scene_exit(&m->scene);
	m->parts[0] = (struct memory_part){.address = 4096, .sectors = 15, .bytes = 128};
	m->parts[1] = (struct memory_part){.address = 1 << 20, .sectors = 15, .bytes = 128};
	for (uint32_t i = 0; i < 3; i++)
		m->first[i] = i;
	m->accesses[0] = m->accesses[1] = 1;
	m->id = 2;
	m->zero = 0;
	m->shifts[0] = (struct address_shift){.linear = true, .step = {128, 0, 0}};
	m->shifts[1] = m->shifts[2] = (struct address_shift){.linear = true};
	m->requests = (struct path_requests){m->first, m->parts};
	m->path = (struct warp_path){.blocks = &m->zero, .block_count = 1, .accesses = m->accesses, .access_count = 2, .requests = &m->requests};
	m->launch = (struct launch_warps){.code = &m->scene.code.code, .paths = &m->path, .path_count = 1, .groups = 4096,
	                                  .warps_per_group = 1, .path_of = &m->zero, .pattern_groups = 1, .grid = {4096, 1, 1},
	                                  .pattern_ids = &m->id, .shifts = m->shifts};
}

static void footprints_follow_the_groups(void)
{
	static struct moving m;
	struct memory_range *ranges;
	size_t count;
	int64_t moved[3];
	make_moving(&m, "gtx480", NULL);
	CU_ASSERT_TRUE(launch_has_requests(&m.launch));
	CU_ASSERT_TRUE(launch_move(&m.launch, 7, moved));
	CU_ASSERT_EQUAL(launch_address(&m.launch, 0, 4096, 7, moved, 128), 4096 + 5 * 128);
	CU_ASSERT_EQUAL_FATAL(footprint_ranges(&m.scene.gpu, &m.launch, &ranges, &count), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_EQUAL(ranges[0].address, 4096 - 2 * 128);
	CU_ASSERT_EQUAL(ranges[0].bytes, 4096 * 128);
	CU_ASSERT_EQUAL(ranges[1].address, 1 << 20);
	CU_ASSERT_EQUAL(ranges[1].bytes, 128);
	free(ranges);
	double share;
	CU_ASSERT_EQUAL(footprint_share(&m.scene.gpu, &m.launch, 1024, 4096, &share), 0);
	CU_ASSERT_DOUBLE_EQUAL(share, 0.25, 0.05); /* one line in 16 is counted */
}

/* Group 2 was at the second line of its buffer: the first would be before it, where another one is, and is at a border instead. */
static void footprints_stay_in_their_buffer(void)
{
	static struct moving m;
	struct memory_range *ranges;
	size_t count;
	make_moving(&m, "gtx480", NULL);
	m.parts[0].address = (3ull << 40) + 128;
	CU_ASSERT_EQUAL_FATAL(footprint_ranges(&m.scene.gpu, &m.launch, &ranges, &count), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_EQUAL(ranges[1].address, 3ull << 40);
	CU_ASSERT_EQUAL(ranges[1].bytes, 4095 * 128);
	free(ranges);
}

/* A row of 4096 groups that is a plane of 64 by 64: group 2 is the third of the first row, and rows are 100 lines apart. */
static void a_row_of_groups_may_be_a_plane(void)
{
	static struct moving m;
	struct memory_range *ranges;
	size_t count;
	make_moving(&m, "gtx480", NULL);
	m.shifts[0] = (struct address_shift){.linear = true, .step = {128, 12800, 0}, .split = 64};
	m.parts[1].address = 1 << 30;
	CU_ASSERT_EQUAL_FATAL(footprint_ranges(&m.scene.gpu, &m.launch, &ranges, &count), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_EQUAL(ranges[0].address, 4096 - 2 * 128);
	CU_ASSERT_EQUAL(ranges[0].bytes, 63 * 12800 + 64 * 128);
	free(ranges);
}

/* A request of two parts, the higher one first, 2 and 6 lines into a buffer. A round is 16 iterations, 1536 bytes. In 0.7 rounds they go on for 11
 * iterations, 1056 bytes. 0.72 rounds are 1106 bytes, which end before the buffer's 1900, but 12 iterations, 1152 bytes, lead the higher one
 * round: it has met all. Ranges have a line from each address on. */
static void footprints_have_the_ends_of_requests(void)
{
	static const double rounds[] = {0.7, 0.72};
	static const uint64_t end[] = {6 * 128 + 1056 + 128, 1899 + 128};
	for (int i = 0; i < 2; i++) {
		static struct moving m;
		struct memory_range *ranges;
		size_t count;
		make_moving(&m, "gtx480", NULL);
		struct round_shift shifts[2] = {{.step = 12 * 128, .low = 4096, .bytes = 1900}, {0}};
		struct path_gap gap = {.at = 1, .access_count = 2, .outer = -1, .rounds = rounds[i], .iterations = 16, .shifts = shifts};
		m.shifts[0] = (struct address_shift){.linear = true};
		m.parts[0].address = 4096 + 6 * 128;
		m.parts[1].address = 4096 + 2 * 128;
		m.first[1] = m.first[2] = 2;
		m.path.gaps = &gap;
		m.path.gap_count = 1;
		CU_ASSERT_EQUAL_FATAL(footprint_ranges(&m.scene.gpu, &m.launch, &ranges, &count), 0);
		CU_ASSERT_EQUAL_FATAL(count, 1);
		CU_ASSERT_EQUAL(ranges[0].address, i ? 4096 : 4096 + 2 * 128);
		CU_ASSERT_EQUAL(ranges[0].address + ranges[0].bytes, 4096 + end[i]);
		free(ranges);
	}
}

/* Groups touched 1024 bytes, and do not move evenly. A loop of which they were traced goes on for 3 rounds of 1024 bytes, up or down. */
static void footprints_have_all_rounds(void)
{
	for (int64_t step = -1024; step <= 1024; step += 2048) {
		static struct moving m;
		struct memory_range *ranges;
		size_t count;
		make_moving(&m, "gtx480", NULL);
		struct round_shift rounds[2] = {{.step = step}, {0}};
		struct path_gap gap = {.at = 1, .access_count = 2, .outer = -1, .rounds = 3, .iterations = 8, .shifts = rounds};
		m.shifts[0] = (struct address_shift){.linear = false, .low = 4096, .bytes = 1024};
		m.path.gaps = &gap;
		m.path.gap_count = 1;
		CU_ASSERT_EQUAL_FATAL(footprint_ranges(&m.scene.gpu, &m.launch, &ranges, &count), 0);
		CU_ASSERT_EQUAL_FATAL(count, 2);
		CU_ASSERT_EQUAL(ranges[0].address, step < 0 ? 1024 : 4096);
		CU_ASSERT_EQUAL(ranges[0].bytes, step < 0 ? 4096 : 3 * 1024 + 128);
		CU_ASSERT_TRUE(ranges[0].anywhere);
		free(ranges);
	}
}

/* 4096 groups, 32 lines apart, each with four rounds of a line, eight lines apart, of which a path has the first. So a line in 8 is asked for, from
 * the first group's first to the last one's last: 4 * 4096 of 32 * 4095 + 25. The path and its end are two of the four. The other load stays. */
static void lines_of_all_rounds_are_counted(void)
{
	static struct moving m;
	static const double weights[] = {4};
	struct memory_range *ranges;
	size_t count;
	make_moving(&m, "h200", NULL);
	struct round_shift rounds[2] = {{.step = 1024}, {0}};
	struct path_gap gap = {.at = 1, .access_count = 2, .outer = -1, .rounds = 3, .iterations = 8, .shifts = rounds};
	m.shifts[0].step[0] = 4096;
	m.parts[0].address = 1 << 24;
	m.path.gaps = &gap;
	m.path.gap_count = 1;
	m.path.weights = weights;
	CU_ASSERT_EQUAL_FATAL(footprint_ranges(&m.scene.gpu, &m.launch, &ranges, &count), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_DOUBLE_EQUAL(ranges[0].all_times, 4096, 1e-9);
	CU_ASSERT_EQUAL(ranges[1].bytes, (32 * 4095 + 25) * 128);
	CU_ASSERT_DOUBLE_EQUAL(ranges[1].times, 2 * 4096.0 / (32 * 4095 + 25), 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(ranges[1].all_times, 4 * 4096.0 / (32 * 4095 + 25), 1e-9);
	free(ranges);
}

/* Of 64 groups, only the second half requests anything. 8 of all are looked at. 4 of these make requests, for one line of their
 * own each and one in common. Of 65536 groups, 8192 around the middle are counted. Their first half requests nothing, half of
 * the others request half of the lines. */
static void idle_first_groups_do_not_hide_traffic(void)
{
	static struct moving m;
	static uint32_t path_of[64];
	static uint64_t ids[64];
	struct memory_range *ranges;
	size_t count;
	double share;
	make_moving(&m, "gtx480", NULL);
	struct warp_path paths[2] = {{.blocks = &m.zero, .block_count = 0, .requests = &m.requests}, m.path};
	for (uint32_t g = 0; g < 64; g++) {
		path_of[g] = g >= 32;
		ids[g] = 2;
	}
	m.launch.paths = paths;
	m.launch.path_count = 2;
	m.launch.path_of = path_of;
	m.launch.pattern_ids = ids;
	m.launch.groups = m.launch.grid[0] = m.launch.pattern_groups = 64;
	CU_ASSERT_EQUAL_FATAL(footprint_ranges(&m.scene.gpu, &m.launch, &ranges, &count), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_EQUAL(ranges[0].traffic, 4);
	CU_ASSERT_EQUAL(ranges[1].traffic, 4);
	free(ranges);
	m.launch.groups = m.launch.grid[0] = m.launch.pattern_groups * 1024;
	m.launch.pattern_in_order = true;
	CU_ASSERT_EQUAL(footprint_share(&m.scene.gpu, &m.launch, 6144, 8192, &share), 0);
	CU_ASSERT_DOUBLE_EQUAL(share, 0.5, 0.05); /* one line in 16 is counted */
}

/* A stream with a window of REUSE_BINS requests, one per bin. `rest` of them are for lines that were last requested more than
 * `apart` requests ago. */
static void fill_reuse(struct reuse *r, uint32_t apart, double rest)
{
	r->window = REUSE_BINS;
	for (uint32_t i = 0; i <= REUSE_BINS; i++)
		r->longer[i] = i < apart ? 1 : rest;
}

/*
 * A fifth of the groups. Three cases:
 *   - No group returns to a line: a fifth of 1000 lines is enough.
 *   - Each group returns to half of its lines after 500 requests of all groups. In the fifth, this is 100 requests. With 1000
 *     lines, all groups find their lines again, so the fifth needs the whole cache. With 400 lines they do not find them, and
 *     neither does the fifth with a fifth of the cache.
 *   - At random, every request asks for one of 1000 lines. The rest falls by a thousandth each time. The hits do not depend on
 *     the number of groups.
 */
static void fewer_groups_need_a_smaller_cache(void)
{
	static struct reuse all, some;
	fill_reuse(&all, REUSE_BINS, 1);
	CU_ASSERT_DOUBLE_EQUAL(reuse_capacity(&all, &all, 0.2, 1000), 0.2, 0.001);
	fill_reuse(&all, 500, 0.5);
	fill_reuse(&some, 100, 0.5);
	CU_ASSERT_EQUAL(reuse_capacity(&some, &all, 0.2, 1000), 1);
	CU_ASSERT_DOUBLE_EQUAL(reuse_capacity(&some, &all, 0.2, 400), 0.2, 0.002);
	all.longer[0] = 1;
	for (uint32_t i = 0; i < REUSE_BINS; i++)
		all.longer[i + 1] = all.longer[i] * 0.999;
	CU_ASSERT_DOUBLE_EQUAL(reuse_capacity(&all, &all, 0.2, 300), 1, 0.01);
	/* Both at once: a part of the groups finds a tenth of its lines in any cache of more than 100 lines. So less than the whole
	 * cache is enough. */
	for (uint32_t i = 0; i <= REUSE_BINS; i++)
		some.longer[i] = all.longer[i] * (i < 100 ? 1 : 0.9);
	double part = reuse_capacity(&some, &all, 0.2, 300);
	/* All: T = -ln(0.7) / 0.001 = 357 requests, 0.7 of them miss. Some: 0.9 exp(-T / 1000) = 0.7, T = 251; 95 + 0.9 (905 - 778) = 209 lines. */
	CU_ASSERT_DOUBLE_EQUAL(part, 209.0 / 300, 0.01);
}

/* Each group requests its own line twice. 8 groups that take turns do so 8 requests apart, 4 groups 4 requests apart. A bin is
 * two requests. Half of all requests are for lines that were not requested before. 4096 groups have only 8192 requests. */
static void groups_come_back_after_a_round(void)
{
	static struct moving m;
	static struct reuse r;
	make_moving(&m, "gtx480", NULL);
	m.parts[1] = m.parts[0];
	m.shifts[1] = m.shifts[0];
	CU_ASSERT_EQUAL(reuse_measure(&m.scene.gpu, &m.launch, 8, 2 * REUSE_BINS, &r), 1);
	m.launch.groups = m.launch.grid[0] = 65536;
	CU_ASSERT_EQUAL_FATAL(reuse_measure(&m.scene.gpu, &m.launch, 8, 2 * REUSE_BINS, &r), 0);
	CU_ASSERT_DOUBLE_EQUAL(r.longer[4], 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(r.longer[5], 0.5, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(r.longer[REUSE_BINS], 0.5, 0.01);
	CU_ASSERT_EQUAL_FATAL(reuse_measure(&m.scene.gpu, &m.launch, 4, 2 * REUSE_BINS, &r), 0);
	CU_ASSERT_DOUBLE_EQUAL(r.longer[2], 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(r.longer[3], 0.5, 0.01);
}

static void a_walk_counts_what_each_level_serves(void)
{
	static struct moving m;
	struct memory_walk walk;
	make_moving(&m, "v100", "l2_warm=0");
	CU_ASSERT_EQUAL_FATAL(memory_walk(&m.scene.gpu, &m.launch, 8, 0, &walk), 0);
	/* 4 SMs are walked. Of 8192 parts, each SM gets the common line once from L2, and L2 gets it once from memory. */
	CU_ASSERT_EQUAL(walk.memory.requests, 8192);
	CU_ASSERT_DOUBLE_EQUAL(walk.memory.l1_hit, (4096.0 - 4) / 8192, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(walk.memory.l2_hit, 3.0 / 4100, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(walk.memory.l2_read_bytes, 4100 * 128, 0.5);
	CU_ASSERT_EQUAL(walk.memory.l2_written_bytes, 0);
	CU_ASSERT_DOUBLE_EQUAL(walk.memory.dram_read_bytes, 4097 * 128, 0.5);
	CU_ASSERT_DOUBLE_EQUAL(walk.dram_cycles, 4097 * 128 / (900.0 / 1.53), 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(walk.load_latency, (4092.0 * 28 + 3 * 212 + 4097 * 302.0) / 8192, 1e-6);
	/* All of it is already in L2. */
	make_moving(&m, "v100", NULL);
	CU_ASSERT_EQUAL_FATAL(memory_walk(&m.scene.gpu, &m.launch, 8, 0, &walk), 0);
	CU_ASSERT_EQUAL(walk.memory.dram_read_bytes, 0);
	CU_ASSERT_DOUBLE_EQUAL(walk.memory.l2_hit, 1, 1e-9);
}

static void bandwidth_limits_the_analytical_models(void)
{
	static struct moving m;
	struct optimistic_timing t;
	make_moving(&m, "v100", NULL);
	CU_ASSERT_EQUAL_FATAL(model_optimistic(&m.scene.gpu, &m.launch, 8, NULL, &t, NULL), 0);
	double before = t.cycles;
	m.launch.dram_cycles = 1000 + before;
	CU_ASSERT_EQUAL_FATAL(model_optimistic(&m.scene.gpu, &m.launch, 8, NULL, &t, NULL), 0);
	CU_ASSERT_DOUBLE_EQUAL(t.cycles, before + 1000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(t.by[CYCLES_dram], 1000, 1e-9);
	CU_ASSERT_STRING_EQUAL(limit_name(t.limiter), "dram");
}

/* A part of the SMs, with the same part of everything behind them, takes about as long as all SMs. */
static void some_sms_stand_for_all(void)
{
	static struct moving m;
	double cycles[2];
	for (int exact = 0; exact < 2; exact++) {
		make_moving(&m, "v100", "l2_bytes=192Ki");
		m.launch.groups = 100000;
		m.launch.grid[0] = 100000;
		m.scene.options.hierarchy = true;
		m.scene.options.on_issue = NULL;
		m.scene.options.exact = exact;
		CU_ASSERT_EQUAL_FATAL(model_occupancy_vector(&m.scene.gpu, &m.launch, 32, &m.scene.options, &m.scene.timing, NULL), 0);
		cycles[exact] = m.scene.timing.cycles;
	}
	CU_ASSERT_DOUBLE_EQUAL(cycles[0] / cycles[1], 1, 0.1);
	/* 12.8 MB at 900 GB/s: 21,760 cycles at least. */
	CU_ASSERT_TRUE(cycles[1] > 21760);
}

/* A quarter of the SMs, with a quarter of the groups and of memory's bandwidth, takes about as long as all do. */
static void a_share_of_the_sms_takes_as_long(void)
{
	static struct moving m;
	double cycles[2], simulated[2];
	for (int few = 0; few < 2; few++) {
		make_moving(&m, "v100", "l2_warm=0");
		m.scene.options.hierarchy = true;
		m.scene.options.on_issue = NULL;
		m.scene.options.share = few ? 0.25 : 0;
		CU_ASSERT_EQUAL_FATAL(model_occupancy_vector(&m.scene.gpu, &m.launch, 32, &m.scene.options, &m.scene.timing, NULL), 0);
		cycles[few] = m.scene.timing.cycles;
		simulated[few] = m.scene.timing.simulated_fraction;
	}
	CU_ASSERT_DOUBLE_EQUAL(simulated[0], 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(simulated[1], 0.25, 0.03);
	CU_ASSERT_DOUBLE_EQUAL(cycles[1] / cycles[0], 1, 0.15);
}

struct told_lines {
	uint64_t lines, dirty, inside, highest;
};

static void tell_line(void *ctx, uint64_t address, bool dirty)
{
	struct told_lines *t = ctx;
	t->lines++;
	t->dirty += dirty;
	t->inside += address >= 1 << 20 && address < 2 << 20;
	t->highest = address > t->highest ? address : t->highest;
}

/* L2 holds half of a table that any group may read: every second line. For data that groups pass through, it holds dirty lines
 * that no group reads. */
static void l2_in_the_midst_of_a_launch(void)
{
	const struct memory_range ranges[] = {
		{.address = 1 << 20, .bytes = 1 << 20, .traffic = 3, .anywhere = true},
		{.address = 4 << 20, .bytes = 1 << 20, .traffic = 3, .written = true},
		{.address = 8 << 20, .bytes = 1280, .traffic = 2},
	};
	struct told_lines t = {0}, begin = {0}, whole = {0};
	warm_lines(ranges, 3, (1 << 20) + 1280, 128, true, tell_line, &t);
	CU_ASSERT_EQUAL(t.lines, 8192 + 10);
	CU_ASSERT_EQUAL(t.inside, 4096);
	CU_ASSERT_EQUAL(t.dirty, 4096);
	CU_ASSERT_TRUE(t.highest > UINT64_C(1) << 60);
	/* At the begin of the launch, L2 holds what came last. Data that fits is there completely. */
	warm_lines(ranges, 3, 1 << 19, 128, false, tell_line, &begin);
	CU_ASSERT_EQUAL(begin.inside + begin.dirty, 0);
	CU_ASSERT_EQUAL(begin.lines, 8192);
	warm_lines(ranges, 3, 4 << 20, 128, true, tell_line, &whole);
	CU_ASSERT_EQUAL(whole.lines, 2 * 8192 + 10);
}

/* A group of a stencil touches 5 lines of what it reads, each of which 2.5 groups ask for, and writes 2 lines of its own. So as many lines come to L2 of what
 * is read (5 / 2.5) as of what is written, and half of the lines in L2 are dirty. */
static void lines_that_groups_share_come_once(void)
{
	const struct memory_range ranges[] = {
		{.address = 1 << 20, .bytes = 2 << 20, .traffic = 5, .times = 2.5},
		{.address = 4 << 20, .bytes = 2 << 20, .traffic = 2, .times = 1, .written = true},
	};
	struct told_lines t = {0};
	warm_lines(ranges, 2, 1 << 20, 128, true, tell_line, &t);
	CU_ASSERT_EQUAL(t.lines, 8192);
	CU_ASSERT_EQUAL(t.dirty, 4096);
}

/* A quarter of 8192 lines is cold. In the midst of a launch in which 16 groups ask for each, 15 of 16 such lines have come: 128 have not. */
static void cold_lines_are_not_in_l2(void)
{
	struct memory_range range = {.address = 1 << 20, .bytes = 1 << 20, .traffic = 1, .times = 16, .cold = 0.25};
	struct told_lines begin = {0}, midst = {0}, cold = {0};
	warm_lines(&range, 1, 4 << 20, 128, false, tell_line, &begin);
	CU_ASSERT_EQUAL(begin.lines, 8192 * 3 / 4);
	warm_lines(&range, 1, 4 << 20, 128, true, tell_line, &midst);
	CU_ASSERT_EQUAL(midst.lines, 8192 - 128);
	range.cold = 1;
	warm_lines(&range, 1, 4 << 20, 128, false, tell_line, &cold);
	CU_ASSERT_EQUAL(cold.lines, 0);
}

/* Argument 0's memory is at 1 << 40. 4096 groups read a line each of one buffer, and one line of another. */
static void ranges_know_what_came_before(void)
{
	static struct moving m;
	struct memory_before before = {.known = true, .cold = {3}};
	struct memory_range *ranges;
	size_t count;
	make_moving(&m, "v100", NULL);
	m.parts[0].address += UINT64_C(1) << 40;
	m.launch.before = &before;
	CU_ASSERT_EQUAL_FATAL(footprint_ranges(&m.scene.gpu, &m.launch, &ranges, &count), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_EQUAL(ranges[0].cold, 0); /* of no argument */
	CU_ASSERT_EQUAL(ranges[1].cold, 0.75);
	CU_ASSERT_DOUBLE_EQUAL(ranges[0].times, 4096, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(ranges[1].times, 1, 1e-9);
	free(ranges);
}

void add_footprint_tests(void)
{
	CU_pSuite s = CU_add_suite("footprints", NULL, NULL);
	CU_ADD_TEST(s, l2_in_the_midst_of_a_launch);
	CU_ADD_TEST(s, lines_that_groups_share_come_once);
	CU_ADD_TEST(s, footprints_follow_the_groups);
	CU_ADD_TEST(s, footprints_stay_in_their_buffer);
	CU_ADD_TEST(s, a_row_of_groups_may_be_a_plane);
	CU_ADD_TEST(s, footprints_have_all_rounds);
	CU_ADD_TEST(s, lines_of_all_rounds_are_counted);
	CU_ADD_TEST(s, footprints_have_the_ends_of_requests);
	CU_ADD_TEST(s, idle_first_groups_do_not_hide_traffic);
	CU_ADD_TEST(s, fewer_groups_need_a_smaller_cache);
	CU_ADD_TEST(s, groups_come_back_after_a_round);
	CU_ADD_TEST(s, a_walk_counts_what_each_level_serves);
	CU_ADD_TEST(s, bandwidth_limits_the_analytical_models);
	CU_ADD_TEST(s, some_sms_stand_for_all);
	CU_ADD_TEST(s, a_share_of_the_sms_takes_as_long);
	CU_ADD_TEST(s, cold_lines_are_not_in_l2);
	CU_ADD_TEST(s, ranges_know_what_came_before);
}
