/* Which nodes of a graph may run beside each other. */
#include "interposer/cuda/graphs/graphs.h"

/* The lane of a node that nothing has followed yet, among those that the node comes after. lane_count: there is none. */
static size_t lane_to_go_on(const struct command_graph *g, const struct graph_node *node, struct graph_node *const *tails)
{
	size_t lane = g->lane_count;
	for (size_t i = 0; i < node->after_count; i++) {
		const struct graph_node *before = node->after[i];
		if (before->lane < lane && tails[before->lane] == before)
			lane = before->lane;
	}
	return lane;
}

void graph_find_lanes(struct command_graph *g)
{
	struct graph_node *tails[GRAPH_MOST_LANES];
	g->lane_count = 0;
	for (size_t i = 0; i < g->count; i++) {
		struct graph_node *node = g->nodes[i];
		node->awaited = false;
		node->lane = lane_to_go_on(g, node, tails);
		if (node->lane == GRAPH_MOST_LANES)
			node->lane = i % GRAPH_MOST_LANES;
		if (node->lane == g->lane_count)
			g->lane_count++;
		tails[node->lane] = node;
		for (size_t k = 0; k < node->after_count; k++)
			node->after[k]->awaited |= node->after[k]->lane != node->lane;
	}
}
