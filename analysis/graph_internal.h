/* What the files of the control-flow graph share. */
#ifndef GPUSIM_GRAPH_INTERNAL_H
#define GPUSIM_GRAPH_INTERNAL_H

#include "analysis/graph.h"

/* dominators.c: fills order, idom, ipdom, reachable and the spans. */
int graph_find_dominators(struct graph *g, struct gs_error *err);
/* loops.c: fills the loops, their blocks and the edges' `back`; needs dominators. */
int graph_find_loops(struct graph *g, struct gs_error *err);

#endif
