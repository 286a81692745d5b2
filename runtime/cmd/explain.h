/* What the files of `gpusim explain` share. */
#ifndef GPUSIM_EXPLAIN_H
#define GPUSIM_EXPLAIN_H

#include "runtime/base/base.h"

/* explain_compile.c: gpusim-cc's answer (runtime/cc/protocol.h) to a source file that no program gave it. `options` are
 * build options, the folder of the file being the last place for its includes. A program that does not compile is an
 * error with clang's first message. The caller frees *result. */
int explain_compile(const char *file, const struct gs_buf *source, const char *options, const char *arch,
                    struct gs_pack *result, struct gs_error *err);

#endif
