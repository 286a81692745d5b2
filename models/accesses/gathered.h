/* gathered: atomic operations of a warp on one address, of which the assembler makes one operation of one lane. */
#ifndef GPUSIM_MODELS_ACCESSES_GATHERED_H
#define GPUSIM_MODELS_ACCESSES_GATHERED_H

#include "models/code/code.h"
#include "models/gpu/gpu.h"

#include <stdbool.h>

/* Whether the lanes of this instruction send one operation together. */
bool is_gathered(const struct gpu *gpu, const struct kernel_code *code, const struct code_instruction *in);

#endif
