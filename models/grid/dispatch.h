/* dispatch: which SM gets which group next, and when. */
#ifndef GPUSIM_MODELS_GRID_DISPATCH_H
#define GPUSIM_MODELS_GRID_DISPATCH_H

#include "models/grid/plan.h"

struct ov_dispatch {
	const struct ov_plan *plan;
	struct region_sampler sampler;
	uint64_t next;      /* group */
	uint64_t *in_place; /* by SM and place: the group that it had last */
	uint32_t places;    /* of an SM */
	uint64_t given, fit; /* groups that SMs got; that fit at once */
	double turnaround, sm_interval, interval; /* cycles; interval: per group that has ended */
	double free_at; /* when the distributor has taken back the groups that others followed in their places */
	uint64_t *ends, end_count; /* when those ended that none followed */
};
#define OV_NO_GROUP UINT64_MAX
int ov_dispatch_init(struct ov_dispatch *d, const struct ov_plan *plan, const struct ov_machine *m);
void ov_dispatch_free(struct ov_dispatch *d, struct ov_outcome *out); /* adds what was skipped */
/* The group that an SM with room gets now, in the order of time; state: where its places are seen; done: instructions of all
 * SMs up to now. */
uint64_t ov_dispatch_next(struct ov_dispatch *d, uint32_t sm, const struct ov_sm *state, uint64_t time, double done);
/* When an SM that got a group now may start it; free_at: the queue's, before it gave that group. */
uint64_t ov_dispatch_start(const struct ov_dispatch *d, double free_at, const struct ov_sm *sm);
/* An SM has ended, as others for which it stands. */
void ov_dispatch_add_ends(struct ov_dispatch *d, const struct ov_sm *sm, uint32_t stands_for);
/* All SMs have: the launch ends when the distributor has taken back their last groups. Adds the cycles that this takes. */
void ov_dispatch_end(struct ov_dispatch *d, struct ov_outcome *out);

/* Instructions that an SM had done by a time since its last run. */
double ov_done_at(const struct ov_sm *sm, struct ov_progress before, uint64_t time);

#endif
