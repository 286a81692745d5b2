/* Columns of a trace buffer, as a device with memory of its own writes them (runtime/format/traces.h), and the chunks that are made of them. */
#include "models/trace/read.h"
#include "runtime/format/traces.h"
#include "runtime/guest/support/trace_columns.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4, SITES = 2, COLUMNS = 3, ROWS = 64, WORDS = TRACE_HEADER_WORDS + COLUMNS * ROWS };

static uint64_t words[WORDS];
static unsigned used[COLUMNS];

static const struct trace_site sites[SITES] = {{.kind = TRACE_load, .space = SPACE_global, .bytes = 4},
                                               {.kind = TRACE_copy_in, .space = SPACE_global, .bytes = 4}};

static void clear(void)
{
	memset(words, 0, sizeof words);
	memset(used, 0, sizeof used);
	words[TRACE_COLUMNS_WORD] = COLUMNS;
}

static void put(unsigned column, uint64_t word)
{
	words[TRACE_HEADER_WORDS + column + (COLUMN_HEADER_WORDS + used[column]++) * COLUMNS] = word;
}

static void told(unsigned column, unsigned what, uint64_t number)
{
	put(column, number << COLUMN_TOLD_SHIFT | what << COLUMN_TAG_BITS | COLUMN_TOLD);
}

static void block(unsigned column, uint64_t id)
{
	put(column, id << COLUMN_TAG_BITS | COLUMN_BLOCK);
}

static void load(unsigned column, uint64_t address)
{
	put(column, address << COLUMN_ADDRESS_SHIFT | COLUMN_ACCESS);
}

static void finish(unsigned column, uint64_t group, uint64_t lane, bool cut)
{
	words[TRACE_HEADER_WORDS + column] = group;
	words[TRACE_HEADER_WORDS + column + COLUMNS] = lane | (uint64_t)cut << COLUMN_CUT_BIT | (uint64_t)used[column] << 32;
}

/* Group 5 has two work-items. The kernel's first block is 1. */
static void begin_group(unsigned column)
{
	static const uint64_t sizes[] = {1, 0, 10, 0, 0, 2, 1, 1, 16, 1};
	told(column, COLUMN_BEGIN, 0);
	for (size_t i = 0; i < 10; i++)
		put(column, sizes[i]);
	told(column, COLUMN_BASE, 0);
	put(column, TRACE_BASE_ARGUMENT);
	put(column, 0);
	put(column, 0x7f0000001000);
}

static struct launch_trace *read_back(void)
{
	const uint64_t bytes[] = {0x1000};
	const struct trace_layout layout = {.sites = sites, .site_count = SITES, .block_count = BLOCKS, .local = {2, 1, 1}, .groups = {8, 1, 1},
	                                    .argument_bytes = bytes, .argument_count = 1};
	struct launch_trace *t = NULL;
	size_t chunks = 0;
	uint64_t *made = columns_to_chunks(words, trace_columns_used(words, WORDS), BLOCKS, SITES, &chunks);
	if (made && trace_read(made, TRACE_HEADER_WORDS + chunks * TRACE_CHUNK_BYTES / 8, &layout, &t, NULL))
		t = NULL;
	free(made);
	return t;
}

static void check_access(const struct trace_event *e, uint32_t site, uint64_t offset, uint32_t bytes)
{
	CU_ASSERT_EQUAL(e->what, TRACE_ACCESS + site);
	CU_ASSERT_EQUAL(e->address, (UINT64_C(1) << 40) + offset);
	CU_ASSERT_EQUAL(e->bytes, bytes);
}

/* The columns of a group need not be in the order of its work-items, and one column stays empty. */
static void events_and_gaps(void)
{
	clear();
	block(0, 1);
	load(0, 0x7f0000001004);
	put(0, UINT64_C(0x7f0000001010) << COLUMN_ADDRESS_SHIFT | 1 << COLUMN_SITE_SHIFT | COLUMN_COPY);
	put(0, 64);
	told(0, COLUMN_GAP, 2);
	put(0, 16);
	put(0, 1000);
	block(0, 2);
	finish(0, 5, 1, false);
	begin_group(2);
	block(2, 1);
	finish(2, 5, 0, true);
	CU_ASSERT_EQUAL(trace_columns_used(words, WORDS), TRACE_HEADER_WORDS + (COLUMN_HEADER_WORDS + used[2]) * COLUMNS);
	struct launch_trace *t = read_back();
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL_FATAL(t->group_count, 1);
	const struct traced_group *g = &t->groups[0];
	CU_ASSERT_EQUAL(g->group, 5);
	CU_ASSERT_EQUAL_FATAL(g->lane_count, 2);
	CU_ASSERT_EQUAL(g->lanes[0].count, 1);
	CU_ASSERT_TRUE(g->lanes[0].cut);
	CU_ASSERT_EQUAL_FATAL(g->lanes[1].count, 4);
	CU_ASSERT_FALSE(g->lanes[1].cut);
	CU_ASSERT_EQUAL(g->lanes[1].events[0].what, 1);
	check_access(&g->lanes[1].events[1], 0, 4, 4);
	check_access(&g->lanes[1].events[2], 1, 16, 64);
	CU_ASSERT_EQUAL(g->lanes[1].events[3].what, 2);
	CU_ASSERT_EQUAL_FATAL(g->lanes[1].gap_count, 1);
	CU_ASSERT_EQUAL(g->lanes[1].gaps[0].body, 2);
	CU_ASSERT_EQUAL(g->lanes[1].gaps[0].kept, 16);
	CU_ASSERT_EQUAL(g->lanes[1].gaps[0].iterations, 1000);
	trace_free(t);
}

/* Whatever a device wrote: nothing is read that is not there. */
static void any_words(void)
{
	uint64_t state = 1;
	for (int round = 0; round < 200; round++) {
		clear();
		for (size_t i = TRACE_HEADER_WORDS; i < WORDS; i++)
			words[i] = (state = state * UINT64_C(6364136223846793005) + 1442695040888963407) >> (round % 40);
		for (unsigned c = 0; c < COLUMNS; c++) {
			used[c] = (unsigned)(state >> 20) % (ROWS + 4);
			finish(c, 5, c, false);
		}
		trace_free(read_back());
	}
	words[TRACE_COLUMNS_WORD] = UINT64_MAX;
	CU_ASSERT_EQUAL(trace_columns_used(words, WORDS), 0);
	CU_ASSERT_PTR_NULL(read_back());
}

static void room(void)
{
	CU_ASSERT_EQUAL(trace_column_room(WORDS, COLUMNS), ROWS - COLUMN_HEADER_WORDS - COLUMN_LONGEST);
	CU_ASSERT_EQUAL(trace_column_room(TRACE_HEADER_WORDS + 100 * (COLUMN_HEADER_WORDS + COLUMN_LONGEST), 100), 0);
	CU_ASSERT_EQUAL(trace_column_room(WORDS, 0), 0);
	CU_ASSERT_EQUAL(trace_column_room(4, 1), 0);
}

void add_trace_columns_tests(void)
{
	CU_pSuite s = CU_add_suite("columns of traces", NULL, NULL);
	CU_add_test(s, "events and gaps", events_and_gaps);
	CU_add_test(s, "any words", any_words);
	CU_add_test(s, "room", room);
}
