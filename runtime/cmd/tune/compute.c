/*
 * Measures classes of instructions: latency and initiation interval, from the chains of dependent instructions in compute.cl.
 *
 *   step(warps) = (slope(MANY steps) - slope(FEW steps)) / (MANY - FEW), slope: ns per round of the loop
 *   latency = step(one warp), less the other instructions of the step, less pipeline_latency each
 *   initiation = step(many warps, wide) * units / warps, less the same of the other instructions on the same units
 */
#include "runtime/cmd/tune/tune.h"

#include <math.h>
#include <string.h>

/* Steps in a round. A round with wide steps has a quarter of them. */
enum { FEW = 16, MANY = 48, ROUNDS_ARGUMENT = 1 };

/* A chain. Each step has `count` instructions of the class, and perhaps others. */
struct chain {
	const char *class, *kernel;
	unsigned count;
	uint32_t first, second; /* operands */
	const char *units;      /* units that the class runs on, unless the description names others */
	const char *other;      /* another class; each step has one instruction of it */
	bool beside;            /* the other class runs on units of its own */
	bool sequence;          /* in machine code it is a sequence of instructions */
	const char *also;       /* another chain of the class; the mean of both is used */
	const char *pure;       /* a chain without the other class, for machine code and for many warps */
	const char *lone;       /* the same, only for one warp of machine code */
	const char *many;       /* the same, only for many warps of machine code */
	const char *file;       /* NULL: compute.cl */
	bool ptx;               /* the file has lines of PTX */
};

static const struct chain chains[] = {
	{.class = "logic", .kernel = "logic", .count = 2, .first = 1, .second = 7, .units = "int_units"},
	{.class = "int", .kernel = "int_add", .count = 1, .first = 3, .second = 5, .units = "int_units", .other = "logic",
	 .lone = "int_sum", .many = "int_sum3"},
	{.class = "int_mul", .kernel = "int_mul", .count = 1, .first = 3, .second = 5, .units = "int_units", .other = "logic",
	 .pure = "int_square"},
	{.class = "int_mad", .kernel = "int_mad", .count = 1, .first = 3, .second = 5, .units = "int_units"},
	{.class = "int_minmax", .kernel = "int_minmax", .count = 2, .first = 1000, .second = 3, .units = "int_units"},
	{.class = "int_div", .kernel = "int_div", .count = 1, .first = 1000000, .second = 64, .units = "sfu_units", .other = "logic",
	 .beside = true, .sequence = true},
	{.class = "int_rem", .kernel = "int_rem", .count = 1, .first = 1000000, .second = 64, .units = "sfu_units", .other = "logic",
	 .sequence = true},
	{.class = "fp32", .kernel = "fp32", .count = 1, .first = 1, .second = 2, .units = "fp32_units"},
	{.class = "fp32_fma", .kernel = "fp32_fma", .count = 1, .first = 1, .second = 2, .units = "fp32_units"},
	{.class = "fp32_minmax", .kernel = "fp32_minmax", .count = 2, .first = 1000, .second = 3, .units = "fp32_units"},
	{.class = "fp32_div", .kernel = "fp32_div", .count = 1, .first = 3, .second = 2, .units = "sfu_units", .sequence = true},
	{.class = "sfu", .kernel = "sfu", .count = 1, .first = 1, .second = 2, .units = "sfu_units", .other = "fp32", .beside = true},
	{.class = "move", .kernel = "move", .count = 2, .first = 3, .second = 5, .units = "int_units"},
	{.class = "conv", .kernel = "conv", .count = 1, .first = 1, .second = 2, .units = "int_units", .other = "move", .also = "conv_back",
	 .pure = "conv"},
	{.class = "shuffle", .kernel = "shuffle_lanes", .count = 1, .first = 1, .second = 2, .units = "int_units", .file = "shuffle.cl",
	 .ptx = true},
	{.class = "fp64", .kernel = "fp64", .count = 1, .first = 1, .second = 2, .units = "fp64_units"},
	{.class = "fp64_fma", .kernel = "fp64_fma", .count = 1, .first = 1, .second = 2, .units = "fp64_units"},
	{.class = "fp64_minmax", .kernel = "fp64_minmax", .count = 2, .first = 1000, .second = 3, .units = "fp64_units",
	 .sequence = true},
	{.class = "fp64_div", .kernel = "fp64_div", .count = 1, .first = 3, .second = 2, .units = "sfu_units", .sequence = true},
};

/* Measures the cycles of one step in a group of so many work-items. */
static int measure_step(struct tuner *t, const char *file, const char *kernel, uint32_t first, uint32_t second, size_t items,
                        bool wide, struct tune_sample *s)
{
	static const char *const narrow_options[] = {"-DSTEPS=16", "-DSTEPS=48"}, *const wide_options[] = {"-DSTEPS=4 -DWIDE", "-DSTEPS=12 -DWIDE"};
	const char *const *options = wide ? wide_options : narrow_options;
	struct tune_sample slopes[2];
	uint32_t low = t->quick ? 2 : 256, high = t->quick ? 6 : 4096;
	for (int i = 0; i < 2; i++) {
		struct tune_job job = {file ? file : "compute.cl", options[i], kernel, items, items,
		                       {MEM(t->out), UINT(0), UINT(first), UINT(second), UINT(0xfffffff1)}};
		int result = tune_slope(t, &job, ROUNDS_ARGUMENT, low, high, &slopes[i]);
		if (result)
			return result;
	}
	*s = tune_step(t, slopes, MANY - FEW);
	return 0;
}

static double unit_count(const struct tuner *t, const char *units)
{
	double count = tune_value(t, units);
	if (count > 0)
		return count;
	return tune_value(t, strcmp(units, "fp64_units") ? "fp32_units" : "sfu_units");
}

/* The number of units that a class runs on. A description may move some classes to other units. */
static double class_units(const struct tuner *t, const struct chain *c)
{
	enum gpu_unit_choice choice = !strcmp(c->class, "fp32_fma") ? t->base.fp32_fma_unit :
				      !strcmp(c->class, "fp64_fma") ? t->base.fp64_fma_unit :
				      !strcmp(c->class, "int_rem") ? t->base.int_rem_unit : GPU_ON_auto;
	switch (choice) {
	case GPU_ON_fp32:
		return unit_count(t, "fp32_units");
	case GPU_ON_int:
		return unit_count(t, "int_units");
	case GPU_ON_fp64:
		return unit_count(t, "fp64_units");
	case GPU_ON_sfu:
		return unit_count(t, "sfu_units");
	default:
		return unit_count(t, c->units);
	}
}

static double other_cost(const struct tuner *t, const char *class, const char *what)
{
	char key[64];
	snprintf(key, sizeof key, "%s_%s", class, what);
	return tune_value(t, key);
}

/* If a unit is busy for longer than the latency, the latency cannot be seen. */
static bool is_hidden(double cycles, double initiation, double base)
{
	return base < initiation && cycles < 1.05 * initiation;
}

static void put_latency(struct tuner *t, const struct chain *c, const struct tune_sample *s)
{
	char key[64];
	double around = t->base.pipeline_latency, cycles = s->ns, initiation = other_cost(t, c->class, "initiation");
	if (c->other)
		cycles -= other_cost(t, c->other, "latency") + around;
	snprintf(key, sizeof key, "%s_latency", c->class);
	if (is_hidden(cycles / c->count, initiation, tune_value(t, key) + around)) {
		tune_keep(t, key, "its units are busy for %.2f cycles, and less is not seen", cycles / c->count);
		return;
	}
	tune_put(t, key, tune_whole(cycles / c->count) - around, s->spread, 0.5, 2000, "%.2f cycles a step of %s, one warp", s->ns,
	         c->kernel);
}

/* If units take instructions as fast as they come, their own speed cannot be seen: schedulers, fetch or operands bound the
 * rate. */
static bool is_front_bound(const struct tuner *t, double rate, double units, double base)
{
	double issue = (double)t->base.schedulers_per_sm * t->base.issue_per_scheduler;
	return units / base >= issue && rate > 0.5 * issue;
}

static void put_initiation(struct tuner *t, const struct chain *c, size_t warps, const struct tune_sample *s)
{
	char key[64];
	double busy = s->ns / (double)warps, units = class_units(t, c), base = other_cost(t, c->class, "initiation");
	double rate = (c->count + (c->other ? 1 : 0)) / busy;
	if (c->other && !c->beside)
		busy -= other_cost(t, c->other, "initiation") / unit_count(t, "int_units");
	double value = tune_power(busy / c->count * units, 0.125);
	snprintf(key, sizeof key, "%s_initiation", c->class);
	if (c->other && value < base / 4)
		tune_keep(t, key, "it runs beside %s, on other units", c->other);
	else if (value > base && is_front_bound(t, rate, units, base))
		tune_keep(t, key, "at most %.2f: %.2f instructions a cycle are as many as come", value, rate);
	else
		tune_put(t, key, value, s->spread, 0.25, 1000, "%.2f cycles a step of %s, %zu warps", s->ns, c->kernel, warps);
}

static void keep_class(struct tuner *t, const struct chain *c, const char *why)
{
	char key[64];
	snprintf(key, sizeof key, "%s_latency", c->class);
	tune_keep(t, key, "%s", why);
	snprintf(key, sizeof key, "%s_initiation", c->class);
	tune_keep(t, key, "%s", why);
}

/* Measures a chain, or the mean of two. */
static int measure_chain(struct tuner *t, const struct chain *c, bool wide, struct tune_sample *s)
{
	size_t items = wide ? t->device.group_size : t->base.warp_size;
	struct tune_sample also;
	int result = measure_step(t, c->file, c->kernel, c->first, c->second, items, wide, s);
	if (result || !c->also)
		return result;
	result = measure_step(t, c->file, c->also, c->first, c->second, items, wide, &also);
	s->ns = (s->ns + also.ns) / 2;
	s->spread = fmax(s->spread, also.spread);
	return result;
}

static void measure_class(struct tuner *t, struct chain c)
{
	bool machine = gpu_times_machine_code(&t->base);
	struct tune_sample alone, full;
	if (machine && c.sequence) {
		keep_class(t, &c, "a sequence of other instructions here");
		return;
	}
	if (c.ptx && !t->device.is_nvidia) {
		keep_class(t, &c, "needs a line of PTX");
		return;
	}
	/* Only in machine code is there a multiplication before a special function. */
	if (!machine && !strcmp(c.class, "sfu"))
		c.other = NULL;
	struct chain many = c, lone = c, *one = &c;
	if (c.pure && (machine || strcmp(c.pure, c.kernel))) {
		many.kernel = c.pure;
		many.other = NULL;
		one = machine ? &many : &c;
	}
	/* Units of multiplications take some of its instructions, but not these. */
	if (c.many && machine) {
		many.kernel = c.many;
		many.other = NULL;
	}
	/* If another class on other units takes turns with this class, it waits longer for a result than this class itself
	 * would. */
	if (c.lone && machine) {
		lone.kernel = c.lone;
		lone.other = NULL;
		one = &lone;
	}
	if (measure_chain(t, one, false, &alone) || measure_chain(t, &many, true, &full)) {
		keep_class(t, &c, t->error.text);
		return;
	}
	put_initiation(t, &many, t->device.group_size / t->base.warp_size, &full);
	put_latency(t, one, &alone);
}

int tune_compute(struct tuner *t)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(chains); i++)
		measure_class(t, chains[i]);
	return 0;
}

/* Measures the most instructions that all schedulers issue: multiply-adds alone, or with integer work beside them. */
int tune_issue(struct tuner *t)
{
	size_t warps = t->device.group_size / t->base.warp_size;
	struct tune_sample mixed, alone;
	int result = measure_step(t, NULL, "issue", 1000, 3, t->device.group_size, true, &mixed);
	if (!result)
		result = measure_step(t, NULL, "fp32_fma", 1, 2, t->device.group_size, true, &alone);
	if (result)
		return result;
	double rate = fmax(4 * (double)warps / mixed.ns, (double)warps / alone.ns);
	double schedulers = floor(rate / t->base.issue_per_scheduler + 0.5);
	tune_put(t, "schedulers_per_sm", schedulers, mixed.spread, 1, 16, "%.2f instructions a cycle, %zu warps", rate, warps);
	return 0;
}

/* Finds the shortest run of lanes that take the same branch and need no longer than long runs. */
int tune_warp(struct tuner *t)
{
	enum { RUN_ARGUMENT = 5, LONGEST = 128 };
	struct tune_job job = {"compute.cl", "-DSTEPS=16", "diverge", 2 * LONGEST, 2 * LONGEST,
	                       {MEM(t->out), UINT(0), UINT(3), UINT(5), UINT(0xfffffff1), UINT(LONGEST)}};
	uint32_t low = t->quick ? 2 : 64, high = t->quick ? 10 : 1024, run = LONGEST;
	struct tune_sample whole, s;
	int result = tune_slope(t, &job, ROUNDS_ARGUMENT, low, high, &whole);
	for (; !result && run > 1; run /= 2) {
		job.arguments[RUN_ARGUMENT].number = run / 2;
		result = tune_slope(t, &job, ROUNDS_ARGUMENT, low, high, &s);
		if (!result && s.ns > 1.5 * whole.ns)
			break;
	}
	if (!result)
		tune_put(t, "warp_size", run, whole.spread, 4, 128, "lanes that go another way than their neighbours cost twice below");
	return result;
}

static bool is_power(double value)
{
	double power = tune_power(value, 0.125);
	return power > 0 && power == exp2(floor(log2(power) + 0.5));
}

/* 0: barriers have units of their own, which are never the limit. */
static double barrier_initiation(struct tuner *t, size_t warps, const struct tune_sample *alone, const struct tune_sample *full)
{
	if (t->base.control_units) {
		tune_keep(t, "barrier_initiation", "barriers have units of their own (control_units)");
		return 0;
	}
	/* The latency comes after the last warp, or it is over while units are still busy with other warps. */
	double units = unit_count(t, "int_units"), more = (full->ns - alone->ns) / (double)(warps - 1) * units;
	if (!is_power(more) && is_power(full->ns / (double)warps * units))
		more = full->ns / (double)warps * units;
	tune_put(t, "barrier_initiation", tune_power(more, 0.125), full->spread, 0.25, 1000, "%.2f cycles a barrier, %zu warps", full->ns,
	         warps);
	return tune_value(t, "barrier_initiation");
}

int tune_barrier(struct tuner *t)
{
	size_t warps = t->device.group_size / t->base.warp_size;
	struct tune_sample alone, full;
	int result = measure_step(t, NULL, "barriers", 3, 5, t->base.warp_size, false, &alone);
	if (!result)
		result = measure_step(t, NULL, "barriers", 3, 5, t->device.group_size, false, &full);
	if (result)
		return result;
	double initiation = barrier_initiation(t, warps, &alone, &full);
	if (is_hidden(alone.ns, initiation, t->base.barrier_latency))
		tune_keep(t, "barrier_latency", "its units are busy for %.2f cycles, and less is not seen", alone.ns);
	else if (alone.ns < 1.05 * t->base.fetch_to_issue_cycles)
		tune_keep(t, "barrier_latency", "instructions come every %.2f cycles, and less is not seen", alone.ns);
	else
		tune_put(t, "barrier_latency", tune_whole(alone.ns), alone.spread, 0.5, 1000, "%.2f cycles a barrier, one warp", alone.ns);
	return 0;
}
