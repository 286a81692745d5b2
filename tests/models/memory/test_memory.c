/* The memory hierarchy at its limits: bandwidths, latencies, packets, atomics. */
#include "tests/tests.h"

#include "models/memory/map.h"
#include "models/memory/network.h"
#include "models/memory/slice.h"
#include "models/memory/system.h"
#include "tests/models/scene.h"

#include <stdlib.h>

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
static double ask_parts(const struct gpu *gpu, uint64_t bytes, bool warm, enum memory_kind kind, uint32_t sectors, uint32_t bytes_of_sector)
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
				                           .bytes = (uint16_t)(sectors * bytes_of_sector), .kind = (uint8_t)kind};
				r.time = memory_depart(m, &r, cycle);
				CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
			}
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
		CU_ASSERT_TRUE_FATAL(end < 100000000);
	}
	memory_free(m);
	return (double)arrivals.last;
}

static double ask_all(const struct gpu *gpu, uint64_t bytes, bool warm, enum memory_kind kind, uint32_t sectors)
{
	return ask_parts(gpu, bytes, warm, kind, sectors, 32);
}

/*
 * All SMs store whole lines as fast as they can, 131072 in all, 993 each. A port sends one in 4 cycles: all within 3972. Slices take 96 * 0.925
 * flits in a cycle, of 5.13 a line: 7572 cycles. So what leaves in less time waits: 256 flits of each SM, 400 cycles, or more by what a step adds.
 */
static void stores_leave_no_faster_than_slices_take_them(void)
{
	enum { LINES = 131072 };
	struct gpu gpu = test_gpu("h200", "l2_warm=0");
	struct memory_system *m = memory_new(&gpu, gpu.sm_count, 1);
	struct arrivals arrivals = {0};
	uint64_t left[256] = {0}, sent = 0, last = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	uint64_t step = memory_round_trip(m, false);
	for (uint64_t end = step; arrivals.count < LINES && end < 100000; end += step) {
		for (uint64_t cycle = end - step; cycle < end; cycle++)
			for (uint32_t s = 0; s < gpu.sm_count; s++) {
				struct memory_request r = {.address = sent * 128, .sectors = 15, .sm = s, .bytes = 128, .kind = MEMORY_WRITE};
				if (left[s] > cycle || sent == LINES)
					continue;
				r.time = memory_depart(m, &r, cycle);
				left[s] = r.time / MEMORY_TICKS + 1;
				last = left[s] > last ? left[s] : last;
				sent++;
				CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
			}
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
	}
	CU_ASSERT_EQUAL(arrivals.count, LINES);
	CU_ASSERT_TRUE(last > 7572 - 400 - 2 * step);
	CU_ASSERT_TRUE(arrivals.last > last && arrivals.last - last < 400 + 3 * step);
	memory_free(m);
}

static enum memory_others odd_lines(void *ctx, uint64_t address, struct memory_sharers *sharers)
{
	*sharers = (struct memory_sharers){0};
	return address / *(const uint64_t *)ctx % 2 ? OTHERS_SENT : OTHERS_NOTHING;
}

/* A line that DRAM sends for the SM, and one that it sends for somebody else: both take a load's latency, and DRAM reads the first only. */
static void lines_sent_for_others_take_their_time_only(void)
{
	struct gpu gpu = test_gpu("h200", "l2_warm=0,dram_far_cycles=0,dram_refresh_share=0");
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
		CU_ASSERT_EQUAL(counts.l2_read_bytes, 32);
		CU_ASSERT_EQUAL(counts.l2_written_bytes, 0);
		last[n] = arrivals.last;
		read[n] = (uint64_t)counts.dram_read_bytes;
		memory_free(m);
	}
	CU_ASSERT_TRUE(last[0] > 0);
	CU_ASSERT_DOUBLE_EQUAL((double)last[1], (double)last[0], gpu.l2_spread_cycles + 1); /* lines are not equally far */
	CU_ASSERT_TRUE(read[0] > 0);
	CU_ASSERT_EQUAL(read[1], 0);
}

/* Two of four groups that ask for even lines are simulated, and have them sent; those of odd ones others have sent, for as many, or for one alone. */
static enum memory_others shared_lines(void *ctx, uint64_t address, struct memory_sharers *sharers)
{
	uint64_t line = address / *(const uint64_t *)ctx;
	*sharers = line == 3 ? (struct memory_sharers){1, 1, 0} : (struct memory_sharers){4, 2, 0};
	return line % 2 ? OTHERS_SENT : OTHERS_NOTHING;
}

/* Sends a load of the line from each of two SMs, the second one `later` cycles after the first, and returns how long the first took. */
static uint64_t load_from_two(struct memory_system *m, uint64_t address, uint64_t now, uint64_t later)
{
	struct arrivals arrivals = {0};
	for (uint16_t sm = 0; sm < 2; sm++) {
		struct memory_request r = {.address = address, .sectors = 1, .bytes = 32, .kind = MEMORY_READ, .sm = sm};
		r.time = memory_depart(m, &r, now + sm * later);
		CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
	}
	for (uint64_t end = now + 10; !arrivals.count && end < now + 10000; end += 10)
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
	CU_ASSERT_EQUAL(memory_advance(m, now + 10000, note_arrival, &(struct arrivals){0}), 0);
	return arrivals.last - now;
}

/* The second of two SMs asks for line 0 after 60 cycles: the first and the last of those that ask for a line are 60 * 3 = 180 cycles apart. Line 1 was
 * sent for one of the two that are not simulated, 180 * 4 / (3 * 5) = 48 cycles earlier. Nobody knows of line 3. */
static void lines_that_others_asked_for_come_earlier(void)
{
	struct gpu gpu = test_gpu("h200", "l2_warm=0,dram_far_cycles=0,dram_refresh_share=0,l2_spread_cycles=0,dram_channels=1,l2_slices=1");
	uint64_t line = gpu.l2_line_bytes;
	struct memory_system *m = memory_new(&gpu, gpu.sm_count, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	memory_set_others(m, shared_lines, &line);
	uint64_t first = load_from_two(m, 0, 0, 60);
	uint64_t shared = load_from_two(m, line, 20000, 5000), alone = load_from_two(m, 3 * line, 40000, 5000);
	CU_ASSERT_DOUBLE_EQUAL((double)first, (double)alone, 2);
	CU_ASSERT_DOUBLE_EQUAL((double)(alone - shared), 48, 2);
	memory_free(m);
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

/* 12 slices that take half a flit a cycle, three for a header and two for a part of a sector: whole lines take 14 cycles, a word of each sector 22, a word
 * of one 10. */
static void parts_of_sectors_take_slices_longer(void)
{
	struct gpu gpu = test_gpu("gtx480", "icnt_in_order=0,icnt_sm_flits=64,icnt_slice_flits=64,icnt_store_flits=0.5,icnt_store_header_flits=3,"
	                                    "icnt_store_part_flits=2");
	uint64_t bytes = 600 << 10, lines = bytes / 128;
	CU_ASSERT_DOUBLE_EQUAL((ask_parts(&gpu, bytes, true, MEMORY_WRITE, 4, 32) - gpu.l2_latency) / ((double)lines * 14 / 12), 1, 0.05);
	CU_ASSERT_DOUBLE_EQUAL((ask_parts(&gpu, bytes, true, MEMORY_WRITE, 4, 4) - gpu.l2_latency) / ((double)lines * 22 / 12), 1, 0.05);
	CU_ASSERT_DOUBLE_EQUAL((ask_parts(&gpu, bytes, true, MEMORY_WRITE, 1, 4) - gpu.l2_latency) / ((double)lines * 10 / 12), 1, 0.05);
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

/* One SM of an H200 sends 4,096 words to lines of their own: in 2 cycles each, as they leave it. Each of 96 slices has 43 of them, 108 cycles. */
static void stores_of_one_sm_do_not_wait_for_slices(void)
{
	enum { WORDS = 4096 };
	struct gpu gpu = test_gpu("h200", "");
	struct memory_system *m = memory_new(&gpu, gpu.sm_count, 1);
	struct arrivals arrivals = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	for (uint64_t i = 0, step = memory_round_trip(m, false), end = step; arrivals.count < WORDS && end < 100000; end += step) {
		for (; i < WORDS && i * 2 < end; i++) {
			struct memory_request r = {.address = i * 128, .sectors = 1, .bytes = 4, .kind = MEMORY_WRITE};
			r.time = memory_depart(m, &r, i * 2);
			CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
		}
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
	}
	CU_ASSERT_DOUBLE_EQUAL(((double)arrivals.last - gpu.l2_latency) / (2.0 * WORDS), 1, 0.05);
	memory_free(m);
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

/* Cycles until one slice has done 64 atomics in L2, to so many lines in turn. */
static double atomics_take(uint32_t lines, enum memory_kind kind)
{
	struct gpu gpu = test_gpu("gtx480", "l2_slices=1,dram_channels=1,l2_bytes=64Ki,l2_atomic_cycles=3,l2_atomic_line_cycles=5,l2_atomic_result_cycles=7");
	struct memory_system *m = memory_new(&gpu, gpu.sm_count, 1);
	struct arrivals arrivals = {0};
	struct memory_range range = {.bytes = 4096, .traffic = 1};
	memory_warm(m, &range, 1, false);
	for (uint32_t i = 0; i < 64; i++) {
		struct memory_request r = {.address = i % lines * 128, .sectors = 1, .bytes = 4, .lanes = 1, .kind = (uint8_t)kind};
		r.time = memory_depart(m, &r, i);
		CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
	}
	uint64_t step = memory_round_trip(m, true);
	for (uint64_t end = step; arrivals.count < 64 && end < 1000000; end += step)
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
	memory_free(m);
	return (double)arrivals.last;
}

/* 3 cycles each on a line that is one of the last four, 5 more on another, and 7 more with a result. The last one is answered when the slice begins with it; the
 * first one is on another line in any case. */
static void atomics_take_longer_on_other_lines(void)
{
	double same = atomics_take(1, MEMORY_ATOMIC), four = atomics_take(4, MEMORY_ATOMIC), many = atomics_take(8, MEMORY_ATOMIC);
	CU_ASSERT_DOUBLE_EQUAL(four - same, 3 * 5, 1);
	CU_ASSERT_DOUBLE_EQUAL(many - same, 62 * 5, 1);
	CU_ASSERT_DOUBLE_EQUAL(atomics_take(8, MEMORY_ATOMIC_RESULT) - many, 63 * 7, 1);
	CU_ASSERT_DOUBLE_EQUAL(atomics_take(1, MEMORY_ATOMIC_RESULT) - same, 7, 1);
}

/* Cycles until `sms` of the H200's have added 3000 times to memory of an argument, a word in each of so many KB. */
static double adds_take(uint32_t sms, uint32_t pieces)
{
	enum { ADDS = 3000 };
	struct gpu gpu = test_gpu("h200", "l2_spread_cycles=0");
	struct memory_range range = {.address = 1ull << 40, .bytes = pieces * 1024, .traffic = 1};
	struct memory_system *m = memory_new(&gpu, sms, 1);
	struct arrivals arrivals = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	memory_warm(m, &range, 1, false);
	for (uint32_t i = 0; i < ADDS; i++) {
		struct memory_request r = {.address = range.address + i % pieces * 1024, .sectors = 1, .bytes = 4, .lanes = 1, .sm = i % sms, .kind = MEMORY_ATOMIC};
		r.time = memory_depart(m, &r, i / sms);
		CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
	}
	for (uint64_t step = memory_round_trip(m, true), end = step; arrivals.count < ADDS && end < 1000000; end += step)
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
	memory_free(m);
	return (double)arrivals.last;
}

/* 3000 adds to a word take 1.45 cycles each, and those of a third of the SMs stand for three times as many. To words of 1000 KB, a third of the
 * SMs have a third of the slices, so that each does as much for itself. */
static void adds_of_some_sms_take_as_long_as_those_of_all(void)
{
	CU_ASSERT_DOUBLE_EQUAL(adds_take(132, 1), 1.45 * 3000 + 290, 60);
	CU_ASSERT_DOUBLE_EQUAL(adds_take(44, 1), 3 * 1.45 * 3000 + 290, 60);
	CU_ASSERT_TRUE(adds_take(44, 1000) < 1000);
}

static void memory_moves_what_its_description_says(void)
{
	static const char *const names[] = {"gtx480", "m2090", "k40", "titanx", "v100", "rtx3070", "a100", "h200"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		struct gpu gpu = test_gpu(names[i], "l2_warm=0,l2_fills_access=1");
		uint64_t bytes = 8ull << 20;
		/* The last line is among the slowest: far, and held up by a refresh. */
		double slowest = gpu.dram_latency + gpu.dram_far_cycles / 2 + gpu.dram_refresh_cycles * (1 - gpu.dram_refresh_share / 2);
		double cycles = read_all(&gpu, bytes, false) - slowest;
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
	 * delays others. A program that does the same queues cycle by cycle, with outputs that serve inputs in turn, has 0.467 here. */
	gpu = test_gpu("gtx480", NULL);
	double ratio = (double)bytes / (read_all(&gpu, bytes, true) - gpu.l2_latency) / (12 * 32);
	CU_ASSERT_DOUBLE_EQUAL(ratio, 0.467, 0.01);
}

/* One load at a time, of 2048 lines that L2 does not have, then of the same lines. Returns the lines that DRAM writes. */
static double lines_written(double replaced, double bytes)
{
	enum { LINES = 2048 };
	struct gpu gpu = test_gpu("h200", "l2_warm=0");
	struct memory_system *m = memory_new(&gpu, gpu.sm_count, 1);
	struct memory_statistics done = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	memory_set_replaced(m, replaced, bytes);
	for (uint64_t i = 0; i < 2 * LINES; i++) {
		struct arrivals arrivals = {0};
		struct memory_request r = {.address = i % LINES * 128, .sectors = 1, .bytes = 32, .kind = MEMORY_READ};
		r.time = memory_depart(m, &r, i * 10000);
		CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
		CU_ASSERT_EQUAL_FATAL(memory_advance(m, (i + 1) * 10000, note_arrival, &arrivals), 0);
	}
	memory_count(m, 2ull * LINES * 10000, &done);
	memory_free(m);
	return done.dram_written_bytes / 128;
}

/* Each of 48 channels holds less than a line back, and has a 48th of them. */
static void lines_come_in_the_place_of_dirty_ones(void)
{
	CU_ASSERT_EQUAL(lines_written(0, 1e9), 0);
	CU_ASSERT_EQUAL(lines_written(1, 1e9), 2048);
	CU_ASSERT_DOUBLE_EQUAL(lines_written(0.25, 1e9), 512 - 24, 24);
	CU_ASSERT_EQUAL(lines_written(1, 480 * 128), 480); /* there were no more */
}

/* One load at a time, of lines a KB apart. No partition has a copy of what is at home in the other one: such lines take dram_far_cycles
 * longer, about as many as not. */
static void lines_of_another_partition_are_far(void)
{
	enum { LINES = 64 };
	struct gpu gpu = test_gpu("h200", "l2_spread_cycles=0");
	struct memory_range range = {.address = 1ull << 40, .bytes = LINES << 10, .traffic = 1, .far = 0.5};
	struct memory_system *m = memory_new(&gpu, gpu.sm_count, 1);
	uint64_t near = UINT64_MAX, took[LINES];
	uint32_t far = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	memory_warm(m, &range, 1, false);
	for (uint64_t i = 0; i < LINES; i++) {
		struct arrivals arrivals = {0};
		struct memory_request r = {.address = range.address + (i << 10), .sectors = 1, .bytes = 32, .kind = MEMORY_READ};
		r.time = memory_depart(m, &r, i * 10000);
		CU_ASSERT_EQUAL_FATAL(memory_send(m, &r), 0);
		for (uint64_t end = i * 10000 + 10; !arrivals.count && end < (i + 1) * 10000; end += 10)
			CU_ASSERT_EQUAL_FATAL(memory_advance(m, end, note_arrival, &arrivals), 0);
		took[i] = arrivals.last - i * 10000;
		near = took[i] < near ? took[i] : near;
	}
	for (uint64_t i = 0; i < LINES; i++) {
		far += took[i] > near + 1;
		CU_ASSERT_DOUBLE_EQUAL((double)(took[i] - near), took[i] > near + 1 ? gpu.dram_far_cycles : 0, 1);
	}
	CU_ASSERT_TRUE(far > LINES / 4 && far < LINES * 3 / 4);
	memory_free(m);
}

/* Small buffers are one behind the other, in multiples of 512 bytes, as many as there is room for in 2 MB: the second MB is not behind the
 * first. Bytes 0 and 512 are in one slice, and 1024 is in another. */
static void small_buffers_are_together(void)
{
	struct gpu gpu = test_gpu("h200", NULL);
	const uint64_t bytes[] = {32, 8 << 20, 512, 513, 1 << 20, 1 << 20, 0, 32};
	const uint64_t expected[] = {0, 0, 512, 1024, 2048, 2 << 20, 0, 3 << 20};
	struct memory_map map;
	memory_map_init(&map, gpu.dram_channels, gpu.l2_slices / gpu.dram_channels, gpu.l2_interleave_bytes, gpu.l2_hash);
	map.turn_bytes = gpu.l2_turn_bytes;
	memory_places_init(&map.places, &gpu, bytes, GS_ARRAY_LEN(bytes));
	for (size_t i = 0; i < GS_ARRAY_LEN(bytes); i++) {
		bool alone = !bytes[i] || bytes[i] > 1 << 20;
		uint64_t address = (i + 1) << 40 | 5;
		CU_ASSERT_EQUAL(memory_placed(&map.places, address), alone ? address : map.places.at[0] + expected[i] + 5);
	}
	struct memory_place a = memory_map_find(&map, 1ull << 40), b = memory_map_find(&map, 3ull << 40), c = memory_map_find(&map, 4ull << 40);
	CU_ASSERT_TRUE(a.channel == b.channel && a.slice == b.slice);
	CU_ASSERT_TRUE(a.channel != c.channel || a.slice != c.slice);
	memory_places_init(&map.places, &gpu, NULL, 3);
	CU_ASSERT_EQUAL(memory_placed(&map.places, 1ull << 40), 1ull << 40);
	gpu = test_gpu("gtx480", NULL);
	memory_places_init(&map.places, &gpu, bytes, GS_ARRAY_LEN(bytes));
	CU_ASSERT_EQUAL(memory_placed(&map.places, 1ull << 40), 1ull << 40);
}

void add_memory_tests(void)
{
	CU_pSuite s = CU_add_suite("memory", NULL, NULL);
	CU_ADD_TEST(s, memory_moves_what_its_description_says);
	CU_ADD_TEST(s, slices_read_what_they_can);
	CU_ADD_TEST(s, lines_sent_for_others_take_their_time_only);
	CU_ADD_TEST(s, lines_that_others_asked_for_come_earlier);
	CU_ADD_TEST(s, stores_have_headers);
	CU_ADD_TEST(s, parts_of_sectors_take_slices_longer);
	CU_ADD_TEST(s, stores_leave_no_faster_than_slices_take_them);
	CU_ADD_TEST(s, lines_cost_slices_beside_their_sectors);
	CU_ADD_TEST(s, packets_leave_an_sm_as_measured);
	CU_ADD_TEST(s, stores_of_one_sm_do_not_wait_for_slices);
	CU_ADD_TEST(s, slices_are_not_equally_far);
	CU_ADD_TEST(s, hot_atomics_are_those_of_one_slice);
	CU_ADD_TEST(s, atomics_take_longer_on_other_lines);
	CU_ADD_TEST(s, adds_of_some_sms_take_as_long_as_those_of_all);
	CU_ADD_TEST(s, lines_of_another_partition_are_far);
	CU_ADD_TEST(s, lines_come_in_the_place_of_dirty_ones);
	CU_ADD_TEST(s, small_buffers_are_together);
}
