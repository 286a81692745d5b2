/* Reading traces: bytes made by hand, and random bytes. */
#include "tests/tests.h"

#include "models/accesses/image.h"
#include "models/trace/read.h"
#include "runtime/format/traces.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4, CHUNKS = 8, CHUNK_WORDS = TRACE_CHUNK_BYTES / 8, TOLD = 2 * BLOCKS };

static const struct trace_site sites[] = {
	{.kind = TRACE_load, .space = SPACE_global, .bytes = 4},
	{.kind = TRACE_store, .space = SPACE_shared, .bytes = 4},
	{.kind = TRACE_copy_in, .space = SPACE_global, .bytes = 4},
	{.kind = TRACE_load, .space = SPACE_local, .bytes = 8},
	{.kind = TRACE_image_read, .space = SPACE_texture, .bytes = 4},
	{.kind = TRACE_load, .space = SPACE_const, .bytes = 2},
};
static const uint64_t argument_bytes[] = {64, 0};

static struct {
	uint64_t words[TRACE_HEADER_WORDS + CHUNKS * CHUNK_WORDS];
	struct trace_layout layout;
	struct launch_trace *trace;
} t;

static void start(void)
{
	memset(&t, 0, sizeof t);
	t.layout = (struct trace_layout){.sites = sites, .site_count = GS_ARRAY_LEN(sites), .block_count = BLOCKS,
	                                 .local = {2, 1, 1}, .groups = {4, 1, 1}, .argument_bytes = argument_bytes,
	                                 .argument_count = GS_ARRAY_LEN(argument_bytes)};
}

static void add_chunk(uint64_t group, uint64_t lane, uint64_t number, bool cut, const uint8_t *bytes, size_t count)
{
	uint64_t *at = t.words + TRACE_HEADER_WORDS + t.words[0]++ * CHUNK_WORDS;
	at[0] = group;
	at[1] = lane | number << 32;
	at[2] = count | (uint64_t)cut << 32;
	memcpy(at + TRACE_CHUNK_HEADER_WORDS, bytes, count);
}

#define CHUNK(group, lane, number, cut, ...) \
	add_chunk(group, lane, number, cut, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
/* Group 1 with two work-items, of eight in the launch. Blocks are counted from 1. Argument 0 is at 0x1000. */
#define BEGIN TOLD, 0, 1, 0, 2, 0, 0, 2, 1, 1, 8, 1, TOLD, 1, 0, TRACE_BASE_ARGUMENT, 0, 0x80, 0x20
/* A __local variable of 16 bytes at 0x2000 is base 1. */
#define SHARED TOLD, 1, 1, TRACE_BASE_LOCAL, 16, 0x80, 0x40

static void read_it(void)
{
	struct gs_error err;
	CU_ASSERT_EQUAL_FATAL(trace_read(t.words, GS_ARRAY_LEN(t.words), &t.layout, &t.trace, &err), 0);
}

static const struct lane_trace *lane(size_t group, size_t item)
{
	CU_ASSERT_FATAL(group < t.trace->group_count && item < t.trace->groups[group].lane_count);
	return &t.trace->groups[group].lanes[item];
}

static void check_event(const struct lane_trace *l, size_t i, uint32_t what, uint32_t bytes, uint64_t address)
{
	CU_ASSERT_FATAL(i < l->count);
	CU_ASSERT_EQUAL(l->events[i].what, what);
	CU_ASSERT_EQUAL(l->events[i].bytes, bytes);
	CU_ASSERT_EQUAL(l->events[i].address, address);
}

/* Block 0 + 1. Site 0 at 0x1000 + 4 * 2, because the first work-item of the group is the launch's third. Then 16 further, which
 * is the stride of the next access. Block 3 + 1 modulo 4 is 0. The other work-item is the launch's fourth. */
static void blocks_and_strides(void)
{
	start();
	CHUNK(1, 1, 0, false, 0, 3, 0, 1);
	CHUNK(1, 0, 0, false, BEGIN, 0, 3, 0, 3, 32, 1, 6);
	read_it();
	CU_ASSERT_EQUAL(t.trace->group_count, 1);
	CU_ASSERT_EQUAL(t.trace->groups[0].group, 1);
	CU_ASSERT_EQUAL(t.trace->groups[0].lane_count, 2);
	CU_ASSERT_EQUAL(lane(0, 0)->count, 5);
	CU_ASSERT_FALSE(lane(0, 0)->cut);
	check_event(lane(0, 0), 0, 1, 0, 0);
	check_event(lane(0, 0), 1, TRACE_ACCESS, 4, (1ul << 40) + 8);
	check_event(lane(0, 0), 2, TRACE_ACCESS, 4, (1ul << 40) + 24);
	check_event(lane(0, 0), 3, TRACE_ACCESS, 4, (1ul << 40) + 40);
	check_event(lane(0, 0), 4, 0, 0, 0);
	CU_ASSERT_EQUAL(lane(0, 1)->count, 3);
	check_event(lane(0, 1), 1, TRACE_ACCESS, 4, (1ul << 40) + 12);
	check_event(lane(0, 1), 2, TRACE_ACCESS, 4, (1ul << 40) + 12);
	CU_ASSERT_EQUAL(t.trace->accesses, 5);
	CU_ASSERT_EQUAL(t.trace->size_bytes, 4 + 19 + 7);
	trace_free(t.trace);
}

/* Addresses in shared memory count from their variable. The second work-item is 4 bytes after the first. A copy writes its
 * number of bytes. Its address is 8 after the last global one: zigzag 16, times 8, plus 7 for no base, is 135. Private memory
 * behind pointers counts from its lowest address. Private arrays and constants count from their own begin. Images count from
 * their argument. */
static void each_space_has_its_own_places(void)
{
	const uint64_t pointers = 1 << 24;
	start();
	CHUNK(1, 0, 0, false, BEGIN, SHARED, 7, 1, 11, 0x87, 0x01, 32);
	/* 2^40 + 8 after 0: zigzag 2^41 + 16, times 8: 2^44 + 128, plus 7. Then 8 less: zigzag 15 */
	CHUNK(1, 1, 0, false, 7, 1, 15, 0x87, 0x81, 0x80, 0x80, 0x80, 0x80, 0x04, 15, 15, 19, (7 + 16) | 0x80, 0, 23, (7 + 64));
	read_it();
	check_event(lane(0, 0), 0, TRACE_ACCESS + 1, 4, 0);
	check_event(lane(0, 0), 1, TRACE_ACCESS + 2, 32, (1ul << 40) + 8);
	CU_ASSERT_EQUAL(lane(0, 1)->count, 5);
	check_event(lane(0, 1), 0, TRACE_ACCESS + 1, 4, 4);
	check_event(lane(0, 1), 1, TRACE_ACCESS + 3, 8, pointers + 8);
	check_event(lane(0, 1), 2, TRACE_ACCESS + 3, 8, pointers);
	/* The image's first guess is texel 3 (4 bytes each, 64 values per byte for arguments). 1 more is argument 0. */
	check_event(lane(0, 1), 3, TRACE_ACCESS + 4, 4, (1ul << 40) + 12);
	check_event(lane(0, 1), 4, TRACE_ACCESS + 5, 2, (1ul << 39) + 4);
	trace_free(t.trace);
}

/* An access of site 4 without a base, as the first: what it is further than the third texel, which is guessed, in zigzag, times 8, plus 7. */
static size_t put_texel(uint8_t *to, uint64_t word)
{
	uint64_t further = word - (3 * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS), z = (further << 1) << 3 | 7;
	size_t n = 0;
	to[n++] = 19;
	for (; z > 127; z >>= 7)
		to[n++] = (uint8_t)(z | 128);
	to[n++] = (uint8_t)z;
	return n;
}

/* Texel 9 of an image with rows of 8 is (1, 1): the second sector's other half, at 32 + 16. A texture without a shape says the address, and its texel. */
static void texels_are_in_images_or_in_memory(void)
{
	const struct image_shape shape = {.width = 8, .height = 8, .depth = 1, .texel_bytes = 16, .sampler = IMAGE_LINEAR};
	const uint64_t bytes[] = {64, image_shape_pack(&shape)}, plain = (0x1000 + 8) | UINT64_C(2) << TRACE_PLAIN_BITS;
	const uint64_t recorded[] = {(9 * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS) + 2, plain << TRACE_IMAGE_BITS | TRACE_IMAGE_PLAIN};
	const struct trace_event expected[] = {{0, 16, (2ul << 40) + 48}, {0, 4, (1ul << 40) + 8}};
	for (size_t i = 0; i < GS_ARRAY_LEN(recorded); i++) {
		uint8_t text[16];
		start();
		t.layout.argument_bytes = bytes;
		CHUNK(1, 0, 0, false, BEGIN);
		add_chunk(1, 1, 0, false, text, put_texel(text, recorded[i]));
		read_it();
		CU_ASSERT_EQUAL(lane(0, 1)->count, 1);
		check_event(lane(0, 1), 0, TRACE_ACCESS + 4, expected[i].bytes, expected[i].address);
		trace_free(t.trace);
	}
}

static void chunks_are_put_in_order(void)
{
	start();
	CHUNK(1, 0, 2, false, 6);
	CHUNK(1, 0, 1, false, 4);
	CHUNK(1, 1, 0, true, 0);
	CHUNK(1, 0, 0, false, BEGIN, 2);
	read_it();
	CU_ASSERT_EQUAL(lane(0, 0)->count, 3);
	check_event(lane(0, 0), 0, 2, 0, 0);
	check_event(lane(0, 0), 1, 3, 0, 0);
	check_event(lane(0, 0), 2, 0, 0, 0);
	CU_ASSERT_FALSE(lane(0, 0)->cut);
	CU_ASSERT_TRUE(lane(0, 1)->cut);
	CU_ASSERT_EQUAL(lane(0, 1)->count, 1);
	trace_free(t.trace);
}

static void what_cannot_be_read_is_cut(void)
{
	start();
	CHUNK(0, 0, 0, false, BEGIN, 0, 0x80);        /* a number without an end */
	CHUNK(0, 1, 1, false, 0);                     /* its first chunk is missing */
	CHUNK(1, 0, 0, false, BEGIN, 0, 25);          /* site 6 of 6 */
	CHUNK(2, 1, 0, false, 0);                     /* a group without its first work-item */
	CHUNK(9, 0, 0, false, BEGIN, 0);              /* group 9 of 4 */
	CHUNK(3, 0, 0, false, BEGIN, 1);              /* predicted without a past; the other work-item left nothing */
	read_it();
	CU_ASSERT_EQUAL_FATAL(t.trace->group_count, 3);
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_TRUE(lane(i, 0)->cut);
		CU_ASSERT_TRUE(lane(i, 1)->cut);
		CU_ASSERT_EQUAL(lane(i, 0)->count, i < 2);
		CU_ASSERT_EQUAL(lane(i, 1)->count, 0);
	}
	trace_free(t.trace);
}

static void memory_is_bounded(void)
{
	start();
	t.layout.most_bytes = sizeof(struct traced_group) + 2 * sizeof(struct lane_trace) + 2 * sizeof(struct trace_event);
	CHUNK(0, 0, 0, false, BEGIN, 0, 0, 0, 0);
	CHUNK(1, 0, 0, false, BEGIN, 0, 0, 0, 0);
	read_it();
	CU_ASSERT_EQUAL(t.trace->group_count, 1);
	CU_ASSERT_EQUAL(lane(0, 0)->count, 2);
	CU_ASSERT_TRUE(lane(0, 0)->cut);
	trace_free(t.trace);
}

static void check_gap(const struct lane_trace *l, size_t i, uint32_t before, uint32_t body, uint32_t kept, uint64_t iterations)
{
	CU_ASSERT_FATAL(i < l->gap_count);
	CU_ASSERT_EQUAL(l->gaps[i].before, before);
	CU_ASSERT_EQUAL(l->gaps[i].body, body);
	CU_ASSERT_EQUAL(l->gaps[i].kept, kept);
	CU_ASSERT_EQUAL(l->gaps[i].iterations, iterations);
}

/* Blocks are counted from 1, so body 3 is block 0. 300 is 44 + 2 * 128, in six bytes 0xac 0x82 0x80 0x80 0x80 0. A gap of no iterations is
 * none. Numbers that do not fit are full: 2^35 kept. The prediction of site 0 goes on after a gap. */
static void gaps_are_kept_apart_from_events(void)
{
	start();
	CHUNK(1, 0, 0, false, BEGIN, 0, 2, 3, 0, TOLD, 2, 1, 2, 0xac, 0x82, 0x80, 0x80, 0x80, 0, TOLD, 2, 3, 4, 7, 2, 3, 16, TOLD, 2, 1, 1, 0x80, 0,
	      4);
	CHUNK(1, 1, 0, false, 0, TOLD, 2, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
	read_it();
	CU_ASSERT_FALSE(lane(0, 0)->cut);
	CU_ASSERT_EQUAL(lane(0, 0)->count, 6);
	CU_ASSERT_EQUAL(lane(0, 0)->gap_count, 2);
	check_gap(lane(0, 0), 0, 3, 2, 2, 300);
	check_gap(lane(0, 0), 1, 3, 0, 4, 7);
	check_event(lane(0, 0), 3, 2, 0, 0);
	check_event(lane(0, 0), 4, TRACE_ACCESS, 4, (1ul << 40) + 16);
	check_event(lane(0, 0), 5, 3, 0, 0);
	CU_ASSERT_FALSE(lane(0, 1)->cut);
	CU_ASSERT_EQUAL(lane(0, 1)->gap_count, 1);
	check_gap(lane(0, 1), 0, 1, 1, UINT32_MAX, UINT64_MAX);
	trace_free(t.trace);
}

/* Every one of them ends its work-item's events. */
static void wrong_gaps_are_cut(void)
{
	start();
	CHUNK(0, 0, 0, false, BEGIN, 0, TOLD, 2, BLOCKS, 1, 1, 0); /* a body that is not in the table */
	CHUNK(0, 1, 0, false, 0, TOLD, 2, 1, 0, 1, 0);             /* none kept */
	CHUNK(1, 0, 0, false, TOLD, 2, 1, 1, 1, BEGIN, 0);         /* before the group begins */
	CHUNK(2, 0, 0, false, BEGIN, 0, TOLD, 2, 1, 1);            /* without its end */
	CHUNK(2, 1, 0, false, 0, TOLD, 3, 1, 1, 1);                /* not known */
	read_it();
	CU_ASSERT_EQUAL_FATAL(t.trace->group_count, 2);
	for (size_t i = 0; i < 4; i++) {
		const struct lane_trace *l = lane(i / 2, i % 2);
		CU_ASSERT_TRUE(l->cut);
		CU_ASSERT_EQUAL(l->count, 1);
		CU_ASSERT_EQUAL(l->gap_count, 0);
		CU_ASSERT_PTR_NULL(l->gaps);
	}
	trace_free(t.trace);
}

static void gaps_count_against_the_memory(void)
{
	start();
	t.layout.most_bytes = sizeof(struct traced_group) + 2 * sizeof(struct lane_trace) + sizeof(struct trace_event) +
	                      sizeof(struct trace_gap);
	CHUNK(0, 0, 0, false, BEGIN, 0, TOLD, 2, 1, 1, 1, TOLD, 2, 1, 1, 1, 0);
	read_it();
	CU_ASSERT_EQUAL(t.trace->group_count, 1);
	CU_ASSERT_EQUAL(lane(0, 0)->count, 1);
	CU_ASSERT_EQUAL(lane(0, 0)->gap_count, 1);
	CU_ASSERT_TRUE(lane(0, 0)->cut);
	trace_free(t.trace);
}

static struct launch_trace *read_packed(void)
{
	static uint8_t bytes[sizeof t.words];
	struct launch_trace *out = NULL;
	struct gs_error err;
	size_t length = 0;
	for (uint64_t c = 0; c < t.words[0]; c++) {
		const uint64_t *chunk = t.words + TRACE_HEADER_WORDS + c * CHUNK_WORDS;
		size_t used = TRACE_CHUNK_HEADER_WORDS * 8 + (uint32_t)chunk[2];
		memcpy(bytes + length, chunk, used);
		length += used;
	}
	bytes[length++] = 1; /* what is no whole chunk is not read */
	CU_ASSERT_EQUAL_FATAL(trace_read_packed(bytes, length, &t.layout, &out, &err), 0);
	return out;
}

/* Two groups, of one and of two work-items with events: each work-item has its own, whichever came first. The second group begins at the
 * launch's fifth work-item, and 4 * 4 further in the argument. */
static void packed_chunks_are_read_alike(void)
{
	start();
	CHUNK(2, 1, 0, false, 2 * 2, 2 * 3);
	CHUNK(2, 0, 0, false, TOLD, 0, 1, 0, 4, 0, 0, 2, 1, 1, 8, 1, TOLD, 1, 0, TRACE_BASE_ARGUMENT, 0, 0x80, 0x20, 2 * 0, 3, 0);
	CHUNK(1, 0, 0, false, BEGIN, 2 * 1);
	t.trace = read_packed();
	CU_ASSERT_EQUAL_FATAL(t.trace->group_count, 2);
	CU_ASSERT_EQUAL(lane(0, 0)->count, 1);
	check_event(lane(0, 0), 0, 2, 0, 0);
	CU_ASSERT_TRUE(lane(0, 1)->cut && !lane(0, 1)->count);
	CU_ASSERT_EQUAL(lane(1, 0)->count, 2);
	check_event(lane(1, 0), 0, 1, 0, 0);
	check_event(lane(1, 0), 1, TRACE_ACCESS + 0, 4, (UINT64_C(1) << 40) + 16);
	CU_ASSERT_EQUAL(lane(1, 1)->count, 2);
	check_event(lane(1, 1), 0, 3, 0, 0);
	check_event(lane(1, 1), 1, 0, 0, 0);
	trace_free(t.trace);
}

/* Random bytes. Half of them begin like a group. */
static void garbage_does_no_harm(void)
{
	uint64_t seed = 1;
	struct gs_error err;
	for (int round = 0; round < 2000; round++) {
		start();
		t.layout.most_bytes = 1 << 16;
		for (int c = 0; c < CHUNKS; c++) {
			uint8_t bytes[TRACE_CHUNK_BYTES - TRACE_CHUNK_HEADER_WORDS * 8] = {BEGIN, SHARED};
			for (size_t i = round % 2 ? 26 : 0; i < sizeof bytes; i++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				bytes[i] = (uint8_t)(seed >> (round % 3 ? 56 : 60));
			}
			add_chunk((uint64_t)c / 2, (uint64_t)c % 2, 0, false, bytes, sizeof bytes);
		}
		if (round % 5 == 0)
			memset(t.words, (int)(seed >> 50), sizeof t.words / 2);
		int result = trace_read(t.words, GS_ARRAY_LEN(t.words), &t.layout, &t.trace, &err);
		CU_ASSERT_EQUAL(result, 0);
		for (size_t i = 0; !result && i < t.trace->group_count; i++)
			for (uint32_t j = 0; j < t.trace->groups[i].lane_count; j++)
				for (size_t k = 0; k < t.trace->groups[i].lanes[j].count; k++) {
					uint32_t what = t.trace->groups[i].lanes[j].events[k].what;
					CU_ASSERT_TRUE(what & TRACE_ACCESS ? (what & ~TRACE_ACCESS) < GS_ARRAY_LEN(sites) : what < BLOCKS);
				}
		for (size_t i = 0; !result && i < t.trace->group_count; i++)
			for (uint32_t j = 0; j < t.trace->groups[i].lane_count; j++)
				for (size_t k = 0; k < t.trace->groups[i].lanes[j].gap_count; k++) {
					const struct trace_gap *g = &t.trace->groups[i].lanes[j].gaps[k];
					CU_ASSERT_TRUE(g->body < BLOCKS && g->kept && g->before <= t.trace->groups[i].lanes[j].count);
				}
		if (!result)
			trace_free(t.trace);
	}
	CU_ASSERT_EQUAL(trace_read(t.words, 3, &t.layout, &t.trace, &err), -74); /* EBADMSG */
}

void add_trace_read_tests(void)
{
	CU_pSuite suite = CU_add_suite("reading traces", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(blocks_and_strides);
	TEST(each_space_has_its_own_places);
	TEST(texels_are_in_images_or_in_memory);
	TEST(chunks_are_put_in_order);
	TEST(what_cannot_be_read_is_cut);
	TEST(memory_is_bounded);
	TEST(gaps_are_kept_apart_from_events);
	TEST(wrong_gaps_are_cut);
	TEST(gaps_count_against_the_memory);
	TEST(packed_chunks_are_read_alike);
	TEST(garbage_does_no_harm);
#undef TEST
}
