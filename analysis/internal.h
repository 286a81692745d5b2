/* What the files of the target compile share. */
#ifndef GPUSIM_ANALYSIS_INTERNAL_H
#define GPUSIM_ANALYSIS_INTERNAL_H

#include "analysis/analysis.h"

/* The triple whose PTX has OpenCL's kernel parameters (.ptr .global) and texture mode. */
#define TARGET_TRIPLE "nvptx64-nvidia-nvcl"

struct target_arch {
	unsigned number;
	const char *cpu;     /* as LLVM names it */
	const char *feature; /* the oldest PTX version that has it */
};

/* The newest architecture that LLVM knows and that is not newer than `name`: PTX runs on later ones too. */
int target_arch_find(const char *name, struct target_arch *out, struct gs_error *err);

/* target_prelude.c: OpenCL C put in front of every unit; builtins that NVPTX or libclc lack. */
extern const char target_prelude[];

/* target_module.c: links bitcode files, optimises them and writes PTX. May end the process: LLVM's fatal errors. */
int target_module_ptx(char *const *files, size_t count, const struct target_arch *arch, bool optimise,
                      struct gs_buf *ptx, struct gs_error *err);

#endif
