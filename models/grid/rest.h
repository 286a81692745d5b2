/*
 * rest: what is left of a launch whose simulation ends before it does, because it has cost enough.
 *
 * Warps go on at their own rates, and an SM ends with the last of its warps. Where warps wait for one another, those that stay get what
 * those that leave had; where each waits for its own results, not.
 */
#ifndef GPUSIM_MODELS_GRID_REST_H
#define GPUSIM_MODELS_GRID_REST_H

#include "models/sm/state/sm.h"

struct rest {
	struct ov_sm **sms;
	uint32_t count, slots;
	uint64_t time;           /* of the mark, of the launch; 0: there is none */
	double done;             /* instructions, up to the mark */
	struct rest_mark *marks; /* by SM and slot: what its warp had to do then */
	struct rest_cycles *cycles; /* by SM: where its cycles had gone */
};

struct rest_estimate {
	double cycles;       /* from the time that was given, up to the end of the groups that run */
	double spread;       /* by which these may be wrong */
	double instructions; /* that these do until then */
	double rate;         /* instructions per cycle of all SMs, since the mark */
};

/* Returns 0 or -ENOMEM; rest_free in any case. sms stays the caller's. */
int rest_init(struct rest *r, struct ov_sm **sms, uint32_t count);
void rest_free(struct rest *r);
/* Rates are measured from here on. time: of the launch. */
void rest_begin(struct rest *r, uint64_t time);
/* queued: the share of its latency that a load waits behind others. */
struct rest_estimate rest_of(const struct rest *r, uint64_t time, double queued);

#endif
