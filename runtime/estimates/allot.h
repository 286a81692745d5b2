/*
 * allot: which launches are tried at the end of a run for advice, and how thoroughly.
 *
 * There is a bounded amount of work, in steps of simulation: instructions of warps, and the lines or sectors that they ask for. Launches of
 * the kernels that take most of the run's time come first, and each is allotted its kernel's share of what is left; what it does not need
 * goes to those after it. A launch whose trials do not fit is tried with a part of its groups: whole waves of them, so that SMs are as full
 * as they were. Where not even one wave fits, a part of the SMs is simulated, with their share of the groups and of memory. Trials are compared
 * with the launch as it is, under the same reduction.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_ALLOT_H
#define GPUSIM_RUNTIME_ESTIMATES_ALLOT_H

#include <stddef.h>
#include <stdint.h>

/* Steps that a processor simulates in a second, about: what is said in seconds is counted, so that it is the same each time. */
#define TRIAL_WORK_PER_S 3e6
/* What trials at the end may take, in seconds of a processor. */
#define TRIALS_AT_END_S 4.0
enum { TRIALS_USUAL = 3 }; /* most kernels have no more causes to try */

struct trial_candidate {
	double share;     /* of its kernel, of the time of all kernels on its GPU */
	double wanted;    /* trials */
	double simulated; /* steps that one trial simulates */
	double executed;  /* steps of the launch */
	double least_on;  /* the least share of them that can be simulated on fewer SMs; 0: none can */
	uint64_t groups, at_once; /* of the launch; that the GPU holds at a time */
	/* The answer: */
	double trials;    /* that it may make; 0: none */
	uint64_t part;    /* groups that they are made with; 0: all */
	double on;        /* the share of what a trial would simulate, on so much of the SMs; 0: all */
};

/* Candidates, the longest first. Returns the work that they are allotted, at most `work`. */
double allot_trials(struct trial_candidate *list, size_t count, double work);

#endif
