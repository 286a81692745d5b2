/* calls: the log of a process's calls as a record of its profile. */
#ifndef GPUSIM_RUNTIME_TIMELINE_CALLS_H
#define GPUSIM_RUNTIME_TIMELINE_CALLS_H

#include "runtime/base/base.h"
#include "runtime/timeline/schedule.h"
#include "runtime/timeline/topology.h"

/* This process among those of an MPI program. */
struct run_mpi {
	bool recorded;    /* its calls are logged and go into the profile */
	int rank, ranks;  /* ranks 0: it has not begun */
	char library[32];
	char left_out[256]; /* what the program uses that is not recorded; "": nothing */
};

/* False: memory is short. */
bool pack_calls(struct timeline *timeline, const struct run_mpi *mpi, struct gs_pack *pack);

/* ---- calls_read.c: the same back again ---- */

struct call_line {
	char what[16], after[4096];
	unsigned thread, flags, engine;
	int queue, priority, name_at; /* name_at: where the name begins in the line */
	uint64_t call, returned, bytes, launch;
};

/* A log that lines are added to. The caller starts the schedule, and frees by_line. */
struct calls_log {
	struct schedule *schedule;
	struct schedule_command **by_line;
	size_t count, room;
	uint64_t base; /* when time begins */
	double scale;  /* of the host's time */
};

bool call_parse(const char *line, struct call_line *l); /* false: it is no such line */
/* The command, resolved; its durations are the caller's to set. NULL: it cannot be, or memory is short. */
struct schedule_command *calls_add(struct calls_log *log, const struct call_line *l, const char *name);
uint32_t calls_gpus(const char *text); /* GPUs that queues and copies of all lines name, at least 1 */
/* What a copy or the record of an event takes on a target; of what is neither, nothing. t: links between GPUs, or NULL. */
void calls_set_transfer(struct schedule_command *c, size_t target, const struct gpu *gpu, const struct topology *t);

#endif
