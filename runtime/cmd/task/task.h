/*
 * task: programs that nobody has written yet, as lists of what their work-items do. docs/task-lists.md has the format.
 *
 * A list is read (parse.c), its kernels are carried out warp by warp as a stream of instructions (execute.c), and a profile is made of that as
 * of a foreign trace (runtime/cmd/streams), which all models and reports take.
 */
#ifndef GPUSIM_RUNTIME_CMD_TASK_TASK_H
#define GPUSIM_RUNTIME_CMD_TASK_TASK_H

#include "runtime/cmd/streams/job.h"

enum {
	TASK_NONE = -1,
	TASK_LANES = 32,
	TASK_MOST_DEPTH = 24,        /* of blocks in blocks */
	TASK_MOST_NODES = 1 << 20,
	TASK_MOST_STEPS = 1 << 16,   /* of the program: launches and copies */
	TASK_MOST_UNROLLED = 256,    /* instructions of one statement that have places of their own */
	TASK_MOST_EXPRESSION = 96,
	TASK_MOST_PIECE_ACCESSES = 256,
	TASK_MOST_INSTRUCTIONS = 1 << 22, /* of a warp */
};

/* ---- expression.c: numbers that follow from where a work-item is ---- */

#define TASK_VARIABLES(X) X(lx) X(ly) X(lz) X(gx) X(gy) X(gz) X(local) X(lane) X(warp) X(group) X(item) X(k) X(n) \
	X(i0) X(i1) X(i2) X(i3) X(i4) X(i5) X(i6) X(i7)
#define TASK_VARIABLE(name) VARIABLE_##name,
enum task_variable { TASK_VARIABLES(TASK_VARIABLE) VARIABLE_COUNT };
#undef TASK_VARIABLE
enum { TASK_LOOPS = VARIABLE_COUNT - VARIABLE_i0 };

struct task_expression; /* NULL: none */
/* Reads an expression from *at on and moves *at behind it. NULL: *err says why not. */
struct task_expression *expression_read(const char **at, struct gs_error *err);
int64_t expression_value(const struct task_expression *e, const int64_t variables[VARIABLE_COUNT]);

/* ---- the list ---- */

struct task_buffer {
	char *name;
	uint64_t bytes, begin;
};

enum task_target { TARGET_LOCAL = -2, TARGET_PRIVATE = -3 }; /* others: the number of a buffer */
enum task_pattern { PATTERN_COALESCED, PATTERN_STRIDED, PATTERN_RANDOM, PATTERN_BROADCAST, PATTERN_AT, PATTERN_TABLE };
struct task_access {
	int32_t target;
	enum task_pattern pattern;
	uint32_t width;
	int64_t stride;                  /* elements */
	uint64_t footprint, offset, reuse;
	struct task_expression *at;      /* owned by the list */
	int32_t table;
};

/* Addresses that follow no rule: a row for each execution by a warp, one after the other. */
struct task_table {
	char *name;
	struct task_row {
		size_t first;   /* of the values */
		uint32_t count; /* 1: base and stride follow; else of the active lanes, ascending */
		int64_t stride;
	} *rows;
	size_t row_count, row_room;
	uint64_t *values;
	size_t value_count, value_room;
};

enum task_kind { TASK_OPERATION, TASK_LOOP, TASK_BRANCH, TASK_WHEN, TASK_WARPS, TASK_DO };
enum task_by { BY_LANE, BY_WARP, BY_GROUP }; /* who decides */
struct task_node {
	enum task_kind kind;
	uint32_t line;
	int32_t next, body, other;   /* other: of branches, else */
	/* operations */
	char opcode[28];
	uint32_t pc, times;
	int16_t result;
	int16_t sources[OBSERVED_SOURCES];
	uint8_t source_count;
	uint8_t chains, chain;       /* no registers are named: it goes through so many chains, from this one on; 0: they are named */
	bool off;                    /* an access that no lane makes */
	bool waits, keeps;           /* it waits for what its chain has; its result goes there */
	int32_t access;              /* of an operation; of a do: its first */
	uint32_t access_count;
	/* flow */
	uint64_t least, most;        /* turns of a loop */
	double chance;               /* of a branch; of a loop to end after a turn */
	enum task_by by;
	bool bare;                   /* a loop that needs no instructions of its own */
	struct task_expression *when;
	size_t first_range, range_count;
};
struct task_range {
	uint64_t first, last;
};

struct task_piece {
	char *name;
	int32_t body;
	uint32_t accesses;
	uint8_t widths[TASK_MOST_PIECE_ACCESSES];
};

struct task_kernel {
	char *name;
	uint64_t grid[3], block[3];
	uint32_t registers, ilp;
	uint64_t local_bytes;
	uint64_t recorded_warps;  /* what numbers of warps are taken modulo of; 0: all */
	int32_t body;
	uint32_t end_pc;
	bool exits;               /* it has EXIT of its own */
	bool varies;              /* groups need not do the same */
	double warp_instructions; /* of a warp, at most about */
};

struct task_step {
	enum { STEP_LAUNCH, STEP_COPY, STEP_HOST } kind;
	size_t kernel;
	enum transfer_kind how;
	size_t buffer;
	uint64_t bytes;
	double seconds;
};

struct task_list {
	const char *path;
	struct task_buffer *buffers;
	size_t buffer_count, buffer_room;
	struct task_kernel *kernels;
	size_t kernel_count, kernel_room;
	struct task_piece *pieces;
	size_t piece_count, piece_room;
	struct task_access *accesses;
	size_t access_count, access_room;
	struct task_table *tables;
	size_t table_count, table_room;
	struct task_node *nodes;
	size_t node_count, node_room;
	struct task_range *ranges;
	size_t range_count, range_room;
	struct task_step *steps;
	size_t step_count, step_room;
	bool exits; /* some piece has EXIT */
	char **names; /* of values, whose registers are numbered */
	size_t name_count, name_room;
	struct task_expression **expressions;
	size_t expression_count, expression_room;
};

/* parse.c, kernel.c. *err begins with file:line. The list is to be freed in any case. */
int task_parse(const char *path, const char *text, size_t length, struct task_list *out, struct gs_error *err);
void task_free(struct task_list *list);

/* ---- execute.c ---- */

struct task_launch {
	const struct task_list *list;
	const struct task_kernel *kernel;
	uint64_t groups, counted, traced; /* which groups are carried out: the first `counted`, and those that are traced */
	struct sass_header header;
	size_t first; /* the number of its first launch, from 1 */
};
void task_launch_begin(struct task_launch *launch, const struct task_list *list, const struct task_kernel *kernel, const struct import_job *job);
extern const struct sass_kind task_stream_kind; /* of a struct task_launch */

/* ---- profile.c ---- */
int task_write(const struct task_list *list, struct import_job *job, const char *input, const char *output, struct gs_error *err);

#endif
