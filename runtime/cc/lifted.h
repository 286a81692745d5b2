/* The results of requests for CUDA modules: lifted kernels, and their code on every target. See protocol.h. */
#ifndef GPUSIM_RUNTIME_CC_LIFTED_H
#define GPUSIM_RUNTIME_CC_LIFTED_H

#include "analysis/fatbin/fatbin.h"
#include "analysis/mapping/mapping.h"
#include "annotator/lift/lift.h"

/* Fills *result for a request with a section "fatbin". On failure *stage is the first word of the section "failure". */
int lifted_request(const struct gs_pack *request, struct gs_pack *result, const char **stage, struct gs_error *err);

/* lifted_tables.c: the sections about rows, sites and kernels (from kernels to loops in protocol.h), and those of the module itself
 * (lifted, image). */
void lifted_write_tables(const struct lifted *l, struct gs_pack *result);

/* lifted_targets.c: the sections target, code and ptx, for every target. image: what the PTX is from, which may have machine code as well. */
int lifted_write_targets(const struct lifted *l, char *const *archs, size_t count, const struct gs_buf *ptx, const struct fatbin *image,
                         struct gs_pack *result, struct gs_error *err);

#endif
