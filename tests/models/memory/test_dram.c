/* Where addresses go, and the channels of DRAM. */
#include "tests/tests.h"

#include "models/memory/dram.h"
#include "models/memory/map.h"

#include <stdlib.h>

/* 11 of 15 SMs get 4.4 of 6 channels. 4 has two factors of two, but 6 has one. So 5 is nearer than 3. With a hash, 4 is good
 * enough. */
static void a_part_of_the_channels_has_no_more_conflicts_than_all(void)
{
	struct gpu gpu = {.dram_channels = 6, .l2_hash = false};
	CU_ASSERT_EQUAL(memory_channels(&gpu, 1), 6);
	CU_ASSERT_EQUAL(memory_channels(&gpu, 11.0 / 15), 5);
	CU_ASSERT_EQUAL(memory_channels(&gpu, 7.0 / 15), 3);
	CU_ASSERT_EQUAL(memory_channels(&gpu, 0.01), 1);
	gpu.l2_hash = true;
	CU_ASSERT_EQUAL(memory_channels(&gpu, 11.0 / 15), 4);
}

static void addresses_go_round_the_slices(void)
{
	static const struct {
		uint32_t channels, slices;
		bool hash;
	} cases[] = {{6, 2, false}, {32, 2, true}, {5, 16, true}, {1, 1, true}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct memory_map m;
		uint32_t all = cases[i].channels * cases[i].slices;
		memory_map_init(&m, cases[i].channels, cases[i].slices, 256, cases[i].hash);
		for (uint64_t row = 0; row < 1000; row += 37) {
			uint8_t seen[128] = {0};
			for (uint32_t n = 0; n < all; n++) {
				struct memory_place p = memory_map_find(&m, (row * all + n) * 256 + 5);
				seen[p.slice * cases[i].channels + p.channel]++;
				CU_ASSERT_EQUAL(p.local, row * 256 + 5);
			}
			for (uint32_t n = 0; n < all; n++)
				CU_ASSERT_EQUAL(seen[n], 1);
		}
	}
	/* A stride of 64 pieces stays in one of 64 slices, unless they are hashed. */
	struct memory_map m;
	for (int hash = 0; hash < 2; hash++) {
		uint64_t seen = 0;
		memory_map_init(&m, 32, 2, 256, hash);
		for (uint64_t n = 0; n < 64; n++) {
			struct memory_place p = memory_map_find(&m, n * 64 * 256);
			seen |= 1ull << (p.slice * 32 + p.channel);
		}
		CU_ASSERT_EQUAL(__builtin_popcountll(seen), hash ? 64 : 1);
	}
}

/* Turns of 256 bytes over pieces of 512: of eight lines, 0, 1, 4 and 5 are in one slice, the others in the next, and none has another's place. */
static void neighbours_take_turns(void)
{
	static const uint32_t slice[] = {0, 0, 1, 1, 0, 0, 1, 1, 2}, local[] = {0, 128, 0, 128, 256, 384, 256, 384, 0};
	struct memory_map m;
	memory_map_init(&m, 4, 1, 512, false);
	m.turn_bytes = 256;
	for (uint64_t line = 0; line < GS_ARRAY_LEN(slice); line++) {
		struct memory_place p = memory_map_find(&m, line * 128 + 5);
		CU_ASSERT_EQUAL(p.channel, slice[line]);
		CU_ASSERT_EQUAL(p.local, local[line] + 5);
		CU_ASSERT_EQUAL(memory_map_local(&m, line * 128 + 5), p.local);
	}
}

/* By x^6 + x + 1: x^6 is x + 1, and x^63 is 1, because the polynomial is primitive. */
static void hashes_are_remainders_of_polynomials(void)
{
	struct memory_map m;
	memory_map_init(&m, 64, 1, 1, true);
	CU_ASSERT_EQUAL(memory_map_find(&m, 1ull << 63 | 1ull << 3).channel, 1 + 8);
	CU_ASSERT_EQUAL(memory_map_find(&m, 1 << 6).channel, 3);
	CU_ASSERT_EQUAL(memory_map_find(&m, 37).channel, 37);
	memory_map_init(&m, 3, 1, 256, false);
	CU_ASSERT_EQUAL(memory_map_local(&m, 7 * 256 + 5), 2 * 256 + 5);
	CU_ASSERT_EQUAL(memory_map_find(&m, 7 * 256 + 5).local, 2 * 256 + 5);
}

static const struct dram_timing test_timing = {.burst = 2, .open = 12, .close = 10, .cycle = 40, .column = 14,
                                               .between_opens = 4, .read_to_write = 9, .write_to_read = 7, .banks = 4,
                                               .queue = 64, .row_bytes = 1024};

static uint64_t serve_next(struct dram_channel *c, uint64_t *now, struct dram_access *a)
{
	*now = dram_next(c, *now);
	for (;;) {
		uint64_t there = dram_serve(c, *now, a);
		if (there != MEMORY_NEVER)
			return there;
		*now = dram_next(c, *now);
	}
}

static void open_rows_first(void)
{
	struct dram_channel c;
	struct dram_access a;
	uint64_t now = 0;
	CU_ASSERT_EQUAL_FATAL(dram_init(&c, &test_timing, 0), 0);
	/* Bank 0: rows 0, 1, 0. */
	dram_push(&c, 0, 0, 0, 1, DRAM_READ, 1, 1);
	dram_push(&c, 0, 4096, 0, 1, DRAM_READ, 1, 2);
	dram_push(&c, 0, 32, 0, 1, DRAM_READ, 1, 3);
	CU_ASSERT_EQUAL(serve_next(&c, &now, &a), 12 + 14 + 2); /* opened at 0, column at 12 */
	CU_ASSERT_EQUAL(a.tag, 1);
	CU_ASSERT_EQUAL(serve_next(&c, &now, &a), 14 + 14 + 2); /* the next one on the bus */
	CU_ASSERT_EQUAL(a.tag, 3);
	CU_ASSERT_EQUAL(serve_next(&c, &now, &a), 40 + 12 + 14 + 2); /* 40 after the first opening: more than 16 + 10 */
	CU_ASSERT_EQUAL(a.tag, 2);
	CU_ASSERT_EQUAL(dram_next(&c, now), MEMORY_NEVER);
	dram_free(&c);
}

static void rows_that_others_opened_are_open(void)
{
	struct dram_channel c;
	struct dram_access a;
	uint64_t now = 0;
	CU_ASSERT_EQUAL_FATAL(dram_init(&c, &test_timing, 0), 0);
	dram_push(&c, 0, 0, 0, 1, DRAM_READ, 1, 1);         /* bank 0: open at 12 */
	dram_push(&c, 0, 1024, 0, 1, DRAM_READ_OPEN, 1, 2); /* bank 1: at once */
	CU_ASSERT_EQUAL(serve_next(&c, &now, &a), 14 + 2);
	CU_ASSERT_EQUAL(a.tag, 2);
	CU_ASSERT_EQUAL(serve_next(&c, &now, &a), 12 + 14 + 2);
	CU_ASSERT_EQUAL(a.tag, 1);
	dram_free(&c);
}

/* What dram_next has found holds until something comes that could go first. */
static void a_hit_that_comes_in_time_goes_first(void)
{
	struct dram_channel c;
	struct dram_access a;
	uint64_t now = 0;
	CU_ASSERT_EQUAL_FATAL(dram_init(&c, &test_timing, 0), 0);
	dram_push(&c, 0, 0, 0, 1, DRAM_READ, 1, 1); /* bank 0: open at 12 */
	serve_next(&c, &now, &a);
	CU_ASSERT_EQUAL(a.tag, 1); /* 12, the bus is free at 14 */
	dram_push(&c, 12, 1024, 0, 1, DRAM_READ, 1, 2); /* bank 1: opened at 12, open at 24 */
	CU_ASSERT_EQUAL(dram_next(&c, 12), 24);
	dram_push(&c, 20, 32, 0, 1, DRAM_READ, 1, 3); /* bank 0, whose row is open: at 20 */
	CU_ASSERT_EQUAL(dram_next(&c, 12), 20);
	CU_ASSERT_EQUAL(dram_serve(&c, 20, &a), 20 + 14 + 2);
	CU_ASSERT_EQUAL(a.tag, 3);
	dram_push(&c, 30, 64, 0, 1, DRAM_READ, 1, 4); /* too late */
	CU_ASSERT_EQUAL(dram_next(&c, 20), 24);
	CU_ASSERT_EQUAL(dram_serve(&c, 24, &a), 24 + 14 + 2);
	CU_ASSERT_EQUAL(a.tag, 2);
	CU_ASSERT_EQUAL(dram_next(&c, 24), 30);
	dram_free(&c);
}

static void banks_open_side_by_side_and_the_bus_turns(void)
{
	struct dram_channel c;
	struct dram_access a;
	uint64_t now = 0;
	CU_ASSERT_EQUAL_FATAL(dram_init(&c, &test_timing, 0), 0);
	dram_push(&c, 0, 0, 0, 1, DRAM_READ, 1, 1);    /* bank 0: open at 12 */
	dram_push(&c, 0, 1024, 0, 1, DRAM_READ, 1, 2); /* bank 1: opened 4 later, open at 16 */
	dram_push(&c, 0, 32, 0, 1, DRAM_WRITE, 1, 3);    /* a write to bank 0 */
	CU_ASSERT_EQUAL(serve_next(&c, &now, &a), 12 + 16);
	CU_ASSERT_EQUAL(serve_next(&c, &now, &a), 16 + 16); /* the write could only be at 12 + 9 */
	CU_ASSERT_EQUAL(a.tag, 2);
	serve_next(&c, &now, &a);
	CU_ASSERT_EQUAL(now, 16 + 9);
	dram_free(&c);
}

/* Four writes are done together: the bus turns, data moves for four times 2, or four rows are opened, 4 after one another, and the bus turns back. */
static void writes_wait_for_others(void)
{
	struct dram_timing timing = test_timing;
	timing.together = 8;
	for (int rows = 0; rows < 2; rows++) {
		struct dram_channel c;
		struct dram_access a;
		uint64_t now = 0;
		CU_ASSERT_EQUAL_FATAL(dram_init(&c, &timing, 0), 0);
		for (uint64_t i = 0; i < 4; i++) {
			CU_ASSERT_EQUAL(dram_next(&c, 0), MEMORY_NEVER);
			dram_push(&c, 100, i * (rows ? 4096 : 32), 0, 1, DRAM_WRITE, 1, 1);
		}
		dram_push(&c, 100, 1024, 0, 1, DRAM_READ, 1, 2);
		serve_next(&c, &now, &a);
		CU_ASSERT_EQUAL(a.tag, 2);
		CU_ASSERT_EQUAL(now, 100 + 9 + (rows ? 16 : 8) + 7);
		CU_ASSERT_EQUAL(c.writes, 4);
		dram_free(&c);
	}
}

void add_dram_tests(void)
{
	CU_pSuite s = CU_add_suite("dram and addresses", NULL, NULL);
	CU_ADD_TEST(s, a_part_of_the_channels_has_no_more_conflicts_than_all);
	CU_ADD_TEST(s, addresses_go_round_the_slices);
	CU_ADD_TEST(s, hashes_are_remainders_of_polynomials);
	CU_ADD_TEST(s, open_rows_first);
	CU_ADD_TEST(s, rows_that_others_opened_are_open);
	CU_ADD_TEST(s, a_hit_that_comes_in_time_goes_first);
	CU_ADD_TEST(s, banks_open_side_by_side_and_the_bus_turns);
	CU_ADD_TEST(s, writes_wait_for_others);
	CU_ADD_TEST(s, neighbours_take_turns);
}
