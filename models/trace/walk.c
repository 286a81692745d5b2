/*
 * The shortest way through the code whose probes are the trace.
 *
 *   a state: a block, and how many of the trace's source blocks have begun
 *   its edges: those whose own probes, and the probes of the block that they lead to, come next in the trace
 *   the way: of all ways from the entry to the end that use up the trace, the one with the fewest instructions
 * Probes leave little open: whether a copy of a loop's body is one of an unrolled loop or of its remainder, whether a guard
 * skips a loop that goes round no more, whether a library's slow path was taken. In these cases the shorter way is mostly
 * right. Edges that the lane's counters say were never taken cost extra. States are expanded in the order of what they have
 * used up, then of cost (Dijkstra), each once: the work is linear in the trace, because mostly there is one state at a time.
 * A compiler may have lost the probe of a block in some copies. Where no way leads on, the next source block is marked as one
 * that may be missing, and the search begins again.
 */
#include "models/trace/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Costs of a way that contradicts what is known. Ways are compared by instructions: each of these is longer than a detour in any
	 * kernel, and one edge that was not taken outweighs ten lost probes. */
	NEVER_TAKEN = 100000, /* instructions that an edge costs which the counters say was not taken */
	LOST_PROBE = 10000,   /* and a source block whose probe must have been lost */
	MOST_LEARNT = 32,     /* source blocks whose probes may be lost; with more, the lane is walked by its counters (traces_disagree) */
	MOST_OPEN = 256,      /* ways that a search keeps; of more, the most expensive is given up */
	NO_NODE = -1,
};
#define AT_END UINT32_MAX /* block of the state that has left the kernel */

struct node {
	uint32_t block, before;
	int32_t parent; /* node, or NO_NODE */
	int32_t calls;  /* open calls: index of frames, or NO_NODE */
};

struct frame {
	uint32_t edge; /* by which the call's block goes on */
	int32_t outer;
};

struct open_state {
	uint32_t used; /* of the trace */
	uint64_t cost;
	int32_t node;
};

enum probe_state { PROBE_UNKNOWN, PROBE_KNOWN, PROBE_MAY_BE_LOST, PROBE_IGNORED };

struct trace_walker {
	const struct kernel_code *code;
	uint8_t *states; /* per source block: enum probe_state */
	uint32_t learnt;
	struct node *nodes;
	size_t node_count, node_room;
	struct frame *frames;
	size_t frame_count, frame_room;
	struct open_state open[MOST_OPEN];
	uint32_t open_count;
	struct visit {
		uint64_t used;
		int32_t calls;
	} *visits; /* per block: the last state that was expanded; used is one more */
	/* of the walk under way */
	const uint32_t *blocks;
	uint32_t count, furthest;
	const double *edges;
	bool cut; /* the way may end anywhere, once the trace is used up */
	bool failed, had_choice;
};

struct trace_walker *trace_walker_new(const struct kernel_code *code)
{
	struct trace_walker *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->code = code;
	w->states = calloc(code->counter_count + 1u, sizeof *w->states);
	w->visits = calloc(code->block_count + 1u, sizeof *w->visits);
	if (!w->states || !w->visits) {
		trace_walker_free(w);
		return NULL;
	}
	for (uint32_t i = 0; i < code->probe_count; i++)
		w->states[code->probes[i]] = PROBE_KNOWN;
	return w;
}

void trace_walker_free(struct trace_walker *w)
{
	if (!w)
		return;
	free(w->states);
	free(w->visits);
	free(w->nodes);
	free(w->frames);
	free(w);
}

bool trace_walker_knows(const struct trace_walker *w, uint32_t source_block)
{
	uint8_t state = source_block < w->code->counter_count ? w->states[source_block] : PROBE_UNKNOWN;
	return state == PROBE_KNOWN || state == PROBE_MAY_BE_LOST;
}

void trace_walker_ignore(struct trace_walker *w, uint32_t source_block)
{
	if (source_block < w->code->counter_count)
		w->states[source_block] = PROBE_IGNORED;
}

/* ---- states ---- */

static void *grown(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	size_t more = *room ? 2 * *room : 256;
	void *larger = count < INT32_MAX / 2 ? reallocarray(array, more, size) : NULL;
	if (larger)
		*room = more;
	return larger;
}

static int32_t add_node(struct trace_walker *w, struct node node)
{
	struct node *nodes = grown(w->nodes, w->node_count, &w->node_room, sizeof *nodes);
	if (!nodes) {
		w->failed = true;
		return NO_NODE;
	}
	w->nodes = nodes;
	nodes[w->node_count] = node;
	return (int32_t)w->node_count++;
}

static int32_t add_frame(struct trace_walker *w, uint32_t edge, int32_t outer)
{
	struct frame *frames = grown(w->frames, w->frame_count, &w->frame_room, sizeof *frames);
	if (!frames) {
		w->failed = true;
		return NO_NODE;
	}
	w->frames = frames;
	frames[w->frame_count] = (struct frame){edge, outer};
	return (int32_t)w->frame_count++;
}

/* With too many ways open, the most expensive is given up. */
static void add_open(struct trace_walker *w, struct open_state state)
{
	uint32_t at = w->open_count;
	if (at == MOST_OPEN) {
		at = 0;
		for (uint32_t i = 1; i < w->open_count; i++)
			if (w->open[i].cost > w->open[at].cost)
				at = i;
		if (w->open[at].cost <= state.cost)
			return;
	} else {
		w->open_count++;
	}
	w->open[at] = state;
}

static struct open_state next_open(struct trace_walker *w)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < w->open_count; i++) {
		const struct open_state *a = &w->open[i], *b = &w->open[best];
		if (a->used < b->used || (a->used == b->used && a->cost < b->cost))
			best = i;
	}
	struct open_state state = w->open[best];
	w->open[best] = w->open[--w->open_count];
	return state;
}

/* ---- probes against the trace ---- */

static void skip_lost(struct trace_walker *w, uint32_t wanted, struct open_state *s)
{
	while (s->used < w->count && w->blocks[s->used] != wanted && w->states[w->blocks[s->used]] == PROBE_MAY_BE_LOST) {
		s->used++;
		s->cost += LOST_PROBE;
	}
}

static bool use_probes(struct trace_walker *w, uint32_t first, uint32_t count, struct open_state *s)
{
	for (uint32_t i = first; i < first + count; i++) {
		uint32_t probe = w->code->probes[i];
		if (w->states[probe] == PROBE_IGNORED)
			continue;
		if (w->states[probe] == PROBE_KNOWN || w->states[probe] == PROBE_MAY_BE_LOST)
			skip_lost(w, probe, s);
		if (s->used > w->furthest)
			w->furthest = s->used;
		if (s->used >= w->count || w->blocks[s->used] != probe)
			return false;
		s->used++;
	}
	if (s->used > w->furthest)
		w->furthest = s->used;
	return true;
}

static void enter(struct trace_walker *w, uint32_t block, struct open_state s, uint32_t before, int32_t calls)
{
	const struct code_block *b = &w->code->blocks[block];
	int32_t parent = s.node;
	if (!use_probes(w, b->first_probe, b->probe_count, &s))
		return;
	if (w->visits[block].used == (uint64_t)s.used + 1 && w->visits[block].calls == calls) {
		w->had_choice = true;
		return;
	}
	s.cost += b->count + 1; /* an empty block is a step, too */
	s.node = add_node(w, (struct node){block, before, parent, calls});
	if (!w->failed)
		add_open(w, s);
}

static void cross(struct trace_walker *w, uint32_t edge, struct open_state s, int32_t calls)
{
	uint32_t before = s.used;
	for (;;) {
		const struct code_edge *e = &w->code->edges[edge];
		if (w->edges && w->edges[edge] < 1e-6)
			s.cost += NEVER_TAKEN;
		if (!use_probes(w, e->first_probe, e->probe_count, &s))
			return;
		if (e->to >= 0) {
			enter(w, (uint32_t)e->to, s, before, calls);
			return;
		}
		if (calls == NO_NODE)
			break;
		edge = w->frames[calls].edge;
		calls = w->frames[calls].outer;
	}
	skip_lost(w, AT_END, &s);
	if (s.used == w->count)
		s.node = add_node(w, (struct node){AT_END, before, s.node, NO_NODE});
	if (s.used == w->count && !w->failed)
		add_open(w, s);
}

static void expand(struct trace_walker *w, struct open_state s)
{
	struct node node = w->nodes[s.node];
	const struct code_block *b = &w->code->blocks[node.block];
	w->visits[node.block] = (struct visit){(uint64_t)s.used + 1, node.calls};
	if (b->call != -1) {
		int32_t calls = add_frame(w, b->first_edge, node.calls);
		if (!w->failed && b->call >= 0)
			enter(w, (uint32_t)b->call, s, s.used, calls);
		for (uint32_t f = 1; f < w->code->function_count && b->call == CODE_CALL_ANY && !w->failed; f++)
			enter(w, w->code->functions[f], s, s.used, calls);
		return;
	}
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count && !w->failed; e++)
		cross(w, e, s, node.calls);
}

/* The last node of the cheapest way that uses up the trace; NO_NODE: there is none. */
static int32_t search(struct trace_walker *w)
{
	w->node_count = w->frame_count = w->open_count = w->furthest = 0;
	memset(w->visits, 0, w->code->block_count * sizeof *w->visits);
	enter(w, w->code->functions[0], (struct open_state){0, 0, NO_NODE}, 0, NO_NODE);
	while (w->open_count && !w->failed) {
		struct open_state s = next_open(w);
		const struct node *n = &w->nodes[s.node];
		if (n->block == AT_END) {
			w->had_choice |= w->open_count > 0;
			return n->parent;
		}
		if (w->cut && s.used == w->count)
			return s.node;
		const struct visit *v = &w->visits[n->block];
		if (v->used != (uint64_t)s.used + 1 || v->calls != n->calls)
			expand(w, s);
		else /* there by a cheaper way already */
			w->had_choice = true;
	}
	return NO_NODE;
}

static int append(struct trace_walker *w, int32_t last, struct gs_buf *path)
{
	size_t steps = 0, start = path->len;
	for (int32_t n = last; n != NO_NODE; n = w->nodes[n].parent)
		steps++;
	/* Room for all, then from the end to the begin. */
	for (size_t i = 0; i < steps && !path->failed; i++)
		gs_buf_add(path, &(struct trace_step){0}, sizeof(struct trace_step));
	if (path->failed)
		return -ENOMEM;
	for (int32_t n = last; n != NO_NODE; n = w->nodes[n].parent) {
		struct trace_step step = {w->nodes[n].block, w->nodes[n].before};
		memcpy(path->data + start + --steps * sizeof step, &step, sizeof step);
	}
	return 0;
}

bool trace_walk_had_choice(const struct trace_walker *w)
{
	return w->had_choice;
}

int trace_walk(struct trace_walker *w, const uint32_t *blocks, size_t count, bool cut, const double *edges, struct gs_buf *path)
{
	if (count >= UINT32_MAX)
		return -ENOENT;
	w->blocks = blocks;
	w->count = (uint32_t)count;
	w->edges = edges;
	w->cut = cut;
	w->failed = w->had_choice = false;
	for (;;) {
		int32_t last = search(w);
		if (w->failed)
			return -ENOMEM;
		if (last != NO_NODE)
			return append(w, last, path);
		uint8_t *state = w->furthest < w->count ? &w->states[blocks[w->furthest]] : NULL;
		if (!state || *state != PROBE_KNOWN || w->learnt >= MOST_LEARNT)
			return -ENOENT;
		*state = PROBE_MAY_BE_LOST;
		w->learnt++;
	}
}
