/* Kernel code for the models' tests, written instruction by instruction. */
#ifndef GPUSIM_TESTS_MODELS_CODE_BUILDER_H
#define GPUSIM_TESTS_MODELS_CODE_BUILDER_H

#include "models/code/code.h"
#include "models/gpu/gpu.h"

enum { BUILD_MAX = 256, BUILD_REGISTERS = 64 };

/* One kernel. Register n has the number n and one word. Each block has an edge to the next block. The last block's edge leads
 * out. */
struct built_code {
	struct kernel_code code;
	struct code_instruction instructions[BUILD_MAX];
	uint16_t operands[BUILD_MAX * 8];
	struct code_register registers[BUILD_REGISTERS];
	struct code_block blocks[BUILD_MAX];
	struct code_edge edges[BUILD_MAX];
};

/* An empty kernel with one empty block. */
void build_start(struct built_code *b);
/* Begins another block. */
void build_block(struct built_code *b);
/*
 * Appends an instruction to the last block. `operands` is "written <- read read ? waited", for example "3 <- 1 2 2 ? 7"; "" if
 * there are none. Returns the instruction, so that the caller can set the rest.
 */
struct code_instruction *build(struct built_code *b, enum code_class class, const char *operands);
struct code_instruction *build_memory(struct built_code *b, enum code_class class, enum code_space space,
                                      const char *operands);
/* One of the shipped descriptions. */
struct gpu test_gpu(const char *name, const char *overrides);

#endif
