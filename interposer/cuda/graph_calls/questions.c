/* What an application asks of graphs and their nodes, and the attributes of kernels in them. */
#include "interposer/cuda/graph_calls/commands.h"
#include "interposer/cuda/registration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what nodes wait for ---- */

/* Without `nodes` their number is asked for. What is left of `nodes` becomes NULL. */
static int list_neighbours(void *node, void **nodes, size_t *count, bool before)
{
	graphs_lock();
	const struct graph_node *n = count ? graph_node_find(node) : NULL;
	size_t found = 0;
	for (size_t i = 0; n && i < n->graph->count; i++) {
		struct graph_node *other = n->graph->nodes[i];
		const struct graph_node *first = before ? other : n, *second = before ? n : other;
		bool edge = false;
		for (size_t k = 0; k < second->after_count && !edge; k++)
			edge = second->after[k] == first;
		if (edge && nodes && found < *count)
			nodes[found] = other;
		found += edge;
	}
	for (size_t i = found; n && nodes && i < *count; i++)
		nodes[i] = NULL;
	if (n && (!nodes || found < *count))
		*count = found;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphNodeGetDependencies(void *node, void **nodes, void *data, size_t *count, int version)
{
	return list_neighbours(node, nodes, version < 13 ? data : count, true);
}

int hook_cudaGraphNodeGetDependencies_v2(void *node, void **nodes, void *data, size_t *count)
{
	(void)data;
	return list_neighbours(node, nodes, count, true);
}

int hook_cudaGraphNodeGetDependentNodes(void *node, void **nodes, void *data, size_t *count, int version)
{
	return list_neighbours(node, nodes, version < 13 ? data : count, false);
}

int hook_cudaGraphNodeGetDependentNodes_v2(void *node, void **nodes, void *data, size_t *count)
{
	(void)data;
	return list_neighbours(node, nodes, count, false);
}

/* ---- parameters ---- */

/* With the lock held. A node of that kind, or NULL. */
static struct graph_node *node_of_kind(void *node, enum graph_node_kind kind)
{
	struct graph_node *n = graph_node_find(node);
	return n && n->command.kind == kind ? n : NULL;
}

/* Pointers into the parameters, which stay until the command changes. */
static void **point_at_parameters(struct graph_command *c)
{
	const struct cuda_kernel_facts *facts = cuda_kernel_facts(c->launch.kernel);
	if (!c->arguments)
		c->arguments = malloc((facts->parameter_count + 1) * sizeof *c->arguments);
	for (unsigned i = 0; c->arguments && i < facts->parameter_count; i++)
		c->arguments[i] = (char *)c->launch.parameters + facts->parameters[i].offset;
	return c->arguments;
}

int hook_cudaGraphKernelNodeGetParams(void *node, struct api_kernel_node *out)
{
	int error = cudaErrorInvalidValue;
	graphs_lock();
	struct graph_node *n = out ? node_of_kind(node, NODE_KERNEL) : NULL;
	if (n) {
		struct graph_command *c = &n->command;
		const struct cuda_launch *l = &c->launch;
		*out = (struct api_kernel_node){(void *)c->function->host, {l->grid[0], l->grid[1], l->grid[2]}, {l->block[0], l->block[1], l->block[2]},
		                                (unsigned)l->dynamic_shared, point_at_parameters(c), NULL};
		error = out->args ? cudaSuccess : cudaErrorMemoryAllocation;
	}
	graphs_unlock();
	return error;
}

static struct api_pitched side(const void *address, size_t pitch, size_t slice, const struct cuda_copy *c)
{
	pitch = pitch ? pitch : c->width;
	return (struct api_pitched){(void *)address, pitch, pitch, slice ? slice / pitch : c->height};
}

/* Arrays are told as the memory that they are. */
int hook_cudaGraphMemcpyNodeGetParams(void *node, struct api_copy3d *out)
{
	static const int directions[] = {API_HOST_TO_DEVICE, API_DEVICE_TO_HOST, API_DEVICE_TO_DEVICE, API_HOST_TO_HOST};
	graphs_lock();
	const struct graph_node *n = out ? node_of_kind(node, NODE_COPY) : NULL;
	if (n) {
		const struct cuda_copy *c = &n->command.copy;
		*out = (struct api_copy3d){.from = side(c->from, c->from_pitch, c->from_slice, c), .to = side(c->to, c->to_pitch, c->to_slice, c),
		                           .extent = {c->width, c->height, c->depth}, .direction = directions[c->kind]};
	}
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphMemsetNodeGetParams(void *node, struct api_fill_node *out)
{
	graphs_lock();
	const struct graph_node *n = out ? node_of_kind(node, NODE_FILL) : NULL;
	if (n) {
		const struct graph_command *c = &n->command;
		*out = (struct api_fill_node){c->copy.to, c->copy.to_pitch, c->value, c->unit, c->copy.width / c->unit, c->copy.height};
	}
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphHostNodeGetParams(void *node, struct api_host_node *out)
{
	graphs_lock();
	const struct graph_node *n = out ? node_of_kind(node, NODE_HOST) : NULL;
	if (n)
		*out = (struct api_host_node){n->command.host_function, n->command.host_data};
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphChildGraphNodeGetGraph(void *node, void **out)
{
	graphs_lock();
	const struct graph_node *n = out ? node_of_kind(node, NODE_GRAPH) : NULL;
	if (n)
		*out = n->command.child;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

static int event_of(void *node, enum graph_node_kind kind, void **out)
{
	graphs_lock();
	const struct graph_node *n = out ? node_of_kind(node, kind) : NULL;
	if (n)
		*out = n->command.event;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphEventRecordNodeGetEvent(void *node, void **out)
{
	return event_of(node, NODE_RECORD, out);
}

int hook_cudaGraphEventWaitNodeGetEvent(void *node, void **out)
{
	return event_of(node, NODE_WAIT, out);
}

/* ---- attributes of kernels: whether their blocks wait for one another. Others are wishes, which change nothing here. ---- */

int hook_cudaGraphKernelNodeSetAttribute(void *node, int attribute, const void *value)
{
	static const unsigned char wishes[] = {0, 1, 8, 9, 10}; /* ignored, a window of L2, priority, two of the order of stores */
	if (attribute != API_LAUNCH_COOPERATIVE && !memchr(wishes, attribute, sizeof wishes)) {
		error_say_once("cudaGraphKernelNodeSetAttribute", "cudaGraphKernelNodeSetAttribute does not know attribute %d yet", attribute);
		return cudaErrorNotSupported;
	}
	graphs_lock();
	struct graph_node *n = value ? node_of_kind(node, NODE_KERNEL) : NULL;
	if (n && attribute == API_LAUNCH_COOPERATIVE)
		n->command.launch.cooperative = *(const int *)value;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphKernelNodeGetAttribute(void *node, int attribute, void *value)
{
	if (attribute != API_LAUNCH_COOPERATIVE) {
		error_say_once("cudaGraphKernelNodeGetAttribute", "cudaGraphKernelNodeGetAttribute does not know attribute %d yet", attribute);
		return cudaErrorNotSupported;
	}
	graphs_lock();
	const struct graph_node *n = value ? node_of_kind(node, NODE_KERNEL) : NULL;
	if (n)
		*(int *)value = n->command.launch.cooperative;
	graphs_unlock();
	return n ? cudaSuccess : cudaErrorInvalidValue;
}

/* CUDA's header has them in this order: the first gets what the second has. */
int hook_cudaGraphKernelNodeCopyAttributes(void *to, void *from)
{
	graphs_lock();
	struct graph_node *a = node_of_kind(to, NODE_KERNEL), *b = node_of_kind(from, NODE_KERNEL);
	if (a && b)
		a->command.launch.cooperative = b->command.launch.cooperative;
	graphs_unlock();
	return a && b ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- a drawing ---- */

/* For Graphviz. What the flags ask for besides is left out. */
int hook_cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags)
{
	static const char *const kinds[] = {"kernel", "copy", "fill", "host function", "graph", "empty", "wait for event", "record event"};
	(void)flags;
	FILE *out = path ? fopen(path, "we") : NULL;
	if (!out)
		return path ? cudaErrorOperatingSystem : cudaErrorInvalidValue;
	graphs_lock();
	const struct command_graph *g = graph_find(graph, false);
	fprintf(out, "digraph graph_%p {\n", graph);
	for (size_t i = 0; g && i < g->count; i++) {
		const struct graph_node *n = g->nodes[i];
		fprintf(out, "\tn%llu [label=\"%s%s%s\"]\n", n->id, kinds[n->command.kind], n->command.kind == NODE_KERNEL ? " " : "",
		        n->command.kind == NODE_KERNEL ? n->command.function->name : "");
		for (size_t k = 0; k < n->after_count; k++)
			fprintf(out, "\tn%llu -> n%llu\n", n->after[k]->id, n->id);
	}
	fprintf(out, "}\n");
	graphs_unlock();
	return fclose(out) ? cudaErrorOperatingSystem : g ? cudaSuccess : cudaErrorInvalidValue;
}
