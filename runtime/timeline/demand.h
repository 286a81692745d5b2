/*
 * demand: what a launch takes of a GPU while it runs, so that others can run beside it.
 *
 * A launch has parts: what the driver does around it; the launch itself, in which no group runs, and which is that of one launch at a
 * time; as many groups as find room; and a tail, in which the groups of the last wave run and the rest of the room is free. Groups take
 * room on SMs (warps, places for groups, registers, shared memory), and throughput of what all SMs issue, of L2 and of DRAM. All of it is
 * in shares of the whole GPU, so that 1 is all there is.
 */
#ifndef GPUSIM_RUNTIME_TIMELINE_DEMAND_H
#define GPUSIM_RUNTIME_TIMELINE_DEMAND_H

#include "models/gpu/occupancy.h"

#include <stdint.h>

enum { ROOM_KINDS = OCCUPANCY_GRID }; /* as enum occupancy_limit has them */
enum throughput { THROUGHPUT_ISSUE, THROUGHPUT_L2, THROUGHPUT_DRAM, THROUGHPUT_KINDS };
enum demand_part { PART_DRIVER, PART_LAUNCH, PART_FULL, PART_TAIL };

/* float, because the timeline keeps one for each command and target */
struct command_demand {
	float driver, launch, tail;    /* shares of the duration */
	float memory;                  /* share of the rest in which groups wait for memory, so that they are slower if that is */
	float room[ROOM_KINDS];        /* before the tail */
	float use[THROUGHPUT_KINDS];   /* before the tail */
	float tail_room, tail_use;     /* in the tail, relative to that */
	float wave;                    /* share of the duration that a group takes: in that time, all that run have ended */
};

/* A launch that runs alone. */
struct launch_alone {
	uint64_t groups;
	struct occupancy occupancy;
	double driver, launch;         /* shares of its time before the first group runs */
	double memory;                 /* share of the rest in which groups wait for memory */
	double use[THROUGHPUT_KINDS];  /* mean of the rest of its time */
};

struct command_demand demand_of_launch(const struct gpu *gpu, const struct launch_alone *l);
/* Of a copy or fill within the GPU's memory: nothing runs beside it that needs room or DRAM. */
struct command_demand demand_of_copy(void);

#endif
