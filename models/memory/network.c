/*
 * One direction of the interconnect: a crossbar from ports to ports.
 *
 *   a packet passes when its input and its output are both free, and takes both for its flits
 *   in order: an input's packets pass one after the other, and one whose output is taken holds up those after it, so that
 *   random traffic gets about 60% through (Karol et al., "Input versus output queueing on a space-division packet switch",
 *   1987); of inputs that could pass at the same time, the one that waited longest for its turn goes first
 *   else: packets queue at the outputs
 */
#include "models/memory/network.h"
#include "models/util/minmax.h"
#include "models/util/pool.h"

#include <errno.h>
#include <stdlib.h>

struct input {
	uint64_t free, served;
	uint32_t head, tail; /* packets */
	uint64_t waiting;    /* ticks of them */
};
/* When an input's first packet may pass. */
struct turn {
	uint64_t start, served;
	uint32_t input;
};
struct network {
	struct input *inputs;
	struct turn *turns; /* a heap, of inputs that have packets */
	uint32_t turn_count;
	uint64_t *outputs; /* when they are free */
	struct network_packet *packets;
	struct pool pool; /* of them */
	uint32_t input_count;
	uint64_t turn;
	bool in_order;
};

struct network *network_new(uint32_t inputs, uint32_t outputs, bool in_order)
{
	struct network *n = calloc(1, sizeof *n);
	if (!n)
		return NULL;
	*n = (struct network){.input_count = inputs, .pool = POOL_EMPTY, .in_order = in_order};
	n->inputs = calloc(inputs, sizeof *n->inputs);
	n->outputs = calloc(outputs, sizeof *n->outputs);
	n->turns = calloc(inputs, sizeof *n->turns);
	if (!n->inputs || !n->outputs || !n->turns) {
		network_free(n);
		return NULL;
	}
	for (uint32_t i = 0; i < inputs; i++)
		n->inputs[i].head = n->inputs[i].tail = MEMORY_NONE;
	return n;
}

void network_free(struct network *n)
{
	if (!n)
		return;
	free(n->inputs);
	free(n->outputs);
	free(n->turns);
	free(n->packets);
	free(n);
}

static uint64_t start_of(const struct network *n, const struct input *in)
{
	const struct network_packet *p = &n->packets[in->head];
	uint64_t time = max_u64(p->ready, in->free);
	return n->in_order ? max_u64(time, n->outputs[p->to]) : time;
}

/* Which of two inputs passes first. */
static bool precedes(const struct turn *a, const struct turn *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->served != b->served ? a->served < b->served : a->input < b->input;
}

static void sift_down(struct network *n)
{
	struct turn moving = n->turns[0];
	uint32_t at = 0, child;
	while ((child = 2 * at + 1) < n->turn_count) {
		child += child + 1 < n->turn_count && precedes(&n->turns[child + 1], &n->turns[child]);
		if (!precedes(&n->turns[child], &moving))
			break;
		n->turns[at] = n->turns[child];
		at = child;
	}
	n->turns[at] = moving;
}

/* An input that has got its first packet. */
static void queue_input(struct network *n, uint32_t input)
{
	const struct input *in = &n->inputs[input];
	struct turn turn = {start_of(n, in), in->served, input};
	uint32_t at = n->turn_count++;
	for (; at && precedes(&turn, &n->turns[(at - 1) / 2]); at = (at - 1) / 2)
		n->turns[at] = n->turns[(at - 1) / 2];
	n->turns[at] = turn;
}

/* The input whose first packet passes first, with when; NULL: none does until then. What is in the heap may have become
 * later since, never earlier. */
static struct input *first_input(struct network *n, uint64_t until, uint64_t *time)
{
	while (n->turn_count && n->turns[0].start <= until) {
		struct input *in = &n->inputs[n->turns[0].input];
		*time = start_of(n, in);
		if (*time == n->turns[0].start)
			return in;
		n->turns[0].start = *time;
		sift_down(n);
	}
	return NULL;
}

/* The first input has sent its packet. */
static void requeue_first(struct network *n, const struct input *in)
{
	if (in->head == MEMORY_NONE)
		n->turns[0] = n->turns[--n->turn_count];
	else
		n->turns[0] = (struct turn){start_of(n, in), in->served, n->turns[0].input};
	if (n->turn_count)
		sift_down(n);
}

int network_push(struct network *n, const struct network_packet *packet)
{
	uint32_t at = pool_take(&n->pool, n->packets, next);
	if (at == POOL_NONE)
		return -ENOMEM;
	struct input *in = &n->inputs[packet->from];
	n->packets[at] = *packet;
	n->packets[at].next = MEMORY_NONE;
	bool first = in->tail == MEMORY_NONE;
	if (first)
		in->head = at;
	else
		n->packets[in->tail].next = at;
	in->tail = at;
	in->waiting += packet->ticks;
	if (first)
		queue_input(n, packet->from);
	return 0;
}

uint64_t network_waiting(const struct network *n, uint32_t input)
{
	return n->inputs[input].waiting;
}

void network_advance(struct network *n, uint64_t until, network_fn *on_packet, void *ctx)
{
	uint64_t time;
	struct input *in;
	while ((in = first_input(n, until, &time))) {
		uint32_t at = in->head;
		struct network_packet p = n->packets[at];
		in->head = p.next;
		if (in->head == MEMORY_NONE)
			in->tail = MEMORY_NONE;
		in->free = time + p.ticks;
		in->served = ++n->turn;
		in->waiting -= p.ticks;
		pool_give(&n->pool, n->packets, next, at);
		uint64_t start = max_u64(time, n->outputs[p.to]);
		n->outputs[p.to] = start + p.ticks;
		requeue_first(n, in);
		on_packet(ctx, &p, start);
	}
}
