/*
 * cubin: what an assembler made of a module, read from its ELF file.
 *
 * ptxas writes one section of machine code per kernel (.text.NAME), with the registers, shared memory and stack that it takes. With
 * -lineinfo there is also a table from machine instructions to lines of the PTX (.nv_debug_line_sass). The bytes are not trusted:
 * whatever they are, nothing is read beyond them, and all that is kept is bounded by their number.
 */
#ifndef GPUSIM_ANALYSIS_SASS_CUBIN_H
#define GPUSIM_ANALYSIS_SASS_CUBIN_H

#include "runtime/base/base.h"

enum { CUBIN_WORD = 16 }; /* bytes of an instruction from sm_70 on */

/* A function of the assembler's own, in the code of the kernel that calls it. */
struct cubin_function {
	const char *name; /* in the bytes: $__internal_0_$__cuda_sm20_div_u64 */
	uint64_t at;      /* byte of the code */
};

/* The machine code of one section. */
struct cubin_code {
	const char *name;       /* of the kernel, or of a function of its own; in the bytes */
	const uint8_t *bytes;   /* in the bytes that were read */
	uint32_t instructions;  /* of CUBIN_WORD bytes each */
	bool kernel;            /* it can be launched */
	uint32_t registers;     /* per thread; 0: the file does not say */
	uint32_t shared_bytes;  /* declared, per group */
	uint32_t stack_bytes;   /* per thread: private arrays and spills */
	struct cubin_function *functions;
	uint32_t function_count;
	uint32_t *lines;        /* per instruction: line of the PTX, 0: not known; NULL: there is no table */
};

struct cubin {
	uint32_t arch; /* 90 of sm_90 */
	struct cubin_code *codes;
	size_t count;
};

/* -EINVAL: the bytes are no ELF file of NVIDIA's for sm_70 or later. -EBADMSG: they are damaged. The result refers to `data`; the caller
 * frees it with cubin_free. */
int cubin_read(const void *data, size_t bytes, struct cubin *out, struct gs_error *err);
void cubin_free(struct cubin *c);
const struct cubin_code *cubin_find(const struct cubin *c, const char *kernel); /* or NULL */

/* lines.c: goes through a table of lines (DWARF 2 to 4). For every row that stands for instructions, calls `row` with where the sequence's
 * address stands in the section, the offset from there, and the line; line 0 ends a sequence. -EBADMSG: it is damaged. */
typedef void cubin_row(void *context, size_t address_at, uint64_t offset, uint32_t line);
int cubin_walk_lines(const uint8_t *section, size_t bytes, cubin_row *row, void *context);

#endif
