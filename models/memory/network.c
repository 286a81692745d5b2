/*
 * One direction of the interconnect: a crossbar from ports to ports.
 *
 *   a packet passes when its input is free, takes it for its flits, unless inputs have done so themselves, and queues at its output
 *   of inputs that could pass at the same time, the one that waited longest for its turn goes first
 * Where packets keep their order, a crossbar does it all (models/memory/crossbar.c).
 */
#include "models/memory/network.h"

#include "models/memory/crossbar.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <stdlib.h>

struct input {
	uint64_t free, order;
	uint32_t head, tail; /* packets */
	uint64_t waiting;    /* ticks of them */
};
/* When an input's first packet may pass. order: of its last turn, and the input in the low bits, so that no two are equal. */
struct turn {
	uint64_t start, order;
};
enum { INPUT_BITS = 16 };
struct network {
	struct crossbar *crossbar; /* NULL: packets need not keep their order */
	const struct memory_requests *requests;
	struct input *inputs;
	struct turn *turns; /* a heap, of inputs that have packets */
	uint32_t turn_count;
	uint64_t *outputs; /* when they are free */
	uint64_t turn;
	bool back, apart;
};

struct network *network_new(const struct memory_requests *requests, uint32_t sms, uint32_t slices, bool back, bool apart,
                            const struct crossbar_timing *in_order)
{
	uint32_t inputs = back ? slices : sms, outputs = back ? sms : slices;
	struct network *n = calloc(1, sizeof *n);
	if (!n)
		return NULL;
	*n = (struct network){.requests = requests, .back = back, .apart = apart};
	n->crossbar = in_order ? crossbar_new(requests, inputs, outputs, back, in_order) : NULL;
	n->inputs = calloc(inputs, sizeof *n->inputs);
	n->outputs = calloc(outputs, sizeof *n->outputs);
	n->turns = calloc(inputs + 1, sizeof *n->turns);
	if (!n->inputs || !n->outputs || !n->turns || (in_order && !n->crossbar)) {
		network_free(n);
		return NULL;
	}
	for (uint32_t i = 0; i < inputs; i++) {
		n->inputs[i].head = n->inputs[i].tail = MEMORY_NONE;
		n->inputs[i].order = i;
	}
	return n;
}

void network_free(struct network *n)
{
	if (!n)
		return;
	crossbar_free(n->crossbar);
	free(n->inputs);
	free(n->outputs);
	free(n->turns);
	free(n);
}

static uint32_t output_of(const struct network *n, const struct memory_request *r)
{
	return n->back ? r->sm : r->slice;
}

static struct input *input_of(const struct network *n, const struct turn *t)
{
	return &n->inputs[t->order & ((1u << INPUT_BITS) - 1)];
}

static uint64_t start_of(const struct network *n, const struct input *in)
{
	return max_u64(n->requests->all[in->head].time, in->free);
}

/* Which of two inputs passes first. Without a branch, which could not be predicted. */
static bool precedes(const struct turn *a, const struct turn *b)
{
	return (a->start < b->start) | ((a->start == b->start) & (a->order < b->order));
}

static void sift_down(struct network *n, struct turn moving)
{
	struct turn *turns = n->turns;
	uint32_t at = 0, child, count = n->turn_count;
	turns[count] = (struct turn){UINT64_MAX, UINT64_MAX}; /* the second child of the last parent may be no one */
	while ((child = 2 * at + 1) < count) {
		child += precedes(&turns[child + 1], &turns[child]);
		if (!precedes(&turns[child], &moving))
			break;
		turns[at] = turns[child];
		at = child;
	}
	turns[at] = moving;
}

/* An input that has got its first packet. */
static void queue_input(struct network *n, const struct input *in)
{
	struct turn turn = {start_of(n, in), in->order};
	uint32_t at = n->turn_count++;
	for (; at && precedes(&turn, &n->turns[(at - 1) / 2]); at = (at - 1) / 2)
		n->turns[at] = n->turns[(at - 1) / 2];
	n->turns[at] = turn;
}

/* The first input has sent its packet. */
static void requeue_first(struct network *n, const struct input *in)
{
	if (in->head != MEMORY_NONE) {
		sift_down(n, (struct turn){start_of(n, in), in->order});
		/* Packets are far from one another in the host's memory. */
		uint32_t next = n->requests->all[in->head].next;
		__builtin_prefetch(&n->requests->all[next != MEMORY_NONE ? next : in->head], 1);
	} else if (--n->turn_count) {
		sift_down(n, n->turns[n->turn_count]);
	}
}

void network_push(struct network *n, uint32_t request)
{
	if (n->crossbar) {
		crossbar_push(n->crossbar, request);
		return;
	}
	struct memory_request *all = n->requests->all, *r = &all[request];
	struct input *in = &n->inputs[n->back ? r->slice : r->sm];
	bool first = in->tail == MEMORY_NONE;
	r->next = MEMORY_NONE;
	if (first)
		in->head = request;
	else
		all[in->tail].next = request;
	in->tail = request;
	in->waiting += r->ticks;
	if (first)
		queue_input(n, in);
}

uint64_t network_waiting(const struct network *n, uint32_t input)
{
	return n->crossbar ? crossbar_waiting(n->crossbar, input) : n->inputs[input].waiting;
}

/* The first input's packet passes. Returns its request; *start: when it begins to leave. */
static uint32_t pass_first(struct network *n, uint64_t *start)
{
	struct input *in = input_of(n, &n->turns[0]);
	uint32_t request = in->head;
	const struct memory_request *r = &n->requests->all[request];
	uint64_t time = n->turns[0].start, *output = &n->outputs[output_of(n, r)];
	in->head = r->next;
	if (in->head == MEMORY_NONE)
		in->tail = MEMORY_NONE;
	in->free = n->apart ? time : time + r->ticks;
	in->order = ++n->turn << INPUT_BITS | (uint64_t)(in - n->inputs);
	in->waiting -= r->ticks;
	*start = max_u64(time, *output);
	*output = *start + r->ticks;
	requeue_first(n, in);
	return request;
}

void network_advance(struct network *n, uint64_t until, network_fn *on_packet, void *ctx)
{
	uint64_t start;
	if (n->crossbar) {
		crossbar_advance(n->crossbar, until, on_packet, ctx);
		return;
	}
	while (n->turn_count && n->turns[0].start <= until) {
		uint32_t request = pass_first(n, &start);
		on_packet(ctx, request, start);
	}
}
