#include "runtime/guest/nvidia/graphs.h"

#include "runtime/base/base.h"
#include "runtime/guest/nvidia/calls.h"
#include "runtime/guest/nvidia/kernels.h"
#include "runtime/guest/support/table.h"
#include "runtime/runtime.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_NODES = 4096, MOST_LEVELS = 4 };

struct graph_kernels {
	size_t count, room;
	struct gpu_kernel **list; /* one for each launch */
};

static struct {
	pthread_mutex_t lock;
	struct table known; /* struct graph_kernels by executable graph */
} graphs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_kernel(struct graph_kernels *g, void *node)
{
	struct nvidia_node n = {0};
	if (!nvidia.node_kernel || nvidia.node_kernel(node, &n))
		return;
	const void *function = n.function ? n.function : n.kernel;
	if (function && gs_reserve(&g->list, g->count, &g->room, sizeof *g->list) && (g->list[g->count] = kernels_get(function)))
		g->count++;
}

static void add_nodes(struct graph_kernels *g, void *graph, unsigned level)
{
	enum { KERNEL = 0, CHILD = 4 };
	size_t count = 0;
	void *child;
	int type;
	if (nvidia.graph_nodes(graph, NULL, &count) || !count || count > MOST_NODES || level == MOST_LEVELS)
		return;
	void **nodes = calloc(count, sizeof *nodes);
	if (nodes && !nvidia.graph_nodes(graph, nodes, &count))
		for (size_t i = 0; i < count && g->count < MOST_NODES; i++) {
			if (nvidia.node_type(nodes[i], &type))
				continue;
			if (type == KERNEL)
				add_kernel(g, nodes[i]);
			else if (type == CHILD && nvidia.node_graph && !nvidia.node_graph(nodes[i], &child))
				add_nodes(g, child, level + 1);
		}
	free(nodes);
}

static void free_kernels(struct graph_kernels *g)
{
	if (g)
		free(g->list);
	free(g);
}

void graphs_made(const void *executable, void *graph)
{
	struct graph_kernels *g = nvidia.graph_nodes && nvidia.node_type ? calloc(1, sizeof *g) : NULL;
	if (g)
		add_nodes(g, graph, 0);
	pthread_mutex_lock(&graphs.lock);
	free_kernels(g ? table_put(&graphs.known, executable, g) : table_remove(&graphs.known, executable)); /* g itself if memory is short */
	pthread_mutex_unlock(&graphs.lock);
}

void graphs_gone(const void *executable)
{
	pthread_mutex_lock(&graphs.lock);
	free_kernels(table_remove(&graphs.known, executable));
	pthread_mutex_unlock(&graphs.lock);
}

void graphs_launched(const void *executable)
{
	pthread_mutex_lock(&graphs.lock);
	const struct graph_kernels *g = table_get(&graphs.known, executable);
	for (size_t i = 0; g && i < g->count; i++)
		launch_not_modelled(g->list[i]->title, "it is part of a graph, which is measured as a whole");
	pthread_mutex_unlock(&graphs.lock);
}
