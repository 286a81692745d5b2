/*
 * ov: the parts of the occupancy-vector model (occupancy_vector.c). Nobody else includes this.
 *
 * An SM is stepped cycle by cycle while something moves, and jumps to its next event when nothing does. Warps are
 * never scanned: what a stage may take is kept in bit masks, and what happens later in a wheel of events. Within a
 * cycle the stages run from the end of the pipeline to its beginning, so that a stage sees what the later ones have
 * just freed: results, units, load results, operand collectors, load/store unit, issue, fetch; then blocks arrive.
 *
 * The stages are headers, models/sm/stages.h with its parts, so that the compiler sees them as one and can fit them to the sizes of
 * common machines: each ov_sm*.c is a variant that takes some of them for granted.
 */
#ifndef GPUSIM_MODELS_SM_OV_H
#define GPUSIM_MODELS_SM_OV_H

#include "models/code/costs.h"
#include "models/memory/memory.h"
#include "models/sm/read_ports.h"
#include "models/sampling/regions.h"
#include "models/sampling/runs.h"
#include "models/util/pool.h"
#include "models/warps/warps.h"

enum {
	OV_KINDS = 5, /* of units: fp32, int, fp64, sfu, ldst, in the order of enum pipeline_resource */
	OV_LDST = RESOURCE_ldst - RESOURCE_fp32,
	OV_WHEEL = 1024,     /* cycles: events further away wait for another turn */
	OV_MAX_SLOTS = 4096, /* warps of an SM */
	OV_MAX_WORDS = OV_MAX_SLOTS / 32 + 2, /* of a scheduler's masks */
	OV_MAX_BANKS = 64,   /* banks and collectors that one partition is modelled with; more hardly ever collide */
	OV_FRACTION = 256,   /* units of time per cycle where intervals may be fractions */
};
#define OV_NONE UINT32_MAX
#define OV_NEVER UINT64_MAX

/* An instruction of the code, as the pipeline sees it. */
struct ov_op {
	_Alignas(64) uint32_t first_operand; /* a line of the host's cache */
	uint8_t class, space, flags, kind;
	uint8_t writes, reads, waits;
	uint8_t latency_rule; /* enum ov_memory_rule */
	uint8_t stops;        /* enum ov_wait: what its warp then waits for */
	bool accesses;        /* memory, as counted in paths */
	bool repeats;         /* reads a bank more than once */
	bool leaves;          /* its warp may not simply go on behind it */
	uint32_t latency;     /* start to finish in the unit, for completion slots and result buses */
	uint32_t result;      /* start to the release of its registers; of memory, with one access */
	uint32_t initiation;  /* 1/OV_FRACTION cycles; of memory, per access */
	uint16_t target;      /* the first register that it writes; without any, one that nobody waits for */
	uint8_t marks;        /* enum ov_register: what those are until they are written */
	uint64_t read_banks, write_banks; /* of warp slot 0 */
	uint64_t uses, sets;  /* registers to wait for, to be written: a bit for the register's index mod 64 */
};

struct ov_sm;
enum ov_state { OV_WANTS_GROUP, OV_DONE, OV_PAUSED };
typedef enum ov_state ov_run_fn(struct ov_sm *sm);

enum ov_memory_rule { OV_NOT_MEMORY, OV_LOAD, OV_SHARED, OV_STORE, OV_FENCE };

/* What all SMs of a launch share; nothing changes while they run. */
struct ov_machine {
	const struct gpu *gpu;
	const struct launch_warps *launch;
	const struct warp_options *options;
	warp_issue_fn *on_issue;
	struct ov_op *ops;
	uint32_t op_count;
	uint32_t *lines; /* of the instruction cache, by instruction */
	const uint16_t *operands; /* registers */
	uint32_t groups_per_sm, warps_per_group, slots;
	uint32_t schedulers, partitions, positions;
	enum gpu_scheduler_policy policy;
	uint32_t position_words, slot_words, register_count, line_count; /* registers: with one that nobody waits for */
	uint32_t ports[OV_KINDS];      /* of a partition */
	uint32_t unit_count[OV_KINDS]; /* of an SM */
	uint32_t units, first_unit[OV_KINDS + 1];
	uint32_t collectors[OV_KINDS], pool_collectors; /* of a partition; 0: the pool's */
	uint32_t collector_total, banks, max_reads;     /* of a partition; of an instruction */
	uint32_t fill_places, bus_places; /* powers of two; bus: more than the longest latency */
	uint32_t refill_at; /* a warp with no more than that in its buffer is fetched for */
	uint32_t fetches, fetch_width, buffer_entries, fetch_cycles; /* per cycle; instructions; from fetch to issue */
	uint32_t collector_steps, issues, result_buses;
	uint32_t barrier_cycles; /* from the last warp's issue to the next of those that wait; at most 1: in the same cycle */
	uint32_t read_cycles; /* from a collector to its operands, where banks are not looked at */
	bool collects, by_age, resolves_banks;
	bool masks; /* bits of ov_op's masks stand for one register each */
	uint32_t read_window;           /* cycles in which an instruction's registers are read; 0: whenever that is */
	struct read_ports *read_ports; /* by op; NULL without a window */
	uint32_t front[2]; /* cycles from issue to start, without and with registers to read; ldst: one less */
	uint32_t pool_kinds[OV_KINDS + 1]; /* whose collectors are in each pool */
	/* Of bank 0, and of all but for copies. Where banks divide the 64 bits of a mask, masks are repeated as often as they
	 * fit, so that adding to a bank's number is to rotate the mask. */
	uint64_t bank_bits, all_banks;
	bool banks_rotate;
	ov_run_fn *run;       /* the variant that fits */
};

enum ov_register { OV_WRITTEN, OV_PENDING, OV_LOADING }; /* loading: pending, by the load/store unit */
enum ov_wait { OV_RUNS, OV_AT_BARRIER, OV_AT_ATOMIC, OV_AT_FENCE };

/* The mask of its scheduler that a warp is in; below OV_KINDS: it is ready for a unit of that kind. */
enum ov_place { OV_FLUSHES = OV_KINDS, OV_BLOCKED, OV_LOAD_BLOCKED, OV_WAITS, OV_NOWHERE, OV_PLACES };

struct ov_warp {
	_Alignas(64) uint32_t pc; /* next instruction */
	uint32_t left;                /* instructions of its block */
	uint32_t buffer_pc, fetch_pc; /* what the buffer begins with, and what is fetched next */
	uint64_t unwritten;           /* of pending registers, as in ov_op; without masks, maybe of others while some are pending */
	uint64_t loading, blocking;   /* with masks: of those, by the load/store unit; what is waited for, 0 if not blocked */
	uint32_t in_flight;           /* instructions not completed */
	uint32_t position;            /* in its scheduler's masks */
	uint16_t scheduler, group, bank; /* bank: what its slot adds */
	uint16_t buffered, fetching;   /* instructions */
	uint16_t place, wait;          /* enum ov_place, ov_wait */
	bool finished;
	uint16_t epoch;                /* fetches begun before a flush are void */
	uint32_t pending, blocked_on;  /* without masks: registers not written; one of them, if blocked */
	const uint32_t *block, *block_end; /* the rest of its path */
	uint32_t access, access_count;     /* of those of its path: done, and all */
	const uint16_t *accesses, *memory_waits;
	const struct path_requests *requests; /* NULL: not known */
};

struct ov_group {
	uint32_t live, unfinished, arrived; /* warps */
	uint64_t id;
	int64_t moved[3]; /* groups, from the one of the pattern */
	bool moves;
};

struct ov_scheduler {
	uint64_t word[OV_PLACES]; /* the masks of places, where positions fit into a word */
	uint64_t *places; /* for each word of positions, OV_PLACES masks */
	uint64_t *unfinished, *active; /* by position */
	uint32_t *slot_at;
	uint32_t next_position; /* where a new warp goes, if by age */
	uint32_t last_slot, last_position; /* that issued last */
	uint32_t last_op; /* that it issued */
};

/* An instruction on its way from issue to its unit. */
struct ov_flight {
	uint32_t op, uid;
	uint32_t request; /* of the warp's path, if it has them; else OV_NONE */
	uint16_t slot, kind;
};

/* For one kind of units in one partition: issued, and collected. Both are in the order of issue. */
struct ov_lane {
	struct ov_flight *port, *collected; /* collected: with one place more */
	uint16_t port_count, collected_count, size, pool; /* size: of either */
	uint32_t partition;
};

struct ov_collector {
	struct ov_flight flight;
	uint16_t more; /* banks to be read once more, after those that it needs: so many of its max_reads places */
	uint16_t partition;
	uint32_t pool; /* of the partition */
	uint64_t bit;  /* in its pool */
};

struct ov_reading {
	uint64_t need; /* banks still to be read */
	uint32_t collector;
};

struct ov_pool {
	uint32_t first, size; /* collectors of the SM */
	uint32_t dispatchers;
	uint16_t last[OV_MAX_BANKS]; /* which each dispatcher served last */
};

/* What schedulers with units of their own have for themselves, or all share: ports, collectors, banks. */
struct ov_partition {
	_Alignas(64) uint64_t waiting_banks, written_banks;
	/* Kinds of units, or pools, that have something to do, and those that cannot, so that the rest is not looked at: kinds
	 * with something in the port, without a free collector, that cannot take what is collected. */
	uint32_t port_kinds, starved_kinds, choked_kinds, ready_pools;
	uint64_t open[OV_KINDS]; /* all bits, where the port has room */
	uint64_t read_until[READ_PORT_BANKS]; /* cycle from which on nothing is read from the bank */
	/* Collectors that are reading, in the order of their allocation, which is that of the banks' queues. */
	uint32_t reading_count;
	struct ov_reading *reading;
	struct ov_lane lanes[OV_KINDS];
	uint64_t free[OV_KINDS + 1], ready[OV_KINDS + 1]; /* collectors of each pool */
	struct ov_pool pools[OV_KINDS + 1]; /* the last is for kinds without collectors of their own */
};

struct ov_unit {
	uint64_t free_at; /* 1/OV_FRACTION cycles */
	uint64_t bit;     /* in ov_bus; 0: without completion slots */
};

/* Results that leave units in a cycle, and the units that finish one. */
struct ov_bus {
	uint32_t time, count; /* time: the stamp */
	uint64_t units;
};

enum ov_event_kind {
	OV_WRITE, OV_LOADED, OV_SHARED_RESULT, OV_ATOMIC_BACK, OV_BARRIER_OPENS, OV_STORED, OV_READ_DONE, OV_PART_WRITTEN, OV_GROUP, OV_L1, OV_ANSWER
};

struct ov_event {
	uint32_t time; /* its low bits: events are less than that away */
	uint32_t next, op;
	uint16_t slot; /* of a barrier, the group */
	uint16_t kind;
};

/* What a fetch has brought, on its way to the buffer. */
struct ov_fill {
	uint64_t time;
	uint16_t slot;
	uint16_t epoch;
};

struct ov_sm {
	const struct ov_machine *m;
	const struct ov_op *ops; /* the machine's */
	uint64_t now;
	uint32_t turn; /* the scheduler that goes first */
	uint32_t uid, last_fetched;
	uint32_t live_groups, peak_groups, issued;
	uint32_t coming_groups; /* of the live ones: those that have a place, and have not started */
	uint64_t group_start;   /* of the last that did, or will */
	uint32_t line_miss; /* cycles; 0: lines of instructions are always there */
	bool moved, recheck, no_more, started;
	bool settled, woken, skipped; /* no stage can do anything until it is woken, or wake_at has come; nor did */
	uint64_t wake_at;
	int error;
	double read_debt, write_debt; /* fractions of extra cycles not yet given to an instruction */

	struct ov_warp *warps;
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

	struct ov_memory *memory; /* its own allocation; NULL: perfect */
	uint64_t limit;           /* cycle that it does not run yet: what comes from behind L1 is not known */
	enum cycle_kind reason;   /* of the last cycle */
	bool paused;

	struct ov_partition partitions[]; /* not behind a pointer, which every stage would have to look up */
};

/* models/grid/machine.c */
int ov_machine_init(struct ov_machine *m, const struct gpu *gpu, const struct launch_warps *launch, uint32_t groups_per_sm,
                    const struct warp_options *options, struct gs_error *err);
void ov_machine_finish(struct ov_machine *m);
struct ov_sm *ov_sm_new(const struct ov_machine *m);
struct ov_sm *ov_sm_clone(const struct ov_sm *sm);
void ov_sm_free(struct ov_sm *sm);

/* models/sm/sm.c: an SM's life. It starts having completed cycle 0. */
bool ov_has_room(const struct ov_sm *sm);
/* At the end of the cycle sm->now, into the lowest free place; its warps start not before the end of cycle `start`. */
void ov_start_group(struct ov_sm *sm, uint64_t group, uint64_t start);
/* What was asked of the memory comes back. */
void ov_answer(struct ov_sm *sm, uint64_t time, uint32_t id);
/* From the next cycle on, until the end of a cycle in which it has room and may get a group, or it is done, or it has come
 * to its limit. For any machine; where schedulers' and SMs' warps fit into a word; where there is one partition, too; and where
 * there is nothing behind the load/store unit and no stage does more than the least (models/sm/stages.h); where registers fit, too. */
ov_run_fn ov_run_any, ov_run_word, ov_run_single, ov_run_plain, ov_run_masks;
/* A group that has its place starts. */
void ov_group_comes(struct ov_sm *sm, uint32_t place);
static inline enum ov_state ov_run(struct ov_sm *sm)
{
	return sm->m->run(sm);
}

/* models/sm/memory.c: memory behind the load/store unit; what it does is in models/sm/memory.h */
struct ov_memory_counts { /* looked_up, hits: sectors of loads, in L1; a hit is not asked for, because it is there or on its way */
	uint64_t requests, parts, looked_up, hits, shared, shared_accesses, latency_count;
	double latency_sum;
};

/* An instruction under way. */
struct ov_access {
	uint32_t op, next;
	uint16_t slot, parts; /* parts: not yet looked up */
	uint32_t waits;       /* answers to come */
	uint64_t last;        /* when its last part is done, of those that are */
	uint64_t begun;
	bool missed;
};

struct ov_part {
	uint64_t ready, address;
	uint32_t access, sectors;
	uint16_t bytes;
	bool store, local;
};

struct ov_memory {
	struct memory_system *system;
	uint32_t index; /* of the SM */
	struct l1_cache *l1;
	struct tag_store constants, lines; /* lines: of instructions */
	struct ov_access *accesses;
	struct pool access_pool;
	struct ov_part *parts; /* a ring */
	uint32_t part_capacity, part_head, part_count, room;
	uint64_t *leaving; /* a ring: when requests leave, of those that wait to */
	uint32_t leaving_head, leaving_count;
	uint64_t next_step, written; /* when the queue's first is looked up; when the last result was written */
	uint32_t unit_op, unit_accesses; /* what the unit was given last */
	struct ov_memory_counts counts;
	double latency_sum;
	uint64_t latency_count;
};

int ov_memory_init(struct ov_sm *sm, struct memory_system *system, uint32_t index);
void ov_memory_free(struct ov_sm *sm);
struct ov_memory_counts ov_memory_counts(const struct ov_sm *sm);

/* What is simulated of a launch: groups 0..groups-1 of the plan, of which the sampler may skip some. */
struct ov_plan {
	uint64_t groups, all; /* fewer than all of the launch's: ov_group_id tells which they are */
	uint32_t sm_count;
	/* By pattern group: those with the same number do the same, and SMs that got the same are simulated once. NULL: no two
	 * groups do. */
	const uint32_t *kinds;
	const struct group_run *runs; /* of neighbours, because they meet in memory; NULL: evenly from all of the launch */
	size_t run_count;
	double unlike;   /* what the groups ask memory for per instruction, against all: by how much that differs */
	double capacity; /* of L2, that the simulated SMs have */
	/* Sampling within the launch; whole: groups that run at once. 0 regions: none is skipped. */
	const struct region *regions;
	size_t region_count;
	struct region_limits limits;
	uint64_t whole;
	const double *work;  /* of the plan's groups before each one, groups + 1 entries; NULL: group_work each */
	const double *asked; /* likewise: parts of requests, or with perfect memory requests */
	double group_work;
};
struct ov_outcome {
	uint64_t cycles, instructions, conflicts; /* of all SMs; cycles without skipped ones */
	uint64_t stepped;              /* instructions, where an SM stands for others once */
	uint64_t by[CYCLE_KIND_COUNT]; /* of the SM that ends last */
	struct memory_statistics memory;
	double hottest_atomics; /* cycles, see memory.h */
	double skipped_instructions, skipped_cycles, spread_cycles; /* see struct region_sampler */
};

/* What an SM had done when it ran last, so that what it has done at a time since then can be told. */
struct ov_progress {
	uint64_t time, instructions;
};
static inline struct ov_progress ov_progress_of(const struct ov_sm *sm)
{
	return (struct ov_progress){sm->now, sm->instructions};
}
double ov_done_at(const struct ov_sm *sm, struct ov_progress before, uint64_t time);

/* models/grid/dispatch.c: which group is next */
struct ov_dispatch {
	const struct ov_plan *plan;
	struct region_sampler sampler;
	uint64_t next;      /* group */
	uint64_t *in_place; /* by SM and place: the group that it had last */
	uint32_t places;    /* of an SM */
	uint64_t given, fit; /* groups that SMs got; that fit at once */
	double turnaround, sm_interval, interval; /* cycles; interval: per group beyond those that fit */
};
#define OV_NO_GROUP UINT64_MAX
int ov_dispatch_init(struct ov_dispatch *d, const struct ov_plan *plan, const struct ov_machine *m);
void ov_dispatch_free(struct ov_dispatch *d, struct ov_outcome *out); /* adds what was skipped */
/* The group that an SM with room gets now, in the order of time; state: where its places are seen; done: instructions of all
 * SMs up to now. */
uint64_t ov_dispatch_next(struct ov_dispatch *d, uint32_t sm, const struct ov_sm *state, uint64_t time, double done);
/* When an SM that gets a group now may start it, `given` groups having been given before. */
uint64_t ov_dispatch_start(const struct ov_dispatch *d, uint64_t given, const struct ov_sm *sm);
uint64_t ov_group_id(const struct ov_plan *plan, uint64_t n);

/* models/grid/grid.c: groups on all SMs */
int ov_simulate(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out);
/* What an SM that has ended did. */
void ov_add_up(const struct ov_sm *sm, uint32_t stands_for, struct ov_outcome *out);

/* models/grid/together.c: the same, where SMs share memory */
int ov_simulate_together(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out);

static inline struct ov_lane *ov_lane_of(const struct ov_sm *sm, uint32_t partition, uint32_t kind)
{
	return (struct ov_lane *)&sm->partitions[partition].lanes[kind];
}

#endif
