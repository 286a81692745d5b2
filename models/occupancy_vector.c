/*
 * The occupancy-vector model of a launch.
 *
 *   l[s,p]: cycles after which warp p of SM s can issue again; a ready warp is chosen by policy, and when none is ready
 *   time advances to the first that will be. The launch takes as long as its slowest SM.
 * Source: GATSim, Algorithm 1, II-D and II-E. Here l follows from the pipeline of the GPU's description, see ov.h.
 *
 *   T = T' + (W - W') / w,   w = work of R groups / time between the dispatches of a group and of the R-th behind it
 * for a GPU that holds R groups: T' is simulated for some residencies of groups and the launch's last ones, W' is their
 * work. In steady state R dispatches happen while R groups complete, so w has how much completions overlap. Source: PPT,
 * section 3.2.
 */
#include "models/footprint.h"
#include "models/ov.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_WAVES = 8,  /* residencies simulated at first */
	MOST_WAVES = 64,
	ALWAYS_WHOLE = 300000,  /* warp instructions that are not worth extrapolating */
	BUDGET = 4000000,       /* warp instructions to simulate, about a second */
	/* The same with memory behind L1, where SMs do not stand for one another */
	MEMORY_WAVES = 3,
	MEMORY_WHOLE = 1500000, /* of these, instructions and three times the parts of their requests */
	MEMORY_BUDGET = 1000000, /* about half a second */
	PART_WEIGHT = 3,
	LEAST_SMS = 2,          /* so that they meet */
};
#define SETTLED 0.005 /* relative change of the answer when twice as much is simulated */
/* What even an exact simulation stops at: hours. */
static const double exact_limit = 4e10;

struct work {
	const struct gpu *gpu;
	const struct launch_warps *warps;
	uint64_t *path_instructions;
	uint32_t *kinds; /* of the pattern's groups: the first that has the same paths */
	double instructions; /* of the launch */
	double weight; /* of an instruction: with its requests, of what it is without */
	bool uniform;
	bool exact, hierarchy;
};

static int check_launch(const struct launch_warps *w)
{
	if (!w->code || !w->paths || !w->path_count || !w->path_of || !w->pattern_groups || !w->warps_per_group)
		return -EINVAL;
	for (uint64_t i = 0; i < w->pattern_groups * w->warps_per_group; i++)
		if (w->path_of[i] >= w->path_count)
			return -EINVAL;
	for (uint32_t p = 0; p < w->path_count; p++)
		for (size_t i = 0; i < w->paths[p].block_count; i++)
			if (w->paths[p].blocks[i] >= w->code->block_count)
				return -EINVAL;
	return 0;
}

static double group_instructions(const struct work *work, uint64_t group)
{
	const struct launch_warps *w = work->warps;
	const uint32_t *paths = &w->path_of[group % w->pattern_groups * w->warps_per_group];
	double sum = 0;
	for (uint32_t i = 0; i < w->warps_per_group; i++)
		sum += (double)work->path_instructions[paths[i]];
	return sum;
}

static uint64_t hash_paths(const uint32_t *paths, uint32_t count)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	for (uint32_t i = 0; i < count; i++)
		hash = (hash ^ paths[i]) * 0x100000001b3;
	return hash ^ hash >> 32;
}

/* Groups by what their warps do. */
static int find_kinds(struct work *work)
{
	const struct launch_warps *w = work->warps;
	uint64_t size = 1, bytes = w->warps_per_group * sizeof *w->path_of;
	while (size < 2 * w->pattern_groups)
		size *= 2;
	uint32_t *table = malloc(size * sizeof *table);
	work->kinds = malloc(w->pattern_groups * sizeof *work->kinds);
	if (!table || !work->kinds) {
		free(table);
		return -ENOMEM;
	}
	memset(table, 0xff, size * sizeof *table);
	for (uint64_t g = 0; g < w->pattern_groups; g++) {
		const uint32_t *paths = &w->path_of[g * w->warps_per_group];
		uint64_t at = hash_paths(paths, w->warps_per_group) & (size - 1);
		while (table[at] != OV_NONE && memcmp(&w->path_of[(uint64_t)table[at] * w->warps_per_group], paths, bytes) != 0)
			at = (at + 1) & (size - 1);
		if (table[at] == OV_NONE)
			table[at] = (uint32_t)g;
		work->kinds[g] = table[at];
	}
	free(table);
	return 0;
}

/* What requests add to the cost of simulating a path, on average. */
static double find_weight(const struct work *work)
{
	double instructions = 0, parts = 0;
	for (uint32_t p = 0; p < work->warps->path_count; p++) {
		const struct warp_path *path = &work->warps->paths[p];
		instructions += (double)work->path_instructions[p];
		parts += path->requests && path->access_count ? path->requests->first[path->access_count] : 0;
	}
	return work->hierarchy && instructions > 0 ? 1 + PART_WEIGHT * parts / instructions : 1;
}

static int measure_work(struct work *work)
{
	const struct launch_warps *w = work->warps;
	uint64_t repeats = w->groups / w->pattern_groups, rest = w->groups % w->pattern_groups;
	work->path_instructions = calloc(w->path_count, sizeof *work->path_instructions);
	if (!work->path_instructions || find_kinds(work))
		return -ENOMEM;
	for (uint32_t p = 0; p < w->path_count; p++)
		for (size_t i = 0; i < w->paths[p].block_count; i++)
			work->path_instructions[p] += w->code->blocks[w->paths[p].blocks[i]].count;
	work->weight = find_weight(work);
	work->uniform = !work->hierarchy;
	for (uint64_t g = 0; g < w->pattern_groups && (repeats || g < rest); g++) {
		work->instructions += group_instructions(work, g) * (double)(repeats + (g < rest));
		work->uniform &= work->kinds[g] == 0;
	}
	return 0;
}

/* What simulating so many groups costs: of uniform ones, one SM and what it parts with at the end. */
static double simulated_instructions(const struct work *work, double groups)
{
	double all = work->instructions * groups / (double)work->warps->groups;
	return work->uniform ? all / work->gpu->sm_count * 2 : all * work->weight;
}

/* waves: how many times the GPU is filled; fewer SMs where even that is too much. */
static struct ov_plan make_plan(const struct work *work, uint32_t residency, uint64_t waves)
{
	const struct launch_warps *w = work->warps;
	struct ov_plan plan = {.groups = w->groups, .sm_count = work->gpu->sm_count, .kinds = work->kinds, .all = w->groups};
	uint64_t filled = (uint64_t)residency * plan.sm_count;
	double whole = simulated_instructions(work, (double)w->groups);
	double budget = work->hierarchy ? MEMORY_BUDGET : BUDGET;
	if (whole <= (work->exact ? exact_limit : work->hierarchy ? MEMORY_WHOLE : ALWAYS_WHOLE))
		return plan;
	if (w->groups / filled > waves + 1)
		plan.groups = waves * filled + w->groups % filled;
	double cost = simulated_instructions(work, (double)plan.groups);
	if (cost > budget && !work->uniform && !work->exact) {
		double sms = floor(plan.sm_count * budget / cost), least = work->hierarchy ? LEAST_SMS : 1;
		uint32_t few = sms < least ? (uint32_t)least : (uint32_t)sms;
		few = few < plan.sm_count ? few : plan.sm_count;
		plan.groups = (uint64_t)ceil((double)plan.groups * few / plan.sm_count);
		plan.sm_count = few;
	}
	uint64_t held = (uint64_t)residency * plan.sm_count, tail = held + plan.groups % held;
	plan.tail = tail < plan.groups ? tail : plan.groups;
	plan.spread = w->pattern_groups < w->groups ? w->pattern_groups : w->groups;
	return plan;
}

/* Cycles per instruction in steady state, of the second half of dispatches: groups that started together go on in step
 * for a while. */
static double steady_cycles(const struct work *work, const struct ov_plan *plan, const struct ov_outcome *o, uint64_t filled)
{
	double time = 0, amount = 0, window = 0;
	uint64_t from = plan->groups / 2 > 2 * filled ? plan->groups / 2 : 2 * filled;
	for (uint64_t i = 0; i < plan->groups; i++) {
		if (i >= from) {
			time += (double)(o->dispatched[i] - o->dispatched[i - filled]);
			amount += window;
		}
		window += group_instructions(work, ov_group_id(plan, i));
		if (i >= filled)
			window -= group_instructions(work, ov_group_id(plan, i - filled));
	}
	return amount > 0 ? time / amount : 0;
}

static void add_cycles(struct warp_timing *out, double cycles)
{
	double steady = out->cycles - out->by[CYCLES_launch] - out->by[CYCLES_tail];
	for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
		if (k != CYCLES_launch && k != CYCLES_tail && steady > 0)
			out->by[k] += cycles * out->by[k] / steady;
	if (steady <= 0)
		out->by[CYCLES_issue] += cycles;
	out->cycles = 0;
	for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
		out->cycles += out->by[k];
}

static void report(const struct work *work, const struct ov_plan *plan, const struct ov_outcome *o, double steady,
                   struct warp_timing *out)
{
	/* What the simulated SMs did stands for their share of the launch. */
	double share = work->instructions * plan->sm_count / work->gpu->sm_count, missing = share - (double)o->instructions;
	double scale = o->instructions ? work->instructions / (double)o->instructions : 1;
	out->cycles = (double)o->cycles;
	for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
		out->by[k] = (double)o->by[k];
	if (plan->groups < plan->all && missing > 0)
		add_cycles(out, missing * steady);
	out->warp_instructions = (uint64_t)(work->instructions + 0.5);
	out->simulated_fraction = scale > 1 ? 1 / scale : 1;
	out->bank_conflicts = (double)o->conflicts * scale;
	out->memory = o->memory;
	out->memory.requests *= scale;
	out->memory.transactions *= scale;
}

static int simulate_part(const struct work *work, const struct ov_machine *m, const struct ov_plan *plan,
                         struct warp_timing *out)
{
	struct ov_outcome o = {0};
	if (plan->groups < plan->all && !(o.dispatched = calloc(plan->groups, sizeof *o.dispatched)))
		return -ENOMEM;
	int rc = (m->options->hierarchy ? ov_simulate_together : ov_simulate)(m, plan, &o);
	double steady = 0;
	if (!rc && o.dispatched)
		steady = steady_cycles(work, plan, &o, (uint64_t)m->groups_per_sm * plan->sm_count);
	if (!rc)
		report(work, plan, &o, steady, out);
	free(o.dispatched);
	return rc;
}

/* A part of the SMs has that part of L2's and DRAM's bandwidth (memory_system.c), and a part of L2's capacity. */
static int share_l2(const struct work *work, const struct ov_machine *m, struct ov_plan *plan)
{
	const struct launch_warps *w = work->warps;
	return footprint_capacity(work->gpu, w, w->warm, w->warm_count, (uint64_t)m->groups_per_sm * plan->sm_count,
	                          (uint64_t)m->groups_per_sm * work->gpu->sm_count, &plan->capacity);
}

/* More and more residencies, until they no longer change the answer. */
static int simulate(const struct work *work, const struct ov_machine *m, struct warp_timing *out)
{
	double before = 0;
	for (uint64_t waves = work->hierarchy ? MEMORY_WAVES : FIRST_WAVES;; waves *= 2) {
		struct ov_plan plan = make_plan(work, m->groups_per_sm, waves);
		int rc = work->hierarchy ? share_l2(work, m, &plan) : 0;
		if (!rc)
			rc = simulate_part(work, m, &plan, out);
		bool settled = fabs(out->cycles - before) <= SETTLED * out->cycles;
		bool dear = work->hierarchy || simulated_instructions(work, 2.0 * (double)plan.groups) > BUDGET;
		if (rc || plan.groups == plan.all || settled || dear || waves >= MOST_WAVES)
			return rc;
		before = out->cycles;
	}
}

static int model(const struct gpu *gpu, const struct launch_warps *warps, const struct warp_options *options,
                 struct warp_timing *out)
{
	struct ov_machine machine;
	struct work work = {.gpu = gpu, .warps = warps, .exact = options->exact, .hierarchy = options->hierarchy};
	int rc = ov_machine_init(&machine, gpu, warps, out->resident_groups, options);
	if (!rc)
		rc = measure_work(&work);
	if (!rc)
		rc = simulate(&work, &machine, out);
	ov_machine_finish(&machine);
	free(work.path_instructions);
	free(work.kinds);
	return rc;
}

/* L2 holds what the launch touches, where nobody knows better. */
static int model_memory(const struct gpu *gpu, const struct launch_warps *warps, const struct warp_options *options,
                        struct warp_timing *out)
{
	struct launch_warps own = *warps;
	struct memory_range *ranges = NULL;
	int rc = warps->warm ? 0 : footprint_ranges(gpu, warps, &ranges, &own.warm_count);
	if (ranges)
		own.warm = ranges;
	if (!rc)
		rc = model(gpu, &own, options, out);
	free(ranges);
	return rc;
}

int model_occupancy_vector(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                           const struct warp_options *options, struct warp_timing *out)
{
	*out = (struct warp_timing){.simulated_fraction = 1};
	if (warps->groups == 0)
		return 0;
	int rc = blocks_per_sm ? check_launch(warps) : -EINVAL;
	if (rc)
		return rc;
	/* A grid that does not fill the GPU is spread evenly. */
	uint64_t even = warps->groups / gpu->sm_count + (warps->groups % gpu->sm_count != 0);
	out->resident_groups = even < blocks_per_sm ? (uint32_t)even : blocks_per_sm;
	return (options->hierarchy ? model_memory : model)(gpu, warps, options, out);
}
