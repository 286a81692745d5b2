/* traced: the groups of a launch that are traced, and how their trace comes back. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_TRACED_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_TRACED_H

#include "runtime/guest/driver/cl.h"
#include "runtime/guest/support/boxes.h"

struct commands;
struct context_pool;
struct kernel;
struct kernel_twin;
struct launch;

/* How a launch is traced. */
struct trace_plan {
	struct kernel_twin *twin;
	cl_device_id device;
	bool in_columns;    /* the device has memory of its own, and its text writes columns (runtime/format/traces.h) */
	uint64_t local[3];  /* 0: not known */
	struct boxes boxes; /* one box: the whole launch */
	bool whole;         /* the traced twin runs all groups, and traces them */
	bool chosen;        /* it runs all groups, and counters choose those that are traced: the sample, and so many more */
	bool due;           /* chosen: the sample is traced in any case */
	struct boxes sample;
	uint64_t more, share; /* share: chunks for each work-item of these, times TRACE_SHARE_ONE */
	uint64_t windows;   /* BOX_TRACED_WHOLE */
	uint64_t chunks;    /* of the buffer; or, where the text writes columns: */
	uint64_t columns, column_words; /* one for each work-item, with so many words for events */
	uint64_t part, of;  /* if groups are not known before: the first `part` of every `of` groups are traced */
};

/* With the kernel's lock held: whether to trace the launch, and how. Also takes a trace buffer for the launch. */
bool plan_trace(struct kernel *k, cl_device_id device, struct launch *l, bool may_choose, struct trace_plan *plan);
/* Its two steps that need no twin: whether to trace a launch and which groups of it; and the buffer. */
bool plan_groups(const struct launch *l, cl_device_id device, struct trace_plan *plan);
bool take_trace_buffer(struct context_pool *pool, cl_device_id device, struct launch *l, struct trace_plan *plan);
/* The same two for a GPU without OpenCL, whose text writes columns. The second says how many words the buffer should have; 0: it is not traced. */
bool plan_groups_in_columns(const struct launch *l, struct trace_plan *plan);
size_t plan_columns(struct launch *l, struct trace_plan *plan);
/* Enqueues the traced groups, with the arguments that are set on the twin. */
cl_int enqueue_traced(struct commands *c, struct launch *l, const struct trace_plan *plan);
/* The trace of a launch that has completed. Its buffer goes back to the pool. NULL: the trace cannot be read. */
struct kept_trace *trace_bring_back(struct launch *l);

#endif
