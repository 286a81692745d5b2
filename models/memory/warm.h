/* warm: what L2 holds when the part of a launch that is simulated begins. */
#ifndef GPUSIM_MODELS_MEMORY_WARM_H
#define GPUSIM_MODELS_MEMORY_WARM_H

#include "models/accesses/requests.h"

#include <stdbool.h>
#include <stddef.h>

/* Called for each line; the line that leaves a cache first comes first. An address that no launch has is a line that is not asked for again. */
typedef void warm_fn(void *ctx, uint64_t address, bool dirty);

/* ranges: what the launch touches; capacity and line in bytes. steady: what follows is a part of the launch, else its begin. */
void warm_lines(const struct memory_range *ranges, size_t count, uint64_t capacity, uint64_t line, bool steady, warm_fn *on_line,
                void *ctx);

#endif
