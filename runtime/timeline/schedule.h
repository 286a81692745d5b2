/*
 * schedule: when the application's commands would run on each target.
 *
 * Calls are logged in the order in which they were made. A replay goes through the log once the durations are known:
 *
 *   host clock of a thread: what it does between its calls takes as long as here, a call CALL_NS at most; where it waits for
 *                           commands, it waits for their simulated end
 *   a command starts when its call was made, when what it waits for has ended (the events of its list; in an in-order
 *                           queue the command before it), and when its engine is free
 *   engines of a GPU:       one runs launches and copies within its memory, one copies to it, one from it
 *
 * It asks no driver and no clock: its user fills in everything. It is not locked: its user does that.
 */
#ifndef GPUSIM_RUNTIME_TIMELINE_SCHEDULE_H
#define GPUSIM_RUNTIME_TIMELINE_SCHEDULE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALL_NS = 5000 }; /* an enqueue on a GPU's driver: a few microseconds */

enum command_engine { ENGINE_NONE, ENGINE_COMPUTE, ENGINE_TO_GPU, ENGINE_FROM_GPU, ENGINE_COUNT };

/* On one target, in ns since the application's first call. */
struct command_times {
	double duration;              /* filled in by the user; NAN: not known, and never will be */
	double host_begin, host_end;  /* of the call */
	double start, end;            /* of the command */
};

struct schedule_queue {
	struct schedule_queue *next;
	const void *handle;
	char name[32]; /* for people; "": none */
	uint32_t index;
	bool in_order;
	double *last_end, *all_end, *floor; /* per target: of the command before; of all; of the last barrier */
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
	struct schedule_command *next;
	const char *what;  /* static: "launch", "read", ..., "wait" */
	char *name;        /* of a kernel, or of a waiting call; owned; NULL: none */
	uint64_t size_bytes, id;
	enum command_engine engine;
	struct schedule_queue *queue;   /* NULL: a call that waits for events */
	struct schedule_thread *thread;
	uint64_t call_ns, return_ns;    /* of the call, as it ran */
	bool waits;        /* the call returns when the command has ended; of clFinish: all of the queue */
	bool waits_all;    /* it starts after all commands of its queue before it */
	bool barrier;      /* those after it start when it has ended */
	bool resolved, replayed;
	const struct schedule_command **after; /* owned */
	size_t after_count;
	struct command_times times[]; /* per target */
};

struct schedule {
	size_t target_count;
	struct schedule_command *first, *last, *next; /* next: to be replayed */
	struct schedule_queue *queues;
	struct schedule_thread *threads;
	size_t count;
	double *engine_free; /* target_count * ENGINE_COUNT */
};

/* The schedule of a run; the guest's side logs commands in it (runtime/guest/launches/timeline.c). */
struct timeline {
	pthread_mutex_t lock;
	struct schedule schedule;
	bool started;
	uint64_t omitted; /* commands beyond those that are kept */
};

int schedule_start(struct schedule *s, size_t target_count);
void schedule_free(struct schedule *s);
/* NULL when memory is short. */
struct schedule_queue *schedule_queue(struct schedule *s, const void *handle, bool in_order);
struct schedule_thread *schedule_thread(struct schedule *s, uint64_t id);
/* A new command at the end of the log, not resolved; the caller fills in the rest. */
struct schedule_command *schedule_add(struct schedule *s, const char *what, const char *name);
/* Replays as far as commands are resolved. */
void schedule_replay(struct schedule *s);

#endif
