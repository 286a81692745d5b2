/* What the files of the target compile share. */
#ifndef GPUSIM_ANALYSIS_TARGET_INTERNAL_H
#define GPUSIM_ANALYSIS_TARGET_INTERNAL_H

#include "analysis/target/target.h"
#include "runtime/base/tool.h"

#include <llvm-c/Types.h>

/* The PTX of this triple has OpenCL's kernel parameters (.ptr .global) and texture mode. */
#define TARGET_TRIPLE "nvptx64-nvidia-nvcl"

struct target_arch {
	unsigned number;
	const char *cpu;     /* as LLVM names it */
	const char *feature; /* the oldest PTX version that supports it */
	bool vendor;         /* use the vendor's library instead of libclc */
	bool machine;        /* the PTX will be turned into machine instructions */
};

/* The newest architecture that LLVM knows and that is not newer than `name`. This works because PTX also runs on later
 * architectures. A colon and the library may follow: "sm_70:vendor". Without them, the library is libclc. */
int target_arch_find(const char *name, struct target_arch *out, struct gs_error *err);

/* analysis/target/prelude.c: OpenCL C text that is put before every unit. It has builtins that NVPTX or libclc lack. */
extern const char target_prelude[];

/* What a program's options demand of the code, beyond what clang's front end does for them. */
struct target_settings {
	bool optimise;
	bool relaxed;           /* functions may be less accurate: -cl-fast-relaxed-math, -cl-unsafe-math-optimizations */
	bool flushes_denormals; /* in single precision: -cl-denorms-are-zero */
	bool correctly_rounded; /* single-precision division and square root */
};

/* analysis/target/bitcode.c */
struct target_bitcode {
	char *folder; /* the folder of its files */
	struct words files;
	struct target_settings settings;
};

/* analysis/target/module.c: links bitcode files, optimises them and writes PTX. LLVM's fatal errors end the process. */
int target_module_ptx(char *const *files, size_t count, const struct target_arch *arch,
                      const struct target_settings *settings, struct gs_buf *ptx, struct gs_error *err);

/* analysis/target/arguments.c: writes the comments that target_only_reads() looks for. The module must be optimised. */
void target_write_only_read(LLVMModuleRef module, struct gs_buf *ptx);

/* analysis/target/library.c: gives library functions their form on the target. */
void target_library(LLVMModuleRef module, const struct target_arch *arch, bool relaxed);
/* A function with an empty block. It replaces `function` in all its uses. */
LLVMValueRef target_replacement(LLVMModuleRef module, LLVMValueRef function);
/* "sin" for _Z3sinf. False: the symbol is not mangled. */
bool target_mangled_name(const char *symbol, char *out, size_t size);

/* analysis/target/atomics.c: replaces the declared `function` if it is an atomic, a fence or a barrier. */
bool target_atomic(LLVMModuleRef module, LLVMValueRef function, const char *symbol, const char *name,
                   const struct target_arch *arch);

#endif
