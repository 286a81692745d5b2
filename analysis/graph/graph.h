/*
 * graph: the control flow of one PTX function: basic blocks, dominators, loops, and what is live where.
 */
#ifndef GPUSIM_ANALYSIS_GRAPH_GRAPH_H
#define GPUSIM_ANALYSIS_GRAPH_GRAPH_H

#include "analysis/ptx/ptx.h"

struct graph_edge {
	uint32_t from;
	int32_t to; /* -1: out of the function */
	bool taken, back; /* back: to the header of a loop that `from` is in */
};

struct graph_block {
	uint32_t first, count;           /* instructions; blocks lie one after the other as in the text */
	uint32_t first_edge, edge_count; /* out; at least one */
	uint32_t first_in, in_count;     /* in graph.in: edges in */
	int32_t idom, ipdom;             /* -1: none, or the end */
	int32_t loop;                    /* innermost, or -1 */
	bool reachable;
	bool calls;                      /* its last instruction calls a function */
	struct graph_span {
		uint32_t first, last;
	} dominates, post_dominates;     /* what it does, numbered so that a subtree is a span; first 0: in no tree */
};

struct graph_loop {
	uint32_t header;
	int32_t outer;
	uint32_t depth; /* 1: outermost */
};

struct graph {
	const struct ptx_function *function;
	struct graph_block *blocks; /* block 0 is the entry */
	struct graph_edge *edges;
	uint32_t *in;
	struct graph_loop *loops; /* outer ones before inner ones */
	uint32_t *order; /* the reachable blocks in reverse postorder: before what they lead to, but for loops */
	uint32_t block_count, edge_count, loop_count, order_count;
};

/* A block begins at the entry, at a label that is jumped to and after a branch or call; it ends there too. A guarded
 * ret or exit ends its block with two edges. A label that is missing or at the end leads out. A function without
 * instructions has one empty block. Irreducible flow gives loops only where a header dominates. */
int graph_build(const struct ptx_function *function, struct graph **out, struct gs_error *err);
void graph_free(struct graph *g);
bool graph_dominates(const struct graph *g, uint32_t a, uint32_t b);
bool graph_post_dominates(const struct graph *g, uint32_t a, uint32_t b);
bool graph_in_loop(const struct graph *g, uint32_t block, uint32_t loop); /* or in a loop inside of it */
/* Immediate post-dominators of all blocks as if some edges were not there; -1 where there is none. */
int graph_find_joins(const struct graph *g, const bool *without, int32_t *out, struct gs_error *err);
int32_t graph_block_of(const struct graph *g, uint32_t instruction);

/* Liveness: the most 32-bit registers that are live at once (64-bit ones count two, predicates none), and at the
 * begin of every block, whose bits the caller frees. */
struct liveness {
	uint32_t words; /* 64-bit words of a set */
	uint64_t *in, *out; /* block b from b * words */
	uint32_t most, most_predicates;
	uint32_t most_at; /* instruction */
};
int graph_liveness(const struct graph *g, struct liveness *out, struct gs_error *err);
void liveness_free(struct liveness *l);

/*
 * Registers per thread as an assembler would take them: liveness with what machine code needs beyond it (addresses
 * of 32 bits where the space has them, parameters read from constant memory, never below a minimum), rounded and capped
 * by the architecture. *spilled says how many did not fit. call_registers: of the functions that it calls.
 */
uint32_t graph_registers(const struct graph *g, const struct liveness *l, const char *arch, uint32_t call_registers,
                         uint32_t *spilled);

/* DOT text of the graph; labels have the instructions when `instructions`. */
void graph_dot(const struct graph *g, bool instructions, struct gs_buf *out);

#endif
