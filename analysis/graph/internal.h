/* What the files of the control-flow graph share. */
#ifndef GPUSIM_ANALYSIS_GRAPH_INTERNAL_H
#define GPUSIM_ANALYSIS_GRAPH_INTERNAL_H

#include "analysis/graph/graph.h"

/* dominators.c: fills order, idom, ipdom, reachable and the spans. */
int graph_find_dominators(struct graph *g, struct gs_error *err);
/* loops.c: fills the loops, their blocks and the edges' `back`; needs dominators. */
int graph_find_loops(struct graph *g, struct gs_error *err);

/* liveness.c: counts the live registers at one point, while the caller walks backwards through a block. */
struct pressure {
	const struct ptx_function *function;
	uint8_t *weights; /* 32-bit words that each register takes */
	const int32_t *twins; /* per register: the register that it shares its place with while both are live, or -1; NULL: none */
	uint64_t *set;
	uint32_t words, predicates;
};
int pressure_create(struct pressure *p, const struct ptx_function *function); /* 0 or -ENOMEM */
void pressure_free(struct pressure *p);
void pressure_end_of(struct pressure *p, const struct liveness *l, uint32_t block);
/* pressure_behind() goes to the point right after an instruction. Its results count there even if no instruction reads them. The
 * next function goes on to the point before the instruction. */
void pressure_behind(struct pressure *p, uint32_t instruction);
void pressure_before(struct pressure *p, uint32_t instruction);
/* Counts between those two points: operands and results together. */
void pressure_across(struct pressure *p, uint32_t instruction);

/* early_loads.c: the order of all instructions, where each block has its loads as early as possible. 0 or -ENOMEM. */
int graph_early_loads(const struct graph *g, uint32_t *order);

/* temporaries.c: registers that an instruction needs besides its operands and results. A call of a function that is not in the
 * library needs `of_functions`. */
uint32_t register_temporaries(const struct ptx_instruction *i, uint32_t of_functions);

/* Whether it calls a function of mathematics whose instructions take the call's place (analysis/builtins). Such a call is part of its
 * block, and has nothing to do with memory. */
bool calls_library(const struct ptx_instruction *i);

bool opcode_ends(const char *opcode, const char *end);
/* Whether `opcode` is `word`, with or without modifiers after it. */
bool opcode_is(const char *opcode, const char *word);

#endif
