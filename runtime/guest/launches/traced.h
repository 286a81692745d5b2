/* traced: the groups of a launch that are traced, and how their trace comes back. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_TRACED_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_TRACED_H

#include "runtime/guest/driver/cl.h"
#include "runtime/guest/support/boxes.h"

struct commands;
struct kernel;
struct kernel_twin;
struct launch;

/* What a launch is traced with. */
struct trace_plan {
	struct kernel_twin *twin;
	uint64_t local[3];  /* 0: not known */
	struct boxes boxes; /* one: the whole launch */
	bool whole;         /* the traced twin runs all groups */
	uint64_t chunks;    /* of the buffer */
	uint64_t part, of;  /* where groups are not known before: of each `of` groups the first `part` */
};

/* With the kernel's lock held: whether the launch is to be traced, how, and with which buffer, which is the launch's. */
bool plan_trace(struct kernel *k, cl_device_id device, struct launch *l, struct trace_plan *plan);
/* Enqueues the traced groups, on what is set as the twin's arguments. */
cl_int enqueue_traced(struct commands *c, struct launch *l, const struct trace_plan *plan);
/* The trace of a launch that has completed, from its buffer, which goes back to the pool. NULL: it cannot be read. */
struct kept_trace *trace_bring_back(struct launch *l);

#endif
