/*
 * A crossbar whose inputs send their packets in order.
 *
 *   an output takes one packet after the other, of inputs whose first packet is for it: in turn, from the one after the
 * input that it took last an input whose first packet waits holds up those behind it, so that random traffic gets about
 * 60% through (Karol et al., "Input versus output queueing on a space-division packet switch", 1987; the outputs'
 * turns: McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999, with one packet of each input in
 * view) The sectors of an answer are packets of their own: an output may take another input's between them.
 */
#include "models/memory/crossbar.h"
#include "models/util/minmax.h"

#include <stdlib.h>

struct crossbar_input {
	uint64_t free;
	uint32_t head, tail; /* requests */
	uint64_t waiting;    /* ticks of them */
};
struct crossbar_output {
	uint64_t free, next; /* next: when it takes a packet */
	uint64_t sent;       /* when those that it took have left its port */
	uint32_t turn;       /* the input that it would take first */
};
struct crossbar {
	const struct memory_requests *requests;
	struct crossbar_timing timing;
	struct crossbar_input *lanes;
	struct crossbar_output *exits;
	uint64_t *asking; /* for each output, a bit for each input whose first packet is for it */
	uint32_t *first;  /* a tree: of two outputs, the one that takes a packet first */
	uint32_t inputs, outputs, words, leaves;
	bool back;
};

struct crossbar *crossbar_new(const struct memory_requests *requests, uint32_t inputs, uint32_t outputs, bool back,
			      const struct crossbar_timing *timing)
{
	struct crossbar *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	*c = (struct crossbar){.requests = requests,
			       .timing = *timing,
			       .inputs = inputs,
			       .outputs = outputs,
			       .words = (inputs + 63) / 64,
			       .leaves = 1,
			       .back = back};
	while (c->leaves < outputs)
		c->leaves *= 2;
	c->lanes = calloc(inputs, sizeof *c->lanes);
	c->exits = calloc(c->leaves, sizeof *c->exits);
	c->asking = calloc((size_t)outputs * c->words, sizeof *c->asking);
	c->first = calloc(2 * (size_t)c->leaves, sizeof *c->first);
	if (!c->lanes || !c->exits || !c->asking || !c->first) {
		crossbar_free(c);
		return NULL;
	}
	for (uint32_t i = 0; i < inputs; i++)
		c->lanes[i].head = c->lanes[i].tail = MEMORY_NONE;
	for (uint32_t o = 0; o < c->leaves; o++)
		c->exits[o].next = MEMORY_NEVER;
	for (uint32_t o = 0; o < c->leaves; o++)
		c->first[c->leaves + o] = o;
	for (uint32_t n = c->leaves; --n;)
		c->first[n] = c->first[2 * n];
	return c;
}

void crossbar_free(struct crossbar *c)
{
	if (!c)
		return;
	free(c->lanes);
	free(c->exits);
	free(c->asking);
	free(c->first);
	free(c);
}

static uint64_t ready_of(const struct crossbar *c, uint32_t input)
{
	const struct crossbar_input *l = &c->lanes[input];
	return max_u64(c->requests->all[l->head].time, l->free);
}

/* The output takes its next packet then: the tree knows it from now on. */
static void plan_exit(struct crossbar *c, uint32_t output, uint64_t next)
{
	c->exits[output].next = next;
	for (uint32_t n = (c->leaves + output) / 2; n; n /= 2) {
		uint32_t a = c->first[2 * n], b = c->first[2 * n + 1];
		c->first[n] = c->exits[b].next < c->exits[a].next ? b : a;
	}
}

/* When the first of those that ask for the output is ready. */
static uint64_t first_ready(const struct crossbar *c, uint32_t output)
{
	uint64_t first = MEMORY_NEVER;
	for (uint32_t w = 0; w < c->words; w++)
		for (uint64_t bits = c->asking[output * c->words + w]; bits; bits &= bits - 1)
			first = min_u64(first, ready_of(c, w * 64 + (uint32_t)__builtin_ctzll(bits)));
	return first;
}

static uint32_t exit_of(const struct crossbar *c, uint32_t input)
{
	const struct memory_request *r = &c->requests->all[c->lanes[input].head];
	return c->back ? r->sm : r->slice;
}

/* Of inputs that are ready by then, the next in turn. */
static uint32_t taken_input(const struct crossbar *c, uint32_t output, uint64_t time)
{
	uint32_t best = 0, least = UINT32_MAX;
	for (uint32_t w = 0; w < c->words; w++)
		for (uint64_t bits = c->asking[output * c->words + w]; bits; bits &= bits - 1) {
			uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits), turn = c->exits[output].turn;
			uint32_t after = i < turn ? i + c->inputs - turn : i - turn;
			if (after < least && ready_of(c, i) <= time) {
				least = after;
				best = i;
			}
		}
	return best;
}

static void ask_exit(struct crossbar *c, uint32_t input)
{
	uint32_t output = exit_of(c, input);
	uint64_t next = max_u64(ready_of(c, input), c->exits[output].free);
	c->asking[output * c->words + input / 64] |= 1ull << input % 64;
	if (next < c->exits[output].next)
		plan_exit(c, output, next);
}

void crossbar_push(struct crossbar *c, uint32_t request)
{
	struct memory_request *all = c->requests->all, *r = &all[request];
	uint32_t input = c->back ? r->slice : r->sm;
	struct crossbar_input *l = &c->lanes[input];
	r->next = MEMORY_NONE;
	l->waiting += (uint64_t)r->ticks * r->left;
	if (l->tail != MEMORY_NONE) {
		all[l->tail].next = request;
		l->tail = request;
		return;
	}
	l->head = l->tail = request;
	ask_exit(c, input);
}

uint64_t crossbar_waiting(const struct crossbar *c, uint32_t input)
{
	return c->lanes[input].waiting;
}

/* When a packet that is taken now has left the input, all of whose flits have come by then. */
static uint64_t passed_at(const struct crossbar *c, const struct memory_request *r, uint64_t time)
{
	const struct crossbar_timing *t = &c->timing;
	if (!(t->speedup > 0))
		return time + r->ticks;
	uint64_t takes = (uint64_t)((double)(r->ticks + t->flit_ticks) / t->speedup);
	return max_u64(time + max_u64(takes, t->flit_ticks), r->time + r->ticks);
}

/* Returns the request of the packet; *start: when it begins to leave the output. */
static uint32_t take_packet(struct crossbar *c, uint32_t output, uint64_t time, uint64_t *start)
{
	struct crossbar_output *e = &c->exits[output];
	uint32_t input = taken_input(c, output, time);
	struct crossbar_input *l = &c->lanes[input];
	uint32_t request = l->head;
	struct memory_request *r = &c->requests->all[request];
	c->asking[output * c->words + input / 64] &= ~(1ull << input % 64);
	e->turn = input + 1 < c->inputs ? input + 1 : 0;
	*start = max_u64(time, e->sent);
	e->sent = *start + r->ticks;
	l->free = passed_at(c, r, time);
	e->free = max_u64(l->free, e->sent - min_u64(e->sent, c->timing.queue));
	l->waiting -= r->ticks;
	if (!--r->left)
		l->head = r->next;
	if (l->head == MEMORY_NONE)
		l->tail = MEMORY_NONE;
	else
		ask_exit(c, input);
	uint64_t ready = first_ready(c, output);
	plan_exit(c, output, ready == MEMORY_NEVER ? ready : max_u64(ready, e->free));
	return request;
}

void crossbar_advance(struct crossbar *c, uint64_t until, network_fn *on_packet, void *ctx)
{
	for (uint64_t time; (time = c->exits[c->first[1]].next) <= until && time != MEMORY_NEVER;) {
		uint64_t start;
		uint32_t request = take_packet(c, c->first[1], time, &start);
		if (!c->requests->all[request].left)
			on_packet(ctx, request, start);
	}
}
