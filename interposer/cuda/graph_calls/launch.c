/* Executable graphs: how they are made, changed and launched. */
#include "interposer/cuda/graph_calls/execute.h"
#include "interposer/cuda/interposer.h"
#include "interposer/cuda/streams.h"

/* ---- making them ---- */

static int instantiate(void **exec, void *graph, unsigned long long flags)
{
	graphs_lock();
	const struct command_graph *g = exec ? graph_find(graph, false) : NULL;
	int error = g ? cudaSuccess : cudaErrorInvalidValue;
	struct command_graph *copy = g ? graph_copy(g, true) : NULL;
	if (g && !copy)
		error = cudaErrorMemoryAllocation;
	if (copy && !graph_sort(copy)) {
		graph_free(copy);
		error = cudaErrorInvalidValue;
	}
	if (!error) {
		copy->flags = flags;
		*exec = copy;
	}
	graphs_unlock();
	return error;
}

int hook_cudaGraphInstantiate(void **exec, void *graph)
{
	return instantiate(exec, graph, 0);
}

int hook_cudaGraphInstantiate_v12000(void **exec, void *graph)
{
	return instantiate(exec, graph, 0);
}

int hook_cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	return instantiate(exec, graph, flags);
}

int hook_cudaGraphInstantiateWithParams(void **exec, void *graph, struct api_instantiate *how)
{
	if (!how)
		return cudaErrorInvalidValue;
	how->node = NULL;
	how->result = instantiate(exec, graph, how->flags) ? 1 : 0;
	return how->result ? cudaErrorInvalidValue : cudaSuccess;
}

int hook_cudaGraphInstantiateWithParams_ptsz(void **exec, void *graph, struct api_instantiate *how)
{
	return hook_cudaGraphInstantiateWithParams(exec, graph, how);
}

int hook_cudaGraphExecDestroy(void *exec)
{
	graphs_lock();
	struct command_graph *g = graph_find(exec, true);
	if (g)
		graph_free(g);
	graphs_unlock();
	return g ? cudaSuccess : cudaErrorInvalidValue;
}

int hook_cudaGraphExecGetFlags(void *exec, unsigned long long *flags)
{
	graphs_lock();
	const struct command_graph *g = flags ? graph_find(exec, true) : NULL;
	if (g)
		*flags = g->flags;
	graphs_unlock();
	return g ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- changing them ---- */

/* With the lock held. The nodes' commands become those of `from`, which has the same shape. */
static int take_commands(struct command_graph *to, const struct command_graph *from)
{
	for (size_t i = 0; i < to->count; i++) {
		struct graph_command c;
		if (!graph_command_copy(&from->nodes[i]->command, &c))
			return cudaErrorMemoryAllocation;
		graph_command_free(&to->nodes[i]->command);
		to->nodes[i]->command = c;
	}
	return cudaSuccess;
}

/* With the lock held. */
static int update(struct command_graph *exec, struct command_graph *graph, struct api_update_result *result)
{
	size_t at = graph->count; /* the node that differs, if one is found */
	*result = (struct api_update_result){.result = API_UPDATE_DONE};
	if (graph_sort(graph) && graph_same_shape(exec, graph, &at))
		return take_commands(exec, graph);
	bool kind = exec->count == graph->count && at < graph->count && exec->nodes[at]->command.kind != graph->nodes[at]->command.kind;
	result->result = kind ? API_UPDATE_OTHER_KIND : API_UPDATE_OTHER_EDGES;
	result->node = at < graph->count ? graph->nodes[at] : NULL;
	return cudaErrorGraphExecUpdateFailure;
}

int hook_cudaGraphExecUpdate(void *exec, void *graph, void *out, int *result, int version)
{
	struct api_update_result r = {.result = API_UPDATE_ERROR};
	graphs_lock();
	struct command_graph *e = graph_find(exec, true), *g = graph_find(graph, false);
	int error = e && g && out && (version >= 12 || result) ? update(e, g, &r) : cudaErrorInvalidValue;
	graphs_unlock();
	if (out && version >= 12)
		*(struct api_update_result *)out = r;
	if (out && version < 12) {
		*(void **)out = r.node;
		if (result)
			*result = r.result;
	}
	return error;
}

/* ---- launching them ---- */

int hook_cudaGraphLaunch(void *exec, void *stream)
{
	if (!stream_exists(stream))
		return cudaErrorInvalidResourceHandle;
	graphs_lock();
	struct command_graph *g = graph_find(exec, true);
	cuda_one_call(true);
	int error = g ? graph_execute(g, stream) : cudaErrorInvalidValue;
	cuda_one_call(false);
	graphs_unlock();
	return error;
}

int hook_cudaGraphUpload(void *exec, void *stream)
{
	if (!stream_exists(stream))
		return cudaErrorInvalidResourceHandle;
	graphs_lock();
	const struct command_graph *g = graph_find(exec, true);
	graphs_unlock();
	return g ? cudaSuccess : cudaErrorInvalidValue;
}
