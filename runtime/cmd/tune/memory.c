/*
 * Measures local memory, constants, atomics, and bandwidths.
 *
 *   turns: cycles for which a load of a warp occupies the load/store unit, with as many warps as a group has and two loads each
 *   bandwidth: bytes of all SMs per round of a loop, over the slope of its time
 */
#include "runtime/cmd/tune/tune.h"

#include <math.h>
#include <string.h>

enum { NEVER = 0xfffffff1u };

/* ---- local memory ---- */

static int local_latency(struct tuner *t)
{
	enum { ROUNDS_ARGUMENT = 1, ROUND = 16 };
	struct tune_sample s;
	struct tune_job job = {"memory.cl", NULL, "chase_local", 1, 1, {MEM(t->out), UINT(0), UINT(64), UINT(5), ULONG(NEVER)}};
	int result = tune_slope(t, &job, ROUNDS_ARGUMENT, t->quick ? 2 : 64, t->quick ? 10 : 1024, &s);
	double cycles = tune_cycles(t, s.ns / ROUND);
	if (!result)
		tune_put(t, "shared_latency", tune_whole(cycles), s.spread, 1, 1000, "chase in local memory, one lane");
	return result;
}

/* Cycles of one load of one warp, with lanes `stride` words apart. */
static int turns(struct tuner *t, struct tune_job *job, unsigned rounds_argument, struct tune_sample *s)
{
	enum { ROUND = 16 };
	int result = tune_slope(t, job, rounds_argument, t->quick ? 1 : 64, t->quick ? 3 : 512, s);
	s->ns = tune_cycles(t, s->ns / ROUND / ((double)job->local / t->base.warp_size));
	return result;
}

static int local_banks(struct tuner *t)
{
	const uint32_t stride = 8;
	struct tune_sample s;
	struct tune_job job = {"memory.cl", NULL, "local_stride", t->device.group_size, t->device.group_size,
	                       {MEM(t->out), UINT(0), UINT(stride), UINT(NEVER)}};
	int result = turns(t, &job, 1, &s);
	if (!result)
		tune_put(t, "shared_banks", tune_power(t->base.warp_size * stride / s.ns, 0.125), s.spread, 1, 256,
		         "%.2f turns with lanes %u words apart", s.ns, stride);
	return result;
}

/* All lanes load the same 16 bytes. If parts of a warp take turns, that is 4 turns of 32 banks. If lanes at one place are
 * served together, it is one. */
static int local_width(struct tuner *t)
{
	struct tune_sample s;
	struct tune_job job = {"memory.cl", NULL, "local_wide", t->device.group_size, t->device.group_size,
	                       {MEM(t->out), UINT(0), UINT(NEVER)}};
	int result = turns(t, &job, 1, &s);
	double splits = 4 * t->base.warp_size / tune_value(t, "shared_banks");
	if (!result)
		tune_put(t, "shared_wide_splits", s.ns > 0.7 * splits, s.spread, 0, 1, "%.2f turns with all lanes at the same 16 bytes", s.ns);
	return result;
}

static int l1_width(struct tuner *t)
{
	enum { WORDS = 1024 };
	const uint32_t stride = 8;
	struct tune_sample s;
	cl_mem words = tune_buffer(t, WORDS * 4, NULL);
	struct tune_job fill = {"memory.cl", NULL, "fill_words", 64, 64, {MEM(words), UINT(WORDS)}};
	struct tune_job job = {"memory.cl", NULL, "global_stride", t->device.group_size, t->device.group_size,
	                       {MEM(words), MEM(t->out), UINT(0), UINT(stride), UINT(NEVER)}};
	int result = words ? tune_run(t, &fill, &s) : -1;
	if (!result)
		result = turns(t, &job, 2, &s);
	if (!result)
		tune_put(t, "l1_access_bytes", tune_power(t->base.warp_size * 4.0 * stride / s.ns, 0.125), s.spread, 16, 1024,
		         "%.2f turns with lanes %u words apart in L1", s.ns, stride);
	tune_free(t, words);
	return result;
}

/* ---- constants ---- */

static int constants(struct tuner *t)
{
	enum { PLACES = 64, STEP = 5, FEW = 16, MANY = 48 };
	static const char *const options[] = {"-DSTEPS=16", "-DSTEPS=48"};
	cl_ulong list[PLACES];
	struct tune_sample slopes[2];
	int result = 0;
	for (unsigned i = 0; i < PLACES; i++)
		list[i] = (i + STEP) % PLACES * sizeof *list;
	cl_mem mem = tune_buffer(t, sizeof list, list);
	for (int i = 0; i < 2 && !result; i++) {
		struct tune_job job = {"constant.cl", options[i], "chase_constant", 1, 1, {MEM(mem), MEM(t->out), UINT(0), ULONG(NEVER)}};
		result = mem ? tune_slope(t, &job, 2, t->quick ? 8 : 64, t->quick ? 16 : 1024, &slopes[i]) : -1;
	}
	/* A step also adds the start of the list, in 64 bits. In machine code, these are two additions. The description means a
	 * load without an address in a register, which operand collectors need not read. */
	double cycles = tune_cycles(t, (slopes[1].ns - slopes[0].ns) / (MANY - FEW));
	double sum = (gpu_times_machine_code(&t->base) ? 2 : 1) * (tune_value(t, "int_latency") + t->base.pipeline_latency) +
		     (t->base.operand_collectors > 0);
	if (!result)
		tune_put(t, "const_latency", tune_whole(cycles) - sum, slopes[1].spread, 1, 1000, "chase of constants, %.2f cycles a step", cycles);
	tune_free(t, mem);
	return result;
}

int tune_local(struct tuner *t)
{
	int result = local_latency(t);
	if (!result)
		result = local_banks(t);
	if (!result)
		result = local_width(t);
	if (!result)
		result = l1_width(t);
	return result ? result : constants(t);
}

/* ---- atomics ---- */

/* Cycles of a step by so many groups and lanes, without the loop around it. */
static int exchange_cycles(struct tuner *t, size_t groups, size_t lanes, struct tune_sample *s)
{
	enum { ROUNDS_ARGUMENT = 2, FEW = 8, MANY = 16 };
	static const char *const options[] = {"-DSTEPS=8", "-DSTEPS=16"};
	struct tune_sample slopes[2];
	for (int i = 0; i < 2; i++) {
		struct tune_job job = {"memory.cl", options[i], "atomics", groups * lanes, lanes,
		                       {MEM(t->out), MEM(t->out), UINT(0), UINT(NEVER)}};
		int result = tune_slope(t, &job, ROUNDS_ARGUMENT, t->quick ? 1 : 64, t->quick ? 3 : 512, &slopes[i]);
		if (result)
			return result;
	}
	*s = tune_step(t, slopes, MANY - FEW);
	return 0;
}

/* One lane waits for each answer. Four groups then run on SMs of their own, so that no single SM is the bottleneck. */
int tune_atomics(struct tuner *t)
{
	struct tune_sample one, all;
	size_t groups = t->device.units < 4 ? t->device.units : 4, lanes = t->device.group_size / 2;
	int result = exchange_cycles(t, 1, 1, &one);
	if (!result)
		result = exchange_cycles(t, groups, lanes, &all);
	if (result)
		return result;
	double each = all.ns / (double)(groups * lanes);
	tune_put(t, "atomic_latency", tune_whole(one.ns), one.spread, 1, 10000, "chain of exchanges, one lane");
	tune_put(t, "l2_atomic_cycles", floor(each * 100 + 0.5) / 100, all.spread, 0.01, 1000, "%zu lanes exchange one word",
	         groups * lanes);
	return 0;
}

/* ---- bandwidth ---- */

static uint32_t power_below(double value)
{
	return (uint32_t)exp2(floor(log2(value)));
}

/* Groups that read an area whose size is a power of two. */
struct memory_reading {
	size_t groups, items, bytes;
	size_t place, hop; /* bytes from group to group, and from round to round */
	uint32_t low, high;
};

/* Measures the rate in bytes per ns. */
static int read_rate(struct tuner *t, const struct memory_reading *r, struct tune_sample *s)
{
	enum { LANE = 16, LOADS = 4 };
	cl_mem area = tune_buffer(t, r->bytes, NULL);
	struct tune_job job = {"memory.cl", NULL, "stream", r->groups * r->items, r->items,
	                       {MEM(area), MEM(t->out), UINT(0), UINT(r->bytes / LANE - 1), UINT(r->place / LANE), UINT(r->hop / LANE),
	                        UINT(NEVER)}};
	int result = area ? tune_touch(t, area, 0, r->bytes) : -1;
	if (!result)
		result = tune_slope(t, &job, 2, r->low, r->high, s);
	s->ns = (double)(r->groups * r->items * LANE * LOADS) / s->ns;
	tune_free(t, area);
	return result;
}

/* How many bytes DRAM moves for each byte that L2 takes. */
static double dram_moved(const struct tuner *t)
{
	double moved = (double)t->base.dram_access_bytes / (double)t->base.l2_sector_bytes;
	return t->base.l2_fills_access || moved < 1 ? 1 : moved;
}

/* All groups read through an area that is larger than L2, one after the other. Quick: they read it once, and L2 does not have
 * it when the launch begins. */
static int dram_rate(struct tuner *t)
{
	struct tune_sample s;
	struct memory_reading r = {.groups = t->device.units * (t->quick ? 1 : 4), .items = 512, .place = 512 * 64};
	r.hop = r.groups * r.place;
	r.bytes = 2 * power_below(8.0 * (double)t->base.l2_bytes);
	r.low = (uint32_t)(r.bytes / r.hop) + 1;
	r.high = 4 * r.low;
	if (t->quick) {
		r.low = (uint32_t)(t->base.l2_bytes / r.hop) + 4;
		r.high = r.low + 6;
		r.bytes = 2 * power_below((double)r.high * (double)r.hop);
	}
	int result = read_rate(t, &r, &s);
	double moved = dram_moved(t);
	if (!result)
		tune_put(t, "dram_gbps", floor(moved * s.ns * 10 + 0.5) / 10, s.spread, 1, 100000, "all SMs read from %zu MB, %.1f times%s",
		         r.bytes >> 20, (double)r.high * (double)r.hop / (double)r.bytes, moved > 1 ? "; half of what is moved is used" : "");
	return result;
}

/* Compares the rate with the most that L1's misses allow: all bytes that L1 can wait for at once, over the time that it waits. */
static bool is_bound_by_misses(const struct tuner *t, double rate)
{
	double most = (double)t->base.l1_mshrs * tune_value(t, "l1_sector_bytes") / tune_value(t, "l2_latency");
	return rate > 0.7 * most && rate < 1.1 * most;
}

static void put_sm_rate(struct tuner *t, double rate, double spread)
{
	const double flit = 32; /* bytes of data; the header is not counted */
	if (is_bound_by_misses(t, rate))
		tune_keep(t, "icnt_sm_flits", "one SM reads %.1f bytes a cycle, which l1_mshrs may bound", rate);
	else
		tune_put(t, "icnt_sm_flits", tune_power(rate / flit, 0.15), spread, 0.1, 64, "one SM reads %.1f bytes a cycle from L2", rate);
}

/* Measures one SM, then all of them. They read the same area at different times. The lower rate per SM shows what limits them. */
static int l2_rate(struct tuner *t)
{
	struct tune_sample one, all;
	struct memory_reading r = {.groups = 1, .items = 1024, .hop = 1024 * 64, .low = t->quick ? 2 : 64, .high = t->quick ? 5 : 512};
	r.bytes = power_below((double)t->base.l2_bytes / 2);
	int result = read_rate(t, &r, &one);
	r.groups = t->device.units;
	r.place = r.bytes / r.groups / 128 * 128;
	/* Quick: the groups do not reach the same bytes again, so that L1 never has them. */
	r.bytes *= t->quick ? 4 : 1;
	if (!result)
		result = read_rate(t, &r, &all);
	if (result)
		return result;
	double sm = one.ns * 1000 / t->clock_mhz, device = all.ns * 1000 / t->clock_mhz;
	put_sm_rate(t, sm, one.spread);
	double slice = tune_power(device / t->base.l2_slices, 0.15);
	if (device > 0.8 * sm * t->device.units)
		tune_keep(t, "l2_slice_bytes", "%.0f bytes a cycle, which is as much as the SMs take", device);
	else if (t->base.icnt_in_order)
		tune_keep(t, "l2_slice_bytes", "%.0f bytes a cycle, with a network in which packets hold up one another", device);
	else
		tune_put(t, "l2_slice_bytes", slice >= 1 ? floor(slice + 0.5) : 0, all.spread, 4, 1024, "all SMs read %.0f bytes a cycle from L2", device);
	return 0;
}

int tune_bandwidth(struct tuner *t)
{
	int result = dram_rate(t);
	return result ? result : l2_rate(t);
}
