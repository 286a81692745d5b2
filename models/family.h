/* family: a launch among others of its kernel, by its counters alone. */
#ifndef GPUSIM_MODELS_FAMILY_H
#define GPUSIM_MODELS_FAMILY_H

#include "models/models.h"
#include "models/sampling/families.h"
#include "models/trace/sectors.h"

/* The launches that an estimate follows from, which were simulated, and where between them it is: struct family_decision. */
struct family_between {
	const struct estimate *a, *b; /* the same: it is near a */
	const struct instruction_count *a_instructions, *b_instructions; /* NULL where nobody wants them */
	double size, a_size, b_size, weight, error;
	double times; /* 0: 1 */
};

/* Features of a launch whose counts, accesses and code are in the profile; no trace is looked at. glance: trace_glance of the trace that
 * it is modelled from; zeros: there is none. Its sectors are not used where all addresses are known. Returns 0 or -ENOMEM. */
int launch_family(const struct gpu *gpu, const struct launch_profile *launch, struct trace_glance glance, struct family_features *out);
/* Whether some of its work-items do so much more than others that its time is what these meet: few_are_longer. */
bool hangs_on_few(const struct launch_profile *launch);
/* How far off the time of a launch that hangs on few work-items may be, relative and without what it takes to start it, because its trace has
 * those of another launch, or others in their place; else 0. */
double unseen_spread(const struct launch_profile *launch);
/* Fills what follows from the launches that it is between: everything but its own thread_instructions, warps, occupancy and flags,
 * which are there, and its total. least_spread: of a launch that was not simulated. */
void estimate_between(const struct family_between *between, double overhead_cycles, double least_spread, struct estimate *out);
/* Executions by warps, and transactions; those by threads follow from the launch's own counters. */
void instructions_between(const struct family_between *between, struct instruction_count *out, size_t instructions);
/* Everything there is to say about a launch that is between others: as model_launch, without its trace. */
int model_between(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                  const struct family_between *between, struct estimate *out, struct gs_error *err);

#endif
