/* sampling: launches that behave alike are simulated once, and those between others not at all. */
#ifndef GPUSIM_RUNTIME_ESTIMATES_SAMPLING_H
#define GPUSIM_RUNTIME_ESTIMATES_SAMPLING_H

#include "runtime/model/launch_record.h"

struct estimate_job;
struct kernel_estimates;

/* The families of a kernel's launches on a target. Only the thread that takes launches in uses it. */
struct sampling {
	struct families *families; /* estimates: jobs, held; NULL: there are none yet */
	uint64_t entered;          /* launches that came */
	uint64_t taken;            /* launches of which not all was simulated */
};

/* Decides on a launch that comes in, and sets the size of its job where that is needed. False: it waits for others, and sampling_next returns it later. bytes: what it keeps meanwhile. */
bool sampling_enter(struct estimate_job *job, uint64_t bytes);
/* A job that is to be started now: to be simulated, or to take its estimate from others (job->between). NULL: there is none. */
struct estimate_job *sampling_next(struct kernel_estimates *k);
void sampling_simulated(struct estimate_job *job); /* it is done */
void sampling_given_up(struct estimate_job *job);  /* it is not simulated */
/* No more launches come for now: none waits any longer. hurried: because somebody waits for them. */
void sampling_flush(struct kernel_estimates *k, bool hurried);
bool sampling_is_open(const struct kernel_estimates *k); /* some wait until more come */
/* In the order of launches, of a job that is done: it is to be simulated in full as well, to measure the error of sampling. */
bool sampling_check_due(struct estimate_job *job);
void sampling_clear(struct sampling *s);

#endif
