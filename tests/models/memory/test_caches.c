/* The tags of a cache, and the L1 of an SM. */
#include "tests/tests.h"

#include "models/memory/l1.h"
#include "models/memory/map.h"
#include "models/memory/tags.h"

#include <stdlib.h>
#include <string.h>

/* ---- tags ---- */

static void least_recently_used_goes_first(void)
{
	struct tag_store t;
	CU_ASSERT_EQUAL_FATAL(tags_init(&t, 2, 2), 0); /* one set of two ways */
	for (uint64_t a = 0; a < 2; a++)
		tags_replace(&t, 0, tags_victim(&t, 0), a * 128);
	tags_touch(&t, 0, tags_find(&t, 0, 0)); /* 0 1 0: 1 is the older */
	CU_ASSERT_EQUAL(tags_victim(&t, 0), tags_find(&t, 0, 128));
	tags_line(&t, tags_find(&t, 0, 128))->pending = 1;
	CU_ASSERT_EQUAL(tags_victim(&t, 0), tags_find(&t, 0, 0));
	tags_line(&t, tags_find(&t, 0, 0))->pending = 1;
	CU_ASSERT_EQUAL(tags_victim(&t, 0), MEMORY_NONE);
	tags_line(&t, tags_find(&t, 0, 0))->pending = 0;
	tags_drop(&t, 0, tags_find(&t, 0, 0));
	CU_ASSERT_EQUAL(tags_find(&t, 0, 0), MEMORY_NONE);
	tags_free(&t);
}

/* Two sets of two ways: what other lines left in the host's memory is not there in a set that none has come to. */
static void nothing_is_known_of_lines_that_never_came(void)
{
	struct tag_store t;
	CU_ASSERT_EQUAL_FATAL(tags_init(&t, 4, 2), 0);
	memset(t.lines, 0xff, 4 * sizeof *t.lines);
	memset(t.stamps, 0xff, 4 * sizeof *t.stamps);
	CU_ASSERT_EQUAL(tags_find(&t, 1, 0), MEMORY_NONE);
	CU_ASSERT_FALSE(tags_was_used(&t, 2));
	CU_ASSERT_EQUAL(tags_victim(&t, 1), 2); /* the first way of set 1 */
	CU_ASSERT_EQUAL(tags_line(&t, 2)->dirty | tags_line(&t, 2)->pending, 0);
	tags_replace(&t, 1, 2, 0);
	CU_ASSERT_TRUE(tags_was_used(&t, 2));
	CU_ASSERT_EQUAL(tags_victim(&t, 1), 3); /* its other way */
	CU_ASSERT_EQUAL(tags_line(&t, 3)->atomics, 0);
	CU_ASSERT_FALSE(tags_was_used(&t, 0));
	tags_free(&t);
}

/* Of as many lines as it has: which line goes, after each address, is the oldest that was used. The same numbers by hand for few
 * ways, which are searched, and for many, which are in lists: 40 is more than are searched. */
static void lines_go_in_the_order_of_their_use(void)
{
	static const uint32_t sizes[] = {4, 40};
	for (size_t i = 0; i < GS_ARRAY_LEN(sizes); i++) {
		struct tag_store t;
		uint32_t ways = sizes[i];
		CU_ASSERT_EQUAL_FATAL(tags_init(&t, 2 * (uint64_t)ways, ways), 0);
		CU_ASSERT_EQUAL(tags_find(&t, 1, 0), MEMORY_NONE); /* nothing has come */
		for (uint64_t a = 0; a < ways; a++) {
			CU_ASSERT_EQUAL(tags_victim(&t, 1), ways + a); /* the ways in their order: set 1 comes after set 0 */
			tags_replace(&t, 1, tags_victim(&t, 1), a);
		}
		CU_ASSERT_EQUAL(tags_find(&t, 0, UINT64_MAX - 1), MEMORY_NONE); /* set 0 is still empty */
		CU_ASSERT_EQUAL(tags_victim(&t, 0), 0);
		tags_touch(&t, 1, tags_find(&t, 1, 0));
		CU_ASSERT_EQUAL(tags_address(&t, tags_victim(&t, 1)), 1);
		/* Dropped ones go before all others, the last first, and cannot be found. */
		tags_drop(&t, 1, tags_find(&t, 1, 2));
		tags_drop(&t, 1, tags_find(&t, 1, 0));
		CU_ASSERT_EQUAL(tags_find(&t, 1, 0), MEMORY_NONE);
		CU_ASSERT_EQUAL(tags_victim(&t, 1), ways + 0);
		tags_replace(&t, 1, tags_victim(&t, 1), 100);
		CU_ASSERT_EQUAL(tags_victim(&t, 1), ways + 2);
		tags_replace(&t, 1, tags_victim(&t, 1), 101);
		CU_ASSERT_EQUAL(tags_address(&t, tags_victim(&t, 1)), 1);
		CU_ASSERT_EQUAL(tags_find(&t, 1, 3), ways + 3); /* behind those that were dropped */
		CU_ASSERT_EQUAL(tags_find(&t, 1, 100), ways + 0);
		/* Those that something is pending for do not go, the last that was used included. */
		for (uint32_t n = ways; n < 2 * ways; n++)
			tags_line(&t, n)->pending = 1;
		CU_ASSERT_EQUAL(tags_victim(&t, 1), MEMORY_NONE);
		tags_line(&t, tags_find(&t, 1, 101))->pending = 0;
		CU_ASSERT_EQUAL(tags_victim(&t, 1), ways + 2);
		tags_free(&t);
	}
}

/* ---- L1 ---- */

struct told {
	uint32_t count, last;
};

static void tell(void *ctx, uint32_t who)
{
	struct told *t = ctx;
	t->count++;
	t->last = who;
}

static struct l1_cache *make_l1(struct l1_config config)
{
	config.line_bytes = 128;
	struct l1_cache *c = l1_new(&config);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	return c;
}

static void loads_merge_and_sectors_are_asked_for_one_by_one(void)
{
	/* 1 KiB: 4 sets of 2 ways */
	struct l1_cache *c = make_l1((struct l1_config){.bytes = 1024, .ways = 2, .mshrs = 2, .merges = 2});
	struct l1_request ask;
	struct told told = {0};
	uint32_t waits;
	CU_ASSERT_EQUAL(l1_load(c, 0, 1, 10, &waits, &ask), L1_WAITS);
	CU_ASSERT_EQUAL(ask.sectors, 1);
	uint32_t first = ask.entry;
	/* The same sector again needs no request. Then there is no room for more of its loads. */
	CU_ASSERT_EQUAL(l1_load(c, 0, 1, 11, &waits, &ask), L1_WAITS);
	CU_ASSERT_EQUAL(ask.sectors, 0);
	CU_ASSERT_EQUAL(l1_load(c, 0, 1, 12, &waits, &ask), L1_FULL);
	/* Another sector of the line takes another entry. There is no entry for a third one. */
	CU_ASSERT_EQUAL(l1_load(c, 0, 2, 13, &waits, &ask), L1_WAITS);
	CU_ASSERT_EQUAL(ask.sectors, 2);
	CU_ASSERT_EQUAL(l1_load(c, 512, 1, 14, &waits, &ask), L1_FULL);
	l1_fill(c, first, tell, &told);
	CU_ASSERT_EQUAL(told.count, 2);
	CU_ASSERT_EQUAL(told.last, 11);
	CU_ASSERT_EQUAL(l1_load(c, 0, 1, 15, &waits, &ask), L1_HIT);
	CU_ASSERT_EQUAL(l1_load(c, 0, 3, 16, &waits, &ask), L1_WAITS);
	CU_ASSERT_EQUAL(waits, 1);
	CU_ASSERT_EQUAL(ask.sectors, 0);
	l1_free(c);
}

static void load_now(struct l1_cache *c, uint64_t line)
{
	struct l1_request ask;
	struct told told = {0};
	uint32_t waits;
	CU_ASSERT_EQUAL(l1_load(c, line, 15, 0, &waits, &ask), L1_WAITS);
	l1_fill(c, ask.entry, tell, &told);
}

static void stores_drop_update_or_stay(void)
{
	struct l1_config config = {.bytes = 1024, .ways = 2, .mshrs = 4, .merges = 4, .store_evicts = true, .local_write_back = true};
	struct l1_cache *c = make_l1(config);
	load_now(c, 0);
	CU_ASSERT_TRUE(l1_store(c, 0, 1, true, false)); /* written through and dropped: Fermi */
	CU_ASSERT_FALSE(l1_has(c, 0, 15));
	l1_free(c);
	config.store_evicts = false;
	c = make_l1(config);
	load_now(c, 0);
	CU_ASSERT_TRUE(l1_store(c, 0, 1, true, false));
	CU_ASSERT_TRUE(l1_has(c, 0, 15));
	CU_ASSERT_TRUE(l1_store(c, 4096, 1, true, false)); /* not cached, so no line is made */
	CU_ASSERT_FALSE(l1_has(c, 4096, 1));
	/* Local memory stays, and is written when its line is evicted. The set of 0 has 2 ways, and 0 is the oldest. */
	CU_ASSERT_FALSE(l1_store(c, 0, 3, true, true));
	struct l1_request ask;
	uint32_t waits;
	load_now(c, 512);
	CU_ASSERT_EQUAL(l1_load(c, 1024, 1, 0, &waits, &ask), L1_WAITS);
	CU_ASSERT_EQUAL(ask.evicted, 0);
	CU_ASSERT_EQUAL(ask.dirty, 3);
	l1_free(c);
}

/* Two ways: the stores to lines 512 and 1024 take the places of both, whole or not. What was stored in part is not there to be read. */
static void stores_take_room_in_l1(void)
{
	struct l1_config config = {.bytes = 1024, .ways = 2, .mshrs = 4, .merges = 4};
	for (uint32_t allocates = 0; allocates < 3; allocates++)
		for (int whole = 0; whole < 2; whole++) {
			config.store_allocates = allocates;
			struct l1_cache *c = make_l1(config);
			load_now(c, 0);
			CU_ASSERT_TRUE(l1_store(c, 512, 1, whole, false));
			CU_ASSERT_TRUE(l1_store(c, 1024, 1, whole, false));
			bool made = allocates == 2 || (allocates == 1 && whole);
			CU_ASSERT_EQUAL(l1_has(c, 0, 1), !made);
			CU_ASSERT_EQUAL(l1_has(c, 1024, 1), made && whole);
			l1_free(c);
		}
}

/* Each store goes on, and is found again, also where it is of some lanes only. The third line of a set of two drops the first, which nobody writes. */
static void local_stores_are_written_through(void)
{
	struct l1_config config = {.bytes = 1024, .ways = 2, .mshrs = 4, .merges = 4};
	struct l1_cache *c = make_l1(config);
	struct l1_request ask;
	uint32_t waits;
	CU_ASSERT_TRUE(l1_store(c, 0, 1, true, true));
	CU_ASSERT_TRUE(l1_store(c, 0, 2, false, true));
	CU_ASSERT_TRUE(l1_has(c, 0, 3));
	CU_ASSERT_FALSE(l1_has(c, 0, 4));
	CU_ASSERT_TRUE(l1_store(c, 512, 15, true, true));
	CU_ASSERT_TRUE(l1_store(c, 1024, 15, true, true));
	CU_ASSERT_FALSE(l1_has(c, 0, 1));
	CU_ASSERT_EQUAL(l1_load(c, 1536, 1, 0, &waits, &ask), L1_WAITS);
	CU_ASSERT_EQUAL(ask.dirty, 0);
	l1_free(c);
}

static void lines_that_wait_are_not_given_away(void)
{
	struct l1_config config = {.bytes = 256, .ways = 2, .mshrs = 8, .merges = 4}; /* one set */
	struct l1_request ask;
	uint32_t waits;
	struct l1_cache *c = make_l1(config);
	for (uint64_t n = 0; n < 3; n++)
		CU_ASSERT_EQUAL(l1_load(c, n * 128, 1, 0, &waits, &ask), n < 2 ? L1_WAITS : L1_FULL);
	l1_free(c);
	config.on_fill = true; /* takes a line only when data arrives */
	c = make_l1(config);
	for (uint64_t n = 0; n < 3; n++)
		CU_ASSERT_EQUAL(l1_load(c, n * 128, 1, 0, &waits, &ask), L1_WAITS);
	l1_free(c);
}

/* A group takes all of the memory that L1 and shared memory divide. Then L1 has no set left. */
static void a_cache_without_sets_has_a_place(void)
{
	CU_ASSERT_EQUAL(memory_set(1000, 0, true), 0);
	CU_ASSERT_EQUAL(memory_set(1000, 0, false), 0);
	CU_ASSERT_EQUAL(memory_set(1000, 64, false), 1000 % 64);
}

void add_caches_tests(void)
{
	CU_pSuite s = CU_add_suite("caches", NULL, NULL);
	CU_add_test(s, "a cache without sets has a place for lines", a_cache_without_sets_has_a_place);
	CU_ADD_TEST(s, least_recently_used_goes_first);
	CU_ADD_TEST(s, nothing_is_known_of_lines_that_never_came);
	CU_ADD_TEST(s, lines_go_in_the_order_of_their_use);
	CU_ADD_TEST(s, loads_merge_and_sectors_are_asked_for_one_by_one);
	CU_ADD_TEST(s, stores_drop_update_or_stay);
	CU_ADD_TEST(s, stores_take_room_in_l1);
	CU_ADD_TEST(s, lines_that_wait_are_not_given_away);
	CU_ADD_TEST(s, local_stores_are_written_through);
}
