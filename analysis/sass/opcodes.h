/*
 * opcodes: what the machine instructions of NVIDIA GPUs are, by their names, in the classes of models/code/code.h.
 *
 * Traces of other tools and disassemblers name an instruction by its opcode and suffixes: LDG.E.128.SYS, IMAD.WIDE.U32,
 * HMMA.16816.F32. The opcode gives class and space (analysis/sass/opcodes.def); suffixes give the size of an access, the registers of a result,
 * and the steps of a product of matrices.
 */
#ifndef GPUSIM_ANALYSIS_SASS_OPCODES_H
#define GPUSIM_ANALYSIS_SASS_OPCODES_H

#include "models/code/code.h"

enum sass_flags {
	SASS_LOAD = 1,
	SASS_STORE = 2,
	SASS_ATOMIC = 4,
	SASS_BARRIER = 8,    /* waits for other warps of the group */
	SASS_BRANCH = 16,    /* what follows may stand elsewhere */
	SASS_CALL = 32,
	SASS_RETURN = 64,
	SASS_EXIT = 128,
	SASS_UNIFORM = 256,  /* of the uniform datapath: once per warp */
	SASS_COPY = 512,     /* from global to shared memory, without registers */
	SASS_BULK = 1024,    /* a copy by a unit of its own (TMA): in traces, its addresses have a form of their own */
	SASS_WIDE = 2048,    /* the result has two registers, or more by its suffixes */
	SASS_D8 = 4096,      /* accesses 8 bytes unless a suffix says otherwise */
	SASS_PREDICATE = 8192, /* writes predicates */
};

struct sass_opcode {
	const char *name;  /* the opcode without suffixes as the table has it; NULL: not in the table */
	uint8_t class;     /* enum code_class; of an unknown one, its pipe's most usual */
	uint8_t space;     /* enum code_space */
	uint8_t bytes;     /* of an access: per lane */
	uint8_t elements;  /* as in struct code_instruction */
	uint8_t results;   /* registers that its result takes, if it has one: 1, 2 or 4 */
	uint16_t flags;    /* enum sass_flags */
};

/* Never fails: of an opcode that is not in the table, the first letters tell a pipe. A guard (@P0, @!P0) may stand before the name. */
struct sass_opcode sass_look_up(const char *opcode);

#endif
