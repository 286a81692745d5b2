/* sampling: launches that behave alike are simulated once. */
#ifndef GPUSIM_RUNTIME_ESTIMATES_SAMPLING_H
#define GPUSIM_RUNTIME_ESTIMATES_SAMPLING_H

#include "runtime/model/launch_record.h"

struct estimate_job;

/* Launches of a kernel on a target that behave alike. Under jobs_lock. */
struct sampling {
	struct launch_clusters clusters; /* data: the job of the one that is simulated, held */
	uint64_t turns, turn;            /* turns that were given out; the one that decides next */
	uint64_t taken;                  /* launches of which not all was simulated */
};

/* In the order of launches: the job is about to be started. */
void sampling_enter(struct sampling *s, struct estimate_job *job);
/* On a thread of the crew: as model_launch. */
int sampling_model(struct estimate_job *job, struct estimate *out, struct gs_error *err);
/* The estimate of the job is known without that: others may be like it. */
void sampling_known(struct estimate_job *job, const struct launch_features *f);
/* In the order of launches, of a job that is done: it is to be simulated in full as well, to measure the error of sampling. */
bool sampling_check_due(struct estimate_job *job);
void sampling_clear(struct sampling *s);

#endif
