/*
 * graphs: commands that are kept, with what each of them comes after, to be executed later and more than once.
 *
 * An executable graph is a copy of a graph. Launching it enqueues its commands in an order that all edges allow. Nodes without a way between
 * them may run beside each other: they are in lanes, each of which is a stream. A node goes on with the lane of one that it comes after.
 *
 * Handles of the application are addresses of these structs; they are looked up before they are used. All functions here, and the members
 * of structs, are for whoever holds the lock.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_GRAPHS_GRAPHS_H
#define GPUSIM_INTERPOSER_CUDA_GRAPHS_GRAPHS_H

#include "runtime/cuda.h"

struct registered_function; /* of registration.h above */

/* The numbers of CUDA. */
enum graph_node_kind { NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_HOST, NODE_GRAPH, NODE_EMPTY, NODE_WAIT, NODE_RECORD };

/* What a node does. */
struct graph_command {
	enum graph_node_kind kind;
	union {
		struct {
			struct registered_function *function;
			struct cuda_launch launch; /* the parameters are the command's own */
			void **arguments;          /* pointers to them, if they were asked for; its own as well */
		};
		struct {
			struct cuda_copy copy;
			uint32_t value; /* of a fill */
			unsigned unit;
		};
		struct {
			void (*host_function)(void *);
			void *host_data;
		};
		struct command_graph *child; /* the command's own */
		void *event;                 /* a handle of the application's */
	};
};

struct graph_node {
	unsigned long long id, origin; /* origin: the id of the node that this one is a copy of, or 0 */
	struct command_graph *graph;
	struct graph_command command;
	struct graph_node **after;
	size_t after_count, after_room;
	bool disabled;
	size_t place; /* in the order of execution */
	size_t lane;
	bool awaited; /* a node of another lane comes after it */
};

struct command_graph {
	struct command_graph *next;
	bool executable, inner; /* inner: of a node, not of the application */
	struct graph_node **nodes;
	size_t count, room;
	unsigned long long flags;
	size_t lane_count; /* 0: not known */
};
enum { GRAPH_MOST_LANES = 32 };

void graphs_lock(void);
void graphs_unlock(void);

struct command_graph *graph_new(bool executable);
void graph_free(struct command_graph *g);
/* A graph, or an executable one, of this handle. NULL: there is none. */
struct command_graph *graph_find(const void *handle, bool executable);
struct graph_node *graph_node_find(const void *handle); /* in all graphs that are not executable */
/* The copy of a node in a copy of its graph. NULL: there is none. */
struct graph_node *graph_node_copied(const struct command_graph *copy, const struct graph_node *origin);

/* The copies of parameters and inner graphs are the caller's. False: no memory. */
bool graph_command_copy(const struct graph_command *from, struct graph_command *to);
void graph_command_free(struct graph_command *c);

/* Takes the command over, also if it fails. NULL: no memory, or a node of `after` is not of this graph. */
struct graph_node *graph_add(struct command_graph *g, const struct graph_command *c, struct graph_node *const *after, size_t count);
bool graph_add_edge(struct graph_node *node, struct graph_node *after);
bool graph_has_edge(const struct graph_node *node, const struct graph_node *after);
void graph_remove_edge(struct graph_node *node, const struct graph_node *after);
void graph_remove_node(struct graph_node *node);
struct command_graph *graph_copy(const struct command_graph *g, bool executable); /* NULL: no memory */
/* Sorts the nodes so that each comes after those it waits for. False: there is a circle. */
bool graph_sort(struct command_graph *g);
/* Gives nodes that are sorted their lanes. If there are too many, nodes share lanes. */
void graph_find_lanes(struct command_graph *g);
/* Whether both have the same kinds of nodes and the same edges, in the order of their nodes. *at is the first that differs. */
bool graph_same_shape(const struct command_graph *a, const struct command_graph *b, size_t *at);

#endif
