/*
 * convergence: how a fixed point was reached, for models that iterate and for reports that show it.
 */
#ifndef GPUSIM_MODELS_ANALYTICAL_CONVERGENCE_H
#define GPUSIM_MODELS_ANALYTICAL_CONVERGENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { FIXED_POINT_HISTORY = 32 };

struct fixed_point {
	double history[FIXED_POINT_HISTORY]; /* cycles, the start first; without launch overhead */
	uint32_t count;                      /* of cycles known; only the first FIXED_POINT_HISTORY are kept */
	bool converged;
	const char *start, *model; /* static: which model's time is history[0], and which one's are the others */
};

/* Entries of the history that are there. */
static inline uint32_t fixed_point_kept(const struct fixed_point *f)
{
	return f->count < FIXED_POINT_HISTORY ? f->count : FIXED_POINT_HISTORY;
}

#endif
