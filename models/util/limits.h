/*
 * limits: how much work one launch may cost. Longer paths are cut, and what was walked stands for the rest. Fuzz targets are
 * compiled with smaller limits, so that they try more inputs in the same time.
 */
#ifndef GPUSIM_MODELS_UTIL_LIMITS_H
#define GPUSIM_MODELS_UTIL_LIMITS_H

#ifndef MODEL_MOST_BLOCKS
#define MODEL_MOST_BLOCKS (1 << 24) /* executions of blocks, of all lanes or warps that are walked: 64 MB */
#endif
#ifndef MODEL_BUDGET
#define MODEL_BUDGET 4000000 /* instructions of warps that are simulated one by one: about a second */
#endif

#endif
