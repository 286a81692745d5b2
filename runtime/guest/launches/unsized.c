/*
 * A driver for CPUs makes groups of thousands of work-items, which no GPU can run. So the twins get the size that a GPU's driver would choose
 * (models/gpu/local_size.h). A kernel that cannot tell how it was divided (HAZARD_GROUPED) does the same with both sizes, and its twin may take
 * its place. Others run on copies only. If a kernel knows groups by their numbers (HAZARD_NUMBERED), or waits for others (HAZARD_WAITS), there may
 * be too little memory for more groups, or no end: its twins have the driver's own size.
 */
#include "runtime/guest/launches/unsized.h"

#include "models/gpu/local_size.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/shadow.h"

static bool has_own_size(const struct kernel_twin *t, cl_device_id device)
{
	size_t size[3] = {0};
	return cl.clGetKernelWorkGroupInfo(t->kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size, NULL) != CL_SUCCESS || size[0];
}

static bool can_run(const struct kernel_twin *t, cl_device_id device, uint64_t items)
{
	size_t most = 0;
	return cl.clGetKernelWorkGroupInfo(t->kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL) == CL_SUCCESS && items <= most;
}

static bool can_run_on_copies(const struct kernel *k, const struct artifact_kernel *facts)
{
	struct shadow_plan plan;
	struct gs_error err;
	return simulation.options.twin.number != TWINS_DIRECT && !shadow_plan(k, facts, &plan, &err) && shadow_affordable(plan.bytes, true);
}

void choose_local_size(struct launch *l, const struct kernel *k, const struct request *r, const struct kernel_twin *t, cl_device_id device)
{
	const struct artifact_kernel *facts = l->record.facts;
	uint64_t local[3];
	if (!r->global || r->local || !simulation.target_count || facts->hazards & (HAZARD_NUMBERED | HAZARD_WAITS) || has_own_size(t, device))
		return;
	gpu_local_size(&simulation.targets[0].gpu, l->record.global, local);
	l->regrouped = facts->hazards & HAZARD_GROUPED;
	if (!can_run(t, device, local[0]) || (l->regrouped && !can_run_on_copies(k, facts))) {
		l->regrouped = false;
		return;
	}
	l->record.unsized = true;
	for (int d = 0; d < 3; d++)
		l->record.local[d] = l->given_local[d] = (size_t)local[d];
}

struct request twin_request(const struct request *r, const struct launch *l)
{
	struct request twin = *r;
	if (l->record.unsized)
		twin.local = l->given_local;
	return twin;
}
