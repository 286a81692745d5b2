/* spawn: runs a program so that the application does not notice. */
#ifndef GPUSIM_RUNTIME_PROCESS_SPAWN_H
#define GPUSIM_RUNTIME_PROCESS_SPAWN_H

#include "runtime/base/base.h"

/* The program gets no open descriptors but the standard ones. The application gets no SIGCHLD, and no child that it could wait for.
 * What the program writes to stderr goes to *said. `environment` is NULL-terminated. */
int run_apart(const char *path, char *const *argv, char *const *environment, unsigned timeout_s, struct gs_buf *said,
              struct gs_error *err);

#endif
