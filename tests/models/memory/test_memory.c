/* The memory hierarchy: tags, L1, addresses, DRAM, bandwidths and latencies. */
#include "tests/tests.h"

#include "models/memory/dram.h"
#include "models/memory/l1.h"
#include "models/memory/map.h"
#include "models/memory/network.h"
#include "models/memory/slice.h"
#include "models/memory/system.h"
#include "models/memory/tags.h"
#include "tests/models/scene.h"

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
	struct l1_config config = {.bytes = 1024, .ways = 2, .mshrs = 4, .merges = 4, .store_evicts = true};
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

/* ---- addresses ---- */

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

/* ---- DRAM ---- */

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
	CU_ASSERT_EQUAL_FATAL(dram_init(&c, &test_timing), 0);
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
	CU_ASSERT_EQUAL_FATAL(dram_init(&c, &test_timing), 0);
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
	CU_ASSERT_EQUAL_FATAL(dram_init(&c, &test_timing), 0);
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
	CU_ASSERT_EQUAL_FATAL(dram_init(&c, &test_timing), 0);
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

/* ---- the whole hierarchy at its limits ---- */

struct arrivals {
	uint64_t count, last;
};

static void note_arrival(void *ctx, const struct memory_reply *r)
{
	struct arrivals *a = ctx;
	a->count++;
	a->last = r->time > a->last ? r->time : a->last;
}

/* Cycles until every line of `bytes` was requested once, `sectors` of each. Every SM asks as fast as it can. */
static double ask_all(const struct gpu *gpu, uint64_t bytes, bool warm, enum memory_kind kind, uint32_t sectors)
{
	struct memory_system *m = memory_new(gpu, gpu->sm_count, 1);
	struct arrivals arrivals = {0};
	struct memory_range range = {.bytes = bytes, .traffic = 1};
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	if (warm)
		memory_warm(m, &range, 1, false);
	uint64_t sent = 0, line = gpu->l2_line_bytes, step = memory_round_trip(m, false), end = step;
	for (; arrivals.count < bytes / line; end += step) {
		for (uint64_t cycle = end - step; cycle < end; cycle++)
			for (uint32_t s = 0; s < gpu->sm_count && sent < bytes; s++, sent += line) {
				struct memory_request r = {.address = sent, .sectors = (uint32_t)((1ull << sectors) - 1), .sm = s,
				                           .bytes = (uint16_t)(sectors * 32), .kind = (uint8_t)kind};
				r.time = memory_depart(m, &r, cycle);
				CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
			}
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
		CU_ASSERT_TRUE_FATAL(end < 100000000);
	}
	memory_free(m);
	return (double)arrivals.last;
}

static enum memory_others odd_lines(const void *ctx, uint64_t address)
{
	return address / *(const uint64_t *)ctx % 2 ? OTHERS_SENT : OTHERS_NOTHING;
}

/* A line that DRAM sends for the SM, and one that it sends for somebody else: both take a load's latency, and DRAM reads the first only. */
static void lines_sent_for_others_take_their_time_only(void)
{
	struct gpu gpu = test_gpu("h200", "l2_warm=0");
	uint64_t line = gpu.l2_line_bytes;
	uint64_t last[2] = {0}, read[2] = {0};
	for (uint64_t n = 0; n < 2; n++) {
		struct memory_system *m = memory_new(&gpu, gpu.sm_count, 1);
		struct arrivals arrivals = {0};
		struct memory_statistics counts = {0};
		CU_ASSERT_PTR_NOT_NULL_FATAL(m);
		memory_set_others(m, odd_lines, &line);
		struct memory_request r = {.address = n * line, .sectors = 1, .bytes = 32, .kind = MEMORY_READ};
		r.time = memory_depart(m, &r, 0);
		CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
		for (uint64_t end = 100; !arrivals.count && end < 10000; end += 100)
			CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
		memory_count(m, 1000, &counts);
		last[n] = arrivals.last;
		read[n] = (uint64_t)counts.dram_read_bytes;
		memory_free(m);
	}
	CU_ASSERT_TRUE(last[0] > 0);
	CU_ASSERT_DOUBLE_EQUAL((double)last[1], (double)last[0], gpu.l2_spread_cycles + 1); /* lines are not equally far */
	CU_ASSERT_TRUE(read[0] > 0);
	CU_ASSERT_EQUAL(read[1], 0);
}

static double read_all(const struct gpu *gpu, uint64_t bytes, bool warm)
{
	return ask_all(gpu, bytes, warm, MEMORY_READ, (uint32_t)(gpu->l2_line_bytes / 32));
}

/* 12 slices that take half a flit a cycle. A line of 4 sectors is 5 flits, 10 cycles. A single sector is 2 flits, 4 cycles. */
static void stores_have_headers(void)
{
	struct gpu gpu = test_gpu("gtx480", "icnt_in_order=0,icnt_sm_flits=64,icnt_slice_flits=64,icnt_store_flits=0.5");
	uint64_t bytes = 600 << 10, lines = bytes / 128;
	CU_ASSERT_DOUBLE_EQUAL((ask_all(&gpu, bytes, true, MEMORY_WRITE, 4) - gpu.l2_latency) / ((double)lines * 10 / 12), 1, 0.05);
	CU_ASSERT_DOUBLE_EQUAL((ask_all(&gpu, bytes, true, MEMORY_WRITE, 1) - gpu.l2_latency) / ((double)lines * 4 / 12), 1, 0.05);
}

/* 12 slices of a sector a cycle, and 2 cycles for each line: 6 cycles for a line of 4 sectors, 3 for a line of 1. Stores do not pay. */
static void lines_cost_slices_beside_their_sectors(void)
{
	struct gpu gpu = test_gpu("gtx480", "icnt_in_order=0,icnt_sm_flits=64,icnt_slice_flits=64,l2_slice_bytes=32,l2_request_cycles=2");
	uint64_t bytes = 600 << 10, lines = bytes / 128;
	CU_ASSERT_DOUBLE_EQUAL((ask_all(&gpu, bytes, true, MEMORY_READ, 4) - gpu.l2_latency) / ((double)lines * 6 / 12), 1, 0.05);
	CU_ASSERT_DOUBLE_EQUAL((ask_all(&gpu, bytes, true, MEMORY_READ, 1) - gpu.l2_latency) / ((double)lines * 3 / 12), 1, 0.05);
	CU_ASSERT_DOUBLE_EQUAL((ask_all(&gpu, bytes, true, MEMORY_WRITE, 4) - gpu.l2_latency) / ((double)lines * 4 / 12), 1, 0.05);
}

/* When the packet after these leaves: the first leaves at once. */
static uint64_t departure_after(const struct gpu *gpu, const struct memory_request *r, uint32_t count)
{
	struct memory_system *m = memory_new(gpu, gpu->sm_count, 1);
	uint64_t time = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	for (uint32_t i = 0; i <= count; i++)
		time = memory_depart(m, r, 0);
	memory_free(m);
	return time / MEMORY_TICKS;
}

/*
 * An H200's SM: a load's line leaves in a cycle, stores take a cycle for each sector and one more if bytes of them stay as they are. 32 lines with a word each
 * take 64 cycles, 8 lines with a word in each of 4 sectors 40, a whole line 4: 64.2, 40.1 and 4.1 were measured.
 */
static void packets_leave_an_sm_as_measured(void)
{
	struct gpu gpu = test_gpu("h200", "");
	struct memory_request load = {.sectors = 1, .bytes = 32, .kind = MEMORY_READ};
	struct memory_request word = {.sectors = 1, .bytes = 4, .kind = MEMORY_WRITE}, words = {.sectors = 15, .bytes = 16, .kind = MEMORY_WRITE};
	struct memory_request whole = {.sectors = 15, .bytes = 128, .kind = MEMORY_WRITE};
	CU_ASSERT_EQUAL(departure_after(&gpu, &load, 32), 32);
	CU_ASSERT_EQUAL(departure_after(&gpu, &word, 32), 64);
	CU_ASSERT_EQUAL(departure_after(&gpu, &words, 8), 40);
	CU_ASSERT_EQUAL(departure_after(&gpu, &whole, 1), 4);
	gpu = test_gpu("h200", "l1_misses_per_cycle=0,icnt_sm_store_flits=0"); /* four flits of 40 bytes a cycle */
	CU_ASSERT_EQUAL(departure_after(&gpu, &load, 32), 8);
	CU_ASSERT_EQUAL(departure_after(&gpu, &word, 32), 8);
}

struct span_of_times {
	uint64_t first, last;
	double sum;
	uint32_t count;
};

static void note_span(void *ctx, const struct memory_reply *reply)
{
	struct span_of_times *s = ctx;
	s->first = s->count && s->first < reply->time ? s->first : reply->time;
	s->last = s->last > reply->time ? s->last : reply->time;
	s->sum += (double)reply->time;
	s->count++;
}

/* One SM asks for 4,096 lines at once, nothing else being in the way: answers come within as many cycles as slices are apart, as late as before on average, and
 * none before the round trip that SMs are told. */
static void slices_are_not_equally_far(void)
{
	struct span_of_times found[2] = {0};
	uint64_t round_trip[2];
	for (int i = 0; i < 2; i++) {
		struct gpu gpu = test_gpu("h200", i ? "l1_misses_per_cycle=0,icnt_sm_flits=1024,l2_request_cycles=0,l2_slice_bytes=65536,icnt_slice_flits=1024"
		                                    : "l1_misses_per_cycle=0,icnt_sm_flits=1024,l2_request_cycles=0,l2_slice_bytes=65536,icnt_slice_flits=1024,l2_spread_cycles=0");
		struct memory_system *m = memory_new(&gpu, gpu.sm_count, 1);
		struct memory_range range = {.bytes = 4096 * 1024, .traffic = 1};
		CU_ASSERT_PTR_NOT_NULL_FATAL(m);
		memory_warm(m, &range, 1, false);
		for (uint32_t n = 0; n < 4096; n++) {
			struct memory_request r = {.address = n * 1024, .sectors = 1, .bytes = 32, .kind = MEMORY_READ};
			CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
		}
		round_trip[i] = memory_round_trip(m, false);
		for (uint64_t end = round_trip[i]; found[i].count < 4096 && end < 100000; end += round_trip[i])
			CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_span, &found[i]), 0);
		memory_free(m);
	}
	CU_ASSERT_EQUAL(found[1].count, 4096);
	CU_ASSERT_DOUBLE_EQUAL((double)(found[1].last - found[1].first), 56 + (double)(found[0].last - found[0].first), 4);
	CU_ASSERT_DOUBLE_EQUAL(found[1].sum / 4096, found[0].sum / 4096, 4);
	CU_ASSERT_EQUAL(round_trip[1], round_trip[0] - 28);
	CU_ASSERT_TRUE(found[1].first >= round_trip[1]);
}

/* A third of the SMs add to `bytes` of one line 30 times, and to 64 others once. Returns what the slice with most of that needs. */
static double hottest_with(const char *overrides, uint16_t bytes)
{
	struct gpu gpu = test_gpu("gtx480", overrides);
	struct memory_system *m = memory_new(&gpu, gpu.sm_count / 3, 1);
	struct arrivals arrivals = {0};
	struct memory_range range = {.bytes = 1 << 20, .traffic = 1};
	memory_warm(m, &range, 1, false);
	for (uint32_t i = 0; i < 94; i++) {
		struct memory_request r = {.address = i < 30 ? 0 : 4096 + (i - 30) * 256, .sectors = 1, .bytes = bytes, .lanes = 1,
		                           .kind = MEMORY_ATOMIC};
		r.time = memory_depart(m, &r, i);
		CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
	}
	uint64_t step = memory_round_trip(m, false);
	for (uint64_t end = step; arrivals.count < 94 && end < 1000000; end += step)
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
	double hottest;
	CU_ASSERT_EQUAL_FATAL(memory_hottest_atomics(m, &hottest), 0);
	memory_free(m);
	return hottest;
}

/* Each takes 3 cycles, or 2 for a whole sector. The slice with the one line needs 90, or 60, and time for its share of the others. */
static void hot_atomics_are_those_of_one_slice(void)
{
	double few = hottest_with("l2_atomic_cycles=3,l2_atomic_whole_cycles=2", 4), whole = hottest_with("l2_atomic_cycles=3,l2_atomic_whole_cycles=2", 32);
	CU_ASSERT_TRUE(few >= 30 * 3 && few <= (30 + 64 / 12 + 6) * 3);
	CU_ASSERT_DOUBLE_EQUAL(whole, few * 2 / 3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(hottest_with("l2_atomic_cycles=3", 32), few, 1e-9);
}

static void memory_moves_what_its_description_says(void)
{
	static const char *const names[] = {"gtx480", "m2090", "k40", "titanx", "v100", "rtx3070", "a100", "h200"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		struct gpu gpu = test_gpu(names[i], "l2_warm=0,l2_fills_access=1");
		uint64_t bytes = 8ull << 20;
		double cycles = read_all(&gpu, bytes, false) - gpu.dram_latency;
		double gbps = (double)bytes / cycles * gpu.clock_mhz / 1000;
		CU_ASSERT_DOUBLE_EQUAL(gbps / gpu.dram_gbps, 1, 0.05);
		if (gbps / gpu.dram_gbps < 0.95)
			printf("%s %.1f of %.1f GB/s\n", names[i], gbps, gpu.dram_gbps);
	}
}

static void slices_read_what_they_can(void)
{
	/* 12 slices of 32 bytes per cycle, without any other limit. */
	struct gpu gpu = test_gpu("gtx480", "icnt_in_order=0,icnt_sm_flits=64,icnt_slice_flits=64");
	uint64_t bytes = 600 << 10;
	double cycles = read_all(&gpu, bytes, true) - gpu.l2_latency;
	CU_ASSERT_DOUBLE_EQUAL((double)bytes / cycles / (12 * 32), 1, 0.05);
	/* One flit per cycle and SM: 15 * 32 bytes are more than 12 * 32, so SMs that share a slice wait for it. In order, a packet
	 * delays others: about 60% get through. */
	gpu = test_gpu("gtx480", NULL);
	double ratio = (double)bytes / (read_all(&gpu, bytes, true) - gpu.l2_latency) / (12 * 32);
	CU_ASSERT_TRUE(ratio > 0.5 && ratio < 1);
}

/* ---- in the occupancy vector ---- */

enum { PARTS = 64 };

/* One warp with this code and so many accesses, which have the given parts. */
static void run_parts(struct scene *s, const struct memory_part *parts, uint32_t count, const struct memory_range *warm, size_t ranges)
{
	uint32_t first[PARTS + 1], zero = 0;
	uint16_t accesses[PARTS];
	for (uint32_t i = 0; i < count; i++) {
		first[i] = i;
		accesses[i] = 1;
	}
	first[count] = count;
	scene_exit(s);
	struct path_requests requests = {first, parts};
	struct warp_path path = {.blocks = &zero, .block_count = 1, .accesses = accesses, .access_count = count, .requests = &requests};
	struct launch_warps launch = {.code = &s->code.code, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1,
	                              .path_of = &zero, .pattern_groups = 1, .warm = warm, .warm_count = ranges};
	s->options.hierarchy = true;
	s->issue_count = 0;
	CU_ASSERT_EQUAL_FATAL(model_occupancy_vector(&s->gpu, &launch, 1, &s->options, &s->timing, NULL), 0);
}

/* An access and a user of its value, again and again. Number n goes to addresses[n]. A load is of a line, an atomic of one lane. */
static void run_accesses(struct scene *s, const char *gpu, const char *overrides, enum code_class class, const uint64_t *addresses,
                         uint32_t count, const struct memory_range *warm, size_t ranges)
{
	const struct memory_part line = {.sectors = 15, .bytes = 128}, lane = {.sectors = 1, .bytes = 4, .lanes = 1};
	struct memory_part parts[PARTS];
	scene_start(s, gpu, overrides);
	for (uint32_t i = 0; i < count; i++) {
		build_memory(&s->code, class, SPACE_global, "2 <- 1");
		build(&s->code, CODE_move, "1 <- 2");
		parts[i] = class == CODE_atomic ? lane : line;
		parts[i].address = addresses[i];
	}
	run_parts(s, parts, count, warm, ranges);
}

static void run_loads(struct scene *s, const char *gpu, const char *overrides, const uint64_t *addresses, uint32_t count,
                      const struct memory_range *warm, size_t ranges)
{
	run_accesses(s, gpu, overrides, CODE_load, addresses, count, warm, ranges);
}

/* Cycles from the issue of access n to the issue of its user. */
static double distance(const struct scene *s, uint32_t n)
{
	return (double)(s->issues[2 * n + 1].cycle - s->issues[2 * n].cycle);
}

static void latencies_are_those_of_the_description(void)
{
	static const char *const names[] = {"gtx480", "qv100", "v100", "a100", "h200", "titanx", "rtx2060"};
	const struct memory_range warm = {.address = 1 << 20, .bytes = 1 << 12, .traffic = 1};
	const uint64_t addresses[] = {1 << 20, 1 << 20, 1 << 24, 1 << 24, (1 << 20) + 128};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		static struct scene s;
		run_loads(&s, names[i], "l1_caches_global=1,icache_line_instructions=0,l2_spread_cycles=0", addresses, 5, &warm, 1);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 0), s.gpu.l2_latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 1), s.gpu.l1_latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 2), s.gpu.dram_latency, 2);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 3), s.gpu.l1_latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(distance(&s, 4), s.gpu.l2_latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.requests, 5, 0);
		CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.l1_hit, 0.4, 1e-9);
		CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.l2_hit, 8.0 / 12, 0.18); /* 3 lines; a wide access hits what it brought */
	}
}

/* One lane, on a word that is in L2: the time from issue to user does not depend on a load's time to L2 and back. */
static void atomics_take_their_latency(void)
{
	static const char *const names[] = {"gtx480", "qv100", "v100", "h200"};
	static const double latencies[] = {144, 173, 245, 270, 500};
	const struct memory_range warm = {.address = 1 << 20, .bytes = 1 << 12, .traffic = 1};
	const uint64_t addresses[] = {1 << 20, 1 << 20, (1 << 20) + 256};
	for (size_t i = 0; i < GS_ARRAY_LEN(names) * GS_ARRAY_LEN(latencies); i++) {
		static struct scene s;
		char overrides[96];
		double latency = latencies[i % GS_ARRAY_LEN(latencies)];
		snprintf(overrides, sizeof overrides, "icache_line_instructions=0,l2_spread_cycles=0,atomic_latency=%g", latency);
		run_accesses(&s, names[i / GS_ARRAY_LEN(latencies)], overrides, CODE_atomic, addresses, 3, &warm, 1);
		for (uint32_t n = 0; n < 3; n++)
			CU_ASSERT_DOUBLE_EQUAL(distance(&s, n), latency, 1);
		CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.atomics, 3, 0);
	}
}

/*
 * Three loads before the first is answered: two sectors of a line; one of these and another; all four. L2 gets requests for 2, 1
 * and 1 of 2 + 2 + 4 sectors, so half of them hit. An H200's counters show the same: sectors on their way count as hits.
 */
static void sectors_on_their_way_are_hits(void)
{
	static struct scene s;
	const struct memory_part parts[] = {{.address = 1 << 20, .sectors = 3, .bytes = 64},
	                                    {.address = 1 << 20, .sectors = 6, .bytes = 64},
	                                    {.address = 1 << 20, .sectors = 15, .bytes = 128}};
	scene_start(&s, "v100", "icache_line_instructions=0");
	build_memory(&s.code, CODE_load, SPACE_global, "2 <- 1");
	build_memory(&s.code, CODE_load, SPACE_global, "3 <- 1");
	build_memory(&s.code, CODE_load, SPACE_global, "4 <- 1");
	run_parts(&s, parts, 3, NULL, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.requests, 3, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.timing.memory.l1_hit, 0.5, 1e-9);
}

static void a_larger_l2_is_not_slower(void)
{
	static struct scene s;
	uint64_t addresses[PARTS];
	double before = 1e18;
	for (uint32_t i = 0; i < PARTS; i++) /* 16 lines of one set, four times */
		addresses[i] = (uint64_t)(i % 16) * 12 * 256 * 32;
	static const char *const sizes[] = {"l2_bytes=12Ki,l1_caches_global=0,l2_warm=0", "l2_bytes=48Ki,l1_caches_global=0,l2_warm=0",
	                                    "l2_bytes=192Ki,l1_caches_global=0,l2_warm=0",
	                                    "l2_bytes=1536Ki,l1_caches_global=0,l2_warm=0"};
	for (size_t i = 0; i < GS_ARRAY_LEN(sizes); i++) {
		run_loads(&s, "gtx480", sizes[i], addresses, PARTS, NULL, 0);
		CU_ASSERT_TRUE(s.timing.cycles <= before);
		before = s.timing.cycles;
	}
	/* 8 ways do not hold 16 lines of a set. More sets do. */
	CU_ASSERT_TRUE(s.timing.memory.l2_hit > 0.7);
}

static void without_requests_memory_is_perfect(void)
{
	static struct scene s;
	double cycles[2];
	for (int i = 0; i < 2; i++) {
		scene_start(&s, "gtx480", "icache_cold_cycles=1,const_miss_cycles=3");
		build_memory(&s.code, CODE_load, SPACE_global, "2 <- 1");
		build(&s.code, CODE_move, "1 <- 2");
		scene_exit(&s);
		s.options.hierarchy = i == 1;
		cycles[i] = scene_run(&s);
	}
	CU_ASSERT_EQUAL(cycles[0], cycles[1]);
}

/* A group takes all of the memory that L1 and shared memory divide. Then L1 has no set left. */
static void a_cache_without_sets_has_a_place(void)
{
	CU_ASSERT_EQUAL(memory_set(1000, 0, true), 0);
	CU_ASSERT_EQUAL(memory_set(1000, 0, false), 0);
	CU_ASSERT_EQUAL(memory_set(1000, 64, false), 1000 % 64);
}

void add_memory_tests(void)
{
	CU_pSuite s = CU_add_suite("memory", NULL, NULL);
	CU_add_test(s, "a cache without sets has a place for lines", a_cache_without_sets_has_a_place);
	CU_ADD_TEST(s, least_recently_used_goes_first);
	CU_ADD_TEST(s, lines_go_in_the_order_of_their_use);
	CU_ADD_TEST(s, loads_merge_and_sectors_are_asked_for_one_by_one);
	CU_ADD_TEST(s, stores_drop_update_or_stay);
	CU_ADD_TEST(s, lines_that_wait_are_not_given_away);
	CU_ADD_TEST(s, a_part_of_the_channels_has_no_more_conflicts_than_all);
	CU_ADD_TEST(s, addresses_go_round_the_slices);
	CU_ADD_TEST(s, hashes_are_remainders_of_polynomials);
	CU_ADD_TEST(s, open_rows_first);
	CU_ADD_TEST(s, rows_that_others_opened_are_open);
	CU_ADD_TEST(s, a_hit_that_comes_in_time_goes_first);
	CU_ADD_TEST(s, banks_open_side_by_side_and_the_bus_turns);
	CU_ADD_TEST(s, memory_moves_what_its_description_says);
	CU_ADD_TEST(s, slices_read_what_they_can);
	CU_ADD_TEST(s, lines_sent_for_others_take_their_time_only);
	CU_ADD_TEST(s, stores_have_headers);
	CU_ADD_TEST(s, lines_cost_slices_beside_their_sectors);
	CU_ADD_TEST(s, packets_leave_an_sm_as_measured);
	CU_ADD_TEST(s, slices_are_not_equally_far);
	CU_ADD_TEST(s, hot_atomics_are_those_of_one_slice);
	CU_ADD_TEST(s, neighbours_take_turns);
	CU_ADD_TEST(s, latencies_are_those_of_the_description);
	CU_ADD_TEST(s, atomics_take_their_latency);
	CU_ADD_TEST(s, sectors_on_their_way_are_hits);
	CU_ADD_TEST(s, a_larger_l2_is_not_slower);
	CU_ADD_TEST(s, without_requests_memory_is_perfect);
}
