/*
 * commands: commands of nodes, made of what the application says in CUDA's structs, and how nodes get them. Functions return error numbers.
 * Whoever calls them holds the lock of graphs.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_GRAPH_CALLS_COMMANDS_H
#define GPUSIM_INTERPOSER_CUDA_GRAPH_CALLS_COMMANDS_H

#include "interposer/cuda/graphs/graphs.h"
#include "interposer/cuda/types.h"

int node_kernel(const struct api_kernel_node *p, struct graph_command *out);
int node_copy(const struct api_copy3d *p, struct graph_command *out);
int node_line(void *to, const void *from, size_t bytes, int direction, struct graph_command *out);
int node_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, int direction, struct graph_command *out);
int node_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, int direction, struct graph_command *out);
int node_fill(const struct api_fill_node *p, struct graph_command *out);
int node_host(const struct api_host_node *p, struct graph_command *out);
int node_child(const void *child, struct graph_command *out);
int node_event(enum graph_node_kind kind, void *event, struct graph_command *out);
int node_any(const struct api_node *p, struct graph_command *out);

/* Both take the command over, unless there was an error before, which they return. */
int node_add(void **node, void *graph, void *const *after, size_t count, int error, struct graph_command *c);
int node_set(struct graph_node *n, int error, struct graph_command *c);
/* The node of an executable graph that was made of this one, or NULL. */
struct graph_node *node_of_executable(void *exec, void *node);

#endif
