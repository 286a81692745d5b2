/* start: the runtime's beginning and end in the application's process. */
#ifndef GPUSIM_RUNTIME_GUEST_START_H
#define GPUSIM_RUNTIME_GUEST_START_H

#include "runtime/guest/cl.h"
#include "runtime/model/simulation.h"

#include <stdbool.h>

/* The one of this process: OpenCL's entry points have no parameter for it. */
extern struct simulation simulation;

/* Our exit handler runs before all that were registered up to now. */
void run_first_at_exit(void);
/* exit() has been called, and our handler has begun. */
bool program_is_ending(void);
/* Whether GPUSIM_DEVICE lets this device run twins. */
bool device_wanted(cl_device_id device);

#endif
