/* most_bytes: a bound of the memory that a launch uses of each argument, from its counters and its code alone. */
#ifndef GPUSIM_MODELS_MOST_BYTES_H
#define GPUSIM_MODELS_MOST_BYTES_H

#include "models/models.h"

enum { MOST_BYTES_ARGUMENTS = 32 };
struct most_bytes {
	double of[MOST_BYTES_ARGUMENTS]; /* that work-items ask for at addresses which depend on the argument; what is asked for again counts again */
	double elsewhere;                /* at addresses of which nobody knows where they are */
};

/* `pointers`: bit a: argument a is one; others are numbers. stored: of stores and atomics alone. INFINITY where it is not known. */
struct most_bytes launch_most_bytes(const struct launch_profile *launch, uint32_t pointers, bool stored);

#endif
