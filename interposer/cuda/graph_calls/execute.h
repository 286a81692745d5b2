/* execute: the commands of an executable graph, on their way to streams. */
#ifndef GPUSIM_INTERPOSER_CUDA_GRAPH_CALLS_EXECUTE_H
#define GPUSIM_INTERPOSER_CUDA_GRAPH_CALLS_EXECUTE_H

#include "interposer/cuda/graphs/graphs.h"

/* Enqueues them. All come after what is in the stream, and what the stream gets later comes after all of them. The caller holds the lock of
 * graphs. Returns an error number. */
int graph_execute(struct command_graph *g, void *stream);

#endif
