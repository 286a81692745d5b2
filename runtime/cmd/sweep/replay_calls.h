/*
 * replay_calls: the timeline of a replay. A profile has the calls of the program (runtime/format/calls.h); with the times of its launches they make
 * the schedule that the run itself had, on other GPUs.
 */
#ifndef GPUSIM_RUNTIME_CMD_SWEEP_REPLAY_CALLS_H
#define GPUSIM_RUNTIME_CMD_SWEEP_REPLAY_CALLS_H

#include "runtime/base/base.h"
#include "runtime/model/simulation.h"

struct launch_result;
struct replayed_launch;
struct replay_calls {
	char *text;      /* the lines; NULL: the profile has none */
	uint64_t omitted;
	struct replayed_launch *launches; /* for each, one for each target */
	size_t count, room;
};

void replay_calls_note(struct replay_calls *k, const struct launch_result *r);
void replay_calls_take(struct replay_calls *k, const struct gs_pack *pack);
/* After the last launch: makes the timeline, with the links of the option TOPOLOGY. Frees k. */
int replay_calls_finish(struct replay_calls *k, struct simulation *sim, const char *path, struct gs_error *err);

#endif
