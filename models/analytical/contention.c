/*
 * What warps wait for one another, if they come to resources by chance: mean value analysis of a closed network.
 *
 *   W_k(n) = D_k * (Q_k(n-1) - U_k(n-1) * (1 - V_k) / 2)    wait at resource k with n warps
 *   X(n)   = min(n / (L + sum of W_k(n)), 1 / max D_k)      warps per cycle
 *   Q_k(n) = X(n) * (D_k + W_k(n)),  U_k(n) = X(n) * D_k
 * D_k: cycles a warp needs of resource k in all; V_k: variance / mean^2 of one service, 0 where all are equal, and then
 * half of one is left when the next warp comes; L: a warp's latency alone. Few warps see latency, many the busiest
 * resource, and those in between more than either. Source: Reiser and Lavenberg, Mean-value analysis of closed
 * multichain queuing networks, 1980; Reiser, A queueing network analysis of computer communication networks with window
 * flow control, 1979, for constant service times.
 */
#include "models/analytical/optimistic.h"

double contention_cycles(const double *demands, const double *variation, size_t count, double latency, uint32_t warps)
{
	double queue[LIMIT_COUNT] = {0}, use[LIMIT_COUNT] = {0}, wait[LIMIT_COUNT], most = 0, rate = 0;
	if (count > LIMIT_COUNT)
		count = LIMIT_COUNT;
	for (size_t k = 0; k < count; k++)
		most = demands[k] > most ? demands[k] : most;
	for (uint32_t n = 1; n <= warps; n++) {
		double cycle = latency;
		for (size_t k = 0; k < count; k++) {
			wait[k] = demands[k] * (queue[k] - use[k] * (1 - (variation ? variation[k] : 0)) / 2);
			cycle += wait[k];
		}
		rate = cycle > 0 ? n / cycle : 0;
		if (rate * most > 1)
			rate = 1 / most;
		for (size_t k = 0; k < count; k++) {
			queue[k] = rate * (demands[k] + wait[k]);
			use[k] = rate * demands[k];
		}
	}
	return rate > 0 ? warps / rate : 0;
}
