/*
 * target: compiles annotated text (MARK_PROBE) with clang and the LLVM-C API. The result is the PTX that a target would run.
 */
#ifndef GPUSIM_ANALYSIS_TARGET_TARGET_H
#define GPUSIM_ANALYSIS_TARGET_TARGET_H

#include "runtime/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct target_unit {
	const char *text; /* preprocessed text, with probes */
	size_t length;
	const char *options; /* the -cl- options that change code, separated by blanks; others are ignored */
};

/* Compiles the units for `arch` ("sm_20"), links them with the library of builtins and returns PTX with its .pseudoprobe lines.
 * With "sm_20:vendor", functions of mathematics are those of the vendor's library; see analysis/builtins/builtins.h. The
 * compiler runs in a child process, so a crash of the compiler is an error like any other. */
int target_compile(const struct target_unit *units, size_t count, const char *arch, struct gs_buf *ptx,
                   struct gs_error *err);

/* The same in steps. Targets share clang's work on the program, and then compile at the same time. Every started job must be
 * finished. The bitcode must live until all jobs are finished. The units are not needed any more once there is bitcode. */
struct target_bitcode;
int target_bitcode_create(const struct target_unit *units, size_t count, struct target_bitcode **out,
                          struct gs_error *err);
void target_bitcode_free(struct target_bitcode *bitcode); /* may be NULL */

struct target_job;
int target_compile_start(const struct target_bitcode *bitcode, const char *arch, struct target_job **out,
                         struct gs_error *err);
int target_compile_finish(struct target_job *job, struct gs_buf *ptx, struct gs_error *err);

/* Whether our PTX says that a kernel never writes through its parameter, a pointer. False: it is not known. */
bool target_only_reads(const char *ptx, const char *kernel, unsigned parameter);

#endif
