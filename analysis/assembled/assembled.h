/*
 * assembled: the machine code that an assembler made of a kernel's PTX, in place of the code that analysis/machine selects.
 *
 * Counters, walks and traces know the blocks of the PTX. So each block of the machine code is given to the block of the PTX that is executed as
 * often: the one that most of its instructions come from by the table of lines (or by infer.h), among those that are in as many loops. Each access to
 * memory must come from one access of the PTX, in the same block or in one that is executed next. Where a kernel does not fit, nothing changes.
 *
 * An unrolled loop has several blocks of the machine code, which stand for 4, 2 or 1 executions of its block (code_machine_block.times). What chooses
 * between them is executed whenever the loop is entered. Where the first round of a loop's test stands before the loop, the loop's own block stands for it. An
 * access may be made in another block than that of the PTX, if the path of a warp says when. Where the assembler has copied a block, so that there is one for
 * each way to it, one stands for all. Calls for operands of divisions and roots that are out of the usual range are taken to be never made, and so are branches
 * for lanes of a mask that are not together (BRA.DIV). Functions of one block, such as that for divisions of 64 bits, are executed where they are called.
 *
 * Instructions issue by their control fields. No register of the machine is waited for. Instead there are registers that stand for barriers:
 * an instruction that counts a barrier up writes one, and an instruction that waits for the barrier waits for it. One more register stands for
 * stalls: an instruction that makes the next one wait writes it for so many cycles (code_instruction.stall).
 *
 *   analysis/assembled/same.c    whether the program's own machine code is what the assembler makes of its PTX
 *   analysis/assembled/infer.h   where instructions come from, without a table of lines
 *   analysis/assembled/flow.c    blocks of the machine code, the ways between them, and their loops
 *   analysis/assembled/copies.c  unrolled loops and copies
 *   analysis/assembled/owners.c  whose block each is, by where its instructions come from
 *   analysis/assembled/rounds.c  first rounds of loops that stand before them
 *   analysis/assembled/blocks.c  blocks without an owner on one side or the other, and all of it in order
 *   analysis/assembled/checks.c  whether ways and accesses are those of the PTX
 *   analysis/assembled/emit.c    the arrays machine* of struct kernel_code
 *   analysis/assembled/uniform.c constants by an index that all lanes share
 *   analysis/assembled/yields.c  loops that lanes leave for good
 */
#ifndef GPUSIM_ANALYSIS_ASSEMBLED_ASSEMBLED_H
#define GPUSIM_ANALYSIS_ASSEMBLED_ASSEMBLED_H

#include "analysis/ptx/ptx.h"
#include "analysis/sass/cubin.h"
#include "analysis/sass/decode.h"
#include "analysis/sass/opcodes.h"

struct assembled_block {
	uint32_t first, count; /* of the machine's instructions */
	int32_t next[2];       /* blocks that may follow; -1: none */
	bool reached;
	bool called;           /* a function of the assembler's own, which is executed where it is called */
	uint32_t depth;        /* loops around it */
	int32_t owner;         /* the block of the PTX that it is given to; -1: none yet */
	uint32_t times;        /* executions of the owner that it stands for; 0: none, it is executed once whenever the owner's loop is entered; CODE_REST */
	bool early;            /* executed before the first of its owner's other blocks, which it stands behind: it goes back to a loop */
	bool copy;             /* another block stands for the owner in its place */
	int32_t end;           /* the block of the PTX that it ends with, if that is not its owner: it has the first round of a loop; -1 */
};

struct assembled_kernel {
	const struct ptx_function *ptx;
	const struct kernel_code *code;
	const struct cubin_code *sass;
	uint32_t count; /* instructions */
	struct sass_instruction *in;
	struct sass_opcode *opcodes; /* by instruction, with the bytes that it accesses */
	int32_t *origin;   /* by instruction: of the PTX, by its line or as infer.c takes it; -1: none */
	bool *moved;       /* by instruction: of the first round of a loop, in the block before it. The loop's own block stands for it */
	int32_t *block_of; /* by instruction of the PTX */
	struct assembled_block *blocks;
	uint32_t block_count;
	int32_t *merged; /* by block of the PTX without code of its own: the block that executes its accesses; -1: none */
	bool *has_code;  /* by block of the PTX */
	bool *unrolled;  /* by block of the PTX: a loop that the assembler has unrolled */
};

/*
 * Replaces the machine code of *code, and its registers, shared and local bytes. The kernel calls no function, so that instructions of `code` are those of
 * `ptx`. -ENOTSUP: the machine code cannot be mapped onto the PTX; *why says what is in the way, and *code is as it was.
 */
int assembled_apply(const struct ptx_function *ptx, const struct cubin *cubin, const struct cubin_code *sass, struct kernel_code *code,
                    struct gs_error *why);

/* same.c: whether two are the same instructions: then the table of lines of one serves the other. Operands and control fields may differ, since what a linker fills
 * in does. */
bool assembled_same(unsigned arch, const struct cubin_code *a, const struct cubin_code *b);

/* flow.c */
int assembled_flow(struct assembled_kernel *k, struct gs_error *why);
/* The block that is the function which an instruction calls; -1: it calls none, or one of several blocks. */
int32_t assembled_callee(const struct assembled_kernel *k, uint32_t instruction);

/* infer.c, infer.h: fills `origin` where there is no table of lines. */
int assembled_infer(struct assembled_kernel *k, struct gs_error *why);

/* accesses.c: once blocks have their owners, which access of those blocks each access of the machine makes, where lines do not say so. */
int assembled_infer_accesses(struct assembled_kernel *k, unsigned arch, struct gs_error *why);
/* parameters.c: which pointers among the kernel's parameters an access may go to, a bit for every 8 bytes of them. By instruction; 0: not known. */
int assembled_pointers(const struct assembled_kernel *k, unsigned arch, uint64_t *machine, uint64_t *ptx, struct gs_error *why);

/* uniform.c: which load of the PTX a ULDC makes, where lines do not say so. Blocks have their owners by then. */
int assembled_infer_uniform(struct assembled_kernel *k);
/* Whether the instruction loads constants of the program by an index that all lanes share, and the PTX's load is known. */
bool assembled_is_uniform(const struct assembled_kernel *k, uint32_t instruction);

/* yields.c: lanes that leave a loop with YIELD wait no more for those that stay. Changes the joins of *code. */
int assembled_yields(const struct assembled_kernel *k, struct kernel_code *code);

/* owners.c, with copies.c */
int assembled_owners(struct assembled_kernel *k, struct gs_error *why);
/* Whether every way from the begin to `block` of the PTX goes through `by`. `seen` and `stack` have room for its
 * blocks. */
bool assembled_dominates(const struct assembled_kernel *k, uint32_t by, uint32_t block, uint8_t *seen, uint32_t *stack);
/* The block of the PTX that alone leads to this one; -1: none or several do. */
int32_t assembled_only_previous(const struct kernel_code *c, uint32_t block);
/* rounds.c. All blocks have owners by then. */
void assembled_rounds(struct assembled_kernel *k);
/* checks.c */
int assembled_check(const struct assembled_kernel *k, struct gs_error *why);

/* copies.c. Blocks have their owners by then, but those that most instructions say nothing of. */
int assembled_copies(struct assembled_kernel *k, struct gs_error *why);

/* blocks.c. The caller frees with assembled_free, also after an error. */
int assembled_make(struct assembled_kernel *k, unsigned arch, const struct cubin_code *sass, struct gs_error *why);
void assembled_free(struct assembled_kernel *k);
bool assembled_is_access(uint8_t class);
uint32_t assembled_depth(const struct kernel_code *c, uint32_t block); /* loops around a block of the PTX */
/* What an instruction is for the models: its class, and its space and bytes if it accesses memory. */
struct sass_opcode assembled_class(const struct assembled_kernel *k, uint32_t instruction);

/* emit.c */
int assembled_emit(const struct assembled_kernel *k, struct kernel_code *code, struct gs_error *why);

#endif
