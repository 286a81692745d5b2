/* calls: the log of a process's calls as a record of its profile. */
#ifndef GPUSIM_RUNTIME_TIMELINE_CALLS_H
#define GPUSIM_RUNTIME_TIMELINE_CALLS_H

#include "runtime/base/base.h"
#include "runtime/timeline/schedule.h"

/* This process among those of an MPI program. */
struct run_mpi {
	bool recorded;    /* its calls are logged and go into the profile */
	int rank, ranks;  /* ranks 0: it has not begun */
	char library[32];
	char left_out[256]; /* what the program uses that is not recorded; "": nothing */
};

/* False: memory is short. */
bool pack_calls(struct timeline *timeline, const struct run_mpi *mpi, struct gs_pack *pack);

#endif
