/*
 * Which way the twin of a launch runs: in place of the kernel, on copies before it, or not at all; and whether it is traced. What is
 * known of the twin (runtime/model/proof.h) decides that, and what memory there is.
 */
#include "runtime/guest/launches/ways.h"

#include "runtime/format/traces.h"
#include "runtime/guest/driver/device.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/model/profile.h"

#include <errno.h>
#include <stdlib.h>

void no_verdict(struct attempt *a)
{
	if (a->way == WAY_VERIFY)
		proof_end(a->proof, VERDICT_NONE, 0);
}

static int run_alone(struct attempt *a, const struct gs_error *reason, struct gs_error *err)
{
	no_verdict(a);
	a->way = WAY_ALONE;
	return gs_fail(err, ENOTSUP, "%s", reason->text);
}

static void do_not_trace(struct attempt *a)
{
	if (a->launch->trace_buffer)
		buffer_give_back(a->launch->trace_buffer, TRACE_HEADER_WORDS);
	a->launch->trace_buffer = NULL;
	a->traced = a->traced_counts = a->traced_in_place = false;
}

static bool has_offset(const struct request *r)
{
	for (cl_uint d = 0; d < r->dims; d++)
		if (r->offset && r->offset[d])
			return true;
	return false;
}

/* A verification may run the kernel again, if that has no other effect and there is time and room for copies of what it reads. Launches to
 * come need the rest of the room. */
static void take_inputs(struct attempt *a)
{
	enum { PART_OF_ROOM = 4 };
	const struct artifact_kernel *facts = a->launch->record.facts;
	struct gs_error cannot;
	if (facts->hazards & (HAZARD_PRINTS | HAZARD_VARIABLES) || !(a->inputs = malloc(sizeof *a->inputs)) ||
	    shadow_plan_inputs(a->kernel, facts, &a->plan, a->inputs, &cannot))
		return;
	a->runs_again = !a->inputs->argument_count;
	if (!a->runs_again && a->inputs->bytes <= buffer_bound(SHADOW_BUFFER, a->device) / PART_OF_ROOM &&
	    shadow_affordable(a->inputs->bytes, !a->seen))
		a->launch->inputs = shadow_take_inputs(a->kernel->build->pool, a->request, a->device, a->inputs);
	a->runs_again = a->runs_again || a->launch->inputs;
}

/* A verification takes three copies of everything that is written. If there is no room for them, the twin runs in the shadow, without a
 * verdict. */
static bool take_copies(struct attempt *a)
{
	struct launch *l = a->launch;
	struct kernel *k = a->kernel;
	/* A launch that needs its whole trace has it, whatever the copies cost. */
	if (!simulation.whole_traces && !shadow_affordable(a->plan.bytes, !a->seen))
		return false;
	if (a->way == WAY_VERIFY) {
		l->shadow = shadow_take(k->build->pool, a->request, a->device, &a->plan, true);
		if (l->shadow) {
			take_inputs(a);
			return true;
		}
		no_verdict(a);
		a->way = WAY_SHADOW;
	}
	l->shadow = shadow_take(k->build->pool, a->request, a->device, &a->plan, false);
	return l->shadow;
}

/* Of the twin that counts, or of the one that traces. Tells what an earlier process has found. */
static struct proof *find_proof(const struct attempt *a, bool traced)
{
	struct proof *p = proof_of(&a->launch->record, has_offset(a->request), traced);
	if (p && proof_is_news(p))
		stats_add_comparison(&simulation.stats, a->launch->record.kernel_name, TWIN_DIFFERS);
	return p;
}

static enum twin_way way_of(const struct attempt *a)
{
	if (a->launch->regrouped)
		return WAY_SHADOW;
	return proof_way(&simulation.options, a->proof, a->kernel->build->relaxed, a->launch->record.facts);
}

/* A small launch is traced as a whole. The traced twin, which counts as well, is then verified in place of the other one. It takes the
 * kernel's place only where that saves time. */
static void choose_whole_trace(struct attempt *a)
{
	a->traced_counts = true;
	if (a->way == WAY_SHADOW)
		return;
	struct proof *proof = find_proof(a, true);
	no_verdict(a);
	a->way = WAY_SHADOW;
	if (!proof)
		return;
	a->proof = proof;
	a->way = way_of(a);
	if (a->way == WAY_DIRECT && !proof_is_long(proof))
		a->way = WAY_SHADOW;
	a->traced_in_place = a->way == WAY_DIRECT;
	a->traced = !a->traced_in_place;
}

static void choose_trace(struct attempt *a)
{
	bool may_choose = simulation.options.twin.number == TWINS_AUTO && !proof_is_long(a->proof);
	a->traced = plan_trace(a->kernel, a->device, a->launch, may_choose, &a->trace);
	if (!a->traced)
		do_not_trace(a);
	if (a->traced && a->trace.whole && (a->way == WAY_SHADOW || simulation.options.twin.number == TWINS_AUTO))
		choose_whole_trace(a);
	if (a->traced && !a->traced_counts) {
		a->launch->scratch = buffer_take(a->kernel->build->pool, a->device, COUNTER_BUFFER, scratch_words(&a->launch->record));
		if (!a->launch->scratch)
			do_not_trace(a);
	}
	if (a->traced && a->trace.chosen && a->way == WAY_DIRECT) /* what it counts is needed before */
		a->way = WAY_SHADOW;
}

/* A kernel that cannot run on copies can still be traced with GPUSIM_TWIN=direct, if the traced twin runs all groups in its
 * place. */
static void trace_in_place(struct attempt *a)
{
	a->traced_in_place = simulation.options.twin.number == TWINS_DIRECT && plan_trace(a->kernel, a->device, a->launch, false, &a->trace) &&
	                     a->trace.whole;
	if (!a->traced_in_place)
		do_not_trace(a);
}

/* For exit handlers, and for threads that go on meanwhile. The driver's compiler may be gone, so only twins that have run
 * before can run. */
static int choose_last_way(struct attempt *a, struct gs_error *err)
{
	do_not_trace(a);
	if (a->way == WAY_DIRECT && a->twin->launched)
		return 0;
	no_verdict(a);
	return gs_fail(err, ECANCELED, "the program was ending");
}

/* Whether a driver for CPUs would compile the twin for minutes (HAZARD_EXPLODES). GPUSIM_TWIN can ask for twins even so. */
static bool compiles_for_minutes(const struct attempt *a)
{
	return a->launch->record.facts->hazards & HAZARD_EXPLODES && simulation.options.twin.number == TWINS_AUTO && device_is_cpu(a->device);
}

int choose_way(struct attempt *a, struct gs_error *err)
{
	struct gs_error cannot = {""};
	a->proof = find_proof(a, false);
	if (!a->proof)
		return gs_fail(err, ENOMEM, "out of memory");
	a->way = way_of(a);
	if (program_is_ending())
		return choose_last_way(a, err);
	if (compiles_for_minutes(a)) {
		gs_fail(&cannot, ENOTSUP, "it has many barriers under conditions: the driver would compile its annotated twin for minutes "
		                          "(GPUSIM_TWIN=shadow has it do so)");
		return run_alone(a, &cannot, err);
	}
	bool direct = a->way == WAY_DIRECT;
	if (shadow_plan(a->kernel, a->launch->record.facts, &a->plan, &cannot)) {
		if (direct)
			trace_in_place(a);
		return direct ? 0 : run_alone(a, &cannot, err);
	}
	choose_trace(a);
	if ((a->way == WAY_DIRECT && !a->traced) || take_copies(a))
		return 0;
	do_not_trace(a);
	no_verdict(a);
	a->way = direct ? WAY_DIRECT : WAY_ALONE;
	if (direct)
		return 0;
	a->alone = "its memory is too large to be copied for the annotated twin (GPUSIM_SHADOW_MEMORY)";
	return -ENOMEM;
}
