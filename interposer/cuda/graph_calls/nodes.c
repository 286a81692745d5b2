/* Graphs that the application makes node by node, and looks at. */
#include "interposer/cuda/graph_calls/commands.h"
#include "interposer/cuda/interposer.h"
#include "interposer/cuda/memory.h"

/* ---- adding nodes ---- */

#define ADD(error_of_command) \
	struct graph_command c; \
	graphs_lock(); \
	int error = node_add(node, graph, after, count, error_of_command, &c); \
	graphs_unlock(); \
	return error;

int hook_cudaGraphAddKernelNode(void **node, void *graph, void *const *after, size_t count, const struct api_kernel_node *what)
{
	ADD(node_kernel(what, &c))
}

int hook_cudaGraphAddMemcpyNode(void **node, void *graph, void *const *after, size_t count, const struct api_copy3d *what)
{
	ADD(node_copy(what, &c))
}

int hook_cudaGraphAddMemcpyNode1D(void **node, void *graph, void *const *after, size_t count, void *to, const void *from, size_t bytes,
                                  int direction)
{
	ADD(node_line(to, from, bytes, direction, &c))
}

int hook_cudaGraphAddMemsetNode(void **node, void *graph, void *const *after, size_t count, const struct api_fill_node *what)
{
	ADD(node_fill(what, &c))
}

int hook_cudaGraphAddHostNode(void **node, void *graph, void *const *after, size_t count, const struct api_host_node *what)
{
	ADD(node_host(what, &c))
}

int hook_cudaGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count)
{
	ADD((c = (struct graph_command){.kind = NODE_EMPTY}, cudaSuccess))
}

/* Memory of a graph keeps its address from launch to launch. So it is there when the node is made, and stays when another node frees it. */
int hook_cudaGraphAddMemAllocNode(void **node, void *graph, void *const *after, size_t count, struct api_allocation_node *what)
{
	if (!what || !what->bytes)
		return cudaErrorInvalidValue;
	int error = memory_allocate(&what->address, what->bytes, CUDA_DEVICE_MEMORY, 0);
	return error ? error : hook_cudaGraphAddEmptyNode(node, graph, after, count);
}

int hook_cudaGraphAddMemFreeNode(void **node, void *graph, void *const *after, size_t count, void *address)
{
	return address ? hook_cudaGraphAddEmptyNode(node, graph, after, count) : cudaErrorInvalidValue;
}

int hook_cudaGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count, void *child)
{
	ADD(node_child(child, &c))
}

int hook_cudaGraphAddMemcpyNodeToSymbol(void **node, void *graph, void *const *after, size_t count, const void *symbol, const void *from, size_t bytes,
                                        size_t offset, int direction)
{
	ADD(node_to_symbol(symbol, from, bytes, offset, direction, &c))
}

int hook_cudaGraphAddMemcpyNodeFromSymbol(void **node, void *graph, void *const *after, size_t count, void *to, const void *symbol, size_t bytes,
                                          size_t offset, int direction)
{
	ADD(node_from_symbol(to, symbol, bytes, offset, direction, &c))
}

int hook_cudaGraphAddEventRecordNode(void **node, void *graph, void *const *after, size_t count, void *event)
{
	ADD(node_event(NODE_RECORD, event, &c))
}

int hook_cudaGraphAddEventWaitNode(void **node, void *graph, void *const *after, size_t count, void *event)
{
	ADD(node_event(NODE_WAIT, event, &c))
}

/* Since 13 there is a parameter with data of edges, as with _v2 before. */
int hook_cudaGraphAddNode_v2(void **node, void *graph, void *const *after, const void *data, size_t count, const struct api_node *what)
{
	(void)data;
	ADD(node_any(what, &c))
}

int hook_cudaGraphAddNode(void **node, void *graph, void *const *after, const void *data, size_t count, const struct api_node *what, int version)
{
	if (version < 13)
		return hook_cudaGraphAddNode_v2(node, graph, after, NULL, (size_t)data, (const struct api_node *)count);
	return hook_cudaGraphAddNode_v2(node, graph, after, data, count, what);
}

/* ---- changing nodes ---- */

#define SET(which, error_of_command) \
	struct graph_command c; \
	graphs_lock(); \
	int error = node_set(which, error_of_command, &c); \
	graphs_unlock(); \
	return error;

int hook_cudaGraphKernelNodeSetParams(void *node, const struct api_kernel_node *what)
{
	SET(graph_node_find(node), node_kernel(what, &c))
}

int hook_cudaGraphMemcpyNodeSetParams(void *node, const struct api_copy3d *what)
{
	SET(graph_node_find(node), node_copy(what, &c))
}

int hook_cudaGraphMemcpyNodeSetParams1D(void *node, void *to, const void *from, size_t bytes, int direction)
{
	SET(graph_node_find(node), node_line(to, from, bytes, direction, &c))
}

int hook_cudaGraphMemsetNodeSetParams(void *node, const struct api_fill_node *what)
{
	SET(graph_node_find(node), node_fill(what, &c))
}

int hook_cudaGraphHostNodeSetParams(void *node, const struct api_host_node *what)
{
	SET(graph_node_find(node), node_host(what, &c))
}

int hook_cudaGraphExecKernelNodeSetParams(void *exec, void *node, const struct api_kernel_node *what)
{
	SET(node_of_executable(exec, node), node_kernel(what, &c))
}

int hook_cudaGraphExecMemcpyNodeSetParams(void *exec, void *node, const struct api_copy3d *what)
{
	SET(node_of_executable(exec, node), node_copy(what, &c))
}

int hook_cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *to, const void *from, size_t bytes, int direction)
{
	SET(node_of_executable(exec, node), node_line(to, from, bytes, direction, &c))
}

int hook_cudaGraphExecMemsetNodeSetParams(void *exec, void *node, const struct api_fill_node *what)
{
	SET(node_of_executable(exec, node), node_fill(what, &c))
}

int hook_cudaGraphExecHostNodeSetParams(void *exec, void *node, const struct api_host_node *what)
{
	SET(node_of_executable(exec, node), node_host(what, &c))
}

int hook_cudaGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child)
{
	SET(node_of_executable(exec, node), node_child(child, &c))
}

int hook_cudaGraphMemcpyNodeSetParamsToSymbol(void *node, const void *symbol, const void *from, size_t bytes, size_t offset, int direction)
{
	SET(graph_node_find(node), node_to_symbol(symbol, from, bytes, offset, direction, &c))
}

int hook_cudaGraphMemcpyNodeSetParamsFromSymbol(void *node, void *to, const void *symbol, size_t bytes, size_t offset, int direction)
{
	SET(graph_node_find(node), node_from_symbol(to, symbol, bytes, offset, direction, &c))
}

int hook_cudaGraphExecMemcpyNodeSetParamsToSymbol(void *exec, void *node, const void *symbol, const void *from, size_t bytes, size_t offset, int direction)
{
	SET(node_of_executable(exec, node), node_to_symbol(symbol, from, bytes, offset, direction, &c))
}

int hook_cudaGraphExecMemcpyNodeSetParamsFromSymbol(void *exec, void *node, void *to, const void *symbol, size_t bytes, size_t offset, int direction)
{
	SET(node_of_executable(exec, node), node_from_symbol(to, symbol, bytes, offset, direction, &c))
}

int hook_cudaGraphEventRecordNodeSetEvent(void *node, void *event)
{
	SET(graph_node_find(node), node_event(NODE_RECORD, event, &c))
}

int hook_cudaGraphEventWaitNodeSetEvent(void *node, void *event)
{
	SET(graph_node_find(node), node_event(NODE_WAIT, event, &c))
}

int hook_cudaGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event)
{
	SET(node_of_executable(exec, node), node_event(NODE_RECORD, event, &c))
}

int hook_cudaGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event)
{
	SET(node_of_executable(exec, node), node_event(NODE_WAIT, event, &c))
}

int hook_cudaGraphNodeSetParams(void *node, const struct api_node *what)
{
	SET(graph_node_find(node), node_any(what, &c))
}

int hook_cudaGraphExecNodeSetParams(void *exec, void *node, const struct api_node *what)
{
	SET(node_of_executable(exec, node), node_any(what, &c))
}

int hook_cudaGraphNodeSetEnabled(void *exec, void *node, unsigned enabled)
{
	graphs_lock();
	struct graph_node *n = node_of_executable(exec, node);
	if (n)
		n->disabled = !enabled;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphNodeGetEnabled(void *exec, void *node, unsigned *enabled)
{
	graphs_lock();
	const struct graph_node *n = enabled ? node_of_executable(exec, node) : NULL;
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
		if (!before || !after || before->graph != g || after->graph != g || (adding && (before == after || graph_has_edge(after, before))))
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
