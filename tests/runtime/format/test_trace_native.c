/* The functions that traced kernels call in the guest's process. The bytes of single work-items were computed by hand. */
#include "models/trace/read.h"
#include "runtime/format/lifted.h"
#include "runtime/format/native.h"
#include "runtime/format/traces.h"
#include "tests/tests.h"

#include <string.h>

struct native_trace;

#define NATIVE(type, name, ...) type name(__VA_ARGS__) __asm__(NATIVE_PREFIX #name)
NATIVE(struct native_trace *, begin, uint64_t *buffer, uint64_t chunks, uint64_t of, uint64_t part, uint64_t group, uint32_t block,
       uint32_t site, uint64_t x, uint64_t y, uint64_t z, uint64_t size_x, uint64_t size_y, uint64_t lx, uint64_t ly, uint64_t lz,
       uint64_t local_x, uint64_t local_y, uint64_t local_z, uint64_t whole, uint32_t blocks, uint32_t sites, uint32_t loops);
NATIVE(void, loop, uint32_t loop, uint32_t size, uint32_t needs_last, struct native_trace *t);
NATIVE(void, body, uint32_t loop, uint32_t block, struct native_trace *t);
NATIVE(void, loop_end, uint32_t loop, uint32_t block, struct native_trace *t);
NATIVE(void, end, struct native_trace *t);
NATIVE(void, b, uint32_t block, struct native_trace *t);
NATIVE(void, base_f, uint32_t base, uint32_t kind, uint64_t what, uint64_t address, struct native_trace *t);
NATIVE(void *, a_g, int first, int second, uint32_t base, uint64_t bytes, void *p, struct native_trace *t);
NATIVE(void *, v_g, uint32_t site, uint32_t base, uint64_t bytes, uint64_t apart, uint64_t offset, void *p, struct native_trace *t);
NATIVE(void *, k_g, int which, void *p, struct native_trace *t);
NATIVE(void *, k_l, int which, void *p, struct native_trace *t);
NATIVE(uint64_t, copy, int to, int to_class, int from, int from_class, uint64_t bytes, uint64_t count, struct native_trace *t);

/* Of lifted kernels: the launch is the words of struct traced_launch (trace_warp.c). */
struct traced_threads;
NATIVE(struct traced_threads *, warps_begin, const uint64_t *launch);
NATIVE(void, warps_end, struct traced_threads *t);
NATIVE(uint64_t, warp_texel, const struct traced_threads *t, uint64_t object, uint64_t address);
NATIVE(void, warp_block, struct traced_threads *t, uint32_t warp, uint32_t row, uint32_t mask);
NATIVE(void, warp_loop, struct traced_threads *t, uint32_t warp, uint32_t loop, uint32_t size, uint32_t needs_last, uint32_t mask);
NATIVE(void, warp_body, struct traced_threads *t, uint32_t warp, uint32_t loop, uint32_t row, uint32_t mask);
NATIVE(void, warp_loop_end, struct traced_threads *t, uint32_t warp, uint32_t loop, uint32_t row, uint32_t mask);

enum { BLOCKS = 4, SITES = 6, LOOPS = 2, CHUNKS = 4, CHUNK_WORDS = TRACE_CHUNK_BYTES / 8, TOLD = 2 * BLOCKS };

static uint64_t words[TRACE_HEADER_WORDS + CHUNKS * CHUNK_WORDS];

/* Work-item `lane` of group 1. A group has two work-items. The kernel's first block is 1. */
static struct native_trace *work_item(uint64_t chunks, uint64_t lane)
{
	return begin(words, chunks, 0, 0, 1, 1, 0, 2, 0, 0, 8, 1, lane, 0, 0, 2, 1, 1, 0, BLOCKS, SITES, LOOPS);
}

static void *at(uint64_t address)
{
	return (void *)address; /* never dereferenced */
}

static void check_chunk(size_t index, uint64_t lane, uint64_t number, bool cut, const uint8_t *bytes, size_t count)
{
	const uint64_t *chunk = words + TRACE_HEADER_WORDS + index * CHUNK_WORDS;
	CU_ASSERT_EQUAL(chunk[0], 1);
	CU_ASSERT_EQUAL(chunk[1], lane | number << 32);
	CU_ASSERT_EQUAL(chunk[2], count | (uint64_t)cut << 32);
	CU_ASSERT_EQUAL(memcmp(chunk + TRACE_CHUNK_HEADER_WORDS, bytes, count), 0);
}

#define CHUNK(index, lane, number, cut, ...) \
	check_chunk(index, lane, number, cut, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* The same bytes as in tests/models/trace/test_trace_read.c: an access at the base, one 16 further, one more after the same
 * stride. */
static void blocks_and_strides(void)
{
	memset(words, 0, sizeof words);
	struct native_trace *t = work_item(CHUNKS, 0);
	base_f(0, TRACE_BASE_ARGUMENT, 0, 0x1000, t);
	b(1, t);
	CU_ASSERT_PTR_EQUAL(a_g(0, -1, 0, 4, at(0x1008), t), at(0x1008));
	a_g(0, -1, 0, 4, at(0x1018), t);
	a_g(0, -1, 0, 4, at(0x1028), t);
	b(0, t);
	end(t);
	CHUNK(0, 0, 0, false, TOLD, 0, 1, 0, 2, 0, 0, 2, 1, 1, 8, 1, TOLD, 1, 0, TRACE_BASE_ARGUMENT, 0, 0x80, 0x20, 0, 3, 0, 3, 32, 1, 6);
	t = work_item(CHUNKS, 1); /* not the first of its group, so it writes no bases; it is the launch's fourth */
	base_f(0, TRACE_BASE_ARGUMENT, 0, 0x1000, t);
	CU_ASSERT_PTR_EQUAL(v_g(0, 0, 4, 4, 3, at(0x1000), t), at(0x100c));
	end(t);
	CHUNK(1, 1, 0, false, 3, 0);
}

/* The count of a copy describes both of its operands: from site 2, to site 1 in local memory. No base is known: 7. */
static void copies(void)
{
	memset(words, 0, sizeof words);
	struct native_trace *t = work_item(CHUNKS, 1);
	k_l(0, at(2), t);
	k_g(1, at(1), t);
	CU_ASSERT_EQUAL(copy(1, 1, 2, 0, 4, 10, t), 10);
	end(t);
	CHUNK(0, 1, 0, false, 2 << 2 | 3, 1 << 4 | 7, 40, 1 << 2 | 3, 2 << 4 | 7, 40);
}

/* A loop of n iterations whose body is block 2: 1 after the kernel's first, so its event is 2. Each stores at site 0. */
static void go_round(struct native_trace *t, uint32_t number, uint32_t size, bool needs_last, int n)
{
	loop(number, size, needs_last, t);
	for (int i = 0; i < n; i++) {
		body(number, 2, t);
		a_g(0, -1, 7, 4, at(0), t);
	}
	loop_end(number, 2, t);
}

/* Of 18 iterations, 0 to 3 are recorded and 16 to 17: gaps of 12 after 4, and, after 2, of none. 1 is an access that was predicted. */
static void loops_have_windows(void)
{
	memset(words, 0, sizeof words);
	struct native_trace *t = work_item(CHUNKS, 1);
	go_round(t, 1, 4, false, 18);
	b(1, t);
	go_round(t, 2, 4, false, 4);
	b(1, t);
	go_round(t, 1, 4, false, 5);
	b(1, t);
	end(t);
	CHUNK(0, 1, 0, false, 2, 3, 7, 2, 1, 2, 1, 2, 1, TOLD, 2, 1, 4, 12, 2, 1, 2, 1, 0, 2, 1, 2, 1, 2, 1, 2, 1, 0, 2, 1, 2, 1, 2, 1, 2, 1,
	      TOLD, 2, 1, 4, 1, 0);
}

/* Windows are 4 times as long: of 70 iterations, 0 to 15 are recorded. The next begins at 4 times that, and is half of a usual one: 64 and 65. */
static void only_first_windows_are_longer(void)
{
	memset(words, 0, sizeof words);
	struct native_trace *t = begin(words, CHUNKS, 0, 0, 1, 1, 0, 2, 0, 0, 8, 1, 1, 0, 0, 2, 1, 1, 4, BLOCKS, SITES, LOOPS);
	go_round(t, 1, 4, false, 70);
	b(1, t);
	end(t);
	CHUNK(0, 1, 0, false, 2, 3, 7, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1,
	      TOLD, 2, 1, 16, 48, 2, 1, 2, 1, TOLD, 2, 1, 2, 4, 0);
}

/* Of 7 iterations, 4 are recorded, 2 are not, and the last is, without its access. A loop in an iteration that may be the last has
 * only one window, here of 4 in 6. */
static void last_iterations_are_kept(void)
{
	memset(words, 0, sizeof words);
	struct native_trace *t = work_item(CHUNKS, 1);
	loop(1, 4, 1, t);
	for (int i = 0; i < 7; i++) {
		body(1, 2, t);
		if (i > 4) {
			loop(2, 32, 0, t);
			for (int j = 0; j < 6; j++)
				body(2, 3, t);
			loop_end(2, 3, t);
		}
	}
	b(0, t);
	loop_end(1, 2, t);
	a_g(0, -1, 7, 4, at(0), t);
	end(t);
	CHUNK(0, 1, 0, false, 2, 2, 2, 2, TOLD, 2, 1, 4, 0x82, 0x80, 0x80, 0x80, 0x80, 0, 2, 4, 4, 4, 4, TOLD, 2, 2, 4, 2, 6, 3, 7);
}

/* A last iteration that is too long is left out as well. */
static void long_last_iterations_are_left_out(void)
{
	memset(words, 0, sizeof words);
	struct native_trace *t = work_item(CHUNKS, 1);
	loop(1, 4, 1, t);
	for (int i = 0; i < 6; i++)
		body(1, 2, t);
	for (int i = 0; i < 1000; i++)
		b(3, t);
	loop_end(1, 2, t);
	b(0, t);
	end(t);
	CHUNK(0, 1, 0, false, 2, 2, 2, 2, TOLD, 2, 1, 4, 0x82, 0x80, 0x80, 0x80, 0x80, 0, 6);
}

/* Without chunks nothing is traced, and no function fails. Events that do not fit are cut off, and the last chunk says so. */
static void no_room(void)
{
	enum { MANY = 1000, ROOM = TRACE_CHUNK_BYTES - TRACE_CHUNK_HEADER_WORDS * 8 - TRACE_EVENT_BYTES + 1 };
	memset(words, 0, sizeof words);
	struct native_trace *t = work_item(0, 1);
	CU_ASSERT_PTR_EQUAL(a_g(0, 1, 0, 4, at(8), t), at(8));
	CU_ASSERT_EQUAL(copy(1, 1, 2, 0, 4, 10, t), 10);
	b(1, t);
	base_f(0, 0, 0, 0, t);
	go_round(t, 1, 4, true, 10);
	end(t);
	CU_ASSERT_EQUAL(words[0], 0);
	t = work_item(1, 1);
	for (int i = 0; i < MANY; i++)
		b(1, t);
	end(t);
	CU_ASSERT_EQUAL(words[TRACE_HEADER_WORDS + 2], ROOM | UINT64_C(1) << 32);
	CU_ASSERT_EQUAL(words[TRACE_HEADER_WORDS + CHUNK_WORDS], 0);
}

static void fill(struct native_trace *t, int events)
{
	for (int i = 0; i < events; i++)
		b(3, t);
}

/* Two chunks for each of two work-items: the first may take three, but for the one that is the other's. What other groups took does not matter. */
static void groups_have_shares(void)
{
	memset(words, 0, sizeof words);
	words[TRACE_SHARE_WORD] = UINT64_C(1) << 32 | 2 * TRACE_SHARE_ONE;
	struct native_trace *t = work_item(CHUNKS, 1), *other = begin(words, CHUNKS, 0, 0, 2, 1, 0, 4, 0, 0, 8, 1, 0, 0, 0, 2, 1, 1, 0, BLOCKS, SITES, LOOPS);
	CU_ASSERT_EQUAL(words[0], 1); /* the other is the first of its group, and has said so */
	fill(t, 4000);
	CU_ASSERT_EQUAL(words[0], 4);
	CU_ASSERT_EQUAL(words[TRACE_HEADER_WORDS + 3 * CHUNK_WORDS + 1], 1 | UINT64_C(2) << 32);
	CU_ASSERT_EQUAL(words[TRACE_HEADER_WORDS + 3 * CHUNK_WORDS + 2] >> 32, 1);
	end(t);
	end(other);
	/* The next launch has the whole share again. */
	memset(words, 0, sizeof words);
	words[TRACE_SHARE_WORD] = UINT64_C(2) << 32 | 2 * TRACE_SHARE_ONE;
	t = work_item(CHUNKS, 1);
	fill(t, 4000);
	CU_ASSERT_EQUAL(words[0], 3);
	end(t);
}

static uint64_t number_at(const uint8_t **at)
{
	uint64_t value = 0;
	for (int shift = 0;; shift += 7) {
		value |= (uint64_t)(**at & 127) << shift;
		if (*(*at)++ < 128)
			return value;
	}
}

/*
 * An iteration takes 200 bytes, and windows have 3/4 of 16 chunks, 5856 bytes. The last 31 of a chunk stay empty. Windows are of 64, then of 32 iterations. They end
 * where as much again would be more than half of what was left: 8 (3200 of 5856), 8 (3200 of 4160), 4 (1600 of 2430), 4 (1600 of 1600), and the
 * last, for which even that is too much, after 2 (800 of 740). Then there is less than a 16th left, and the window at 65536 is passed.
 */
static void windows_end_where_room_does(void)
{
	enum { ROOM = 16, ITERATIONS = 70000 };
	static uint64_t large[TRACE_HEADER_WORDS + ROOM * CHUNK_WORDS];
	static const uint64_t gaps[][2] = {{8, 256 - 8}, {8, 1024 - 264}, {4, 4096 - 1028}, {4, 16384 - 4100}, {2, ITERATIONS - 16386}};
	memset(large, 0, sizeof large);
	large[TRACE_SHARE_WORD] = UINT64_C(3) << 32 | 8 * TRACE_SHARE_ONE;
	struct native_trace *t = begin(large, ROOM, 0, 0, 1, 1, 0, 2, 0, 0, 8, 1, 1, 0, 0, 2, 1, 1, 0, BLOCKS, SITES, LOOPS);
	loop(1, 64, 0, t);
	for (int i = 0; i < ITERATIONS; i++) {
		body(1, 2, t);
		fill(t, 199);
	}
	loop_end(1, 2, t);
	end(t);
	size_t found = 0;
	for (size_t c = 0; c < (uint32_t)large[0] && c < ROOM; c++) {
		const uint64_t *chunk = large + TRACE_HEADER_WORDS + c * CHUNK_WORDS;
		const uint8_t *at = (const uint8_t *)(chunk + TRACE_CHUNK_HEADER_WORDS), *last = at + (uint32_t)chunk[2];
		CU_ASSERT_EQUAL(chunk[2] >> 32, 0);
		while (at < last) {
			if (number_at(&at) != TOLD)
				continue;
			CU_ASSERT_EQUAL(number_at(&at), 2);
			CU_ASSERT_EQUAL(number_at(&at), 1);
			CU_ASSERT_FATAL(found < 5);
			CU_ASSERT_EQUAL(number_at(&at), gaps[found][0]);
			CU_ASSERT_EQUAL(number_at(&at), gaps[found][1]);
			found++;
		}
	}
	CU_ASSERT_EQUAL(found, 5);
}

/* The gaps of one lane, each as iterations before it and left out, from its chunks in order. */
static size_t gaps_of_lane(const uint64_t *buffer, uint64_t room, uint64_t lane, uint64_t gaps[][2], size_t most)
{
	size_t found = 0;
	for (size_t c = 0; c < (uint32_t)buffer[0] && c < room; c++) {
		const uint64_t *chunk = buffer + TRACE_HEADER_WORDS + c * CHUNK_WORDS;
		const uint8_t *at = (const uint8_t *)(chunk + TRACE_CHUNK_HEADER_WORDS), *last = at + (uint32_t)chunk[2];
		while ((uint32_t)chunk[1] == lane && at < last)
			if (number_at(&at) == TOLD && number_at(&at) == 2 && number_at(&at) == 1 && found < most) {
				gaps[found][0] = number_at(&at);
				gaps[found++][1] = number_at(&at);
			}
	}
	return found;
}

/* Lane 0 writes 200 bytes in each iteration and lane 1 one byte: alone, lane 1 would have windows of 64, 32, 32 ... iterations. As lanes of a warp both
 * have those of lane 0, which are those of windows_end_where_room_does. */
static void lanes_of_a_warp_have_the_same_windows(void)
{
	enum { ROOM = 64, ITERATIONS = 70000, MOST = 8 };
	static uint64_t large[TRACE_HEADER_WORDS + ROOM * CHUNK_WORDS];
	uint64_t gaps[2][MOST][2];
	memset(large, 0, sizeof large);
	large[TRACE_SHARE_WORD] = UINT64_C(5) << 32 | 16 * TRACE_SHARE_ONE;
	const uint64_t launch[] = {(uint64_t)(uintptr_t)large, ROOM, 1, 1, 0, 0, 0, 0, 2, 1, 1, 4, 1, 1, 0, BLOCKS, SITES, LOOPS, 0, 0, 0, 0};
	struct traced_threads *t = warps_begin(launch);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	warp_loop(t, 0, 1, 64, 0, 3);
	for (int i = 0; i < ITERATIONS; i++) {
		warp_body(t, 0, 1, 2, 3);
		for (int b = 0; b < 199; b++)
			warp_block(t, 0, 2, 1);
	}
	warp_loop_end(t, 0, 1, 2, 3);
	warps_end(t);
	size_t count = gaps_of_lane(large, ROOM, 0, gaps[0], MOST);
	CU_ASSERT_FATAL(count > 1 && count == gaps_of_lane(large, ROOM, 1, gaps[1], MOST));
	CU_ASSERT_EQUAL(memcmp(gaps[0], gaps[1], count * sizeof *gaps[0]), 0);
	CU_ASSERT_EQUAL(gaps[1][0][0], 8);
	CU_ASSERT_EQUAL(gaps[1][0][1], 256 - 8);
}

enum lanes_do { GO_TOGETHER, PART, TAKE_ARMS_IN_TURN, TAKE_AN_ARM_LATE };

/* The gaps of lane 0 in a loop of 200 iterations with windows of 64. PART: lane 1 leaves after 20. Else one of the two lanes takes an arm, always lane 0 or
 * each in turn; or both take it, from the hundredth iteration on. */
static size_t gaps_where_lanes(enum lanes_do what, uint32_t needs_last, uint64_t gaps[][2], size_t most)
{
	enum { ROOM = 64, ITERATIONS = 200, FEW = 20, LATE = 100 };
	static uint64_t large[TRACE_HEADER_WORDS + ROOM * CHUNK_WORDS];
	memset(large, 0, sizeof large);
	large[TRACE_SHARE_WORD] = UINT64_C(5) << 32 | 16 * TRACE_SHARE_ONE;
	const uint64_t launch[] = {(uint64_t)(uintptr_t)large, ROOM, 1, 1, 0, 0, 0, 0, 2, 1, 1, 4, 1, 1, 0, BLOCKS, SITES, LOOPS, 0, 0, 0, 0};
	struct traced_threads *t = warps_begin(launch);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	warp_loop(t, 0, 1, 64, needs_last, 3);
	for (uint32_t i = 0; i < ITERATIONS; i++) {
		uint32_t mask = what == PART && i >= FEW ? 1 : 3;
		if (what == PART && i == FEW)
			warp_loop_end(t, 0, 1, 2, 2);
		warp_body(t, 0, 1, 2, mask);
		if (what != TAKE_AN_ARM_LATE || i >= LATE)
			warp_block(t, 0, 3, what == TAKE_ARMS_IN_TURN ? 1 + i % 2 : what == TAKE_AN_ARM_LATE ? 3 : 1);
	}
	warp_loop_end(t, 0, 1, 2, what == PART ? 1 : 3);
	warps_end(t);
	return gaps_of_lane(large, ROOM, 0, gaps, most);
}

/* What lanes do that are not together any more, others do not stand for. */
static void windows_go_on_where_lanes_part(void)
{
	uint64_t gaps[4][2];
	CU_ASSERT_EQUAL_FATAL(gaps_where_lanes(GO_TOGETHER, 0, gaps, 4), 1);
	CU_ASSERT_EQUAL(gaps[0][0], 64);
	CU_ASSERT_EQUAL(gaps[0][1], 200 - 64);
	CU_ASSERT_EQUAL(gaps_where_lanes(PART, 0, gaps, 4), 0);
	CU_ASSERT_EQUAL(gaps_where_lanes(TAKE_ARMS_IN_TURN, 0, gaps, 4), 0);
}

/* The first window has iterations 0 to 63, and the next would begin with 256. Iteration 100 comes to a block that no window has: the next window has 101 to
 * 132. Where the last iteration is kept in any case, the gap ends before it. */
static void windows_begin_after_new_arms(void)
{
	uint64_t gaps[4][2];
	for (uint32_t needs_last = 0; needs_last < 2; needs_last++) {
		CU_ASSERT_EQUAL_FATAL(gaps_where_lanes(TAKE_AN_ARM_LATE, needs_last, gaps, 4), 2);
		CU_ASSERT_EQUAL(gaps[0][0], 64);
		CU_ASSERT_EQUAL(gaps[0][1], 101 - 64);
		CU_ASSERT_EQUAL(gaps[1][0], 32);
		CU_ASSERT_EQUAL(gaps[1][1], 200 - 133 - needs_last);
	}
}

/*
 * Rows of 256 bytes, and slices of 4 rows: the texel of 8 bytes at 2 * 1024 + 256 + 24 is (3, 1, 2), number (2 * 3 + 1) * 10 + 3 where a slice is 10 x 3.
 * A texture that is no argument is memory, whose texels have 2 to the power of 3 bytes.
 */
static void texels_have_numbers_in_their_image(void)
{
	static uint64_t buffer[TRACE_HEADER_WORDS + CHUNKS * CHUNK_WORDS];
	const struct lifted_texture known = {.address = 0x10000, .pitch = 256, .slice = 1024, .width = 10, .height = 3, .depth = 4, .channels = 2, .bits = 32};
	const struct lifted_texture other = {.address = 0x20000, .pitch = 0, .width = 100, .height = 1, .channels = 4, .bits = 16};
	const struct lifted_image images[] = {{1, 0, 0}, {(uint64_t)(uintptr_t)&known, 5, 10}};
	memset(buffer, 0, sizeof buffer);
	const uint64_t launch[] = {(uint64_t)(uintptr_t)buffer, CHUNKS, 1, 1, 0, 0, 0, 0, 2, 1, 1, 4, 1, 1, 0, BLOCKS, SITES, LOOPS, 0, 0,
	                           (uint64_t)(uintptr_t)images, GS_ARRAY_LEN(images)};
	struct traced_threads *t = warps_begin(launch);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(warp_texel(t, (uint64_t)(uintptr_t)&known, 0x10000 + 2 * 1024 + 256 + 24), (73 * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS) + 6);
	CU_ASSERT_EQUAL(warp_texel(t, (uint64_t)(uintptr_t)&other, 0x20018), ((3ull << TRACE_PLAIN_BITS | 0x20018) << TRACE_IMAGE_BITS) + TRACE_IMAGE_PLAIN);
	warps_end(t);
}

void add_trace_native_tests(void)
{
	CU_pSuite s = CU_add_suite("compiled trace functions", NULL, NULL);
	CU_add_test(s, "blocks, bases and strides", blocks_and_strides);
	CU_add_test(s, "copies", copies);
	CU_add_test(s, "loops have windows", loops_have_windows);
	CU_add_test(s, "only first windows are longer", only_first_windows_are_longer);
	CU_add_test(s, "last iterations are kept", last_iterations_are_kept);
	CU_add_test(s, "long last iterations are left out", long_last_iterations_are_left_out);
	CU_add_test(s, "no room", no_room);
	CU_add_test(s, "groups have shares", groups_have_shares);
	CU_add_test(s, "windows end where room does", windows_end_where_room_does);
	CU_add_test(s, "texels have numbers in their image", texels_have_numbers_in_their_image);
	CU_add_test(s, "lanes of a warp have the same windows", lanes_of_a_warp_have_the_same_windows);
	CU_add_test(s, "windows go on where lanes part", windows_go_on_where_lanes_part);
	CU_add_test(s, "windows begin after new arms", windows_begin_after_new_arms);
}
