/* The simulation of this process. OpenCL's entry points have no parameter for it, so there is one object. */
#ifndef GPUSIM_RUNTIME_GUEST_DRIVER_SIMULATION_H
#define GPUSIM_RUNTIME_GUEST_DRIVER_SIMULATION_H

#include "runtime/model/simulation.h"

extern struct simulation simulation;

#endif
