/*
 * Task lists of what was recorded. A launch's trace (as gpusim export writes it) is read whole; straight runs of instructions become pieces, what a warp
 * executes becomes pieces in repeats (fold.c), warps that do the same share it, and addresses become expressions or tables (fit.c).
 */
#ifndef GPUSIM_RUNTIME_CMD_TASK_FROM_H
#define GPUSIM_RUNTIME_CMD_TASK_FROM_H

#include "runtime/cmd/task/task.h"

struct recorded_instruction {
	uint64_t pc;
	char opcode[28];
	int16_t result, sources[OBSERVED_SOURCES];
	uint8_t source_count;
	bool off, memory;
	uint32_t next, before; /* the instruction that always follows it, plus 1, and that it always follows; 0: none is known yet */
	bool parts, joins;     /* there are several; or lanes change between them */
	uint32_t piece;        /* that begins with it, plus 1 */
};

/* What a warp executed. */
struct recorded_line {
	uint32_t instruction, mask;
	size_t address; /* of the first lane's, among the launch's; of an access */
};

struct recorded_piece {
	uint32_t first, count, accesses; /* instructions, among the order */
};

/* Pieces in repeats: a tree in execution order. */
struct recorded_node {
	uint32_t piece, mask; /* of a leaf; mask: UINT32_MAX for all lanes of its warp */
	uint64_t turns;       /* of a repeat; 0: a leaf */
	uint32_t size;        /* nodes with its children, which follow it */
	uint64_t hash;
};
struct recorded_tree {
	struct recorded_node *nodes;
	size_t count, room;
};
/* Tokens are pieces with masks. Returns 0 or -ENOMEM. */
int fold_tokens(const struct recorded_node *tokens, size_t count, struct recorded_tree *out);

struct recorded_warp {
	uint64_t group;
	uint32_t number, full;    /* lanes that it has */
	size_t first_line, lines, first_token, tokens;
	struct recorded_tree tree;
	size_t variant;
};

struct recorded_launch {
	struct sass_header header;
	struct recorded_instruction *instructions;
	size_t instruction_count, instruction_room;
	uint32_t *slots;
	size_t slot_count;
	struct recorded_line *lines;
	size_t line_count, line_room;
	uint64_t *addresses;
	size_t address_count, address_room;
	struct recorded_warp *warps;
	size_t warp_count, warp_room;
	struct recorded_piece *pieces;
	size_t piece_count, piece_room;
	uint32_t *order; /* instructions of pieces */
	size_t order_count, order_room;
	struct recorded_node *tokens;
	size_t *token_lines; /* where each token begins among the lines */
	size_t token_count, token_room, token_line_room;
};

int recorded_read(const char *path, struct recorded_launch *out, struct gs_error *err);
void recorded_free(struct recorded_launch *l);

/* fit.c: where an access of a leaf goes, over all warps of a variant. */
struct recorded_sample {
	int64_t variables[VARIABLE_COUNT];
	uint64_t offset;
	uint32_t lane;
};
/* Writes a sum of variables that has the offset of every sample. False: there is none. */
bool fit_expression(const struct recorded_sample *samples, size_t count, uint32_t loops, struct gs_buf *out);

/* write.c: appends the launch: tables, pieces and its kernel. prefix: of names that are its own. */
int recorded_write(const struct recorded_launch *l, const struct touched_pieces *memory, const char *name, struct gs_buf *out, struct gs_error *err);

/* from.c: the command. */
int task_from(const char *input, int argc, char **argv, const char *output);

#endif
