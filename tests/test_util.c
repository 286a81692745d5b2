/* Helpers that models share. Estimates depend on hashes and random numbers, so their values are checked against the definitions,
 * by hand. */
#include "tests/tests.h"

#include "models/util/hash.h"
#include "models/util/minmax.h"
#include "models/util/pool.h"
#include "models/util/random.h"
#include "models/util/sort.h"

#include <math.h>
#include <stdlib.h>

/* 100 records are more than the first allocation has. The record that was freed last is used first. Then come unused records. */
static void pool_gives_free_records(void)
{
	struct record {
		uint64_t value;
		uint32_t next;
	} *records = NULL;
	struct pool pool = POOL_EMPTY;
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t n = pool_take(&pool, records, next);
		CU_ASSERT_EQUAL_FATAL(n, i);
		records[n].value = i;
	}
	pool_give(&pool, records, next, 7);
	pool_give(&pool, records, next, 3);
	CU_ASSERT_EQUAL(pool_take(&pool, records, next), 3);
	CU_ASSERT_EQUAL(pool_take(&pool, records, next), 7);
	CU_ASSERT_EQUAL(pool_take(&pool, records, next), 100);
	for (uint32_t i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(records[i].value, i);
	free(records);
}

static void hashes_have_their_values(void)
{
	static const uint32_t words[] = {1, 2, 3};
	static const unsigned char bytes[] = {1, 2, 3};
	CU_ASSERT_EQUAL(hash_bytes(NULL, 0, 0), 0x9e3779b97f4a7c15u);
	CU_ASSERT_EQUAL(hash_bytes(words, sizeof words, 0), 0xd038cfafac70a75bu);
	CU_ASSERT_EQUAL(hash_bytes(bytes, sizeof bytes, 0), 0x21fa76ea4d3c043bu); /* as the word 0x00030201 */
	CU_ASSERT_NOT_EQUAL(hash_bytes(words, sizeof words, 1), hash_bytes(words, sizeof words, 0));
	CU_ASSERT_EQUAL(hash_number(1), 0x9e3779bd8ef1b1deu);
	CU_ASSERT_EQUAL(hash_number(UINT64_C(1) << 40), 0xb96f87fb5f8415f4u);
}

static void random_numbers_have_their_values(void)
{
	uint64_t walk = 1, sample = 88172645463325252u;
	CU_ASSERT_EQUAL(random_walk(&walk), 0x40822041);
	CU_ASSERT_EQUAL(random_sample(&sample), 0xe6a7a1ea317bcf2bu);
	CU_ASSERT(random_share(0) == 0 && random_share(UINT64_MAX) < 1 && random_share(UINT64_C(1) << 63) == 0.5);
	CU_ASSERT(random_below(0, 10) == 0 && random_below(UINT64_MAX, 10) == 9);
}

static void not_a_number_is_not_chosen_as_the_first(void)
{
	CU_ASSERT(min_double(NAN, 1) == 1 && max_double(NAN, 1) == 1);
	CU_ASSERT(min_u64(1, UINT64_MAX) == 1 && max_u64(1, UINT64_MAX) == UINT64_MAX && min_u32(2, 3) == 2 && max_u32(2, 3) == 3);
}

/* Digits of all sizes, twice the same, and one number alone. */
static void numbers_are_sorted(void)
{
	uint64_t numbers[] = {UINT64_C(3) << 56, 258, 2, UINT64_MAX, 257, 0, 258, UINT64_C(1) << 40}, scratch[8];
	static const uint64_t sorted[] = {0, 2, 257, 258, 258, UINT64_C(1) << 40, UINT64_C(3) << 56, UINT64_MAX};
	sort_numbers(numbers, 8, scratch);
	for (int i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(numbers[i], sorted[i]);
	sort_numbers(numbers + 3, 1, scratch);
	sort_numbers(numbers, 0, scratch);
	CU_ASSERT_EQUAL(numbers[3], 258);
}

void add_util_tests(void)
{
	CU_pSuite suite = CU_add_suite("util", NULL, NULL);
	CU_add_test(suite, "a pool gives free records", pool_gives_free_records);
	CU_add_test(suite, "hashes have their values", hashes_have_their_values);
	CU_add_test(suite, "random numbers have their values", random_numbers_have_their_values);
	CU_add_test(suite, "numbers are sorted", numbers_are_sorted);
	CU_add_test(suite, "not a number is not chosen as the first", not_a_number_is_not_chosen_as_the_first);
}
