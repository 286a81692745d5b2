/*
 * Warps that are alone: what blocks take them, for comparing warps by their counters, and how long a launch's longest one goes on when all others
 * have ended.
 *
 *   cycles of a block: the distances of its instructions, one after the other; those of a load
 *     l1_latency + (l2_latency - l1_latency) * share of its executions that ask for sectors which the warp has not asked for before
 * A warp that works on when all others have ended waits for its loads, and mostly for those that miss L1: a loop that loads a place, and loads it
 * again after a store, takes hardly longer than one that loads it once. The shares are of the longest traced paths, which are those that launches
 * wait for. What other warps of the SM have loaded is not looked at.
 */
#include "models/trace/internal.h"

#include "models/util/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	LONGEST = 16,           /* paths that are looked at */
	MOST_ACCESSES = 1 << 12, /* of each */
	LINES = 1 << 12,        /* that a path is taken to find again: 512 KB, more than an L1. Others take their places */
};

struct seen_lines {
	const struct kernel_code *code;
	struct {
		uint64_t line; /* + 1; 0: none */
		uint32_t sectors;
	} lines[LINES];
	uint32_t *executions, *misses; /* per instruction */
};

/* Whether a sector of it was not asked for before. */
static bool misses(struct seen_lines *r, const struct memory_part *part)
{
	uint64_t line = part->address + 1;
	size_t at = hash_high(line) >> 52;
	if (r->lines[at].line != line) {
		r->lines[at].line = line;
		r->lines[at].sectors = 0;
	}
	bool any = part->sectors & ~r->lines[at].sectors;
	r->lines[at].sectors |= part->sectors;
	return any;
}

static void look_at(struct seen_lines *r, const struct warp_path *p, const struct path_requests *requests)
{
	size_t n = 0;
	memset(r->lines, 0, sizeof r->lines);
	for (size_t b = 0; b < p->block_count && n < MOST_ACCESSES; b++) {
		const struct code_block *block = &r->code->blocks[p->blocks[b]];
		for (uint32_t i = block->first; i < block->first + block->count && n < p->access_count; i++) {
			if (!code_accesses_memory(&r->code->code[i]))
				continue;
			bool missed = false;
			for (uint32_t k = requests->first[n]; k < requests->first[n + 1]; k++)
				missed |= misses(r, &requests->parts[k]);
			r->executions[i]++;
			r->misses[i] += missed;
			n++;
		}
	}
}

/* Looks at those with most accesses; there are few, so each is found by looking at all. */
static void look_at_longest(struct seen_lines *r, const struct trace_store *s)
{
	uint64_t before = UINT64_MAX;
	size_t last = 0;
	for (uint32_t n = 0; n < LONGEST; n++) {
		size_t best = s->path_count;
		for (size_t p = 0; p < s->path_count; p++) {
			uint64_t count = s->paths[p].access_count;
			bool left = count < before || (count == before && p > last);
			if (left && (best == s->path_count || count > s->paths[best].access_count))
				best = p;
		}
		if (best == s->path_count)
			return;
		look_at(r, &s->paths[best], &s->requests[best]);
		before = s->paths[best].access_count;
		last = best;
	}
}

static double load_cycles(const struct gpu *gpu, const struct seen_lines *r, uint32_t instruction)
{
	double share = r->executions[instruction] ? (double)r->misses[instruction] / r->executions[instruction] : 1;
	return gpu->l1_latency + (gpu->l2_latency - gpu->l1_latency) * share;
}

double longest_goes_on(const struct longest_warp *w)
{
	double done = w->begins_at_once && w->group > 0 ? fmax(1, w->launch / w->group) : 1;
	return fmax(0, w->times - done) * w->alone;
}

double *cycles_alone(const struct gpu *gpu, const struct kernel_code *code, const struct trace_store *s, bool requests)
{
	double *cycles = calloc(code->block_count + 1u, sizeof *cycles);
	struct seen_lines *r = calloc(1, sizeof *r);
	uint32_t *counts = calloc(2 * (size_t)code->code_count + 1, sizeof *counts);
	bool made = cycles && r && counts;
	if (made) {
		*r = (struct seen_lines){.code = code, .executions = counts, .misses = counts + code->code_count};
		if (requests)
			look_at_longest(r, s);
	}
	for (uint32_t b = 0; made && b < code->block_count; b++)
		for (uint32_t i = code->blocks[b].first; i < code->blocks[b].first + code->blocks[b].count; i++) {
			const struct code_instruction *in = &code->code[i];
			bool far = in->class == CODE_load && in->space != SPACE_shared && in->space != SPACE_param && in->space != SPACE_const;
			cycles[b] += far && requests ? load_cycles(gpu, r, i) : gpu_instruction_cost(gpu, in).distance;
		}
	free(r);
	free(counts);
	if (!made) {
		free(cycles);
		return NULL;
	}
	return cycles;
}
