/*
 * One launch on one GPU.
 *
 *   counts of source blocks -> counts of target blocks (code_count.c)
 *   -> paths of warps, from traces (models/trace/warps.c), from counters and what the code says of addresses (computed.c), or, with perfect
 *   memory, from counters alone (synthesise.c, accesses.c)
 *   -> groups that an SM holds (occupancy.c) -> the timing model -> cycles, + the overhead of a launch
 */
#include "models/accesses/accesses.h"
#include "models/warps/chance.h"
#include "models/traffic/footprint.h"
#include "models/util/limits.h"
#include "models/traffic/walk.h"
#include "models/family.h"
#include "models/made_warps.h"
#include "models/full.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes come from applications: a product that does not fit stays at the largest number. */
static uint64_t multiply_saturated(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t volume(const uint64_t size[3])
{
	return multiply_saturated(multiply_saturated(size[0], size[1]), size[2]);
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t as_count(double x)
{
	return x < 0 ? 0 : x < 1.8e19 ? (uint64_t)(x + 0.5) : UINT64_MAX;
}

static const struct memory_statistics memory_unknown = {
	.requests = NAN, .transactions = NAN, .l1_hit = NAN, .l2_hit = NAN, .dram_read_bytes = NAN, .dram_written_bytes = NAN,
	.dram_share = NAN, .l2_share = NAN, .atomic_share = NAN, .shared_factor = NAN, .atomics = NAN, .load_latency = NAN,
	.l2_read_bytes = NAN, .l2_written_bytes = NAN,
};

static const struct access_counts accesses_unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

const char *cycle_kind_name(enum cycle_kind kind)
{
#define NAME(name) #name,
	static const char *const names[] = {CYCLE_KINDS(NAME)};
#undef NAME
	return (unsigned)kind < CYCLE_KIND_COUNT ? names[kind] : "unknown";
}

/* Of a work-group: declared in the kernel, and given by arguments. */
static uint64_t shared_bytes_of(const struct launch_profile *launch)
{
	return add_saturated(launch->local_bytes, launch->code->shared_bytes);
}

static struct occupancy launch_occupancy(const struct gpu *gpu, const struct launch_profile *launch, uint64_t groups)
{
	struct occupancy o = gpu_occupancy(gpu, volume(launch->local), launch->code->registers, shared_bytes_of(launch));
	if (o.limit != OCCUPANCY_NONE && groups < (uint64_t)o.blocks_per_sm * gpu->sm_count)
		o.limit = OCCUPANCY_GRID;
	return o;
}

static void keep_thread_executions(const struct launch_profile *launch, const double *blocks)
{
	const struct kernel_code *code = launch->code;
	for (uint32_t b = 0; b < code->block_count && launch->instructions; b++)
		for (uint32_t i = code->blocks[b].first; i < code->blocks[b].first + code->blocks[b].count; i++)
			launch->instructions[i].threads += blocks[b] * launch->scale;
}

/* Instructions of all work-items, and how far they are from being determined. */
static int count_instructions(const struct launch_profile *launch, struct estimate *out, double *low, double *high)
{
	const struct kernel_code *code = launch->code;
	struct code_counts c = {
		.edges = calloc(code->edge_count + 1, sizeof *c.edges), .blocks = calloc(code->block_count + 1, sizeof *c.blocks),
	};
	int result = c.edges && c.blocks ? 0 : -ENOMEM;
	if (!result)
		result = code_count(code, launch->counts, &c);
	if (!result) {
		keep_thread_executions(launch, c.blocks);
		out->thread_instructions = as_count(c.thread_instructions * launch->scale);
		*low = c.thread_instructions > 0 ? c.low / c.thread_instructions : 1;
		*high = c.thread_instructions > 0 ? c.high / c.thread_instructions : 1;
		if (c.inconsistent)
			flag_add(&out->flags, FLAG_blocks_disagree);
		if (c.bounded)
			flag_add(&out->flags, FLAG_blocks_bounded);
	}
	free(c.edges);
	free(c.blocks);
	return result;
}

int launch_accesses(const struct gpu *gpu, const struct launch_profile *launch, uint16_t **out, uint32_t *unknown)
{
	struct launch_arguments arguments = arguments_of_launch(launch);
	*out = calloc(launch->code->code_count + 1, sizeof **out);
	return *out ? usual_accesses(gpu, launch->code, &arguments, *out, unknown) : -ENOMEM;
}

static enum cycle_kind largest_kind_of(const struct estimate *e, const enum cycle_kind *kinds, size_t count)
{
	enum cycle_kind most = kinds[0];
	for (size_t i = 1; i < count; i++)
		if (e->by[kinds[i]] > e->by[most])
			most = kinds[i];
	return most;
}

/*
 * The largest share names the limiter. Waiting for memory is one cause, wherever requests stood in line; what it is called is
 * the part of memory that is busy most of the time, or, where none is, the place where most was waited for. Nobody need wait for
 * atomics whose results are not used; still the launch ends when the slice of L2 that has most of them has done them.
 */
static const char *limiter_of(const struct estimate *e)
{
	static const enum cycle_kind memory[] = {CYCLES_memory, CYCLES_l1, CYCLES_l2, CYCLES_dram};
	static const double busy = 0.7; /* of peak: DRAM hardly reaches more. Names the limiter only, changes no time */
	enum cycle_kind most = CYCLES_issue;
	double waited = 0;
	for (size_t i = 0; i < GS_ARRAY_LEN(memory); i++)
		waited += e->by[memory[i]];
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		if (e->by[k] > e->by[most])
			most = (enum cycle_kind)k;
	if (e->memory.atomic_share > 0.5 && most != CYCLES_launch)
		return cycle_kind_name(CYCLES_atomics);
	if (waited < e->by[most])
		return cycle_kind_name(most);
	if (e->memory.dram_share > busy)
		return cycle_kind_name(CYCLES_dram);
	if (e->memory.l2_share > busy)
		return cycle_kind_name(CYCLES_l2);
	return cycle_kind_name(largest_kind_of(e, memory, GS_ARRAY_LEN(memory)));
}

static bool accesses_global(const struct kernel_code *code)
{
	for (uint32_t i = 0; i < code->code_count; i++)
		if (code_has_accesses(code->code[i].class) && (code->code[i].space == SPACE_global || code->code[i].space == SPACE_generic))
			return true;
	return false;
}

/* Events of OpenCL, and profilers of CUDA programs, do not begin and end with the same things. */
static double launch_overhead_cycles(const struct gpu *gpu, const struct launch_profile *launch)
{
	double ns = launch->cuda ? gpu->cuda_launch_overhead_ns : gpu->launch_overhead_ns;
	if (gpu->launch_end_ns > 0 && launch->groups[0] * launch->groups[1] * launch->groups[2] > 1 && gpu->sm_count > 1 && accesses_global(launch->code))
		ns += gpu->launch_end_ns;
	return ns * gpu->clock_mhz / 1000;
}

/* How far off an estimate may be at least. What was not simulated in full is never known better than to a percent. Another launch's
 * trace is worth less: launches of equal counters were seen to differ by two percent, because their lanes went other ways. What it takes to
 * start a kernel is the same with any trace. */
static double least_spread(const struct launch_profile *launch, const struct estimate *e, double overhead_cycles)
{
	double sampled = e->simulated_fraction < 1 ? 0.01 : 0, other = launch->other_trace ? 0.02 + launch->trace_apart : 0;
	other = hypot(other, unseen_spread(launch));
	other *= e->cycles > 0 ? fmax(1 - overhead_cycles / e->cycles, 0) : 1;
	return fmax(e->spread, hypot(sampled, other));
}

static void finish_estimate(const struct gpu *gpu, const struct launch_profile *launch, struct estimate *e, double low, double high)
{
	e->by[CYCLES_launch] += launch_overhead_cycles(gpu, launch);
	e->cycles = 0;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		e->cycles += e->by[k];
	e->spread = least_spread(launch, e, launch_overhead_cycles(gpu, launch));
	e->limiter = limiter_of(e);
	e->time_ns = e->cycles * 1000 / gpu->clock_mhz;
	e->low_ns = e->time_ns * low * (e->spread < 0.5 ? 1 - e->spread : 0.25 / e->spread); /* never negative */
	e->high_ns = e->time_ns * high * (1 + e->spread);
}

void estimate_wait_for_pages(const struct gpu *gpu, double ns, struct estimate *e)
{
	double cycles = ns * gpu->clock_mhz / 1000;
	if (!(ns > 0))
		return;
	e->by[CYCLES_pages] += cycles;
	e->cycles += cycles;
	e->time_ns += ns;
	e->low_ns += ns;
	e->high_ns += ns;
	e->limiter = limiter_of(e);
}

/* A work-group that does not fit is taken to run alone. */
static uint32_t resident_groups(const struct estimate *e)
{
	return e->occupancy.blocks_per_sm ? e->occupancy.blocks_per_sm : 1;
}

static void take_fixed_point(struct estimate *out, const struct fixed_point *f)
{
	out->fixed_point = *f;
	out->iterations = f->count;
}

/* Of a model that needs no other's result. */
static void take_single(struct estimate *out, double cycles)
{
	take_fixed_point(out, &(struct fixed_point){
		.history = {cycles}, .count = 1, .converged = true, .start = out->model, .model = out->model});
}

static void take_optimistic(struct estimate *out, const struct optimistic_timing *t, double conflicts)
{
	memcpy(out->by, t->by, sizeof out->by);
	memcpy(out->unit_cycles, t->limits, sizeof out->unit_cycles);
	out->warp_instructions = as_count(t->warp_instructions);
	out->register_bank_conflicts = conflicts;
}

static int run_optimistic(const struct gpu *gpu, const struct launch_warps *warps, struct estimate *out, struct gs_error *err)
{
	struct optimistic_timing t;
	int result = model_optimistic(gpu, warps, resident_groups(out), NULL, &t, err);
	if (result)
		return result;
	take_optimistic(out, &t, 0);
	take_single(out, t.cycles);
	return 0;
}

static int run_probabilistic(const struct gpu *gpu, const struct launch_warps *warps,
                             const struct fixed_point_options *options, struct estimate *out, struct gs_error *err)
{
	struct probabilistic_timing t;
	int result = model_probabilistic(gpu, warps, resident_groups(out), options, &t, err);
	if (result)
		return result;
	take_optimistic(out, &t.timing, t.register_bank_conflicts);
	take_fixed_point(out, &t.fixed_point);
	return 0;
}

static int run_full(const struct gpu *gpu, const struct launch_warps *warps, const struct full_options *options,
                    struct estimate *out, struct gs_error *err)
{
	struct full_timing t;
	int result = model_full(gpu, warps, resident_groups(out), options, &t, err);
	if (result)
		return result;
	memcpy(out->by, t.by, sizeof out->by);
	memcpy(out->unit_cycles, t.probabilistic.timing.limits, sizeof out->unit_cycles);
	divide_issue(out->by, t.probabilistic.timing.limits[RESOURCE_issue]);
	give_issue_to_unit(out->by, t.probabilistic.timing.limits);
	out->warp_instructions = as_count(t.warp_instructions);
	out->register_bank_conflicts = t.register_bank_conflicts;
	out->longest_group = t.occupancy.longest_group;
	out->simulated_fraction = t.occupancy.simulated_fraction;
	out->spread = t.occupancy.spread;
	if (options->warps.hierarchy)
		out->memory = t.occupancy.memory;
	take_fixed_point(out, &t.fixed_point);
	return 0;
}

static int run_occupancy(const struct gpu *gpu, const struct launch_warps *warps, const struct warp_options *options,
                         struct estimate *out, struct gs_error *err)
{
	struct warp_timing t;
	int result = model_occupancy_vector(gpu, warps, resident_groups(out), options, &t, err);
	if (result)
		return result;
	memcpy(out->by, t.by, sizeof out->by);
	out->warp_instructions = t.warp_instructions;
	out->longest_group = t.longest_group;
	out->register_bank_conflicts = t.bank_conflicts;
	out->simulated_fraction = t.simulated_fraction;
	out->spread = t.spread;
	if (options->hierarchy)
		out->memory = t.memory;
	take_single(out, t.cycles);
	return 0;
}

/* The analytical models take from memory what caches do with requests: how long a load takes on average, and what L2 and DRAM
 * need for all of them. */
static int run_analytical(const struct gpu *gpu, const struct launch_warps *warps, uint64_t shared_bytes,
                          const struct model_options *options, const struct full_options *full, struct estimate *out,
                          struct gs_error *err)
{
	struct gpu seen = *gpu;
	struct launch_warps own = *warps;
	struct memory_walk walk;
	if (full->warps.hierarchy) {
		int result = memory_walk(gpu, warps, resident_groups(out), shared_bytes, &walk);
		if (result)
			return result;
		seen.l1_latency = walk.load_latency > 0 ? walk.load_latency : gpu->l1_latency;
		own.l2_cycles = walk.l2_cycles;
		own.dram_cycles = walk.dram_cycles;
	}
	int result = options->kind == MODEL_OPTIMISTIC ? run_optimistic(&seen, &own, out, err)
	                                               : run_probabilistic(&seen, &own, &full->fixed_point, out, err);
	if (result || !full->warps.hierarchy)
		return result;
	double cycles = 0;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		cycles += out->by[k];
	out->memory = walk.memory;
	out->memory.l2_share = cycles > 0 ? walk.l2_cycles / cycles : NAN;
	out->memory.dram_share = cycles > 0 ? walk.dram_cycles / cycles : NAN;
	return 0;
}

/* The timing model proper; fills out->by, without the launch's own overhead. Where the description has the banks of
 * registers, the occupancy vector looks at them; else they are left to chance. */
static int run_model(const struct gpu *gpu, const struct launch_profile *launch, const struct launch_warps *paths,
                     const struct model_options *options, struct estimate *out, struct gs_error *err)
{
	struct launch_warps own = *paths, *warps = &own;
	uint64_t shared_bytes = shared_bytes_of(launch);
	struct full_options full = {.fixed_point.iterations = options->iterations,
	                            .warps = {.exact = options->exact, .share = options->share, .most_steps = options->most_steps, .resolve_banks = gpu->banks_by_name,
	                                      .shared_bytes = shared_bytes, .most_groups = resident_groups(out), .code_before = launch->code_before,
	                                      .parameters_before = launch->parameters_before},
	                            .occupancy = model_occupancy_vector};
	own.before = &launch->memory_before;
	own.argument_bytes = launch->argument_bytes;
	own.argument_count = launch->argument_count;
	full.warps.hierarchy = options->hierarchy && launch_has_requests(warps);
	if (!full.warps.hierarchy && asks_memory(warps->code))
		flag_add(&out->flags, FLAG_perfect_memory);
	switch (options->kind) {
	case MODEL_OPTIMISTIC:
	case MODEL_PROBABILISTIC:
		return run_analytical(gpu, warps, shared_bytes, options, &full, out, err);
	case MODEL_OCCUPANCY:
		return run_occupancy(gpu, warps, &full.warps, out, err);
	case MODEL_FULL:
		break;
	}
	return run_full(gpu, warps, &full, out, err);
}

/* Paths that were cut stand for longer ones. */
static void stretch_time(struct estimate *out, double factor)
{
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		out->by[k] *= factor;
	for (uint32_t i = 0; i < fixed_point_kept(&out->fixed_point); i++)
		out->fixed_point.history[i] *= factor;
}

/* Cycles in which one warp is left. */
static void add_time(struct estimate *out, double cycles)
{
	out->by[CYCLES_tail] += cycles;
	for (uint32_t i = 0; i < fixed_point_kept(&out->fixed_point); i++)
		out->fixed_point.history[i] += cycles;
}

static double time_of(const struct estimate *e)
{
	double sum = 0;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		sum += e->by[k];
	return sum;
}

static void stretch_counts(struct estimate *out, double factor)
{
	for (int u = 0; u < RESOURCE_COUNT; u++)
		out->unit_cycles[u] *= factor;
	out->warp_instructions = as_count((double)out->warp_instructions * factor);
	out->machine_instructions = as_count((double)out->machine_instructions * factor);
}

static void stretch_estimate(struct estimate *out, double factor)
{
	stretch_time(out, factor);
	stretch_counts(out, factor);
}

/* The same with what the chip executes of the paths, where that is another code. */
static int run_machine(const struct gpu *gpu, const struct launch_profile *launch, const struct launch_warps *warps,
                       const struct model_options *options, struct estimate *out, struct gs_error *err)
{
	struct machine_paths m;
	if (!machine_has(warps->code)) {
		int result = run_model(gpu, launch, warps, options, out, err);
		out->machine_instructions = out->warp_instructions;
		if (!result && warps->code->origin == CODE_OF_TRACE)
			result = machine_share_pipes(warps, out->by_pipe);
		return result;
	}
	int result = machine_paths_make(gpu, warps, &m);
	if (result)
		return result;
	result = run_model(gpu, launch, &m.warps, options, out, err);
	out->machine_instructions = out->warp_instructions;
	out->warp_instructions = as_count((double)out->machine_instructions * m.ptx_per_instruction);
	memcpy(out->by_pipe, m.by_pipe, sizeof out->by_pipe);
	machine_paths_free(&m);
	return result;
}

/* Groups that the GPU holds at once. */
static uint64_t resident_on_gpu(const struct gpu *gpu, const struct estimate *e)
{
	return multiply_saturated(resident_groups(e), gpu->sm_count);
}

/* The first groups of the launch: fewer in the last dimensions. What stands for groups is spread over these as it was over all. */
static struct launch_warps first_groups(const struct launch_warps *all, uint64_t most)
{
	struct launch_warps w = *all;
	if (!most || most >= all->groups)
		return w;
	w.groups = most;
	uint64_t below[3] = {1, w.grid[0], multiply_saturated(w.grid[0], w.grid[1])}; /* groups of a step in the dimension */
	if (!w.grid[0] || multiply_saturated(below[2], w.grid[2]) != all->groups)
		return w;
	for (int d = 2; d >= 0; d--) {
		uint64_t fit = most / below[d] ? most / below[d] : 1;
		w.grid[d] = w.grid[d] < fit ? w.grid[d] : fit;
	}
	w.groups = w.grid[0] * w.grid[1] * w.grid[2];
	return w;
}

/* The same, as options->change has it. shares: of lanes, by block, or NULL. */
static int run_changed(const struct gpu *gpu, const struct launch_profile *launch, const struct launch_warps *all, const double *shares,
                       const struct model_options *options, struct estimate *out, struct gs_error *err)
{
	struct launch_warps warps = first_groups(all, options->most_groups);
	struct changed_warps c;
	if (!options->change)
		return run_machine(gpu, launch, &warps, options, out, err);
	int result = changed_warps_make(gpu, options->change, &warps, shares, resident_on_gpu(gpu, out), &c);
	if (result)
		return result;
	result = run_machine(gpu, launch, &c.warps, options, out, err);
	if (!result && c.times != 1)
		stretch_estimate(out, c.times);
	changed_warps_free(&c);
	return result;
}

/* By block, the part of a warp's lanes that execute it; 0: not executed. The caller frees. */
static double *lane_shares(const struct gpu *gpu, const struct kernel_code *code, const struct warp_statistics *s)
{
	double *shares = calloc(code->block_count + 1u, sizeof *shares);
	for (uint32_t b = 0; b < code->block_count && shares; b++) {
		const struct instruction_statistics *i = &s->instructions[code->blocks[b].first];
		if (code->blocks[b].count && i->executions)
			shares[b] = (double)i->active_lanes / ((double)i->executions * gpu->warp_size);
	}
	return shares;
}

/* What the traced warps did, for all warps. With perfect memory, requests have not been counted yet. */
static void take_statistics(const struct kernel_code *code, const struct warp_statistics *s, struct estimate *out)
{
	double scale = s->warps ? (double)out->warps / (double)s->warps : 1, requests, accesses;
	trace_divergence(code, s, scale, out->divergence, ESTIMATE_MAX_LINES);
	if (isnan(out->memory.requests)) {
		double global[2], private[2], generic[2];
		trace_space_totals(code, s, SPACE_global, &global[0], &global[1]);
		trace_space_totals(code, s, SPACE_local, &private[0], &private[1]);
		trace_space_totals(code, s, SPACE_generic, &generic[0], &generic[1]);
		out->memory.requests = scale * (global[0] + private[0] + generic[0]);
		out->memory.transactions = scale * (global[1] + private[1] + generic[1]);
	}
	trace_space_totals(code, s, SPACE_shared, &requests, &accesses);
	if (isnan(out->memory.shared_factor) && requests > 0)
		out->memory.shared_factor = accesses / requests;
}

/* Where the longest warp is only represented: what it does when all others have ended. */
static int end_with_longest(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                            const struct trace_warps *t, struct estimate *out, struct gs_error *err)
{
	struct launch_warps one = t->warps;
	struct estimate alone = *out;
	one.groups = one.pattern_groups = 1;
	one.path_of += t->longest_group * one.warps_per_group;
	one.pattern_ids += one.pattern_ids ? t->longest_group : 0;
	int result = run_changed(gpu, launch, &one, NULL, options, &alone, err);
	struct longest_warp warp = {.times = t->longest_represented, .launch = time_of(out), .group = out->longest_group,
	                            .alone = time_of(&alone), .begins_at_once = t->warps.groups <= resident_on_gpu(gpu, out)};
	if (!result)
		add_time(out, longest_goes_on(&warp));
	return result;
}

/* Instructions of work-items by the counters of all, over those of the groups that stand for them. */
static double counted_of_traced(const struct launch_warps *w, double counted)
{
	double traced = 0;
	for (uint64_t i = 0; i < w->pattern_groups * w->warps_per_group; i++)
		traced += (double)w->paths[w->path_of[i]].active_lanes;
	traced *= (double)w->groups / (double)w->pattern_groups;
	return traced > 0 && counted > 0 ? counted / traced : 1;
}

/* What the warps' instructions ask of memory, and what each did where that is wanted: one way through the paths for both. */
static int count_executions(const struct launch_profile *launch, const struct launch_warps *w, double times, struct estimate *out)
{
	if (!launch->instructions)
		return count_accesses(w, times, &out->accesses);
	int result = count_warp_executions(w, times, launch->instructions);
	if (!result)
		sum_accesses(launch->code, launch->instructions, &out->accesses);
	return result;
}

/* Counters and traces of a launch that differ by less are taken for the same: unrolling, and branches that fall through, make as
 * much. Above it, traces are of unusual groups. Twice as much: launches whose traced groups did half of the others' work are not
 * corrected. */
#define LIKE 1.5

/* Warps that stand for groups of the launch, whether they were traced or computed. */
static int model_groups(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                        const struct trace_warps *t, struct estimate *out, struct gs_error *err)
{
	static const double own_guesses = 0.01; /* what those of traces cost */
	double times = t->represented;
	if (times <= 0) /* of counters and traces, unless they differ by what unrolling and branches that fall through make */
		times = counted_of_traced(&t->warps, (double)out->thread_instructions);
	if (t->represented <= 0 && times < LIKE && times > 1 / LIKE)
		times = 1;
	if (t->cut) /* what is there is at the rate of what is not */
		times = counted_of_traced(&t->warps, (double)out->thread_instructions);
	if (t->fraction < 1)
		times /= t->fraction;
	double *shares = options->change ? lane_shares(gpu, launch->code, &t->statistics) : NULL;
	int result = run_changed(gpu, launch, &t->warps, shares, options, out, err);
	free(shares);
	if (!result)
		result = count_executions(launch, &t->warps, times, out);
	if (fabs(times - 1) > own_guesses) {
		stretch_counts(out, times);
		memory_scale(&out->memory, times);
	}
	bool by_longest = t->longest_represented > 0 && !t->cut;
	if (!result && by_longest && t->longest_represented > 1 && out->longest_group > 0 && !options->change)
		result = end_with_longest(gpu, launch, options, t, out, err);
	else if (fabs((by_longest ? t->longest_represented : times) - 1) > own_guesses)
		stretch_time(out, by_longest ? t->longest_represented : times);
	out->lane_efficiency = t->lane_efficiency;
	out->accessing = t->accessing;
	out->drawn = t->drawn;
	take_statistics(launch->code, &t->statistics, out);
	if (t->statistics.unknown_addresses)
		flag_add(&out->flags, FLAG_addresses_unknown);
	if (t->statistics.guessed_lanes)
		flag_add(&out->flags, FLAG_traces_disagree);
	if (t->cut)
		flag_add(&out->flags, FLAG_paths_cut);
	return result;
}

/* From warps that were traced, or computed. */
static int model_made(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                      const struct made_warps *made, struct estimate *out, struct gs_error *err)
{
	const struct trace_warps *t = &made->warps;
	int result = model_groups(gpu, launch, options, t, out, err);
	if (options->exact && !(made->traced && t->complete))
		flag_add(&out->flags, FLAG_not_exact);
	if (made->traced) {
		out->needed = t->needed;
		return result;
	}
	if (t->drawn)
		flag_add(&out->flags, FLAG_addresses_assumed);
	if (t->fraction < 0.99)
		flag_add(&out->flags, FLAG_paths_cut);
	if (t->inconsistent)
		flag_add(&out->flags, FLAG_lanes_disagree);
	return result;
}

/* Of lanes that go anywhere in the group's shared memory; NULL: none do. */
static const double *chance_means(const struct gpu *gpu, const struct launch_profile *launch, double *means)
{
	bool any = false;
	for (uint32_t i = 0; i < launch->code->code_count && launch->accesses; i++)
		any |= launch->accesses[i] == ACCESSES_BY_CHANCE;
	if (any)
		chance_fullest_bank(gpu->warp_size, gpu->shared_banks, shared_bytes_of(launch) / 4, means);
	return any ? means : NULL;
}

/* From the counters of work-items. */
static int model_counted(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                         struct estimate *out, struct gs_error *err)
{
	/* Work-items whose counters make paths: bounds time and memory. Of larger launches, evenly spread groups stand for all. */
	enum { MOST_ITEMS = 1 << 16, MOST_BLOCKS = MODEL_MOST_BLOCKS };
	struct launch_shape shape = {volume(launch->groups), (uint32_t)volume(launch->local), gpu->warp_size};
	double chance[CHANCE_LANES + 1];
	struct synthesis_limits limits = {MOST_ITEMS, MOST_BLOCKS, gpu->l1_access_bytes, chance_means(gpu, launch, chance)};
	struct synthesis s;
	int result = synthesise(launch->code, &shape, &launch->lanes, launch->accesses, &limits, &s, err);
	if (result)
		return result;
	result = run_changed(gpu, launch, &s.warps, NULL, options, out, err);
	if (!result)
		result = count_executions(launch, &s.warps, 1 / s.fraction, out);
	if (s.fraction < 1)
		stretch_estimate(out, 1 / s.fraction);
	if (s.fraction < 0.99) /* less is the rounding of counts that are not whole */
		flag_add(&out->flags, FLAG_paths_cut);
	if (s.reused)
		flag_add(&out->flags, FLAG_paths_reused);
	if (s.inconsistent)
		flag_add(&out->flags, FLAG_lanes_disagree);
	if (launch->unknown_accesses)
		flag_add(&out->flags, FLAG_addresses_unknown);
	out->lane_efficiency = s.lane_efficiency;
	synthesis_free(&s);
	return result;
}

static int model_warps(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                       struct estimate *out, struct gs_error *err)
{
	struct made_warps *own = NULL;
	int result = options->made ? 0 : made_warps_new(gpu, launch, options, &own, err);
	if (!result)
		result = model_made(gpu, launch, options, options->made ? options->made : own, out, err);
	made_warps_free(own);
	return result == -ENOENT ? model_counted(gpu, launch, options, out, err) : result;
}

/* Only those errors that say more than their number have a text by now. */
static int explain_failure(int result, struct gs_error *err)
{
	if (result == -ENOMEM)
		return gs_fail(err, ENOMEM, "out of memory");
	return err && *err->text ? result : gs_fail(err, -result, "%s", strerror(-result));
}

/* What follows from sizes and counters alone. */
static int start_estimate(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                          struct estimate *out, double *low, double *high)
{
	static const char *const names[] = {"full", "optimistic", "probabilistic", "occupancy"};
	uint64_t groups = volume(launch->groups), threads = volume(launch->local);
	*low = *high = 1;
	*out = (struct estimate){.model = names[options->kind], .simulated_fraction = 1, .memory = memory_unknown,
	                         .accesses = accesses_unknown};
	out->warps = multiply_saturated(groups, (threads + gpu->warp_size - 1) / gpu->warp_size);
	out->occupancy = launch_occupancy(gpu, launch, groups);
	if (out->warps && out->occupancy.limit == OCCUPANCY_NONE)
		flag_add(&out->flags, FLAG_does_not_fit);
	return count_instructions(launch, out, low, high);
}

/* Units that multiply matrices make the chip lower its clock, from the first launch that has any on. */
static struct gpu clocked(const struct gpu *gpu, const struct kernel_code *code)
{
	struct gpu own = *gpu;
	bool multiplies = false;
	for (uint32_t i = 0; code && i < code->code_count; i++)
		multiplies |= code->code[i].class == CODE_tensor || code->code[i].class == CODE_tensor_half;
	if (multiplies && gpu->tensor_clock_mhz > 0)
		own.clock_mhz = gpu->tensor_clock_mhz;
	return own;
}

int model_launch(const struct gpu *described, const struct launch_profile *launch, const struct model_options *options,
                 struct estimate *out, struct gs_error *err)
{
	struct gpu own = clocked(described, launch->code), *gpu = &own;
	double low, high;
	if (err)
		*err->text = 0;
	int result = start_estimate(gpu, launch, options, out, &low, &high);
	if (!result && out->warps && volume(launch->local) <= UINT32_MAX)
		result = model_warps(gpu, launch, options, out, err);
	finish_estimate(gpu, launch, out, low, high);
	return result ? explain_failure(result, err) : 0;
}

int model_between(const struct gpu *described, const struct launch_profile *launch, const struct model_options *options,
                  const struct family_between *between, struct estimate *out, struct gs_error *err)
{
	struct gpu own = clocked(described, launch->code), *gpu = &own;
	double low, high;
	if (err)
		*err->text = 0;
	int result = start_estimate(gpu, launch, options, out, &low, &high);
	if (result)
		return explain_failure(result, err);
	estimate_between(between, launch_overhead_cycles(gpu, launch), options->hierarchy ? MEMORY_CHANCE : 0, out);
	if (launch->instructions)
		instructions_between(between, launch->instructions, launch->code->code_count);
	finish_estimate(gpu, launch, out, low, high);
	return 0;
}
