/*
 * graph: the control flow of one PTX function: basic blocks, dominators, loops, and live registers.
 */
#ifndef GPUSIM_ANALYSIS_GRAPH_GRAPH_H
#define GPUSIM_ANALYSIS_GRAPH_GRAPH_H

#include "analysis/ptx/ptx.h"

struct graph_edge {
	uint32_t from;
	int32_t to; /* -1: out of the function */
	bool taken, back; /* back: it leads to the header of a loop that contains `from` */
};

struct graph_block {
	uint32_t first, count;           /* instructions; blocks are in the order of the text */
	uint32_t first_edge, edge_count; /* edges that leave the block; at least one */
	uint32_t first_in, in_count;     /* edges that enter the block: a part of graph.in */
	int32_t idom, ipdom;             /* -1: none, or the end */
	int32_t loop;                    /* innermost, or -1 */
	bool reachable;
	bool calls;                      /* its last instruction calls a function */
	struct graph_span {
		uint32_t first, last;
	} dominates, post_dominates;     /* what the block dominates and post-dominates; a subtree is a span of numbers; first 0: in no tree */
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
	uint32_t *order; /* the reachable blocks in reverse postorder: a block comes before its successors, except along back edges */
	uint32_t block_count, edge_count, loop_count, order_count;
};

/* A block begins at the entry, at a label that some branch names, and after a branch or call. A branch or call ends its block, except
 * calls of library functions that machine instructions replace. A guarded ret or exit ends its block with two edges. A label that is missing,
 * or that stands at the end, leads out of the function. A function without instructions has one empty block. In irreducible flow, only a header
 * that dominates its loop makes a loop. */
int graph_build(const struct ptx_function *function, struct graph **out, struct gs_error *err);
/* Fills in the rest of a graph that has blocks with their edges, and edges: what enters a block, dominators, loops. */
int graph_complete(struct graph *g, struct gs_error *err);
void graph_free(struct graph *g);
bool graph_dominates(const struct graph *g, uint32_t a, uint32_t b);
bool graph_post_dominates(const struct graph *g, uint32_t a, uint32_t b);
bool graph_in_loop(const struct graph *g, uint32_t block, uint32_t loop); /* also true if the block is in a loop inside `loop` */
/* Immediate post-dominators of all blocks, computed without the edges marked in `without`. -1: there is none. */
int graph_find_joins(const struct graph *g, const bool *without, int32_t *out, struct gs_error *err);
int32_t graph_block_of(const struct graph *g, uint32_t instruction);

/* Liveness. It gives the most 32-bit registers that are live at once: 64-bit registers count two, predicates count none. It also
 * gives the live registers at the begin and end of every block. The caller frees these sets. */
struct liveness {
	uint32_t words; /* 64-bit words of a set */
	uint64_t *in, *out; /* the set of block b begins at b * words */
	uint32_t most, most_predicates;
	uint32_t most_at; /* the instruction where `most` is reached */
};
int graph_liveness(const struct graph *g, struct liveness *out, struct gs_error *err);
void liveness_free(struct liveness *l);

/*
 * Registers per thread as an assembler would allocate them. It starts from liveness and adds the rules of machine code:
 * addresses have 32 bits where the space allows it, parameters are read from constant memory, and there is a minimum. The result
 * is rounded and limited as the architecture demands. *spilled is the number of registers that did not fit. call_registers is
 * the number that called functions take.
 */
uint32_t graph_registers(const struct graph *g, const struct liveness *l, const char *arch, uint32_t call_registers,
                         uint32_t *spilled);

/* The 32-bit words that each register takes in machine code, by the same rules: 0 if it is a constant or a predicate. 0 or -ENOMEM. */
int graph_register_words(const struct graph *g, const struct liveness *l, uint8_t *words);
/* The most words that values may take at once in a kernel of so many registers, if an assembler spends what costs no occupancy. The next
 * function is the other way round: the registers of a kernel whose values take so many words. */
uint32_t graph_free_words(const struct graph *g, const char *arch, uint32_t registers);
uint32_t graph_registers_of(uint32_t words);

/* DOT text of the graph. With `instructions`, the labels list the instructions. */
void graph_dot(const struct graph *g, bool instructions, struct gs_buf *out);

#endif
