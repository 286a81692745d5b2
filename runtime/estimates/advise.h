/*
 * advise: times a launch once more without each cause of lost time that the rules of runtime/advice suspect.
 *
 * That takes about as long as modelling the launch did, for each trial. So it is done for one launch of a kernel, and again only for one
 * that takes much longer, and the warp instructions that trials simulate are bounded by those that the run's own modelling did.
 * They are counted, not measured: advice does not depend on how busy the machine is. Nobody waits for it but the last report.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_ADVISE_H
#define GPUSIM_RUNTIME_ESTIMATES_ADVISE_H

#include "runtime/estimates/job.h"
#include "runtime/model/simulation.h"

/* Zeroed at the start. Only the thread that hands launches over uses it. */
struct advice_budget {
	double simulated, spent; /* warp instructions: of the run, and of trials */
	double time_ns;          /* of the run's launches */
};

/* The trials of one launch. */
struct advising;

/* In the order of launches, of a job of its own that is done: how many trials there is room for. */
double advice_due(const struct simulation *sim, struct advice_budget *b, struct estimate_job *job);
/* The job must live, with its launch's counters, until it is done. The trace is taken over. NULL when out of memory. */
struct advising *advising_new(struct estimate_job *job, struct decoded_trace *trace, double trials);
/* crew: NULL: on this thread. */
void advising_start(struct advising *a, struct crew *crew);
bool advising_is_done(struct advising *a);
void advising_wait(struct advising *a);
/* Once it is done: the advice goes into the statistics. */
void advising_end(struct advising *a, struct simulation *sim);

#endif
