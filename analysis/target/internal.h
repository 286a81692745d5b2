/* What the files of the target compile share. */
#ifndef GPUSIM_ANALYSIS_TARGET_INTERNAL_H
#define GPUSIM_ANALYSIS_TARGET_INTERNAL_H

#include "analysis/target/target.h"
#include "runtime/base/tool.h"

#include <llvm-c/Types.h>

/* The triple whose PTX has OpenCL's kernel parameters (.ptr .global) and texture mode. */
#define TARGET_TRIPLE "nvptx64-nvidia-nvcl"

struct target_arch {
	unsigned number;
	const char *cpu;     /* as LLVM names it */
	const char *feature; /* the oldest PTX version that has it */
	bool vendor;         /* the vendor's library, not libclc's */
	bool machine;        /* machine instructions will be made of the PTX */
};

/* The newest architecture that LLVM knows and that is not newer than `name`: PTX runs on later ones too. A colon
 * and the library may follow: "sm_70:vendor"; it is libclc when none does. */
int target_arch_find(const char *name, struct target_arch *out, struct gs_error *err);

/* analysis/target/prelude.c: OpenCL C put in front of every unit; builtins that NVPTX or libclc lack. */
extern const char target_prelude[];

/* What the options of a program's units ask of the code, beyond what clang's front end does about them. */
struct target_settings {
	bool optimise;
	bool relaxed;           /* functions may be less accurate: -cl-fast-relaxed-math, -cl-unsafe-math-optimizations */
	bool flushes_denormals; /* of single precision: -cl-denorms-are-zero */
	bool correctly_rounded; /* single-precision division and square root */
};

/* analysis/target/bitcode.c */
struct target_bitcode {
	char *folder; /* of its files */
	struct words files;
	struct target_settings settings;
};

/* analysis/target/module.c: links bitcode files, optimises them and writes PTX. May end the process: LLVM's fatal errors. */
int target_module_ptx(char *const *files, size_t count, const struct target_arch *arch,
                      const struct target_settings *settings, struct gs_buf *ptx, struct gs_error *err);

/* analysis/target/arguments.c: comments for target_only_reads, of a module that has been optimised. */
void target_write_only_read(LLVMModuleRef module, struct gs_buf *ptx);

/* analysis/target/library.c: gives library functions the form they have on the target. */
void target_library(LLVMModuleRef module, const struct target_arch *arch, bool relaxed);
/* A function with an empty block to take the place of `function` in all its uses. */
LLVMValueRef target_replacement(LLVMModuleRef module, LLVMValueRef function);
/* "sin" of _Z3sinf; false when the symbol is not mangled. */
bool target_mangled_name(const char *symbol, char *out, size_t size);

/* analysis/target/atomics.c: replaces the declared `function` when it is an atomic, a fence or a barrier. */
bool target_atomic(LLVMModuleRef module, LLVMValueRef function, const char *symbol, const char *name,
                   const struct target_arch *arch);

#endif
