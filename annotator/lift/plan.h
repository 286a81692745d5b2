/*
 * plan: what the text of a kernel is made of, decided before any of it is written.
 *
 * The functions of a kernel (its own body first, then all that it reaches) are cut into parts. A part is a piece of a basic block that
 * the warp enters at its begin only: the begin of the block, or what follows a barrier in it. Parts are numbered through the kernel, and
 * that number is the program counter (pc) of the text.
 *
 * A register is an array of 32, or, where all lanes that can see it have the same value, a scalar ("uniform"). Between the instructions
 * of a segment (segments.c) values are scalars of the lane.
 */
#ifndef GPUSIM_ANNOTATOR_LIFT_PLAN_H
#define GPUSIM_ANNOTATOR_LIFT_PLAN_H

#include "annotator/opcodes/instruction.h"
#include "annotator/lift/lift.h"

enum { NO_PC = 0x7fffffff };

struct kernel_part {
	uint32_t block;
	uint32_t first, end; /* instructions */
	bool resumes;        /* begins with the rest of the instruction before `first`: a barrier or a call */
};

/* How the lanes of a straight warp (linear.h) differ in a register that is not uniform. */
enum register_spread { SPREAD_UNKNOWN, SPREAD_LINEAR, SPREAD_VARYING };

struct planned_register {
	bool used, uniform, array; /* array: some text reads or writes it as an array */
	bool parted;               /* lanes may miss a write that others make */
	uint8_t spread;            /* enum register_spread */
	int64_t stride;            /* of a linear one */
	bool kept;                 /* it is in the state of the warp, and never elsewhere: a barrier needs it afterwards, or the kernel is in pieces */
	uint32_t saved_at;         /* in the state of a warp, if the kernel may stop before its end */
	uint32_t frame_at;         /* in what a call saves, if the function may call itself */
	uint32_t snapshot_at;      /* uniform: in what is kept for lanes that are not those that run (meetings.c) */
};

struct planned_function {
	uint32_t index; /* of the module */
	const struct ptx_function *function;
	const struct graph *graph;
	struct liveness live;
	uint64_t *before;      /* per instruction: registers that are live before it; live.words each */
	struct planned_register *registers;
	struct kernel_part *parts;
	uint32_t part_count;
	uint32_t *block_part;  /* per block: its first part */
	uint32_t first_pc;
	bool *joins;           /* per block: lanes of a branch may wait for each other there */
	bool *spins;           /* per block: begins a loop that may wait for other lanes or warps */
	bool waits_for_groups; /* one of its loops may wait for other groups */
	bool *fetches;         /* per instruction: it fetches work from a queue, and a loop ends by what it gets */
	bool fetches_from_groups; /* one of its loops fetches work from a queue that all groups have */
	bool *divergent;       /* per block: lanes may leave its end by different edges */
	bool *leaves;          /* per block: leads to nothing but the end of the kernel, so that lanes need not wait for others there */
	int32_t *join;         /* per block: where lanes that its end separates meet again; -1: nowhere */
	bool recursive;        /* may be active twice */
	bool apart;            /* lanes may be anywhere: nothing is known of registers */
	uint32_t *variable_at; /* per variable: offset in its memory (shared, local, or parameters of the kernel) */
};

struct kernel_plan {
	const struct lifted *lifted;
	const struct lift_kernel *kernel;
	struct planned_function *functions;
	uint32_t function_count;
	int32_t *planned;      /* per function of the module: its number here, or -1 */
	uint32_t *module_at;   /* per variable of the module: offset in shared memory or in the image */
	uint32_t shared_bytes, local_bytes, parameter_bytes;
	uint32_t local_frame;  /* bytes of local memory that a call of a recursive function takes */
	uint32_t pc_count;
	uint32_t most_calls, stack_depth, saved_bytes, frame_bytes, column_count;
	bool stops;            /* a warp may stop before its end: barriers, loops that wait or fetch */
	bool barriers, waits, waits_for_groups, meets_groups, prints, calls, recursive;
	bool fetches, fetches_from_groups; /* warps, or groups, that have done less go first */
	bool syncs;            /* has instructions that wait for lanes which they name */
	bool meets;            /* and such lanes may be elsewhere: what they bring is kept (meetings.c) */
	bool plain_splits;     /* lanes part at branches only */
	bool of_warps;         /* in pieces, of which many have instructions of whole warps, and are not optimised */
	bool in_pieces;        /* too large for one function: registers are in the state of the warp, and loops over lanes in functions of their own */
	/* Offsets in the state of a warp. */
	uint32_t entries_at, saved_at, threads_at, carry_at, counts_at, parts_at, frames_at, meeting_at, snapshots_at, snapshot_bytes, warp_bytes;
};

/* The result is freed by plan_free, after a failure as well. -ENOTSUP: the kernel cannot be lifted. */
int plan_kernel(const struct lifted *l, const struct lift_kernel *k, struct kernel_plan *out, struct gs_error *err);
void plan_free(struct kernel_plan *p);

/* joins.c: fills `join` and `leaves`. */
int plan_joins(struct planned_function *f, struct gs_error *err);
/* uniform.c: fills `uniform` and `parted` of the registers, `divergent`, `joins` and `apart`. */
int plan_uniform(struct kernel_plan *p, uint32_t function, struct gs_error *err);
bool special_is_uniform(const char *name);
/* Whether lanes with the same operands get the same result. */
bool computes_alike(const struct planned_function *f, const struct ptx_instruction *i);
/* The block where lanes that a branch separates meet again; -1: they do not. */
int32_t join_of(const struct planned_function *f, uint32_t block);
/* meetings.c: whether lanes wait at it for others that it names. */
bool is_sync(const struct ptx_instruction *i);
void note_syncs(struct kernel_plan *p); /* fills `syncs` and `plain_splits`, and `meets` as far as branches do not matter */
/* waits.c: fills `spins`, `fetches` and what they are of groups. */
int plan_waits(struct planned_function *f, struct gs_error *err);
bool asks_barrier(const struct ptx_instruction *i); /* whether a phase of a barrier in shared memory is over */
uint32_t register_bytes(const struct ptx_register *r); /* of one lane, as it is held */

/* flow.c: what flow instructions do. */
enum flow_kind { FLOW_BRANCH, FLOW_TABLE, FLOW_CALL, FLOW_RETURN, FLOW_EXIT, FLOW_TRAP, FLOW_BARRIER, FLOW_ARRIVE, FLOW_NONE };
enum flow_kind flow_kind(const struct ptx_instruction *i);
bool waits_for_cluster(const struct ptx_instruction *i); /* barrier.cluster.wait: a FLOW_BARRIER that is looked at again and again */
bool has_word(const char *opcode, const char *word); /* whether it is one of the words between the dots */

static inline bool is_live(const uint64_t *set, uint32_t reg)
{
	return set[reg / 64] >> reg % 64 & 1;
}

/* Aliases are followed. -1: there is none. */
int32_t function_index(const struct ptx_module *m, const char *name);

#endif
