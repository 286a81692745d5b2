/*
 * advise: times a launch once more without each cause of lost time that the rules of runtime/advice suspect.
 *
 * That takes about as long as modelling the launch did, for each trial. So it is done for one launch of a kernel, and again only for one
 * that takes much longer, and the warp instructions that trials simulate are bounded by those that the run's own modelling did.
 * Launches that are too dear for that are kept, one of each kernel, and tried at the end, those of the longest kernels first, in a few
 * seconds. Work is counted, not measured: advice does not depend on how busy the machine is. Nobody waits for it but the last report.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_ADVISE_H
#define GPUSIM_RUNTIME_ESTIMATES_ADVISE_H

#include "runtime/estimates/job.h"
#include "runtime/model/simulation.h"

struct advising; /* the trials of one launch */

/* Zeroed at the start. Only the thread that hands launches over uses it. */
struct advice_budget {
	double simulated, spent; /* warp instructions: of the run, and of trials */
	double time_ns;          /* of the run's launches */
	struct advising *later;  /* launches that are tried at the end, one of a kernel, if then there is room (allot.h) */
	size_t later_count;
	uint64_t later_bytes;    /* counters that they hold */
};

/* Trials of a launch: none; those that there is room for, beside the program; at the end. */
enum advice_when { ADVICE_NOT, ADVICE_NOW, ADVICE_LATER };
/* In the order of launches, of a job of its own that is done. *trials: how many there is room for now. */
enum advice_when advice_due(const struct simulation *sim, struct advice_budget *b, struct estimate_job *job, double *trials);

/* The job must live, with its launch, counters and trace, until it is done. NULL when out of memory. */
struct advising *advising_new(struct estimate_job *job, const struct launch_record *launch, const struct kept_trace *kept);
/* crew: NULL: on this thread. */
void advising_start(struct advising *a, double trials, struct crew *crew);
/* Or: at the end. It holds so many bytes; together they may hold most_bytes. One that is left out is done at once. */
void advising_put_off(struct advising *a, struct advice_budget *b, uint64_t bytes, uint64_t most_bytes);
bool advising_is_done(struct advising *a);
void advising_wait(struct advising *a);
/* Once it is done: the advice goes into the statistics, or that there is none. */
void advising_end(struct advising *a, struct simulation *sim);

/* Works out what was put off, in seconds of a processor, and waits. The statistics have all launches. */
void advice_finish_later(struct advice_budget *b, struct simulation *sim, struct crew *crew, double seconds);
/* Or none of it. */
void advice_drop_later(struct advice_budget *b);

#endif
