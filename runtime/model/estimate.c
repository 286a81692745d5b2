/* A launch whose counters are there: its estimates on every target. */
#include "runtime/model/estimate.h"

#include "runtime/model/lines.h"
#include "runtime/model/memo.h"
#include "runtime/model/profile.h"
#include "runtime/model/sampling.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_decode.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Traces are decoded only for this, because most launches are like others. */
static int model_target(struct launch_result *r, const struct gpu *gpu, size_t t, struct gs_error *err)
{
	if (r->trace)
		r->profile.trace = trace_decoded(r);
	int result = sampling_model(gpu, r, t, err);
	if (!result)
		trace_need(r->launch->facts, r->launch->global, r->launch->local, &r->estimates[t].needed);
	r->profile.trace = NULL;
	return result;
}

/* One target, whose code is in the profile. */
static int estimate_target(struct launch_result *r, size_t t, struct gs_error *err)
{
	const struct gpu *gpu = &r->sim->targets[t].gpu;
	char key[33];
	int result = memo_accesses(r, gpu, t);
	if (!result) {
		memo_key(r, key);
		if (lines_wanted(r->sim))
			r->instructions[t] = calloc(r->profile.code->code_count + 1, sizeof *r->instructions[t]);
		r->profile.instructions = r->instructions[t];
		if (!memo_find(r, t, key) && !(result = model_target(r, gpu, t, err)))
			memo_keep(r, t, key);
	}
	return result;
}

/* Why the models have no estimate, for the report. */
static const char *model_failure(struct launch_result *r, size_t t, const struct gs_error *err)
{
	gs_fail(&r->model_error[t], EINVAL, "it cannot be modelled: %s", err->text);
	return r->model_error[t].text;
}

static void estimate_targets(struct launch_result *r)
{
	const struct artifact_kernel *facts = r->launch->facts;
	for (size_t t = 0; t < r->sim->target_count; t++) {
		unsigned arch = r->sim->targets[t].arch;
		struct gs_error err = {"out of memory"};
		r->profile.code = facts->code[arch];
		if (!r->profile.code)
			r->failure[t] = facts->failure[arch] ? facts->failure[arch] : "no code for the target";
		else if (estimate_target(r, t, &err))
			r->failure[t] = model_failure(r, t, &err);
		else
			r->estimated[t] = true;
	}
}

static void find_trace(struct launch_result *r)
{
	trace_of(r);
	if (!r->trace)
		flag_add(&r->flags, FLAG_not_traced);
}

void estimate_launch(struct launch_result *r)
{
	uint64_t begin = thread_ran_ns(pthread_self());
	profile_fill(r);
	if (r->sim->model.hierarchy)
		find_trace(r);
	estimate_targets(r);
	r->modelled_ns = thread_ran_ns(pthread_self()) - begin;
}

void launch_result_clear(struct launch_result *r)
{
	for (size_t t = 0; t < r->sim->target_count; t++) {
		free(r->instructions[t]);
		r->instructions[t] = NULL;
	}
}

bool kernel_wanted(const struct simulation *sim, const char *name)
{
	char patterns[1024];
	strncpy(patterns, sim->options.kernels.text, sizeof patterns - 1);
	patterns[sizeof patterns - 1] = 0;
	for (char *save, *p = strtok_r(patterns, ",", &save); p; p = strtok_r(NULL, ",", &save))
		if (!fnmatch(p, name, 0))
			return true;
	return false;
}
