/*
 * What launches that are left will take.
 *
 *   one that was started:  s, the mean of a simulation of its kernel
 *   n that wait:           n times the mean of the kernel's jobs, once so many were done that most of them may have waited;
 *                          before that s for both ends of their curve and for each time that it can be halved: 2 + log2(n), at most n
 */
#include "runtime/estimates/outlook.h"

#include <math.h>

enum { ENOUGH = 32 }; /* as many as a family waits for at first */

void outlook_done(struct outlook *o, uint64_t cost_ns, bool simulated)
{
	o->jobs++;
	o->simulations += simulated;
	o->spent_ns += (double)cost_ns;
}

void outlook_add(struct outlook *o, bool waits)
{
	o->waiting += waits;
	o->started += !waits;
}

double outlook_simulation_ns(const struct outlook *o)
{
	return o->simulations ? o->spent_ns / (double)o->simulations : 0;
}

double outlook_take(struct outlook *o, double usual_ns)
{
	double simulation = o->simulations ? outlook_simulation_ns(o) : usual_ns, n = (double)o->waiting, waiting = 0;
	if (o->jobs >= ENOUGH)
		waiting = n * o->spent_ns / (double)o->jobs;
	else if (n > 0)
		waiting = simulation * fmin(n, 2 + log2(n));
	double all = (double)o->started * simulation + waiting;
	o->started = o->waiting = 0;
	return all;
}
