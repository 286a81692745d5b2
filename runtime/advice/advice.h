/*
 * advice: what to change in a program. Start reading here.
 *
 * A rule (rules.h) looks at a launch that was timed, and proposes trials: the launch without one cause of lost time. Whoever calls
 * times these with the same models, and advice_finish keeps those that save something. Rules about the program as a whole
 * need no trial: sums over its launches say it.
 */
#ifndef GPUSIM_RUNTIME_ADVICE_ADVICE_H
#define GPUSIM_RUNTIME_ADVICE_ADVICE_H

#include "models/models.h"
#include "runtime/model/advice.h"
#include "runtime/model/simulation.h"

/* A launch as a rule sees it. */
struct advice_case {
	const struct gpu *gpu;
	const struct launch_profile *launch;
	const struct estimate *estimate;
	const struct launch_survey *survey;
	struct advice_line *lines; /* what the lines of the source ask of memory */
	size_t line_count;
};

/* The launch without one cause. */
struct advice_trial {
	struct warps_change change; /* of its warps */
	struct gpu *gpu;            /* another GPU, owned; NULL: the same */
	double share;               /* of what the trial saves, that belongs to the advice; 1: all */
	double work;                /* warp instructions, relative to the launch's own */
	struct advice advice;       /* all but the saving */
	double time_ns;             /* the caller's answer; 0: not timed */
};

enum { ADVICE_TRIALS = 16 };
struct advice_trials {
	size_t count;
	struct advice_trial list[ADVICE_TRIALS];
};

/* Words of GPUSIM_ADVICE, in the order of options.def. */
enum { ADVICE_AUTO, ADVICE_ALWAYS, ADVICE_NEVER };

/* Less of a kernel's time is not worth a word. */
#define ADVICE_LEAST 0.03

/* What may be worth a trial. Returns 0 or a negative errno value; the caller frees with advice_trials_free, in any case. */
int advice_propose(const struct gpu *gpu, const struct launch_profile *launch, const struct estimate *estimate,
                   const struct launch_survey *survey, struct advice_trials *out);
/* The trials that save something, most first. */
void advice_finish(const struct advice_trials *trials, double time_ns, struct advice_list *out);
void advice_trials_free(struct advice_trials *trials);

/* Of a run on a target, most first. */
struct ranked_advice {
	const struct advice *advice;
	const struct kernel_stats *kernel; /* NULL: of the program */
	double saving_ns; /* of all launches */
};
enum { ADVICE_PROGRAM = 4 };
struct advice_of_run {
	struct ranked_advice *list; /* owned */
	size_t count;
	struct advice program[ADVICE_PROGRAM];
};
/* With the lock of the statistics held. The caller frees `list`. */
void advice_of_run(struct simulation *sim, size_t target, struct advice_of_run *out);

#endif
