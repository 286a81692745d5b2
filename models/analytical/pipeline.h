/*
 * pipeline: a warp alone in the pipeline, instruction by instruction, its state carried from block to block.
 *
 * What pipeline.c and the optimistic model share. Times are cycles since the warp's first fetch.
 */
#ifndef GPUSIM_MODELS_ANALYTICAL_PIPELINE_H
#define GPUSIM_MODELS_ANALYTICAL_PIPELINE_H

#include "models/code/costs.h"

/* A warp alone never keeps more units or collectors of a kind busy than this. */
enum { PIPELINE_SERVERS = 16 };

/* What is the same at every execution of an instruction on a GPU. */
struct pipeline_instruction {
	struct instruction_cost cost;
	double collect;          /* from issue to the start in the unit, if nothing is in the way */
	double collector_cycles; /* that it holds its collector */
	double after;            /* from the result to the issue of its user */
	uint32_t bank_conflicts; /* among its own operands */
	double accesses;         /* a mean where executions differ */
	uint32_t copy_groups;    /* of asynchronous copies (struct code_register), if it is one, or a commit */
};

/* The stages of one execution. */
struct pipeline_times {
	double fetch, issue, collect, execute, done;
};

struct pipeline {
	const struct gpu *gpu;
	const struct kernel_code *code;
	struct pipeline_instruction *instructions;
	uint32_t fetch_slot;  /* of the next instruction in its fetch; 0: a new fetch */
	uint32_t issued_now;  /* instructions of the current cycle */
	double fetch, issue;  /* of the latest */
	double next_issue;    /* earliest by the front end */
	double done;          /* latest write-back so far */
	double *ready;        /* per register: a user may issue */
	bool *loaded;         /* per register: it is memory that makes it ready */
	uint32_t waits;       /* instructions that waited for a result */
	double memory_stall;  /* cycles of it that were for memory */
	double unit_free[RESOURCE_COUNT][PIPELINE_SERVERS];
	double collector_free[RESOURCE_COUNT][PIPELINE_SERVERS]; /* by the unit that the instruction goes to */
	double busy[RESOURCE_COUNT];
};

/* accesses: as in pipeline_block_cost. Returns 0 or -ENOMEM; the caller calls pipeline_finish in either case. */
int pipeline_setup(struct pipeline *p, const struct gpu *gpu, const struct kernel_code *code, const uint16_t *accesses);
void pipeline_finish(struct pipeline *p);
/* Empties the pipeline. */
void pipeline_reset(struct pipeline *p);
/* One instruction; `code` is its index. */
struct pipeline_times pipeline_step(struct pipeline *p, uint32_t code);
/* The way from the block just run to the next one: with `jump`, not to what follows in memory. */
void pipeline_transfer(struct pipeline *p, bool jump);
/* The blocks' instructions and the ways between them. */
void pipeline_run(struct pipeline *p, const uint32_t *blocks, size_t count);

#endif
