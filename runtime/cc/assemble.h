/* The machine code of a target, by NVIDIA's assembler where that is found. */
#ifndef GPUSIM_RUNTIME_CC_ASSEMBLE_H
#define GPUSIM_RUNTIME_CC_ASSEMBLE_H

#include "analysis/ptx/ptx.h"
#include "analysis/sass/cubin.h"

struct assembled_module {
	struct gs_buf bytes;
	struct cubin cubin;  /* in the bytes */
	bool there;
	struct gs_error why; /* why it is not there */
};

/* Assembles PTX, with or without probes, for a target (target_name.h). Does nothing for a target that does not want it. */
void assemble(const char *ptx, size_t length, const struct ptx_module *module, const char *target, struct assembled_module *out);
void assembled_module_free(struct assembled_module *a);
/* Gives the kernel's code the machine code, where that fits. final: the PTX is what the target's driver assembles, so that registers are those of the
 * machine code also where the rest does not fit. `section` is a section "target" and gets a line with what was used: see protocol.h. */
void assemble_kernel(const struct assembled_module *a, const struct ptx_module *module, const char *kernel, const char *target, bool final,
                     struct kernel_code *code, struct gs_buf *section);

#endif
