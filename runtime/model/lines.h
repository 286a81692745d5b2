/* lines: what the lines of kernels' sources did. */
#ifndef GPUSIM_RUNTIME_MODEL_LINES_H
#define GPUSIM_RUNTIME_MODEL_LINES_H

#include "runtime/model/launch_record.h"

/* What the instructions of one kernel did, all launches together. Programs may have kernels of the same name. */
struct kernel_lines {
	struct kernel_lines *next;
	struct artifact *artifact; /* counted */
	const struct artifact_kernel *facts;
	uint64_t launches;
	struct instruction_count *sums[MAX_TARGETS]; /* per instruction of the code */
	double by[MAX_TARGETS][CYCLE_KIND_COUNT];
};

/* What a line of the source did on a target. */
struct line_sum {
	const char *file; /* as .loc has it */
	uint32_t line;    /* 0: of no line that is known */
	double executions;   /* by work-items, of the line's most frequent instruction */
	double instructions; /* by work-items */
	double warps;        /* the same by warps */
	double cycles, transactions;
	bool accesses_memory;
	double by[CYCLE_KIND_COUNT]; /* of the cycles; add up to them */
	/* Executions by warps: of instructions that go through L1 and whose addresses are known, with the sectors of 32 bytes that they
	 * touch; and on local memory, with the turns that these take beyond what their bytes need. */
	double requests, sectors;
	double shared_requests, bank_conflicts;
};

bool lines_wanted(const struct simulation *sim); /* by some report */
/* Adds a launch to the list of a kernel; with the lock of the statistics held. */
void lines_add_launch(struct kernel_lines **list, const struct launch_result *r);
/* The lines of a kernel on a target by file and line; count in *count; the caller frees. */
struct line_sum *lines_of(const struct simulation *sim, const struct kernel_lines *l, size_t target, size_t *count);
bool is_own_source(const char *file); /* the text that the program was created with, not what it includes */

#endif
