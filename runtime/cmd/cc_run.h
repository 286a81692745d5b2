/* cc_run: gpusim-cc, run by the command for itself. */
#ifndef GPUSIM_RUNTIME_CMD_CC_RUN_H
#define GPUSIM_RUNTIME_CMD_CC_RUN_H

#include "runtime/base/base.h"

/* gpusim-cc's answer (runtime/format/protocol.h) to the bytes of a request; the caller frees *result. */
int cc_run(const struct gs_buf *request, struct gs_pack *result, struct gs_error *err);

#endif
