/*
 * Occupancy vector: SMs that share L2 and DRAM.
 *
 * All SMs advance together, in steps that are no longer than the shortest answer of memory takes. Requests that leave within
 * a step are answered after it, so no SM's step depends on another's. Groups go to SMs as in grid.c. No SM stands for another
 * here, because no two groups use the same addresses. The first groups go to one SM each, in order, so SMs after the last of them are
 * not made: an SM of an H200 is 24 KB, and its memory 20 KB besides the tags of L1, all of which would be cleared.
 */
#include "models/grid/dispatch.h"
#include "models/grid/grid.h"
#include "models/grid/learn.h"
#include "models/grid/others.h"
#include "models/grid/rates.h"
#include "models/grid/rest.h"
#include "models/gpu/kept.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct team {
	const struct ov_plan *plan;
	struct ov_dispatch queue;
	struct ov_sm **sms;
	enum ov_state *states;
	struct ov_progress *before; /* of their last runs */
	uint32_t count, last; /* last: SM that got the last group */
	struct memory_system *memory;
	struct others *others; /* NULL: all groups are simulated, or L2 is not cold */
	struct rates rates;
	struct rest rest;
	struct learn learn;
	struct rest_estimate left; /* of the groups that ran when it was stopped */
	bool stopped; /* it has cost enough */
	uint64_t answers;
};

static int run_sm(struct team *t, uint32_t n)
{
	t->before[n] = ov_progress_of(t->sms[n]);
	t->states[n] = ov_run(t->sms[n]);
	return t->sms[n]->error;
}

static double team_done_at(const struct team *t, uint64_t time)
{
	double sum = 0;
	for (uint32_t i = 0; i < t->count; i++)
		sum += ov_done_at(t->sms[i], t->before[i], time);
	return sum;
}

static void bring_line(void *ctx, uint64_t address)
{
	memory_touch(ctx, address, false);
}

static int serve_sm(struct team *t, uint32_t n)
{
	struct ov_sm *sm = t->sms[n];
	double free_at = t->queue.free_at;
	uint64_t group = ov_dispatch_next(&t->queue, n, sm, ov_time(sm), team_done_at(t, ov_time(sm)));
	for (uint32_t i = 0; i < t->count && t->queue.next == t->plan->groups; i++)
		t->sms[i]->last_groups = true;
	if (group == OV_NO_GROUP) {
		sm->no_more = true;
		t->states[n] = OV_DONE;
		return sm->live_groups ? run_sm(t, n) : 0;
	}
	if (t->plan->left_out && t->plan->left_out[group]) { /* as if it had got the group, and had room for another */
		sm->now++;
		t->last = n;
		return 0;
	}
	others_bring(t->others, ov_group_id(t->plan, group), bring_line, t->memory);
	ov_start_group(sm, ov_group_id(t->plan, group), ov_dispatch_start(&t->queue, free_at, sm));
	t->last = n;
	return run_sm(t, n);
}

/* The first cycle at whose end an SM has room; OV_NEVER: none has. */
static uint64_t first_time(const struct team *t)
{
	uint64_t time = OV_NEVER;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->states[i] == OV_WANTS_GROUP && t->sms[i]->now < time)
			time = t->sms[i]->now;
	return time;
}

/* All SMs, to their limit. */
static int run_step(struct team *t)
{
	int rc = 0;
	for (uint32_t i = 0; i < t->count && !rc; i++)
		if (t->states[i] == OV_PAUSED)
			rc = run_sm(t, i);
	for (uint64_t time; !rc && (time = first_time(t)) != OV_NEVER;) {
		uint32_t first = t->last + 1;
		for (uint32_t i = 0; i < t->count && !rc; i++) {
			uint32_t n = (first + i) % t->count;
			if (t->states[n] == OV_WANTS_GROUP && t->sms[n]->now == time)
				rc = serve_sm(t, n);
		}
	}
	return rc;
}

static void take_answer(void *ctx, const struct memory_reply *reply)
{
	struct team *t = ctx;
	ov_answer(t->sms[reply->sm], reply->time, reply->id);
	t->answers++;
}

static bool is_open(const struct team *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->states[i] == OV_PAUSED)
			return true;
	return false;
}

static uint64_t team_instructions(const struct team *t)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->count; i++)
		sum += t->sms[i]->instructions;
	return sum;
}

static bool has_atomics(const struct ov_machine *m)
{
	for (uint32_t i = 0; i < m->op_count; i++)
		if (m->ops[i].class == CODE_atomic && m->ops[i].space != SPACE_shared)
			return true;
	return false;
}

static double latency_sum(const struct team *t)
{
	double sum = 0;
	for (uint32_t i = 0; i < t->count; i++)
		sum += ov_memory_counts(t->sms[i]).latency_sum;
	return sum;
}

/* A simulation that has cost enough ends: what is left goes on as the second half of it did. */
static void watch_cost(struct team *t, double done, uint64_t time)
{
	double most = t->plan->most_stepped;
	if (most > 0 && done > most / 2 && !t->rest.time)
		rest_begin(&t->rest, time);
	t->stopped = most > 0 && done > most;
	if (!t->stopped)
		return;
	struct memory_waits waits = memory_waits(t->memory);
	double latency = latency_sum(t);
	t->left = rest_of(&t->rest, time, latency > 0 ? fmin((waits.l2 + waits.dram) / latency, 1) : 0);
}

static int run_team(struct team *t)
{
	enum { PATIENCE = 10000 }; /* steps without any progress until warps are said to wait for ever: millions of cycles */
	uint64_t step = memory_round_trip(t->memory, has_atomics(t->sms[0]->m)), done = 0;
	int rc = rates_init(&t->rates, t->sms, t->plan->jumps ? t->count : 0, step);
	t->rates.part = t->plan->reduced > 0 ? t->plan->reduced : 1;
	if (!rc)
		rc = rest_init(&t->rest, t->sms, t->plan->most_stepped > 0 ? t->count : 0);
	bool open = true;
	for (uint64_t end = step, idle = 0; open && !rc; end += step) {
		for (uint32_t i = 0; i < t->count; i++)
			t->sms[i]->limit = end;
		rc = run_step(t);
		open = is_open(t);
		t->answers = 0;
		if (!rc && open)
			rc = memory_advance(t->memory, end, take_answer, t);
		if (!rc && open && !learn_goes_on(&t->learn))
			rates_look(&t->rates, end);
		if (!rc && open)
			learn_look(&t->learn, (double)(end + t->rates.jumped), team_done_at(t, OV_NEVER));
		idle = t->answers || team_instructions(t) != done ? 0 : idle + 1;
		done = team_instructions(t);
		if (idle > PATIENCE)
			rc = -EDEADLK;
		watch_cost(t, (double)done, end + t->rates.jumped);
		open &= !t->stopped;
	}
	return rc;
}

/* What loads waited for in queues, of what warps waited for them. */
static void explain_memory(const struct team *t, double latency, struct ov_outcome *out)
{
	struct memory_waits waits = memory_waits(t->memory);
	double l2 = latency > 0 ? waits.l2 / latency : 0, dram = latency > 0 ? waits.dram / latency : 0;
	double scale = l2 + dram > 1 ? 1 / (l2 + dram) : 1;
	uint64_t memory = out->by[CYCLES_memory];
	out->by[CYCLES_l2] += (uint64_t)((double)memory * l2 * scale);
	out->by[CYCLES_dram] += (uint64_t)((double)memory * dram * scale);
	out->by[CYCLES_memory] -= (uint64_t)((double)memory * l2 * scale) + (uint64_t)((double)memory * dram * scale);
}

static double ratio(double part, double of)
{
	return of > 0 ? part / of : NAN;
}

static int count_memory(const struct team *t, struct ov_outcome *out)
{
	struct ov_memory_counts sum = {0};
	for (uint32_t i = 0; i < t->count; i++) {
		struct ov_memory_counts c = ov_memory_counts(t->sms[i]);
		sum.requests += c.requests;
		sum.parts += c.parts;
		sum.looked_up += c.looked_up;
		sum.hits += c.hits;
		sum.shared += c.shared;
		sum.shared_accesses += c.shared_accesses;
		sum.latency_count += c.latency_count;
		sum.latency_sum += c.latency_sum;
	}
	memory_count(t->memory, out->stepped_cycles, &out->memory);
	out->memory.requests = (double)sum.requests;
	out->memory.transactions = (double)sum.parts;
	out->memory.l1_hit = ratio((double)sum.hits, (double)sum.looked_up);
	out->memory.shared_factor = ratio((double)sum.shared_accesses, (double)sum.shared);
	out->memory.load_latency = ratio(sum.latency_sum, (double)sum.latency_count);
	explain_memory(t, sum.latency_sum, out);
	int rc = memory_hottest_atomics(t->memory, &out->hottest_atomics);
	/* What was jumped over did as what was stepped through, but for DRAM, which has less to do once caches know the data. */
	double jumped = out->stepped ? (double)out->instructions / (double)out->stepped : 1;
	if (jumped > 1) {
		double read = out->memory.dram_read_bytes + t->rates.dram_read, written = out->memory.dram_written_bytes + t->rates.dram_written;
		memory_scale(&out->memory, jumped);
		out->hottest_atomics *= jumped;
		out->memory.dram_read_bytes = read;
		out->memory.dram_written_bytes = written;
	}
	return rc;
}

/* Whether L2 holds what a part from the midst of the launch finds there. Where all of its memory fits, the simulation begins with what the
 * launch does, and finds what its own groups and the others bring in. */
static bool is_from_midst(const struct team *t, const struct ov_machine *m)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < m->launch->warm_count; i++)
		bytes += m->launch->warm[i].bytes;
	bool fits = bytes <= kept_room(m->gpu, bytes);
	bool some = t->plan->groups < t->plan->all;
	return fits ? some && !t->others : some || t->plan->region_count;
}

/* Where all of the launch's memory fits, the simulation has room for it, and neither what was there before nor its own lines leave L2. Else others' lines
 * do, of which there are no more than L2 had: a launch that goes anywhere fetches its lines again and again. part: of the launch that is simulated. */
static void set_replaced(struct memory_system *memory, const struct ov_machine *m, double part)
{
	const struct memory_before *before = m->launch->before;
	const struct gpu *gpu = m->gpu;
	uint64_t bytes = 0;
	for (size_t i = 0; i < m->launch->warm_count; i++)
		bytes += m->launch->warm[i].bytes;
	bool fits = bytes <= kept_room(gpu, bytes);
	double share = before ? (double)(fits ? before->dirty : before->others_dirty) / ALL_DIRTY : 0;
	uint64_t most = gpu->l2_dirty_bytes ? gpu->l2_dirty_bytes : gpu->l2_bytes;
	memory_set_replaced(memory, share, fits ? INFINITY : (double)most * part);
}

static int make_team(struct team *t, const struct ov_machine *m)
{
	t->count = (uint32_t)min_u64(t->plan->sm_count, t->plan->groups);
	t->last = t->count - 1;
	t->memory = memory_new(m->gpu, t->plan->sm_count, t->plan->capacity > 0 ? t->plan->capacity : 1);
	if (t->memory)
		memory_set_places(t->memory, m->launch->argument_bytes, m->launch->argument_count);
	t->sms = calloc(t->count, sizeof *t->sms);
	t->states = calloc(t->count, sizeof *t->states); /* OV_WANTS_GROUP */
	t->before = calloc(t->count, sizeof *t->before);
	int rc = ov_dispatch_init(&t->queue, t->plan, m);
	if (!t->memory || !t->sms || !t->states || !t->before)
		rc = -ENOMEM;
	for (uint32_t i = 0; i < t->count && !rc; i++) {
		t->sms[i] = ov_sm_new(m);
		rc = t->sms[i] ? ov_memory_init(t->sms[i], t->memory, i) : -ENOMEM;
	}
	if (!rc)
		rc = others_new(m->gpu, m->launch, t->plan, (uint64_t)m->groups_per_sm * m->gpu->sm_count, &t->others);
	if (t->others)
		memory_set_others(t->memory, others_fetch, t->others);
	if (!rc && (m->gpu->l2_warm || launch_knows_l2(m->launch)))
		memory_warm(t->memory, m->launch->warm, m->launch->warm_count, is_from_midst(t, m));
	if (!rc)
		set_replaced(t->memory, m, (double)t->plan->groups / (double)t->plan->all);
	if (rc)
		return rc;
	learn_init(&t->learn, m->gpu, m->launch, t->memory, t->plan->most_stepped, (double)t->plan->groups / (double)t->plan->all);
	others_begin(t->others, bring_line, t->memory);
	learn_begin(&t->learn);
	return 0;
}

int ov_simulate_together(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out)
{
	struct team t = {.plan = plan};
	int rc = make_team(&t, m);
	if (!rc)
		rc = run_team(&t);
	for (uint32_t i = 0; i < t.count && !rc; i++) {
		ov_add_up(t.sms[i], 1, out);
		ov_dispatch_add_ends(&t.queue, t.sms[i], 1);
		out->stepped += t.sms[i]->instructions;
	}
	if (!rc && !t.stopped)
		ov_dispatch_end(&t.queue, out);
	ov_dispatch_free(&t.queue, out);
	out->spread_cycles += t.rates.spread_cycles + t.left.spread;
	out->left_cycles = t.left.cycles;
	out->left_instructions = t.left.instructions;
	out->left_rate = t.left.rate;
	out->left_cycles += learn_cycles(&t.learn, (double)out->instructions + out->skipped_instructions + out->left_instructions);
	out->stopped = t.stopped ? (double)out->instructions + out->skipped_instructions : 0;
	rates_free(&t.rates);
	rest_free(&t.rest);
	if (!rc)
		rc = count_memory(&t, out);
	for (uint32_t i = 0; t.sms && i < t.count; i++)
		ov_sm_free(t.sms[i]);
	free(t.sms);
	free(t.states);
	free(t.before);
	memory_free(t.memory);
	others_free(t.others);
	return rc;
}
