/*
 * Enqueues the commands of an executable graph.
 *
 * The first lane of a graph is the stream that it is launched in, the others are streams of ours. A mark in the first one is what all others begin
 * after; a command waits for those of other lanes that it comes after; and at the end the first lane waits for all others.
 */
#include "interposer/cuda/graph_calls/execute.h"

#include "interposer/cuda/launch.h"
#include "interposer/cuda/streams.h"

#include <stdlib.h>

/* Streams for lanes, shared by all graphs in turn: they are made when they are needed, and stay. */
static void *pool[GRAPH_MOST_LANES];
static size_t pool_next;

static void *take_from_pool(void)
{
	void **stream = &pool[pool_next++ % GRAPH_MOST_LANES];
	if (!*stream && hook_cudaStreamCreateWithFlags(stream, API_STREAM_NON_BLOCKING))
		*stream = NULL;
	return *stream;
}

static int execute(const struct graph_command *command, void *stream)
{
	struct ordered_command c;
	if (command->kind == NODE_KERNEL)
		return launch_enqueue(command->function, &command->launch, stream);
	if (command->kind == NODE_GRAPH)
		return graph_execute(command->child, stream);
	if (command->kind == NODE_EMPTY)
		return cudaSuccess;
	if (command->kind == NODE_RECORD)
		return hook_cudaEventRecord(command->event, stream);
	if (command->kind == NODE_WAIT)
		return hook_cudaStreamWaitEvent(stream, command->event, 0);
	int error = ordered_begin(&c, stream, false, NULL), result;
	if (error)
		return error;
	if (command->kind == NODE_COPY)
		result = ordered_copy(&c, &command->copy);
	else if (command->kind == NODE_FILL)
		result = ordered_fill(&c, &command->copy, command->value, command->unit);
	else
		result = ordered_host_call(&c, command->host_function, command->host_data);
	return ordered_end(&c, result, cudaErrorInvalidValue);
}

static int execute_in_turn(const struct command_graph *g, void *stream)
{
	int error = cudaSuccess;
	for (size_t i = 0; i < g->count && !error; i++)
		if (!g->nodes[i]->disabled)
			error = execute(&g->nodes[i]->command, stream);
	return error;
}

/* A launch of a graph with several lanes. */
struct graph_launch {
	void *streams[GRAPH_MOST_LANES]; /* by lane; NULL: it has not begun */
	struct cuda_event *begin;
	struct cuda_event **ends; /* of nodes that other lanes wait for */
};

static int begin_lane(struct graph_launch *l, const struct graph_node *n)
{
	if (l->streams[n->lane])
		return cudaSuccess;
	l->streams[n->lane] = take_from_pool();
	return l->streams[n->lane] ? stream_mark(l->streams[n->lane], l->begin, NULL) : cudaErrorMemoryAllocation;
}

/* A node that does nothing still comes after others, and others after it. */
static int execute_node(struct graph_launch *l, const struct graph_node *n)
{
	int error = begin_lane(l, n);
	for (size_t i = 0; i < n->after_count && !error; i++)
		if (n->after[i]->lane != n->lane)
			error = stream_mark(l->streams[n->lane], l->ends[n->after[i]->place], NULL);
	if (!error && !n->disabled)
		error = execute(&n->command, l->streams[n->lane]);
	if (!error && n->awaited)
		l->ends[n->place] = stream_last(l->streams[n->lane]);
	return error;
}

static int join_lane(struct graph_launch *l, size_t lane)
{
	struct cuda_event *last = l->streams[lane] ? stream_last(l->streams[lane]) : NULL;
	int error = last ? stream_mark(l->streams[0], last, NULL) : cudaSuccess;
	if (last)
		cuda_event_release(last);
	return error;
}

static int execute_lanes(const struct command_graph *g, void *stream)
{
	struct graph_launch l = {.streams = {stream}, .ends = calloc(g->count, sizeof(struct cuda_event *))};
	int error = l.ends ? stream_mark(stream, NULL, &l.begin) : cudaErrorMemoryAllocation;
	for (size_t i = 0; i < g->count && !error; i++)
		error = execute_node(&l, g->nodes[i]);
	for (size_t lane = 1; lane < g->lane_count; lane++) { /* also after an error: what was enqueued is part of the stream */
		int failed = join_lane(&l, lane);
		error = error ? error : failed;
	}
	for (size_t i = 0; i < g->count && l.ends; i++)
		if (l.ends[i])
			cuda_event_release(l.ends[i]);
	if (l.begin)
		cuda_event_release(l.begin);
	free(l.ends);
	return error;
}

int graph_execute(struct command_graph *g, void *stream)
{
	if (!g->lane_count)
		graph_find_lanes(g);
	return g->lane_count > 1 && !stream_is_capturing(stream) ? execute_lanes(g, stream) : execute_in_turn(g, stream);
}
