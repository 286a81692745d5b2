/* The warps that stand for a launch; see made_warps.h. */
#include "models/made_warps.h"

#include "models/accesses/accesses.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct launch_arguments arguments_of_launch(const struct launch_profile *launch)
{
	struct launch_arguments arguments = {
		.values = launch->argument_values, .known = launch->arguments_known, .bytes = launch->argument_bytes,
		.count = launch->argument_count,
	};
	for (int d = 0; d < 3; d++) {
		arguments.local[d] = launch->local[d];
		arguments.groups[d] = launch->groups[d];
	}
	return arguments;
}

bool asks_memory(const struct kernel_code *code)
{
	for (uint32_t i = 0; i < code->code_count; i++)
		if (code_accesses_memory(&code->code[i]) && code->code[i].space != SPACE_param && code->code[i].space != SPACE_shared)
			return true;
	return false;
}

bool launch_addresses_known(const struct launch_profile *launch)
{
	return launch->accesses && !launch->unknown_accesses;
}

static struct trace_shape shape_of(const struct launch_profile *launch, const struct model_options *options)
{
	struct trace_shape shape = {.requests = options->hierarchy};
	memcpy(shape.groups, launch->groups, sizeof shape.groups);
	memcpy(shape.local, launch->local, sizeof shape.local);
	return shape;
}

/* -ENOENT where no trace can be used. */
static int from_trace(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                      struct trace_warps *out, struct gs_error *err)
{
	struct trace_shape shape = shape_of(launch, options);
	shape.other = launch->other_work;
	return trace_warps(gpu, launch->code, launch->trace, &shape, &launch->lanes, launch->accesses, out, err);
}

/* From counters, and addresses that the code computes; -ENOENT where there are none. all_known: also where some are assumed. */
static int from_code(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options, bool all_known,
                     struct trace_warps *out, struct gs_error *err)
{
	struct launch_arguments arguments = arguments_of_launch(launch);
	struct trace_shape shape = shape_of(launch, options);
	if (!options->hierarchy || !asks_memory(launch->code))
		return -ENOENT;
	int result = computed_warps(gpu, launch->code, &arguments, &shape, &launch->lanes, launch->accesses, out, err);
	if (!result && all_known && (out->drawn || out->inconsistent || out->fraction < 1)) {
		trace_warps_free(out);
		return -ENOENT;
	}
	return result;
}

/* The edge of a block, in a loop, into an arm that some lanes go through by their data; -1: there is none. */
static int64_t arm_by_data(const struct kernel_code *code, uint32_t block)
{
	const struct code_block *b = &code->blocks[block];
	int64_t into = -1;
	bool past = false;
	if (b->loop < 0 || b->join < 0 || b->edge_count != 2 || !b->count || code->blocks[b->join].loop != b->loop ||
	    code->code[b->first + b->count - 1].flags & (CODE_UNIFORM | CODE_ORDERED))
		return -1;
	for (uint32_t e = b->first_edge; e < b->first_edge + 2; e++)
		if (code->edges[e].to == b->join)
			past = true;
		else
			into = e;
	return past ? into : -1;
}

bool needs_traced_arms(const struct gpu *gpu, const struct launch_profile *launch)
{
	static const double much = 0.02; /* of the instructions */
	const struct kernel_code *code = launch->code;
	struct code_counts all = {.edges = calloc(code->edge_count + 1u, sizeof *all.edges),
	                          .blocks = calloc(code->block_count + 1u, sizeof *all.blocks)};
	bool found = false, counted = all.edges && all.blocks && code_is_traced_whole(code) && !code_count(code, launch->counts, &all);
	for (uint32_t b = 0; b < code->block_count && counted && !found; b++) {
		int64_t arm = arm_by_data(code, b);
		if (arm < 0 || code->edges[arm].to < 0 || all.edges[arm] >= all.blocks[b])
			continue;
		double times = fmin(all.edges[arm] * gpu->warp_size, all.blocks[b]);
		found = times * code->blocks[code->edges[arm].to].count > much * all.thread_instructions;
	}
	free(all.edges);
	free(all.blocks);
	return found;
}

/* Drivers take launches of no work-items. */
static bool has_warps(const struct launch_profile *launch)
{
	uint64_t items = 1;
	for (int d = 0; d < 3; d++) {
		if (!launch->groups[d] || !launch->local[d] || launch->local[d] > UINT32_MAX / items)
			return false;
		items *= launch->local[d];
	}
	return true;
}

/* Loops in the windows of loops did far from what they did between them: those of a triangle grow with each row. The code knows as much of their
 * addresses, and counters how long all of them were. */
static bool windows_mislead(const struct trace_warps *w)
{
	static const double far = 1.5;
	return w->fitted > far || w->fitted < 1 / far;
}

static int instead_from_code(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                             struct made_warps *m, struct gs_error *err)
{
	struct trace_warps by_code = {0};
	int result = from_code(gpu, launch, options, true, &by_code, err);
	if (result)
		return result == -ENOENT ? 0 : result;
	trace_warps_free(&m->warps);
	m->warps = by_code;
	m->traced = false;
	return 0;
}

int made_warps_new(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                   struct made_warps **out, struct gs_error *err)
{
	bool traced = launch->trace && launch->trace->group_count;
	if (!has_warps(launch))
		return -EINVAL;
	struct made_warps *m = calloc(1, sizeof *m);
	if (!m)
		return -ENOMEM;
	/* Where another launch's addresses begin elsewhere, the launch's own say more, if the code has all of them. */
	bool code_knows = traced && launch_addresses_known(launch) && !needs_traced_arms(gpu, launch), by_code = code_knows && launch->other_work;
	int result = by_code ? from_code(gpu, launch, options, true, &m->warps, err) : -ENOENT;
	if (result == -ENOENT && traced) {
		result = from_trace(gpu, launch, options, &m->warps, err);
		m->traced = !result;
		if (!result && code_knows && !by_code && windows_mislead(&m->warps))
			result = instead_from_code(gpu, launch, options, m, err);
	}
	if (result == -ENOENT)
		result = from_code(gpu, launch, options, false, &m->warps, err);
	if (result)
		free(m);
	else
		*out = m;
	return result;
}

size_t made_warps_bytes(const struct made_warps *m)
{
	return trace_warps_bytes(&m->warps);
}

void made_warps_free(struct made_warps *m)
{
	if (m)
		trace_warps_free(&m->warps);
	free(m);
}

int made_warps_survey(const struct gpu *gpu, const struct made_warps *m, struct launch_survey *out)
{
	const struct kernel_code *code = m->warps.warps.code;
	int result = survey_warps(gpu, &m->warps.warps, out);
	out->lane_efficiency = m->warps.lane_efficiency;
	for (uint32_t i = 0; i < code->code_count; i++) {
		const struct instruction_statistics *s = &m->warps.statistics.instructions[i];
		out->instructions[i].lanes = s->executions ? (double)s->active_lanes / (double)s->executions * out->instructions[i].executions : 0;
	}
	return result;
}
