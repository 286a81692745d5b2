/* Counters in less memory. */
#include "tests/tests.h"

#include "runtime/model/packed_counters.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Whether `count` words come back; *bytes: what they take. */
static bool comes_back(const uint64_t *words, size_t count, size_t *bytes)
{
	struct packed_counters *p = counters_pack(words, count);
	uint64_t *back = p ? counters_unpack(p) : NULL;
	bool same = back && !memcmp(words, back, count * sizeof *words);
	*bytes = p ? counters_packed_bytes(p) : 0;
	free(back);
	packed_counters_free(p);
	return same;
}

static void all_counters_come_back(void)
{
	enum { MOST = 700 };
	uint64_t words[MOST];
	uint32_t random = 5;
	size_t wrong = 0, bytes;
	for (size_t count = 0; count <= MOST; count += count < 300 ? 1 : 37)
		for (int bits = 0; bits <= 64; bits++) {
			for (size_t i = 0; i < count; i++) {
				uint64_t number = (uint64_t)next_random(&random) << 32 ^ (uint64_t)next_random(&random) << 9 ^ next_random(&random);
				words[i] = UINT64_C(7000000000000) + (bits ? number >> (64 - bits) : 0);
			}
			wrong += !comes_back(words, count, &bytes);
		}
	CU_ASSERT_EQUAL(wrong, 0);
}

/* 8 KiB each: equal numbers, numbers that differ in one bit, and in 3, which take 4. */
static void numbers_that_are_alike_take_little(void)
{
	enum { WORDS = 1024 };
	uint64_t words[WORDS];
	size_t bytes = 0, overhead = 0;
	for (size_t i = 0; i < WORDS; i++)
		words[i] = UINT64_C(0x0000002a0000002a);
	CU_ASSERT(comes_back(words, WORDS, &overhead));
	CU_ASSERT(overhead < 200);
	for (size_t i = 0; i < WORDS; i++)
		words[i] += i % 3 == 0;
	CU_ASSERT(comes_back(words, WORDS, &bytes));
	CU_ASSERT_EQUAL(bytes - overhead, 8192 / 32);
	words[7] += 6;
	for (size_t i = 0; i < WORDS; i += 64)
		words[i] = UINT64_C(0x0000002a00000030);
	CU_ASSERT(comes_back(words, WORDS, &bytes));
	CU_ASSERT_EQUAL(bytes - overhead, 8192 / 32 * 4);
}

void add_packed_counters_tests(void)
{
	CU_pSuite s = CU_add_suite("packed counters", NULL, NULL);
	CU_add_test(s, "all counters come back", all_counters_come_back);
	CU_add_test(s, "numbers that are alike take little", numbers_that_are_alike_take_little);
}
