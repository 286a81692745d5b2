/*
 * The latency of a path: the pipeline execution graph of all its blocks.
 *
 * A path may have a million blocks, but the pipeline's state at a block's end (results under way, fetch slot) is one of
 * few. So paths run through an automaton of such states, which is built as far as they need it: a step is a block from a
 * state, and has the same cycles each time. Source: Gerum et al., probabilistic resource model, IV-A; the automaton is ours.
 */
#include "models/analytical/path_latency.h"
#include "models/util/hash.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NO_STATE = UINT32_MAX };

struct transition {
	uint32_t block, next;
	bool jump;
	double cycles;       /* from the last issue to that of the block */
	double done;         /* from the last issue to the latest write-back of the block */
	double memory_stall;
	uint32_t waits, fetches;
};

/* The pipeline at the end of a block: the fetch slot, then times since the latest issue: the next one by the front end,
 * busy units, registers under way (2 * register + loaded, time). */
struct pipeline_state {
	double *values;
	uint32_t value_count;
	struct transition *transitions;
	uint32_t transition_count;
};

enum { HEAD_VALUES = 2 + RESOURCE_COUNT };

int automaton_setup(struct automaton *a, const struct gpu *gpu, const struct kernel_code *code)
{
	a->states = NULL;
	a->state_count = 0;
	memset(a->table, 0xff, sizeof a->table);
	a->scratch = calloc(HEAD_VALUES + 2 * (size_t)code->register_count, sizeof *a->scratch);
	int rc = pipeline_setup(&a->pipeline, gpu, code, NULL);
	return a->scratch ? rc : -ENOMEM;
}

void automaton_finish(struct automaton *a)
{
	for (uint32_t s = 0; s < a->state_count; s++) {
		free(a->states[s].values);
		free(a->states[s].transitions);
	}
	free(a->states);
	free(a->scratch);
	pipeline_finish(&a->pipeline);
}

/* What can still hold an instruction back. Of several units of a kind, a warp alone finds one free. */
static uint32_t describe_state(struct automaton *a, bool forget)
{
	const struct pipeline *p = &a->pipeline;
	uint32_t n = HEAD_VALUES;
	double *v = a->scratch;
	memset(v, 0, HEAD_VALUES * sizeof *v);
	v[0] = p->fetch_slot;
	v[1] = p->next_issue - p->issue;
	for (int u = 0; u < RESOURCE_COUNT && !forget; u++)
		if (gpu_unit_count(p->gpu, u) == 1 && p->unit_free[u][0] > p->next_issue)
			v[2 + u] = p->unit_free[u][0] - p->issue;
	for (uint32_t r = 0; r < p->code->register_count && !forget; r++)
		if (p->ready[r] > p->next_issue) {
			v[n++] = 2 * r + p->loaded[r];
			v[n++] = p->ready[r] - p->issue;
		}
	return n;
}

static int add_state(struct automaton *a, uint32_t n, uint32_t *slot)
{
	if ((a->state_count & (a->state_count - 1)) == 0) {
		size_t room = a->state_count ? 2 * (size_t)a->state_count : 1;
		struct pipeline_state *more = realloc(a->states, room * sizeof *more);
		if (!more)
			return -ENOMEM;
		a->states = more;
	}
	double *values = malloc(n * sizeof *values);
	if (!values)
		return -ENOMEM;
	memcpy(values, a->scratch, n * sizeof *values);
	*slot = a->state_count;
	a->states[a->state_count++] = (struct pipeline_state){.values = values, .value_count = n};
	return 0;
}

/* The number of the state that the pipeline is in. */
static int find_state(struct automaton *a, uint32_t *out)
{
	/* With too many states, what is under way at a block's end is forgotten. */
	uint32_t n = describe_state(a, a->state_count >= AUTOMATON_STATES - 64);
	uint32_t at = (uint32_t)(hash_bytes(a->scratch, n * sizeof *a->scratch, 0) % AUTOMATON_TABLE);
	for (; a->table[at] != NO_STATE; at = (at + 1) % AUTOMATON_TABLE) {
		const struct pipeline_state *s = &a->states[a->table[at]];
		if (s->value_count == n && memcmp(s->values, a->scratch, n * sizeof *a->scratch) == 0) {
			*out = a->table[at];
			return 0;
		}
	}
	if (a->state_count == AUTOMATON_STATES) { /* fetch slots and refill times are fewer than was kept for them */
		*out = 0;
		return 0;
	}
	int rc = add_state(a, n, &a->table[at]);
	*out = a->table[at];
	return rc;
}

static void restore_state(struct automaton *a, const struct pipeline_state *s)
{
	struct pipeline *p = &a->pipeline;
	pipeline_reset(p);
	p->fetch_slot = (uint32_t)s->values[0];
	p->next_issue = s->values[1];
	p->issued_now = p->gpu->issue_per_scheduler;
	for (int u = 0; u < RESOURCE_COUNT; u++)
		p->unit_free[u][0] = s->values[2 + u];
	for (uint32_t v = HEAD_VALUES; v < s->value_count; v += 2) {
		uint32_t r = (uint32_t)s->values[v] / 2;
		p->ready[r] = s->values[v + 1];
		p->loaded[r] = (uint32_t)s->values[v] % 2;
	}
}

static int add_transition(struct automaton *a, uint32_t from, uint32_t block, bool jump, struct transition **out)
{
	struct pipeline *p = &a->pipeline;
	struct transition t = {.block = block, .jump = jump};
	restore_state(a, &a->states[from]);
	pipeline_transfer(p, jump);
	pipeline_run(p, &block, 1);
	t.cycles = p->issue;
	t.done = p->done;
	t.memory_stall = p->memory_stall;
	t.waits = p->waits;
	t.fetches = (uint32_t)p->busy[RESOURCE_fetch];
	int rc = find_state(a, &t.next);
	struct pipeline_state *s = &a->states[from];
	struct transition *more = rc ? NULL : realloc(s->transitions, (s->transition_count + 1) * sizeof *more);
	if (!more)
		return -ENOMEM;
	s->transitions = more;
	s->transitions[s->transition_count] = t;
	*out = &s->transitions[s->transition_count++];
	return 0;
}

static int follow_transition(struct automaton *a, uint32_t from, uint32_t block, bool jump, struct transition **out)
{
	struct pipeline_state *s = &a->states[from];
	for (uint32_t i = 0; i < s->transition_count; i++)
		if (s->transitions[i].block == block && s->transitions[i].jump == jump) {
			*out = &s->transitions[i];
			return 0;
		}
	return add_transition(a, from, block, jump, out);
}

int path_latency(struct automaton *a, const struct warp_path *path, struct path_cost *out)
{
	double now = 0;
	uint32_t state;
	pipeline_reset(&a->pipeline);
	int rc = find_state(a, &state);
	for (size_t b = 0; b < path->block_count && !rc; b++) {
		struct transition *t;
		rc = follow_transition(a, state, path->blocks[b], b && path->blocks[b] != path->blocks[b - 1] + 1, &t);
		if (rc)
			break;
		double times = path_weight(path, b);
		out->latency = max_double(out->latency, now + t->done);
		now += times * t->cycles;
		out->memory_stall += times * t->memory_stall;
		out->waits += times * t->waits;
		out->usage.busy[RESOURCE_fetch] += times * t->fetches;
		state = t->next;
	}
	return rc;
}
