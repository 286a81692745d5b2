/*
 * What the files of `gpusim export --accel-sim` share.
 *
 * What a program's work-items executed (a trace of ours) becomes what warps of a target would execute, in its machine instructions as our
 * own selection has them (analysis/machine), and is written as Accel-Sim's tracer would have written it.
 */
#ifndef GPUSIM_RUNTIME_CMD_ACCELSIM_EXPORT_H
#define GPUSIM_RUNTIME_CMD_ACCELSIM_EXPORT_H

#include "models/models.h"

#include <stdio.h>

enum { EXPORT_LANES = 32, EXPORT_SOURCES = 4, EXPORT_PC_STEP = 16, EXPORT_PC_NOP = 8, EXPORT_PC_EXIT = 12 };
/* The last two: behind an instruction, what stands for it, and the end of lanes that it has led out (import/trace.c). */

/* ---- names.c: instructions as their machine names them ---- */

struct export_instruction {
	char opcode[28];
	uint32_t pc, repeats; /* a product of several steps is as many instructions */
	int32_t result;       /* register, or -1 */
	int32_t sources[EXPORT_SOURCES];
	uint8_t source_count;
	bool memory;          /* its lines have addresses */
};

struct export_code {
	const struct kernel_code *code;
	struct kernel_code view;   /* what the machine executes */
	struct code_block *blocks; /* of the view, where it is another; owned */
	struct export_instruction *instructions; /* of the view */
	bool *ends;                /* by block: its last instruction is the EXIT */
	uint32_t end;              /* where an EXIT stands that is no instruction of the view */
	struct access_origin {
		uint32_t block, rank;
	} *origins;                /* by instruction of the view that accesses memory: of a block of the code, the n-th of its accesses */
};
/* Returns 0 or -ENOMEM. */
int export_code_make(const struct kernel_code *code, const struct gpu *gpu, struct export_code *out);
void export_code_free(struct export_code *c);

/* opcodes.c: the name of what a PTX opcode becomes, as far as it is of this class; NULL: nothing is known beyond the class. */
const char *export_opcode(uint8_t class, const char *ptx, unsigned arch, char *out, size_t size);
const char *export_atomic_suffix(const char *ptx);
/* Whether the tables of this one's binary version have a machine's opcode. */
bool export_opcode_is_known(const char *name, unsigned arch);

/* registers.c: a number of 0 to 254 for each register of the view. Returns 0 or -ENOMEM. */
int export_registers(const struct kernel_code *code, const struct kernel_code *view, const struct gpu *gpu, int32_t *numbers);

/* ---- export.c: where buffers lie ---- */

struct export_buffer {
	uint64_t key, begin, bytes; /* key: the number of the buffer in the run, or something else that is one of its own */
};
struct export_memory {
	struct export_buffer *list;
	size_t count, room;
	uint64_t next;
};
#define EXPORT_SHARED_BASE UINT64_C(0x7f0000000000)
#define EXPORT_LOCAL_BASE UINT64_C(0x7f1000000000)
/* Where a buffer begins; 0: out of memory. */
uint64_t export_buffer_at(struct export_memory *m, uint64_t key, uint64_t bytes);

/* ---- warps.c ---- */

struct export_launch {
	const struct export_code *code;
	const struct gpu *gpu;
	const struct lane_counts *lanes;
	uint64_t groups[3], local[3], global[3];
	/* The trace as it is kept (runtime/model/trace_shapes.h), and what is needed to decode it (models/trace/read.h). */
	const char *bytes;
	size_t length, chunk_count;
	const struct trace_site *sites;
	uint32_t site_count, block_count;
	const uint64_t *argument_bytes;
	size_t argument_count;
	const uint64_t *bases; /* by argument: where its buffer begins */
	size_t base_count;
	uint64_t constants;    /* where the program's constants are */
};
#define EXPORT_RECORD "record with --trace all"
struct warp_writer;
/* Of groups of this trace. cut: what is there of a work-item whose end is missing is written. NULL: out of memory. */
struct warp_writer *warp_writer_new(const struct export_launch *launch, const struct launch_trace *trace, bool cut);
void warp_writer_free(struct warp_writer *w); /* NULL is fine */
/* Writes what a group did as what group `as` does, which is another one if `moves` is not NULL: it says how addresses move. -ENOENT: the trace does not
 * have all that its work-items did; *err says what is missing. */
int export_group(struct warp_writer *w, const struct traced_group *g, uint64_t as, const struct launch_warps *moves, FILE *out, struct gs_error *err);

/* A line of a trace. addresses: those of the lanes that are on, ascending; NULL: it has none. */
void export_line(FILE *out, const struct export_instruction *in, uint32_t pc, uint32_t mask, const char *opcode, const uint64_t *addresses,
                 unsigned width);

/* ---- groups.c ---- */

/* Writes all groups; *stand_ins: those of them that others stand for, or that are not whole. -ENOENT as above. */
int export_groups(const struct export_launch *launch, FILE *out, uint64_t *stand_ins, struct gs_error *err);

#endif
