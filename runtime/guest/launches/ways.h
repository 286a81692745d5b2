/* ways: which way the twin of a launch runs. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_WAYS_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_WAYS_H

#include "runtime/guest/launches/commands.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/shadow.h"
#include "runtime/guest/launches/traced.h"
#include "runtime/model/proof.h"

/* One launch, and all that we do for it. */
struct attempt {
	struct kernel *kernel;
	struct request *request;
	struct kernel_twin *twin; /* the one that counts */
	cl_device_id device;
	struct launch *launch;
	unsigned seen; /* launches before it that are as large */
	const char *alone; /* why it is to run without a twin although others have one */
	enum twin_way way;
	struct proof *proof;
	struct shadow_plan plan;
	struct shadow_plan *inputs; /* what it only reads; NULL: it is not copied */
	bool runs_again;      /* the kernel can run again, on copies of all that it uses */
	bool traced;
	bool traced_counts;   /* the traced twin runs all groups, so it also counts: the twin that only counts need not be compiled */
	bool traced_in_place; /* the traced twin runs in place of the kernel, and the application gets its event */
	struct trace_plan trace;
	struct commands commands;
	size_t traces_end, twin_end; /* number of commands up to the last one of the traced twin, and of the twin that counts */
};

/* Returns a negative number if the kernel is to run alone; *err says why. */
int choose_way(struct attempt *a, struct gs_error *err);
void no_verdict(struct attempt *a); /* its verification does not take place */

#endif
