/* Where gpusim-cc is, for the library and for the command. */
#ifndef GPUSIM_RUNTIME_CONFIG_CC_PATH_H
#define GPUSIM_RUNTIME_CONFIG_CC_PATH_H

#include "runtime/base/base.h"

/* `chosen` (GPUSIM_CC) if it is not empty. Otherwise the gpusim-cc beside the file `own`, or the one where `make install` puts
 * it. `path` has PATH_MAX bytes. */
int cc_path(const char *chosen, const char *own, char *path, struct gs_error *err);

#endif
