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

/* What single instructions do, for whoever follows them in order (analysis/mapping/steps.c). */

/* The operation of an instruction of integers with so many sources, and its widths; operands are not filled. swap: the first two change
 * places. False: it is none that we follow. */
bool operation_of(const struct ptx_instruction *i, size_t count, struct code_node *n, bool *swap);
/* %tid.y and the like; false: another special register. */
bool id_of_special(const char *name, enum code_node_op *op, int64_t *dimension);
int64_t parameter_index(const char *name); /* "kernel_param_3": 3; -1: something else */
const struct ptx_operand *address_operand(const struct ptx_instruction *i); /* NULL: it has none */
/* Symbols are addresses of variables. They are aligned and far apart from one another. */
int64_t address_of_symbol(const char *name);

#endif
