/*
 * addresses: how the address of each load and store follows from ids and arguments, as far as the code shows it.
 *
 * If a register has one definition, its value is that expression. If it has several (a loop's variable), its value is the one at
 * the entry of the loop. A loop adds the same amount in all lanes, unless the code shows otherwise.
 */
#ifndef GPUSIM_ANALYSIS_GRAPH_ADDRESSES_H
#define GPUSIM_ANALYSIS_GRAPH_ADDRESSES_H

#include "analysis/graph/graph.h"

struct address_table {
	struct code_node *nodes;
	uint32_t node_count;
	int32_t *of; /* per instruction of the function: its node, or -1 */
	uint8_t *guards; /* per instruction with a guard: CODE_UNIFORM, CODE_ORDERED or 0 */
};

int addresses_find(const struct graph *g, struct address_table *out, struct gs_error *err);
void addresses_free(struct address_table *t);

#endif
