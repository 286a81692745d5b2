/*
 * kept: what L2 keeps from one launch to the next, where a launch asks for more than L2 surely holds.
 *
 * L2 in partitions (l2_partitions) keeps lines that SMs of several partitions ask for in each of them, so it surely holds
 * l2_bytes / l2_partitions. A launch that asks for more than that, and for no more than l2_bytes, finds a part of it again.
 */
#ifndef GPUSIM_MODELS_TRAFFIC_KEPT_H
#define GPUSIM_MODELS_TRAFFIC_KEPT_H

#include "models/gpu/gpu.h"

/* Bytes of L2 that a launch has which asks for so many. */
uint64_t kept_room(const struct gpu *gpu, uint64_t bytes);
/* The share of them that it finds there, when it is launched again and again. shared: groups ask for lines of others. */
double kept_share(const struct gpu *gpu, uint64_t bytes, bool shared);
/* The share of loads that find their line in another partition than the SM's. anywhere: any line is asked for at any time; else all are,
 * in their order. */
double kept_far(const struct gpu *gpu, uint64_t bytes, bool anywhere);

#endif
