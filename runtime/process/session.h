/* session: the processes of a session (setsid) that a program started by us leads. */
#ifndef GPUSIM_RUNTIME_PROCESS_SESSION_H
#define GPUSIM_RUNTIME_PROCESS_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session_work {
	uint64_t ran_ns; /* by processors, for all of its processes */
	bool alive;      /* one of them has not ended */
	bool at_work;    /* one of them runs, would if the machine let it, or waits for a disk */
};
struct session_work session_look(pid_t leader);

#endif
