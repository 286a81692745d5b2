/* chance: bank conflicts of lanes whose addresses in shared memory are not known. */
#ifndef GPUSIM_MODELS_WARPS_CHANCE_H
#define GPUSIM_MODELS_WARPS_CHANCE_H

#include <stdint.h>

enum { CHANCE_LANES = 128 }; /* the most that a description may say (warp_size) */

/* For n = 0 to `lanes`, at most CHANCE_LANES, means[n]: how many different words the fullest bank is asked for, on average, when each of n
 * lanes takes one of `words` words by chance. */
void chance_fullest_bank(uint32_t lanes, uint32_t banks, uint64_t words, double *means);

#endif
