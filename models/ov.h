/*
 * ov: the parts of the occupancy-vector model (occupancy_vector.c). Nobody else includes this.
 *
 * An SM is stepped cycle by cycle while something moves, and jumps to its next event when nothing does. Warps are
 * never scanned: what a stage may take is kept in bit masks, and what happens later in a wheel of events. Within a
 * cycle the stages run from the end of the pipeline to its beginning, so that a stage sees what the later ones have
 * just freed: results, units, load results, operand collectors, load/store unit, issue, fetch; then blocks arrive.
 */
#ifndef GPUSIM_OV_H
#define GPUSIM_OV_H

#include "models/costs.h"
#include "models/regions.h"
#include "models/warps.h"

enum {
	OV_KINDS = 5, /* of units: fp32, int, fp64, sfu, ldst, in the order of enum pipeline_resource */
	OV_LDST = RESOURCE_ldst - RESOURCE_fp32,
	OV_WHEEL = 1024,     /* cycles: events and completions further away wait for another turn */
	OV_MAX_SLOTS = 4096, /* warps of an SM */
	OV_MAX_WORDS = OV_MAX_SLOTS / 32 + 2, /* of a scheduler's masks */
	OV_MAX_BANKS = 64,   /* banks and collectors that one partition is modelled with; more hardly ever collide */
	OV_FRACTION = 256,   /* units of time per cycle where intervals may be fractions */
};
#define OV_NONE UINT32_MAX
#define OV_NEVER UINT64_MAX

/* An instruction of the code, as the pipeline sees it. */
struct ov_op {
	uint32_t first_operand;
	uint8_t class, space, flags, kind;
	uint8_t writes, reads, waits;
	uint8_t latency_rule; /* enum ov_memory_rule */
	uint8_t stops;        /* enum ov_wait: what its warp then waits for */
	bool accesses;        /* memory, as counted in paths */
	uint32_t latency;     /* start to finish in the unit, for completion slots and result buses */
	uint32_t result;      /* start to the release of its registers; of memory, with one access */
	uint32_t initiation;  /* 1/OV_FRACTION cycles; of memory, per access */
	uint32_t line;        /* of the instruction cache */
	bool repeats;         /* reads a bank more than once */
	uint64_t read_banks, write_banks; /* of warp slot 0 */
};

enum ov_memory_rule { OV_NOT_MEMORY, OV_LOAD, OV_SHARED, OV_STORE, OV_FENCE };

/* What all SMs of a launch share; nothing changes while they run. */
struct ov_machine {
	const struct gpu *gpu;
	const struct launch_warps *launch;
	const struct warp_options *options;
	warp_issue_fn *on_issue;
	struct ov_op *ops;
	uint32_t op_count;
	const uint16_t *operands; /* registers */
	uint32_t groups_per_sm, warps_per_group, slots;
	uint32_t schedulers, partitions, positions;
	uint32_t position_words, slot_words, register_count, line_count;
	uint32_t ports[OV_KINDS];      /* of a partition */
	uint32_t unit_count[OV_KINDS]; /* of an SM */
	uint32_t units, first_unit[OV_KINDS + 1];
	uint32_t collectors[OV_KINDS], pool_collectors; /* of a partition; 0: the pool's */
	uint32_t collector_total, banks, max_reads;     /* of a partition; of an instruction */
	uint32_t fill_places; /* a power of two */
	uint32_t refill_at; /* a warp with no more than that in its buffer is fetched for */
	uint32_t collector_steps;
	bool collects, by_age, resolves_banks;
	uint32_t front[2]; /* cycles from issue to start, without and with registers to read; ldst: one less */
};

enum ov_register { OV_WRITTEN, OV_PENDING, OV_LOADING }; /* loading: pending, by the load/store unit */
enum ov_wait { OV_RUNS, OV_AT_BARRIER, OV_AT_ATOMIC, OV_AT_FENCE };

struct ov_warp {
	const uint32_t *block, *block_end; /* the rest of its path */
	const uint16_t *access, *access_end, *memory_wait;
	const uint16_t *access_begin;
	const struct path_requests *requests; /* NULL: not known */
	uint32_t pc, left;          /* next instruction, and how many its block still has */
	uint32_t buffer_pc, fetch_pc; /* what the buffer begins with, and what is fetched next */
	uint32_t buffered, fetching;
	uint32_t in_flight, pending; /* instructions not completed; registers not written */
	uint32_t position;           /* in its scheduler's masks */
	uint32_t ready_kind;         /* whose mask it is in, or OV_NONE */
	uint32_t blocked_on;         /* a register, if blocked */
	uint16_t scheduler, group, bank; /* bank: what its slot adds */
	uint8_t wait, epoch; /* enum ov_wait; epoch: fetches begun before a flush are void */
	bool finished, blocked, memory_blocked, flush;
};

struct ov_group {
	uint32_t live, unfinished, arrived; /* warps */
	uint64_t id;
	int64_t moved[3]; /* groups, from the one of the pattern */
	bool moves;
};

struct ov_scheduler {
	uint64_t *ready; /* for each word of positions, OV_KINDS and one of all kinds together */
	uint64_t *flush, *unfinished, *long_wait, *active; /* by position */
	uint32_t *slot_at;
	uint32_t next_position; /* where a new warp goes, if by age */
	uint32_t last_slot, last_position; /* that issued last */
};

/* An instruction on its way from issue to its unit. */
struct ov_flight {
	uint32_t op, uid;
	uint16_t accesses, wait, slot, kind;
	uint32_t request; /* of the warp's path, if it has them; else OV_NONE */
};

/* For one kind of units in one partition: issued, and collected. Both are in the order of issue. */
struct ov_lane {
	struct ov_flight *port, *collected;
	uint32_t port_count, collected_count, size, pool; /* size: of either */
};

struct ov_collector {
	struct ov_flight flight;
	uint64_t need; /* banks still to be read */
	uint8_t *more; /* banks to be read once more, after that */
	uint16_t more_count, partition;
	uint32_t pool; /* of the partition */
	uint64_t bit;  /* in its pool */
};

struct ov_pool {
	uint64_t free, ready;
	uint32_t first, size; /* collectors of the SM */
	uint32_t dispatchers;
	bool one_kind; /* of units */
	uint8_t last[OV_MAX_BANKS]; /* which each dispatcher served last */
};

/* What schedulers with units of their own have for themselves, or all share: ports, collectors, banks. */
struct ov_partition {
	uint64_t waiting_banks, written_banks;
	/* Kinds of units, or pools, that have something to do, so that the rest is not looked at. */
	uint32_t port_kinds, full_kinds, ready_pools;
	/* Collectors that are reading, in the order of their allocation, which is that of the banks' queues. */
	uint32_t reading_count;
	uint16_t *reading;
	struct ov_lane lanes[OV_KINDS];
	struct ov_pool pools[OV_KINDS + 1]; /* the last is for kinds without collectors of their own */
};

struct ov_unit {
	uint64_t free_at; /* 1/OV_FRACTION cycles */
	uint32_t *finishes; /* stamps, by time modulo OV_WHEEL; NULL without completion slots */
};

/* Results that leave units in a cycle. */
struct ov_bus {
	uint32_t time, count; /* time: the stamp */
};

enum ov_event_kind {
	OV_WRITE, OV_LOADED, OV_SHARED_RESULT, OV_ATOMIC_BACK, OV_STORED, OV_READ_DONE, OV_PART_WRITTEN, OV_L1, OV_ANSWER
};

struct ov_event {
	uint64_t time;
	uint32_t next, op;
	uint16_t slot;
	uint8_t kind;
};

/* What a fetch has brought, on its way to the buffer. */
struct ov_fill {
	uint64_t time;
	uint16_t slot;
	uint8_t epoch;
};

struct ov_sm {
	const struct ov_machine *m;
	uint64_t now;
	uint32_t turn; /* the scheduler that goes first */
	uint32_t uid, last_fetched;
	uint32_t live_groups, peak_groups, issued;
	bool moved, recheck, no_more, started;
	int error;
	double read_debt, write_debt; /* fractions of extra cycles not yet given to an instruction */

	struct ov_warp *warps;
	uint8_t *registers;           /* register_count per warp: enum ov_register */
	uint64_t *hungry, *retirable; /* by slot */
	uint32_t retirable_count;
	struct ov_group *groups;
	struct ov_scheduler *schedulers;
	struct ov_partition *partitions;
	struct ov_collector *collectors; /* collector_total per partition */
	uint32_t collected_kinds; /* of all partitions */
	struct ov_unit *units; /* all kinds, in order */
	struct ov_bus *bus; /* by time modulo OV_WHEEL */
	uint64_t *line_ready;
	struct {
		uint64_t time;
		uint32_t slot;
	} *replies; /* of the instruction cache, a ring */
	uint32_t reply_head, reply_count;
	struct ov_fill *fills; /* a ring, in the order of time */
	uint32_t fill_head, fill_tail; /* of all there ever were */
	uint32_t in_collected; /* instructions */

	uint32_t *wheel;
	uint64_t wheel_used[OV_WHEEL / 64];
	struct ov_event *events; /* its own allocation: grows */
	uint32_t event_capacity, free_event, event_count;
	uint32_t results_head, results_tail; /* loaded from shared memory, not yet written */

	uint64_t by[CYCLE_KIND_COUNT];
	uint64_t instructions, conflicts;

	struct ov_memory *memory; /* its own allocation; NULL: perfect */
	uint64_t limit;           /* cycle that it does not run yet: what comes from behind L1 is not known */
	enum cycle_kind reason;   /* of the last cycle */
	bool paused;
};

/* ov_machine.c */
int ov_machine_init(struct ov_machine *m, const struct gpu *gpu, const struct launch_warps *launch, uint32_t groups_per_sm,
                    const struct warp_options *options);
void ov_machine_finish(struct ov_machine *m);
struct ov_sm *ov_sm_new(const struct ov_machine *m);
struct ov_sm *ov_sm_clone(const struct ov_sm *sm);
void ov_sm_free(struct ov_sm *sm);

/* ov_sm.c: an SM's life. It starts having completed cycle 0. */
enum ov_state { OV_WANTS_GROUP, OV_DONE, OV_PAUSED };
bool ov_has_room(const struct ov_sm *sm);
/* At the end of the cycle sm->now, into the lowest free place. */
void ov_start_group(struct ov_sm *sm, uint64_t group);
/* From the next cycle on, until the end of a cycle in which it has room and may get a group, or it is done, or it has come
 * to its limit. */
enum ov_state ov_run(struct ov_sm *sm);

/* ov_events.c */
void ov_schedule(struct ov_sm *sm, uint64_t time, enum ov_event_kind kind, uint32_t slot, uint32_t op);
uint64_t ov_next_event(const struct ov_sm *sm);
void ov_process_events(struct ov_sm *sm);
void ov_complete_result(struct ov_sm *sm, uint32_t slot, uint32_t op);
void ov_write_load_results(struct ov_sm *sm);

/* ov_fetch.c */
void ov_fetch(struct ov_sm *sm);
void ov_fill_buffers(struct ov_sm *sm);
uint64_t ov_next_fill(const struct ov_sm *sm);
void ov_flush_buffer(struct ov_sm *sm, uint32_t slot, uint32_t pc);
uint64_t ov_next_reply(const struct ov_sm *sm);

/* ov_issue.c */
void ov_issue(struct ov_sm *sm);
/* Puts a warp into the masks that its state asks for. */
void ov_update_warp(struct ov_sm *sm, uint32_t slot);
void ov_add_warp(struct ov_sm *sm, uint32_t slot);
/* Where a block has ended, to the next one with instructions; false at the end of the path. */
bool ov_next_block(const struct ov_sm *sm, struct ov_warp *w);
void ov_finish_warp(struct ov_sm *sm, uint32_t slot);

/* ov_policies.c: the first warp of a mask in the scheduler's order, as a position; OV_NONE of an empty mask */
typedef uint32_t ov_pick_fn(const struct ov_machine *m, struct ov_scheduler *s, const uint64_t *mask);
extern ov_pick_fn *const ov_policies[GPU_SCHEDULER_POLICY_COUNT];

/* ov_collect.c */
void ov_collect(struct ov_sm *sm);
void ov_read_done(struct ov_sm *sm, uint32_t collector);

/* ov_units.c */
void ov_start_units(struct ov_sm *sm);
void ov_start_memory(struct ov_sm *sm);
/* Without collectors: can a unit take the instruction in this cycle, and let it. */
bool ov_unit_takes(struct ov_sm *sm, uint32_t partition, const struct ov_flight *f);
uint64_t ov_next_unit(const struct ov_sm *sm);
/* All that serve the partition have something to do in this cycle. */
bool ov_units_busy(const struct ov_sm *sm, uint32_t partition, uint32_t kind);

/* ov_memory.c: memory behind the load/store unit */
struct memory_system;
int ov_memory_init(struct ov_sm *sm, struct memory_system *system, uint32_t index);
void ov_memory_free(struct ov_sm *sm);
/* The unit has taken the instruction; false: it is one that memory need not be asked for. */
bool ov_memory_takes(struct ov_sm *sm, const struct ov_flight *f);
/* Its queue is full: the unit cannot take another. */
bool ov_memory_full(const struct ov_sm *sm);
void ov_memory_step(struct ov_sm *sm);
void ov_memory_answer(struct ov_sm *sm, uint32_t id);
/* The line of instructions is fetched from: when it is there, if it was, and has been replaced since. */
void ov_memory_line(struct ov_sm *sm, uint32_t line, uint64_t *ready);
enum cycle_kind ov_memory_reason(const struct ov_sm *sm);
struct ov_memory_counts {
	uint64_t requests, parts, looked_up, hits, shared, shared_accesses, latency_count;
	double latency_sum;
};
struct ov_memory_counts ov_memory_counts(const struct ov_sm *sm);

/* What is simulated of a launch: groups 0..groups-1 of the plan, of which the sampler may skip some. */
struct ov_plan {
	uint64_t groups, all; /* fewer than all of the launch's: ov_group_id tells which they are */
	uint32_t sm_count;
	/* By pattern group: those with the same number do the same, and SMs that got the same are simulated once. NULL: no two
	 * groups do. */
	const uint32_t *kinds;
	bool together; /* neighbours stay neighbours, because they meet in memory */
	double capacity; /* of L2, that the simulated SMs have */
	/* Sampling within the launch; whole: groups that run at once. 0 regions: none is skipped. */
	const struct region *regions;
	size_t region_count;
	struct region_limits limits;
	uint64_t whole;
	const double *work; /* of the plan's groups before each one, groups + 1 entries; NULL: group_work each */
	double group_work;
};
struct ov_outcome {
	uint64_t cycles, instructions, conflicts; /* of all SMs; cycles without skipped ones */
	uint64_t stepped;              /* instructions, where an SM stands for others once */
	uint64_t by[CYCLE_KIND_COUNT]; /* of the SM that ends last */
	struct memory_statistics memory;
	double skipped_instructions, skipped_cycles, spread_cycles; /* see struct region_sampler */
};

/* ov_dispatch.c: which group is next */
struct ov_dispatch {
	const struct ov_plan *plan;
	struct region_sampler sampler;
	uint64_t next;      /* group */
	double given;       /* work of the groups that SMs got */
	uint64_t *in_place; /* by SM and place: the group that it had last */
	uint32_t places;    /* of an SM */
};
#define OV_NO_GROUP UINT64_MAX
int ov_dispatch_init(struct ov_dispatch *d, const struct ov_plan *plan, uint32_t places);
void ov_dispatch_free(struct ov_dispatch *d, struct ov_outcome *out); /* adds what was skipped */
/* The group that an SM with room gets now, in the order of time; state: where its places are seen. */
uint64_t ov_dispatch_next(struct ov_dispatch *d, uint32_t sm, const struct ov_sm *state, uint64_t time);
uint64_t ov_group_id(const struct ov_plan *plan, uint64_t n);

/* ov_grid.c: groups on all SMs */
int ov_simulate(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out);
/* What an SM that has ended did. */
void ov_add_up(const struct ov_sm *sm, uint32_t stands_for, struct ov_outcome *out);

/* ov_together.c: the same, where SMs share memory */
int ov_simulate_together(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out);

/* ov_reason.c: what a cycle without an issue is lost to */
enum cycle_kind ov_reason(const struct ov_sm *sm);

static inline bool ov_bit(const uint64_t *mask, uint32_t i)
{
	return mask[i / 64] >> i % 64 & 1;
}

static inline void ov_set(uint64_t *mask, uint32_t i)
{
	mask[i / 64] |= 1ULL << i % 64;
}

static inline void ov_clear(uint64_t *mask, uint32_t i)
{
	mask[i / 64] &= ~(1ULL << i % 64);
}

/* The first bit set from i on, cyclically; OV_NONE if none is. */
static inline uint32_t ov_next_bit(const uint64_t *mask, uint32_t words, uint32_t i)
{
	uint32_t start = i / 64 < words ? i / 64 : 0, shift = i / 64 < words ? i % 64 : 0;
	uint64_t first = mask[start] & (~0ULL << shift);
	if (first)
		return start * 64 + (uint32_t)__builtin_ctzll(first);
	for (uint32_t w = start + 1; w < words; w++)
		if (mask[w])
			return w * 64 + (uint32_t)__builtin_ctzll(mask[w]);
	for (uint32_t w = 0; w <= start; w++)
		if (mask[w])
			return w * 64 + (uint32_t)__builtin_ctzll(mask[w]);
	return OV_NONE;
}

static inline uint32_t ov_partition(const struct ov_machine *m, uint32_t slot)
{
	return m->partitions == 1 ? 0 : slot % m->schedulers;
}

static inline struct ov_partition *ov_partition_of(const struct ov_sm *sm, uint32_t slot)
{
	return &sm->partitions[ov_partition(sm->m, slot)];
}

/* The whole cycles of a debt that grows by extra. */
static inline uint32_t ov_extra_cycles(double *debt, double extra)
{
	*debt += extra;
	uint32_t whole = (uint32_t)*debt;
	*debt -= whole;
	return whole;
}

/* Banks of a warp, from those of slot 0: (register + slot) mod banks. */
static inline uint64_t ov_rotate(const struct ov_machine *m, const struct ov_warp *w, uint64_t banks)
{
	uint64_t all = m->banks < 64 ? (1ULL << m->banks) - 1 : ~0ULL;
	return w->bank ? ((banks << w->bank) | (banks >> (m->banks - w->bank))) & all : banks;
}

static inline void ov_update_hungry(struct ov_sm *sm, const struct ov_warp *w, uint32_t slot)
{
	bool hungry = w->buffered <= sm->m->refill_at && !w->fetching && !w->finished;
	uint64_t *word = &sm->hungry[slot / 64];
	*word = (*word & ~(1ULL << slot % 64)) | (uint64_t)hungry << slot % 64;
}

static inline void ov_may_retire(struct ov_sm *sm, uint32_t slot)
{
	ov_set(sm->retirable, slot);
	sm->retirable_count++;
}

static inline struct ov_lane *ov_lane_of(const struct ov_sm *sm, uint32_t partition, uint32_t kind)
{
	return &sm->partitions[partition].lanes[kind];
}

#endif
