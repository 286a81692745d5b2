/* The machine code of a target: what a program has itself, or what NVIDIA's assembler makes of its PTX where that is found. */
#ifndef GPUSIM_RUNTIME_CC_ASSEMBLE_H
#define GPUSIM_RUNTIME_CC_ASSEMBLE_H

#include "analysis/ptx/ptx.h"
#include "runtime/cc/own_code.h"

struct assembled_module {
	struct gs_buf bytes;
	struct cubin cubin;  /* in the bytes */
	bool wanted, there;
	struct gs_error why; /* why it is not there */
};

/* Assembles PTX, with or without probes, for a target. Does nothing for a target that does not want it (target_wants_assembled). */
void assemble(const char *ptx, size_t length, const struct ptx_module *module, const char *target, bool of_program, struct assembled_module *out);
void assembled_module_free(struct assembled_module *a);
/*
 * Gives the kernel's code the machine code, where that fits: the program's own, else the assembler's. own: NULL for PTX that no driver assembles as
 * it is (OpenCL's, from clang). Otherwise registers and shared memory are those of the machine code also where the rest does not fit, and those of
 * the program's own even where the target wants selected code. `section` is a section "target" and gets a line with what was used: see protocol.h.
 */
void assemble_kernel(const struct assembled_module *a, const struct own_code *own, const struct ptx_module *module, const char *kernel, struct kernel_code *code,
                     struct gs_buf *section);

#endif
