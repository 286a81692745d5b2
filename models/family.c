/*
 * A launch among others of its kernel (models/sampling/families.h): where it is on the curve, by its counters alone, and its estimate
 * from those of two launches that were simulated.
 *
 *   amounts, such as cycles and bytes:  (1 - w) a + w b;  of a launch near a: a * size / a's size
 *   rates, such as hits:                (1 - w) a + w b
 */
#include "models/family.h"

#include "models/accesses/image.h"
#include "models/util/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What reads of images take, whatever their sizes. */
static uint64_t images_kind(const struct launch_profile *launch, uint64_t hash)
{
	struct image_shape s;
	for (uint32_t i = 0; i < launch->argument_count && launch->argument_bytes; i++) {
		if (!image_shape_of(launch->argument_bytes[i], &s))
			continue;
		uint64_t words[] = {i, s.texel_bytes, s.sampler, s.by_rows};
		hash = hash_bytes(words, sizeof words, hash);
	}
	return hash;
}

/* What must be equal in a family. Launches that fall apart into other accesses, because they begin elsewhere in a line, take other times
 * though they are as large. Where all addresses are known, or the launch is traced, sectors says as much. Those that reach further find less in caches. */
static uint64_t family_kind(const struct launch_profile *launch, struct trace_glance glance)
{
	bool traced = glance.sectors > 0, known = launch_addresses_known(launch);
	uint64_t words[] = {launch->local[0], launch->local[1], launch->local[2], launch->local_bytes, known ? 2 : traced, launch->code_before,
	                    launch->parameters_before, glance.reach};
	uint64_t hash = images_kind(launch, hash_bytes(words, sizeof words, 0));
	hash = hash_bytes(launch->memory_before.cold, sizeof launch->memory_before.cold, hash);
	hash = hash_bytes(launch->memory_before.alone, sizeof launch->memory_before.alone, hash);
	hash = hash_bytes(&launch->memory_before.dirty, sizeof launch->memory_before.dirty, hash);
	hash = hash_bytes(&launch->memory_before.others_dirty, sizeof launch->memory_before.others_dirty, hash);
	return launch->accesses && !traced && !known ? hash_bytes(launch->accesses, launch->code->code_count * sizeof *launch->accesses, hash) : hash;
}

/* Accesses that instructions on memory fall apart into, on average. */
static double mean_accesses(const struct launch_profile *launch, const double *blocks)
{
	const struct kernel_code *code = launch->code;
	double accesses = 0, executions = 0;
	for (uint32_t b = 0; b < code->block_count; b++)
		for (uint32_t i = code->blocks[b].first; i < code->blocks[b].first + code->blocks[b].count; i++) {
			if (!code_accesses_memory(&code->code[i]) || code->code[i].space == SPACE_param)
				continue;
			accesses += fmax(blocks[b], 0) * launch->accesses[i];
			executions += fmax(blocks[b], 0);
		}
	return executions > 0 ? accesses / executions : 0;
}

/* Work-groups of the SM that has most; where one more is less than the rest may be apart, there is no step. */
static uint64_t steps_of(const struct gpu *gpu, double groups)
{
	static const double most = 50;
	return (uint64_t)fmin(ceil(groups / (double)(gpu->sm_count ? gpu->sm_count : 1)), most);
}

int launch_family(const struct gpu *gpu, const struct launch_profile *launch, struct trace_glance glance, struct family_features *out)
{
	const struct kernel_code *code = launch->code;
	struct code_counts c = {
		.edges = calloc(code->edge_count + 1, sizeof *c.edges), .blocks = calloc(code->block_count + 1, sizeof *c.blocks),
	};
	double groups = (double)launch->groups[0] * (double)launch->groups[1] * (double)launch->groups[2];
	double items = (double)launch->local[0] * (double)launch->local[1] * (double)launch->local[2];
	int result = c.edges && c.blocks ? code_count(code, launch->counts, &c) : -ENOMEM;
	*out = (struct family_features){.kind = family_kind(launch, glance), .steps = steps_of(gpu, groups),
	                                .size = c.thread_instructions * launch->scale,
	                                .sectors = glance.sectors, .warps = groups * ceil(items / gpu->warp_size),
	                                .together = launch->together, .longest = launch->longest,
	                                .borrowed = unseen_spread(launch) > 0};
	if (!result && launch_addresses_known(launch))
		out->sectors = mean_accesses(launch, c.blocks);
	for (uint32_t b = 0; !result && b < code->block_count; b++)
		out->parts[b % FAMILY_PARTS] += fmax(c.blocks[b], 0) * code->blocks[b].count * launch->scale;
	free(c.edges);
	free(c.blocks);
	return result;
}

bool hangs_on_few(const struct launch_profile *launch)
{
	enum { RUN = 32 }; /* that longest and together are of */
	double items = (double)launch->global[0] * (double)launch->global[1] * (double)launch->global[2];
	return few_are_longer(launch->longest, launch->together, items / RUN);
}

/* Chosen so that 96 to 98% of such launches of bfs are inside; no other program was looked at (docs/notes/sampling.md). */
double unseen_spread(const struct launch_profile *launch)
{
	if (!hangs_on_few(launch))
		return 0;
	return launch->longest_missed ? 0.5 : launch->other_trace ? 0.3 : 0;
}

/* ---- estimates ---- */

struct shares {
	double a, b;     /* of amounts */
	double a_rate, b_rate;
};

static double amount(const struct shares *s, double a, double b)
{
	return isnan(a) ? s->b * b : isnan(b) ? s->a * a : s->a * a + s->b * b;
}

static double rate(const struct shares *s, double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : s->a_rate * a + s->b_rate * b;
}

static uint64_t count(const struct shares *s, uint64_t a, uint64_t b)
{
	double x = amount(s, (double)a, (double)b);
	return x < 1.8e19 ? (uint64_t)(x + 0.5) : UINT64_MAX;
}

static struct memory_statistics memory_between(const struct shares *s, const struct memory_statistics *a,
                                               const struct memory_statistics *b)
{
	return (struct memory_statistics){
		.requests = amount(s, a->requests, b->requests),
		.transactions = amount(s, a->transactions, b->transactions),
		.l1_hit = rate(s, a->l1_hit, b->l1_hit),
		.l2_hit = rate(s, a->l2_hit, b->l2_hit),
		.dram_read_bytes = amount(s, a->dram_read_bytes, b->dram_read_bytes),
		.dram_written_bytes = amount(s, a->dram_written_bytes, b->dram_written_bytes),
		.dram_share = rate(s, a->dram_share, b->dram_share),
		.l2_share = rate(s, a->l2_share, b->l2_share),
		.atomic_share = rate(s, a->atomic_share, b->atomic_share),
		.shared_factor = rate(s, a->shared_factor, b->shared_factor),
		.atomics = amount(s, a->atomics, b->atomics),
		.load_latency = rate(s, a->load_latency, b->load_latency),
		.l2_read_bytes = amount(s, a->l2_read_bytes, b->l2_read_bytes),
		.l2_written_bytes = amount(s, a->l2_written_bytes, b->l2_written_bytes),
	};
}

static struct access_counts accesses_between(const struct shares *s, const struct access_counts *a, const struct access_counts *b)
{
	return (struct access_counts){
		.load_requests = amount(s, a->load_requests, b->load_requests),
		.load_sectors = amount(s, a->load_sectors, b->load_sectors),
		.store_sectors = amount(s, a->store_sectors, b->store_sectors),
		.shared_conflicts = amount(s, a->shared_conflicts, b->shared_conflicts),
		.store_requests = amount(s, a->store_requests, b->store_requests),
		.atomic_requests = amount(s, a->atomic_requests, b->atomic_requests),
		.texture_requests = amount(s, a->texture_requests, b->texture_requests),
		.private_requests = amount(s, a->private_requests, b->private_requests),
		.shared_requests = amount(s, a->shared_requests, b->shared_requests),
	};
}

/* Of the nearer one: lines and iterations cannot be mixed. */
static void take_from_nearer(const struct shares *s, const struct family_between *between, struct estimate *out)
{
	const struct estimate *from = s->a_rate >= s->b_rate ? between->a : between->b;
	double size = s->a_rate >= s->b_rate ? between->a_size : between->b_size, times = size > 0 ? between->size / size : 1;
	out->model = from->model;
	out->iterations = from->iterations;
	out->fixed_point = from->fixed_point;
	for (uint32_t i = 0; i < fixed_point_kept(&out->fixed_point); i++)
		out->fixed_point.history[i] *= times;
	memcpy(out->divergence, from->divergence, sizeof out->divergence);
	for (int i = 0; i < ESTIMATE_MAX_LINES; i++) {
		out->divergence[i].executions *= times;
		out->divergence[i].divergent *= times;
	}
}

static struct shares shares_of(const struct family_between *between)
{
	double w = between->weight;
	if (between->a == between->b)
		return (struct shares){between->a_size > 0 ? between->size / between->a_size : 1, 0, 1, 0};
	return (struct shares){1 - w, w, 1 - w, w};
}

/* Of all of the launch's time; what it takes to start it is not in the estimate yet, and stays. */
static void take_times(double times, double overhead_cycles, struct estimate *out)
{
	double all = overhead_cycles, own = 0;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		own += out->by[k];
	all += own;
	if (!(times > 0) || !(own > 0))
		return;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		out->by[k] *= fmax(times * all - overhead_cycles, 0) / own;
}

void estimate_between(const struct family_between *between, double overhead_cycles, double least_spread, struct estimate *out)
{
	const struct estimate *a = between->a, *b = between->b;
	const struct shares s = shares_of(between);
	take_from_nearer(&s, between, out);
	for (int k = 0; k < CYCLE_KIND_COUNT; k++) {
		double overhead = k == CYCLES_launch ? overhead_cycles : 0;
		out->by[k] = fmax(amount(&s, a->by[k] - overhead, b->by[k] - overhead), 0);
	}
	take_times(between->times, overhead_cycles, out);
	for (int k = 0; k < MACHINE_PIPE_COUNT; k++)
		out->by_pipe[k] = rate(&s, a->by_pipe[k], b->by_pipe[k]);
	for (int u = 0; u < RESOURCE_COUNT; u++)
		out->unit_cycles[u] = amount(&s, a->unit_cycles[u], b->unit_cycles[u]);
	out->register_bank_conflicts = amount(&s, a->register_bank_conflicts, b->register_bank_conflicts);
	out->warp_instructions = count(&s, a->warp_instructions, b->warp_instructions);
	out->machine_instructions = count(&s, a->machine_instructions, b->machine_instructions);
	out->lane_efficiency = rate(&s, a->lane_efficiency, b->lane_efficiency);
	out->memory = memory_between(&s, &a->memory, &b->memory);
	out->accesses = accesses_between(&s, &a->accesses, &b->accesses);
	out->simulated_fraction = 0;
	out->sampled = true;
	out->spread = hypot(fmax(fmax(a->spread, b->spread), least_spread), between->error); /* one does not come with the other */
	out->flags |= a->flags | b->flags;
	flag_add(&out->flags, FLAG_sampled);
}

void instructions_between(const struct family_between *between, struct instruction_count *out, size_t instructions)
{
	const struct instruction_count *a = between->a_instructions, *b = between->b_instructions;
	const struct shares s = shares_of(between);
	for (size_t i = 0; a && b && i < instructions; i++) {
		out[i].warps = amount(&s, a[i].warps, b[i].warps);
		out[i].transactions = amount(&s, a[i].transactions, b[i].transactions);
		out[i].requests = amount(&s, a[i].requests, b[i].requests);
		out[i].sectors = amount(&s, a[i].sectors, b[i].sectors);
	}
}
