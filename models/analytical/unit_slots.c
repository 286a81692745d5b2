/*
 * Units that complete one instruction per cycle.
 *
 * An instruction of latency L may start on a unit at t if the unit takes one (initiation intervals) and nothing else will
 * leave it at t + L; those after it wait, also for the other units of the kind. So a short instruction after long
 * ones stops all, and the rate follows from the mix. No formula covers it: a sample of the mix is run through the
 * units, in the order in which warps issue it, a fetch's instructions in a row.
 * Source: GPGPU-Sim's pipelined units; against it the rates of eleven mixes are within 4%.
 */
#include "models/analytical/path_costs.h"

#include "models/util/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* SAMPLE: instructions. Of 324 times (tests/oracle/analytical), twice as many change 86, by 1.5% at most; the mean change of all is
 * 0.06%. SLOTS: cycles, more than the latency of any unit. MAX_UNITS: of a kind; of more, 16 are run. */
enum { SAMPLE = 8192, SLOTS = 1024, MAX_UNITS = 16 };

struct slot_unit {
	double free_at;
	uint8_t taken[SLOTS]; /* completion in cycle t: taken[t % SLOTS] */
};

struct sampled {
	double initiation;
	uint32_t latency;
};

/* The block that the executed instruction number `at` belongs to. */
static uint32_t block_at(const struct kernel_code *code, const double *sums, double at)
{
	uint32_t low = 0, high = code->block_count - 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (sums[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Appends a fetch's instructions that go to the unit. Where a block's first fetch begins depends on the way to it. */
static uint32_t take_fetch(const struct gpu *gpu, const struct kernel_code *code, enum pipeline_resource unit,
                           const struct code_block *b, uint64_t *random, struct sampled *out)
{
	uint32_t n = 0, width = gpu->fetch_width, before = random_below(random_sample(random), width);
	uint32_t fetch = random_below(random_sample(random), (before + b->count + width - 1) / width);
	for (uint32_t at = fetch * width; at < (fetch + 1) * width; at++) {
		uint32_t i = at - before;
		if (at < before || i >= b->count)
			continue;
		struct instruction_cost c = gpu_instruction_cost(gpu, &code->code[b->first + i]);
		uint32_t latency = (uint32_t)(c.latency + 0.5);
		if (c.unit == unit)
			out[n++] = (struct sampled){c.initiation, latency < SLOTS ? latency : SLOTS - 1};
	}
	return n;
}

static uint32_t draw_sample(const struct gpu *gpu, const struct kernel_code *code, const double *sums,
                            enum pipeline_resource unit, struct sampled *out)
{
	uint64_t random = 88172645463325252u; /* the seed of Marsaglia's paper; part of the model */
	uint32_t n = 0;
	double all = sums[code->block_count - 1];
	for (uint32_t draw = 0; draw < SAMPLE && n < SAMPLE; draw++) {
		double at = random_share(random_sample(&random)) * all;
		const struct code_block *b = &code->blocks[block_at(code, sums, at)];
		n += take_fetch(gpu, code, unit, b, &random, &out[n]);
	}
	return n;
}

static bool start_in_unit(struct slot_unit *u, const struct sampled *s, uint64_t now)
{
	uint8_t *slot = &u->taken[(now + s->latency) % SLOTS];
	if (u->free_at >= (double)now + 1 || *slot)
		return false;
	*slot = 1;
	u->free_at = (u->free_at > (double)now ? u->free_at : (double)now) + s->initiation;
	return true;
}

static double run_sample(struct slot_unit *units, uint32_t count, const struct sampled *sample, uint32_t n)
{
	uint64_t now = 0;
	for (uint32_t next = 0; next < n; now++)
		for (uint32_t u = 0; u < count; u++) {
			units[u].taken[(now + SLOTS - 1) % SLOTS] = 0;
			if (next < n && start_in_unit(&units[u], &sample[next], now))
				next++;
		}
	return (double)now / n;
}

static bool has_two_latencies(const struct sampled *sample, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (sample[i].latency != sample[0].latency)
			return true;
	return false;
}

/* Running sums of executed instructions by block. */
static double sum_blocks(const struct kernel_code *code, const double *block_executions, double *sums)
{
	double sum = 0;
	for (uint32_t b = 0; b < code->block_count; b++)
		sums[b] = sum += block_executions[b] * code->blocks[b].count;
	return sum;
}

int unit_cycles_per_instruction(const struct gpu *gpu, const struct kernel_code *code, const double *block_executions,
                                enum pipeline_resource unit, double *out)
{
	uint32_t units = gpu_unit_count(gpu, unit), n = 0;
	double *sums = calloc((size_t)code->block_count + 1, sizeof *sums);
	struct slot_unit *state = calloc(MAX_UNITS, sizeof *state);
	struct sampled *sample = calloc(SAMPLE + gpu->fetch_width, sizeof *sample);
	int rc = sums && state && sample ? 0 : -ENOMEM;
	*out = 0;
	if (!rc && gpu->completion_slots && units && sum_blocks(code, block_executions, sums) > 0)
		n = draw_sample(gpu, code, sums, unit, sample);
	if (n && has_two_latencies(sample, n))
		*out = run_sample(state, units < MAX_UNITS ? units : MAX_UNITS, sample, n);
	free(sums);
	free(state);
	free(sample);
	return rc;
}
