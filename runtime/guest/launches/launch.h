/* launch: a launch from the application's enqueue until it is in the reports. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_LAUNCH_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_LAUNCH_H

#include "runtime/guest/driver/buffers.h"
#include "runtime/guest/programs/kernels.h"
#include "runtime/model/launch_record.h"
#include "runtime/report/cost.h"

#include <stdatomic.h>

/* A launch as the application asked for it. */
struct request {
	cl_command_queue queue;
	cl_uint dims;
	const size_t *offset, *global, *local;
	cl_uint wait_count;
	const cl_event *wait;
	cl_command_queue_properties properties; /* of the queue */
	uint64_t begin_ns;    /* of the application's call */
	uint64_t not_ours_ns; /* time in the driver's own enqueue, and waiting for the twin's build */
};

cl_int enqueue(struct request *r, cl_kernel kernel, cl_event *event);

/* Where a twin stores its counts. */
struct counter_use {
	struct counter_buffer *buffer;
	size_t slots, places;
};

/* Sets the arguments that follow the application's own: counters and the box. */
cl_int set_arguments(struct kernel_twin *t, const struct artifact *a, const struct counter_use *counters, const cl_ulong16 *box);

/* Commands of ours for a launch. */
struct launch_part {
	struct launch *launch;
	uint64_t *end_ns; /* set to the time when they have ended */
};

/* A launch from the enqueue until it is in the reports. */
struct launch {
	struct launch_record record;
	struct launch_times times;
	struct launch *previous, *next; /* the list of launches in flight */
	struct launch *queued;          /* the next launch in the queue of those that have completed */
	bool is_queued;
	struct counter_buffer *buffer;
	struct counter_buffer *trace_buffer; /* NULL: it is not traced */
	struct trace_choice *choice;         /* of the groups that are traced; NULL: it was made before */
	bool trace_is_tight; /* the buffer has room for what traces of its shape took, and not for much more */
	struct counter_buffer *scratch;      /* for counts that are not used, or NULL */
	struct shadow *shadow;               /* the copies that its twins run on, or NULL */
	struct shadow *inputs;               /* copies of what its kernel only reads, or NULL */
	struct verification *verification;   /* NULL: its twin is not compared with the kernel */
	struct proof *proof;                 /* of the twin that was; NULL: none was */
	cl_event *events;                    /* of our commands for it; held until it has completed */
	size_t event_count;
	atomic_int pending;                  /* events to wait for */
	struct launch_part traces, twin, copies;
	bool beside_twins;                   /* twins run beside it, and the driver may have to compile them */
	bool uncounted;                      /* the driver refused its twin after it had accepted another command of ours */
	const char *alone;                   /* why it runs without a twin, or (CUDA) without counters, although others do not; or NULL */
	bool void_trace;                     /* the same for the traced twin */
	enum { FETCH_NONE, FETCH_BUSY, FETCH_DONE } fetched; /* its trace and its verdict (fetcher.c) */
	struct kept_trace *brought;          /* its trace, after it was fetched, or NULL */
	size_t given_local[3];               /* the local size of its twins, where record.unsized (unsized.h) */
	bool regrouped;                      /* its kernel could tell that, so that the twin neither stands for it nor is compared with it */
	bool profiled;
	cl_int status;                       /* the status with which it completed */
	struct schedule_command *command;    /* its entry in the timeline; NULL: it has none */
};

/* A launch with room for so many arguments, which the caller fills in. NULL: out of memory. */
struct launch *launch_new(struct artifact *a, struct artifact_kernel *facts, const char *name, size_t arguments);
/* Chooses how many slots and places its counters have (runtime/format/counters.h), and gets memory for them: l->buffer, or NULL, if there is
 * no room. Returns how many launches of the kernel of about its size came before. The kernel's lock must be held. */
unsigned launch_take_counters(struct launch *l, struct context_pool *pool, cl_device_id device);
extern const char no_room_for_counters[]; /* why a launch without them is estimated from others */
void launch_free(struct launch *l);
void launch_give_back(struct launch *l); /* gives back all memory that it holds; its commands must have completed */

#endif
