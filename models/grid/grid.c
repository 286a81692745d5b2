/*
 * Occupancy vector: groups over SMs, with perfect memory (GATSim, II-E).
 *
 * SMs meet only at the queue of groups. At the end of a cycle each SM with room gets one group, in turn, beginning after the
 * SM that got the last one. So each SM runs by itself until it has room, and the SM whose room came first is served first.
 * SMs with the same history are simulated once: one stands for all of them until they get groups that do not do the same, or
 * only some get one.
 */
#include "models/grid/grid.h"

#include "models/grid/dispatch.h"
#include "models/grid/rates.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct member {
	struct ov_sm *sm;
	uint32_t stands_for; /* SMs */
	uint64_t inherited;  /* instructions that the one did that it parted from */
	struct ov_progress before; /* its last run */
	bool waits;
	double spread_cycles; /* of what it jumped over (rates.h) */
};

struct grid {
	const struct ov_machine *m;
	const struct ov_plan *plan;
	struct ov_dispatch queue;
	struct member *members; /* sm_count places */
	uint32_t count;
	uint32_t *member_of; /* by SM */
	uint64_t *given;     /* by SM: the group that it gets now, if its member is served */
	double free_before;  /* of the queue, before this cycle: SMs that are served in one cycle start alike, and stay one */
	uint32_t last;       /* SM that got the last one */
};

/* Whether an SM does the same with either; without kinds, no two groups do. */
static bool are_alike(const struct grid *g, uint64_t a, uint64_t b)
{
	if (a == b || a == OV_NO_GROUP || b == OV_NO_GROUP || !g->plan->kinds)
		return a == b;
	const struct launch_warps *launch = g->m->launch;
	return g->plan->kinds[warps_pattern(launch, ov_group_id(g->plan, a))] ==
	       g->plan->kinds[warps_pattern(launch, ov_group_id(g->plan, b))];
}

static bool is_served(const struct member *member, uint64_t time)
{
	return member->waits && ov_time(member->sm) == time;
}

static double done_at(const struct grid *g, uint64_t time)
{
	double sum = 0;
	for (uint32_t i = 0; i < g->count; i++)
		sum += g->members[i].stands_for * ov_done_at(g->members[i].sm, g->members[i].before, time);
	return sum;
}

static void give_groups(struct grid *g, uint64_t time)
{
	uint32_t count = g->plan->sm_count, first = g->last + 1;
	double done = done_at(g, time);
	g->free_before = g->queue.free_at;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = (first + i) % count;
		const struct member *member = &g->members[g->member_of[n]];
		if (!is_served(member, time))
			continue;
		g->given[n] = ov_dispatch_next(&g->queue, n, member->sm, time, done);
		if (g->given[n] != OV_NO_GROUP)
			g->last = n;
	}
}

/* SMs whose group is unlike `group` part from the member: another one stands for them. */
static int split_member(struct grid *g, uint32_t n, uint64_t group)
{
	struct member *member = &g->members[n], *rest = &g->members[g->count];
	uint32_t unlike = 0;
	for (uint32_t i = 0; i < g->plan->sm_count; i++)
		if (g->member_of[i] == n && !are_alike(g, g->given[i], group)) {
			g->member_of[i] = g->count;
			unlike++;
		}
	if (!unlike)
		return 0;
	*rest = (struct member){.sm = ov_sm_clone(member->sm), .stands_for = unlike, .inherited = member->sm->instructions,
	                         .before = member->before, .waits = true};
	member->stands_for -= unlike;
	if (!rest->sm)
		return -ENOMEM;
	g->count++;
	return 0;
}

/* Until it has room or is done. Long loops are not stepped through to their end. */
static int run_member(const struct grid *g, struct member *member)
{
	enum { STEP = 256 }; /* cycles between looks at the rates of loops */
	struct ov_sm *sm = member->sm;
	struct rates rates;
	enum ov_state state;
	int rc = rates_init(&rates, &member->sm, g->plan->jumps, STEP);
	do {
		sm->limit = rates.slots ? sm->now + STEP : OV_NEVER;
		state = ov_run(sm);
		if (state == OV_PAUSED)
			rates_look(&rates, sm->limit);
	} while (!rc && state == OV_PAUSED && !sm->error);
	member->waits = state == OV_WANTS_GROUP;
	member->spread_cycles += rates.spread_cycles;
	rates_free(&rates);
	return rc ? rc : sm->error;
}

static int serve_member(struct grid *g, uint32_t n)
{
	struct member *member = &g->members[n];
	uint32_t first = 0;
	while (g->member_of[first] != n)
		first++;
	uint64_t group = g->given[first];
	int rc = split_member(g, n, group);
	if (rc)
		return rc;
	if (group == OV_NO_GROUP)
		member->sm->no_more = true;
	else
		ov_start_group(member->sm, ov_group_id(g->plan, group), ov_dispatch_start(&g->queue, g->free_before, member->sm));
	member->before = ov_progress_of(member->sm);
	member->waits = false;
	return member->sm->live_groups ? run_member(g, member) : 0;
}

static bool first_time(const struct grid *g, uint64_t *time)
{
	bool any = false;
	for (uint32_t i = 0; i < g->count; i++)
		if (g->members[i].waits && (!any || ov_time(g->members[i].sm) < *time)) {
			any = true;
			*time = ov_time(g->members[i].sm);
		}
	return any;
}

static int run_grid(struct grid *g)
{
	uint64_t time = 0;
	int rc = 0;
	while (!rc && first_time(g, &time)) {
		give_groups(g, time);
		/* What parts from a member is served after it. */
		for (uint32_t n = 0; n < g->count && !rc; n++)
			if (is_served(&g->members[n], time))
				rc = serve_member(g, n);
	}
	return rc;
}

/* Cycle 0, in which the first groups arrive, is not counted. */
void ov_add_up(const struct ov_sm *sm, uint32_t stands_for, struct ov_outcome *out)
{
	double jumped = sm->instructions ? ov_done(sm) / (double)sm->instructions : 1;
	out->instructions += (sm->instructions + (uint64_t)(sm->jumped_instructions + 0.5)) * stands_for;
	out->conflicts += (uint64_t)((double)sm->conflicts * jumped + 0.5) * stands_for;
	out->longest_group = max_u64(out->longest_group, sm->longest_group);
	out->stepped_cycles = sm->started && sm->now + 1 > out->stepped_cycles ? sm->now + 1 : out->stepped_cycles;
	if (!sm->started || ov_time(sm) + 1 <= out->cycles)
		return;
	out->cycles = ov_time(sm) + 1;
	for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
		out->by[k] = sm->by[k] + (uint64_t)(sm->jumped_by[k] + 0.5);
	out->by[CYCLES_launch]++;
}

int ov_simulate(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out)
{
	uint32_t sms = plan->sm_count;
	struct grid g = {.m = m,
	                 .plan = plan,
	                 .members = calloc(sms, sizeof *g.members),
	                 .member_of = calloc(sms, sizeof *g.member_of),
	                 .given = calloc(sms, sizeof *g.given),
	                 .last = sms - 1};
	struct ov_sm *first = ov_sm_new(m);
	int rc = ov_dispatch_init(&g.queue, plan, m);
	if (!g.members || !g.member_of || !g.given || !first)
		rc = -ENOMEM;
	if (!rc) {
		g.members[g.count++] = (struct member){.sm = first, .stands_for = sms, .waits = true};
		rc = run_grid(&g);
	} else {
		ov_sm_free(first);
	}
	for (uint32_t i = 0; i < g.count && !rc; i++) {
		ov_add_up(g.members[i].sm, g.members[i].stands_for, out);
		ov_dispatch_add_ends(&g.queue, g.members[i].sm, g.members[i].stands_for);
		out->spread_cycles = fmax(out->spread_cycles, g.members[i].spread_cycles);
		out->stepped += g.members[i].sm->instructions - g.members[i].inherited;
	}
	if (!rc)
		ov_dispatch_end(&g.queue, out);
	ov_dispatch_free(&g.queue, out);
	for (uint32_t i = 0; i < g.count; i++)
		ov_sm_free(g.members[i].sm);
	free(g.members);
	free(g.member_of);
	free(g.given);
	return rc;
}
