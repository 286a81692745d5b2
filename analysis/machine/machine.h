/*
 * machine: the machine instructions that an assembler makes of PTX, for GPUs that execute them (machine_code = sass).
 *
 * PTX is not machine code. Copies and conversions between halves disappear. Additions of 64 bits are two instructions.
 * Multiplications and shifts become part of additions. Divisions become sequences. Short arms of branches run under predicates.
 * Short loops are unrolled. The rules here are general: each follows from operands, uses and control flow, and none from a
 * kernel's name or shape. They were derived from the output of ptxas 13.0 for sm_90 (NVIDIA's own PTX of the suite, and
 * clang's). They hold back to sm_70, unless a rule says otherwise.
 *
 *   analysis/machine/values.c  registers: which instructions write and read them, which halves matter
 *   analysis/machine/select.c  instructions of one block: what each becomes
 *   analysis/machine/divide.c  divisions that share a reciprocal
 *   analysis/machine/pipes.c   sums that either pipe executes
 *   analysis/machine/vector.c  loads that become wider
 *   analysis/machine/flow.c    branches: predicates instead of arms, exits, joins
 *   analysis/machine/tables.c  comparisons that become a table of jumps
 *   analysis/machine/unroll.c  loops that are unrolled
 *   analysis/machine/emit.c    writes the arrays of struct kernel_code
 *   analysis/machine/schedule.c  orders the instructions of each block
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
	bool high_unused;        /* 64 bits: no instruction needs the upper half */
	bool high_zero;          /* the upper half is known to be 0 */
	bool constant;           /* an immediate, written once */
	bool parameter;          /* read from the constant bank, written once */
};

/* What the assembler makes of one PTX instruction. */
enum { MACHINE_MOST_OPS = 8 };
struct machine_plan {
	uint8_t count;                    /* machine instructions; 0: it becomes part of others, or disappears */
	uint8_t classes[MACHINE_MOST_OPS]; /* enum code_class of each, the last makes the result */
	bool kept;                        /* the instruction itself follows the `count` others: accesses, barriers */
	bool planned;
	const struct builtin_cost *cost;  /* a sequence that replaces it */
	uint32_t wider;                   /* 1 + the load that also loads its result; 0: none */
	uint8_t bytes;                    /* of a lane, of a load that also loads the results of others; 0: those of the PTX */
};

/* What the assembler makes of a block. */
struct machine_flow {
	uint8_t before, after; /* instructions that keep lanes together */
	uint8_t checks;        /* instructions that choose between the copies of an unrolled loop */
	bool exits;            /* an EXIT stands at its end */
	bool arrives;          /* lanes that come here have waited for one another */
	int32_t merged;        /* the block that executes this arm under a predicate, or -1 */
	int32_t arms[2];       /* arms that it executes under predicates; -1: none */
	uint32_t unrolled;     /* how many times; 0: not unrolled */
	bool drops_branch;     /* its last instruction is a branch that is no machine instruction */
	bool by_table;         /* its last instruction goes one of the ways of a table of jumps */
};

struct machine_function {
	const struct ptx_function *ptx;
	const struct graph *graph;
	const struct code_instruction *code; /* the PTX instructions before library functions were expanded; their branches have flags */
	unsigned arch;                       /* 90 */
	bool kernel;
	bool final;                          /* this very text is assembled; otherwise it stands for that of NVIDIA's front end */
	struct machine_value *values;
	uint32_t *use_list;
	int32_t *block_of;
	struct machine_plan *plans;
	struct machine_flow *flow;
	int32_t *joins; /* by block: where lanes meet again, except those that return early; -1: nowhere */
};

int machine_function_make(struct machine_function *f, struct gs_error *err); /* the caller fills ptx to kernel */
void machine_function_free(struct machine_function *f);

/* analysis/machine/values.c */
int machine_values_find(struct machine_function *f, struct gs_error *err);
/* machine_is() compares the first word of an opcode: "add" of add.s64. The next function looks for a modifier. */
bool machine_is(const struct ptx_instruction *i, const char *name);
bool machine_has_word(const struct ptx_instruction *i, const char *word);
unsigned machine_bits(const struct ptx_instruction *i); /* bits of the last type; 1: .pred */
bool machine_is_real(const struct ptx_instruction *i);
/* The types of cvt.TO.FROM. */
struct machine_types {
	unsigned to_bits, from_bits;
	bool to_real, from_real, from_signed;
};
struct machine_types machine_conversion(const struct ptx_instruction *i);
/* The n-th operand that the instruction reads, or NULL. */
const struct ptx_operand *machine_source(const struct ptx_instruction *i, uint32_t n);
int32_t machine_result(const struct ptx_instruction *i); /* the first register that it writes, or -1 */
/* The only instruction that writes a register operand, or NULL. */
const struct ptx_instruction *machine_def(const struct machine_function *f, const struct ptx_operand *o);
uint32_t machine_index(const struct machine_function *f, const struct ptx_instruction *i);

/* analysis/machine/select.c */
void machine_select(struct machine_function *f);
uint32_t machine_plan_size(const struct machine_function *f, uint32_t instruction);

/* analysis/machine/divide.c: the sequence that replaces an instruction, or NULL. */
const struct builtin_cost *machine_sequence(const struct machine_function *f, const struct ptx_instruction *i);

/* analysis/machine/pipes.c: gives sums of two operands to either pipe. */
void machine_balance_pipes(struct machine_function *f);

/* analysis/machine/vector.c */
void machine_vectors_find(struct machine_function *f);

/* analysis/machine/flow.c */
int machine_flow_find(struct machine_function *f, struct gs_error *err);
uint32_t machine_block_size(const struct machine_function *f, uint32_t block);

/* analysis/machine/tables.c: after the branches are known that remain. */
void machine_tables_find(struct machine_function *f);

/* analysis/machine/unroll.c */
void machine_unroll_find(struct machine_function *f);
/* Whether only the last copy of an unrolled block has this instruction. */
bool machine_is_control(const struct machine_function *f, uint32_t block, uint32_t instruction);

/* analysis/machine/emit.c: fills the machine arrays of `code`. starts[i] is where PTX instruction i begins in code->code, with
 * one entry more for the end; see mapping_expand. */
int machine_emit(const struct reached_functions *reached, const struct machine_function *functions, const uint32_t *starts,
                 const char *arch, struct kernel_code *code, struct gs_error *err);

/* analysis/machine/schedule.c: the order of instructions, and so the registers that the code takes. */
int machine_schedule(const struct reached_functions *reached, const char *arch, struct kernel_code *code, struct gs_error *err);

/*
 * Fills the machine arrays of `code`. ptx_code has the instructions before library functions replaced their calls. Its branches
 * say whether lanes agree. starts[i] is where instruction i begins in code->code, with one entry more for the end. final: see
 * struct machine_function.
 */
int machine_make(const struct reached_functions *reached, const char *arch, bool final, const struct code_instruction *ptx_code, const uint32_t *starts,
                 struct kernel_code *code, struct gs_error *err);

#endif
