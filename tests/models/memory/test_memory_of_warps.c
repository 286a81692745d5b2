/* What warps see of the memory hierarchy: the time from an access to the user of its value. */
#include "tests/tests.h"

#include "tests/models/scene.h"

enum { PARTS = 64 };

/* One warp with this code and so many accesses, which take the unit so many cycles. Access n has the parts from first[n] to those of the next. */
static void run_with_cycles(struct scene *s, const struct memory_part *parts, const uint32_t *first, const uint16_t *accesses, uint32_t count,
                            const struct memory_range *warm, size_t ranges)
{
	uint32_t zero = 0;
	scene_exit(s);
	struct path_requests requests = {first, parts};
	struct warp_path path = {.blocks = &zero, .block_count = 1, .accesses = accesses, .access_count = count, .requests = &requests};
	struct launch_warps launch = {.code = &s->code.code, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1,
	                              .path_of = &zero, .pattern_groups = 1, .warm = warm, .warm_count = ranges};
	s->options.hierarchy = true;
	s->issue_count = 0;
	CU_ASSERT_EQUAL_FATAL(model_occupancy_vector(&s->gpu, &launch, 1, &s->options, &s->timing, NULL), 0);
}

/* A part takes a cycle. */
static void run_requests(struct scene *s, const struct memory_part *parts, const uint32_t *first, uint32_t count, const struct memory_range *warm,
                         size_t ranges)
{
	uint16_t accesses[PARTS];
	for (uint32_t i = 0; i < count; i++)
		accesses[i] = (uint16_t)(first[i + 1] - first[i]);
	run_with_cycles(s, parts, first, accesses, count, warm, ranges);
}

/* The same with a part for each access. */
static void run_parts(struct scene *s, const struct memory_part *parts, uint32_t count, const struct memory_range *warm, size_t ranges)
{
	uint32_t first[PARTS + 1];
	for (uint32_t i = 0; i <= count; i++)
		first[i] = i;
	run_requests(s, parts, first, count, warm, ranges);
}

/* An access and a user of its value, again and again. Number n goes to addresses[n]. A load is of a line, an atomic of one lane. */
static void run_accesses(struct scene *s, const char *gpu, const char *overrides, enum code_class class, const uint64_t *addresses,
                         uint32_t count, const struct memory_range *warm, size_t ranges)
{
	const struct memory_part line = {.sectors = 15, .bytes = 128}, lane = {.sectors = 1, .bytes = 4, .lanes = 1};
	struct memory_part parts[PARTS];
	scene_start(s, gpu, overrides);
	for (uint32_t i = 0; i < count; i++) {
		build_memory(&s->code, class, SPACE_global, "2 <- 1");
		build(&s->code, CODE_move, "1 <- 2");
		parts[i] = class == CODE_atomic ? lane : line;
		parts[i].address = addresses[i];
	}
	run_parts(s, parts, count, warm, ranges);
}

static void run_loads(struct scene *s, const char *gpu, const char *overrides, const uint64_t *addresses, uint32_t count,
                      const struct memory_range *warm, size_t ranges)
{
	run_accesses(s, gpu, overrides, CODE_load, addresses, count, warm, ranges);
}

/* Cycles from the issue of access n to the issue of its user. */
static double distance(const struct scene *s, uint32_t n)
{
	return (double)(s->issues[2 * n + 1].cycle - s->issues[2 * n].cycle);
}

/* A warp asks for a texel, waits for it, stores in four lines, and reads the texel three times. What is stored reaches L1 while the first of these has the unit;
 * another waits for it, and the last for that one. So long after the store all values are there. */
static double after_store(uint32_t stored_sectors, uint16_t cycles)
{
	static struct scene s;
	const struct memory_range warm = {.address = 1 << 20, .bytes = 1 << 12, .traffic = 1};
	struct memory_part parts[8] = {{.address = 1 << 20, .sectors = 1, .bytes = 16}};
	const uint32_t first[] = {0, 1, 5, 6, 7, 8};
	const uint16_t accesses[] = {cycles, 4, cycles, cycles, cycles};
	scene_start(&s, "h200", "icache_line_instructions=0");
	build_memory(&s.code, CODE_texture, SPACE_texture, "2 <- 1");
	build(&s.code, CODE_move, "1 <- 2");
	build_memory(&s.code, CODE_store, SPACE_global, " <- 1");
	build_memory(&s.code, CODE_texture, SPACE_texture, "3 <- 1");
	build_memory(&s.code, CODE_texture, SPACE_texture, "4 <- 1");
	build_memory(&s.code, CODE_texture, SPACE_texture, "2 <- 1");
	build(&s.code, CODE_fp32, "1 <- 2 4"); /* the unit need not take them in order */
	for (uint32_t i = 1; i < 8; i++)
		parts[i] = i < 5 ? (struct memory_part){.address = (1 << 20) + 1024 + i * 128, .sectors = stored_sectors, .bytes = 128} : parts[0];
	run_with_cycles(&s, parts, first, accesses, 5, &warm, 1);
	return (double)(s.issues[6].cycle - s.issues[2].cycle);
}

/* Four lines with all sectors are twelve sectors more than four with one. A filter with four passes waits for them, a read with two does not. */
static void filters_wait_for_what_is_stored(void)
{
	CU_ASSERT_EQUAL(after_store(15, 32) - after_store(1, 32), 12);
	CU_ASSERT_EQUAL(after_store(15, 16) - after_store(1, 16), 0);
}

static void latencies_are_those_of_the_description(void)
{
	static const char *const names[] = {"gtx480", "qv100", "v100", "a100", "h200", "titanx", "rtx2060"};
	const struct memory_range warm = {.address = 1 << 20, .bytes = 1 << 12, .traffic = 1};
	const uint64_t addresses[] = {1 << 20, 1 << 20, 1 << 24, 1 << 24, (1 << 20) + 128};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		static struct scene s;
		run_loads(&s, names[i], "l1_caches_global=1,icache_line_instructions=0,l2_spread_cycles=0,dram_far_cycles=0,dram_refresh_share=0", addresses, 5, &warm, 1);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 0), s.gpu.l2_latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 1), s.gpu.l1_latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 2), s.gpu.dram_latency, 2);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 3), s.gpu.l1_latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 4), s.gpu.l2_latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.requests, 5, 0);
		CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.l1_hit, 0.4, 1e-9);
		CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.l2_hit, 8.0 / 12, 0.18); /* 3 lines; a wide access hits what it brought */
	}
}

/* One lane, on a word that is in L2: the time from issue to user does not depend on a load's time to L2 and back. */
static void atomics_take_their_latency(void)
{
	static const char *const names[] = {"gtx480", "qv100", "v100", "h200"};
	static const double latencies[] = {144, 173, 245, 270, 500};
	const struct memory_range warm = {.address = 1 << 20, .bytes = 1 << 12, .traffic = 1};
	const uint64_t addresses[] = {1 << 20, 1 << 20, (1 << 20) + 256};
	for (size_t i = 0; i < GS_ARRAY_LEN(names) * GS_ARRAY_LEN(latencies); i++) {
		static struct scene s;
		char overrides[96];
		double latency = latencies[i % GS_ARRAY_LEN(latencies)];
		snprintf(overrides, sizeof overrides, "icache_line_instructions=0,l2_spread_cycles=0,atomic_latency=%g", latency);
		run_accesses(&s, names[i / GS_ARRAY_LEN(latencies)], overrides, CODE_atomic, addresses, 3, &warm, 1);
		for (uint32_t n = 0; n < 3; n++)
			CU_ASSERT_DOUBLE_EQUAL(distance(&s, n), latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.atomics, 3, 0);
	}
}

enum { DRAM_LINES = 40 };

/* Loads of lines that L2 does not have, by an H200 with these keys. */
static void load_from_dram(struct scene *s, const char *keys)
{
	uint64_t addresses[DRAM_LINES];
	char overrides[160];
	for (uint32_t i = 0; i < DRAM_LINES; i++)
		addresses[i] = (1ull << 30) + (uint64_t)i * 65536;
	snprintf(overrides, sizeof overrides, "icache_line_instructions=0,l2_spread_cycles=0,l2_warm=0,%s", keys);
	run_loads(s, "h200", overrides, addresses, DRAM_LINES, NULL, 0);
}

/* An H200 takes 540 cycles for some lines of DRAM and 720 for others, about as many. */
static void half_of_dram_is_far(void)
{
	static struct scene s;
	uint32_t far = 0;
	load_from_dram(&s, "dram_far_cycles=180,dram_refresh_share=0");
	for (uint32_t i = 0; i < DRAM_LINES; i++) {
		bool is_far = distance(&s, i) > s.gpu.dram_latency;
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, i), s.gpu.dram_latency + (is_far ? 90 : -90), 3);
		far += is_far;
	}
	CU_ASSERT_TRUE(far > DRAM_LINES / 4 && far < DRAM_LINES * 3 / 4);
}

/* If all lines find DRAM refreshing, they wait for 0 to 400 cycles, 200 in the mean; if a quarter does, that quarter, and the others take 50 less than all do. */
static void refreshes_hold_up_some_lines(void)
{
	static struct scene s;
	double sum = 0, least = 1e9, most = 0;
	load_from_dram(&s, "dram_far_cycles=0,dram_refresh_share=1,dram_refresh_cycles=400");
	for (uint32_t i = 0; i < DRAM_LINES; i++) {
		double d = distance(&s, i) - s.gpu.dram_latency;
		sum += d, least = d < least ? d : least, most = d > most ? d : most;
	}
	CU_ASSERT_TRUE(least >= -203 && least < -120 && most <= 203 && most > 120);
	CU_ASSERT_DOUBLE_EQUAL(sum / DRAM_LINES, 0, 60);
	uint32_t held = 0;
	load_from_dram(&s, "dram_far_cycles=0,dram_refresh_share=0.25,dram_refresh_cycles=400");
	for (uint32_t i = 0; i < DRAM_LINES; i++)
		held += fabs(distance(&s, i) - (s.gpu.dram_latency - 50)) > 3;
	CU_ASSERT_TRUE(held > 3 && held < 20);
}

/* Groups that come to one SM of an H200 one after the other, and store a line each. */
static double storing_groups(const char *keys, uint64_t groups)
{
	static struct scene s;
	const struct memory_range warm = {.address = 1 << 20, .bytes = 1 << 12, .traffic = 1};
	const struct memory_part line = {.address = 1 << 20, .sectors = 15, .bytes = 128};
	const uint32_t first[] = {0, 1}, zero = 0;
	const uint16_t one = 1;
	char overrides[256];
	snprintf(overrides, sizeof overrides, "icache_line_instructions=0,l2_spread_cycles=0,group_turnaround=0,grid_interval=0,%s", keys);
	scene_start(&s, "h200", overrides);
	build_memory(&s.code, CODE_store, SPACE_global, "<- 1 2");
	scene_exit(&s);
	struct path_requests requests = {first, &line};
	struct warp_path path = {.blocks = &zero, .block_count = 1, .accesses = &one, .access_count = 1, .requests = &requests};
	struct launch_warps launch = {.code = &s.code.code, .paths = &path, .path_count = 1, .groups = groups, .warps_per_group = 1,
	                              .path_of = &zero, .pattern_groups = 1, .warm = &warm, .warm_count = 1};
	s.options.hierarchy = true;
	CU_ASSERT_EQUAL_FATAL(model_occupancy_vector(&s.gpu, &launch, 1, &s.options, &s.timing, NULL), 0);
	return s.timing.cycles;
}

/*
 * By default, a group's place is free when L2 has answered its store, after the time to L2 and back. On an H200 it is when the store has
 * left, some 20 cycles after its issue (stall_drain of Nsight Compute). A launch ends with the answers, unless its own end takes as long.
 */
static void groups_make_room_when_their_stores_have_left(void)
{
	struct gpu gpu = test_gpu("h200", NULL);
	double there = gpu.l2_latency - gpu.l1_latency;
	double alone = storing_groups("wait_for_stores=1", 1), waits = storing_groups("wait_for_stores=1", 11);
	CU_ASSERT_FALSE(gpu.wait_for_stores);
	CU_ASSERT_EQUAL(storing_groups("wait_for_stores=0,launch_end_ns=0", 1), alone);
	CU_ASSERT_TRUE((waits - alone) / 10 > there);
	double leaves = (storing_groups("wait_for_stores=0,launch_end_ns=0", 11) - alone) / 10;
	CU_ASSERT_TRUE(leaves > 5 && leaves < 70);
	CU_ASSERT_TRUE(storing_groups("wait_for_stores=0,launch_end_ns=175", 1) < alone - there / 2);
	CU_ASSERT_TRUE(test_gpu("qv100", NULL).wait_for_stores && test_gpu("gtx480", NULL).wait_for_stores);
}

/*
 * Three loads before the first is answered: two sectors of a line; one of these and another; all four. L2 gets requests for 2, 1
 * and 1 of 2 + 2 + 4 sectors, so half of them hit. An H200's counters show the same: sectors on their way count as hits.
 */
static void sectors_on_their_way_are_hits(void)
{
	static struct scene s;
	const struct memory_part parts[] = {{.address = 1 << 20, .sectors = 3, .bytes = 64},
	                                    {.address = 1 << 20, .sectors = 6, .bytes = 64},
	                                    {.address = 1 << 20, .sectors = 15, .bytes = 128}};
	scene_start(&s, "v100", "icache_line_instructions=0");
	build_memory(&s.code, CODE_load, SPACE_global, "2 <- 1");
	build_memory(&s.code, CODE_load, SPACE_global, "3 <- 1");
	build_memory(&s.code, CODE_load, SPACE_global, "4 <- 1");
	run_parts(&s, parts, 3, NULL, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.requests, 3, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.l1_hit, 0.5, 1e-9);
}

static void a_larger_l2_is_not_slower(void)
{
	static struct scene s;
	uint64_t addresses[PARTS];
	double before = 1e18;
	for (uint32_t i = 0; i < PARTS; i++) /* 16 lines of one set, four times */
		addresses[i] = (uint64_t)(i % 16) * 12 * 256 * 32;
	static const char *const sizes[] = {"l2_bytes=12Ki,l1_caches_global=0,l2_warm=0", "l2_bytes=48Ki,l1_caches_global=0,l2_warm=0",
	                                    "l2_bytes=192Ki,l1_caches_global=0,l2_warm=0",
	                                    "l2_bytes=1536Ki,l1_caches_global=0,l2_warm=0"};
	for (size_t i = 0; i < GS_ARRAY_LEN(sizes); i++) {
		run_loads(&s, "gtx480", sizes[i], addresses, PARTS, NULL, 0);
		CU_ASSERT_TRUE(s.timing.cycles <= before);
		before = s.timing.cycles;
	}
	/* 8 ways do not hold 16 lines of a set. More sets do. */
	CU_ASSERT_TRUE(s.timing.memory.l2_hit > 0.7);
}

/*
 * Five lines of constants, each of which takes 97 cycles more than one that is there. With two entries, two are asked for at once, two 97 cycles
 * later and the last 194 later. So long it holds up the load after it, which waits 5 cycles otherwise: one for each line.
 */
static void constants_wait_for_entries(void)
{
	static const char *const entries[] = {"0", "2"};
	static const uint32_t waits[] = {97, 3 * 97}, held[] = {5, 2 * 97}, first[] = {0, 5, 6};
	struct memory_part parts[6] = {{0}};
	double load[2];
	for (uint32_t i = 0; i < 5; i++)
		parts[i] = (struct memory_part){.address = 64 * i, .sectors = 3, .bytes = 64};
	parts[5] = (struct memory_part){.address = 1 << 20, .sectors = 15, .bytes = 128};
	for (int i = 0; i < 2; i++) {
		static struct scene s;
		char overrides[96];
		snprintf(overrides, sizeof overrides, "icache_line_instructions=0,const_miss_cycles=100,const_mshrs=%s", entries[i]);
		scene_start(&s, "gtx480", overrides);
		build_memory(&s.code, CODE_load, SPACE_const, "2 <- 1");
		build_memory(&s.code, CODE_load, SPACE_global, "3 <- 1");
		build(&s.code, CODE_move, "4 <- 3");
		build(&s.code, CODE_move, "5 <- 2");
		run_requests(&s, parts, first, 2, NULL, 0);
		load[i] = (double)s.issues[2].cycle - (double)s.issues[1].cycle - held[i];
		CU_ASSERT_EQUAL(s.issues[i ? 2 : 3].instruction, i ? 2 : 3);
		if (i == 1)
			CU_ASSERT_TRUE(s.issues[3].cycle >= s.issues[0].cycle + s.gpu.const_latency + waits[i]);
	}
	CU_ASSERT_EQUAL(load[0], load[1]);
}

/*
 * A line that L1 has is loaded again after a store to four others. All come to L1 one after the other, the store's lines in a cycle each, or in
 * three: then the load is looked up eight cycles later.
 */
static void loads_wait_for_stores_before_them(void)
{
	static const char *const cycles[] = {"0", "1", "3"};
	static const uint32_t first[] = {0, 1, 5, 6};
	struct memory_part parts[6] = {{.address = 1 << 20, .sectors = 15, .bytes = 128}};
	double took[3];
	for (uint32_t i = 0; i < 4; i++)
		parts[1 + i] = (struct memory_part){.address = (1 << 24) + 128 * i, .sectors = 15, .bytes = 128};
	parts[5] = parts[0];
	for (int i = 0; i < 3; i++) {
		static struct scene s;
		char overrides[128];
		snprintf(overrides, sizeof overrides, "icache_line_instructions=0,l2_spread_cycles=0,l1_store_cycles=%s", cycles[i]);
		scene_start(&s, "h200", overrides);
		build_memory(&s.code, CODE_load, SPACE_global, "2 <- 1");
		build(&s.code, CODE_move, "1 <- 2");
		build_memory(&s.code, CODE_store, SPACE_global, "1 1");
		build_memory(&s.code, CODE_load, SPACE_global, "2 <- 1");
		build(&s.code, CODE_move, "1 <- 2");
		run_requests(&s, parts, first, 3, NULL, 0);
		took[i] = (double)(s.issues[4].cycle - s.issues[3].cycle);
	}
	CU_ASSERT_EQUAL(took[1], took[0]);
	CU_ASSERT_EQUAL(took[2], took[0] + 8);
}

/* Cycles until eight stores have left, each to half of each sector of eight lines: of the same ones, or of others each time. A fence waits for them. */
static double stores_leave(const char *keys, bool same)
{
	enum { STORES = 8, LINES = 8 };
	static struct scene s;
	struct memory_part parts[STORES * LINES];
	uint32_t first[STORES + 1];
	scene_start(&s, "h200", keys);
	for (uint32_t n = 0; n < STORES * LINES; n++)
		parts[n] = (struct memory_part){.address = (1 << 20) + 128 * (same ? n % LINES : n), .sectors = 15, .bytes = 64};
	for (uint32_t i = 0; i < STORES; i++)
		build_memory(&s.code, CODE_store, SPACE_global, " <- 1");
	build_memory(&s.code, CODE_fence, SPACE_none, "")->flags = CODE_OF_GPU;
	build(&s.code, CODE_move, "1 <-");
	for (uint32_t i = 0; i <= STORES; i++)
		first[i] = i * LINES;
	run_requests(&s, parts, first, STORES, NULL, 0);
	return (double)(s.issues[STORES + 1].cycle - s.issues[STORES].cycle) - s.gpu.l2_latency - s.gpu.fence_latency;
}

/* A line takes 5 cycles to leave, 64 of them 320, and the lookup of one 2: from the second store on, lines find theirs waiting. */
static void stores_leave_with_those_that_wait(void)
{
	double apart = stores_leave("icache_line_instructions=0,l1_store_merges=0", true);
	CU_ASSERT_TRUE(apart > 250 && apart < 330);
	CU_ASSERT_EQUAL(stores_leave("icache_line_instructions=0,l1_store_merges=1", false), apart);
	CU_ASSERT_TRUE(stores_leave("icache_line_instructions=0,l1_store_merges=1", true) < apart / 2);
}

static void without_requests_memory_is_perfect(void)
{
	static struct scene s;
	double cycles[2];
	for (int i = 0; i < 2; i++) {
		scene_start(&s, "gtx480", "icache_cold_cycles=1,const_miss_cycles=3");
		build_memory(&s.code, CODE_load, SPACE_global, "2 <- 1");
		build(&s.code, CODE_move, "1 <- 2");
		scene_exit(&s);
		s.options.hierarchy = i == 1;
		cycles[i] = scene_run(&s);
	}
	CU_ASSERT_EQUAL(cycles[0], cycles[1]);
}

void add_memory_of_warps_tests(void)
{
	CU_pSuite s = CU_add_suite("memory of warps", NULL, NULL);
	CU_ADD_TEST(s, latencies_are_those_of_the_description);
	CU_add_test(s, "filters wait for what is stored", filters_wait_for_what_is_stored);
	CU_ADD_TEST(s, atomics_take_their_latency);
	CU_ADD_TEST(s, half_of_dram_is_far);
	CU_ADD_TEST(s, refreshes_hold_up_some_lines);
	CU_ADD_TEST(s, groups_make_room_when_their_stores_have_left);
	CU_ADD_TEST(s, sectors_on_their_way_are_hits);
	CU_ADD_TEST(s, a_larger_l2_is_not_slower);
	CU_ADD_TEST(s, constants_wait_for_entries);
	CU_ADD_TEST(s, loads_wait_for_stores_before_them);
	CU_ADD_TEST(s, stores_leave_with_those_that_wait);
	CU_ADD_TEST(s, without_requests_memory_is_perfect);
}
