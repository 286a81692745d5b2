/* cc_run: runs gpusim-cc for the command itself. */
#ifndef GPUSIM_RUNTIME_CMD_CC_RUN_H
#define GPUSIM_RUNTIME_CMD_CC_RUN_H

#include "runtime/base/base.h"

/* Gets gpusim-cc's answer (runtime/format/protocol.h) to the bytes of a request. The caller frees *result. */
int cc_run(const struct gs_buf *request, struct gs_pack *result, struct gs_error *err);

#endif
