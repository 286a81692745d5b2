/*
 * simulation: the run of one program on the targets, with its options and its sums. The library has one for its process, and
 * gpusim replay has one for a profile.
 */
#ifndef GPUSIM_RUNTIME_MODEL_SIMULATION_H
#define GPUSIM_RUNTIME_MODEL_SIMULATION_H

#include "runtime/config/options.h"
#include "runtime/timeline/calls.h"
#include "runtime/timeline/schedule.h"
#include "runtime/model/stats.h"
#include "runtime/model/targets.h"
#include "runtime/model/tool_cost.h"

/* The device that the program ran on, and its driver. */
struct run_host {
	char name[256], driver[256], platform[256], version[512]; /* version: of the platform: POCL says its own there, and LLVM's */
};

struct simulation {
	/* Written once at the start, then read by all: */
	struct gs_options options;
	struct model_options model; /* from the options */
	bool whole_traces; /* of a launch that is traced, nothing may be missing: no loop has windows, and launches wait for memory (traces_settle) */
	bool all_groups;   /* of every launch all groups are traced, as far as there is memory */
	struct target targets[MAX_TARGETS];
	size_t target_count;
	struct topology topology; /* of the program's GPUs */
	char archs[MAX_TARGETS][GPU_TARGET_SIZE]; /* the different names of gpu_target_name */
	size_t arch_count;
	char library[4096];    /* the path of this library */
	char **cc_environment; /* of gpusim-cc; a copy: the application may change its own at any time */
	char temporary[1024];  /* where files between us and gpusim-cc are */
	uint64_t start_ns;     /* monotonic */
	/* What is known up to now: */
	struct stats stats; /* take its lock */
	struct run_host host; /* the first that a program was built for; empty names: none. Under the same lock */
	struct tool_cost cost;
	struct timeline timeline; /* take its lock */
	struct run_mpi mpi;       /* filled by the process's first MPI calls */
};

#define SIMULATION_INIT {.stats = {.lock = PTHREAD_MUTEX_INITIALIZER}, .timeline = {.lock = PTHREAD_MUTEX_INITIALIZER}}

#endif
