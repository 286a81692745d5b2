/*
 * The functions that traced kernels call (annotator/text/trace_text.c) if they run in this process. They write the events of a
 * work-item into the chunks of the trace buffer (runtime/format/traces.h). models/trace/read.c reads the events and describes
 * their form. It predicts addresses in the same way as access_event.
 *
 * A kernel calls these functions from threads of the driver. They touch only the buffer and the state of the work-item, and
 * call only the allocator.
 */
#include "models/trace/read.h"
#include "runtime/format/native.h"
#include "runtime/format/traces.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { GLOBAL_CLASS, SHARED_CLASS, PRIVATE_CLASS, CONSTANT_CLASS, IMAGE_CLASS, NO_BASE = 7 };

struct prediction {
	uint64_t last;
	int32_t stride;
	uint32_t tag;
};

/* The state of one work-item. */
struct native_trace {
	bool on; /* there is room left */
	uint8_t *at, *end;
	uint64_t *chunk, *buffer;
	uint64_t group, item, base[TRACE_BASES], near[TRACE_CLASSES], kept[2];
	uint32_t chunks, number, lane, first_block, first_site, blocks, sites;
	struct prediction predictions[TRACE_SLOTS];
};

#define NATIVE(type, name, ...) \
	__attribute__((visibility("default"))) type native_##name(__VA_ARGS__) __asm__(NATIVE_PREFIX #name); \
	type native_##name(__VA_ARGS__)

/* ---- bytes ---- */

static void close_chunk(struct native_trace *t, uint64_t cut)
{
	if (t->chunk)
		t->chunk[2] = (uint64_t)(t->at - (uint8_t *)(t->chunk + TRACE_CHUNK_HEADER_WORDS)) | cut << 32;
}

static void next_chunk(struct native_trace *t)
{
	uint32_t index = atomic_fetch_add((_Atomic uint32_t *)t->buffer, 1);
	close_chunk(t, index >= t->chunks);
	t->on = index < t->chunks;
	t->chunk = t->on ? t->buffer + TRACE_HEADER_WORDS + (uint64_t)index * (TRACE_CHUNK_BYTES / 8) : NULL;
	if (!t->on)
		return;
	t->chunk[0] = t->group;
	t->chunk[1] = t->lane | (uint64_t)t->number++ << 32;
	t->chunk[2] = 0;
	t->at = (uint8_t *)(t->chunk + TRACE_CHUNK_HEADER_WORDS);
	t->end = (uint8_t *)(t->chunk + TRACE_CHUNK_BYTES / 8);
}

/* Makes room for `bytes` more, so that an event is never divided. */
static bool make_room(struct native_trace *t, int bytes)
{
	if (t && t->on && t->end - t->at < bytes)
		next_chunk(t);
	return t && t->on;
}

static void put_number(struct native_trace *t, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*t->at++ = (uint8_t)(value | 128);
	*t->at++ = (uint8_t)value;
}

/* ---- events ---- */

static void access_event(struct native_trace *t, uint32_t site, int class, uint32_t base, uint64_t bytes, uint64_t address,
                         uint64_t copied)
{
	if (!make_room(t, TRACE_EVENT_BYTES))
		return;
	struct prediction *p = &t->predictions[site % TRACE_SLOTS];
	bool fresh = p->tag != site + 1;
	uint64_t guess = !fresh ? p->last + (uint64_t)(int64_t)p->stride
	                 : base < TRACE_BASES ? t->base[base] + bytes * (class == SHARED_CLASS ? t->lane : t->item)
	                                      : t->near[class];
	int64_t off = (int64_t)(address - guess), stride = (int64_t)(address - p->last);
	uint64_t folded = (uint64_t)off << 1 ^ (uint64_t)(off >> 63);
	if (fresh)
		folded = folded << 3 | base;
	bool more = fresh || folded;
	put_number(t, (uint64_t)(site >= t->first_site ? site - t->first_site : site + t->sites - t->first_site) << 2 | (more ? 3 : 1));
	if (more)
		put_number(t, folded);
	if (copied)
		put_number(t, copied);
	p->stride = fresh || (int32_t)stride != stride ? 0 : (int32_t)stride;
	p->last = address;
	p->tag = site + 1;
	t->near[class] = address;
}

static void accesses(struct native_trace *t, int first, int second, int class, uint32_t base, uint64_t bytes, uint64_t address)
{
	access_event(t, (uint32_t)first, class, base, bytes, address, 0);
	if (second >= 0)
		access_event(t, (uint32_t)second, class, base, bytes, address, 0);
}

/* The first work-item of a group records what is the same for all of them. */
static void tell_group(struct native_trace *t, const uint64_t *values, size_t count)
{
	if (t->lane || !make_room(t, 128))
		return;
	put_number(t, t->blocks * 2ull);
	put_number(t, 0);
	put_number(t, t->first_block);
	put_number(t, t->first_site);
	for (size_t i = 0; i < count; i++)
		put_number(t, values[i]);
}

/* NULL: the work-item is not traced. The last two parameters are sizes of the program. The others are as in the text's own
 * begin_trace. */
NATIVE(void *, begin, uint64_t *buffer, uint64_t chunks, uint64_t of, uint64_t part, uint64_t group, uint32_t block, uint32_t site,
       uint64_t x, uint64_t y, uint64_t z, uint64_t size_x, uint64_t size_y, uint64_t lx, uint64_t ly, uint64_t lz, uint64_t local_x,
       uint64_t local_y, uint64_t local_z, uint32_t blocks, uint32_t sites)
{
	if (!chunks || (of && group % of >= part))
		return NULL;
	struct native_trace *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->on = true;
	t->buffer = buffer;
	t->chunks = chunks < UINT32_MAX ? (uint32_t)chunks : UINT32_MAX;
	t->group = group;
	t->first_block = block;
	t->first_site = site;
	t->blocks = blocks;
	t->sites = sites;
	t->lane = (uint32_t)((lz * local_y + ly) * local_x + lx);
	t->item = ((z + lz) * size_y + y + ly) * size_x + x + lx;
	t->near[IMAGE_CLASS] = t->item * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS;
	tell_group(t, (const uint64_t[]){x, y, z, local_x, local_y, local_z, size_x, size_y}, 8);
	return t;
}

NATIVE(void, end, struct native_trace *t)
{
	if (t)
		close_chunk(t, 0);
	free(t);
}

NATIVE(void, b, uint32_t block, struct native_trace *t)
{
	if (make_room(t, TRACE_EVENT_BYTES))
		put_number(t, (block >= t->first_block ? block - t->first_block : block + t->blocks - t->first_block) * 2ull);
}

NATIVE(void, base_f, uint32_t base, uint32_t kind, uint64_t what, uint64_t address, struct native_trace *t)
{
	if (!t || !t->on)
		return;
	if (base < TRACE_BASES)
		t->base[base] = address;
	if (!base && !kind)
		t->near[GLOBAL_CLASS] = address;
	if (t->lane || !make_room(t, 64))
		return;
	put_number(t, t->blocks * 2ull);
	put_number(t, 1);
	put_number(t, base);
	put_number(t, kind);
	put_number(t, what);
	put_number(t, address);
}

NATIVE(uint64_t, copy, int to, int to_class, int from, int from_class, uint64_t bytes, uint64_t count, struct native_trace *t)
{
	if (t && count) {
		access_event(t, (uint32_t)from, from_class, NO_BASE, bytes, t->kept[1], count * bytes);
		access_event(t, (uint32_t)to, to_class, NO_BASE, bytes, t->kept[0], count * bytes);
	}
	return count;
}

/* A position in an image is the position of its texel, row after row. The number of the argument is in the low bits. */
NATIVE(void, i_at, uint32_t site, uint32_t argument, uint64_t width, uint64_t height, uint64_t x, uint64_t y, uint64_t z,
       struct native_trace *t)
{
	uint64_t at = (z * height + y) * width + x;
	access_event(t, site, IMAGE_CLASS, NO_BASE, TRACE_TEXEL_BYTES,
	             (at * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS) + (argument & ((1 << TRACE_IMAGE_BITS) - 1)), 0);
}

/* Accesses through pointers of one address space: at p, at an offset in elements of `apart` bytes, and the operands of a copy. */
#define SPACE_FUNCTIONS(letter, class) \
	NATIVE(void *, a_##letter, int first, int second, uint32_t base, uint64_t bytes, void *p, struct native_trace *t) \
	{ \
		accesses(t, first, second, class, base, bytes, (uint64_t)p); \
		return p; \
	} \
	NATIVE(void *, v_##letter, uint32_t site, uint32_t base, uint64_t bytes, uint64_t apart, uint64_t offset, void *p, \
	       struct native_trace *t) \
	{ \
		p = (char *)p + apart * offset; \
		access_event(t, site, class, base, bytes, (uint64_t)p, 0); \
		return p; \
	} \
	NATIVE(void *, k_##letter, int which, void *p, struct native_trace *t) \
	{ \
		if (t) \
			t->kept[which & 1] = (uint64_t)p; \
		return p; \
	}

SPACE_FUNCTIONS(g, GLOBAL_CLASS)
SPACE_FUNCTIONS(l, SHARED_CLASS)
SPACE_FUNCTIONS(c, CONSTANT_CLASS)
SPACE_FUNCTIONS(p, PRIVATE_CLASS)
SPACE_FUNCTIONS(n, GLOBAL_CLASS)

/* Accesses to variables whose place in the kernel's own order is known. */
#define ARRAY_FUNCTION(letter, class) \
	NATIVE(void *, a_##letter, int first, int second, uint32_t base, uint64_t bytes, uint64_t offset, uint64_t origin, void *p, \
	       struct native_trace *t) \
	{ \
		accesses(t, first, second, class, base, bytes, (uint64_t)p - origin + offset); \
		return p; \
	}

ARRAY_FUNCTION(f, PRIVATE_CLASS)
ARRAY_FUNCTION(d, CONSTANT_CLASS)
