/* The memory of a module, which is freed all at once, and its names. Each name is stored once. */
#include "analysis/ptx/internal.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct arena_block {
	struct arena_block *next;
	_Alignas(ALIGNMENT) char data[];
};

struct ptx_arena {
	struct arena_block *blocks; /* the first one is being filled */
	size_t used, room;
};

struct ptx_arena *ptx_arena_create(void)
{
	return calloc(1, sizeof(struct ptx_arena));
}

void ptx_arena_free(struct ptx_arena *a)
{
	for (struct arena_block *b = a ? a->blocks : NULL, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

void *ptx_arena_alloc(struct ptx_arena *a, size_t bytes)
{
	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!a->blocks || bytes > a->room - a->used) {
		size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
		struct arena_block *b = calloc(1, sizeof *b + room);
		if (!b)
			return NULL;
		b->next = a->blocks;
		a->blocks = b;
		a->used = 0;
		a->room = room;
	}
	void *result = a->blocks->data + a->used;
	a->used += bytes;
	return result;
}

void *ptx_push(struct ptx_reader *r, struct ptx_vector *v, size_t size)
{
	if (v->count == v->room && !r->failed) {
		uint32_t room = v->room ? v->room * 2 : 16;
		void *grown = room > v->room ? reallocarray(v->data, room, size) : NULL;
		if (grown) {
			v->data = grown;
			v->room = room;
		}
		r->failed = !grown;
	}
	void *element = r->failed ? r->spare : (char *)v->data + v->count++ * size;
	return memset(element, 0, size);
}

void *ptx_keep(struct ptx_reader *r, struct ptx_vector *v, size_t size)
{
	void *kept = v->count ? ptx_arena_alloc(r->arena, v->count * size) : NULL;
	if (kept)
		memcpy(kept, v->data, v->count * size);
	else if (v->count)
		r->failed = true;
	v->count = 0;
	return kept;
}

static struct ptx_name *find_name(const struct ptx_names *names, struct ptx_span text, uint32_t hash)
{
	struct ptx_name *n = names->slot_count ? names->slots[hash & (names->slot_count - 1)] : NULL;
	while (n && (n->hash != hash || n->length != text.length || memcmp(n->text, text.at, text.length)))
		n = n->next;
	return n;
}

static bool grow_names(struct ptx_names *names)
{
	uint32_t count = names->slot_count ? names->slot_count * 2 : 256;
	struct ptx_name **slots = calloc(count, sizeof(struct ptx_name *));
	if (!slots)
		return false;
	for (uint32_t i = 0; i < names->slot_count; i++) {
		for (struct ptx_name *n = names->slots[i], *next; n; n = next) {
			next = n->next;
			n->next = slots[n->hash & (count - 1)];
			slots[n->hash & (count - 1)] = n;
		}
	}
	free(names->slots);
	names->slots = slots;
	names->slot_count = count;
	return true;
}

struct ptx_name *ptx_name_find(const struct ptx_reader *r, struct ptx_span text)
{
	return find_name(&r->names, text, (uint32_t)gs_hash(text.at, text.length));
}

struct ptx_name *ptx_name_of(struct ptx_reader *r, struct ptx_span text)
{
	uint32_t hash = (uint32_t)gs_hash(text.at, text.length);
	struct ptx_name *n = find_name(&r->names, text, hash);
	if (n)
		return n;
	if (!r->failed && (r->names.count < r->names.slot_count || grow_names(&r->names)))
		n = ptx_arena_alloc(r->arena, sizeof *n + text.length + 1);
	if (!n) {
		r->failed = true;
		return memset(r->spare, 0, sizeof r->spare);
	}
	memcpy(n->text, text.at, text.length);
	n->hash = hash;
	n->length = text.length;
	n->shared = -1;
	n->next = r->names.slots[hash & (r->names.slot_count - 1)];
	r->names.slots[hash & (r->names.slot_count - 1)] = n;
	r->names.count++;
	return n;
}

void ptx_names_free(struct ptx_names *n)
{
	free(n->slots);
}
