/* Constants by an index that lanes share: which lines a scheduler keeps, and how long its warps wait for others, by hand. */
#include "tests/tests.h"

#include "models/sm/state/memory_state.h"
#include "tests/models/scene.h"

enum { LATENCY = 71, EACH = 36, MOST_WARPS = 8, MOST_LOADS = 16, LINE = 64 };

/* Every load of a warp is of one line; `lines` has them, warp by warp. const_miss_cycles is const_latency: the SM's other constants have all of them. */
static void run_warps(struct scene *s, const char *kept, uint32_t warps, uint32_t loads, const uint32_t *lines)
{
	static struct path_requests requests[MOST_WARPS];
	static struct warp_path paths[MOST_WARPS];
	static struct memory_part parts[MOST_WARPS][MOST_LOADS];
	uint32_t zero = 0, first[MOST_LOADS + 1], path_of[MOST_WARPS];
	uint16_t accesses[MOST_LOADS];
	char overrides[160];
	snprintf(overrides, sizeof overrides,
	         "icache_line_instructions=0,const_latency=30,const_miss_cycles=30,const_uniform_bytes=%s,const_uniform_cycles=%d,const_uniform_latency=%d",
	         kept, EACH, LATENCY);
	scene_start(s, "h200", overrides);
	for (uint32_t i = 0; i < loads; i++)
		build_memory(&s->code, CODE_uniform, SPACE_const, "");
	scene_exit(s);
	for (uint32_t i = 0; i <= loads; i++)
		first[i] = i;
	for (uint32_t i = 0; i < loads; i++)
		accesses[i] = 1;
	for (uint32_t w = 0; w < warps; w++) {
		for (uint32_t i = 0; i < loads; i++)
			parts[w][i] = (struct memory_part){.address = LINE * lines[w * loads + i], .sectors = 1, .bytes = 4};
		requests[w] = (struct path_requests){first, parts[w]};
		paths[w] = (struct warp_path){.blocks = &zero, .block_count = 1, .accesses = accesses, .access_count = loads, .requests = &requests[w]};
		path_of[w] = w;
	}
	struct launch_warps launch = {.code = &s->code.code, .paths = paths, .path_count = warps, .groups = 1, .warps_per_group = warps,
	                              .path_of = path_of, .pattern_groups = 1};
	s->options.hierarchy = true;
	s->issue_count = 0;
	CU_ASSERT_EQUAL_FATAL(model_occupancy_vector(&s->gpu, &launch, 1, &s->options, &s->timing, NULL), 0);
}

/* When the warp issues its first load. */
static uint64_t cycle_of(const struct scene *s, uint32_t slot)
{
	for (uint32_t i = 0; i < s->issue_count; i++)
		if (s->issues[i].slot == slot)
			return s->issues[i].cycle;
	return 0;
}

/* Four lines are kept. The fifth takes the place of line 1, which was used longest ago; then line 1 that of line 2. */
static void the_line_unused_longest_makes_room(void)
{
	static struct scene s;
	static const uint32_t lines[] = {0, 1, 2, 3, 0, 4, 1, 0, 3};
	static const bool waits[] = {true, true, true, true, false, true, true, false, false};
	run_warps(&s, "256", 1, 9, lines);
	for (uint32_t i = 1; i < 9; i++)
		CU_ASSERT_EQUAL(s.issues[i].cycle - s.issues[i - 1].cycle, 1 + (waits[i] ? LATENCY : 0));
}

/* Without a cache of their own they are where other constants are, at once. */
static void without_the_key_nobody_waits(void)
{
	static struct scene s;
	static const uint32_t lines[] = {0, 1, 2, 3, 4, 5};
	run_warps(&s, "0", 1, 6, lines);
	for (uint32_t i = 1; i < 6; i++)
		CU_ASSERT_EQUAL(s.issues[i].cycle - s.issues[i - 1].cycle, 1);
}

/* Warps 0 to 3 have a scheduler each. The SM brings their lines one after the other. */
static void the_sm_brings_one_at_a_time(void)
{
	static struct scene s;
	static const uint32_t lines[] = {0, 1, 2, 3};
	run_warps(&s, "256", 4, 1, lines);
	for (uint32_t i = 1; i < 4; i++) /* the second scheduler has the first turn here */
		CU_ASSERT_EQUAL(cycle_of(&s, (1 + i) % 4) - cycle_of(&s, 1), i * EACH);
}

/*
 * Two warps of one scheduler. With two places the second one's line comes a turn of the SM later. With one it is asked for when the first line need not be
 * kept any more. Warps that go to the same line share it, and issue one after the other, as the scheduler likes.
 */
static void warps_wait_for_places(void)
{
	static struct scene s;
	static const uint32_t lines[] = {0, 1}, same[] = {5, 5};
	run_warps(&s, "128,schedulers_per_sm=1", 2, 1, lines);
	CU_ASSERT_EQUAL(cycle_of(&s, 1) - cycle_of(&s, 0), EACH);
	run_warps(&s, "64,schedulers_per_sm=1", 2, 1, lines);
	CU_ASSERT_EQUAL(cycle_of(&s, 1) - cycle_of(&s, 0), CONSTANT_KEPT_CYCLES + LATENCY);
	run_warps(&s, "64,schedulers_per_sm=1", 2, 1, same);
	CU_ASSERT(cycle_of(&s, 1) - cycle_of(&s, 0) <= 2);
}

/* Three warps, one place: who waited first is first, whichever the scheduler prefers. Warp 1 loses its line to warp 2 before its second load. */
static void places_go_round(void)
{
	static struct scene s;
	static const uint32_t lines[] = {0, 3, 1, 4, 2, 5};
	run_warps(&s, "64,schedulers_per_sm=1", 3, 2, lines);
	static const uint32_t slots[] = {0, 1, 2, 0, 1, 2};
	for (uint32_t i = 0, n = 0; i < s.issue_count && n < 6; i++)
		if (s.issues[i].instruction < 2)
			CU_ASSERT_EQUAL(s.issues[i].slot, slots[n++]);
}

void add_constants_tests(void)
{
	CU_pSuite suite = CU_add_suite("constants", NULL, NULL);
	CU_add_test(suite, "the line that was unused longest makes room", the_line_unused_longest_makes_room);
	CU_add_test(suite, "without the key nobody waits", without_the_key_nobody_waits);
	CU_add_test(suite, "the SM brings one line at a time", the_sm_brings_one_at_a_time);
	CU_add_test(suite, "warps wait for places", warps_wait_for_places);
	CU_add_test(suite, "places go round", places_go_round);
}
