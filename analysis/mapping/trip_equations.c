/* Makes equations of trips: sums of variables that equal sums of counts of trips. */
#include "analysis/mapping/trips_internal.h"

#include <stdlib.h>

enum { MOST_REACHED = 16 }; /* most counters that one equation may need for the numbers before a set */

struct trip_equation *new_equation(struct tracker *t)
{
	struct trip_equations *e = t->result;
	if (e->count == e->room) {
		uint32_t room = e->room ? e->room * 2 : 16;
		struct trip_equation *grown = reallocarray(e->items, room, sizeof *grown);
		if (!grown) {
			e->failed = true;
			return NULL;
		}
		e->items = grown;
		e->room = room;
	}
	e->items[e->count] = (struct trip_equation){0};
	return &e->items[e->count++];
}

/* The terms, with room for one more. NULL: out of memory; the result is then marked as failed. */
static void *with_room(struct tracker *t, void *terms, uint32_t count, uint32_t *room, size_t size)
{
	if (count < *room)
		return terms;
	uint32_t more = *room ? *room * 2 : 4;
	void *grown = reallocarray(terms, more, size);
	if (grown)
		*room = more;
	else
		t->result->failed = true;
	return grown;
}

void add_left(struct tracker *t, struct trip_equation *e, uint32_t variable, int32_t factor)
{
	struct linear_term *left = e ? with_room(t, e->left, e->left_count, &e->left_room, sizeof *left) : NULL;
	if (!left)
		return;
	e->left = left;
	left[e->left_count++] = (struct linear_term){variable, factor};
}

static void add_right(struct tracker *t, struct trip_equation *e, enum trip_kind kind, uint32_t factor, uint32_t residue,
                      int32_t times)
{
	struct trip_term *right = e ? with_room(t, e->right, e->right_count, &e->right_room, sizeof *right) : NULL;
	if (!right)
		return;
	e->right = right;
	right[e->right_count++] = (struct trip_term){
	    {.loop = t->loop, .block = t->block, .factor = factor, .residue = residue, .kind = kind}, times};
}

void trip_equations_free(struct trip_equations *e)
{
	for (uint32_t i = 0; i < e->count; i++) {
		free(e->items[i].left);
		free(e->items[i].right);
	}
	free(e->items);
	*e = (struct trip_equations){0};
}

bool add_set(struct tracker *t, struct trip_equation *e, struct numbers set, int32_t times)
{
	if (!set.step) {
		if (set.first)
			add_right(t, e, TRIPS_REACHED, set.first, 0, times);
		return true;
	}
	/* All numbers from the first on: the block's own count minus the other copies. */
	if (set.step == 1 || (set.first && (set.first - 1) / set.step > MOST_REACHED))
		return false;
	add_right(t, e, TRIPS_EVERY, set.step, set.first % set.step, times);
	for (uint32_t number = set.first % set.step; number < set.first; number += set.step)
		if (number)
			add_right(t, e, TRIPS_REACHED, number, 0, -times);
	return true;
}

void drop_equation(struct tracker *t)
{
	struct trip_equation *e = &t->result->items[--t->result->count];
	free(e->left);
	free(e->right);
}
