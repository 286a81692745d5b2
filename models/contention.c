/*
 * What warps wait for one another, if they come to resources by chance: mean value analysis of a closed network.
 *
 *   R_k(n) = D_k * (1 + Q_k(n-1) - U_k(n-1) / 2)     time at resource k with n warps; half of a service is left, on average
 *   X(n)   = min(n / (Z + sum of R_k(n)), 1 / max D_k)   warps per cycle
 *   Q_k(n) = X(n) * R_k(n),  U_k(n) = X(n) * D_k
 * D_k: cycles a warp needs of resource k in all; Z: what is left of its latency alone. Few warps see latency, many the
 * busiest resource, and those in between more than either. Source: Reiser and Lavenberg, Mean-value analysis of closed
 * multichain queuing networks, 1980; Reiser, A queueing network analysis of computer communication networks with window
 * flow control, 1979, for constant service times.
 */
#include "models/optimistic.h"

#include <string.h>

double contention_cycles(const double *demands, size_t count, double latency, uint32_t warps)
{
	double queue[LIMIT_COUNT] = {0}, use[LIMIT_COUNT] = {0}, time[LIMIT_COUNT], sum = 0, most = 0, rate = 0;
	if (count > LIMIT_COUNT)
		count = LIMIT_COUNT;
	for (size_t k = 0; k < count; k++) {
		sum += demands[k];
		most = demands[k] > most ? demands[k] : most;
	}
	double alone = latency > sum ? latency - sum : 0;
	for (uint32_t n = 1; n <= warps; n++) {
		double cycle = alone;
		for (size_t k = 0; k < count; k++) {
			time[k] = demands[k] * (1 + queue[k] - use[k] / 2);
			cycle += time[k];
		}
		rate = cycle > 0 ? n / cycle : 0;
		if (rate * most > 1)
			rate = 1 / most;
		for (size_t k = 0; k < count; k++) {
			queue[k] = rate * time[k];
			use[k] = rate * demands[k];
		}
	}
	return rate > 0 ? warps / rate : 0;
}
