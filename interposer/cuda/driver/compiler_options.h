/* compiler_options: what a program asks of the driver's compiler of PTX. Options that change no result and no time are not looked at. */
#ifndef GPUSIM_INTERPOSER_CUDA_DRIVER_COMPILER_OPTIONS_H
#define GPUSIM_INTERPOSER_CUDA_DRIVER_COMPILER_OPTIONS_H

#include "runtime/base/base.h"

/* CU_JIT_MAX_REGISTERS: the most registers of a thread. 0: not asked for. */
unsigned option_registers(unsigned count, const int *options, void *const *values);
/* Appends the text with .maxnreg for each kernel that has no bound of its own: such a kernel keeps it, as with the assembler's -maxrregcount. */
void bound_registers(struct gs_buf *out, const char *text, unsigned most);
/* Whether an image that a program loads is PTX, and neither a fat binary nor machine code. */
bool is_ptx(const void *image);

#endif
