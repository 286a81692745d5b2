/*
 * The pipeline execution graph of blocks that a warp executes alone: its longest path and resource usage times.
 *
 *   issue(i)   = max(front end, done(p) for every p that writes what i reads, waits for or writes, a collector is free)
 *   execute(i) = max(issue(i) + collection + conflicts among its own operands, a unit is free)
 *   done(i)    = execute(i) + latency + further accesses + write-back
 * Front end: a fetch brings fetch_width instructions, for a buffer that is empty, or in time (refill_when_empty); a jump
 * throws away what is buffered or being fetched after it (flush_at_branch). Each time is the longest path to its node.
 * Source: Gerum et al., probabilistic resource model, IV-A, Figs. 1, 2 and 4; GPGPU-Sim's front end.
 */
#include "models/analytical/pipeline.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads of one instruction that fall on a bank that it reads already. */
static uint32_t own_conflicts(const struct gpu *gpu, const struct kernel_code *code, const struct code_instruction *i)
{
	uint32_t conflicts = 0;
	const uint16_t *reads = &code->operands[i->first_operand + i->writes];
	for (uint32_t a = 1; gpu->banks_by_name && a < i->reads; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint32_t x = code->register_table[reads[a]].number, y = code->register_table[reads[b]].number;
			if (x % gpu->register_banks == y % gpu->register_banks) {
				conflicts++;
				break;
			}
		}
	return conflicts;
}

static struct pipeline_instruction describe(const struct gpu *gpu, const struct kernel_code *code,
                                            const struct code_instruction *i, double accesses)
{
	struct pipeline_instruction d = {.cost = gpu_instruction_cost(gpu, i),
	                                 .collect = gpu_collect_cycles(gpu, i),
	                                 .bank_conflicts = own_conflicts(gpu, code, i),
	                                 .accesses = code_has_accesses(i->class) ? accesses : 1,
	                                 .copy_groups = code_copy_groups(code, i)};
	d.after = max_double(d.cost.distance - d.collect - d.cost.latency, 0);
	d.collector_cycles = i->reads ? 2 + d.bank_conflicts : 1;
	return d;
}

int pipeline_setup(struct pipeline *p, const struct gpu *gpu, const struct kernel_code *code, const uint16_t *accesses)
{
	*p = (struct pipeline){.gpu = gpu, .code = code};
	p->instructions = calloc(code->code_count + 1, sizeof *p->instructions);
	p->ready = calloc(code->register_count + 1, sizeof *p->ready);
	p->loaded = calloc(code->register_count + 1, sizeof *p->loaded);
	if (!p->instructions || !p->ready || !p->loaded)
		return -ENOMEM;
	for (uint32_t i = 0; i < code->code_count; i++)
		p->instructions[i] = describe(gpu, code, &code->code[i], accesses ? accesses[i] : 1);
	pipeline_reset(p);
	return 0;
}

void pipeline_finish(struct pipeline *p)
{
	free(p->instructions);
	free(p->ready);
	free(p->loaded);
	*p = (struct pipeline){0};
}

void pipeline_reset(struct pipeline *p)
{
	p->fetch_slot = p->issued_now = p->waits = 0;
	p->fetch = p->issue = p->done = p->memory_stall = 0;
	p->next_issue = p->gpu->fetch_to_issue_cycles;
	memset(p->ready, 0, p->code->register_count * sizeof *p->ready);
	memset(p->unit_free, 0, sizeof p->unit_free);
	memset(p->collector_free, 0, sizeof p->collector_free);
	memset(p->busy, 0, sizeof p->busy);
}

/* Of several servers of a kind, the one that is free first. */
static double *first_free(double *free_at, uint32_t servers)
{
	uint32_t count = servers < PIPELINE_SERVERS ? servers : PIPELINE_SERVERS;
	double *best = free_at;
	for (uint32_t i = 1; i < count; i++)
		if (free_at[i] < *best)
			best = &free_at[i];
	return best;
}

/* When the registers are there that it reads, waits for, and writes: no second write is under way to the same one, unless they stand for
 * groups of copies. */
static double operands_ready(struct pipeline *p, const struct code_instruction *i, const struct pipeline_instruction *d)
{
	double at = p->next_issue;
	bool loaded = false;
	for (uint32_t k = d->copy_groups ? i->writes : 0; k < (uint32_t)i->writes + i->reads + i->waits; k++) {
		uint16_t r = p->code->operands[i->first_operand + k];
		if (p->ready[r] > at) {
			at = p->ready[r];
			loaded = p->loaded[r];
		}
	}
	if (at > p->next_issue) {
		p->waits++;
		p->memory_stall += loaded ? at - p->next_issue : 0;
	}
	return at;
}

static void fetch_next(struct pipeline *p)
{
	if (p->fetch_slot == 0) {
		p->busy[RESOURCE_fetch]++;
		p->fetch = max_double(p->next_issue - p->gpu->fetch_to_issue_cycles, 0);
	}
}

static void front_end_next(struct pipeline *p)
{
	const struct gpu *gpu = p->gpu;
	p->fetch_slot = (p->fetch_slot + 1) % gpu->fetch_width;
	if (p->fetch_slot == 0 && gpu->refill_when_empty)
		p->next_issue = p->issue + gpu->fetch_to_issue_cycles;
	else
		p->next_issue = p->issued_now < gpu->issue_per_scheduler ? p->issue : p->issue + 1;
}

void pipeline_transfer(struct pipeline *p, bool jump)
{
	if (!jump)
		return;
	double refill = p->gpu->fetch_to_issue_cycles, wrong = 0;
	if (!p->gpu->flush_at_branch && p->gpu->refill_when_empty && p->fetch_slot == 0) {
		p->busy[RESOURCE_fetch]++;
		wrong = refill;
	} else if (!p->gpu->flush_at_branch) {
		wrong = 1;
	}
	p->next_issue = max_double(p->next_issue, p->issue + wrong + refill);
	p->fetch_slot = 0;
}

static void use_resources(struct pipeline *p, const struct code_instruction *i, const struct pipeline_instruction *d)
{
	p->busy[RESOURCE_issue]++;
	p->busy[RESOURCE_collector] += d->collector_cycles;
	p->busy[d->cost.unit] += d->cost.initiation * d->accesses;
	p->busy[RESOURCE_writeback] += i->writes;
}

/* A copy joins the open group; a commit makes each group one older. */
static void step_copies(struct pipeline *p, const struct code_instruction *i, uint32_t groups, double done)
{
	double *ready = &p->ready[p->code->operands[i->first_operand]];
	if (i->class == CODE_load) {
		ready[0] = max_double(ready[0], done);
		p->loaded[p->code->operands[i->first_operand]] = true;
		return;
	}
	for (uint32_t g = groups - 1; g > 0; g--) {
		ready[g] = max_double(ready[g - 1], g == groups - 1 ? ready[g] : 0);
		p->loaded[p->code->operands[i->first_operand] + g] = true;
	}
	ready[0] = 0;
}

struct pipeline_times pipeline_step(struct pipeline *p, uint32_t code)
{
	const struct code_instruction *i = &p->code->code[code];
	const struct pipeline_instruction *d = &p->instructions[code];
	struct pipeline_times t;
	fetch_next(p);
	t.fetch = p->fetch;
	t.issue = operands_ready(p, i, d);
	if (gpu_collector_count(p->gpu, d->cost.unit)) {
		double *collector = first_free(p->collector_free[d->cost.unit], gpu_collector_count(p->gpu, d->cost.unit));
		t.issue = max_double(t.issue, *collector - 1);
		*collector = t.issue + 1 + d->collector_cycles;
	}
	t.collect = t.issue + 1;

	double *unit = first_free(p->unit_free[d->cost.unit], gpu_unit_count(p->gpu, d->cost.unit));
	t.execute = max_double(t.issue + d->collect + d->bank_conflicts, *unit);
	*unit = t.execute + d->cost.initiation * d->accesses;
	t.done = t.execute + d->cost.latency + (d->accesses > 1 ? d->accesses - 1 : 0) + d->after;
	if (d->copy_groups)
		step_copies(p, i, d->copy_groups, t.done);
	for (uint32_t k = 0; k < i->writes && !d->copy_groups; k++) {
		p->ready[p->code->operands[i->first_operand + k]] = t.done;
		p->loaded[p->code->operands[i->first_operand + k]] = d->cost.unit == RESOURCE_ldst;
	}

	p->issued_now = t.issue > p->issue ? 1 : p->issued_now + 1;
	p->issue = t.issue;
	p->done = max_double(p->done, t.done);
	use_resources(p, i, d);
	front_end_next(p);
	if (i->class == CODE_barrier)
		p->next_issue = max_double(p->next_issue, t.issue + p->gpu->barrier_latency);
	p->next_issue = max_double(p->next_issue, t.issue + branch_wait(p->gpu, i));
	if (i->class == CODE_atomic && p->gpu->atomics_stop_warp && t.done > p->next_issue) {
		p->memory_stall += t.done - p->next_issue;
		p->next_issue = t.done;
	}
	return t;
}

void pipeline_run(struct pipeline *p, const uint32_t *blocks, size_t count)
{
	for (size_t b = 0; b < count; b++) {
		const struct code_block *block = &p->code->blocks[blocks[b]];
		for (uint32_t i = 0; i < block->count; i++)
			pipeline_step(p, block->first + i);
		if (b + 1 < count)
			pipeline_transfer(p, blocks[b + 1] != blocks[b] + 1);
	}
}

static void count_instructions(const struct kernel_code *code, uint32_t block, struct block_cost *out)
{
	const struct code_block *b = &code->blocks[block];
	for (const struct code_instruction *i = &code->code[b->first]; i < &code->code[b->first + b->count]; i++) {
		out->register_reads += i->reads;
		out->register_writes += i->writes;
		out->memory_instructions += code_is_memory(i->class);
		out->barriers += i->class == CODE_barrier;
	}
}

int pipeline_block_cost(const struct gpu *gpu, const struct kernel_code *code, const uint32_t *blocks, size_t count,
                        const uint16_t *accesses, struct block_cost *out)
{
	struct pipeline p;
	*out = (struct block_cost){0};
	if (!count)
		return 0;
	int rc = pipeline_setup(&p, gpu, code, accesses);
	if (!rc) {
		/* The second execution may still differ from later ones: the first left it another state. */
		double done[3];
		for (int round = 0; round < 3; round++) {
			if (round)
				pipeline_transfer(&p, blocks[0] != blocks[count - 1] + 1);
			pipeline_run(&p, blocks, count);
			done[round] = p.done;
			if (round == 0)
				memcpy(out->busy, p.busy, sizeof out->busy);
		}
		out->latency = done[0];
		out->steady_latency = done[2] - done[1];
		for (size_t b = 0; b < count; b++)
			count_instructions(code, blocks[b], out);
	}
	pipeline_finish(&p);
	return rc;
}

int pipeline_issue_latencies(const struct gpu *gpu, const struct kernel_code *code, uint32_t block, double *out)
{
	struct pipeline p;
	const struct code_block *b = &code->blocks[block];
	int rc = pipeline_setup(&p, gpu, code, NULL);
	for (uint32_t i = 0; !rc && i < b->count; i++) {
		double issue = pipeline_step(&p, b->first + i).issue;
		if (i)
			out[i - 1] = issue - out[i - 1];
		out[i] = i + 1 < b->count ? issue : p.next_issue - issue;
	}
	pipeline_finish(&p);
	return rc;
}
