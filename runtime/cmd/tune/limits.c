/*
 * Measures what a device reports about itself, its clock, how much can be resident on an SM, and the cost of launches and
 * copies.
 *
 *   residents: groups that wait for memory all the time. As long as they fit, they take as long as one. One more for each SM
 *   takes as long again.
 */
#include "runtime/cmd/tune/tune.h"

#include <math.h>
#include <string.h>

int tune_device_facts(struct tuner *t)
{
	const struct tune_device *d = &t->device;
	tune_put(t, "sm_count", d->units, 0, 1, 1024, "CL_DEVICE_MAX_COMPUTE_UNITS");
	tune_put(t, "max_threads_per_block", (double)d->group_size, 0, 32, 65536, "CL_DEVICE_MAX_WORK_GROUP_SIZE");
	if (t->quick)
		tune_keep(t, "dram_bytes", "the memory is the host's");
	else
		tune_put(t, "dram_bytes", (double)d->memory_bytes, 0, 1 << 20, 1e13, "CL_DEVICE_GLOBAL_MEM_SIZE");
	return 0;
}

/* ---- clock ---- */

static int clock_at(struct tuner *t, size_t groups, size_t items, struct tune_sample *s)
{
	cl_ulong ticks[2] = {0, 0};
	double ns[2];
	const uint32_t rounds[2] = {20000, 200000};
	for (int i = 0; i < 2; i++) {
		struct tune_sample time;
		struct tune_job job = {"clock.cl", NULL, "clock_rate", groups * items, items,
		                       {MEM(t->out), UINT(rounds[i]), UINT(1), UINT(2), UINT(0xfffffff1)}};
		int result = tune_run(t, &job, &time);
		if (!result)
			result = tune_read(t, t->out, &ticks[i], sizeof ticks[i]);
		if (result)
			return result;
		ns[i] = time.ns;
		s->spread = time.spread;
	}
	s->ns = (double)(ticks[1] - ticks[0]) / (ns[1] - ns[0]) * 1000;
	return 0;
}

int tune_clock(struct tuner *t)
{
	struct tune_sample idle, load;
	t->clock_mhz = t->device.clock_mhz ? t->device.clock_mhz : t->base.clock_mhz;
	if (!t->device.is_nvidia) {
		tune_put(t, "clock_mhz", t->clock_mhz, 0, 100, 5000, "CL_DEVICE_MAX_CLOCK_FREQUENCY; no counter of cycles to check it");
		return 0;
	}
	int result = clock_at(t, t->device.units, t->device.group_size, &load);
	if (!result)
		result = clock_at(t, 1, t->base.warp_size, &idle);
	if (result)
		return result;
	tune_put(t, "clock_mhz", floor(load.ns + 0.5), load.spread, 100, 5000, "all SMs at work; %.0f MHz with one", idle.ns);
	/* Benchmarks that use one SM run at the clock of one SM. */
	if (idle.ns > 100 && idle.ns < 5000)
		t->clock_mhz = idle.ns;
	return 0;
}

/* ---- residents ---- */

enum { NODE_BYTES = 256, LOCAL_ARGUMENT = 6 };

struct crowd {
	cl_mem area;
	uint32_t nodes;
	size_t items;        /* in a group */
	size_t local;        /* local memory of a group */
	const char *options; /* build options of registers.cl; NULL: another file is used */
};

static int crowd_ns(struct tuner *t, const struct crowd *c, size_t groups_per_sm, double *ns)
{
	struct tune_sample s;
	size_t groups = groups_per_sm * t->device.units;
	struct tune_job job = {"memory.cl", NULL, "chase_groups", groups * c->items, c->items,
	                       {MEM(c->area), MEM(t->out), ULONG(NODE_BYTES), UINT(c->nodes), UINT(t->quick ? 10 : 64),
	                        ULONG(0xfffffff1), LOCAL(c->local)}};
	if (c->options) {
		job.file = "registers.cl";
		job.options = c->options;
		job.kernel = "chase_registers";
		job.arguments[LOCAL_ARGUMENT].kind = TUNE_END;
	}
	int result = groups * c->items > t->out_items ? gs_fail(&t->error, 1, "too many work-items") : tune_run(t, &job, &s);
	*ns = s.ns - tune_value(t, "launch_overhead_ns");
	return result;
}

static int fits(struct tuner *t, const struct crowd *c, size_t groups, double one, bool *does)
{
	double many = 0;
	int result = crowd_ns(t, c, groups, &many);
	*does = many < 1.5 * one;
	return result;
}

/* Finds the most groups on an SM that take no longer than one. `guess` is tried first, which mostly ends the search. */
static int residents(struct tuner *t, const struct crowd *c, size_t guess, size_t most, size_t *found)
{
	double one;
	size_t low = 1, high = most + 1, middle = guess > 1 && guess < most ? guess : (low + high) / 2;
	int result = crowd_ns(t, c, 1, &one);
	while (!result && high - low > 1) {
		bool does;
		result = fits(t, c, middle, one, &does);
		*(does ? &low : &high) = middle;
		middle = low == guess ? low + 1 : high == guess ? high - 1 : (low + high) / 2;
	}
	*found = low;
	return result;
}

static int limit_blocks(struct tuner *t, struct crowd c)
{
	size_t found, most = 64;
	c.items = t->base.warp_size;
	int result = residents(t, &c, t->base.max_blocks_per_sm, most, &found);
	if (result || found == most) {
		tune_keep(t, "max_blocks_per_sm", "%s", result ? t->error.text : "no end was found");
		return 0;
	}
	tune_put(t, "max_blocks_per_sm", (double)found, 0, 1, 64, "groups of one warp that run at the same time");
	return 0;
}

static int limit_warps(struct tuner *t, struct crowd c)
{
	/* Groups have so many warps that the number of groups is not the limit. */
	size_t found, most = 16, warps = 8;
	c.items = warps * t->base.warp_size;
	int result = residents(t, &c, t->base.max_warps_per_sm / warps, most, &found);
	if (result || found == most) {
		tune_keep(t, "max_warps_per_sm", "%s", result ? t->error.text : "no end was found");
		return 0;
	}
	tune_put(t, "max_warps_per_sm", (double)(found * warps), 0, 8, 128, "groups of %zu warps that run at the same time", warps);
	return 0;
}

/* What follows if `found` groups of size `each` fit, and one more does not. The latter may have another reason. */
struct bounds {
	double least, most;
};

static void narrow(const struct tuner *t, struct bounds *b, double each, double warps, size_t found)
{
	double more = (double)(found + 1);
	b->least = fmax(b->least, (double)found * each);
	if (more <= tune_value(t, "max_blocks_per_sm") && more * warps <= tune_value(t, "max_warps_per_sm"))
		b->most = fmin(b->most, more * each);
}

static bool is_inside(double value, const struct bounds *b)
{
	return value >= b->least && value < b->most;
}

/* Takes the base's value if it is within the bounds, and otherwise the roundest number that is. */
static void put_bounded(struct tuner *t, const char *key, double base, const struct bounds *b)
{
	double value = is_inside(base, b) ? base : b->least < b->most ? tune_roundest(b->least, b->most - 1) : b->least;
	tune_put(t, key, value, b->most > b->least ? 0 : 1, 1024, 1 << 24, "groups that fit tell %.0f up to %.0f", b->least, b->most);
}

/* How many groups of one warp fit, for one size of local memory. */
struct fitting {
	size_t local, found;
};
enum { FITTINGS = 4 };

static struct bounds shared_bounds(const struct tuner *t, const struct fitting *f, double reserved)
{
	struct bounds b = {0, 1e9};
	double unit = (double)t->base.shared_allocation_unit;
	for (size_t i = 0; i < FITTINGS; i++)
		narrow(t, &b, ceil((double)f[i].local / unit) * unit + reserved, 1, f[i].found);
	return b;
}

/* A driver may reserve more for each group than the base says. Finds the amount with which all measurements agree, and, if
 * possible, also agree with the base's size. */
static double reserved_bytes(const struct tuner *t, const struct fitting *f)
{
	double base = (double)t->base.shared_reserved_per_block, step = fmax((double)t->base.shared_allocation_unit, 64), possible = base;
	struct bounds b = shared_bounds(t, f, base);
	if (b.least < b.most)
		return base;
	for (double reserved = base; reserved <= base + 2048; reserved += step) {
		b = shared_bounds(t, f, reserved);
		if (is_inside((double)t->base.shared_bytes_per_sm, &b))
			return reserved;
		if (b.least < b.most && possible == base)
			possible = reserved;
	}
	return possible;
}

static void put_shared(struct tuner *t, const struct fitting *f)
{
	double reserved = reserved_bytes(t, f);
	struct bounds b = shared_bounds(t, f, reserved);
	if (reserved > (double)t->base.shared_reserved_per_block)
		tune_put(t, "shared_reserved_per_block", reserved, 0, 0, 1 << 20, "with less, groups of %d sizes do not agree", FITTINGS);
	put_bounded(t, "shared_bytes_per_sm", (double)t->base.shared_bytes_per_sm, &b);
}

/* So small that many groups show how much is reserved for each, but not so small that the number of groups is the limit. */
static size_t small_group(const struct tuner *t)
{
	double blocks = tune_value(t, "max_blocks_per_sm"), many = blocks > 8 ? blocks - 4 : 4;
	double each = (double)t->base.shared_bytes_per_sm / many - (double)t->base.shared_reserved_per_block;
	return each > 1024 ? (size_t)each / 1024 * 1024 : 1024;
}

static int limit_shared(struct tuner *t, struct crowd c)
{
	const size_t local = t->device.local_bytes, sizes[FITTINGS] = {small_group(t), local / 6, local / 4, local / 2};
	struct fitting f[FITTINGS];
	c.items = t->base.warp_size;
	for (size_t i = 0; i < FITTINGS; i++) {
		c.local = f[i].local = sizes[i] / 1024 * 1024;
		double each = (double)(c.local + t->base.shared_reserved_per_block);
		if (residents(t, &c, (size_t)((double)t->base.shared_bytes_per_sm / each), 40, &f[i].found)) {
			tune_keep(t, "shared_bytes_per_sm", "%s", t->error.text);
			return 0;
		}
		tune_say(t, "  %zu groups with %zu bytes each", f[i].found, c.local);
	}
	put_shared(t, f);
	return 0;
}

/* Registers of a work-item, from the lines of NVIDIA's assembler in the build's log. 0: the log does not have them. */
static unsigned registers_used(struct tuner *t, const char *options)
{
	char text[4096];
	unsigned registers = 0;
	if (!t->device.is_nvidia || tune_build_log(t, "registers.cl", options, text, sizeof text))
		return 0;
	const char *used = strstr(text, "Used ");
	return used && sscanf(used, "Used %u registers", &registers) == 1 ? registers : 0;
}

static int limit_registers(struct tuner *t, struct crowd c)
{
	static const char *const options[] = {"-cl-nv-verbose -DLIVE=40", "-cl-nv-verbose -DLIVE=72", "-cl-nv-verbose -DLIVE=112"};
	struct bounds b = {0, 1e9};
	double unit = t->base.register_allocation_unit, warps = 4;
	c.items = (size_t)warps * t->base.warp_size;
	for (size_t i = 0; i < GS_ARRAY_LEN(options); i++) {
		size_t found;
		unsigned registers = registers_used(t, options[i]);
		double each = ceil(registers * (double)t->base.warp_size / unit) * unit * warps;
		c.options = options[i];
		if (!registers || residents(t, &c, (size_t)(t->base.registers_per_sm / each), 32, &found)) {
			tune_keep(t, "registers_per_sm", "%s", registers ? t->error.text : "the compiler does not tell a kernel's registers");
			return 0;
		}
		narrow(t, &b, each, warps, found);
		tune_say(t, "  %zu groups with %.0f registers each: from %.0f up to %.0f", found, each, b.least, b.most);
	}
	put_bounded(t, "registers_per_sm", t->base.registers_per_sm, &b);
	return 0;
}

int tune_limits(struct tuner *t)
{
	size_t bytes = tune_l2_room(t);
	struct tune_chase chase = {.area = tune_buffer(t, bytes + NODE_BYTES, NULL), .slot = bytes, .stride = NODE_BYTES,
	                           .count = (uint32_t)(bytes / NODE_BYTES)};
	chase.step = tune_golden_step(chase.count);
	struct crowd c = {.area = chase.area, .nodes = chase.count, .local = 16};
	int result = c.area ? tune_link_nodes(t, &chase) : -1;
	if (!result)
		result = limit_blocks(t, c);
	if (!result)
		result = limit_warps(t, c);
	if (!result)
		result = limit_shared(t, c);
	if (!result)
		result = limit_registers(t, c);
	tune_free(t, c.area);
	return result;
}

/* ---- launches and copies ---- */

int tune_launch(struct tuner *t)
{
	struct tune_sample s;
	struct tune_job job = {"compute.cl", "-DSTEPS=16", "nothing", t->base.warp_size, t->base.warp_size,
	                       {MEM(t->out), UINT(0xfffffff1)}};
	int result = tune_run(t, &job, &s);
	if (!result)
		tune_put(t, "launch_overhead_ns", s.ns, s.spread / 2, 0, 1e6, "a launch of one group that does nothing, by events");
	return result;
}

int tune_link(struct tuner *t)
{
	struct tune_sample small, large;
	size_t few = 4096, many = t->quick ? 16u << 20 : 64u << 20;
	int result = tune_copy(t, few, &small);
	if (!result)
		result = tune_copy(t, many, &large);
	if (result)
		return result;
	double gbps = (double)(many - few) / (large.ns - small.ns);
	tune_put(t, "link_gbps", floor(gbps * 100 + 0.5) / 100, large.spread, 0.1, 2000, "writes of %zu bytes from pinned memory", many);
	tune_put(t, "link_latency_ns", floor(small.ns - (double)few / gbps + 0.5), small.spread / 2, 10, 1e6, "a write of %zu bytes", few);
	return 0;
}
