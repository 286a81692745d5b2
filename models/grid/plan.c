/*
 * How much of a launch the occupancy vector simulates.
 *
 *   1. All of it, if that is cheap or asked for. Where groups do the same, some of the SMs, with their share of the groups (models/sampling/alike.c).
 *      Without the SMs on which nothing hangs, where few groups are much longer than others.
 *   2. Else samples of its homogeneous regions (TBPoint, IV: regions.c, region_sampler.c).
 *   3. If that costs too much: some of the SMs, with their share of the groups, taken evenly from all of the launch.
 *   4. If that costs too much: fewer groups.
 */
#include "models/sampling/alike.h"
#include "models/sampling/features.h"
#include "models/gpu/kept.h"
#include "models/util/hash.h"
#include "models/util/limits.h"
#include "models/grid/plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Costs are counted in warp instructions; the engine simulates about four million of them per second. None of these numbers
 * changes the estimate of a launch that is simulated as a whole. How far sampled estimates are off with them is in
 * docs/sampling.md.
 */
enum {
	/* A launch of no more is simulated as a whole, in less than 0.1 s. Twice as much: launches up to there lose their sampling
	 * error and take 0.15 s. */
	ALWAYS_WHOLE = 300000,
	/* Long loops of a launch of no more are stepped through, in 0.1 s or so: a loop that comes to know its data has no rate at first. */
	ALWAYS_STEPPED = 400000,
	/* A second. Twice as much: large launches take twice as long, and a longer part of them is simulated. */
	BUDGET = MODEL_BUDGET,
	/* Budgets that a launch may take as a whole, where sampling would save little (worth_sampling). */
	OVER_BUDGET = 2,
	/* Budgets after which a simulation of long loops ends whose warps leave them at ever other times: there is no rate to jump with. What
	 * is left goes on at the rates up to there (rest.h). */
	MOST_BUDGETS = 4,
	/* As ALWAYS_WHOLE, with the memory hierarchy, where no SM stands for another and requests cost time, too: most of a second.
	 * Of a program of 40 such launches, 12% at least are simulated (docs/sampling.md). */
	MEMORY_WHOLE = 1500000,
	MEMORY_BUDGET = MODEL_BUDGET / 8 * 3, /* as BUDGET, most of a second */
	/* A part of a request costs as much time as three instructions, about. Twice as much: less is simulated of launches that
	 * access much memory. */
	PART_WEIGHT = 3,
	LEAST_SMS = 2, /* with one, no two SMs would meet in memory */
	LEAST_MEETING = 16, /* of so many SMs, one: half as many hardly meet (runtime/estimates/advise.c) */
	SAME_RESIDUE = 4, /* see fewer_sms: of 15 SMs, 3, 7 and 11 are alike, and 4 and 10 are not (docs/sampling.md) */
	LEAST_EPOCHS = 8, /* of a launch that is over its budget: enough to sample a region (sampled_epochs) */
	MOST_GROUPS = 1 << 21, /* whose work is kept: 80 MB. Larger launches are judged by so many of their groups */
};
/* Epochs that sampling a region takes: it is entered, two units are measured, and what does not fill the GPU is left. */
static const double sampled_epochs = 3.5;
/* With the memory hierarchy, up to half of a region is simulated. Units differ by what caches hold by chance, and a rate from two
 * of them was 5% off (docs/sampling.md). */
static const double memory_share = 0.5;
/* A launch that can be simulated as a whole is, if sampling would cost more than two thirds of that: a third of the time is not
 * worth an error. */
static const double worth_sampling = 2.0 / 3;
/* Epochs whose traffic per instruction differs by more are of different regions. TBPoint (V-A) calls launches alike up to there. */
static const double same_traffic = 0.1;
/* Units of a large region are measured until they differ by less than 1%, while that takes no more than 1/16 of it and 8 epochs.
 * Of uniform groups only one SM is simulated: 64 epochs of it cost as much as 8 of eight SMs. Twice as much: regions are simulated
 * longer before the rest is skipped. */
static const double fine_difference = 0.01, fine_share = 1.0 / 16, fine_epochs = 8, uniform_epochs = 64;
/* By how much the rate of what is left may differ, where a simulation ended before the launch did. A guess. */
static const double STOPPED = 0.1;
/* Even an exact simulation stops at so many instructions: three hours. */
static const double exact_limit = 4e10;

/* ---- the launch's work ---- */

/* Groups by what their warps do. */
static int find_kinds(struct ov_work *work)
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
		uint64_t at = hash_bytes(paths, bytes, 0) & (size - 1);
		while (table[at] != OV_NONE && memcmp(&w->path_of[(uint64_t)table[at] * w->warps_per_group], paths, bytes) != 0)
			at = (at + 1) & (size - 1);
		if (table[at] == OV_NONE)
			table[at] = (uint32_t)g;
		work->kinds[g] = table[at];
	}
	free(table);
	return 0;
}

/* What requests add to the cost of simulating a launch. */
static double find_weight(const struct ov_work *work)
{
	const struct launch_warps *w = work->warps;
	double instructions = 0, parts = 0;
	for (uint64_t g = 0; g < w->pattern_groups && work->hierarchy; g++) {
		instructions += work->pattern[g].warp_instructions;
		parts += work->pattern[g].traffic;
	}
	return instructions > 0 ? 1 + PART_WEIGHT * parts / instructions : 1;
}

int ov_work_init(struct ov_work *work, const struct gpu *gpu, const struct launch_warps *w, const struct warp_options *options)
{
	*work = (struct ov_work){.gpu = gpu, .warps = w, .stand_in = w->stand_in, .exact = options->exact, .share = options->share,
	                         .hierarchy = options->hierarchy, .most_steps = options->most_steps};
	work->paths = paths_work(w);
	work->pattern = work->paths ? pattern_work(w, work->paths) : NULL;
	if (!work->pattern || find_kinds(work))
		return -ENOMEM;
	work->weight = find_weight(work);
	work->uniform = !work->hierarchy;
	for (uint64_t g = 0; g < w->pattern_groups; g++) {
		uint64_t times = warps_pattern_times(w, g);
		work->instructions += work->pattern[g].warp_instructions * (double)times;
		work->traffic += work->pattern[g].traffic * (double)times;
		work->stepped += work->pattern[g].stepped * (double)times;
		work->uniform &= !times || work->kinds[g] == 0;
	}
	for (uint32_t p = 0; p < w->path_count; p++)
		work->gaps |= w->paths[p].gap_count > 0;
	work->stepped = work->instructions > 0 ? work->stepped / work->instructions : 1;
	return 0;
}

void ov_work_free(struct ov_work *work)
{
	free(work->paths);
	free(work->pattern);
	free(work->kinds);
}

/* ---- plans ---- */

/* Of uniform groups, one SM is simulated, and what it parts with at the end. Of long loops, a part is stepped through. */
static double cost_of(const struct ov_work *work, double instructions)
{
	instructions *= work->stepped;
	return work->uniform ? instructions / work->gpu->sm_count * 2 : instructions * work->weight;
}

static const struct group_work *work_of(const struct ov_work *work, const struct ov_plan *plan, uint64_t n)
{
	return &work->pattern[warps_pattern(work->warps, ov_group_id(plan, n))];
}

static void drop_regions(struct ov_plan *plan)
{
	free((void *)plan->regions);
	free((void *)plan->work);
	free((void *)plan->asked);
	plan->regions = NULL;
	plan->work = plan->asked = NULL;
	plan->region_count = 0;
}

static void drop_runs(struct ov_plan *plan)
{
	free((void *)plan->runs);
	plan->runs = NULL;
	plan->run_count = 0;
}

/* All groups are the same: no need to look at each. */
static int one_region(const struct ov_work *work, struct ov_plan *plan)
{
	struct region *r = malloc(sizeof *r);
	if (!r)
		return -ENOMEM;
	*r = (struct region){0, 0, plan->groups};
	plan->regions = r;
	plan->region_count = 1;
	plan->group_work = work->pattern[0].warp_instructions;
	return 0;
}

static int find_regions(const struct ov_work *work, struct ov_plan *plan)
{
	struct group_work *groups = calloc(plan->groups, sizeof *groups);
	double *sums = calloc(plan->groups + 1, sizeof *sums), *asked = calloc(plan->groups + 1, sizeof *asked);
	struct region *regions = NULL;
	int rc = groups && sums && asked ? 0 : -ENOMEM;
	for (uint64_t n = 0; n < plan->groups && !rc; n++) {
		groups[n] = *work_of(work, plan, n);
		sums[n + 1] = sums[n] + groups[n].warp_instructions;
		asked[n + 1] = asked[n] + (work->traffic > 0 ? groups[n].traffic : groups[n].memory_requests);
	}
	if (!rc)
		rc = regions_build(groups, plan->groups, plan->whole, &plan->limits, &regions, &plan->region_count);
	free(groups);
	plan->work = sums;
	plan->asked = asked;
	plan->regions = regions;
	plan->unlike = !rc && work->traffic > 0 ? fabs(asked[plan->groups] / sums[plan->groups] / (work->traffic / work->instructions) - 1) : 0;
	return rc;
}

/* What the chosen groups do, over what as many groups do on average; 1 where that is not known. */
static double share_chosen(const struct ov_plan *plan, const struct ov_plan *launch, const struct group_run *runs, size_t count)
{
	double chosen = 0;
	if (!launch->work || !(launch->work[plan->all] > 0))
		return 1;
	for (size_t i = 0; i < count; i++) {
		uint64_t end = runs[i].id + ((i + 1 < count ? runs[i + 1].first : plan->groups) - runs[i].first);
		chosen += launch->work[end < plan->all ? end : plan->all] - launch->work[runs[i].id];
	}
	return chosen / (launch->work[plan->all] * (double)plan->groups / (double)plan->all);
}

/* Whether the chosen groups do as much as the launch does, on average. */
static bool does_as_much(const struct ov_plan *plan, const struct ov_plan *launch, const struct group_run *runs)
{
	return fabs(share_chosen(plan, launch, runs, plan->run_count) - 1) < same_traffic;
}

/* Where all groups run at once, the launch takes as long as the one with the longest warp. Returns it if the chosen ones are much shorter: then its
 * neighbours are chosen in their place. How long it goes on alone cannot be told from what others do while they are many. */
static uint64_t longest_beside(const struct ov_work *work, const struct ov_plan *plan, uint32_t residency, const struct group_run *runs)
{
	static const double much = 1.25;
	const struct ov_plan launch = {.groups = plan->all, .all = plan->all};
	uint64_t longest = 0;
	double chosen = 0;
	if (plan->all > (uint64_t)residency * work->gpu->sm_count || plan->all > MOST_GROUPS)
		return RUNS_ANY;
	for (uint64_t n = 0; n < plan->groups; n++)
		chosen = fmax(chosen, work_of(work, &launch, runs_id(runs, plan->run_count, n))->longest);
	for (uint64_t g = 1; g < plan->all; g++)
		longest = work_of(work, &launch, g)->longest > work_of(work, &launch, longest)->longest ? g : longest;
	return work_of(work, &launch, longest)->longest > much * chosen ? longest : RUNS_ANY;
}

/* Those that the simulated SMs would get. */
static int choose_rounds(const struct ov_work *work, uint32_t residency, struct ov_plan *plan, struct group_run **runs)
{
	uint32_t few = plan->sm_count, sms = work->gpu->sm_count;
	int rc = runs_of_rounds(plan->groups, plan->all, few, sms, residency, RUNS_ANY, runs, &plan->run_count);
	uint64_t with = rc ? RUNS_ANY : longest_beside(work, plan, residency, *runs);
	if (with == RUNS_ANY)
		return rc;
	free(*runs);
	*runs = NULL;
	return runs_of_rounds(plan->groups, plan->all, few, sms, residency, with, runs, &plan->run_count);
}

/* Which groups stand for the launch: those that the simulated SMs would get. If these do more or less than the launch, or if all SMs are
 * simulated: some of each part of it that does the same. If groups differ so much that few runs of neighbours do more or less, there are
 * more and shorter ones. */
static int choose_runs(const struct ov_work *work, uint32_t residency, struct ov_plan *plan)
{
	struct ov_plan launch = {.groups = plan->all, .all = plan->all, .whole = plan->whole, .limits = plan->limits};
	struct group_run *runs = NULL;
	bool done = false;
	int rc = plan->all <= MOST_GROUPS ? find_regions(work, &launch) : 0;
	if (!rc && plan->sm_count < work->gpu->sm_count) {
		rc = choose_rounds(work, residency, plan, &runs);
		done = !rc && does_as_much(plan, &launch, runs);
	}
	for (uint64_t least = 2; !rc && !done; least *= 2) {
		free(runs);
		runs = NULL;
		rc = runs_choose(launch.regions, launch.region_count, plan->groups, plan->all, plan->whole, least, &runs, &plan->run_count);
		done = !rc && (does_as_much(plan, &launch, runs) || 4 * least > plan->groups);
	}
	plan->runs = runs;
	drop_regions(&launch);
	return rc;
}

/* Epochs of a region that are simulated. */
static double epochs_of(const struct ov_work *work, const struct ov_plan *plan, double epochs)
{
	return work->hierarchy ? sampled_epochs + fmin(plan->limits.fine_share * epochs, plan->limits.fine_epochs) : sampled_epochs;
}

/* What simulating the plan costs, sampled. */
static double plan_cost(const struct ov_work *work, const struct ov_plan *plan)
{
	double saved = 0, all = plan->work ? plan->work[plan->groups] : plan->group_work * (double)plan->groups;
	for (size_t i = 0; i < plan->region_count; i++) {
		const struct region *r = &plan->regions[i];
		double groups = (double)(r->end - r->first), whole = (double)plan->whole;
		double left = groups - epochs_of(work, plan, groups / whole) * whole;
		double instructions = plan->work ? plan->work[r->end] - plan->work[r->first] : all;
		if (left > 0)
			saved += instructions * left / groups;
	}
	return cost_of(work, all - saved);
}

static int look_at(const struct ov_work *work, uint32_t residency, struct ov_plan *plan, double *cost)
{
	int rc = 0;
	drop_regions(plan);
	drop_runs(plan);
	plan->whole = (uint64_t)residency * plan->sm_count;
	if (!work->uniform && plan->groups > MOST_GROUPS)
		plan->groups = MOST_GROUPS;
	if (work->hierarchy && plan->groups < plan->all)
		rc = choose_runs(work, residency, plan);
	if (!rc)
		rc = work->uniform ? one_region(work, plan) : find_regions(work, plan);
	*cost = rc ? 0 : plan_cost(work, plan);
	return rc;
}

static uint64_t part_of(uint64_t groups, double share)
{
	double part = ceil((double)groups * share);
	return part < 1 ? 1 : part < (double)groups ? (uint64_t)part : groups;
}

/* As many for each of the few SMs as all SMs have, rounded up: without error, since one group more on one SM may be a wave more. */
static uint64_t groups_of_few(uint64_t groups, uint32_t few, uint32_t all)
{
	return groups / all * few + (groups % all * few + all - 1) / all;
}

/* Groups that an SM has at a time are about as many ids apart as there are SMs. How they share the sets of its cache depends on that
 * number modulo a power of two: so fewer SMs leave the same remainder as all do. The nearest such number. */
static uint32_t fewer_sms(uint32_t all, double wanted, uint32_t least)
{
	uint32_t few = all;
	while (few >= least + SAME_RESIDUE && few - SAME_RESIDUE / 2 > wanted)
		few -= SAME_RESIDUE;
	return few;
}

/*
 * Where few groups are much longer than others, the launch takes as long as the SMs that have these. All groups run at once, so that SMs with others
 * alone change nothing but what memory has to do at the beginning: they are left out if it has little to do for them. Groups go to SMs in turn.
 */
static int leave_out(const struct ov_work *work, uint32_t residency, struct ov_plan *plan)
{
	static const double few = 4; /* times as long as the mean: as few_are_longer of families */
	static const double shorter = 0.5; /* than the longest: it ends before, unless an instruction takes twice as long in it */
	static const double little = 0.25; /* of the traffic */
	const uint32_t sms = plan->sm_count;
	double longest = 0, sum = 0, instructions = 0, traffic = 0;
	if (!work->hierarchy || work->exact || plan->jumps || plan->all > (uint64_t)residency * sms)
		return 0;
	for (uint64_t g = 0; g < plan->all; g++) {
		longest = fmax(longest, work_of(work, plan, g)->longest);
		sum += work_of(work, plan, g)->longest;
	}
	if (longest * (double)plan->all <= few * sum)
		return 0;
	bool *hangs = calloc(sms, sizeof *hangs), *out = calloc(plan->all, sizeof *out);
	for (uint64_t g = 0; hangs && out && g < plan->all; g++)
		hangs[g % sms] |= work_of(work, plan, g)->longest >= shorter * longest;
	for (uint64_t g = 0; hangs && out && g < plan->all; g++) {
		out[g] = !hangs[g % sms];
		instructions += out[g] ? work_of(work, plan, g)->warp_instructions : 0;
		traffic += out[g] ? work_of(work, plan, g)->traffic : 0;
	}
	int rc = hangs && out ? 0 : -ENOMEM;
	bool worth = !rc && instructions > (1 - worth_sampling) * work->instructions && traffic <= little * work->traffic;
	plan->left_out = worth ? out : NULL;
	free(hangs);
	if (!worth)
		free(out);
	return rc;
}

/* Instructions after which a simulation of long loops ends. */
static double most_instructions(const struct ov_work *work, double budget)
{
	double usual = MOST_BUDGETS * budget / work->weight, parts = (work->weight - 1) / PART_WEIGHT; /* parts: of requests, per instruction */
	return work->most_steps > 0 ? fmin(usual, work->most_steps / (1 + parts)) : usual;
}

/* Where some SMs stand for all because groups are alike, trials keep as many as meet in memory. */
static uint32_t least_sms(const struct ov_work *work, const struct ov_plan *plan)
{
	uint32_t meeting = work->gpu->sm_count / LEAST_MEETING;
	return plan->alike && meeting > LEAST_SMS ? meeting : LEAST_SMS;
}

/* The same with fewer SMs, and their share of the groups. */
static int reduce_plan(const struct ov_work *work, uint32_t residency, struct ov_plan *plan)
{
	double cost;
	uint32_t few = fewer_sms(work->gpu->sm_count, plan->sm_count * work->share, least_sms(work, plan));
	if (few >= plan->sm_count)
		return 0;
	bool all = plan->groups == plan->all && plan->sm_count == work->gpu->sm_count;
	plan->reduced = (double)few / plan->sm_count;
	plan->groups = all ? groups_of_few(plan->all, few, plan->sm_count) : part_of(plan->groups, plan->reduced);
	plan->sm_count = few;
	plan->most_stepped *= work->share;
	free(plan->left_out);
	plan->left_out = NULL;
	return look_at(work, residency, plan, &cost);
}

/* A part of a number of channels that is a power of two does not share lines as all of them do: saxpy on a V100 (32 channels) was 42% too slow on a
 * quarter of the SMs. On an H200 (48) the suite is 0.3% off in the mean (docs/notes/sampling.md). */
static bool channels_divide(const struct gpu *gpu)
{
	return gpu->dram_channels & (gpu->dram_channels - 1);
}

/* Where a launch's data do not fit into L2, and groups load from anywhere in them, L2 begins as the midst of a long launch has it (is_from_midst in
 * together.c). A short one finds less there: of 4 MB, an L2 of 3 MB (TITAN X) found 48% in place of 25% with 16 of 28 SMs. */
static bool goes_beyond_l2(const struct ov_work *work)
{
	const struct launch_warps *w = work->warps;
	uint64_t bytes = 0;
	bool anywhere = false;
	for (size_t i = 0; i < w->warm_count; i++) {
		bytes += w->warm[i].bytes;
		anywhere |= w->warm[i].anywhere;
	}
	return anywhere && bytes > kept_room(work->gpu, bytes);
}

/* Some SMs stand for all because groups do the same: *done. */
static int plan_alike(const struct ov_work *work, uint32_t residency, double whole, struct ov_plan *plan, bool *done)
{
	uint32_t sms = work->gpu->sm_count;
	bool may = work->hierarchy && !work->exact && channels_divide(work->gpu) && whole <= OVER_BUDGET * MEMORY_BUDGET && !goes_beyond_l2(work);
	double share = may ? alike_share(work->warps, work->pattern, sms, whole) : 1, cost;
	uint32_t few = share < 1 ? fewer_sms(sms, sms * share, LEAST_SMS) : sms;
	*done = plan->alike = few <= ALIKE_MOST_SHARE * sms; /* it was rounded */
	if (!*done)
		return 0;
	plan->sm_count = few;
	plan->groups = groups_of_few(plan->all, few, sms);
	int rc = look_at(work, residency, plan, &cost);
	if (!rc && (whole <= MEMORY_WHOLE || cost > worth_sampling * whole * few / sms))
		drop_regions(plan);
	return rc;
}

static int plan_all(const struct ov_work *work, uint32_t residency, struct ov_plan *plan)
{
	const struct launch_warps *w = work->warps;
	uint32_t sms = work->gpu->sm_count, least = work->hierarchy ? LEAST_SMS : 1;
	double budget = work->hierarchy ? MEMORY_BUDGET : BUDGET, cost = 0;
	*plan = (struct ov_plan){.groups = w->groups, .all = w->groups, .sm_count = sms, .kinds = work->kinds,
	                         .limits = REGION_LIMITS_OF_PAPER};
	plan->limits.fine = fine_difference;
	plan->limits.traffic = work->hierarchy ? same_traffic : 0;
	plan->limits.fine_share = work->uniform ? 0.5 : work->hierarchy ? memory_share : fine_share;
	plan->limits.fine_epochs = work->uniform ? uniform_epochs : fine_epochs;
	double whole = cost_of(work, work->instructions);
	plan->jumps = work->gaps && whole / work->stepped > ALWAYS_STEPPED;
	plan->most_stepped = plan->jumps && !work->exact ? most_instructions(work, budget) : 0;
	bool done;
	int rc = plan_alike(work, residency, whole, plan, &done);
	if (rc || done)
		return rc;
	if (whole <= (work->exact ? exact_limit : work->hierarchy ? MEMORY_WHOLE : ALWAYS_WHOLE))
		return leave_out(work, residency, plan);
	rc = look_at(work, residency, plan, &cost);
	double most = work->hierarchy ? OVER_BUDGET * budget : budget;
	if (!rc && work->hierarchy && whole <= most && cost > worth_sampling * whole) {
		drop_regions(plan);
		return 0;
	}
	if (!rc && cost > budget && !work->uniform) {
		plan->sm_count = work->hierarchy ? fewer_sms(sms, sms * budget / cost, least)
		                                 : (uint32_t)fmax(floor(sms * budget / cost), least);
		plan->groups = groups_of_few(w->groups, plan->sm_count, sms);
		rc = look_at(work, residency, plan, &cost);
	}
	if (!rc && cost > 2 * budget && !work->uniform) {
		uint64_t fewer = part_of(plan->groups, budget / cost), enough = LEAST_EPOCHS * plan->whole;
		plan->groups = fewer > enough ? fewer : enough < plan->groups ? enough : plan->groups;
		rc = look_at(work, residency, plan, &cost);
	}
	return rc;
}

int ov_plan_make(const struct ov_work *work, uint32_t residency, struct ov_plan *plan)
{
	int rc = plan_all(work, residency, plan);
	if (!rc && work->share > 0 && work->share < 1 && work->hierarchy)
		rc = reduce_plan(work, residency, plan);
	if (rc)
		ov_plan_free(plan);
	return rc;
}

double ov_spread(const struct ov_work *work, const struct ov_plan *plan, const struct ov_outcome *o, double cycles, double uneven)
{
	bool some = plan->groups < plan->all || plan->left_out;
	double regions = cycles > 0 ? o->spread_cycles / cycles : 0;
	double left = o->stopped && work->instructions > 0 ? fmax(0, 1 - o->stopped / work->instructions * work->gpu->sm_count / plan->sm_count) : 0;
	double chance = work->hierarchy && (some || o->skipped_instructions > 0 || work->gaps) ? MEMORY_CHANCE : 0;
	chance = work->hierarchy ? fmax(chance, work->stand_in) : 0;
	double traffic = work->hierarchy && some ? plan->unlike : 0;
	return sqrt(regions * regions + uneven * uneven + traffic * traffic + chance * chance + left * left * STOPPED * STOPPED);
}

void ov_plan_free(struct ov_plan *plan)
{
	drop_regions(plan);
	drop_runs(plan);
	free(plan->left_out);
	plan->left_out = NULL;
}
