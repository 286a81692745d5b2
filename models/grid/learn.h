/*
 * learn: loops that go anywhere in memory which L2 comes to hold.
 *
 * Such a loop misses L2 ever more rarely. A rate from its begin is not the rate of the rest, and L2 may know little when the simulation has cost
 * enough. So it is stepped through for a while, then L2 is given all that the launch asks for, without time, and what it learned by that is
 * charged for as the lines that it learned before.
 */
#ifndef GPUSIM_MODELS_GRID_LEARN_H
#define GPUSIM_MODELS_GRID_LEARN_H

#include "models/memory/system.h"
#include "models/warps/warps.h"

struct learn_mark {
	double time, done, missing; /* cycles, instructions, and sectors that L2 does not have; time 0: it is not set */
};
struct learn {
	const struct launch_warps *launch;
	struct memory_system *memory;
	double most;              /* instructions after which the simulation ends */
	double sectors, parts;    /* of memory that is asked for anywhere; of a load of it */
	double share;             /* of the launch's groups that are simulated */
	double of_all, begin;     /* sectors that L2 did not have at first; begin: with what others bring before. 0: there is nothing to learn */
	struct learn_mark from, to; /* of a time in which L2 learned */
	struct learn_mark known, end; /* of one in which it knew all */
};

/* most: instructions that are simulated at most, 0: all; share: of groups. L2 holds what it does when the launch begins. */
void learn_init(struct learn *l, const struct gpu *gpu, const struct launch_warps *launch, struct memory_system *memory, double most, double share);
/* L2 holds what it does when the simulation begins. */
void learn_begin(struct learn *l);
/* Once in each step. done: instructions up to now, jumps and all. */
void learn_look(struct learn *l, double time, double done);
/* Whether rates are those of a loop that will be faster. */
bool learn_goes_on(const struct learn *l);
/* Cycles to add for what L2 was given. instructions: of all that the simulation stands for. */
double learn_cycles(const struct learn *l, double instructions);

#endif
