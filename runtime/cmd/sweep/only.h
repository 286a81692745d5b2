/* --only LAUNCHES: which launches of a profile are modelled: "3,7-9" by their numbers in reports, or shell patterns of kernels' names. */
#ifndef GPUSIM_RUNTIME_CMD_SWEEP_ONLY_H
#define GPUSIM_RUNTIME_CMD_SWEEP_ONLY_H

#include <stdbool.h>
#include <stdint.h>

/* Takes "--only LAUNCHES" or "--only=LAUNCHES". Returns how many words it took; 0: it is something else; -1: after a complaint. */
int only_argument(const char *command, int argc, char **argv, const char **only);
/* NULL: all. */
bool only_takes(const char *only, uint64_t launch, const char *kernel);

#endif
