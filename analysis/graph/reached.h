/* The functions that a kernel reaches by calls, with their graphs and their offsets in common arrays. */
#ifndef GPUSIM_ANALYSIS_GRAPH_REACHED_H
#define GPUSIM_ANALYSIS_GRAPH_REACHED_H

#include "analysis/graph/graph.h"

/* Blocks, edges, instructions, registers and loops are numbered across all functions. The numbers of this function begin here. */
struct reached_function {
	const struct ptx_function *ptx;
	struct graph *graph;
	uint32_t first_block, first_edge, first_instruction, first_register, first_loop;
};

struct reached_functions {
	struct reached_function *functions; /* the kernel itself is the first */
	uint32_t count;
};

#endif
