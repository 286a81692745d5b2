#include "interposer/cuda/graphs/captures.h"

#include "interposer/cuda/types.h"

#include <pthread.h>
#include <stdlib.h>

struct stream_capture {
	unsigned long long id;
	unsigned places; /* that refer to it */
	struct command_graph *graph;
	struct capture_place *origin; /* NULL: it has ended */
	bool invalid;                 /* a call was refused: no more commands, and no graph */
	enum capture_mode mode;
	pthread_t thread;             /* that began it */
	bool blocking;                /* in a stream that the legacy stream waits for */
	struct stream_capture *next;
};

static unsigned long long capture_count;
static struct stream_capture *under_way;
static atomic_uint under_way_count;
static __thread enum capture_mode thread_mode;

/* ---- with the lock held ---- */

static struct stream_capture *active(struct capture_place *p)
{
	struct stream_capture *c = p->capture;
	return c && c->origin ? c : NULL;
}

/* The same, if it still takes commands. */
static struct stream_capture *taking(struct capture_place *p)
{
	struct stream_capture *c = active(p);
	return c && !c->invalid ? c : NULL;
}

/* It takes no more commands. Its places may still refer to it. */
static void end(struct stream_capture *c)
{
	struct stream_capture **at = &under_way;
	while (*at && *at != c)
		at = &(*at)->next;
	if (*at) {
		*at = c->next;
		under_way_count--;
	}
	c->origin = NULL;
}

static void leave(struct capture_place *p)
{
	struct stream_capture *c = p->capture;
	free(p->nodes);
	p->nodes = NULL;
	p->count = p->room = 0;
	p->capture = NULL;
	if (c && c->origin == p) { /* its stream is gone: nobody can end it */
		graph_free(c->graph);
		end(c);
	}
	if (c && !--c->places)
		free(c);
}

static void enter(struct capture_place *p, struct stream_capture *c)
{
	c->places++;
	leave(p);
	p->capture = c;
}

static bool add_node(struct capture_place *p, struct graph_node *node)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->nodes[i] == node)
			return true;
	if (!gs_reserve(&p->nodes, p->count, &p->room, sizeof *p->nodes))
		return false;
	p->nodes[p->count++] = node;
	return true;
}

static bool add_nodes(struct capture_place *p, const struct capture_place *from)
{
	bool good = true;
	for (size_t i = 0; i < from->count && good; i++)
		good = add_node(p, from->nodes[i]);
	return good;
}

/* Whether everything that was captured is before this place. */
static bool all_joined(const struct command_graph *g, const struct capture_place *p)
{
	for (size_t i = 0; i < g->count; i++)
		g->nodes[i]->place = 0;
	for (size_t i = 0; i < g->count; i++)
		for (size_t k = 0; k < g->nodes[i]->after_count; k++)
			g->nodes[i]->after[k]->place = 1;
	for (size_t i = 0; i < p->count; i++)
		p->nodes[i]->place = 1;
	for (size_t i = 0; i < g->count; i++)
		if (!g->nodes[i]->place)
			return false;
	return true;
}

/* ---- for all ---- */

bool capture_active(struct capture_place *p)
{
	if (!p->capture)
		return false;
	graphs_lock();
	bool is = active(p);
	graphs_unlock();
	return is;
}

bool capture_was(struct capture_place *p)
{
	return p->capture;
}

int capture_begin(struct capture_place *p, enum capture_mode mode, bool blocking)
{
	struct stream_capture *c = calloc(1, sizeof *c);
	int error = c ? cudaSuccess : cudaErrorMemoryAllocation;
	graphs_lock();
	if (!error && active(p))
		error = cudaErrorIllegalState;
	if (!error && !(c->graph = graph_new(false)))
		error = cudaErrorMemoryAllocation;
	if (!error) {
		c->id = ++capture_count;
		enter(p, c);
		c->origin = p;
		c->mode = mode;
		c->thread = pthread_self();
		c->blocking = blocking;
		c->next = under_way;
		under_way = c;
		under_way_count++;
	}
	graphs_unlock();
	if (error)
		free(c);
	return error;
}

/* Captures that a call of this thread would end: those of other threads, if both this one and they ask for it, and its own. */
static bool forbids(const struct stream_capture *c)
{
	if (thread_mode == CAPTURE_RELAXED || c->mode == CAPTURE_RELAXED)
		return false;
	return pthread_equal(c->thread, pthread_self()) || (thread_mode == CAPTURE_GLOBAL && c->mode == CAPTURE_GLOBAL);
}

int capture_check_unsafe(void)
{
	bool any = false;
	if (!under_way_count)
		return cudaSuccess;
	graphs_lock();
	for (struct stream_capture *c = under_way; c; c = c->next) {
		c->invalid |= forbids(c);
		any |= forbids(c);
	}
	graphs_unlock();
	return any ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

int capture_check_legacy(void)
{
	bool any = false;
	if (!under_way_count)
		return cudaSuccess;
	graphs_lock();
	for (struct stream_capture *c = under_way; c; c = c->next) {
		c->invalid |= c->blocking;
		any |= c->blocking;
	}
	graphs_unlock();
	return any ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

enum capture_mode capture_exchange_mode(enum capture_mode mode)
{
	enum capture_mode before = thread_mode;
	thread_mode = mode;
	return before;
}

int capture_refuse(struct capture_place *p)
{
	if (!p->capture)
		return cudaSuccess;
	graphs_lock();
	struct stream_capture *c = active(p);
	if (c)
		c->invalid = true;
	graphs_unlock();
	return c ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

int capture_end(struct capture_place *p, void **graph)
{
	graphs_lock();
	struct stream_capture *c = active(p);
	int error = !c ? cudaErrorIllegalState : c->origin != p ? cudaErrorStreamCaptureUnmatched : cudaSuccess;
	if (!error) {
		error = c->invalid ? cudaErrorStreamCaptureInvalidated : all_joined(c->graph, p) ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
		if (error)
			graph_free(c->graph);
		*graph = error ? NULL : c->graph;
		end(c);
		leave(p);
	}
	graphs_unlock();
	return error;
}

int capture_add(struct capture_place *p, const struct graph_command *command)
{
	struct graph_command own = *command;
	graphs_lock();
	struct stream_capture *c = taking(p);
	struct graph_node *n = c ? graph_add(c->graph, command, p->nodes, p->count) : NULL;
	if (!c)
		graph_command_free(&own);
	if (n)
		p->count = 0;
	bool good = n && add_node(p, n);
	graphs_unlock();
	return good ? cudaSuccess : c ? cudaErrorMemoryAllocation : cudaErrorStreamCaptureInvalidated;
}

int capture_mark(struct capture_place *from, struct capture_place *to)
{
	graphs_lock();
	struct stream_capture *c = taking(from);
	bool good = true;
	if (c) {
		enter(to, c);
		good = add_nodes(to, from);
	}
	graphs_unlock();
	return !c ? cudaErrorStreamCaptureInvalidated : good ? cudaSuccess : cudaErrorMemoryAllocation;
}

int capture_join(struct capture_place *stream, struct capture_place *event)
{
	graphs_lock();
	struct stream_capture *c = active(event), *own = active(stream);
	int error = !c ? cudaErrorCapturedEvent : own && own != c ? cudaErrorStreamCaptureMerge : c->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
	if (!error && !own)
		enter(stream, c);
	if (!error && !add_nodes(stream, event))
		error = cudaErrorMemoryAllocation;
	graphs_unlock();
	return error;
}

void capture_leave(struct capture_place *p)
{
	if (!p->capture)
		return;
	graphs_lock();
	leave(p);
	graphs_unlock();
}

enum capture_status capture_info(struct capture_place *p, unsigned long long *id, void **graph, void *const **nodes, size_t *count)
{
	if (!p->capture)
		return NO_CAPTURE;
	graphs_lock();
	const struct stream_capture *c = active(p);
	if (c && id)
		*id = c->id;
	if (c && graph)
		*graph = c->graph;
	if (c && nodes)
		*nodes = (void *const *)p->nodes;
	if (c && count)
		*count = p->count;
	enum capture_status status = !c ? NO_CAPTURE : c->invalid ? CAPTURE_INVALID : CAPTURE_TAKES;
	graphs_unlock();
	return status;
}
