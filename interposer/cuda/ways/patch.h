/* patch: machine code that goes from one function to another, for x86_64 and aarch64. */
#ifndef GPUSIM_INTERPOSER_CUDA_WAYS_PATCH_H
#define GPUSIM_INTERPOSER_CUDA_WAYS_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum patch_machine { PATCH_X86_64, PATCH_AARCH64 };
enum { PATCH_MOST_BYTES = 16 };

/* A branch that fits into the shortest function. Writes it to `out` and returns its bytes; 0: `to` is too far from `from`. */
size_t patch_branch(enum patch_machine machine, uint64_t from, uint64_t to, uint8_t out[PATCH_MOST_BYTES]);
/* A jump to anywhere, of PATCH_MOST_BYTES. */
void patch_jump(enum patch_machine machine, uint64_t to, uint8_t out[PATCH_MOST_BYTES]);
/* How far a branch reaches, with some room left. */
uint64_t patch_reach(enum patch_machine machine);

#endif
