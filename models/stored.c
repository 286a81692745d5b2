/* The arguments that the addresses of stores and atomics depend on: pointers, and numbers that have no memory. */
#include "models/stored.h"

#include <stdlib.h>

static uint32_t of_node(const uint32_t *nodes, int32_t n)
{
	return n >= 0 ? nodes[n] : 0;
}

/* Operands come before their users. What was loaded is an index. */
uint32_t *arguments_of_nodes(const struct kernel_code *code)
{
	uint32_t *nodes = calloc(code->node_count + 1, sizeof *nodes);
	if (!nodes)
		return NULL;
	for (uint32_t n = 0; n < code->node_count; n++) {
		const struct code_node *node = &code->nodes[n];
		bool loaded = node->op == NODE_loaded || node->op == NODE_list || node->op == NODE_content;
		nodes[n] = loaded ? 0 : of_node(nodes, node->a) | of_node(nodes, node->b) | of_node(nodes, node->c);
		if (node->op == NODE_param && node->value >= 0 && node->value < 32)
			nodes[n] |= 1u << node->value;
	}
	return nodes;
}

uint32_t stored_arguments(const struct kernel_code *code)
{
	uint32_t stored = 0, *nodes = arguments_of_nodes(code);
	for (uint32_t i = 0; nodes && i < code->code_count; i++) {
		const struct code_instruction *in = &code->code[i];
		bool outside = in->space == SPACE_global || in->space == SPACE_generic;
		stored |= outside && (in->class == CODE_store || in->class == CODE_atomic) ? of_node(nodes, in->address) : 0;
	}
	free(nodes);
	return stored;
}
