/* A hash table with open addressing and linear probing. Removal shifts the following entries back, so there are no tombstones. */
#include "runtime/guest/support/table.h"

#include <stdint.h>
#include <stdlib.h>

static size_t home(const struct table *t, const void *key)
{
	/* Handles are addresses, so their low bits are alike. */
	uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> 32) & (t->capacity - 1);
}

static size_t find_slot(const struct table *t, const void *key)
{
	size_t i = home(t, key);
	while (t->slots[i].key && t->slots[i].key != key)
		i = (i + 1) & (t->capacity - 1);
	return i;
}

void *table_get(const struct table *t, const void *key)
{
	return t->capacity ? t->slots[find_slot(t, key)].value : NULL;
}

static int grow(struct table *t)
{
	struct table bigger = {.capacity = t->capacity ? t->capacity * 2 : 64};
	bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
	if (!bigger.slots)
		return -1;
	for (size_t i = 0; i < t->capacity; i++)
		if (t->slots[i].key)
			bigger.slots[find_slot(&bigger, t->slots[i].key)] = t->slots[i];
	bigger.count = t->count;
	free(t->slots);
	*t = bigger;
	return 0;
}

void *table_put(struct table *t, const void *key, void *value)
{
	if ((!t->capacity || t->count * 2 >= t->capacity) && grow(t))
		return value;
	struct table_slot *s = &t->slots[find_slot(t, key)];
	void *before = s->value;
	t->count += !s->key;
	*s = (struct table_slot){key, value};
	return before;
}

void *table_remove(struct table *t, const void *key)
{
	if (!t->capacity)
		return NULL;
	size_t hole = find_slot(t, key), mask = t->capacity - 1;
	void *value = t->slots[hole].value;
	if (!t->slots[hole].key)
		return NULL;
	for (size_t i = (hole + 1) & mask; t->slots[i].key; i = (i + 1) & mask) {
		size_t h = home(t, t->slots[i].key);
		if (((i - h) & mask) >= ((i - hole) & mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole] = (struct table_slot){0};
	t->count--;
	return value;
}
