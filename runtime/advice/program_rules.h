/* program_rules: advice about the program as a whole. */
#ifndef GPUSIM_RUNTIME_ADVICE_PROGRAM_RULES_H
#define GPUSIM_RUNTIME_ADVICE_PROGRAM_RULES_H

#include "runtime/advice/advice.h"

/* Fills `out`, at most ADVICE_PROGRAM, and of_ns: the time that each saving is of. Returns how many; with the lock of the statistics held. */
size_t advice_of_program(struct simulation *sim, size_t target, struct advice *out, double *of_ns);

#endif
