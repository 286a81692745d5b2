/* Replaying profiles, for the commands that model them. */
#ifndef GPUSIM_RUNTIME_CMD_SWEEP_REPLAY_H
#define GPUSIM_RUNTIME_CMD_SWEEP_REPLAY_H

#include "runtime/base/base.h"
#include "runtime/model/simulation.h"

struct recorded_counters {
	uint64_t seq, *words;
	size_t count;
	struct gs_buf trace; /* for launches after it, if they need it as their own */
};

/* Gets a launch instead of the models; the trace is then its own, or NULL. Returns 0 or a negative errno value. */
struct kept_trace;
struct launch_result;
struct replay_calls;
typedef int replay_take_fn(void *ctx, struct launch_record *l, struct kept_trace *trace, struct gs_error *err);

/* A profile that is being modelled. The caller sets `sim`, and may set `quiet`, `only`, `take` and `done`. */
struct replay {
	struct simulation *sim; /* its targets, statistics and reports */
	const char *only;       /* the launches to model (only.h); NULL: all */
	bool quiet;             /* do not say who recorded the profile */
	replay_take_fn *take;   /* NULL: launches are modelled */
	void *take_ctx;
	void (*done)(void *ctx, const struct launch_result *r); /* gets what was modelled, instead of the reports; NULL: they do */
	void *done_ctx;
	struct replay_calls *calls; /* of the program, for a timeline; NULL: none is made */
	const char *path;
	struct artifact **programs; /* the index is the program's number - 1 */
	size_t program_count;
	struct recorded_counters *counters;
	size_t counter_sets, counter_room;
	uint64_t counter_bytes; /* of all sets of counters */
	struct estimates *estimates; /* NULL: there was no launch yet */
	uint64_t launches; /* that were taken in */
	uint64_t passed;   /* that `only` leaves out */
};

/* Models every launch of a profile. With `partial`, a file without its end is modelled as far as it goes. */
int replay_profile(struct replay *play, const char *path, bool partial, struct gs_error *err);
/* Takes one record. Returns -EBADMSG if it cannot be read. */
int replay_record(struct replay *play, const char *kind, const struct gs_pack *pack, struct gs_error *err);
/* Frees the programs and counters that came from records. */
void replay_reset(struct replay *play);

#endif
