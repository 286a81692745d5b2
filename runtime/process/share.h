/* share: pieces of one job that threads of a crew do at the same time. */
#ifndef GPUSIM_RUNTIME_PROCESS_SHARE_H
#define GPUSIM_RUNTIME_PROCESS_SHARE_H

#include "runtime/process/crew.h"

#include <stddef.h>

/*
 * Calls `piece` with 0 to count - 1, in that order, on this thread and on those of the crew that are free meanwhile (NULL: on this thread
 * alone). Returns when all are done. A job of the crew may call it: what nobody else takes, it does itself. priority: as of crew_add.
 */
void crew_share(struct crew *p, double priority, size_t count, void (*piece)(void *ctx, size_t i), void *ctx);

#endif
