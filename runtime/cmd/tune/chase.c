/*
 * Measures latencies, sizes and lines of caches by chases. In a chase, each node in memory has the address of the next node.
 *
 *   latency: cycles of a load whose address comes from the load before. The nodes are where L1, L2 or only DRAM has them
 *   size: the most bytes that a chase can repeat without misses, found by halving
 *   sector: the shortest stride at which every load of a chase straight ahead misses
 *   ways: the most nodes at a large distance that fit into one set, unless the number of a set is a hash of all bits
 *   line: pairs of nodes. If both nodes of a pair are in one line, they need half as many lines as when they are not
 */
#include "runtime/cmd/tune/tune.h"

#include <math.h>

enum { ROUND = 16, LINE = 128, QUICK_LOW = 2, QUICK_HIGH = 10, LOW = 32, HIGH = 512 };

uint32_t tune_golden_step(uint32_t count)
{
	uint32_t step = (uint32_t)(count * 0.6180339887) | 1;
	for (;; step += 2) {
		uint32_t a = count, b = step % count;
		while (b) {
			uint32_t rest = a % b;
			a = b;
			b = rest;
		}
		if (a == 1)
			return step % count;
	}
}

int tune_link_nodes(struct tuner *t, const struct tune_chase *c)
{
	struct tune_sample s;
	size_t items = t->quick ? 64 : 65536;
	unsigned repeats = t->repeats;
	struct tune_job job = {"memory.cl", NULL, "link_nodes", items, 64,
	                       {MEM(c->area), ULONG(c->slot), ULONG(c->stride), ULONG(c->apart), UINT(c->count), UINT(c->step)}};
	t->repeats = 1;
	int result = tune_run(t, &job, &s);
	t->repeats = repeats;
	return result;
}

int tune_touch(struct tuner *t, cl_mem area, size_t from, size_t to)
{
	struct tune_sample s;
	size_t items = t->quick ? 64 : 65536;
	unsigned repeats = t->repeats;
	struct tune_job job = {"memory.cl", NULL, "touch", items, 64,
	                       {MEM(area), MEM(t->out), UINT(from / 16), UINT(to / 16), UINT(0xfffffff1)}};
	/* A simulated launch begins with caches that hold what it touches. */
	if (t->quick)
		return 0;
	t->repeats = 1;
	int result = tune_run(t, &job, &s);
	t->repeats = repeats;
	return result;
}

static int chase_linked(struct tuner *t, const struct tune_chase *c, struct tune_sample *s)
{
	enum { ROUNDS_ARGUMENT = 2 };
	struct tune_job job = {"memory.cl", NULL, "chase", 1, 1, {MEM(c->area), ULONG(c->slot), UINT(0)}};
	uint32_t low = c->low ? c->low : t->quick ? QUICK_LOW : LOW, high = c->high ? c->high : t->quick ? QUICK_HIGH : HIGH;
	int result = tune_slope(t, &job, ROUNDS_ARGUMENT, low, high, s);
	s->ns = tune_cycles(t, s->ns / ROUND);
	return result;
}

int tune_chase_cycles(struct tuner *t, const struct tune_chase *c, struct tune_sample *s)
{
	int result = tune_link_nodes(t, c);
	if (!result)
		result = tune_touch(t, c->area, 0, c->slot);
	return result ? result : chase_linked(t, c, s);
}

/* ---- L1 ---- */

/* Cycles of a load in a chase that repeats the same bytes. It goes round twice before it is measured. */
static int round_cycles(struct tuner *t, cl_mem area, size_t bytes, struct tune_sample *s)
{
	uint32_t count = (uint32_t)(bytes / LINE), rounds = (count + ROUND - 1) / ROUND;
	struct tune_chase c = {.area = area, .slot = bytes, .stride = LINE, .count = count, .step = 1, .low = 2 * rounds,
	                       .high = (t->quick ? 3 : 6) * rounds};
	return tune_chase_cycles(t, &c, s);
}

/* Finds the most bytes with loads below `limit` cycles, to one part in 32. 0 in *high: no size is above the limit. */
static int largest(struct tuner *t, cl_mem area, int (*cycles)(struct tuner *, cl_mem, size_t, struct tune_sample *),
                   size_t from, size_t most, double limit, size_t *low, size_t *high)
{
	struct tune_sample s;
	*low = 0;
	*high = 0;
	for (size_t bytes = from; bytes <= most && !*high; bytes *= 2) {
		int result = cycles(t, area, bytes, &s);
		if (result)
			return result;
		*(s.ns < limit ? low : high) = bytes;
	}
	for (int i = 0; i < 5 && *low && *high; i++) {
		size_t middle = (*low + *high) / 2 / LINE * LINE;
		int result = cycles(t, area, middle, &s);
		if (result)
			return result;
		*(s.ns < limit ? low : high) = middle;
	}
	return 0;
}

/* Whether a size is between one that fits and one that does not, as exactly as that can be measured. */
static bool is_between(double size, size_t low, size_t high)
{
	const double near = 0.06;
	return size >= (1 - near) * (double)low && size <= (1 + near) * (double)high;
}

/* Keeps the base's size if it agrees with the measurement. `seen` is how much of it one SM sees. */
static void put_size(struct tuner *t, const char *key, double base, double seen, size_t low, size_t high, double grain)
{
	double apart = low ? (double)(high - low) / (double)low / 2 : 1;
	if (!low || !high)
		tune_keep(t, key, "no size was found at which loads get slower");
	else if (is_between(base, low, high) || is_between(seen, low, high))
		tune_put(t, key, base, apart, 1024, 1e10, "a chase fits in %zu bytes, not in %zu", low, high);
	else if (seen < base)
		tune_keep(t, key, "one SM's chase fits in %zu bytes, not in %zu, of partitions that it may not see", low, high);
	else
		tune_put(t, key, floor(tune_roundest((double)low, (double)high) / grain) * grain, apart, 1024, 1e10,
		         "a chase fits in %zu bytes, not in %zu", low, high);
}

static int l1_latency(struct tuner *t, cl_mem area)
{
	struct tune_sample s;
	struct tune_chase c = {.area = area, .slot = 2048, .stride = LINE, .count = 16, .step = 1};
	int result = tune_chase_cycles(t, &c, &s);
	if (!result)
		tune_put(t, "l1_latency", tune_whole(s.ns), s.spread, 1, 1000, "chase in 2 KB");
	return result;
}

int tune_l1(struct tuner *t)
{
	enum { MOST = 1 << 20 };
	size_t low, high;
	cl_mem area = tune_buffer(t, MOST + 4096, NULL);
	if (!area)
		return -1;
	int result = l1_latency(t, area);
	double limit = tune_value(t, "l1_latency") + 0.2 * (tune_value(t, "l2_latency") - tune_value(t, "l1_latency"));
	if (!result)
		result = largest(t, area, round_cycles, 4096, MOST, limit, &low, &high);
	if (!result)
		put_size(t, "l1_bytes", (double)t->base.l1_bytes, (double)t->base.l1_bytes, low, high, (double)t->base.l1_bytes / t->base.l1_ways);
	tune_free(t, area);
	return result;
}

/* ---- L2 ---- */

size_t tune_l2_room(const struct tuner *t)
{
	size_t bytes = 16 * (size_t)t->base.l1_bytes, most = (size_t)t->base.l2_bytes / 2;
	return bytes < most ? bytes : most;
}

static int l2_latency(struct tuner *t)
{
	struct tune_sample s;
	size_t bytes = tune_l2_room(t);
	uint32_t count = (uint32_t)(bytes / (2 * LINE));
	cl_mem area = tune_buffer(t, bytes + 4096, NULL);
	struct tune_chase c = {.area = area, .slot = bytes, .stride = 2 * LINE, .count = count, .step = tune_golden_step(count)};
	int result = area ? tune_chase_cycles(t, &c, &s) : -1;
	if (!result)
		tune_put(t, "l2_latency", tune_whole(s.ns), s.spread, 20, 5000, "chase in %zu KB", bytes / 1024);
	tune_free(t, area);
	return result;
}

/* Cycles of a load straight ahead through an area that was just read. */
static int l2_cycles(struct tuner *t, cl_mem area, size_t bytes, struct tune_sample *s)
{
	struct tune_chase c = {.area = area, .slot = bytes, .stride = LINE, .count = (uint32_t)(bytes / LINE), .step = 1};
	return tune_chase_cycles(t, &c, s);
}

int tune_l2(struct tuner *t)
{
	size_t low, high, most = 4 * (size_t)t->base.l2_bytes;
	int result = l2_latency(t);
	cl_mem area = result ? NULL : tune_buffer(t, most + 4096, NULL);
	if (!area)
		return -1;
	double limit = (tune_value(t, "l2_latency") + tune_value(t, "dram_latency")) / 2;
	result = largest(t, area, l2_cycles, tune_l2_room(t), most, limit, &low, &high);
	if (!result)
		put_size(t, "l2_bytes", (double)t->base.l2_bytes, (double)t->base.l2_bytes / t->base.l2_partitions, low, high,
		         (double)t->base.l2_line_bytes * t->base.l2_slices * 64);
	tune_free(t, area);
	return result;
}

/* ---- DRAM ---- */

/* Uses an area of four times L2. The nodes are in its first half. Its second half is touched last, so L2 has that instead. */
static int dram_cycles(struct tuner *t, cl_mem area, size_t stride, bool straight, struct tune_sample *s)
{
	size_t bytes = 4 * (size_t)t->base.l2_bytes;
	uint32_t count = (uint32_t)(bytes / 2 / stride);
	/* Where it is simulated, linking too many nodes takes long. */
	if (t->quick && count > 4096)
		count = 4096;
	struct tune_chase c = {.area = area, .slot = bytes, .stride = t->quick && !straight ? bytes / 2 / count / LINE * LINE : stride,
	                       .count = count, .step = straight ? 1 : tune_golden_step(count)};
	int result = tune_link_nodes(t, &c);
	if (!result)
		result = tune_touch(t, area, bytes / 2, bytes);
	return result ? result : chase_linked(t, &c, s);
}

int tune_dram(struct tuner *t)
{
	struct tune_sample s;
	cl_mem area = tune_buffer(t, 4 * (size_t)t->base.l2_bytes + 4096, NULL);
	int result = area ? dram_cycles(t, area, 4 * LINE, false, &s) : -1;
	if (!result)
		tune_put(t, "dram_latency", tune_whole(s.ns), s.spread, 50, 10000, "chase in %.0f MB", 2e-6 * (double)t->base.l2_bytes);
	tune_free(t, area);
	return result;
}

/* ---- sectors and lines ---- */

enum { SHORTEST = 16, LONGEST = 512, FAR = 1 << 20, MOST_WAYS = 32 };

typedef int straight_fn(struct tuner *t, cl_mem area, size_t stride, struct tune_sample *s);

/* Finds the shortest stride, straight ahead, at which loads take as long as at the longest stride. There, every load misses. */
static int shortest_miss(struct tuner *t, straight_fn *straight, cl_mem area, double fast, size_t *stride, struct tune_sample *s)
{
	struct tune_sample all;
	int result = straight(t, area, LONGEST, &all);
	for (*stride = SHORTEST; !result && *stride < LONGEST; *stride *= 2) {
		result = straight(t, area, *stride, s);
		if (s->ns > fast + 0.8 * (all.ns - fast))
			break;
	}
	return result;
}

static int straight_in_l2(struct tuner *t, cl_mem area, size_t stride, struct tune_sample *s)
{
	size_t bytes = tune_l2_room(t);
	uint32_t count = (uint32_t)(bytes / stride), rounds = count / ROUND;
	struct tune_chase c = {.area = area, .slot = bytes, .stride = stride, .count = count, .step = 1,
	                       .high = t->quick || rounds > HIGH ? 0 : rounds};
	return tune_chase_cycles(t, &c, s);
}

static int straight_in_dram(struct tuner *t, cl_mem area, size_t stride, struct tune_sample *s)
{
	return dram_cycles(t, area, stride, true, s);
}

static int l1_sector(struct tuner *t)
{
	size_t stride;
	struct tune_sample s;
	cl_mem area = tune_buffer(t, tune_l2_room(t) + 4096, NULL);
	int result = area ? shortest_miss(t, straight_in_l2, area, tune_value(t, "l1_latency"), &stride, &s) : -1;
	if (!result)
		tune_put(t, "l1_sector_bytes", (double)stride, s.spread, SHORTEST, LONGEST / 2, "shortest stride at which each load misses L1");
	tune_free(t, area);
	return result;
}

static int dram_access(struct tuner *t)
{
	size_t stride;
	const char *key = t->base.l2_fills_access ? "dram_access_bytes" : "l2_sector_bytes";
	double asked = tune_value(t, "l1_sector_bytes");
	struct tune_sample s;
	cl_mem area = tune_buffer(t, 4 * (size_t)t->base.l2_bytes + 4096, NULL);
	int result = area ? shortest_miss(t, straight_in_dram, area, tune_value(t, "l2_latency"), &stride, &s) : -1;
	if (!result && (double)stride <= asked && tune_value(t, key) < asked)
		tune_keep(t, key, "L1 asks for %.0f bytes at least", asked);
	else if (!result)
		tune_put(t, key, (double)stride, s.spread, SHORTEST, LONGEST / 2, "shortest stride at which each load misses L2");
	tune_free(t, area);
	return result;
}

/* Makes pairs of nodes that are `apart` bytes from each other. They fill 3/4 of L1 if both of a pair are in one line of `line`
 * bytes. */
static int pair_misses(struct tuner *t, cl_mem area, size_t line, size_t apart, bool *misses)
{
	const size_t stride = 9 * LINE;
	uint32_t pairs = (uint32_t)(0.75 * tune_value(t, "l1_bytes") / (double)line) / 8 * 8, rounds = pairs / 8;
	struct tune_chase c = {.area = area, .slot = pairs * stride, .stride = stride, .apart = apart, .count = 2 * pairs, .step = 1,
	                       .low = 2 * rounds, .high = 3 * rounds};
	struct tune_sample s;
	int result = tune_chase_cycles(t, &c, &s);
	/* If both are in one line, the second finds the line of the first. Sectors do not matter, because all of them are
	 * filled by now. */
	*misses = s.ns > tune_value(t, "l1_latency") + 0.35 * (tune_value(t, "l2_latency") - tune_value(t, "l1_latency"));
	return result;
}

static int l1_line(struct tuner *t)
{
	bool misses = false;
	int result = 0;
	double found = 0;
	cl_mem area = tune_buffer(t, (size_t)(tune_value(t, "l1_bytes") / 32 * 9 * LINE) + 4096, NULL);
	if (!area)
		return -1;
	for (size_t line = 256; line >= 32 && !found && !result; line /= 2)
		for (size_t apart = 32; apart <= line && !found && !result; apart *= 2) {
			result = pair_misses(t, area, line, apart, &misses);
			if (misses)
				found = (double)apart;
		}
	if (!result)
		tune_put(t, "l1_line_bytes", found, 0, 32, 256, "least distance at which pairs of nodes need two lines");
	tune_free(t, area);
	return result;
}

static int ways_fit(struct tuner *t, cl_mem area, size_t apart, uint32_t count, bool *fit)
{
	struct tune_sample s;
	struct tune_chase c = {.area = area, .slot = count * apart, .stride = apart, .count = count, .step = 1, .low = 2 * count};
	c.high = t->quick ? 4 * count : 64 * count;
	int result = tune_chase_cycles(t, &c, &s);
	*fit = s.ns < tune_value(t, "l1_latency") + 0.2 * (tune_value(t, "l2_latency") - tune_value(t, "l1_latency"));
	return result;
}

/* Finds the most lines at this distance that fit; MOST_WAYS: that many or more. */
static int most_ways(struct tuner *t, cl_mem area, size_t apart, uint32_t *ways)
{
	uint32_t low = 1, high = MOST_WAYS;
	bool fits = false;
	int result = ways_fit(t, area, apart, MOST_WAYS, &fits);
	*ways = MOST_WAYS;
	if (result || fits)
		return result;
	while (!result && high - low > 1) {
		uint32_t middle = (low + high) / 2;
		result = ways_fit(t, area, apart, middle, &fits);
		*(fits ? &low : &high) = middle;
	}
	*ways = low;
	return result;
}

/* The sets cannot be measured. If the base's number of ways does not divide the size, the number of sets is taken from the
 * base. */
static void keep_ways(struct tuner *t)
{
	double size = tune_value(t, "l1_bytes"), ways = size / ((double)t->base.l1_bytes / t->base.l1_ways);
	if (fmod(size, (double)(t->base.l1_line_bytes * t->base.l1_ways)) == 0)
		tune_keep(t, "l1_ways", "as far apart as may be, %d lines fit, or not always as many: sets by a hash of all bits", MOST_WAYS);
	else
		tune_put(t, "l1_ways", ways, 0, 1, 65536, "sets by a hash of all bits: as many as the base has, for this size");
}

/* Lines in one set stay in one set at any multiple of their distance. Lines that a hash has put into one set do not. */
static int l1_ways(struct tuner *t)
{
	enum { DISTANCES = 3 };
	uint32_t ways[DISTANCES];
	bool same = true;
	cl_mem area = tune_buffer(t, (size_t)MOST_WAYS * FAR * DISTANCES + 4096, NULL);
	int result = area ? 0 : -1;
	for (size_t i = 0; i < DISTANCES && !result && same; i++) {
		result = most_ways(t, area, (i + 1) * FAR, &ways[i]);
		same = ways[i] == ways[0] && ways[i] < MOST_WAYS;
	}
	if (!result && same)
		tune_put(t, "l1_ways", ways[0], 0, 1, MOST_WAYS, "lines %d, %d and %d KB apart that fit", FAR / 1024, 2 * FAR / 1024, 3 * FAR / 1024);
	else if (!result)
		keep_ways(t);
	tune_free(t, area);
	return result;
}

int tune_lines(struct tuner *t)
{
	int result = l1_sector(t);
	if (!result)
		result = l1_line(t);
	if (!result)
		result = l1_ways(t);
	return result ? result : dram_access(t);
}
