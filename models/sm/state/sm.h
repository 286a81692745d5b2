/*
 * sm: an SM of the occupancy-vector model (models/grid/occupancy_vector.c): its state and its life.
 *
 * An SM advances cycle by cycle while something moves, and jumps to its next event when nothing does. Stages never scan
 * warps: bit masks say which warps a stage may take, and a wheel of events holds what happens later. Within a cycle the
 * stages run from the end of the pipeline to its begin, so that a stage sees what later ones have just freed: results, units,
 * load results, operand collectors, load/store unit, issue, fetch; then groups arrive.
 *
 * The stages are headers, so that the compiler sees all of them at once. Each sm_*.c is a variant for common machines
 * (variants.h).
 */
#ifndef GPUSIM_MODELS_SM_STATE_SM_H
#define GPUSIM_MODELS_SM_STATE_SM_H

#include "models/sm/state/event.h"
#include "models/sm/state/machine.h"
#include "models/sm/state/memory_state.h"
#include "models/sm/state/partition.h"
#include "models/sm/state/scheduler.h"
#include "models/util/pool.h"

struct ov_sm {
	const struct ov_machine *m;
	const struct ov_op *ops; /* the machine's */
	uint64_t now;
	uint32_t turn; /* the scheduler that goes first */
	uint32_t uid, last_fetched;
	uint32_t live_groups, peak_groups, issued;
	uint32_t coming_groups; /* of the live ones: those that have a place, and have not started */
	uint64_t group_start;   /* of the last that did, or will */
	uint64_t longest_group; /* cycles, of those that have ended */
	uint32_t line_miss; /* cycles; 0: lines of instructions are always there */
	bool moved, recheck, no_more, started;
	bool last_groups; /* no group of the launch waits for a place, on any SM */
	bool settled, woken, skipped; /* no stage can do anything until it is woken, or wake_at has come; nor did */
	uint64_t wake_at;
	int error;
	uint64_t tables_free; /* when the unit that finds the ways of tables of jumps has done what it was given */
	double read_debt, write_debt; /* fractions of extra cycles not yet given to an instruction */

	struct ov_warp *warps;
	double *rounds; /* gap_room per warp: those that are left, by gap of its path */
	uint16_t *registers;          /* register_count per warp: enum ov_register; without masks */
	uint64_t *hungry, *retirable; /* by slot */
	uint32_t retirable_count;
	struct ov_group *groups;
	struct ov_scheduler *schedulers;
	struct ov_collector *collectors; /* collector_total per partition */
	uint8_t *more;                   /* max_reads per collector */
	uint32_t collected_kinds; /* of all partitions */
	uint64_t start_at[OV_KINDS]; /* when the first unit of the kind is free */
	struct ov_unit *units; /* all kinds, in order */
	struct ov_bus *bus; /* by time modulo bus_places */
	uint64_t *line_ready;
	struct {
		uint64_t time;
		uint32_t slot;
	} *replies; /* of the instruction cache, a ring */
	uint32_t reply_head, reply_count;
	struct ov_fill *fills; /* a ring, in the order of time */
	uint32_t fill_head, fill_tail; /* of all there ever were */

	uint32_t wheel[OV_WHEEL];
	uint64_t wheel_used[OV_WHEEL / 64];
	struct ov_event *events; /* its own allocation: grows */
	struct pool event_pool;
	uint32_t results_head, results_tail; /* loaded from shared memory, not yet written */

	uint64_t by[CYCLE_KIND_COUNT];
	uint64_t instructions, conflicts;
	/* What was not stepped through, because loops went on at a known rate (models/grid/rates.h). The SM's own time, now, is without. */
	uint64_t jumped;
	double jumped_instructions, jumped_by[CYCLE_KIND_COUNT];

	struct ov_memory *memory; /* its own allocation; NULL: perfect */
	uint64_t limit;           /* the SM runs up to this cycle, not further: later answers of memory are not known yet */
	enum cycle_kind reason;   /* of the last cycle */
	bool paused;

	struct ov_partition partitions[]; /* in place, because a pointer would be one more load in every stage */
};

/* In layout.c. */
struct ov_sm *ov_sm_new(const struct ov_machine *m);
struct ov_sm *ov_sm_clone(const struct ov_sm *sm);
void ov_sm_free(struct ov_sm *sm);

/* An SM's life (sm.c). It starts having completed cycle 0. */
bool ov_has_room(const struct ov_sm *sm);
/* At the end of the cycle sm->now, into the lowest free place; its warps start not before the end of cycle `start`. */
void ov_start_group(struct ov_sm *sm, uint64_t group, uint64_t start);
/* What was asked of the memory comes back. */
void ov_answer(struct ov_sm *sm, uint64_t time, uint32_t id);
/* A group that has its place starts. */
void ov_group_comes(struct ov_sm *sm, uint32_t place);
/* Runs from the next cycle on, to the end of a cycle in which the SM has room and may get a group, or is done, or is at its limit. */
static inline enum ov_state ov_run(struct ov_sm *sm)
{
	return sm->m->run(sm);
}

/* The time of the launch, and what was done in it, with what was not stepped through. */
static inline uint64_t ov_time(const struct ov_sm *sm)
{
	return sm->now + sm->jumped;
}
static inline double ov_done(const struct ov_sm *sm)
{
	return (double)sm->instructions + sm->jumped_instructions;
}

/* What an SM had done when it ran last. What it has done by a later time follows from that (ov_done_at). */
struct ov_progress {
	uint64_t time;
	double instructions;
};
static inline struct ov_progress ov_progress_of(const struct ov_sm *sm)
{
	return (struct ov_progress){ov_time(sm), ov_done(sm)};
}

static inline struct ov_lane *ov_lane_of(const struct ov_sm *sm, uint32_t partition, uint32_t kind)
{
	return (struct ov_lane *)&sm->partitions[partition].lanes[kind];
}

#endif
