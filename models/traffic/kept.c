/*
 * What L2 keeps of a launch that asks for x times as much as it surely holds.
 *
 *   h = exp(-(1 - h) x)    each of the (1 - h) x C lines that miss in a launch replaces one of C, any of them
 * Source: random replacement under cyclic access. Least recently used lines would be gone before they are asked for again: h = 0.
 * An H200 (60 MB) that reads N MB again and again finds (Nsight Compute, L2's hits; here with C = 30 MB):
 *
 *   N            30    32    34    36    38    40    44    48    52    56    60    64
 *   measured   0.98  0.94  0.85  0.75  0.65  0.60  0.52  0.42  0.25  0.12  0.04  0.01
 *   this       1.00  0.88  0.77  0.69  0.61  0.55  0.44  0.36  0.29  0.24  0.20  0
 */
#include "models/traffic/kept.h"

#include <math.h>

static uint64_t surely(const struct gpu *gpu)
{
	return gpu->l2_bytes / gpu->l2_partitions;
}

uint64_t kept_room(const struct gpu *gpu, uint64_t bytes)
{
	return bytes > surely(gpu) && bytes <= gpu->l2_bytes ? gpu->l2_bytes : surely(gpu);
}

double kept_share(const struct gpu *gpu, uint64_t bytes)
{
	enum { STEPS = 64 }; /* a step divides what is missing by 1 / (h x), more than 1; next to x = 1 the result is not as exact, and 1 */
	double share = 0, times = surely(gpu) ? (double)bytes / (double)surely(gpu) : INFINITY;
	if (times <= 1 || bytes > gpu->l2_bytes)
		return times <= 1;
	for (int i = 0; i < STEPS; i++)
		share = exp(-(1 - share) * times);
	return share;
}
