/*
 * regions: the parts of a launch in which groups behave alike, and how few of their groups need to be simulated (TBPoint IV).
 *
 * Groups that run at the same time have neighbouring ids. An epoch is as many groups as the GPU runs at once. Consecutive
 * epochs whose groups ask as much of memory are a homogeneous region: all its sampling units take as long. Epochs with an
 * outlier are in no region and are simulated as usual. regions_build needs the counters of every group, and no timing. The
 * sampler goes along with a simulation and says which groups it may skip.
 */
#ifndef GPUSIM_MODELS_SAMPLING_REGIONS_H
#define GPUSIM_MODELS_SAMPLING_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct group_work {
	double memory_requests, warp_instructions;
	double traffic; /* parts of requests that go to caches (requests.h); 0: not used */
	double longest; /* instructions of the longest of its warps */
	double stepped; /* of the instructions, those that a simulation steps through: of the rounds of gaps (warps.h), a few */
};

struct region_limits {
	double distance;  /* of stall probabilities in a cluster: 0.2 in the paper */
	double variation; /* of an epoch without outliers: 0.3 */
	double unit_difference; /* of two sampling units when caches are warm: 0.1 */
	/* Beyond the paper: warming goes on until units differ by less than `fine`, and one group is less of what was measured, as
	 * long as no more than fine_share of the region and fine_epochs of it have been simulated; so a large region, where an
	 * error counts, is known better. */
	double fine, fine_share, fine_epochs;
	/* And where caches and DRAM are simulated, the rate of groups depends on their traffic: epochs whose traffic per instruction
	 * differs by more than that, relative to the region's first one, are of another region. 0: traffic does not matter. */
	double traffic;
};
#define REGION_LIMITS_OF_PAPER ((struct region_limits){0.2, 0.3, 0.1, 0.1, 0, 0, 0})
enum { MIXED_EPOCHS = 4 }; /* of the same mixture, at least: those of fewer have outliers, as the paper says */

struct region {
	uint32_t id;         /* of its cluster: regions of the same id behave alike */
	uint64_t first, end; /* groups first..end-1 */
};

/* Regions in ascending order; the caller frees *out. epoch: groups that run at once, at least 1. Returns 0 or -ENOMEM. */
int regions_build(const struct group_work *groups, uint64_t count, uint64_t epoch, const struct region_limits *limits,
                  struct region **out, size_t *out_count);

enum { REGION_UNITS = 128 }; /* of a region, whose begins are kept: more than models/grid/plan.c measures */

/*
 * Goes along with the simulation of a launch. Every group is offered once, by ascending id, when there is room for it;
 * one that is skipped leaves the room to the next.
 */
struct region_sampler {
	const struct region *regions;
	size_t count, at;        /* the region that the next group is in, or that comes next */
	struct region_limits limits;
	uint64_t whole;          /* groups are skipped in multiples of this number; 1: to the region's end */
	double interval;         /* cycles that each group takes at least, of all SMs together; the caller's, 0 after sampler_start */
	uint64_t running, inside; /* groups in flight; of them, those in regions[at] */
	bool entered, forward;   /* all of them are in one region; its rate is known, and groups are skipped: */
	uint64_t skip_end;       /* up to this one */
	bool specified, continues; /* a sampling unit is being measured; with the next group: */
	uint64_t unit_group;
	uint64_t dispatched; /* groups of this region */
	struct {
		double cycle, instructions;
		uint64_t dispatched;
	} begins[REGION_UNITS]; /* of the units of this region, and of the one that comes next */
	uint32_t units;         /* measured in this region; beyond the room the last one's place is used again */
	double last_rate;        /* instructions per cycle of the unit before; 0: none in this region */
	double rate, difference; /* of the region, once forward, and of its last two units, relative */
	double spread;           /* of its rate: what any unit that it comes from differs by, or the last two do, or what the mean of so few units
	                          * may be off; at least `fine`, and a group more or less at either end of what was measured */
	uint64_t measured_from;  /* the first group that the rate is from */
	double skipped_instructions, skipped_cycles;
	double spread_cycles;    /* by which skipped_cycles may be wrong: those of each region times its spread */
	uint64_t skipped_groups;
};

/* whole: groups that run at once, so that the last ones of a region find the GPU as full as they would have, and units are
 * about as long; or 1. */
void sampler_start(struct region_sampler *s, const struct region *regions, size_t count, const struct region_limits *limits,
                   uint64_t whole);
/* How many groups from this one on are skipped; the caller says what they would have executed, and by how much they are unlike those that
 * the rate is from, relative: the rate may be as far off. */
uint64_t sampler_skips(struct region_sampler *s, uint64_t group);
void sampler_skip(struct region_sampler *s, uint64_t groups, double instructions, double unlike);
/* Group `group`, which is not skipped, starts now; instructions: of the GPU so far. */
void sampler_dispatch(struct region_sampler *s, uint64_t group, double cycle, double instructions);
void sampler_retire(struct region_sampler *s, uint64_t group, double cycle, double instructions);

#endif
