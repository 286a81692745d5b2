/*
 * code: one kernel as the target runs it, in the form that the models read.
 *
 * The analysis makes it from PTX: instructions as classes and registers, basic blocks, the edges between them, and for
 * every edge how its count follows from the counts of the source's blocks. It is independent of a GPU: what an
 * instruction costs is looked up in the GPU's description. Everything is in flat arrays, so that it can be written
 * to the cache and read back by code_read, which checks every index.
 */
#ifndef GPUSIM_MODELS_CODE_CODE_H
#define GPUSIM_MODELS_CODE_CODE_H

#include "runtime/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The classes with a latency and an initiation interval in the GPU's description (GPU_CLASSES of gpu.h, same names and
 * order), then those whose cost the memory keys give. */
#define CODE_TIMED_CLASSES(X)                                                                                          \
	X(int) X(int_mul) X(int_mad) X(int_minmax) X(int_div) X(fp32) X(fp32_fma) X(fp32_minmax) X(fp32_div) X(fp64)   \
	X(fp64_fma) X(fp64_minmax) X(fp64_div) X(sfu) X(conv) X(logic) X(move) X(shuffle) X(branch) X(barrier)
#define CODE_MEMORY_CLASSES(X) X(load) X(store) X(atomic) X(fence) X(texture)
#define CODE_OTHER_CLASSES(X) X(tensor) X(nop) X(tensor_half) X(tensor_fp64) X(uniform)
/* uniform: an assembler's load of constants by an index that all lanes of a warp share. It is no memory instruction, but has addresses. */
#define CODE_CLASSES(X) CODE_TIMED_CLASSES(X) CODE_MEMORY_CLASSES(X) CODE_OTHER_CLASSES(X)

#define CODE_CLASS(name) CODE_##name,
enum code_class { CODE_CLASSES(CODE_CLASS) CODE_CLASS_COUNT };
#undef CODE_CLASS

#define CODE_SPACES(X) X(none) X(param) X(const) X(shared) X(local) X(global) X(generic) X(texture)
#define CODE_SPACE(name) SPACE_##name,
enum code_space { CODE_SPACES(CODE_SPACE) CODE_SPACE_COUNT };
#undef CODE_SPACE

enum code_flags {
	CODE_GUARDED = 1,      /* under a predicate: its lanes may be off */
	CODE_CONDITIONAL = 2,  /* a branch that may fall through */
	CODE_EXIT = 4,         /* ret or exit of the kernel */
	CODE_CALL = 8,         /* calls code_block.call; ends its block */
	CODE_EXPANDED = 16,    /* not in the PTX: stands for a part of a library function */
	CODE_REM = 32,         /* remainder, among the divisions */
	CODE_UNIFORM = 64,     /* a branch whose condition is the same in all lanes of a warp */
	CODE_OF_GPU = 128,     /* an assembler's fence: not of the own group alone */
	CODE_ORDERED = 128,    /* one that compares an id with what all lanes have: lanes do it in the order of ids */
};

enum { CODE_TABLE_WAY = 2 };

/* Of an assembler's code, registers have the machine's numbers. In a trace of such code, instructions have no control fields. */
enum code_origin { CODE_SELECTED, CODE_ASSEMBLED, CODE_OF_PROGRAM, CODE_OF_TRACE };

enum code_stall {
	CODE_STALL_CYCLES = 15,
	/* What it writes takes its own time. The cycles are those until the next instruction may issue, which waits for the register that this
	 * one waits for last. */
	CODE_STALL_APART = 64,
	CODE_STALL_READ = 128, /* of an access: others wait for the first register that it waits for until it has read its operands */
};

struct code_instruction {
	uint8_t class;    /* enum code_class */
	uint8_t space;    /* enum code_space; SPACE_none unless it accesses memory */
	uint8_t bytes;    /* of memory classes: per lane, all elements together, 255 at most */
	/* of a vector access; of products of matrices (tensor classes): how many steps of the units; of a branch: CODE_TABLE_WAY if it goes one of
	 * the ways of a table of jumps; else 1 */
	uint8_t elements;
	uint8_t flags;    /* enum code_flags */
	/* kernel_code.operands from first_operand: registers written, then registers read through the operand collectors
	 * (a register named twice is there twice), then registers only waited for: guards. Of an assembler's instructions the registers of the
	 * result follow, up to the next one's first_operand: its control fields say when they are there, so that nobody waits for them */
	uint8_t writes, reads, waits;
	uint32_t first_operand;
	uint32_t line; /* in the user's file, from .loc; 0: not known */
	uint16_t column;
	uint16_t file; /* index of kernel_code.files */
	/* As the assembler has decided: cycles until what it writes is there (CODE_STALL_CYCLES; 0: as long as its class takes), with
	 * enum code_stall. */
	uint8_t stall;
	uint8_t kept; /* of the registers that an assembler's instruction reads, those that stay at hand for the next one: a bit each */
	uint32_t opcode; /* offset in kernel_code.strings: the opcode with its modifiers */
	int32_t address; /* of memory classes: the node that computes it, or -1: not known */
	/* Of memory classes: the place of the source that it accesses memory for (struct trace_site), or -1: not known. An
	 * access that the compiler took apart has several instructions; this one's bytes begin site_offset bytes after its first. */
	int32_t site;
	uint32_t site_offset;
	uint32_t probes_before; /* of the probes of its block, those that stand before it */
};

/*
 * How an address follows from the work-item's ids and the kernel's arguments: nodes of expressions, operands before
 * their users. A value that is not known but the same in all lanes of a warp is `uniform`; one that may be anything
 * is `varying`. What neighbouring lanes load from neighbouring places is `loaded`; where a loop begins with it, it is the
 * begin of each lane's part of a `list` of parts that follow one another, as in compressed sparse rows. Numbers are kept in 64 bits,
 * cut to the width of their type; `signed_` says how operands widen.
 */
#define CODE_NODE_OPS(X)                                                                                               \
	X(value) X(uniform) X(varying) X(param) X(tid) X(ntid) X(ctaid) X(nctaid) X(add) X(sub) X(mul) X(mad) X(shl) X(shr) \
	X(and) X(or) X(xor) X(not) X(neg) X(min) X(max) X(div) X(rem) X(cvt) X(lt) X(le) X(eq) X(ne) X(select) \
	X(loaded) X(list) X(mulhi) X(mix) X(content)
#define CODE_NODE_OP(name) NODE_##name,
enum code_node_op { CODE_NODE_OPS(CODE_NODE_OP) NODE_OP_COUNT };
#undef CODE_NODE_OP

struct code_node {
	uint8_t op;
	uint8_t from_bits, to_bits; /* of operands and of the result: mul.wide.s32 is 32 to 64 */
	uint8_t signed_;
	int32_t a, b, c;  /* operands; -1: none */
	int64_t value;    /* value; param: index of the argument; tid ...: dimension */
};

/*
 * The same in the order of execution: the part of the code that addresses depend on, so that whoever follows a path can compute them,
 * loops and all. A step writes a slot, which stands for a register or a constant, from the slots a, b and c of its node. Ops that only
 * steps have: mulhi, the upper half of a product; mix, something that depends on the operands and is not known; content, what the
 * instruction finds at its address (value: which of its elements).
 */
enum { STEP_FIRST = UINT32_MAX }; /* instruction of constants, which are there before the path begins */
enum { STEP_MOST_SLOTS = 1 << 17 }; /* registers of the largest kernel, and constants: bounds the memory of whoever executes steps */
struct code_step {
	uint32_t instruction; /* of the code, ascending; after the constants */
	int32_t slot;         /* -1: the address of the instruction, which is slot a */
	struct code_node node;
};

/*
 * Registers are numbered through the kernel and all functions that it calls.
 *
 * Some stand for groups of asynchronous copies (cp.async), which end in order. They follow one another: the group that is open, the newest
 * one that was committed, the one before it ..., the last one for all older groups. A copy writes the first of them, and is not held back by
 * others. What writes all of them is a commit: each group becomes one older, without anything being waited for.
 */
enum { CODE_MOST_COPIES = 10 }; /* registers for groups: waits leave 8 at most */
struct code_register {
	uint16_t number; /* in its PTX name: what a hash of bank conflicts uses */
	uint8_t words;   /* 32-bit registers it takes; 0: a predicate */
	uint8_t copies;  /* of a group of copies: 1 for the open one, 2 for the newest that was committed ...; 0: another register */
};

enum { CODE_CALL_ANY = -2 };
struct code_block {
	uint32_t first, count; /* instructions; blocks follow one another as in the PTX */
	uint32_t first_edge, edge_count; /* ways out, at least one */
	int32_t call;     /* entry block of the function that its last instruction calls; -1: none; CODE_CALL_ANY: any, by its address */
	int32_t join;     /* immediate post-dominator, or -1: the end of the function */
	int32_t loop;     /* innermost loop, or -1 */
	uint32_t function; /* 0 is the kernel's body */
	uint32_t first_probe, probe_count; /* kernel_code.probes: the source blocks that begin in it, in order */
};

/* A way from one block to the next. A count is (sum of its terms) / denominator. */
struct code_edge {
	uint32_t from;
	int32_t to; /* -1: out of the function */
	uint8_t taken; /* by a branch, not by falling through; of a trace: before the other ways, when lanes part; a byte, because it is read from files */
	uint32_t first_term, term_count;
	uint32_t denominator;
	uint32_t alike; /* edges of the same number are copies of one of the source, expected to be taken alike; 0: alone */
	uint32_t first_probe, probe_count; /* as in struct code_block: source blocks of which nothing but the way is left */
};

/* `factor` times the count of a source counter, or, from counter_count on, of an unknown. */
struct code_term {
	uint32_t of;
	int32_t factor;
};

struct code_loop {
	uint32_t header; /* block */
	int32_t outer;
};

/* What the counters leave open: an edge count that is chosen between the bounds that non-negative counts allow. */
struct code_unknown {
	uint32_t edge;
	uint8_t least; /* take the lower bound: the slow path of a library function; else the middle */
};

/* A sum of source counters that must be 0; else source and target do not belong together. */
struct code_check {
	uint32_t first_term, term_count;
};

/*
 * What the chip executes instead of PTX, where the GPU's machine_code is sass: the instructions of machine_blocks[b] when a
 * warp executes block b. A block whose instructions are none is part of another: its branch became predicates
 * (`merged`), or nothing of it is left. From block_count on there are the unrolled loops. Accesses keep their order, but for those of an assembler's
 * code.
 */
enum { CODE_MOST_TIMES = 256 };
/* In place of times: no execution of block `of`, but what lanes that have parted execute by themselves. CODE_ARRIVES: they wait for others at its begin, for all but
 * the last that come there. CODE_GOES_AGAIN: the jump at its end that goes by a table, for each way but the first. */
enum { CODE_ARRIVES = 1000, CODE_GOES_AGAIN };
/* In place of times: executed once whenever the loop of block `of` is left. It has, under predicates, the executions that are fewer than those of the longest unrolled
 * one, which are a power of two: first those for a half of it, then for a quarter, down to one. */
enum { CODE_REST = 2000 };

struct code_machine_block {
	uint32_t first, count; /* of kernel_code.machine */
	uint32_t of, times;    /* stands for `times` executions of block `of` in a row; 1 for a block itself; 0: what enters its loop executes */
	int32_t merged;        /* the block that executes its instructions, whose next one it then is; -1: itself */
};

struct kernel_code {
	uint32_t instructions; /* in the PTX of the kernel's body */
	uint32_t registers;    /* per thread; 0: not known */
	uint32_t shared_bytes; /* declared in the kernel, per work-group */
	uint32_t local_bytes;  /* private arrays and spills, per thread */
	uint32_t counter_count; /* source counters: the terms' lower indices; source blocks come first among them */
	uint32_t site_count;    /* of the source's sites, which instructions name */
	uint32_t origin;        /* enum code_origin: who made `machine`, or, where there is none, `code` */

	struct code_instruction *code;
	uint16_t *operands;
	struct code_register *register_table;
	struct code_block *blocks;
	struct code_edge *edges;
	struct code_term *terms;
	struct code_loop *loops;
	struct code_unknown *unknowns;
	struct code_check *checks;
	struct code_node *nodes;
	struct code_step *steps;
	struct code_instruction *machine; /* none: the GPU executes `code` */
	struct code_machine_block *machine_blocks;
	struct code_register *machine_registers; /* those of register_table, then what the machine needs beyond them */
	uint16_t *machine_operands;
	uint32_t *machine_origins; /* per machine instruction: the one of `code` whose access it makes; UINT32_MAX: none */
	uint32_t *functions; /* entry block of each function, the kernel's body first */
	uint32_t *probes;    /* source blocks */
	uint32_t *files;     /* offsets in strings */
	char *strings;       /* NUL-terminated, one after the other */
	uint32_t code_count, operand_count, register_count, block_count, edge_count, term_count, loop_count, unknown_count,
	    check_count, node_count, step_count, machine_count, machine_block_count, machine_register_count, machine_operand_count,
	    machine_origin_count, function_count, file_count, probe_count, string_bytes;
};

void code_write(const struct kernel_code *code, struct gs_buf *out);
/* -EINVAL for anything that code_write cannot have made. The caller frees *out with code_free. */
int code_read(const void *data, size_t length, struct kernel_code **out, struct gs_error *err);
void code_free(struct kernel_code *code);

/* A fence after which not only the own group sees what its warp has stored. */
bool code_fences_gpu(const struct kernel_code *code, const struct code_instruction *fence);
const char *code_class_name(enum code_class class);
/* Whether its executions are among the accesses of a path (warps.h). */
bool code_accesses_memory(const struct code_instruction *instruction);
/* Whether instructions have an assembler's control fields. */
static inline bool code_has_control(const struct kernel_code *code)
{
	return code->origin == CODE_ASSEMBLED || code->origin == CODE_OF_PROGRAM;
}
/* Of an asynchronous copy, or of a commit: the registers of groups from its first one on. Of others 0. */
uint32_t code_copy_groups(const struct kernel_code *code, const struct code_instruction *instruction);

/* How often everything ran, for one set of source counts: all work-items together, or one of them. */
struct code_counts {
	double *edges, *blocks;    /* executions by threads; edge_count and block_count entries, the caller's */
	double low, high;          /* bounds of thread instructions; equal to the sum where nothing is unknown */
	double thread_instructions; /* PTX instructions by active lanes: a branch that falls through counts 0 */
	bool inconsistent;         /* a check failed or a count came out negative */
	bool bounded;              /* some count was chosen between bounds */
};
/* Instructions that a thread executes when it leaves a block by this edge. */
double code_edge_instructions(const struct kernel_code *code, const struct code_edge *edge);
/* counts has code->counter_count entries. */
int code_count(const struct kernel_code *code, const uint64_t *counts, struct code_counts *out); /* 0 or -ENOMEM */

#endif
