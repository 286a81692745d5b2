/* most_bytes: a bound of the memory that a launch uses, from its counters alone. */
#ifndef GPUSIM_MODELS_MOST_BYTES_H
#define GPUSIM_MODELS_MOST_BYTES_H

#include "models/models.h"

/* Bytes that the work-items ask for, those that are asked for again counted again; INFINITY where it is not known. */
double launch_most_bytes(const struct launch_profile *launch);
/* The same of stores and atomics. */
double launch_most_stored(const struct launch_profile *launch);

#endif
