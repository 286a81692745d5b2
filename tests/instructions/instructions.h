/*
 * Runs single PTX instructions, lifted, on an OpenCL device, and compares registers with expected values. Cases are text:
 *
 *   > add.s32 %r0, %r1, %r2; ...        a form: one or more instructions
 *   7fffffff 1 = 80000000               a case: registers that are read before they are written, in the order of the text; then those
 *                                       that are written
 *
 * Up to 32 cases of a form are the lanes of one warp; of instructions that work across lanes, exactly the given ones are on.
 * Values: hexadecimal bits; i:-5 f:1.5 d:1.5; g+8 (address in global memory), S+8 (generic address in shared), L+8 (generic in local),
 * P (of the parameters), V (of the variables). Expected values also: nan (any), ? (anything), 3f800000~2 (within 2 ulp).
 * Registers: %p %h (16 bits) %r %rd %f %fd %q (128 bits). Variables: parameters p0 p1 p2, gvar, cvar, sh (shared), lo (local).
 */
#ifndef GPUSIM_TESTS_INSTRUCTIONS_INSTRUCTIONS_H
#define GPUSIM_TESTS_INSTRUCTIONS_INSTRUCTIONS_H

#include "runtime/base/base.h"

/* Appends forms and cases whose expected values the host computes in its own rounding modes. */
void write_rounding_cases(struct gs_buf *out);

#endif
