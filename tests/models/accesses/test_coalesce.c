/* Parts of a warp's accesses, computed by hand, for GPUs with lines and for GPUs with sectors. */
#include "tests/tests.h"

#include "tests/models/code_builder.h"
#include "models/accesses/coalesce.h"

static struct memory_part parts[COALESCE_MOST_PARTS];

static struct gpu lines(void)
{
	return test_gpu("gtx480", NULL);
}

static struct gpu sectors(void)
{
	return test_gpu("v100", NULL);
}

/* Lane i accesses base + i * stride. */
static uint32_t strided(struct gpu gpu, uint64_t base, uint64_t stride, uint32_t bytes)
{
	uint64_t addresses[32];
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = base + i * stride;
	return coalesce(&gpu, &(struct access_kind){.space = SPACE_global, .bytes = bytes}, addresses, 32, parts);
}

static uint32_t sector_count(uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += (uint32_t)__builtin_popcount(parts[i].sectors);
	return sum;
}

/* 32 lanes of 4 bytes. A stride of 1 element is 128 bytes, 4 sectors. 2 is 256 bytes, 8 sectors of 4 lanes each. 8 is 1024
 * bytes, a sector for each lane. 32 is a line for each lane. */
static void strides_touch_lines_and_sectors(void)
{
	static const struct {
		uint64_t stride;
		uint32_t parts, sectors;
		uint32_t mask; /* mask of the first part */
	} rows[] = {{1, 1, 4, 0xf}, {2, 2, 8, 0xf}, {8, 8, 32, 0xf}, {32, 32, 32, 1}};
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		for (int sectored = 0; sectored < 2; sectored++) {
			uint32_t count = strided(sectored ? sectors() : lines(), 1 << 20, rows[i].stride * 4, 4);
			CU_ASSERT_EQUAL(count, rows[i].parts);
			CU_ASSERT_EQUAL(sector_count(count), rows[i].sectors);
			CU_ASSERT_EQUAL(parts[0].sectors, rows[i].mask);
			CU_ASSERT_EQUAL(parts[0].address, 1 << 20);
			CU_ASSERT_EQUAL(parts[0].bytes, 128 / (rows[i].stride < 32 ? rows[i].stride : 32));
		}
}

/* One element further: 124 bytes of a line and 4 bytes of the next one. This is 4 sectors, and 1. */
static void misaligned_lanes_touch_one_more(void)
{
	for (int sectored = 0; sectored < 2; sectored++) {
		CU_ASSERT_EQUAL(strided(sectored ? sectors() : lines(), (1 << 20) + 4, 4, 4), 2);
		CU_ASSERT_EQUAL(parts[0].sectors, 0xf);
		CU_ASSERT_EQUAL(parts[0].bytes, 124);
		CU_ASSERT_EQUAL(parts[1].sectors, 1);
		CU_ASSERT_EQUAL(parts[1].address, (1 << 20) + 128);
		CU_ASSERT_EQUAL(parts[1].bytes, 4);
	}
	/* 32 bytes further: 3 sectors of one line, 1 of the next. */
	CU_ASSERT_EQUAL(strided(sectors(), (1 << 20) + 32, 4, 4), 2);
	CU_ASSERT_EQUAL(parts[0].sectors, 0xe);
	CU_ASSERT_EQUAL(parts[1].sectors, 1);
}

static void order_of_lanes_does_not_matter(void)
{
	for (int sectored = 0; sectored < 2; sectored++) {
		struct gpu gpu = sectored ? sectors() : lines();
		uint64_t addresses[32];
		for (uint64_t i = 0; i < 32; i++)
			addresses[i] = 8192 + (i * 7 % 32) * 4;
		struct access_kind kind = {.space = SPACE_global, .bytes = 4};
		CU_ASSERT_EQUAL(coalesce(&gpu, &kind, addresses, 32, parts), 1);
		CU_ASSERT_EQUAL(parts[0].sectors, 0xf);
		for (uint64_t i = 0; i < 32; i++) /* a broadcast */
			addresses[i] = 8192 + 64;
		CU_ASSERT_EQUAL(coalesce(&gpu, &kind, addresses, 32, parts), 1);
		CU_ASSERT_EQUAL(parts[0].sectors, 4);
		CU_ASSERT_EQUAL(parts[0].bytes, 4);
	}
}

/* 16 bytes per lane: 4 lines of 4 sectors. Lanes that read the same 16 bytes make one part. Some GPUs look at 8 lanes together.
 * Then a line is a separate part for each group of 8 lanes that reads other sectors of it. Lanes 64 bytes apart: 16 lines of 2
 * lanes. Two turns of 1024 bytes, the second 32 bytes further on: 8 lines and 2 sectors each time. */
static void wide_accesses_go_in_parts_of_the_warp(void)
{
	CU_ASSERT_EQUAL(strided(lines(), 4096, 16, 16), 4);
	CU_ASSERT_EQUAL(strided(sectors(), 4096, 16, 16), 4);
	CU_ASSERT_EQUAL(sector_count(4), 16);
	CU_ASSERT_EQUAL(strided(lines(), 4096, 0, 16), 1);
	CU_ASSERT_EQUAL(strided(sectors(), 4096, 0, 16), 1);
	CU_ASSERT_EQUAL(sector_count(1), 1);
	CU_ASSERT_EQUAL(strided(sectors(), 4096, 64, 16), 16);
	CU_ASSERT_EQUAL(sector_count(16), 32);
	uint64_t addresses[32];
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = 4096 + i % 16 * 64 + i / 16 * 32;
	struct gpu gpu = sectors();
	CU_ASSERT_EQUAL(coalesce(&gpu, &(struct access_kind){.space = SPACE_global, .bytes = 16}, addresses, 32, parts), 16);
	CU_ASSERT_EQUAL(sector_count(16), 32);
}

/* GPGPU-Sim's GTX 480: 32 bytes of chars are one segment. Chars that are 32 bytes apart have one segment each. Shorts: 64 bytes. */
static void narrow_accesses_have_narrow_segments(void)
{
	CU_ASSERT_EQUAL(strided(lines(), 4096, 1, 1), 1);
	CU_ASSERT_EQUAL(strided(lines(), 4096, 4, 1), 4);
	CU_ASSERT_EQUAL(parts[3].sectors, 8);
	CU_ASSERT_EQUAL(strided(lines(), 4096, 4, 2), 2);
	CU_ASSERT_EQUAL(strided(sectors(), 4096, 4, 1), 1);
}

/* Lanes alternate between two addresses: 16 rounds of a segment with two lanes each. 32 counters: 4 segments of 8 lanes. */
static void atomics_meet_at_addresses(void)
{
	struct gpu gpu = lines();
	struct access_kind kind = {.space = SPACE_global, .atomic = true, .bytes = 4};
	uint64_t addresses[32];
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = 4096 + i % 2 * 4;
	CU_ASSERT_EQUAL(coalesce(&gpu, &kind, addresses, 32, parts), 16);
	CU_ASSERT_EQUAL(parts[7].lanes, 2);
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = 4096 + i * 4;
	CU_ASSERT_EQUAL(coalesce(&gpu, &kind, addresses, 32, parts), 4);
	CU_ASSERT_EQUAL(parts[1].lanes, 8);
	CU_ASSERT_EQUAL(parts[1].sectors, 2);
	CU_ASSERT_EQUAL(parts[1].address, 4096);
}

/* 2 bytes before the end of the address range: like any other access that spans two lines. */
static void addresses_do_not_go_round(void)
{
	CU_ASSERT_EQUAL(strided(lines(), UINT64_MAX - 1, 0, 4), 2);
	CU_ASSERT_EQUAL(strided(sectors(), UINT64_MAX - 1, 0, 4), 2);
}

static void constants_have_segments_of_their_own(void)
{
	struct gpu gpu = lines();
	uint64_t addresses[2] = {4096, 4096 + 64};
	CU_ASSERT_EQUAL(coalesce(&gpu, &(struct access_kind){.space = SPACE_const, .bytes = 4}, addresses, 2, parts), 2);
	CU_ASSERT_EQUAL(parts[1].address, 4096 + 64);
	CU_ASSERT_EQUAL(parts[1].sectors, 1);
}

void add_coalesce_tests(void)
{
	CU_pSuite suite = CU_add_suite("coalesce", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(strides_touch_lines_and_sectors);
	TEST(misaligned_lanes_touch_one_more);
	TEST(order_of_lanes_does_not_matter);
	TEST(wide_accesses_go_in_parts_of_the_warp);
	TEST(narrow_accesses_have_narrow_segments);
	TEST(atomics_meet_at_addresses);
	TEST(addresses_do_not_go_round);
	TEST(constants_have_segments_of_their_own);
#undef TEST
}
