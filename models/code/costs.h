/*
 * costs: what an instruction, and a block of them, takes of a GPU's pipeline, warp alone.
 */
#ifndef GPUSIM_MODELS_CODE_COSTS_H
#define GPUSIM_MODELS_CODE_COSTS_H

#include "models/code/code.h"
#include "models/gpu/gpu.h"

#define PIPELINE_RESOURCES(X)                                                                                          \
	X(fetch) X(issue) X(collector) X(fp32) X(int) X(fp64) X(sfu) X(tensor) X(ldst) X(writeback)
#define PIPELINE_RESOURCE(name) RESOURCE_##name,
enum pipeline_resource { PIPELINE_RESOURCES(PIPELINE_RESOURCE) RESOURCE_COUNT };
#undef PIPELINE_RESOURCE
const char *resource_name(enum pipeline_resource r);

/* One instruction on a GPU. */
struct instruction_cost {
	uint8_t unit;      /* enum pipeline_resource: fp32 ... ldst */
	double latency;    /* in the unit: from start to result; of a load, one access, from its start in the unit */
	double initiation; /* cycles its unit is busy; of memory, per access */
	double distance;   /* from its issue to the issue of one that needs its result, if nothing is in the way */
};
/* From the issue of an instruction that parts or joins lanes to the next of its warp; 0: as after others. A branch that all lanes take alike parts none. */
/* Whether it is a way of a table of jumps, on a GPU that is slower at these than at other branches. */
bool goes_by_table(const struct gpu *gpu, const struct code_instruction *i);
double branch_wait(const struct gpu *gpu, const struct code_instruction *i);
struct instruction_cost gpu_instruction_cost(const struct gpu *gpu, const struct code_instruction *i);
/* Of its distance, the part from issue to the start in the unit. */
double gpu_collect_cycles(const struct gpu *gpu, const struct code_instruction *i);
bool code_is_memory(enum code_class class);
bool code_has_accesses(enum code_class class); /* memory, but fences; and constants by a shared index */
/* How many warp-wide units of a kind an SM has. */
uint32_t gpu_unit_count(const struct gpu *gpu, enum pipeline_resource unit);
/* How many operand collectors instructions of that unit may use; 0: it has none. */
uint32_t gpu_collector_count(const struct gpu *gpu, enum pipeline_resource unit);

/*
 * A block, or a chain of blocks, run by a warp alone: the pipeline execution graph (probabilistic resource model, IV-A,
 * Figs. 1, 2 and 4). Nodes are instruction x stage: fetch, issue, operand collection, execution, write-back. Edges are
 * order within a stage, data dependence, and the structure of buffers. The longest path is the latency.
 */
struct block_cost {
	double latency;               /* from the first fetch to the last write-back */
	double steady_latency;        /* added by one more execution right after the same block: what a loop's trip takes */
	double busy[RESOURCE_COUNT];  /* cycles that each resource is occupied, all units of a kind together */
	uint32_t register_reads, register_writes;
	uint32_t memory_instructions, barriers;
};
/* accesses: per instruction of the code, NULL for 1 each. Returns 0 or -ENOMEM. */
int pipeline_block_cost(const struct gpu *gpu, const struct kernel_code *code, const uint32_t *blocks, size_t count,
                        const uint16_t *accesses, struct block_cost *out);
/* Cycles from the issue of each instruction of a block to that of the next, warp alone (GATSim II-A); count entries. */
int pipeline_issue_latencies(const struct gpu *gpu, const struct kernel_code *code, uint32_t block, double *out);
/* The graph as DOT text. */
int pipeline_dot(const struct gpu *gpu, const struct kernel_code *code, uint32_t block, struct gs_buf *out);

#endif
