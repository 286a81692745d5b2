/* Finds repeats in what a warp executed: as nodes come, those at the end that equal the ones before them become a turn more. */
#include "runtime/cmd/task/from.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODY = 96 }; /* nodes of a repeat's body */

struct folding {
	struct recorded_tree *out;
	size_t *tops; /* nodes that are in no other */
	size_t top_count, top_room;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 29;
}

static bool same_nodes(const struct folding *f, size_t a, size_t b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (f->out->nodes[a + i].hash != f->out->nodes[b + i].hash)
			return false;
	return true;
}

/* The last k nodes are those of the repeat before them: another turn. */
static bool add_turn(struct folding *f, size_t k)
{
	if (f->top_count <= k)
		return false;
	struct recorded_node *repeat = &f->out->nodes[f->tops[f->top_count - k - 1]];
	size_t body = f->tops[f->top_count - k - 1] + 1, tail = f->tops[f->top_count - k], length = f->out->count - tail;
	if (!repeat->turns || repeat->size - 1 != length || !same_nodes(f, body, tail, length))
		return false;
	repeat->turns++;
	f->out->count = tail;
	f->top_count -= k;
	return true;
}

/* The last k nodes equal the k before them: a repeat of two turns. */
static bool make_repeat(struct folding *f, size_t k)
{
	if (f->top_count < 2 * k)
		return false;
	size_t first = f->tops[f->top_count - 2 * k], second = f->tops[f->top_count - k], length = second - first;
	if (f->out->count - second != length || !same_nodes(f, first, second, length))
		return false;
	struct recorded_tree *t = f->out;
	memmove(t->nodes + first + 1, t->nodes + first, length * sizeof *t->nodes);
	t->nodes[first] = (struct recorded_node){.turns = 2, .size = (uint32_t)length + 1};
	t->count = first + 1 + length;
	f->top_count -= 2 * k - 1;
	return true;
}

/* A repeat's hash has its turns: it is final once something else follows. */
static void settle_hash(struct recorded_tree *t, size_t at)
{
	struct recorded_node *n = &t->nodes[at];
	if (!n->turns)
		return;
	uint64_t hash = mix(n->turns, 7);
	for (size_t i = at + 1; i < at + n->size; i++)
		hash = mix(hash, t->nodes[i].hash + i - at);
	n->hash = hash;
}

static void fold_end(struct folding *f)
{
	for (bool again = true; again;) {
		again = false;
		for (size_t k = 1; k <= MOST_BODY && k < f->top_count + 1 && !again; k++)
			again = add_turn(f, k) || make_repeat(f, k);
		if (f->top_count)
			settle_hash(f->out, f->tops[f->top_count - 1]);
	}
}

int fold_tokens(const struct recorded_node *tokens, size_t count, struct recorded_tree *out)
{
	struct folding f = {.out = out};
	int result = 0;
	*out = (struct recorded_tree){0};
	for (size_t i = 0; i < count && !result; i++) {
		/* a repeat needs room for one node more than its two turns have */
		if (!gs_reserve(&out->nodes, out->count + 1, &out->room, sizeof *out->nodes) || !gs_reserve(&f.tops, f.top_count, &f.top_room, sizeof *f.tops)) {
			result = -ENOMEM;
			break;
		}
		f.tops[f.top_count++] = out->count;
		out->nodes[out->count] = tokens[i];
		out->nodes[out->count].size = 1;
		out->nodes[out->count].hash = mix(tokens[i].piece, tokens[i].mask);
		out->count++;
		fold_end(&f);
	}
	free(f.tops);
	return result;
}
