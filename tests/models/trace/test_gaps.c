/* Windows of loops: how addresses move from round to round. */
#include "tests/tests.h"

#include "models/trace/internal.h"
#include "tests/models/code_builder.h"

#include <string.h>

#define BUFFER (1ull << 40) /* of the first argument */

enum { ITERATIONS = 8 };

/* A path of ten loads, one per block, of which the second to the ninth are a window; offsets: where these go in a buffer of so many bytes.
 * Returns the shift of the window's loads. */
static struct round_shift shift_in_window(const uint64_t offsets[ITERATIONS], uint64_t buffer_bytes)
{
	struct code_block block = {.count = 1};
	struct code_instruction load = {.class = CODE_load, .space = SPACE_global, .bytes = 4};
	struct kernel_code code = {.blocks = &block, .block_count = 1, .code = &load, .code_count = 1};
	struct launch_trace trace = {.argument_bytes = &buffer_bytes, .argument_count = 1};
	const struct recorded_gap gap = {.from = 1, .at = 1 + ITERATIONS, .body = 0, .rounds = 3, .iterations = ITERATIONS};
	const uint64_t grid[3] = {1, 1, 1};
	const uint16_t one = 1;
	const uint32_t zero = 0;
	struct shift_finder *ranges = shift_finder_new(&code, 1, grid);
	struct recorded_path path = {0};
	struct round_shift shift;
	for (uint32_t b = 0; b < ITERATIONS + 2; b++) {
		uint64_t offset = b && b <= ITERATIONS ? offsets[b - 1] : 0;
		struct first_lane first = {.instruction = 0, .known = true, .address = BUFFER + offset};
		gs_buf_add(&path.blocks, &zero, sizeof zero);
		gs_buf_add(&path.before, &b, sizeof b);
		gs_buf_add(&path.accesses, &one, sizeof one);
		gs_buf_add(&path.firsts, &first, sizeof first);
	}
	CU_ASSERT_EQUAL(gaps_add(&path, &gap), 0);
	CU_ASSERT_EQUAL_FATAL(gaps_finish(&(struct gap_finish){.code = &code, .trace = &trace, .ranges = ranges}, &path), 0);
	CU_ASSERT_EQUAL_FATAL(path.shifts.len, ITERATIONS * sizeof shift);
	memcpy(&shift, path.shifts.data, sizeof shift);
	if (!shift.chance)
		gaps_place(&trace, &shift, 1, NULL, NULL);
	struct gs_buf *parts[] = {&path.blocks, &path.before, &path.accesses, &path.firsts, &path.gaps, &path.shifts, &path.weights};
	for (size_t i = 0; i < GS_ARRAY_LEN(parts); i++)
		gs_buf_free(parts[i]);
	shift_finder_free(ranges);
	return shift;
}

/* 64 bytes on at every iteration: a round of eight is 512. */
static void addresses_go_on_evenly(void)
{
	static const uint64_t offsets[] = {0, 64, 128, 192, 256, 320, 384, 448};
	struct round_shift s = shift_in_window(offsets, 1 << 20);
	CU_ASSERT_FALSE(s.chance);
	CU_ASSERT_EQUAL(s.step, 512);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 64, 3, ITERATIONS, 0, 128), BUFFER + 64 + 3 * 512);
}

/* Twelve iterations of 64 bytes, the first eight of which were recorded. Of the half of a round that is left, the second half of the window
 * is done. It goes on where the window ended, and does not begin again at the end of the buffer. */
static void a_part_of_a_round_goes_on_where_the_window_ended(void)
{
	static const uint64_t offsets[] = {0, 64, 128, 192, 256, 320, 384, 448};
	struct round_shift s = shift_in_window(offsets, 768);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 256, 0.5, ITERATIONS, 0, 64), BUFFER + 512);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 448, 0.5, ITERATIONS, 0, 64), BUFFER + 704);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER, 0.375, ITERATIONS, 0, 64), BUFFER + 192);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER, 1.25, ITERATIONS, 0, 64), BUFFER + 640);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 64, 0, ITERATIONS, 0, 64), BUFFER + 64);
}

/* Two iterations are in a sector, so the last part of a round is that of the nearest whole one. */
static void sectors_move_by_whole_rounds(void)
{
	static const uint64_t offsets[] = {0, 16, 32, 48, 64, 80, 96, 112};
	struct round_shift s = shift_in_window(offsets, 1 << 20);
	CU_ASSERT_EQUAL(s.step, 128);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 64, 2.375, ITERATIONS, 0, 128), BUFFER + 64 + 256);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 64, 2.625, ITERATIONS, 0, 128), BUFFER + 64 + 384);
}

/* A buffer of 1024 bytes ends after the sixth load. The next round begins at 640 + 512 - 1024 = 128, and its seventh load, the first of the
 * buffer before, is at 512. */
static void a_buffer_may_end_in_the_middle_of_a_window(void)
{
	static const uint64_t offsets[] = {640, 704, 768, 832, 896, 960, 0, 64};
	struct round_shift s = shift_in_window(offsets, 1024);
	CU_ASSERT_FALSE(s.chance);
	CU_ASSERT_EQUAL(s.step, 512);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 640, 1, ITERATIONS, 0, 128), BUFFER + 128);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER, 1, ITERATIONS, 0, 128), BUFFER + 512);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 640, 2, ITERATIONS, 0, 128), BUFFER + 640);
}

/* A buffer of 192 bytes has three of the loads: of seven steps, two go back to its begin. A round is 512 bytes, which is 128 modulo 192. */
static void a_short_buffer_ends_again_and_again(void)
{
	static const uint64_t offsets[] = {0, 64, 128, 0, 64, 128, 0, 64};
	struct round_shift s = shift_in_window(offsets, 192);
	CU_ASSERT_FALSE(s.chance);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER, 1, ITERATIONS, 0, 64), BUFFER + 128);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 128, 1, ITERATIONS, 0, 64), BUFFER + 64);
}

/* Backwards: 0 is followed by the last 64 bytes of the buffer. */
static void a_loop_may_go_backwards(void)
{
	static const uint64_t offsets[] = {192, 128, 64, 0, 960, 896, 832, 768};
	struct round_shift s = shift_in_window(offsets, 1024);
	CU_ASSERT_FALSE(s.chance);
	CU_ASSERT_EQUAL(s.step, -512);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 192, 1, ITERATIONS, 0, 128), BUFFER + 704);
	CU_ASSERT_EQUAL(round_address(&s, BUFFER + 768, 1, ITERATIONS, 0, 128), BUFFER + 256);
}

static void other_addresses_go_by_chance(void)
{
	static const uint64_t offsets[] = {0, 640, 64, 320, 960, 128, 704, 512};
	CU_ASSERT_TRUE(shift_in_window(offsets, 1024).chance);
}

/* 32 iterations of HEAD and ARM, of one and three instructions. From iteration `parts` on, half of the lanes execute an ARM of their own. Returns the
 * window of the loop, of which 10 rounds follow. */
static struct path_gap window_of_parting_lanes(uint32_t parts)
{
	enum { HEAD, ARM, COUNT = 32 };
	struct code_block blocks[] = {[HEAD].count = 1, [ARM].count = 3};
	struct kernel_code code = {.blocks = blocks, .block_count = 2};
	struct recorded_path path = {0};
	struct path_gap out;
	uint32_t at = 0;
	for (uint32_t i = 0; i < COUNT; i++)
		for (uint32_t b = HEAD, arms = i < parts ? 1 : 2; b <= arms; b++, at++) {
			uint32_t block = b ? ARM : HEAD, none = 0;
			uint8_t lanes = (uint8_t)(b ? 32 / arms - 1 : 31);
			gs_buf_add(&path.blocks, &block, sizeof block);
			gs_buf_add(&path.before, &none, sizeof none);
			gs_buf_add(&path.lanes, &lanes, sizeof lanes);
		}
	CU_ASSERT_EQUAL(gaps_add(&path, &(struct recorded_gap){.from = 0, .at = at, .rounds = 10, .iterations = COUNT}), 0);
	CU_ASSERT_EQUAL_FATAL(gaps_finish(&(struct gap_finish){.code = &code}, &path), 0);
	CU_ASSERT_EQUAL_FATAL(path.gaps.len, sizeof out);
	memcpy(&out, path.gaps.data, sizeof out);
	CU_ASSERT_EQUAL(out.at, at);
	struct gs_buf *kept[] = {&path.blocks, &path.before, &path.lanes, &path.gaps, &path.weights};
	for (size_t i = 0; i < GS_ARRAY_LEN(kept); i++)
		gs_buf_free(kept[i]);
	return out;
}

/* What was left out is like the later half, 16 iterations of 7 instructions, twice as often. The halves of that are the same. If lanes part in the last quarter only,
 * the half of the half is taken, from block 2 * 24 on. */
static void the_end_of_a_window_stands_for_lanes_that_part(void)
{
	struct path_gap half = window_of_parting_lanes(16), quarter = window_of_parting_lanes(24);
	CU_ASSERT_EQUAL(half.from, 2 * 16);
	CU_ASSERT_DOUBLE_EQUAL(half.iterations, 16, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(half.rounds, 20, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(half.work, 16 * 7, 1e-9);
	CU_ASSERT_EQUAL(quarter.from, 2 * 24);
	CU_ASSERT_DOUBLE_EQUAL(quarter.rounds, 40, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(quarter.work, 8 * 7, 1e-9);
}

static void a_window_whose_lanes_stay_together_stays(void)
{
	struct path_gap together = window_of_parting_lanes(32), parted = window_of_parting_lanes(0);
	CU_ASSERT_EQUAL(together.from, 0);
	CU_ASSERT_DOUBLE_EQUAL(together.rounds, 10, 1e-9);
	CU_ASSERT_EQUAL(parted.from, 0);
	CU_ASSERT_DOUBLE_EQUAL(parted.iterations, 32, 1e-9);
}

enum { HEAD, ARM, TAIL };

/* A loop: HEAD leads to ARM, which has a load, or at once to TAIL. */
static struct kernel_code code_with_arm(void)
{
	static struct code_block blocks[] = {[HEAD] = {.first = 0, .count = 1, .first_edge = 0, .edge_count = 2, .join = TAIL, .loop = 0},
	                                     [ARM] = {.first = 1, .count = 1, .first_edge = 2, .edge_count = 1, .join = TAIL, .loop = 0},
	                                     [TAIL] = {.first = 2, .count = 1, .first_edge = 3, .edge_count = 2, .join = -1, .loop = 0}};
	static struct code_edge edges[] = {{.from = HEAD, .to = ARM}, {.from = HEAD, .to = TAIL}, {.from = ARM, .to = TAIL}, {.from = TAIL, .to = HEAD},
	                                   {.from = TAIL, .to = -1}};
	static struct code_instruction code[] = {{.class = CODE_branch}, {.class = CODE_load, .space = SPACE_global, .bytes = 4}, {.class = CODE_branch}};
	return (struct kernel_code){.blocks = blocks, .block_count = 3, .edges = edges, .edge_count = 5, .code = code, .code_count = 3};
}

static void add_step(struct recorded_path *p, uint32_t block, uint8_t lanes)
{
	const uint32_t before = (uint32_t)(p->accesses.len / sizeof(uint16_t));
	const uint16_t one = 1;
	const struct first_lane first = {.instruction = 1, .known = true, .address = BUFFER + before * 128};
	const struct memory_part part = {.address = first.address, .sectors = 1, .bytes = 4};
	gs_buf_add(&p->blocks, &block, sizeof block);
	gs_buf_add(&p->lanes, &lanes, sizeof lanes);
	gs_buf_add(&p->before, &before, sizeof before);
	if (block != ARM)
		return;
	gs_buf_add(&p->first, &before, sizeof before);
	gs_buf_add(&p->accesses, &one, sizeof one);
	gs_buf_add(&p->firsts, &first, sizeof first);
	gs_buf_add(&p->parts, &part, sizeof part);
}

/* Four iterations, of which 32, 4, 1 and 2 lanes take the arm. */
static void record_arms(struct recorded_path *p)
{
	static const uint8_t lanes[4] = {32, 4, 1, 2};
	const uint32_t end = 4;
	for (uint32_t i = 0; i < 4; i++) {
		add_step(p, HEAD, (uint8_t)(31 | (lanes[i] < 32 ? DIVERGES : 0)));
		add_step(p, ARM, (uint8_t)(lanes[i] - 1));
		add_step(p, TAIL, 31);
	}
	gs_buf_add(&p->first, &end, sizeof end);
}

static void free_path(struct recorded_path *p)
{
	struct gs_buf *parts[] = {&p->blocks, &p->accesses, &p->first, &p->parts, &p->lanes, &p->before, &p->firsts, &p->gaps, &p->shifts, &p->weights};
	for (size_t i = 0; i < GS_ARRAY_LEN(parts); i++)
		gs_buf_free(parts[i]);
}

/*
 * Three rounds of that window are left out, which take the arm a tenth as often: 3.9 lanes in each. That is the arm of one lane and that of two; 0.9
 * lanes are carried on. So a copy of the window follows, without the first two arms, which is done three times. Its loads are 128 bytes apart, two in a
 * round: they go on 256 bytes further.
 */
static void rounds_take_arms_as_rarely_as_counters_say(void)
{
	static const uint32_t expected[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 0, 2, 0, 1, 2, 0, 1, 2};
	const struct kernel_code code = code_with_arm();
	const uint64_t buffer_bytes = 1 << 20, grid[3] = {1, 1, 1};
	const struct launch_trace trace = {.argument_bytes = (uint64_t *)&buffer_bytes, .argument_count = 1};
	double keep[] = {1, 0.1, 1}, carry[3] = {0}, once[3] = {0}, more[3] = {0};
	const struct arm_shares shares = {keep, carry};
	struct shift_finder *ranges = shift_finder_new(&code, 1, grid);
	struct recorded_path path = {0};
	record_arms(&path);
	CU_ASSERT_EQUAL(gaps_add(&path, &(struct recorded_gap){.from = 0, .at = 12, .rounds = 3, .iterations = 4}), 0);
	CU_ASSERT_EQUAL_FATAL(gaps_finish(&(struct gap_finish){&code, &trace, ranges, &shares}, &path), 0);
	CU_ASSERT_EQUAL_FATAL(path.blocks.len, sizeof expected);
	CU_ASSERT_EQUAL(memcmp(path.blocks.data, expected, sizeof expected), 0);
	CU_ASSERT_EQUAL_FATAL(path.gaps.len, sizeof(struct path_gap));
	const struct path_gap *gap = (const struct path_gap *)(void *)path.gaps.data;
	CU_ASSERT(gap->from == 12 && gap->at == 22 && gap->first_access == 4 && gap->access_count == 2);
	CU_ASSERT_DOUBLE_EQUAL(gap->rounds, 2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(carry[ARM], 0.9, 1e-9);
	for (size_t i = 0; i < 22; i++)
		CU_ASSERT_DOUBLE_EQUAL(((double *)(void *)path.weights.data)[i], i < 12 ? 1 : 3, 1e-9);
	/* lanes part before the two arms that are left */
	CU_ASSERT(path.lanes.data[14] == 31 && (uint8_t)path.lanes.data[16] == (31 | DIVERGES));
	const struct memory_part *parts = (const struct memory_part *)(void *)path.parts.data;
	CU_ASSERT_EQUAL_FATAL(path.parts.len, 6 * sizeof *parts);
	CU_ASSERT(parts[2].address == BUFFER + 256 && parts[4].address == BUFFER + 512 && parts[5].address == BUFFER + 640);
	/* 39 lanes in the window and 3 in each round; all 32 at the head, 4 times 4 */
	arms_note(&path, once, more);
	CU_ASSERT_DOUBLE_EQUAL(once[ARM] + more[ARM], 39 + 3 * 3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(once[HEAD] + more[HEAD], 32 * 4 * 4, 1e-9);
	free_path(&path);
	shift_finder_free(ranges);
}

/* The window and 3 rounds as it is: 39 lanes take the arm, and 117 more. Counters say 50.7: a tenth of the latter. If rounds are half as many, no arm
 * is rarer than in the window. */
static void arms_are_rare_among_iterations(void)
{
	const struct kernel_code code = code_with_arm();
	static const double once[] = {128, 39, 128}, more[] = {384, 117, 384}, rare[] = {512, 50.7, 512}, fewer[] = {320, 97.5, 320};
	double keep[3];
	CU_ASSERT_TRUE(arms_share(&code, rare, once, more, keep));
	CU_ASSERT(keep[HEAD] >= 1 && keep[TAIL] >= 1);
	CU_ASSERT_DOUBLE_EQUAL(keep[ARM], 0.1, 1e-9);
	CU_ASSERT_FALSE(arms_share(&code, fewer, once, more, keep));
	CU_ASSERT(keep[ARM] >= 1);
}

/*
 * A loop (block 1, of 2 instructions) with one inside (block 2, of 5), in a window of two iterations that is done `rounds` times more: of
 * inner iterations it has two and four, 34 instructions in all.
 */
struct nested_path {
	struct code_block codes[3];
	uint32_t blocks[10];
	double weights[10];
	struct path_gap gap;
	struct kernel_code code;
	struct warp_path path;
};

static void nested_path_make(struct nested_path *n, double rounds)
{
	*n = (struct nested_path){
		.codes = {{.count = 1}, {.count = 2}, {.count = 5}},
		.blocks = {0, 1, 2, 2, 1, 2, 2, 2, 2, 0},
		.gap = {.from = 1, .at = 9, .rounds = rounds, .iterations = 2},
	};
	n->code = (struct kernel_code){.blocks = n->codes, .block_count = 3};
	n->gap.outer = -1;
	path_weigh(&n->code, n->blocks, 10, &n->gap, 1, n->weights);
	n->path = (struct warp_path){.blocks = n->blocks, .block_count = 10, .gaps = &n->gap, .gap_count = 1, .weights = n->weights};
	n->path.active_lanes = (uint64_t)(32 * path_instructions(&n->code, &n->path));
}

/* 1 + 34 + 3 * 34 + 1 = 138 are in the path. Counters say 308: 8 rounds make 1 + 34 + 8 * 34 + 1. Two warps of one path count twice. */
static void rounds_follow_loops_that_grow(void)
{
	struct nested_path n;
	nested_path_make(&n, 3);
	CU_ASSERT_DOUBLE_EQUAL(path_instructions(&n.code, &n.path), 138, 1e-9);
	struct warp_path *warps[] = {&n.path, &n.path};
	CU_ASSERT_DOUBLE_EQUAL(gaps_fit(&n.code, warps, 2, 2 * 308), 308. / 138, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(n.gap.rounds, 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(path_instructions(&n.code, &n.path), 308, 1e-9);
}

/* Where lanes part, counters do not know how often a warp goes round. */
static void rounds_stay_where_lanes_part(void)
{
	struct nested_path n;
	nested_path_make(&n, 3);
	n.path.active_lanes /= 2;
	struct warp_path *warps[] = {&n.path};
	CU_ASSERT_DOUBLE_EQUAL(gaps_fit(&n.code, warps, 1, 308), 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(n.gap.rounds, 3, 1e-9);
}

/* Without a loop inside, nothing in the window can grow. */
static void rounds_without_loops_stay(void)
{
	struct nested_path n;
	nested_path_make(&n, 3);
	n.gap.from = 2, n.gap.at = 4;
	path_weigh(&n.code, n.blocks, 10, &n.gap, 1, n.weights);
	struct warp_path *warps[] = {&n.path};
	CU_ASSERT_DOUBLE_EQUAL(gaps_fit(&n.code, warps, 1, 308), 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(n.gap.rounds, 3, 1e-9);
}

void add_gaps_tests(void)
{
	CU_pSuite suite = CU_add_suite("gaps", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(addresses_go_on_evenly);
	TEST(a_part_of_a_round_goes_on_where_the_window_ended);
	TEST(sectors_move_by_whole_rounds);
	TEST(a_buffer_may_end_in_the_middle_of_a_window);
	TEST(a_short_buffer_ends_again_and_again);
	TEST(a_loop_may_go_backwards);
	TEST(other_addresses_go_by_chance);
	TEST(the_end_of_a_window_stands_for_lanes_that_part);
	TEST(a_window_whose_lanes_stay_together_stays);
	TEST(rounds_take_arms_as_rarely_as_counters_say);
	TEST(arms_are_rare_among_iterations);
	TEST(rounds_follow_loops_that_grow);
	TEST(rounds_stay_where_lanes_part);
	TEST(rounds_without_loops_stay);
#undef TEST
}
