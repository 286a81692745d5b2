/* A hash table from the driver's handles to our records. It has no lock; its users have one. */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_TABLE_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_TABLE_H

#include <stddef.h>

struct table_slot {
	const void *key;
	void *value;
};

struct table {
	struct table_slot *slots;
	size_t capacity, count; /* capacity is 0 or a power of two */
};

void *table_get(const struct table *t, const void *key);
/* Returns the former value of the key (NULL if there was none). If memory is short, sets nothing and returns `value` itself. */
void *table_put(struct table *t, const void *key, void *value);
void *table_remove(struct table *t, const void *key);

#endif
