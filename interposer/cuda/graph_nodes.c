/* Graphs that the application makes node by node, and looks at. */
#include "interposer/cuda/copies.h"
#include "interposer/cuda/launch.h"

#include <stdlib.h>

/* ---- commands of nodes ---- */

static int kernel_command(const struct api_kernel_node *p, struct graph_command *out)
{
	if (p && !p->args && p->extra)
		error_say_once("extra", "kernel nodes with parameters in one piece are not implemented yet");
	if (!p || (!p->args && p->extra))
		return p ? cudaErrorNotSupported : cudaErrorInvalidValue;
	return launch_command(p->function, p->grid, p->block, p->args, p->dynamic_shared, out);
}

static int copy_command(const struct api_copy3d *p, struct graph_command *out)
{
	*out = (struct graph_command){.kind = NODE_COPY};
	return copy_box_check(p, &out->copy);
}

static int line_command(void *to, const void *from, size_t bytes, int direction, struct graph_command *out)
{
	*out = (struct graph_command){.kind = NODE_COPY};
	return copy_line_check(to, from, bytes, direction, &out->copy);
}

static int fill_command(const struct api_fill_node *p, struct graph_command *out)
{
	if (!p || (p->unit != 1 && p->unit != 2 && p->unit != 4))
		return cudaErrorInvalidValue;
	*out = (struct graph_command){.kind = NODE_FILL};
	out->copy = (struct cuda_copy){.to = p->to, .width = p->width * p->unit, .height = p->height, .depth = 1, .to_pitch = p->pitch};
	out->value = p->value;
	out->unit = p->unit;
	return fill_check(&out->copy);
}

static int host_command(const struct api_host_node *p, struct graph_command *out)
{
	if (!p || !p->function)
		return cudaErrorInvalidValue;
	*out = (struct graph_command){.kind = NODE_HOST};
	out->host_function = p->function;
	out->host_data = p->data;
	return cudaSuccess;
}

/* With the lock held. */
static int child_command(const void *child, struct graph_command *out)
{
	struct command_graph *g = graph_find(child, false);
	if (!g)
		return cudaErrorInvalidValue;
	struct graph_command of_it = {.kind = NODE_GRAPH};
	of_it.child = g;
	return graph_command_copy(&of_it, out) ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* ---- adding nodes ---- */

/* With the lock held. Takes the command over, if there was no error before. */
static int add(void **node, void *graph, void *const *after, size_t count, int error, struct graph_command *c)
{
	if (error)
		return error;
	struct command_graph *g = graph_find(graph, false);
	bool good = node && g && (!count || after);
	for (size_t i = 0; i < count && good; i++) {
		const struct graph_node *n = graph_node_find(after[i]);
		good = n && n->graph == g;
	}
	if (!good) {
		graph_command_free(c);
		return cudaErrorInvalidValue;
	}
	*node = graph_add(g, c, (struct graph_node *const *)after, count);
	return *node ? cudaSuccess : cudaErrorMemoryAllocation;
}

#define ADD(error_of_command) \
	struct graph_command c; \
	graphs_lock(); \
	int error = add(node, graph, after, count, error_of_command, &c); \
	graphs_unlock(); \
	return error;

int hook_cudaGraphAddKernelNode(void **node, void *graph, void *const *after, size_t count, const struct api_kernel_node *what)
{
	ADD(kernel_command(what, &c))
}

int hook_cudaGraphAddMemcpyNode(void **node, void *graph, void *const *after, size_t count, const struct api_copy3d *what)
{
	ADD(copy_command(what, &c))
}

int hook_cudaGraphAddMemcpyNode1D(void **node, void *graph, void *const *after, size_t count, void *to, const void *from, size_t bytes,
                                  int direction)
{
	ADD(line_command(to, from, bytes, direction, &c))
}

int hook_cudaGraphAddMemsetNode(void **node, void *graph, void *const *after, size_t count, const struct api_fill_node *what)
{
	ADD(fill_command(what, &c))
}

int hook_cudaGraphAddHostNode(void **node, void *graph, void *const *after, size_t count, const struct api_host_node *what)
{
	ADD(host_command(what, &c))
}

int hook_cudaGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count)
{
	ADD((c = (struct graph_command){.kind = NODE_EMPTY}, cudaSuccess))
}

int hook_cudaGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count, void *child)
{
	ADD(child_command(child, &c))
}

/* ---- changing nodes ---- */

/* With the lock held. Takes the command over, if there was no error before. */
static int set(struct graph_node *n, int error, struct graph_command *c)
{
	if (error)
		return error;
	if (!n || n->command.kind != c->kind) {
		graph_command_free(c);
		return cudaErrorInvalidValue;
	}
	graph_command_free(&n->command);
	n->command = *c;
	return cudaSuccess;
}

/* With the lock held. The node of an executable graph that was made of this one, or NULL. */
static struct graph_node *executable_node(void *exec, void *node)
{
	struct command_graph *g = graph_find(exec, true);
	struct graph_node *n = graph_node_find(node);
	return g && n ? graph_node_copied(g, n) : NULL;
}

#define SET(which, error_of_command) \
	struct graph_command c; \
	graphs_lock(); \
	int error = set(which, error_of_command, &c); \
	graphs_unlock(); \
	return error;

int hook_cudaGraphKernelNodeSetParams(void *node, const struct api_kernel_node *what)
{
	SET(graph_node_find(node), kernel_command(what, &c))
}

int hook_cudaGraphMemcpyNodeSetParams(void *node, const struct api_copy3d *what)
{
	SET(graph_node_find(node), copy_command(what, &c))
}

int hook_cudaGraphMemcpyNodeSetParams1D(void *node, void *to, const void *from, size_t bytes, int direction)
{
	SET(graph_node_find(node), line_command(to, from, bytes, direction, &c))
}

int hook_cudaGraphMemsetNodeSetParams(void *node, const struct api_fill_node *what)
{
	SET(graph_node_find(node), fill_command(what, &c))
}

int hook_cudaGraphHostNodeSetParams(void *node, const struct api_host_node *what)
{
	SET(graph_node_find(node), host_command(what, &c))
}

int hook_cudaGraphExecKernelNodeSetParams(void *exec, void *node, const struct api_kernel_node *what)
{
	SET(executable_node(exec, node), kernel_command(what, &c))
}

int hook_cudaGraphExecMemcpyNodeSetParams(void *exec, void *node, const struct api_copy3d *what)
{
	SET(executable_node(exec, node), copy_command(what, &c))
}

int hook_cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *to, const void *from, size_t bytes, int direction)
{
	SET(executable_node(exec, node), line_command(to, from, bytes, direction, &c))
}

int hook_cudaGraphExecMemsetNodeSetParams(void *exec, void *node, const struct api_fill_node *what)
{
	SET(executable_node(exec, node), fill_command(what, &c))
}

int hook_cudaGraphExecHostNodeSetParams(void *exec, void *node, const struct api_host_node *what)
{
	SET(executable_node(exec, node), host_command(what, &c))
}

int hook_cudaGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child)
{
	SET(executable_node(exec, node), child_command(child, &c))
}

int hook_cudaGraphNodeSetEnabled(void *exec, void *node, unsigned enabled)
{
	graphs_lock();
	struct graph_node *n = executable_node(exec, node);
	if (n)
		n->disabled = !enabled;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphNodeGetEnabled(void *exec, void *node, unsigned *enabled)
{
	graphs_lock();
	const struct graph_node *n = enabled ? executable_node(exec, node) : NULL;
	if (n)
		*enabled = !n->disabled;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- graphs ---- */

int hook_cudaGraphCreate(void **graph, unsigned flags)
{
	if (!graph || flags)
		return cudaErrorInvalidValue;
	graphs_lock();
	*graph = graph_new(false);
	graphs_unlock();
	return *graph ? cudaSuccess : cudaErrorMemoryAllocation;
}

int hook_cudaGraphDestroy(void *graph)
{
	graphs_lock();
	struct command_graph *g = graph_find(graph, false);
	bool own = g && !g->inner;
	if (own)
		graph_free(g);
	graphs_unlock();
	return own ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphClone(void **copy, void *graph)
{
	graphs_lock();
	const struct command_graph *g = copy ? graph_find(graph, false) : NULL;
	struct command_graph *made = g ? graph_copy(g, false) : NULL;
	if (made)
		*copy = made;
	graphs_unlock();
	return made ? cudaSuccess : g ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
}

int hook_cudaGraphDestroyNode(void *node)
{
	graphs_lock();
	struct graph_node *n = graph_node_find(node);
	if (n)
		graph_remove_node(n);
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

static int change_edges(void *graph, void *const *from, void *const *to, size_t count, bool adding)
{
	int error = cudaSuccess;
	graphs_lock();
	const struct command_graph *g = graph_find(graph, false);
	if (!g || (count && (!from || !to)))
		error = cudaErrorInvalidValue;
	for (size_t i = 0; i < count && !error; i++) {
		struct graph_node *before = graph_node_find(from[i]), *after = graph_node_find(to[i]);
		if (!before || !after || before->graph != g || after->graph != g)
			error = cudaErrorInvalidValue;
		else if (!adding)
			graph_remove_edge(after, before);
		else if (!graph_add_edge(after, before))
			error = cudaErrorMemoryAllocation;
	}
	graphs_unlock();
	return error;
}

int hook_cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *data, size_t count, int version)
{
	return change_edges(graph, from, to, version < 13 ? (size_t)data : count, true);
}

int hook_cudaGraphAddDependencies_v2(void *graph, void *const *from, void *const *to, const void *data, size_t count)
{
	(void)data;
	return change_edges(graph, from, to, count, true);
}

int hook_cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, const void *data, size_t count, int version)
{
	return change_edges(graph, from, to, version < 13 ? (size_t)data : count, false);
}

int hook_cudaGraphRemoveDependencies_v2(void *graph, void *const *from, void *const *to, const void *data, size_t count)
{
	(void)data;
	return change_edges(graph, from, to, count, false);
}

/* ---- questions ---- */

/* Without `nodes` their number is asked for. What is left of `nodes` becomes NULL. */
static int list_nodes(void *graph, void **nodes, size_t *count, bool roots)
{
	graphs_lock();
	const struct command_graph *g = count ? graph_find(graph, false) : NULL;
	size_t found = 0;
	for (size_t i = 0; g && i < g->count; i++) {
		if (roots && g->nodes[i]->after_count)
			continue;
		if (nodes && found < *count)
			nodes[found] = g->nodes[i];
		found++;
	}
	for (size_t i = found; g && nodes && i < *count; i++)
		nodes[i] = NULL;
	if (g && (!nodes || found < *count))
		*count = found;
	graphs_unlock();
	return g ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphGetNodes(void *graph, void **nodes, size_t *count)
{
	return list_nodes(graph, nodes, count, false);
}

int hook_cudaGraphGetRootNodes(void *graph, void **nodes, size_t *count)
{
	return list_nodes(graph, nodes, count, true);
}

static int list_edges(void *graph, void **from, void **to, size_t *count)
{
	graphs_lock();
	const struct command_graph *g = count && !from == !to ? graph_find(graph, false) : NULL;
	size_t found = 0;
	for (size_t i = 0; g && i < g->count; i++)
		for (size_t k = 0; k < g->nodes[i]->after_count; k++, found++)
			if (from && found < *count) {
				from[found] = g->nodes[i]->after[k];
				to[found] = g->nodes[i];
			}
	for (size_t i = found; g && from && i < *count; i++)
		from[i] = to[i] = NULL;
	if (g && (!from || found < *count))
		*count = found;
	graphs_unlock();
	return g ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphGetEdges(void *graph, void **from, void **to, void *data, size_t *count, int version)
{
	return list_edges(graph, from, to, version < 13 ? data : count);
}

int hook_cudaGraphGetEdges_v2(void *graph, void **from, void **to, void *data, size_t *count)
{
	(void)data;
	return list_edges(graph, from, to, count);
}

int hook_cudaGraphNodeGetType(void *node, int *kind)
{
	graphs_lock();
	const struct graph_node *n = kind ? graph_node_find(node) : NULL;
	if (n)
		*kind = n->command.kind;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphNodeFindInClone(void **out, void *node, void *graph)
{
	graphs_lock();
	const struct command_graph *g = graph_find(graph, false);
	const struct graph_node *n = out && g ? graph_node_find(node) : NULL;
	struct graph_node *found = n ? graph_node_copied(g, n) : NULL;
	if (found)
		*out = found;
	graphs_unlock();
	return found ? cudaSuccess : cudaErrorInvalidValue;
}
