/*
 * decode: machine instructions of sm_70 to sm_90 as data. An instruction has 128 bits:
 *
 *   0-11 opcode, of which 9-11 say what the operands are   12-15 predicate (7: always; bit 15: negated)
 *   16-23 Rd   24-31 Ra   32-39 Rb, or an immediate of 32 bits, or a place of a constant   64-71 Rc
 *   105-108 stall   109 yield (0: yes)   110-112 write barrier   113-115 read barrier   116-121 wait mask   122-124 reuse of Ra, Rb, Rc
 *
 * The assembler decides when an instruction may issue: the next one of its warp `stall` cycles later at the earliest. An instruction whose
 * time is not known beforehand counts a barrier up and gives it back when its result is there (write barrier) or its operands were read
 * (read barrier). An instruction waits until the barriers of its mask are all at 0. Sources: Jia et al., "Dissecting the NVIDIA Volta GPU
 * architecture via microbenchmarking", 2018; Huerta et al., "Analyzing Modern NVIDIA GPU cores", 2025; checked against nvdisasm 13.0.
 */
#ifndef GPUSIM_ANALYSIS_SASS_DECODE_H
#define GPUSIM_ANALYSIS_SASS_DECODE_H

#include "runtime/base/base.h"

enum {
	SASS_RZ = 255,     /* the register that is zero */
	SASS_URZ = 63,     /* the uniform register that is zero */
	SASS_PT = 7,       /* the predicate that is true */
	SASS_NO_BARRIER = 7, SASS_BARRIERS = 6,
	SASS_MOST_REGISTERS = 16, /* that an instruction reads */
	SASS_TID = 0x21,   /* the special register %tid.x */
};

/* How control flow goes on. */
enum sass_flow {
	SASS_GOES_ON,
	SASS_BRANCHES,   /* to `target`; otherwise on, if it is under a predicate */
	SASS_JUMPS,      /* somewhere that the instruction does not say */
	SASS_CALLS,      /* `target`, or somewhere (-1), and comes back */
	SASS_ENDS,       /* EXIT, a trap (BPT), or RET of a function */
	SASS_GATHERS,    /* BSSY: lanes that part come together at `target` */
};

struct sass_instruction {
	const char *name;  /* "FFMA", without suffixes; NULL: not in the table */
	uint16_t opcode;   /* bits 0-11 */
	uint8_t predicate; /* SASS_PT: always */
	bool negated;
	uint8_t stall;     /* cycles; 0 or 1: none */
	bool yield;
	uint8_t write_barrier, read_barrier; /* SASS_NO_BARRIER: none */
	uint8_t wait_mask; /* a bit for each barrier */
	uint8_t reuse;     /* bit 0: Ra, 1: Rb, 2: Rc */
	uint8_t flow;      /* enum sass_flow */
	bool conditional;  /* lanes may go on instead: it is under a predicate, or a branch has one as its operand */
	bool for_parted;   /* a branch that is taken only where lanes of a mask are not together (BRA.DIV) */
	int64_t target;    /* byte in its code; -1: none, or not known */
	uint8_t special;   /* of S2R: the number of the register; SASS_TID, and one and two more, are %tid. Of DEPBAR: how many may be under way */
	uint8_t bytes;     /* of an access to memory: per lane; 0: none */
	int32_t offset;    /* of an access to memory: bytes that are added to its address register */
	int32_t constant;  /* byte of bank 0, where parameters are, that is an operand; -1: none */
	bool indexed;      /* ULDC of the program's constants, by a uniform register */
	uint8_t uniform;   /* uniform register that is an operand in place of another; SASS_URZ: none */
	uint8_t results;   /* registers from `result` on that it writes; 0: none */
	uint8_t result;
	uint8_t reads;     /* vector registers that it reads, without RZ */
	uint8_t registers[SASS_MOST_REGISTERS];
	uint8_t kept;      /* of the first eight of them, those that `reuse` is of: a bit each */
};

/* Of the instruction at byte `at` of code for sm_`arch`: 16 bytes. Never fails; what is not known has no name. */
void sass_decode(const uint8_t *word, unsigned arch, uint64_t at, struct sass_instruction *out);

#endif
