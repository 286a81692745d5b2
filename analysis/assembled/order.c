/*
 * Blocks in the order that they are executed in: each before those that it leads to, and the blocks of a loop together. That leaves open which of
 * two arms comes first; see struct flow_graph.
 */
#include "analysis/assembled/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int flow_graph_make(struct flow_graph *g, uint32_t blocks, uint32_t edges)
{
	*g = (struct flow_graph){.count = blocks};
	g->first = calloc(blocks + 2u, sizeof *g->first);
	g->to = calloc(edges + 1u, sizeof *g->to);
	g->depths = calloc(blocks + 1u, sizeof *g->depths);
	g->flipped = calloc(blocks + 1u, sizeof *g->flipped);
	g->order = calloc(blocks + 1u, sizeof *g->order);
	return g->first && g->to && g->depths && g->flipped && g->order ? 0 : -ENOMEM;
}

void flow_graph_free(struct flow_graph *g)
{
	free(g->first);
	free(g->to);
	free(g->depths);
	free(g->flipped);
	free(g->order);
}

/* The way out of a block that is followed as number n: first those that leave most loops, so that what they lead to comes last. */
static uint32_t way_at(const struct flow_graph *g, uint32_t block, uint32_t n)
{
	uint32_t count = g->first[block + 1] - g->first[block];
	const uint32_t *to = g->to + g->first[block];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t before = 0;
		for (uint32_t other = 0; other < count; other++) {
			uint32_t a = g->depths[to[other]], b = g->depths[to[i]];
			before += a < b || (a == b && (g->flipped[block] ? other > i : other < i));
		}
		if (before == n)
			return to[i];
	}
	return to[0];
}

int flow_graph_order(struct flow_graph *g)
{
	uint8_t *seen = calloc(g->count + 1u, 1);
	uint32_t *stack = calloc(2u * (g->count + 1u), sizeof *stack), *next = stack ? stack + g->count + 1u : NULL, depth = 0, left = g->count;
	if (!seen || !stack) {
		free(seen);
		free(stack);
		return -ENOMEM;
	}
	stack[depth++] = 0;
	seen[0] = 1;
	while (depth && g->count) {
		uint32_t block = stack[depth - 1];
		if (next[block] == g->first[block + 1] - g->first[block]) {
			g->order[--left] = block;
			depth--;
			continue;
		}
		uint32_t to = way_at(g, block, next[block]++);
		if (!seen[to]) {
			seen[to] = 1;
			stack[depth++] = to;
		}
	}
	memmove(g->order, g->order + left, (g->count - left) * sizeof *g->order);
	g->ordered = g->count - left;
	free(seen);
	free(stack);
	return 0;
}
