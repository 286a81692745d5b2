/* Which devices run twins. */
#ifndef GPUSIM_RUNTIME_GUEST_DRIVER_DEVICE_H
#define GPUSIM_RUNTIME_GUEST_DRIVER_DEVICE_H

#include "runtime/guest/driver/cl.h"

#include <stdbool.h>

/* Whether GPUSIM_DEVICE lets this device run twins. */
bool device_wanted(cl_device_id device);
/* A CPU, whose driver compiles kernels with a compiler like POCL's. */
bool device_is_cpu(cl_device_id device);

#endif
