#include "interposer/cuda/graph_calls/commands.h"

#include "interposer/cuda/copies.h"
#include "interposer/cuda/events.h"
#include "interposer/cuda/launch.h"

#include <stdlib.h>

int node_kernel(const struct api_kernel_node *p, struct graph_command *out)
{
	struct registered_function *f;
	void **own = NULL;
	int error = p ? function_prepare(p->function, &f) : cudaErrorInvalidValue;
	if (error)
		return error;
	if (!p->args && p->extra && !(own = launch_arguments(cuda_kernel_facts(f->kernel), p->extra)))
		return cudaErrorInvalidValue;
	error = launch_command(p->function, p->grid, p->block, own ? own : p->args, p->dynamic_shared, out);
	free(own);
	return error;
}

int node_copy(const struct api_copy3d *p, struct graph_command *out)
{
	*out = (struct graph_command){.kind = NODE_COPY};
	return copy_box_check(p, &out->copy);
}

int node_line(void *to, const void *from, size_t bytes, int direction, struct graph_command *out)
{
	*out = (struct graph_command){.kind = NODE_COPY};
	return copy_line_check(to, from, bytes, direction, &out->copy);
}

/* The address of some bytes of a variable. */
static int place_in(const void *symbol, size_t bytes, size_t offset, void **out)
{
	size_t room;
	int error = variable_find(symbol, out, &room);
	if (error)
		return error;
	*out = (char *)*out + offset;
	return offset > room || bytes > room - offset ? cudaErrorInvalidValue : cudaSuccess;
}

int node_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, int direction, struct graph_command *out)
{
	void *to;
	int error = place_in(symbol, bytes, offset, &to);
	return error ? error : node_line(to, from, bytes, direction, out);
}

int node_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, int direction, struct graph_command *out)
{
	void *from;
	int error = place_in(symbol, bytes, offset, &from);
	return error ? error : node_line(to, from, bytes, direction, out);
}

int node_fill(const struct api_fill_node *p, struct graph_command *out)
{
	if (!p || (p->unit != 1 && p->unit != 2 && p->unit != 4))
		return cudaErrorInvalidValue;
	*out = (struct graph_command){.kind = NODE_FILL};
	out->copy = (struct cuda_copy){.to = p->to, .width = p->width * p->unit, .height = p->height, .depth = 1, .to_pitch = p->pitch};
	out->value = p->value;
	out->unit = p->unit;
	return fill_check(&out->copy);
}

int node_host(const struct api_host_node *p, struct graph_command *out)
{
	if (!p || !p->function)
		return cudaErrorInvalidValue;
	*out = (struct graph_command){.kind = NODE_HOST};
	out->host_function = p->function;
	out->host_data = p->data;
	return cudaSuccess;
}

int node_child(const void *child, struct graph_command *out)
{
	struct command_graph *g = graph_find(child, false);
	if (!g)
		return cudaErrorInvalidValue;
	struct graph_command of_it = {.kind = NODE_GRAPH};
	of_it.child = g;
	return graph_command_copy(&of_it, out) ? cudaSuccess : cudaErrorMemoryAllocation;
}

int node_event(enum graph_node_kind kind, void *event, struct graph_command *out)
{
	struct cuda_event *recorded;
	int error = event_recorded(event, &recorded);
	if (error)
		return error;
	if (recorded)
		cuda_event_release(recorded);
	*out = (struct graph_command){.kind = kind};
	out->event = event;
	return cudaSuccess;
}

int node_any(const struct api_node *p, struct graph_command *out)
{
	if (!p)
		return cudaErrorInvalidValue;
	switch (p->kind) {
	case NODE_KERNEL:
		return node_kernel(&p->of.kernel, out);
	case NODE_COPY:
		return node_copy(&p->of.copy.what, out);
	case NODE_FILL:
		return node_fill(&p->of.fill, out);
	case NODE_HOST:
		return node_host(&p->of.host, out);
	case NODE_GRAPH:
		if (!p->of.child.ownership)
			return node_child(p->of.child.graph, out);
		break;
	case NODE_EMPTY:
		*out = (struct graph_command){.kind = NODE_EMPTY};
		return cudaSuccess;
	case NODE_WAIT:
	case NODE_RECORD:
		return node_event((enum graph_node_kind)p->kind, p->of.event, out);
	default:
		break;
	}
	error_say_once("cudaGraphAddNode", "nodes of graphs for memory, conditions and semaphores, and graphs that move into a node, are not implemented yet");
	return cudaErrorNotSupported;
}

/* ---- nodes ---- */

int node_add(void **node, void *graph, void *const *after, size_t count, int error, struct graph_command *c)
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

int node_set(struct graph_node *n, int error, struct graph_command *c)
{
	if (error)
		return error;
	if (!n || n->command.kind != c->kind) {
		graph_command_free(c);
		return cudaErrorInvalidValue;
	}
	if (c->kind == NODE_KERNEL) /* an attribute of the node, not one of its parameters */
		c->launch.cooperative = n->command.launch.cooperative;
	graph_command_free(&n->command);
	n->command = *c;
	return cudaSuccess;
}

struct graph_node *node_of_executable(void *exec, void *node)
{
	struct command_graph *g = graph_find(exec, true);
	struct graph_node *n = graph_node_find(node);
	return g && n ? graph_node_copied(g, n) : NULL;
}
