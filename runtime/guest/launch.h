/* A launch on its way to the driver: what launch.c and launch_boxes.c share. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCH_H
#define GPUSIM_RUNTIME_GUEST_LAUNCH_H

#include "runtime/guest/tracing.h"

/* A launch as the application asked for it. */
struct request {
	cl_command_queue queue;
	cl_uint dims;
	const size_t *offset, *global, *local;
	cl_uint wait_count;
	const cl_event *wait;
	cl_command_queue_properties properties; /* of the queue */
	uint64_t begin_ns;    /* of the call */
	uint64_t not_ours_ns; /* time spent in the driver's own enqueue and waiting for the twin's build */
};

cl_int enqueue(struct request *r, cl_kernel kernel, cl_event *event);

/* Where a twin counts. */
struct counter_use {
	struct counter_buffer *buffer;
	size_t slots, places;
};

/* The arguments behind the application's own: counters and the box. */
cl_int set_arguments(struct kernel_twin *t, const struct artifact *a, const struct counter_use *counters, const cl_ulong16 *box);

/* ---- launch_boxes.c ---- */

struct commands;

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
/* The traced groups, on what is set as the twin's arguments. */
cl_int enqueue_traced(struct commands *c, struct launch *l, const struct trace_plan *plan);

#endif
