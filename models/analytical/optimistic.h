/*
 * optimistic: the analytical models of a launch, with perfect scheduling and with what chance brings, and the fixed
 * point of all models.
 *
 * All of them are functions of what the warps execute, of the GPU and of how many work-groups an SM holds (blocks_per_sm,
 * from gpu_occupancy; 0 is taken as 1: a group that does not fit runs alone). Launch overhead is not in them. They
 * return 0, or a negative errno value with *out all zero; a launch without groups or instructions takes 0 cycles.
 */
#ifndef GPUSIM_MODELS_ANALYTICAL_OPTIMISTIC_H
#define GPUSIM_MODELS_ANALYTICAL_OPTIMISTIC_H

#include "models/analytical/convergence.h"
#include "models/analytical/path_costs.h"

/* Delays that conflicts add to instructions that read, or write, registers: cycles each, on average. */
struct resource_extra {
	double read_cycles, write_cycles;
};

/* What can limit a launch: a resource, or one of these. */
enum { LIMIT_latency = RESOURCE_COUNT, LIMIT_l2, LIMIT_dram, LIMIT_none, LIMIT_COUNT };
const char *limit_name(int limit);

struct optimistic_timing {
	double cycles;
	/* What the busiest SM would take if only this limited it; LIMIT_latency: its resident groups' latencies. */
	double limits[LIMIT_COUNT];
	int limiter;                 /* the largest of them */
	double by[CYCLE_KIND_COUNT]; /* add up to cycles */
	double sm_groups;            /* of the busiest SM, in average groups */
	uint32_t resident_groups;    /* of them at once */
	double waves;
	double warp_instructions, register_reads, register_writes; /* of the launch */
};

/* extra may be NULL: none. */
int model_optimistic(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                     const struct resource_extra *extra, struct optimistic_timing *out, struct gs_error *err);

/* How warps meet at resources: never while one is free (the paper's optimism), or as they happen to come. */
enum meeting { MEETING_planned, MEETING_by_chance };
/* The same from costs that are at hand; for models that ask again and again. */
void optimistic_time(const struct gpu *gpu, const struct launch_warps *warps, const struct launch_costs *costs,
                     uint32_t blocks_per_sm, const struct resource_extra *extra, enum meeting meeting,
                     struct optimistic_timing *out);
/* Time of a closed queueing network; see contention.c. */
double contention_cycles(const double *demands, const double *variation, size_t count, double latency, uint32_t warps);
/* How many average groups the busiest SM gets; see sm_load.c. */
double busiest_sm_groups(const struct gpu *gpu, const struct launch_warps *warps, const struct launch_costs *costs,
                         uint32_t resident);

/* Conflicts of accesses to `banks` register banks; see bank_conflicts.c. */

/* b * (E[Y] - 1), as printed in the paper: a bank without access counts as minus one conflict. */
double bank_conflicts_printed(double accesses, double banks);
/* b * E[max(Y - 1, 0)], of accesses that come at once; between whole numbers, the mean of both. */
double bank_conflicts_at_once(double accesses, double banks);

/* E[max(N - 1, 0)] = a - 1 + e^-a, of reads that come by chance, a of them on average, while their bank is held by writes. */
double bank_conflicts_held(double arrivals);

struct bank_traffic {
	double reads, writes; /* per cycle */
	double read_width, write_width; /* instructions per cycle that may bring them, at most one access of a bank each */
	double banks;
};
struct bank_queue {
	double conflicts;               /* reads per cycle that find a read waiting at their bank */
	double delayed;                 /* part of reads that are not served at once */
	double read_delay, write_delay; /* cycles, on average over all */
};
struct bank_queue bank_queue(const struct bank_traffic *t);
/* What an instruction waits for the last of its operands, in the mean. */
double bank_collect_delay(const struct bank_queue *q, double reads);

struct fixed_point_options {
	double tolerance;      /* relative change of cycles; 0: 0.001 */
	uint32_t iterations;   /* at most; 0: 20 */
	double start_cycles;   /* 0: the optimistic time */
};

/* Optimistic time and register-bank conflicts, each from the other. */
struct probabilistic_timing {
	struct optimistic_timing timing;
	struct resource_extra extra;
	double register_bank_conflicts; /* of the launch */
	double optimistic_cycles;
	struct fixed_point fixed_point;
};
int model_probabilistic(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                        const struct fixed_point_options *options, struct probabilistic_timing *out, struct gs_error *err);

#endif
