/*
 * Occupancy vector: groups over SMs (GATSim, II-E).
 *
 * SMs do not touch one another but through the queue of groups. At the end of a cycle every SM with room gets one group,
 * in turn from the one behind that which got the last. So each SM runs by itself until it has room, and the one
 * whose room came first is served first. Where all groups do the same, SMs with the same history are one: it stands
 * for all of them until the queue holds fewer groups than they are.
 */
#include "models/ov.h"

#include <errno.h>
#include <stdlib.h>

struct member {
	struct ov_sm *sm;
	uint64_t stands_for; /* SMs */
	bool waits;
};

struct grid {
	const struct ov_machine *m;
	const struct ov_plan *plan;
	struct ov_outcome *out;
	struct member *members;
	uint32_t count;
	uint64_t next; /* group */
	uint32_t last; /* member that got the last one */
};

uint64_t ov_group_id(const struct ov_plan *plan, uint64_t n)
{
	uint64_t head = plan->groups - plan->tail;
	if (plan->groups == plan->all)
		return n;
	if (n >= head)
		return plan->all - (plan->groups - n);
	return head < plan->spread ? (uint64_t)((double)n * (double)plan->spread / (double)head) : n;
}

static void run_member(struct member *member)
{
	member->waits = ov_run(member->sm) == OV_WANTS_GROUP;
}

/* No group is left for it. */
static void run_to_end(struct member *member)
{
	member->sm->no_more = true;
	member->waits = false;
	if (member->sm->live_groups)
		run_member(member);
}

/* Fewer groups are left than SMs it stands for: the others part from those that get one. */
static int split(struct grid *g, struct member *member, uint64_t left)
{
	struct member *rest = &g->members[g->count];
	*rest = (struct member){.sm = ov_sm_clone(member->sm), .stands_for = member->stands_for - left};
	if (!rest->sm)
		return -ENOMEM;
	g->count++;
	member->stands_for = left;
	run_to_end(rest);
	return 0;
}

static int serve(struct grid *g, uint32_t n)
{
	struct member *member = &g->members[n];
	uint64_t left = g->plan->groups - g->next;
	if (left == 0) {
		run_to_end(member);
		return 0;
	}
	int rc = left < member->stands_for ? split(g, member, left) : 0;
	if (rc)
		return rc;
	for (uint64_t i = 0; i < member->stands_for && g->out->dispatched; i++)
		g->out->dispatched[g->next + i] = member->sm->now;
	ov_start_group(member->sm, ov_group_id(g->plan, g->next));
	g->next += member->stands_for;
	g->last = n;
	run_member(member);
	return 0;
}

static bool first_time(const struct grid *g, uint64_t *time)
{
	bool any = false;
	for (uint32_t i = 0; i < g->count; i++)
		if (g->members[i].waits && (!any || g->members[i].sm->now < *time)) {
			any = true;
			*time = g->members[i].sm->now;
		}
	return any;
}

static int run(struct grid *g)
{
	uint64_t time = 0;
	while (first_time(g, &time)) {
		uint32_t count = g->count, first = g->last + 1;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t n = (first + i) % count;
			if (!g->members[n].waits || g->members[n].sm->now != time)
				continue;
			int rc = serve(g, n);
			if (!rc)
				rc = g->members[n].sm->error;
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Cycle 0, in which the first groups arrive, is nobody's. */
static void add_up(const struct grid *g, struct ov_outcome *out)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct ov_sm *sm = g->members[i].sm;
		out->instructions += sm->instructions * g->members[i].stands_for;
		out->conflicts += sm->conflicts * g->members[i].stands_for;
		if (!sm->started || sm->now + 1 <= out->cycles)
			continue;
		out->cycles = sm->now + 1;
		for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
			out->by[k] = sm->by[k];
		out->by[CYCLES_launch]++;
	}
}

int ov_simulate(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out)
{
	uint32_t count = plan->uniform ? 1 : plan->sm_count;
	struct grid g = {.m = m, .plan = plan, .out = out, .members = calloc(count + 1, sizeof *g.members)};
	int rc = g.members ? 0 : -ENOMEM;
	for (; !rc && g.count < count; g.count++) {
		g.members[g.count] = (struct member){.sm = ov_sm_new(m), .stands_for = plan->sm_count / count, .waits = true};
		if (!g.members[g.count].sm)
			rc = -ENOMEM;
	}
	g.last = count - 1;
	if (!rc)
		rc = run(&g);
	for (uint32_t i = 0; !rc && i < g.count; i++)
		rc = g.members[i].sm->error;
	if (!rc)
		add_up(&g, out);
	for (uint32_t i = 0; g.members && i < g.count; i++)
		ov_sm_free(g.members[i].sm);
	free(g.members);
	return rc;
}
