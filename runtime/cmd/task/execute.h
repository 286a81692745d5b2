/* A warp of a task list's kernel, as it goes on. */
#ifndef GPUSIM_RUNTIME_CMD_TASK_EXECUTE_H
#define GPUSIM_RUNTIME_CMD_TASK_EXECUTE_H

#include "runtime/cmd/accelsim/export/export.h"
#include "runtime/cmd/task/task.h"

/* A block of statements that the warp is in. */
struct task_frame {
	int32_t first, at;
	int32_t node;     /* whose block it is; TASK_NONE: the kernel's */
	uint32_t mask, others; /* lanes; those that go through `other` after it */
	uint32_t part;    /* of a statement, or of what ends a turn */
	uint64_t turn, entry;
	uint32_t loop;    /* its depth among loops */
	int32_t argument; /* of a piece: the access of its next instruction that makes one */
};

struct task_warp {
	const struct task_launch *launch;
	uint64_t group, items, k, all_warps; /* k: its number in the launch, among those that were recorded */
	uint32_t number;  /* in its group */
	uint64_t rank, range_warps; /* among those of the `warps` that it is in; 0: in none */
	struct task_frame frames[TASK_MOST_DEPTH + 4];
	uint32_t depth;
	uint64_t *executions; /* by access */
	uint64_t *entries;    /* by node */
	int64_t variables[VARIABLE_COUNT];
	bool ended;
};

/* addresses.c. A number that depends on all three and on nothing else. */
uint64_t task_chance(uint64_t a, uint64_t b, uint64_t c);
void task_place_lane(struct task_warp *w, uint32_t lane);
void task_addresses(struct task_warp *w, int32_t access, uint32_t mask, uint64_t out[TASK_LANES]);

#endif
