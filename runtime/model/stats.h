/* stats: sums over the launches of a run, for the reports. Single launches are not kept. */
#ifndef GPUSIM_RUNTIME_MODEL_STATS_H
#define GPUSIM_RUNTIME_MODEL_STATS_H

#include "models/energy/energy.h"
#include "runtime/model/advice.h"
#include "runtime/model/launch_record.h"
#include "runtime/timeline/topology.h"
#include "runtime/timeline/transfers.h"

#include <pthread.h>

struct limiter_share {
	const char *name;
	double time_ns;
};

/* Launches that follow from others, and what simulating some in full all the same gave. */
struct sampling_stats {
	uint64_t sampled, checks;
	double instructions, simulated; /* of warps; those of them that were */
	double error_sum, error_most; /* relative, of time */
};

/* The launches of a kernel with an estimate on one target. */
struct target_stats {
	struct sampling_stats sampling;
	uint64_t launches;
	double total_ns, min_ns, max_ns, low_ns, high_ns, cycles, occupancy_sum, sm_use_sum;
	double by[CYCLE_KIND_COUNT], unit_cycles[RESOURCE_COUNT];
	double thread_instructions, warp_instructions, register_bank_conflicts;
	struct energy energy; /* 0 where the description has none */
	double active_lanes; /* lane_efficiency, weighted by warp_instructions */
	struct limiter_share limiters[CYCLE_KIND_COUNT];
	flag_set flags;                 /* of some launch */
	struct estimate longest;        /* the launch that takes longest */
	uint64_t longest_local[3], longest_global[3], longest_groups, longest_local_bytes;
	uint32_t registers, shared_bytes; /* of its code */
	struct advice_list *advice; /* NULL: none was worked out */
	double untried_s; /* seconds that working it out would take, which were too many; 0: it was not put off */
	char *library; /* lines: library functions that a table costs, or NULL */
	const char *code; /* the instructions that are timed: "ptx", "selected", "machine" or "program"; NULL: nothing was estimated */
	char *selected; /* why not the machine's, which were wanted; or NULL */
};

/* A twin that was compared with its kernel wrote the same, or not. Racy: the kernel itself does not write the same twice. */
enum twin_comparison { TWIN_SAME, TWIN_DIFFERS, TWIN_RACY, TWIN_COMPARISONS };

/* What the memory of launches without a trace of their own sizes was modelled from. */
struct memory_source {
	uint64_t computed, other; /* launches: without a trace; with a trace of other sizes */
	const char *reason;       /* why the latest of the former has none */
	uint32_t accessing, drawn; /* of the one with most assumed: instructions on global memory; those whose addresses are assumed */
	uint64_t other_groups[3], other_local[3]; /* that the latest of the latter took its trace of */
	uint64_t in_part;         /* launches whose trace has a part of their groups */
	uint64_t l2_unknown;      /* launches of which no buffer is known, so that nothing is of what L2 holds of them */
};

struct kernel_stats {
	struct kernel_stats *next;
	char *name;
	struct kernel_lines *lines; /* one per program; NULL where no report wants them */
	uint64_t launches; /* modelled */
	double measured_ns;
	uint64_t measured;
	uint64_t in_shadow; /* launches whose twin ran on copies */
	uint64_t unsized, unsized_local[3]; /* launches whose local size the program left to the driver, and that of the latest */
	uint64_t comparisons[TWIN_COMPARISONS];
	struct memory_source memory;
	struct target_stats by_target[MAX_TARGETS];
};

struct not_modelled {
	struct not_modelled *next;
	char *kernel, *reason;
	uint64_t launches;
	uint64_t measured; /* of them, by the host GPU */
	double measured_ns;
};

/* Sizes of launches on a real GPU, as CUDA programs make them there (runtime/nvidia.h). */
struct measured_shape {
	uint64_t global[3], local[3], local_bytes;
};

/* Launches of a kernel of one size, and how long the host GPU took for them. */
struct measured_kernel {
	struct measured_kernel *next;
	char *kernel;
	struct measured_shape shape;
	uint64_t launches, measured;
	double total_ns, least_ns, most_ns;
};

struct stats {
	pthread_mutex_t lock;
	struct kernel_stats *kernels;
	struct not_modelled *not_modelled;
	struct measured_kernel *measured; /* in the order of their first launches; the first so many */
	struct transfer_stats transfers[TRANSFER_KINDS];
	struct transfer_stats peers[TOPOLOGY_GPUS][TOPOLOGY_GPUS]; /* those of TRANSFER_PEER, from the first to the second, as far as they are known */
	uint64_t launches;
	bool cuda; /* a CUDA program made them */
};

void stats_add_launch(const struct launch_result *r);
void stats_add_comparison(struct stats *stats, const char *kernel, enum twin_comparison result);
/* A launch that was sampled has been simulated in full as well: how far off it was. */
void stats_add_check(struct stats *stats, const char *kernel, size_t target, double error);
/* Of the launch that takes longest; that of others does not count. */
void stats_set_advice(struct stats *stats, const char *kernel, size_t target, const struct advice_list *advice);
/* Nothing was tried, because it would take so many seconds. */
void stats_set_untried(struct stats *stats, const char *kernel, size_t target, double seconds);
double stats_kernel_share(struct stats *stats, const char *kernel, size_t target); /* of the time of all kernels up to now */
/* A launch that ran and that is not modelled. */
void stats_add_not_modelled(struct stats *stats, const char *kernel, const char *reason);
/* A launch of that size on a real GPU; and later, how long it took. With a reason, it is also one of those that are not modelled. */
void stats_add_shape(struct stats *stats, const char *kernel, const struct measured_shape *shape);
void stats_add_measured(struct stats *stats, const char *kernel, const char *reason, const struct measured_shape *shape, uint64_t ns);
void stats_add_transfer(struct stats *stats, enum transfer_kind kind, uint64_t size_bytes);
void stats_add_peer_copy(struct stats *stats, struct peer_ends ends, uint64_t size_bytes);

/* The work-groups of a launch. */
uint64_t launch_group_count(const struct launch_result *r);
uint32_t launch_registers(const struct launch_result *r, size_t target); /* of a work-item; 0: not known */
const char *main_limiter(const struct target_stats *t);
/* With the lock held: */
double kernels_total_ns(const struct stats *stats, size_t target); /* of all kernels */
struct energy kernels_energy(const struct stats *stats, size_t target); /* of all kernels */
double transfers_of_kind_ns(const struct simulation *sim, size_t target, enum transfer_kind kind);
double transfers_total_ns(const struct simulation *sim, size_t target);
/* The kernels, longest total on the first target first; count in *count; the caller frees the array. */
const struct kernel_stats **stats_sorted(const struct simulation *sim, size_t *count);

#endif
