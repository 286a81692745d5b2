/*
 * budget: a bound of the time that modelling takes in a run (GPUSIM_BUDGET).
 *
 * The clock runs while simulations are under way. Those of the kernels that took most of the program's time begin first. Once the
 * time is over, launches that are not simulated take an estimate that needs no simulation.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_BUDGET_H
#define GPUSIM_RUNTIME_ESTIMATES_BUDGET_H

#include "runtime/estimates/kernel.h"

struct budget {
	uint64_t most_ns; /* 0: without a bound */
	uint64_t spent_ns, since_ns; /* before; 0: the clock does not run */
};

void budget_run(struct budget *b, bool under_way); /* whether simulations are */
bool budget_is_over(const struct budget *b);
uint64_t budget_left_ns(const struct budget *b); /* UINT64_MAX where there is no bound, or the clock does not run */

/* A launch comes in that took so long on the host device, or did so much. */
void budget_weigh(struct kernel_estimates *k, const struct launch_record *l);
/* Of the next simulation of the kernel: its time, by the number of its simulations, so that these get the shares of the time. */
double budget_priority(const struct kernel_estimates *k);
void budget_simulated(struct estimate_job *job); /* others can be scaled from it */
/* The job of that kernel that is nearest in size. NULL: none is near: a launch that does not fill the GPU says little of one that does. */
struct estimate_job *budget_like(const struct kernel_estimates *k, double size);

#endif
