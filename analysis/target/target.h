/*
 * target: compiles annotated text (MARK_PROBE) with clang and the LLVM-C API to the PTX that a target would run.
 */
#ifndef GPUSIM_ANALYSIS_TARGET_TARGET_H
#define GPUSIM_ANALYSIS_TARGET_TARGET_H

#include "runtime/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct target_unit {
	const char *text; /* preprocessed, with probes */
	size_t length;
	const char *options; /* the -cl- options that change code, separated by blanks; others are ignored */
};

/* Compiles the units for `arch` ("sm_20"; "sm_20:vendor" with functions of mathematics as the vendor's library has them,
 * see analysis/builtins/builtins.h), links them with the library of builtins and returns PTX with its .pseudoprobe lines. A crash of the compiler is an error like any other: it runs in a child process. */
int target_compile(const struct target_unit *units, size_t count, const char *arch, struct gs_buf *ptx,
                   struct gs_error *err);

/* The same in steps, so that targets share clang's work on the program and then compile at once. A started job must be
 * finished, and the bitcode lives until all of them are; the units are not needed any more once there is bitcode. */
struct target_bitcode;
int target_bitcode_create(const struct target_unit *units, size_t count, struct target_bitcode **out,
                          struct gs_error *err);
void target_bitcode_free(struct target_bitcode *bitcode); /* may be NULL */

struct target_job;
int target_compile_start(const struct target_bitcode *bitcode, const char *arch, struct target_job **out,
                         struct gs_error *err);
int target_compile_finish(struct target_job *job, struct gs_buf *ptx, struct gs_error *err);

/* Whether PTX of ours says that a kernel never writes through its parameter, a pointer; false where that is not known. */
bool target_only_reads(const char *ptx, const char *kernel, unsigned parameter);

#endif
