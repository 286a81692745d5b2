#include "interposer/cuda/graphs/graphs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* a graph may be launched into a capture */
static struct command_graph *graphs;
static unsigned long long node_count; /* ever */

void graphs_lock(void)
{
	pthread_mutex_lock(&lock);
}

void graphs_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- graphs and handles ---- */

struct command_graph *graph_new(bool executable)
{
	struct command_graph *g = calloc(1, sizeof *g);
	if (!g)
		return NULL;
	g->executable = executable;
	g->next = graphs;
	graphs = g;
	return g;
}

static void node_free(struct graph_node *n)
{
	graph_command_free(&n->command);
	free(n->after);
	free(n);
}

void graph_free(struct command_graph *g)
{
	struct command_graph **at = &graphs;
	while (*at && *at != g)
		at = &(*at)->next;
	if (*at)
		*at = g->next;
	for (size_t i = 0; i < g->count; i++)
		node_free(g->nodes[i]);
	free(g->nodes);
	free(g);
}

struct command_graph *graph_find(const void *handle, bool executable)
{
	struct command_graph *g = graphs;
	while (g && (g != handle || g->executable != executable))
		g = g->next;
	return g;
}

struct graph_node *graph_node_find(const void *handle)
{
	for (const struct command_graph *g = graphs; g; g = g->next)
		for (size_t i = 0; i < g->count && !g->executable; i++)
			if (g->nodes[i] == handle)
				return g->nodes[i];
	return NULL;
}

struct graph_node *graph_node_copied(const struct command_graph *copy, const struct graph_node *origin)
{
	for (size_t i = 0; i < copy->count; i++)
		if (copy->nodes[i]->origin == origin->id)
			return copy->nodes[i];
	return NULL;
}

/* ---- commands ---- */

bool graph_command_copy(const struct graph_command *from, struct graph_command *to)
{
	*to = *from;
	if (from->kind == NODE_GRAPH) {
		to->child = graph_copy(from->child, from->child->executable);
		if (to->child)
			to->child->inner = true;
		return to->child;
	}
	if (from->kind != NODE_KERNEL)
		return true;
	size_t bytes = cuda_kernel_facts(from->launch.kernel)->parameter_bytes;
	void *parameters = malloc(bytes ? bytes : 1);
	if (parameters && bytes)
		memcpy(parameters, from->launch.parameters, bytes);
	to->launch.parameters = parameters;
	to->arguments = NULL;
	return parameters;
}

void graph_command_free(struct graph_command *c)
{
	if (c->kind == NODE_KERNEL) {
		free((void *)c->launch.parameters);
		free(c->arguments);
	}
	if (c->kind == NODE_GRAPH && c->child)
		graph_free(c->child);
}

/* ---- nodes and edges ---- */

bool graph_has_edge(const struct graph_node *node, const struct graph_node *after)
{
	for (size_t i = 0; i < node->after_count; i++)
		if (node->after[i] == after)
			return true;
	return false;
}

bool graph_add_edge(struct graph_node *node, struct graph_node *after)
{
	if (graph_has_edge(node, after))
		return true;
	if (!gs_reserve(&node->after, node->after_count, &node->after_room, sizeof *node->after))
		return false;
	node->after[node->after_count++] = after;
	return true;
}

void graph_remove_edge(struct graph_node *node, const struct graph_node *after)
{
	size_t kept = 0;
	for (size_t i = 0; i < node->after_count; i++)
		if (node->after[i] != after)
			node->after[kept++] = node->after[i];
	node->after_count = kept;
}

struct graph_node *graph_add(struct command_graph *g, const struct graph_command *c, struct graph_node *const *after, size_t count)
{
	struct graph_node *n = calloc(1, sizeof *n);
	struct graph_command own = *c;
	bool good = n && gs_reserve(&g->nodes, g->count, &g->room, sizeof *g->nodes);
	for (size_t i = 0; i < count && good; i++)
		good = after[i] && after[i]->graph == g && graph_add_edge(n, after[i]);
	if (!good) {
		if (n)
			free(n->after);
		free(n);
		graph_command_free(&own);
		return NULL;
	}
	n->id = ++node_count;
	n->graph = g;
	n->command = own;
	return g->nodes[g->count++] = n;
}

void graph_remove_node(struct graph_node *node)
{
	struct command_graph *g = node->graph;
	size_t kept = 0;
	for (size_t i = 0; i < g->count; i++) {
		graph_remove_edge(g->nodes[i], node);
		if (g->nodes[i] != node)
			g->nodes[kept++] = g->nodes[i];
	}
	g->count = kept;
	node_free(node);
}

/* The copies of nodes have the places of the originals. */
static bool copy_edges(const struct command_graph *from, struct command_graph *to)
{
	for (size_t i = 0; i < from->count; i++)
		from->nodes[i]->place = i;
	for (size_t i = 0; i < from->count; i++)
		for (size_t k = 0; k < from->nodes[i]->after_count; k++)
			if (!graph_add_edge(to->nodes[i], to->nodes[from->nodes[i]->after[k]->place]))
				return false;
	return true;
}

struct command_graph *graph_copy(const struct command_graph *g, bool executable)
{
	struct command_graph *copy = graph_new(executable);
	bool good = copy;
	for (size_t i = 0; i < g->count && good; i++) {
		struct graph_command c;
		good = graph_command_copy(&g->nodes[i]->command, &c);
		struct graph_node *n = good ? graph_add(copy, &c, NULL, 0) : NULL;
		good = n;
		if (n)
			n->origin = g->nodes[i]->id;
	}
	if (good && copy_edges(g, copy))
		return copy;
	if (copy)
		graph_free(copy);
	return NULL;
}

/* Moves nodes that wait for nothing more to the front, the earliest first, so that an order that is good stays as it is. */
bool graph_sort(struct command_graph *g)
{
	for (size_t i = 0; i < g->count; i++)
		g->nodes[i]->place = SIZE_MAX;
	for (size_t done = 0; done < g->count; done++) {
		size_t next = done;
		for (bool ready = false; next < g->count && !ready; next += !ready) {
			const struct graph_node *n = g->nodes[next];
			ready = true;
			for (size_t k = 0; k < n->after_count; k++)
				ready = ready && n->after[k]->place != SIZE_MAX;
		}
		if (next == g->count)
			return false;
		struct graph_node *n = g->nodes[next];
		memmove(g->nodes + done + 1, g->nodes + done, (next - done) * sizeof *g->nodes);
		g->nodes[done] = n;
		n->place = done;
		if (n->command.kind == NODE_GRAPH && !graph_sort(n->command.child))
			return false;
	}
	return true;
}

static bool same_edges(const struct graph_node *a, const struct graph_node *b)
{
	bool same = a->after_count == b->after_count;
	for (size_t i = 0; i < a->after_count && same; i++)
		same = a->after[i]->place == b->after[i]->place;
	return same;
}

bool graph_same_shape(const struct command_graph *a, const struct command_graph *b, size_t *at)
{
	*at = 0;
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		a->nodes[i]->place = b->nodes[i]->place = i;
	while (*at < a->count && a->nodes[*at]->command.kind == b->nodes[*at]->command.kind && same_edges(a->nodes[*at], b->nodes[*at]))
		++*at;
	return *at == a->count;
}
