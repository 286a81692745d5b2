/* launch_demand: what an estimate says of the room and the throughput that a launch takes, so that others can run beside it. */
#ifndef GPUSIM_RUNTIME_ESTIMATES_LAUNCH_DEMAND_H
#define GPUSIM_RUNTIME_ESTIMATES_LAUNCH_DEMAND_H

#include "models/models.h"
#include "runtime/timeline/demand.h"

struct command_demand launch_demand(const struct gpu *gpu, const struct launch_profile *launch, const struct estimate *e);

#endif
