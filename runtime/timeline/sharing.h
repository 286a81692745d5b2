/*
 * sharing: launches that run at the same time on one GPU.
 *
 * They get room on the SMs in the order of their priorities, and then in that in which they came: the groups of the first before those of the next,
 * which fill what is left, in the tail of the first as well; but none while groups of the first wait. Groups that run are not stopped: what comes
 * with a higher priority waits until they have ended, as those of a wave do together, or one after the other where they issue all the time. A launch
 * that has begun to be launched is not overtaken. A launch without room waits. One with a part of its room is slower by as much. SMs issue for the
 * oldest first, so that the next gets what is left of that, too. Where launches ask for more of L2 or DRAM than there is, none gets more than an
 * equal share, unless others leave some of theirs; and those that wait for memory wait longer, the more of DRAM all of them use together. A launch
 * that runs alone takes its own time. (Measured on an H200: docs/overlap.md.)
 *
 * Times are in ns. Nothing here knows what is launched.
 */
#ifndef GPUSIM_RUNTIME_TIMELINE_SHARING_H
#define GPUSIM_RUNTIME_TIMELINE_SHARING_H

#include "runtime/timeline/demand.h"

#include <stdbool.h>
#include <stddef.h>

struct shared_launch {
	void *what;             /* the user's */
	double duration;        /* alone */
	struct command_demand demand;
	double start, end;      /* end: once it has ended */
	enum demand_part part;
	double left;            /* ns of this part, alone */
	double rate;            /* relative to running alone; 0: it waits for room */
	bool entered;           /* it is among those that the GPU knows at once */
	bool launching;         /* it has begun to be launched, or more */
	bool placed;            /* it has had room */
	bool undisturbed;       /* it has always run as if it were alone */
	int priority;           /* the lower number goes first, as with CUDA */
	bool asked;             /* it has asked for room */
	double share;           /* of the room that it wants: what it has */
	double kept_until;      /* its groups keep that until then, whoever comes */
};

struct sharing {
	double now;                     /* as far as launches have run */
	struct shared_launch *launches; /* by priority, then in the order in which they came; owned */
	size_t count, room;
	size_t most;                    /* that run at once */
	double bank_time;               /* of DRAM: for how long an access occupies a bank, relative to the latency of a load */
};

void sharing_free(struct sharing *s);
/* A launch that may start at `ready`, before the next change. It does not start before `now`. False: memory is short. */
bool sharing_add(struct sharing *s, void *what, double duration, const struct command_demand *demand, int priority, double ready);
/* When a launch ends next, or comes to its next part, or gives room to one of a higher priority. INFINITY: never. */
double sharing_next(const struct sharing *s);
/* Goes on to that moment. True: a launch has ended, and is no longer here. */
bool sharing_step(struct sharing *s, struct shared_launch *ended);

#endif
