/*
 * machine: what all SMs of a launch share: its instructions, and the sizes of the pipeline from the GPU's description.
 *
 * Nothing of it changes while SMs run.
 */
#ifndef GPUSIM_MODELS_SM_STATE_MACHINE_H
#define GPUSIM_MODELS_SM_STATE_MACHINE_H

#include "models/sm/state/needs.h"
#include "models/sm/state/instruction.h"
#include "models/sm/state/options.h"
#include "models/sm/state/read_ports.h"
#include "models/warps/warps.h"

struct ov_sm;
enum ov_state { OV_WANTS_GROUP, OV_DONE, OV_PAUSED };
typedef enum ov_state ov_run_fn(struct ov_sm *sm);

struct ov_machine {
	const struct gpu *gpu;
	const struct launch_warps *launch;
	const struct warp_options *options;
	warp_issue_fn *on_issue;
	struct ov_op *ops;
	uint32_t op_count;
	uint32_t *lines; /* of the instruction cache, by instruction */
	struct ov_block {
		uint32_t accesses; /* instructions whose executions are among the accesses of a path */
		bool touches;      /* some of them go to caches */
	} *blocks; /* of the code */
	const uint16_t *operands; /* registers */
	uint32_t groups_per_sm, warps_per_group, slots;
	uint32_t gap_room; /* gaps of a path, at most; 0: no path has any */
	uint32_t schedulers, partitions, positions;
	enum gpu_scheduler_policy policy;
	uint32_t position_words, slot_words, register_count, line_count; /* registers: one more than the code has, which nothing waits for */
	uint32_t first_copies, copy_groups; /* registers of groups of asynchronous copies; 0 groups: none */
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
	uint32_t read_cycles; /* from a collector to its operands, without resolves_banks */
	bool collects, by_age, resolves_banks;
	bool masks; /* bits of ov_op's masks stand for one register each */
	uint32_t read_window;           /* cycles in which an instruction's registers are read; 0: whenever that is */
	struct read_ports *read_ports; /* by op; NULL without a window */
	struct ov_needs *needs;  /* by op; NULL: not known */
	/* By op: 1 + the register that is pending until it has read its operands, and one that is for so many cycles after it has issued;
	 * 0: none. NULL: none of the code has one. */
	struct ov_marks {
		uint16_t read, stall;
		uint8_t cycles;
	} *marks;
	uint32_t front[2]; /* cycles from issue to start, without and with registers to read; ldst: one less */
	uint32_t pool_kinds[OV_KINDS + 1]; /* whose collectors are in each pool */
	/* Of bank 0, and of all but for copies. Where banks divide the 64 bits of a mask, masks are repeated as often as they
	 * fit, so that adding to a bank's number is to rotate the mask. */
	uint64_t bank_bits, all_banks;
	bool banks_rotate;
	ov_run_fn *run;       /* the variant that fits */
};

int ov_machine_init(struct ov_machine *m, const struct gpu *gpu, const struct launch_warps *launch, uint32_t groups_per_sm,
                    const struct warp_options *options, struct gs_error *err);
void ov_machine_finish(struct ov_machine *m);

#endif
