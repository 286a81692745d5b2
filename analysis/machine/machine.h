/*
 * machine: what an assembler makes of PTX, for GPUs that execute machine instructions (machine_code = sass).
 *
 * PTX is no machine code: copies and conversions between halves disappear, additions of 64 bits are two instructions,
 * multiplications and shifts become part of additions, divisions are sequences, short arms of branches become predicates,
 * short loops are unrolled. The rules here are general: each follows from operands, uses and control flow, none from
 * a kernel's name or shape. They were read off what ptxas 13.0 makes of PTX for sm_90 (NVIDIA's own PTX of the suite, and
 * clang's), and are the same back to sm_70 but where a rule says otherwise.
 *
 * analysis/machine/values.c  what is known of registers: who writes and reads them, which halves matter
 * analysis/machine/select.c  instructions of one block: what each becomes
 * analysis/machine/vector.c  loads that become wider
 * analysis/machine/flow.c    branches: predicates instead of arms, exits, joins
 * analysis/machine/unroll.c  loops that become longer
 * analysis/machine/emit.c    the arrays of struct kernel_code
 */
#ifndef GPUSIM_ANALYSIS_MACHINE_MACHINE_H
#define GPUSIM_ANALYSIS_MACHINE_MACHINE_H

#include "analysis/builtins/builtins.h"
#include "analysis/graph/reached.h"

/* ---- values ---- */

struct machine_value {
	uint32_t defs, uses;
	int32_t def;             /* the only instruction that writes it, or -1 */
	uint32_t first_use;      /* in machine_function.use_list */
	uint8_t bits;
	bool high_unused;        /* of 64 bits: nobody needs the upper half */
	bool high_zero;          /* the upper half is known to be 0 */
	bool constant;           /* an immediate, written once */
	bool parameter;          /* read from the constant bank, written once */
};

/* What becomes of one instruction of PTX. */
enum { MACHINE_MOST_OPS = 8 };
struct machine_plan {
	uint8_t count;                    /* machine instructions; 0: it is a part of others, or gone */
	uint8_t classes[MACHINE_MOST_OPS]; /* enum code_class of each, the last makes the result */
	bool kept;                        /* the instruction itself, after the `count` others: accesses, barriers */
	bool planned;
	const struct builtin_cost *cost;  /* a sequence instead */
	uint32_t wider;                   /* the load, + 1, that brings its result too; 0: none */
};

/* What becomes of a block. */
struct machine_flow {
	uint8_t before, after; /* instructions that keep lanes together */
	uint8_t checks;        /* instructions that choose between the copies of an unrolled loop */
	bool exits;            /* an EXIT at its end */
	bool arrives;          /* those who come here have waited for one another */
	int32_t merged;        /* the block that executes this arm under a predicate, or -1 */
	int32_t arms[2];       /* what it executes itself under predicates; -1: none */
	uint32_t unrolled;     /* times; 0: not */
	bool drops_branch;     /* its last instruction, a branch, is none of the machine */
};

struct machine_function {
	const struct ptx_function *ptx;
	const struct graph *graph;
	const struct code_instruction *code; /* those of the PTX, before library functions took their place: flags of branches */
	unsigned arch;                       /* 90 */
	bool kernel;
	struct machine_value *values;
	uint32_t *use_list;
	int32_t *block_of;
	struct machine_plan *plans;
	struct machine_flow *flow;
	int32_t *joins; /* by block: where lanes that do not return early meet again; -1: nowhere */
};

int machine_function_make(struct machine_function *f, struct gs_error *err); /* ptx to kernel are filled */
void machine_function_free(struct machine_function *f);

/* analysis/machine/values.c */
int machine_values_find(struct machine_function *f, struct gs_error *err);
/* "add" of add.s64; the modifiers that matter */
bool machine_is(const struct ptx_instruction *i, const char *name);
bool machine_has_word(const struct ptx_instruction *i, const char *word);
unsigned machine_bits(const struct ptx_instruction *i); /* of the last type; 1: .pred */
bool machine_is_real(const struct ptx_instruction *i);
/* The types of cvt.TO.FROM. */
struct machine_types {
	unsigned to_bits, from_bits;
	bool to_real, from_real, from_signed;
};
struct machine_types machine_conversion(const struct ptx_instruction *i);
/* The n-th operand that is read, or NULL. */
const struct ptx_operand *machine_source(const struct ptx_instruction *i, uint32_t n);
int32_t machine_result(const struct ptx_instruction *i); /* the first register that is written, or -1 */
/* The instruction that alone writes a register operand, or NULL. */
const struct ptx_instruction *machine_def(const struct machine_function *f, const struct ptx_operand *o);
uint32_t machine_index(const struct machine_function *f, const struct ptx_instruction *i);

/* analysis/machine/select.c */
void machine_select(struct machine_function *f);
uint32_t machine_plan_size(const struct machine_function *f, uint32_t instruction);

/* analysis/machine/vector.c */
void machine_vectors_find(struct machine_function *f);

/* analysis/machine/flow.c */
int machine_flow_find(struct machine_function *f, struct gs_error *err);
uint32_t machine_block_size(const struct machine_function *f, uint32_t block);

/* analysis/machine/unroll.c */
void machine_unroll_find(struct machine_function *f);
/* Whether an instruction of an unrolled block is left out in all copies but the last. */
bool machine_is_control(const struct machine_function *f, uint32_t block, uint32_t instruction);

/* analysis/machine/emit.c: fills the machine arrays of `code`. starts: where each instruction of the PTX begins in code->code, and
 * one more, see mapping_expand. */
int machine_emit(const struct reached_functions *reached, const struct machine_function *functions, const uint32_t *starts,
                 const char *arch, struct kernel_code *code, struct gs_error *err);

/* analysis/machine/schedule.c: the order of instructions. 0 or -ENOMEM. */
int machine_schedule(struct kernel_code *code);

/*
 * Fills the machine arrays of `code`. ptx_code: its instructions before library functions took the place of calls, whose
 * branches know whether lanes agree; starts: where each of them begins in code->code, and one more.
 */
int machine_make(const struct reached_functions *reached, const char *arch, const struct code_instruction *ptx_code, const uint32_t *starts,
                 struct kernel_code *code, struct gs_error *err);

#endif
