/*
 * observed: the code of a kernel from what warps were seen to execute.
 *
 * A trace has machine instructions with their addresses (program counters) and lanes, one after the other, and no control flow. What each lane
 * executes next makes the flow: an instruction that some lanes skip has two ways around it, whether by a branch or by a predicate. Basic
 * blocks are chains that every lane which enters them executes to the end.
 *
 * Use: observed_begin, observed_execute and observed_end for each warp; then observed_finish. Code that was finished tells of an
 * instruction which block begins with it (observed_block), and which counter counts a way between two blocks (observed_edge).
 */
#ifndef GPUSIM_ANALYSIS_SASS_OBSERVED_H
#define GPUSIM_ANALYSIS_SASS_OBSERVED_H

#include "analysis/sass/opcodes.h"

enum {
	OBSERVED_LANES = 32,
	OBSERVED_SOURCES = 8,
	OBSERVED_NONE = UINT32_MAX,
	OBSERVED_MOST = 1 << 18, /* instructions of a kernel: more than assemblers make */
	OBSERVED_MOST_EDGES = 1 << 20,
};

struct observed_instruction {
	uint64_t pc;
	uint32_t mask;
	int16_t result;                    /* register, or -1 */
	uint8_t source_count;
	int16_t sources[OBSERVED_SOURCES];
	const char *opcode;                /* with suffixes; opcode_length bytes */
	size_t opcode_length;
	bool addresses;                    /* it has some: of an access */
	bool off;                          /* an access that no lane makes */
	uint8_t space;                     /* enum code_space of the address of its first lane, for opcodes that do not say */
};

struct observed_code;
struct observed_code *observed_new(void); /* NULL when out of memory */
void observed_free(struct observed_code *c); /* NULL is fine */

/* A warp as it goes on. */
struct observed_warp {
	uint32_t last[OBSERVED_LANES]; /* what each lane has executed last; OBSERVED_NONE: nothing */
};
void observed_begin(struct observed_warp *w);
/* Returns the number of the instruction, or a negative errno value: -ENOMEM; -EFBIG: it is too large for a kernel; -EEXIST: another instruction
 * was seen at this place. */
int64_t observed_execute(struct observed_code *c, struct observed_warp *w, const struct observed_instruction *i);
int observed_end(struct observed_code *c, struct observed_warp *w);

/* Opcodes that the table does not have. */
typedef void observed_unknown_fn(void *ctx, const char *opcode, uint64_t times);
void observed_unknown(const struct observed_code *c, observed_unknown_fn *tell, void *ctx);

/* Makes blocks. The code then has counters: one for each block, and one for each way out of a block that has several, except its last. No
 * warps may come after that. step: bytes from one instruction of the machine to the next, so that those that were never executed
 * keep their places in the lines of the instruction cache, and numbers of registers tell banks; 0: this is no machine's code. Returns 0 or a negative errno value. */
int observed_finish(struct observed_code *c, uint32_t registers, uint32_t step, struct kernel_code **out, struct gs_error *err);
/* The number of an instruction; OBSERVED_NONE: it was not seen. */
uint32_t observed_find(const struct observed_code *c, uint64_t pc);
/* The block that begins with an instruction; OBSERVED_NONE: none does. */
uint32_t observed_block(const struct observed_code *c, uint32_t instruction);
/* The block that an instruction is in. */
uint32_t observed_block_of(const struct observed_code *c, uint32_t instruction);
/* Its place among the accesses, counted from 0: what struct code_instruction has as site; OBSERVED_NONE: it is none. */
uint32_t observed_site(const struct observed_code *c, uint32_t instruction);
/* The counter of the way from one block to another (OBSERVED_NONE: out of the kernel); OBSERVED_NONE: it has none of its own. */
uint32_t observed_edge(const struct observed_code *c, uint32_t from, uint32_t to);
/* A block before all others, for lanes that begin at different instructions; OBSERVED_NONE: they do not. */
uint32_t observed_entry(const struct observed_code *c);

#endif
