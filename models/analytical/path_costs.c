/*
 * What the warps of a launch use, each alone, and all of them.
 *
 *   usage = sum over blocks of executions * usage of the block, + fetches in vain, + further accesses
 *   latency: path_latency.c
 * Source: Gerum et al., probabilistic resource model, IV-A.
 */
#include "models/analytical/path_costs.h"
#include "models/analytical/path_latency.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void usage_add(struct usage *to, const struct usage *from, double times)
{
	for (int r = 0; r < RESOURCE_COUNT; r++) {
		to->busy[r] += times * from->busy[r];
		to->collectors[r] += times * from->collectors[r];
		to->readers[r] += times * from->readers[r];
	}
	to->instructions += times * from->instructions;
	to->reads += times * from->reads;
	to->writes += times * from->writes;
	to->writers += times * from->writers;
	to->own_conflicts += times * from->own_conflicts;
	to->barriers += times * from->barriers;
}

/* Usage. */

static void block_usage(const struct pipeline *p, const struct code_block *b, struct usage *out)
{
	for (uint32_t n = b->first; n < b->first + b->count; n++) {
		const struct code_instruction *i = &p->code->code[n];
		const struct pipeline_instruction *d = &p->instructions[n];
		out->instructions++;
		out->busy[RESOURCE_issue]++;
		out->busy[RESOURCE_collector] += d->collector_cycles;
		out->collectors[d->cost.unit] += d->collector_cycles;
		out->readers[d->cost.unit] += i->reads > 0;
		/* Accesses are added path by path. */
		out->busy[d->cost.unit] += code_has_accesses(i->class) ? 0 : d->cost.initiation;
		out->busy[RESOURCE_writeback] += i->writes;
		out->reads += i->reads;
		out->writes += i->writes;
		out->writers += i->writes > 0;
		out->own_conflicts += d->bank_conflicts;
		out->barriers += i->class == CODE_barrier;
	}
}

/* Instructions with accesses, block by block, and what the launch does with them. */
struct access_sums {
	uint32_t *first;    /* per block, and the end: where in `code` its instructions begin */
	uint32_t *code;     /* instructions */
	double *accesses, *executions; /* of the launch, by instruction */
	double all, squares;           /* executions, and the sum of their accesses squared */
	double late, late_accesses;    /* see struct launch_costs */
};

static void list_accesses(const struct kernel_code *code, struct access_sums *counts)
{
	uint32_t n = 0;
	for (uint32_t b = 0; b < code->block_count; b++) {
		counts->first[b] = n;
		for (uint32_t i = code->blocks[b].first; i < code->blocks[b].first + code->blocks[b].count; i++)
			if (code_has_accesses(code->code[i].class))
				counts->code[n++] = i;
	}
	counts->first[code->block_count] = n;
}

static uint16_t accesses_of(const struct launch_warps *warps, const struct warp_path *path, size_t next, uint32_t i)
{
	uint16_t n = warps->usual_accesses ? warps->usual_accesses[i] : 1;
	if (path->accesses)
		n = next < path->access_count ? path->accesses[next] : 1;
	return n ? n : 1;
}

/* Whether its data comes from beyond L1, in several parts. */
static bool is_late(const struct launch_warps *warps, const struct warp_path *path, size_t next, uint32_t i)
{
	uint16_t wait = warps->usual_waits ? warps->usual_waits[i] : 0;
	if (path->waits)
		wait = next < path->access_count ? path->waits[next] : 0;
	return wait && warps->code->code[i].class == CODE_load && warps->code->code[i].writes > 0;
}

static double path_accesses(const struct launch_warps *warps, const struct warp_path *path, double times,
                            struct access_sums *counts)
{
	double sum = 0;
	size_t next = 0;
	for (size_t b = 0; b < path->block_count; b++) {
		double weight = path_weight(path, b), executed = times * weight;
		for (uint32_t a = counts->first[path->blocks[b]]; a < counts->first[path->blocks[b] + 1]; a++, next++) {
			uint32_t i = counts->code[a];
			uint16_t n = accesses_of(warps, path, next, i);
			sum += weight * n;
			counts->accesses[i] += executed * n;
			counts->executions[i] += executed;
			counts->all += executed;
			counts->squares += executed * n * n;
			if (n > 1 && is_late(warps, path, next, i)) {
				counts->late += executed;
				counts->late_accesses += executed * n;
			}
		}
	}
	return sum;
}

/* Latencies take the mean of an instruction's accesses, in whole numbers: few different states. */
static void set_mean_accesses(struct pipeline *p, const struct access_sums *counts)
{
	for (uint32_t i = 0; i < p->code->code_count; i++)
		if (counts->executions[i] > 0)
			p->instructions[i].accesses = (uint32_t)(counts->accesses[i] / counts->executions[i] + 0.5);
}

static int sum_usage(const struct launch_warps *warps, const struct pipeline *p, struct launch_costs *out)
{
	const struct kernel_code *code = warps->code;
	struct usage *blocks = calloc(code->block_count + 1, sizeof *blocks);
	double *executions = calloc(code->block_count + 1, sizeof *executions);
	int rc = blocks && executions ? 0 : -ENOMEM;
	for (uint32_t b = 0; b < code->block_count && !rc; b++)
		block_usage(p, &code->blocks[b], &blocks[b]);
	for (uint32_t n = 0; n < warps->path_count && !rc; n++) {
		memset(executions, 0, code->block_count * sizeof *executions);
		for (size_t b = 0; b < warps->paths[n].block_count; b++)
			executions[warps->paths[n].blocks[b]] += path_weight(&warps->paths[n], b);
		for (uint32_t b = 0; b < code->block_count; b++)
			if (executions[b] > 0) {
				usage_add(&out->paths[n].usage, &blocks[b], executions[b]);
				out->block_executions[b] += out->path_warps[n] * executions[b];
			}
	}
	free(blocks);
	free(executions);
	return rc;
}

/* Of an instruction's accesses, squared and relative: 0 where all have the same. */
static double variation(const struct access_sums *counts, uint32_t instructions)
{
	double sum = 0;
	for (uint32_t i = 0; i < instructions; i++)
		sum += counts->accesses[i];
	return sum > 0 ? max_double(counts->squares * counts->all / (sum * sum) - 1, 0) : 0;
}

static int sum_accesses(const struct launch_warps *warps, struct pipeline *p, struct launch_costs *out)
{
	size_t count = warps->code->code_count + (size_t)1, blocks = warps->code->block_count + (size_t)1;
	struct access_sums counts = {.first = calloc(blocks, sizeof *counts.first),
	                               .code = calloc(count, sizeof *counts.code),
	                               .accesses = calloc(count, sizeof *counts.accesses),
	                               .executions = calloc(count, sizeof *counts.executions)};
	int rc = counts.first && counts.code && counts.accesses && counts.executions ? 0 : -ENOMEM;
	if (!rc) {
		list_accesses(warps->code, &counts);
		for (uint32_t n = 0; n < warps->path_count; n++)
			out->paths[n].usage.busy[RESOURCE_ldst] +=
				path_accesses(warps, &warps->paths[n], out->path_warps[n], &counts);
		set_mean_accesses(p, &counts);
		out->late_loads = counts.late;
		out->late_accesses = counts.late_accesses;
		out->ldst_variation = variation(&counts, warps->code->code_count);
	}
	free(counts.first);
	free(counts.code);
	free(counts.accesses);
	free(counts.executions);
	return rc;
}

/* The launch. */

static bool is_valid(const struct launch_warps *warps)
{
	for (uint32_t n = 0; n < warps->path_count; n++)
		for (size_t b = 0; b < warps->paths[n].block_count; b++)
			if (warps->paths[n].blocks[b] >= warps->code->block_count)
				return false;
	for (uint64_t w = 0; w < warps->pattern_groups * warps->warps_per_group; w++)
		if (warps->path_of[w] >= warps->path_count)
			return false;
	return true;
}

static void count_warps(const struct launch_warps *warps, struct launch_costs *out)
{
	for (uint64_t g = 0; g < warps->pattern_groups; g++)
		for (uint32_t w = 0; w < warps->warps_per_group; w++)
			out->path_warps[warps->path_of[g * warps->warps_per_group + w]] += (double)warps_pattern_times(warps, g);
}

/* A group is there until its slowest warp is through. */
static void average_groups(const struct launch_warps *warps, struct launch_costs *out)
{
	double groups = (double)warps->groups;
	for (uint64_t g = 0; g < warps->pattern_groups; g++) {
		double share = (double)warps_pattern_times(warps, g) / groups;
		const struct path_cost *slowest = NULL;
		for (uint32_t w = 0; w < warps->warps_per_group; w++) {
			const struct path_cost *c = &out->paths[warps->path_of[g * warps->warps_per_group + w]];
			out->warp_latency += share * c->latency / warps->warps_per_group;
			out->warp_waits += share * c->waits / warps->warps_per_group;
			out->longest_latency = max_double(out->longest_latency, c->latency);
			if (!slowest || c->latency > slowest->latency)
				slowest = c;
		}
		out->group_latency += share * slowest->latency;
		out->group_memory_stall += share * slowest->memory_stall;
		out->group_waits += share * slowest->waits;
	}
}

/* Instructions by unit, each with the mean time that the units need for one. */
static int count_slots(const struct gpu *gpu, const struct launch_warps *warps, struct launch_costs *out)
{
	const struct kernel_code *code = warps->code;
	double instructions[RESOURCE_COUNT] = {0};
	for (uint32_t b = 0; b < code->block_count && gpu->completion_slots; b++)
		for (uint32_t i = 0; i < code->blocks[b].count; i++) {
			const struct code_instruction *x = &code->code[code->blocks[b].first + i];
			instructions[gpu_instruction_cost(gpu, x).unit] += out->block_executions[b];
		}
	int rc = 0;
	for (int unit = RESOURCE_fp32; unit < RESOURCE_ldst && !rc; unit++) {
		double cycles = 0;
		if (instructions[unit] > 0)
			rc = unit_cycles_per_instruction(gpu, code, out->block_executions, unit, &cycles);
		out->slot_cycles[unit] = instructions[unit] * cycles;
	}
	return rc;
}

/* By the resource that all of them together need longest. */
static void weigh_paths(const struct gpu *gpu, const struct launch_warps *warps, struct launch_costs *out)
{
	int most = RESOURCE_issue;
	double longest = 0;
	for (int r = 0; r < RESOURCE_COUNT; r++) {
		uint32_t units = gpu_unit_count(gpu, r);
		if (r != RESOURCE_collector && units && out->total.busy[r] / units > longest) {
			longest = out->total.busy[r] / units;
			most = r;
		}
	}
	for (uint32_t n = 0; n < warps->path_count; n++)
		out->paths[n].weight = out->paths[n].usage.busy[most];
}

static int allocate_costs(const struct gpu *gpu, const struct launch_warps *warps, struct launch_costs *out)
{
	out->paths = calloc((size_t)warps->path_count + 1, sizeof *out->paths);
	out->path_warps = calloc((size_t)warps->path_count + 1, sizeof *out->path_warps);
	out->block_executions = calloc((size_t)warps->code->block_count + 1, sizeof *out->block_executions);
	out->sm_loads = calloc(gpu->sm_count, sizeof *out->sm_loads);
	return out->paths && out->path_warps && out->block_executions && out->sm_loads ? 0 : -ENOMEM;
}

int launch_costs(const struct gpu *gpu, const struct launch_warps *warps, struct launch_costs *out, struct gs_error *err)
{
	*out = (struct launch_costs){0};
	int rc = allocate_costs(gpu, warps, out);
	if (rc || !warps->groups || !warps->warps_per_group || !warps->path_count || !warps->pattern_groups)
		return rc;
	if (!is_valid(warps))
		return gs_fail(err, EINVAL, "the path of a warp leads outside of the kernel's code");
	struct automaton *a = malloc(sizeof *a);
	if (!a)
		return -ENOMEM;
	count_warps(warps, out);
	rc = automaton_setup(a, gpu, warps->code);
	if (!rc)
		rc = sum_accesses(warps, &a->pipeline, out);
	if (!rc)
		rc = sum_usage(warps, &a->pipeline, out);
	for (uint32_t n = 0; n < warps->path_count && !rc; n++) {
		rc = path_latency(a, &warps->paths[n], &out->paths[n]);
		usage_add(&out->total, &out->paths[n].usage, out->path_warps[n]);
	}
	if (!rc) {
		average_groups(warps, out);
		weigh_paths(gpu, warps, out);
		rc = count_slots(gpu, warps, out);
	}
	automaton_finish(a);
	free(a);
	return rc;
}

void launch_costs_free(struct launch_costs *c)
{
	free(c->paths);
	free(c->path_warps);
	free(c->block_executions);
	free(c->sm_loads);
	*c = (struct launch_costs){0};
}
