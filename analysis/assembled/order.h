/* order: the order in which blocks are executed, as far as control flow says so. */
#ifndef GPUSIM_ANALYSIS_ASSEMBLED_ORDER_H
#define GPUSIM_ANALYSIS_ASSEMBLED_ORDER_H

#include "runtime/base/base.h"

struct flow_graph {
	uint32_t count;   /* blocks */
	uint32_t *first;  /* by block: of its ways in `to`; one more at the end */
	uint32_t *to;     /* the block that a way leads to. Where nothing else says so, what the last way leads to comes first */
	uint32_t *depths; /* by block: loops around it */
	bool *flipped;    /* by block: what its first way leads to comes first */
	uint32_t *order, ordered; /* blocks that are reached */
};

/* Makes room. -ENOMEM: there is none. The caller fills first, to and depths, and frees with flow_graph_free, also after an error. */
int flow_graph_make(struct flow_graph *g, uint32_t blocks, uint32_t edges);
void flow_graph_free(struct flow_graph *g);
int flow_graph_order(struct flow_graph *g); /* fills `order`; 0 or -ENOMEM */

#endif
