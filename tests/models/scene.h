/* Small launches for the tests of the occupancy-vector model. */
#ifndef GPUSIM_TESTS_MODELS_SCENE_H
#define GPUSIM_TESTS_MODELS_SCENE_H

#include "tests/models/code_builder.h"
#include "models/grid/occupancy_vector.h"

enum { SCENE_PATH = 4096, SCENE_ISSUES = 4096 };

/* A launch whose warps all take the same path, and its result. */
struct scene {
	struct gpu gpu;
	struct built_code code;
	uint32_t path[SCENE_PATH];
	size_t path_length;
	uint64_t groups;
	uint32_t warps, resident;
	struct warp_options options;
	struct warp_timing timing;
	struct issue {
		uint64_t cycle;
		uint32_t slot, instruction;
	} issues[SCENE_ISSUES];
	size_t issue_count;
};

/* A pipeline that is limited only by its latencies: Algorithm 1. */
#define IDEAL                                                                                                          \
	"operand_collectors=0,fetches_per_cycle=64,fetch_width=16,instruction_buffer_entries=64,refill_when_empty=0,"     \
	"fetch_to_issue_cycles=1,flush_at_branch=1,retire_in_fetch=0,icache_line_instructions=0,completion_slots=0,"        \
	"result_buses=1024,load_results=0,store_latency=0,pipeline_latency=0,fp32_units=64,sfu_units=64,"                   \
	"atomics_stop_warp=0,schedulers_per_sm=1"

/* One warp, on one SM of a GPU, with block 0 of an empty kernel as its path. */
void scene_start(struct scene *s, const char *gpu, const char *overrides);
/* The instruction that ends a kernel. */
void scene_exit(struct scene *s);
/* Runs it and returns the cycles. Checks that they add up. */
double scene_run(struct scene *s);
/* The path is block 0, `count` times block 1, then block 2. */
void scene_loop(struct scene *s, size_t count);
/* Warps of one group that take different paths: warp w takes paths[w]. */
void scene_run_paths(struct scene *s, const struct warp_path *paths, uint32_t warps);
/* Checks that exactly these were issued, in this order. */
void scene_check(const struct scene *s, const struct issue *expected, size_t count);

#endif
