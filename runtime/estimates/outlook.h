/*
 * outlook: about how long processors will take for launches that are left, by what launches of the same kernel took.
 *
 * One kernel's launches may cost a thousand times as much as another's. Of launches that wait for others of their family, most are
 * interpolated (models/sampling/families.h), which costs next to nothing.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_OUTLOOK_H
#define GPUSIM_RUNTIME_ESTIMATES_OUTLOOK_H

#include <stdbool.h>
#include <stdint.h>

/* Of one kernel on one target, or of all; zeroed at first. */
struct outlook {
	uint64_t jobs, simulations; /* that were done */
	double spent_ns;            /* for these */
	uint64_t started, waiting;  /* that are left, since outlook_take */
};

void outlook_done(struct outlook *o, uint64_t cost_ns, bool simulated);
/* A job that is left. It waits: others decide whether it is simulated. */
void outlook_add(struct outlook *o, bool waits);
/* What the jobs that were added will take, and none is left then. usual_ns: a simulation, if none of these was done. */
double outlook_take(struct outlook *o, double usual_ns);
double outlook_simulation_ns(const struct outlook *o); /* the mean; 0: none was done */

#endif
