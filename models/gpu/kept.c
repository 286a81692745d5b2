/*
 * What L2 keeps of a launch that asks for more than it surely holds.
 *
 * A line is at home in one of P partitions. SMs of other partitions keep a copy in theirs.
 *
 *   lines that one SM asks for:   2 - 1 / P copies of each in the mean, so that L2 holds C = l2_bytes / (2 - 1 / P), 40 MB of an H200's 60.
 *       An H200 that reads N MB again and again, each line by the same SM, finds (loads that are faster than DRAM's; micro_streams.cu, far)
 *         N                36    40    44    48    56
 *         the same SM    1.00  0.94  0.64  0.20  0.00
 *         another SM     0.98  0.93  0.61  0.11  0.00
 *   lines that several SMs ask for:   P copies, so C = l2_bytes / P.
 *       h = exp(-(1 - h) N / C)   each of the (1 - h) N lines that miss in a launch replaces one of C, any of them: random replacement under
 *       cyclic access
 *   copies:   lines at home stay, and copies of the W = N (P - 1) / P lines that are at home elsewhere share what they leave of a partition,
 *       R = (l2_bytes - N) / P, any of which is replaced: a share h of them is there, of loads (P - 1) / P (1 - h) come from far
 *       h = exp(-(1 - h) W / R)   lines in their order;   h = R / W   lines at random
 *       Far loads of an H200 with lines in their order, by other SMs each time (loads that take some 180 cycles more; micro_streams.cu, far)
 *         N                28    32    34    36    40
 *         measured       0.05  0.16  0.24  0.29  0.36
 *         the equation   0.00  0.12  0.22  0.29  0.40
 * Least recently used lines would be gone before they are asked for again, as soon as N is above C.
 */
#include "models/gpu/kept.h"

#include <math.h>

static uint64_t surely(const struct gpu *gpu)
{
	return gpu->l2_bytes / gpu->l2_partitions;
}

uint64_t kept_room(const struct gpu *gpu, uint64_t bytes)
{
	return bytes > surely(gpu) && bytes <= gpu->l2_bytes ? gpu->l2_bytes : surely(gpu);
}

/* The measurement above, between its values. x: times what L2 holds of lines with one SM each. */
static double found_alone(double x)
{
	static const double at[] = {0.9, 1.0, 1.1, 1.2, 1.4}, found[] = {1, 0.94, 0.64, 0.2, 0};
	size_t n = sizeof at / sizeof *at, i = 0;
	if (x <= at[0])
		return 1;
	while (i + 1 < n && x > at[i + 1])
		i++;
	return i + 1 < n ? found[i] + (found[i + 1] - found[i]) * (x - at[i]) / (at[i + 1] - at[i]) : 0;
}

static double found_shared(double times)
{
	enum { STEPS = 64 }; /* a step divides what is missing by 1 / (h x), more than 1; next to x = 1 the result is not as exact, and 1 */
	double share = 0;
	for (int i = 0; i < STEPS; i++)
		share = exp(-(1 - share) * times);
	return share;
}

double kept_share(const struct gpu *gpu, uint64_t bytes, bool shared)
{
	double times = surely(gpu) ? (double)bytes / (double)surely(gpu) : INFINITY;
	if (times <= 1 || bytes > gpu->l2_bytes)
		return times <= 1;
	return shared ? found_shared(times) : found_alone((double)bytes / (double)gpu->l2_bytes * (2 - 1.0 / gpu->l2_partitions));
}

double kept_far(const struct gpu *gpu, uint64_t bytes, bool anywhere)
{
	double partitions = gpu->l2_partitions, elsewhere = (partitions - 1) / partitions;
	if (bytes <= surely(gpu) || bytes > gpu->l2_bytes)
		return 0;
	double wanted = (double)bytes * elsewhere, room = (double)(gpu->l2_bytes - bytes) / partitions;
	double found = anywhere ? room / wanted : room > 0 ? found_shared(wanted / room) : 0;
	return elsewhere * (1 - found);
}
