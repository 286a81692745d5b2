/*
 * models: GPU descriptions and the timing models.
 *
 * Pure functions of a launch's profile and a GPU: no files, no globals, no clocks, no printing. Whoever
 * calls brings the text of a description and takes an estimate away.
 */
#ifndef GPUSIM_MODELS_MODELS_H
#define GPUSIM_MODELS_MODELS_H

#include "models/warps/access_counts.h"
#include "models/accesses/accesses.h"
#include "models/warps/attribution.h"
#include "models/warps/change.h"
#include "models/code/code.h"
#include "models/code/costs.h"
#include "models/analytical/convergence.h"
#include "models/flags.h"
#include "models/gpu/gpu.h"
#include "models/gpu/occupancy.h"
#include "models/history/code_history.h"
#include "models/history/constant_history.h"
#include "models/history/memory_history.h"
#include "models/warps/machine/machine.h"
#include "models/warps/survey.h"
#include "models/warps/synthesise.h"
#include "models/trace/trace.h"
#include "models/trace/warps.h"
#include "models/warps/warps.h"

#include <stdint.h>

/* One launch as it ran on the host device. */
struct launch_profile {
	uint64_t global[3], local[3]; /* 1 in unused dimensions */
	uint64_t groups[3];
	uint64_t local_bytes;  /* dynamic local memory: __local arguments, per work-group */
	bool cuda;             /* of a CUDA program */
	enum code_place code_before; /* where launches before it left its instructions; differs from target to target */
	bool parameters_before;      /* constant caches have its parameters when it begins; likewise */
	struct memory_before memory_before; /* what L2 lacks of its memory then; likewise */
	const struct kernel_code *code; /* the target's */
	const uint64_t *counts;         /* of the source's blocks: code->counter_count entries */
	double scale;                   /* work-items over those that are in counts: 1 unless there was no room for all */
	/* What neighbours do together. Of each counter, the largest of 32 work-items in a row; these added up: over all of the launch, and in
	 * the 32 that have most. 0: not known. */
	double together, longest;
	bool other_trace;   /* the trace is of another launch */
	bool longest_missed; /* the trace has no work-items that do as much as the longest: others stand for them */
	bool other_work;    /* and that one had other sizes or arguments, or did otherwise */
	double trace_apart; /* how much that one did otherwise, relative, by its counters; 0: the same, or the trace is its own */
	struct lane_counts lanes;       /* the same, work-item by work-item */
	const struct launch_trace *trace; /* what work-items of some groups did; NULL: none was traced */
	const uint16_t *accesses;       /* launch_accesses of it */
	uint32_t unknown_accesses;
	const uint64_t *argument_values; /* see struct launch_arguments */
	const bool *arguments_known;
	const uint64_t *argument_bytes; /* of the memory that each points to; 0: not known; NULL: of none */
	uint32_t argument_count;
	struct instruction_count *instructions; /* NULL, or zeroed entries per instruction of code, which model_launch fills */
};

enum model_kind { MODEL_FULL, MODEL_OPTIMISTIC, MODEL_PROBABILISTIC, MODEL_OCCUPANCY };

struct model_options {
	enum model_kind kind;
	bool exact;          /* simulate every work-group */
	bool hierarchy; /* model memory after L1 */
	uint32_t iterations; /* of the fixed point, at most */
	const struct made_warps *made; /* the launch's warps; NULL: they are made for this estimate */
	const struct warps_change *change; /* time the launch without this cause of lost time; NULL: as it is */
	uint64_t most_groups; /* time a launch of so many of its groups, about; 0: of all */
	double most_steps; /* instructions and parts of requests after which a simulation of long loops ends, if that is less than usual; 0: usual */
	double share; /* simulate so much of what would be simulated, about, on fewer SMs; 0: all of it */
};

enum { ESTIMATE_MAX_LINES = 8 }; /* what a report has room for */

struct estimate {
	const char *model;
	double cycles, time_ns, low_ns, high_ns;
	double by[CYCLE_KIND_COUNT]; /* where the cycles go; add up to cycles */
	double unit_cycles[RESOURCE_COUNT]; /* that the busiest SM's units of a kind are busy for, all of them; 0: idle, or not known */
	double register_bank_conflicts;
	double longest_group; /* cycles from its begin to its end; 0: not known */
	double simulated_fraction; /* of the warps' instructions; SMs, groups and launches that do as others did are not */
	uint32_t iterations;       /* of the fixed point */
	struct fixed_point fixed_point; /* how it was reached; of a model that does not iterate, its time alone */
	const char *limiter;
	uint64_t thread_instructions, warp_instructions, warps; /* instructions of PTX */
	uint64_t machine_instructions;           /* of warps, as the chip executes them; those of PTX where it does */
	double by_pipe[MACHINE_PIPE_COUNT];      /* shares of machine_instructions; 0 where they are those of PTX */
	struct occupancy occupancy;
	double lane_efficiency;
	struct line_divergence divergence[ESTIMATE_MAX_LINES]; /* of a traced launch, most first; divergent 0: no more */
	struct needed_groups needed; /* of a traced launch: that the trace of the next one like it should have */
	bool sampled; /* not timed: it follows from others of its family (models/family.h) */
	double spread; /* how far off sampling may be, relative: what a test of its family was off by, and what units of regions differ by */
	struct memory_statistics memory;
	struct access_counts accesses;
	uint32_t accessing, drawn; /* of a launch without a trace: instructions on global memory, and those whose addresses were assumed */
	flag_set flags;
};

/* The accesses of each instruction of launch->code, which the caller frees, and how many are not known. They are all
 * that a model takes of the arguments: launches whose counters and accesses are the same take the same time. */
int launch_accesses(const struct gpu *gpu, const struct launch_profile *launch, uint16_t **out, uint32_t *unknown);
/* Whether all addresses follow from ids and arguments, by launch_accesses: no trace can say more of them. */
bool launch_addresses_known(const struct launch_profile *launch);
/* Everything there is to say about a launch on a GPU. Returns 0, or a negative errno value with a sentence in *err. */
int model_launch(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                 struct estimate *out, struct gs_error *err);
/* The launch waits so long for pages of managed memory (models/history/page_history.h), which no model says: it depends on what was before. */
void estimate_wait_for_pages(const struct gpu *gpu, double ns, struct estimate *e);
/* The warps that stand for the launch, for several estimates of it (made_warps.h). Returns 0, -ENOENT where there are none but from counters
 * alone, or another negative errno value. The caller frees *out. */
struct made_warps;
int made_warps_new(const struct gpu *gpu, const struct launch_profile *launch, const struct model_options *options,
                   struct made_warps **out, struct gs_error *err);
size_t made_warps_bytes(const struct made_warps *m); /* of memory, nearly */
void made_warps_free(struct made_warps *m); /* NULL is fine */
/* What their instructions ask of memory, without timing them; out->instructions has code_count zeroed entries. */
int made_warps_survey(const struct gpu *gpu, const struct made_warps *m, struct launch_survey *out);
const char *cycle_kind_name(enum cycle_kind kind);

#endif
