/*
 * schedule: when the application's commands would run on each target.
 *
 * Calls are logged in the order in which they were made. A replay goes through the log once the durations are known:
 *
 *   host clock of a thread: what it does between its calls takes as long as here, a call CALL_NS at most, or less where it was
 *                           measured; where it waits for commands, it waits for their simulated end
 *   a command may start     when its call was made, and what it waits for has ended (the events of its list; in an in-order
 *                           queue the command before it). Commands that may start are taken in the order of that time
 *   launches, and copies within the GPU's memory: share the GPU (sharing.h)
 *   several GPUs:           queues of different ones have nothing in common but the host and events; each has its own link
 *   copies to and from it:  one at a time in each direction, or at all where the GPU has one engine for both. One that begins
 *                           beside another gets what the link has left
 *
 * The times of a command are known once something waits for it: only then has everything been called that could have run beside it.
 * (Another thread may be behind in simulated time. What it launches then finds the GPU as the others left it.)
 *
 * It asks no driver and no clock: its user fills in everything. It is not locked: its user does that.
 */
#ifndef GPUSIM_RUNTIME_TIMELINE_SCHEDULE_H
#define GPUSIM_RUNTIME_TIMELINE_SCHEDULE_H

#include "runtime/timeline/sharing.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCHEDULE_DEVICES = 16 }; /* GPUs of a program, at most; those beyond share the last */
enum { CALL_NS = 5000 }; /* an enqueue on a GPU's driver: a few microseconds */
/* The same of CUDA's streams, as measured beside an H200 (tests/accuracy/truth/micro_priorities.cu): a launch, and what neither launches nor copies. */
enum { STREAM_LAUNCH_NS = 3000, STREAM_MARK_NS = 1400 };

enum command_engine { ENGINE_NONE, ENGINE_COMPUTE, ENGINE_TO_GPU, ENGINE_FROM_GPU, ENGINE_COUNT };

enum command_state { COMMAND_WAITS, COMMAND_RUNS, COMMAND_DONE };

/* On one target, in ns since the application's first call. */
struct command_times {
	double duration;              /* filled in by the user; NAN: not known, and never will be */
	double host_begin, host_end;  /* of the call */
	double start, end;            /* of the command, once it is done */
	struct command_demand demand; /* of a launch, filled in by the user */
	enum command_state state;
};

/* Of a queue, on one target. */
struct queue_place {
	struct schedule_command *head;   /* the first that waits, or NULL; of an out-of-order queue, some after it may be done */
	struct schedule_command *open;   /* the first that is not done, or NULL */
	double before_open;              /* when the last of those before it ended */
	double all_end, floor;           /* of all that are done; of the last barrier */
};

struct schedule_queue {
	struct schedule_queue *next;
	const void *handle;
	char name[32]; /* for people; "": none */
	uint32_t index;
	bool in_order;
	bool stream; /* of CUDA */
	int priority; /* as in struct shared_launch */
	uint32_t device; /* which of the program's GPUs, below SCHEDULE_DEVICES */
	struct schedule_command *last;
	struct queue_place places[]; /* per target */
};

struct schedule_thread {
	struct schedule_thread *next;
	uint64_t id;
	uint32_t index;
	uint64_t returned_ns; /* from its last call */
	bool called;
	double *clock;        /* per target */
};

struct schedule_command {
	struct schedule_command *next, *next_in_queue;
	const char *what;  /* static: "launch", "read", ..., "wait" */
	char *name;        /* of a kernel, or of a waiting call; owned; NULL: none */
	uint64_t size_bytes, id;
	uint64_t launch;   /* 1 + the number of the launch; 0: it has none */
	enum command_engine engine;
	uint32_t lane; /* runtime/timeline/totals.h */
	struct schedule_queue *queue;   /* NULL: a call that waits for events */
	struct schedule_thread *thread;
	uint64_t call_ns, return_ns;    /* of the call, as it ran */
	bool waits;        /* the call returns when the command has ended; of clFinish: all of the queue */
	bool waits_all;    /* it starts after all commands of its queue before it */
	bool barrier;      /* those after it start when it has ended */
	bool records;      /* an event's time, which takes the stream a while: its duration */
	bool works;        /* the host works in the call: it takes as long as it took */
	uint8_t from, to;  /* of a copy between GPUs */
	bool resolved, replayed; /* its duration is known; and it waits for its turn, or has had it */
	const struct schedule_command **after; /* owned */
	size_t after_count;
	struct command_times times[]; /* per target */
};

/* What a GPU does at once. */
struct schedule_limits {
	uint32_t launches;    /* that run */
	uint32_t copies;      /* between host and GPU */
	double second_copy;   /* speed of a copy beside one that has the other direction already, relative to one alone */
	double bank_time;     /* struct sharing */
};

struct schedule_gpu {
	struct sharing sharing;
	bool one_copy;
	double second_copy;
	double copies_end[ENGINE_COUNT];
};

struct schedule {
	size_t target_count;
	struct schedule_command *first, *last, *next; /* next: to be replayed */
	struct schedule_queue *queues;
	struct schedule_thread *threads;
	size_t count;
	uint32_t device_count; /* GPUs that queues are of; at least 1 */
	struct schedule_gpu *gpus; /* SCHEDULE_DEVICES per target */
};

/* The schedule of a run; the guest's side logs commands in it (runtime/guest/launches/timeline.c). */
struct timeline {
	pthread_mutex_t lock;
	struct schedule schedule;
	bool started;
	uint64_t omitted; /* commands beyond those that are kept */
};

int schedule_start(struct schedule *s, size_t target_count);
struct schedule_limits schedule_limits_of(const struct gpu *gpu);
void schedule_limit(struct schedule *s, size_t target, struct schedule_limits limits); /* else there are none */
void schedule_free(struct schedule *s);
/* NULL when memory is short. A new queue is of device 0. */
struct schedule_queue *schedule_queue(struct schedule *s, const void *handle, bool in_order);
/* Before its first command. */
void schedule_queue_device(struct schedule *s, struct schedule_queue *q, uint32_t device);
struct schedule_thread *schedule_thread(struct schedule *s, uint64_t id);
/* A new command at the end of the log, not resolved; the caller fills in the rest. */
struct schedule_command *schedule_add(struct schedule *s, const char *what, const char *name);
/* Replays as far as commands are resolved. What nothing waits for may still be open. */
void schedule_replay(struct schedule *s);
/* A call that only its user knows the end of, and that is not resolved: once the replay has come to it, when it begins; and then its end. */
double schedule_call_begins(struct schedule *s, struct schedule_command *c, size_t target);
void schedule_call_ends(struct schedule *s, struct schedule_command *c, size_t target, double end);
/* Of all calls and commands that are done. */
double schedule_end(const struct schedule *s, size_t target);
/* Runs what was replayed until this command is done on all targets; NULL: everything. */
void schedule_settle(struct schedule *s, const struct schedule_command *c);

#endif
