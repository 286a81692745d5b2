/*
 * regions: the parts of a launch in which its groups behave alike, and how few of them need to be simulated (TBPoint IV).
 *
 * Groups that run at the same time have neighbouring ids. An epoch is as many as the GPU runs at once; consecutive epochs whose
 * groups ask as much of memory are a homogeneous region, in which all sampling units take as long. Epochs with an
 * outlier are in none, and simulated as usual. regions_build needs the counters of every group, no timing; the sampler goes
 * along with a simulation and tells which groups it may skip.
 */
#ifndef GPUSIM_REGIONS_H
#define GPUSIM_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct group_work {
	double memory_requests, warp_instructions;
};

struct region_limits {
	double distance;  /* of stall probabilities in a cluster: 0.2 in the paper */
	double variation; /* of an epoch without outliers: 0.3 */
	double unit_difference; /* of two sampling units when caches are warm: 0.1 */
};
#define REGION_LIMITS_OF_PAPER ((struct region_limits){0.2, 0.3, 0.1})

struct region {
	uint32_t id;         /* of its cluster: regions of the same id behave alike */
	uint64_t first, end; /* groups first..end-1 */
};

/* Regions in ascending order; the caller frees *out. epoch: groups that run at once, at least 1. Returns 0 or -ENOMEM. */
int regions_build(const struct group_work *groups, uint64_t count, uint64_t epoch, const struct region_limits *limits,
                  struct region **out, size_t *out_count);

/*
 * Goes along with the simulation of a launch. Every group is offered once, by ascending id, when there is room for it;
 * one that is skipped leaves the room to the next.
 */
struct region_sampler {
	const struct region *regions;
	size_t count, at;        /* the region that the next group is in, or that comes next */
	double unit_difference;
	uint64_t running, inside; /* groups in flight; of them, those in regions[at] */
	bool entered, forward;   /* all of them are in one region; its rate is known, and groups are skipped */
	bool specified;          /* a sampling unit is being measured: */
	uint64_t unit_group;
	double unit_cycle, unit_instructions; /* at its begin */
	double last_rate;        /* instructions per cycle of the unit before; 0: none in this region */
	double rate;             /* of the region, once forward */
	double skipped_instructions, skipped_cycles;
	uint64_t skipped_groups;
};

void sampler_start(struct region_sampler *s, const struct region *regions, size_t count, const struct region_limits *limits);
/* Group `group` would start now; instructions of the GPU so far, and the group's own. False: it is skipped, and what it takes
 * is in skipped_cycles. */
bool sampler_dispatch(struct region_sampler *s, uint64_t group, double cycle, double instructions, double own);
void sampler_retire(struct region_sampler *s, uint64_t group, double cycle, double instructions);

#endif
