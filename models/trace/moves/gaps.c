/*
 * Iterations that a path leaves out: its windows, and how the addresses of their accesses move from round to round.
 *
 *   an instruction is executed n times in a window of k iterations, so n / k times in each: p, at least 1
 *   evenly: address(e + p) - address(e) = d for nearly all of its executions e; a round then moves it by d n / p
 *            At the end of a buffer it begins again, in the middle of a window, too: indices are masked, or taken modulo a size
 *   else by chance: anywhere in the part of memory that the instruction was seen to touch, all that a group does in the round together
 */
#include "models/trace/internal.h"

#include "models/accesses/image.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEARLY_ALL = 0.8; /* borders of rows and the like may differ */
static const double PARTED = 1.1; /* Less may be chance */
enum { LEAST_ITERATIONS = 8 }; /* of a window that becomes a half of what it was */
#define UNPLACED UINT64_MAX /* bytes of a shift until gaps_place; low: an address; or, by chance, the instruction, and step: an address */

int gaps_add(struct recorded_path *r, const struct recorded_gap *gap)
{
	struct recorded_gap *known = (struct recorded_gap *)(void *)r->gaps.data;
	for (size_t i = r->gaps.len / sizeof *known; i-- > 0;)
		if (known[i].from == gap->from && known[i].body == gap->body) {
			known[i].rounds = fmax(known[i].rounds, gap->rounds);
			return 0;
		}
	gs_buf_add(&r->gaps, gap, sizeof *gap);
	return r->gaps.failed ? -ENOMEM : 0;
}

/* ---- shifts ---- */

struct executions {
	const struct first_lane *firsts; /* of the window */
	uint32_t count;
	bool *done;
};

/* Whether two steps lead by the same distance. One that begins again at the end of its buffer does. */
static bool same_distance(int64_t a, int64_t b, int64_t buffer_bytes)
{
	return a == b || (buffer_bytes && (a == b - buffer_bytes || a == b + buffer_bytes));
}

/* Whether nearly all steps of p executions lead by the same distance. A distance that most have is the one that stays when each step takes
 * away one of another distance. */
static bool moves_evenly(const uint64_t *addresses, uint32_t count, uint32_t period, uint64_t buffer_bytes, int64_t *distance)
{
	uint32_t steps = count - period, same = 0, stay = 0;
	for (uint32_t i = 0; i < steps; i++) {
		int64_t by = (int64_t)(addresses[i + period] - addresses[i]);
		if (!stay)
			*distance = by;
		stay += same_distance(by, *distance, (int64_t)buffer_bytes) ? 1 : -1;
	}
	for (uint32_t i = 0; i < steps; i++)
		same += same_distance((int64_t)(addresses[i + period] - addresses[i]), *distance, (int64_t)buffer_bytes);
	return same >= NEARLY_ALL * steps;
}

/* The buffer that an address is in (trace.h); bytes 0: it is in none. */
static void find_buffer(const struct launch_trace *trace, uint64_t address, uint64_t *low, uint64_t *bytes)
{
	uint64_t argument = argument_of_address(address);
	bool known = address >> ARGUMENT_BITS && argument < trace->argument_count;
	*low = known ? (argument + 1) << ARGUMENT_BITS : 0;
	*bytes = known ? argument_memory(trace->argument_bytes[argument]) : 0;
}

static struct round_shift shift_of(const struct launch_trace *trace, const uint64_t *addresses, uint32_t count, double iterations,
                                   uint32_t instruction)
{
	uint32_t period = count > iterations ? (uint32_t)(count / iterations + 0.5) : 1;
	uint64_t low, bytes;
	int64_t distance;
	find_buffer(trace, addresses[0], &low, &bytes);
	if (count > period && moves_evenly(addresses, count, period, bytes, &distance))
		return (struct round_shift){.step = (int64_t)((double)distance * count / period), .low = addresses[0], .bytes = UNPLACED};
	return (struct round_shift){.chance = true, .low = instruction, .bytes = UNPLACED};
}

/* What an instruction touches in the rounds that were left out: from its address on, no further than its buffer. */
static void widen_range(const struct launch_trace *trace, struct shift_finder *ranges, uint32_t instruction, uint64_t address, double by)
{
	uint64_t low, bytes;
	find_buffer(trace, address, &low, &bytes);
	double end = (double)address + by;
	if (bytes && (end < (double)low || end > (double)low + (double)bytes)) {
		shift_finder_widen(ranges, instruction, low, low + bytes);
		return;
	}
	shift_finder_widen(ranges, instruction, by < 0 ? address - (uint64_t)-by : address, by < 0 ? address : address + (uint64_t)by);
}

/* All executions of one instruction in the window. */
static void shift_instruction(const struct gap_finish *f, const struct executions *e, uint32_t first, const struct path_gap *gap,
                              uint64_t *addresses, struct round_shift *out)
{
	uint32_t instruction = e->firsts[first].instruction, count = 0;
	for (uint32_t i = first; i < e->count; i++)
		if (e->firsts[i].known && e->firsts[i].instruction == instruction)
			addresses[count++] = e->firsts[i].address;
	struct round_shift shift = shift_of(f->trace, addresses, count, gap->iterations, instruction);
	if (!shift.chance)
		widen_range(f->trace, f->ranges, instruction, addresses[0], (double)shift.step * gap->rounds);
	for (uint32_t i = first; i < e->count; i++)
		if (e->firsts[i].instruction == instruction) {
			out[i] = shift;
			out[i].step = shift.chance ? (int64_t)e->firsts[i].address : shift.step;
			e->done[i] = true;
		}
}

static int add_shifts(const struct gap_finish *f, struct recorded_path *r, const struct path_gap *gap)
{
	struct executions e = {.firsts = (const struct first_lane *)(const void *)r->firsts.data + gap->first_access,
	                       .count = gap->access_count};
	struct round_shift *out = calloc(e.count + 1u, sizeof *out);
	uint64_t *addresses = calloc(e.count + 1u, sizeof *addresses);
	e.done = calloc(e.count + 1u, sizeof *e.done);
	int result = out && addresses && e.done ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < e.count && !result; i++)
		if (e.firsts[i].known && !e.done[i])
			shift_instruction(f, &e, i, gap, addresses, out);
	if (!result)
		gs_buf_add(&r->shifts, out, e.count * sizeof *out);
	free(out);
	free(addresses);
	free(e.done);
	return result ? result : r->shifts.failed ? -ENOMEM : 0;
}

void gaps_place(const struct launch_trace *trace, struct round_shift *shifts, size_t count, gaps_range_fn *range, void *ctx)
{
	for (size_t i = 0; i < count; i++) {
		if (shifts[i].bytes != UNPLACED)
			continue;
		if (shifts[i].chance) {
			struct memory_span in = range(ctx, (uint32_t)shifts[i].low, (uint64_t)shifts[i].step);
			shifts[i] = (struct round_shift){.chance = true, .low = in.low, .bytes = in.bytes};
		} else {
			find_buffer(trace, shifts[i].low, &shifts[i].low, &shifts[i].bytes);
		}
	}
}

/* ---- the path ---- */

static int compare_gaps(const void *a, const void *b)
{
	const struct recorded_gap *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->from > y->from ? -1 : x->from < y->from;
}

static int compare_loops(const void *a, const void *b)
{
	const struct recorded_gap *x = a, *y = b;
	if (x->body != y->body)
		return x->body < y->body ? -1 : 1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

static double left_out(const struct recorded_gap *g)
{
	return g->rounds * (g->at - g->from);
}

/* An iteration of a loop is never within another iteration of it. So where windows of one loop overlap, lanes that parted came to their windows at
 * different times, and left out the same rounds. Of these windows one remains. Returns how many are left. */
static size_t keep_one_of_lanes(struct recorded_gap *gaps, size_t count)
{
	size_t kept = 0;
	uint32_t end = 0;
	qsort(gaps, count, sizeof *gaps, compare_loops);
	for (size_t i = 0; i < count; i++) {
		struct recorded_gap gap = gaps[i];
		if (!kept || gaps[kept - 1].body != gap.body || gap.from >= end) {
			gaps[kept++] = gap;
			end = gap.at;
			continue;
		}
		end = gap.at > end ? gap.at : end;
		if (left_out(&gap) > left_out(&gaps[kept - 1]))
			gaps[kept - 1] = gap;
	}
	return kept;
}

/* Windows lie within one another, or apart. What does not is dropped: lanes that part in odd ways can come to that. Returns how many are left. */
static size_t keep_nested(struct recorded_gap *gaps, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		bool fits = true;
		for (size_t k = kept; k-- > 0 && gaps[k].at > gaps[i].from && fits;)
			fits = gaps[k].from >= gaps[i].from;
		if (fits)
			gaps[kept++] = gaps[i];
	}
	return kept;
}

/* Instructions of blocks from..to-1 of the path, and lanes that executed them. */
struct window_work {
	double instructions, lanes;
};

static struct window_work work_between(const struct gap_finish *f, const struct recorded_path *r, uint32_t from, uint32_t to)
{
	const uint32_t *blocks = (const uint32_t *)(const void *)r->blocks.data;
	const uint8_t *lanes = (const uint8_t *)r->lanes.data;
	struct window_work sum = {0};
	for (uint32_t b = from; b < to; b++) {
		double count = f->code->blocks[blocks[b]].count;
		sum.instructions += count;
		sum.lanes += count * ((lanes[b] & ~DIVERGES) + 1);
	}
	return sum;
}

/* Where the later half of a window's iterations begins, which begin with the same block as the first; 0: there are too few. *share: of the iterations. */
static uint32_t find_half(const struct recorded_path *r, const struct recorded_gap *g, double *share)
{
	const uint32_t *blocks = (const uint32_t *)(const void *)r->blocks.data;
	uint32_t all = 0, seen = 0;
	for (uint32_t b = g->from; b < g->at; b++)
		all += blocks[b] == blocks[g->from];
	if (all < 2 * LEAST_ITERATIONS || g->iterations < 2 * LEAST_ITERATIONS)
		return 0;
	for (uint32_t b = g->from; b < g->at; b++)
		if (blocks[b] == blocks[g->from] && seen++ == all / 2) {
			*share = (double)(all - all / 2) / all;
			return b;
		}
	return 0;
}

/* Lanes that go their own ways part more and more, as those that interpret a program: what was left out is like the end of the window. So a window becomes its
 * later half while warps execute more there for as many lanes. */
static void narrow_window(const struct gap_finish *f, const struct recorded_path *r, struct recorded_gap *g)
{
	double share = 1;
	for (uint32_t half; (half = find_half(r, g, &share)) != 0;) {
		struct window_work first = work_between(f, r, g->from, half), second = work_between(f, r, half, g->at);
		if (!(first.lanes > 0) || !(second.lanes > 0) || second.instructions / second.lanes < PARTED * first.instructions / first.lanes)
			return;
		g->rounds /= share;
		g->iterations *= share;
		g->from = half;
	}
}

static uint32_t accesses_before(const struct recorded_path *r, uint32_t block)
{
	uint32_t blocks = (uint32_t)(r->blocks.len / sizeof(uint32_t));
	return block < blocks ? ((const uint32_t *)(const void *)r->before.data)[block]
	                      : (uint32_t)(r->accesses.len / sizeof(uint16_t));
}

static void find_outer(struct path_gap *gaps, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		gaps[i].outer = -1;
		for (size_t k = i + 1; k < count && gaps[i].outer < 0; k++)
			if (gaps[k].from <= gaps[i].from)
				gaps[i].outer = (int32_t)k;
	}
}

/* The copy of a window is its next round. Lines move by whole lines. */
static void move_window(const struct launch_trace *trace, struct recorded_path *r, const struct path_gap *gap)
{
	enum { LINE = 128 };
	const struct round_shift *shifts = (const struct round_shift *)(const void *)(r->shifts.data + r->shifts.len) - gap->access_count;
	const uint32_t *first = (const uint32_t *)(const void *)r->first.data + gap->first_access;
	struct memory_part *parts = (struct memory_part *)(void *)r->parts.data;
	for (uint32_t i = 0; i < gap->access_count; i++)
		for (uint32_t p = first[i]; p < first[i + 1] && !shifts[i].chance; p++) {
			uint64_t low, bytes, to = parts[p].address + (uint64_t)(shifts[i].step / LINE * LINE);
			find_buffer(trace, parts[p].address, &low, &bytes);
			if (!bytes || to - low < bytes)
				parts[p].address = to;
		}
}

/* The windows in the order of struct warp_path. */
static int write_gaps(const struct gap_finish *f, struct recorded_path *r, const struct recorded_gap *found, size_t count)
{
	int result = 0;
	r->gaps.len = 0;
	for (size_t i = 0; i < count && !result; i++) {
		struct path_gap gap = {.from = found[i].from, .at = found[i].at, .rounds = found[i].rounds, .iterations = found[i].iterations};
		gap.first_access = accesses_before(r, gap.from);
		gap.access_count = accesses_before(r, gap.at) - gap.first_access;
		gs_buf_add(&r->gaps, &gap, sizeof gap);
		if (f->ranges)
			result = add_shifts(f, r, &gap);
		if (f->ranges && !result && found[i].thinned)
			move_window(f->trace, r, &gap);
	}
	find_outer((struct path_gap *)(void *)r->gaps.data, r->gaps.len / sizeof(struct path_gap));
	return r->gaps.failed ? -ENOMEM : result;
}

int gaps_finish(const struct gap_finish *f, struct recorded_path *r)
{
	size_t count = r->gaps.len / sizeof(struct recorded_gap), blocks = r->blocks.len / sizeof(uint32_t);
	r->shifts.len = r->weights.len = 0;
	if (!count)
		return 0;
	struct recorded_gap *found = malloc(2 * count * sizeof *found);
	double *weights = NULL;
	int result = found ? 0 : -ENOMEM;
	if (!result) {
		memcpy(found, r->gaps.data, count * sizeof *found);
		count = keep_one_of_lanes(found, count);
		for (size_t i = 0; i < count; i++)
			narrow_window(f, r, &found[i]);
		qsort(found, count, sizeof *found, compare_gaps);
		count = keep_nested(found, count);
		if (f->shares)
			result = gaps_thin(f->code, f->shares, r, found, &count);
		qsort(found, count, sizeof *found, compare_gaps);
	}
	blocks = r->blocks.len / sizeof(uint32_t);
	weights = result ? NULL : malloc((blocks + 1) * sizeof *weights);
	if (!result)
		result = weights ? write_gaps(f, r, found, count) : -ENOMEM;
	if (!result) {
		path_weigh(f->code, (const uint32_t *)(const void *)r->blocks.data, blocks, (struct path_gap *)(void *)r->gaps.data,
		           r->gaps.len / sizeof(struct path_gap), weights);
		gs_buf_add(&r->weights, weights, blocks * sizeof *weights);
	}
	free(found);
	free(weights);
	return r->weights.failed ? -ENOMEM : result;
}

/* ---- what counters say of them ---- */

/* Whether a block of the window is done twice as often as its first one, which each iteration does once: a loop inside, with a window of its own or
 * without. times: by block, zeros. */
static bool has_loops_inside(const struct warp_path *p, const struct path_gap *g, uint32_t *times)
{
	uint32_t most = 0, iterations;
	for (uint32_t b = g->from; b < g->at; b++) {
		uint32_t n = ++times[p->blocks[b]];
		most = n > most ? n : most;
	}
	iterations = times[p->blocks[g->from]];
	for (uint32_t b = g->from; b < g->at; b++)
		times[p->blocks[b]] = 0;
	return most >= 2 * iterations;
}

/* Where lanes leave loops inside one after the other, counters say less than a warp executes: it goes round each of them as often as its longest lane
 * there, and counters only know sums. */
static bool lanes_stay_together(const struct kernel_code *code, const struct warp_path *p)
{
	enum { LANES = 32 };
	static const double nearly_all = 0.95;
	return (double)p->active_lanes >= nearly_all * LANES * path_instructions(code, p);
}

static bool has_window_inside(const struct warp_path *p, size_t gap)
{
	return gap > 0 && p->gaps[gap - 1].from >= p->gaps[gap].from;
}

struct round_fit {
	const struct kernel_code *code;
	uint32_t *times; /* by block, zeros */
};

static bool may_change(const struct round_fit *f, const struct warp_path *p, size_t gap)
{
	const struct path_gap *g = &p->gaps[gap];
	return g->outer < 0 && (has_window_inside(p, gap) || (lanes_stay_together(f->code, p) && has_loops_inside(p, g, f->times)));
}

/* What is left out between two windows of a loop is half like the one before it and half like the one after it. */
static void share_rounds(const struct round_fit *f, const struct warp_path *p)
{
	struct path_gap *gaps = (struct path_gap *)p->gaps, *last = NULL; /* the store's own */
	for (size_t g = 0; g < p->gap_count; g++) {
		if (!may_change(f, p, g))
			continue;
		if (last && p->blocks[last->from] == p->blocks[gaps[g].from] && last->iterations > 0 && gaps[g].iterations > 0) {
			last->rounds /= 2;
			gaps[g].rounds += last->rounds * last->iterations / gaps[g].iterations;
		}
		last = &gaps[g];
	}
}

/* Instructions of rounds that become more or fewer with a factor: those of windows inside, else those of the window itself. */
static double work_to_fit(const struct round_fit *f, const struct warp_path *p)
{
	double sum = 0;
	for (size_t g = 0; g < p->gap_count; g++) {
		int32_t outer = p->gaps[g].outer;
		double work = p->gaps[g].rounds * p->gaps[g].work;
		if (outer < 0 && !has_window_inside(p, g))
			sum += may_change(f, p, g) ? work : 0;
		else if (outer >= 0 && p->gaps[outer].outer < 0)
			sum += work * (1 + p->gaps[outer].rounds);
	}
	return sum;
}

static void fit_rounds(const struct round_fit *f, const struct warp_path *p, double factor)
{
	struct path_gap *gaps = (struct path_gap *)p->gaps;
	for (size_t g = 0; g < p->gap_count; g++) {
		bool itself = gaps[g].outer < 0 && !has_window_inside(p, g) && may_change(f, p, g),
		     inside = gaps[g].outer >= 0 && gaps[gaps[g].outer].outer < 0;
		gaps[g].rounds *= itself || inside ? factor : 1;
	}
}

/* Warps that do the same may have one path. */
static bool is_among(struct warp_path *const *paths, size_t count, const struct warp_path *path)
{
	for (size_t i = 0; i < count; i++)
		if (paths[i] == path)
			return true;
	return false;
}

double gaps_fit(const struct kernel_code *code, struct warp_path *const *paths, size_t count, double counted)
{
	static const double same = 0.05; /* unrolling and branches that fall through make as much */
	static const double least = 0.1, most = 20; /* what is beyond is no loop that changes: the counters are of something else */
	const struct round_fit f = {code, calloc(code->block_count + 1u, sizeof *f.times)};
	double all = 0, before = 0, fits = 0;
	for (size_t i = 0; i < count && f.times; i++) {
		before += path_instructions(code, paths[i]);
		fits += work_to_fit(&f, paths[i]);
	}
	if (!(fits > 0) || fabs(counted / before - 1) < same) {
		free(f.times);
		return 1;
	}
	fits = 0;
	for (size_t i = 0; i < count; i++) {
		double own = path_instructions(code, paths[i]);
		if (!is_among(paths, i, paths[i])) {
			share_rounds(&f, paths[i]);
			trace_store_reweigh(code, paths[i], own);
		}
		all += path_instructions(code, paths[i]);
		fits += work_to_fit(&f, paths[i]);
	}
	double factor = (counted - (all - fits)) / fits;
	for (size_t i = 0; i < count && factor >= least && factor <= most; i++) {
		double own = path_instructions(code, paths[i]);
		if (is_among(paths, i, paths[i]))
			continue;
		fit_rounds(&f, paths[i], factor);
		trace_store_reweigh(code, paths[i], own);
	}
	free(f.times);
	return counted / before;
}
