/* Ranges of buffers in the order of their use, like the lines of a cache that replaces the least recently used one. */
#include "models/history/memory_history.h"

#include "models/gpu/kept.h"
#include "models/util/minmax.h"

#include <math.h>
#include <string.h>

enum { STORED_ALONE = 2 }; /* one of so many lines that were stored to has no copy elsewhere */

/* Where SMs of all partitions ask for each line, so that it is in each of them. */
static uint64_t surely(const struct gpu *gpu)
{
	return gpu->l2_bytes / gpu->l2_partitions;
}

/* Where one SM does: models/gpu/kept.c. */
static uint64_t capacity_of(const struct gpu *gpu)
{
	return (uint64_t)((double)gpu->l2_bytes / (2 - 1.0 / gpu->l2_partitions));
}

/* As many bytes of it are left. */
static struct recent_memory cut(struct recent_memory r, uint64_t bytes)
{
	double share = r.bytes ? (double)bytes / (double)r.bytes : 0;
	r.bytes = bytes;
	r.dirty = (uint64_t)((double)r.dirty * share);
	r.alone = (uint64_t)((double)r.alone * share);
	return r;
}

/* What of it is from `begin` to `end`. */
static struct recent_memory between(struct recent_memory r, uint64_t begin, uint64_t end)
{
	uint64_t from = max_u64(r.begin, begin), to = min_u64(r.begin + r.length, end);
	struct recent_memory part = {.buffer = r.buffer, .begin = from};
	if (from >= to)
		return part;
	double share = (double)(to - from) / (double)r.length;
	part.length = to - from;
	part.bytes = (uint64_t)((double)r.bytes * share);
	part.dirty = (uint64_t)((double)r.dirty * share);
	part.alone = (uint64_t)((double)r.alone * share);
	return part;
}

/* Bytes that are there of those that a launch uses of a buffer, in one of the history's ranges; of these, `dirty` are dirty. */
static uint64_t shared_with(const struct recent_memory *r, const struct memory_use *use, uint64_t *dirty)
{
	struct recent_memory part = between(*r, use->begin, use->begin + use->length);
	double asked = use->length ? (double)use->bytes / (double)use->length : 1;
	bool same = r->buffer == use->buffer;
	*dirty = same ? (uint64_t)((double)part.dirty * asked) : 0;
	return same ? (uint64_t)((double)part.bytes * asked) : 0;
}

static void keep(struct memory_history *h, const struct recent_memory *r)
{
	if (r->bytes && h->count < MEMORY_HISTORY_BUFFERS)
		h->recent[h->count++] = *r;
}

/* The range of the buffer is no longer where it was. Returns the bytes of it that were there, and that were dirty. */
static struct recent_memory take_away(struct memory_history *h, uint64_t buffer, uint64_t begin, uint64_t bytes)
{
	struct memory_history old = *h;
	struct recent_memory taken = {0};
	h->count = 0;
	for (uint32_t i = 0; i < old.count; i++) {
		struct recent_memory r = old.recent[i], gone = between(r, begin, begin + bytes);
		if (r.buffer != buffer || !gone.length) {
			keep(h, &r);
			continue;
		}
		struct recent_memory below = between(r, 0, begin), above = between(r, begin + bytes, UINT64_MAX);
		taken.bytes += r.bytes - below.bytes - above.bytes;
		taken.dirty += r.dirty - below.dirty - above.dirty;
		taken.alone += r.alone - below.alone - above.alone;
		keep(h, &below);
		keep(h, &above);
	}
	return taken;
}

/* `bytes` of the range, of `length`. asked: the share of the range that is asked for; of the rest there is what was there. stays: the share of lines that are
 * there until the launch asks for them. */
static void put_first(struct memory_history *h, struct recent_memory r, double asked, uint64_t stored, double stays)
{
	struct recent_memory before = take_away(h, r.buffer, r.begin, r.length);
	uint64_t dirty = (uint64_t)((double)before.dirty * stays);
	r.bytes = min_u64(r.bytes + (uint64_t)((double)before.bytes * (1 - asked) * stays), r.length);
	if (!r.bytes)
		return;
	h->count -= h->count == MEMORY_HISTORY_BUFFERS; /* the oldest goes */
	memmove(h->recent + 1, h->recent, h->count * sizeof *h->recent);
	r.dirty = min_u64(max_u64(dirty, stored), r.bytes);
	r.alone = min_u64(max_u64(r.alone, stored / STORED_ALONE) + (uint64_t)((double)before.alone * (1 - asked) * stays), r.bytes);
	h->recent[0] = r;
	h->count++;
}

/* What is beyond the capacity is gone, and what has been dirty for longest is written. */
static void evict(struct memory_history *h, const struct gpu *gpu)
{
	uint64_t capacity = capacity_of(gpu), dirty = gpu->l2_dirty_bytes ? gpu->l2_dirty_bytes : capacity;
	uint32_t i = 0;
	for (; i < h->count && capacity; i++) {
		h->recent[i] = cut(h->recent[i], min_u64(h->recent[i].bytes, capacity));
		h->recent[i].dirty = min_u64(h->recent[i].dirty, dirty);
		capacity -= h->recent[i].bytes;
		dirty -= h->recent[i].dirty;
	}
	h->count = i;
}

/* That any SM finds. */
static uint64_t held(const struct memory_history *h, const struct gpu *gpu, const struct memory_use *use)
{
	uint64_t bytes = 0, left = surely(gpu), dirty;
	for (uint32_t i = 0; i < h->count; i++) {
		struct recent_memory there = cut(h->recent[i], min_u64(h->recent[i].bytes, left));
		bytes += shared_with(&there, use, &dirty);
		left -= there.bytes;
	}
	return bytes;
}

static void take_copies(struct memory_history *h, const struct gpu *gpu, const struct memory_use *use)
{
	struct recent_memory copied = {use->buffer, 0, use->copied, use->copied, 0, use->copied}, written = {use->buffer, 0, use->written, use->written, 0, 0};
	if (use->largest <= gpu->l2_copies && use->copied)
		put_first(h, copied, 1, 0, 1);
	else
		take_away(h, use->buffer, 0, use->copied);
	if (use->written)
		put_first(h, written, 1, use->written, 1);
	evict(h, gpu);
}

static uint8_t cold_quarters(uint64_t there, uint64_t asked)
{
	double share = asked && there < asked ? (double)there / (double)asked : 1;
	return (uint8_t)(ALL_COLD - (uint32_t)(share * ALL_COLD + 0.5));
}

static double all_bytes(const struct memory_use *uses, size_t count)
{
	double all = 0;
	for (size_t i = 0; i < count; i++)
		all += uses[i].buffer ? (double)uses[i].bytes : 0;
	return all;
}

static void use_memory(struct memory_history *h, const struct gpu *gpu, const struct memory_use *uses, size_t count, double stays)
{
	double all = all_bytes(uses, count), capacity = (double)capacity_of(gpu);
	double share = all > capacity ? capacity / all : 1;
	for (int last = 0; last < 2; last++)
		for (size_t i = 0; i < count; i++) {
			double own = last ? 1 : share;
			struct recent_memory r = {uses[i].buffer, uses[i].begin, uses[i].length, (uint64_t)((double)uses[i].bytes * own), 0, 0};
			if (uses[i].buffer && uses[i].last == last)
				put_first(h, r, (double)uses[i].bytes / (double)uses[i].length, (uint64_t)((double)uses[i].stored * own), stays);
		}
	evict(h, gpu);
}

/* Of all buffers, or of what the launch uses of one. */
static double dirty_bytes(const struct memory_history *h, const struct memory_use *use)
{
	double bytes = 0;
	for (uint32_t i = 0; i < h->count; i++) {
		uint64_t dirty = h->recent[i].dirty;
		if (use)
			shared_with(&h->recent[i], use, &dirty);
		bytes += (double)dirty;
	}
	return bytes;
}

static uint8_t dirty_share(double dirty, double incoming)
{
	double share = dirty < incoming ? dirty / incoming : 1;
	return (uint8_t)(incoming > 0 && dirty > 0 ? share * ALL_DIRTY + 0.5 : 0);
}

/* The launch uses its memory: what it makes place for. */
static void replace(struct memory_history *h, const struct gpu *gpu, const struct memory_use *uses, size_t count, struct memory_before *out)
{
	double before = dirty_bytes(h, NULL), stored = 0, incoming = 0, stays = kept_share(gpu, (uint64_t)all_bytes(uses, count), false);
	for (size_t i = 0; i < count; i++) {
		double bytes = uses[i].buffer ? (double)uses[i].bytes : 0;
		incoming += bytes > 0 ? bytes - stays * (double)min_u64(held(h, gpu, &uses[i]), uses[i].bytes) : 0;
		stored += bytes > 0 ? max_double((double)uses[i].stored - stays * dirty_bytes(h, &uses[i]), 0) : 0;
	}
	use_memory(h, gpu, uses, count, stays);
	double after = dirty_bytes(h, NULL);
	out->dirty = dirty_share(before + stored - after, incoming);
	out->others_dirty = dirty_share(before - after, incoming);
}

/* Launched again and again. */
static void follow_itself(const struct gpu *gpu, const struct memory_use *uses, size_t count, struct memory_before *out)
{
	struct memory_history own = {0};
	for (int n = 0; n < 3; n++)
		replace(&own, gpu, uses, count, out);
}

/* Of what the launch uses, what is in one partition alone. */
static double alone_bytes(const struct memory_history *h, const struct memory_use *use)
{
	double bytes = 0;
	for (uint32_t i = 0; i < h->count; i++)
		if (h->recent[i].buffer == use->buffer)
			bytes += (double)between(h->recent[i], use->begin, use->begin + use->length).alone;
	return use->length ? bytes * (double)use->bytes / (double)use->length : bytes;
}

static uint8_t alone_quarters(double alone, uint64_t there)
{
	return (uint8_t)(there ? fmin(alone / (double)there, 1) * ALL_ALONE + 0.5 : 0);
}

/* Of all parts of each argument together. */
static void find_cold(const struct memory_history *h, const struct gpu *gpu, const struct memory_use *uses, size_t count, struct memory_before *out)
{
	uint64_t there[MEMORY_ARGUMENTS] = {0}, asked[MEMORY_ARGUMENTS] = {0};
	double alone[MEMORY_ARGUMENTS] = {0};
	for (size_t i = 0; i < count; i++)
		if (uses[i].buffer && uses[i].argument < MEMORY_ARGUMENTS) {
			out->known = true;
			there[uses[i].argument] += min_u64(held(h, gpu, &uses[i]), uses[i].bytes);
			asked[uses[i].argument] += uses[i].bytes;
			alone[uses[i].argument] += alone_bytes(h, &uses[i]);
		}
	for (size_t a = 0; a < MEMORY_ARGUMENTS; a++) {
		out->cold[a] = asked[a] ? cold_quarters(there[a], asked[a]) : gpu->l2_warm ? 0 : ALL_COLD;
		out->alone[a] = gpu->l2_partitions > 1 ? alone_quarters(alone[a], there[a]) : 0;
	}
}

void memory_history_launch(struct memory_history *h, const struct gpu *gpu, const struct memory_use *uses, size_t count,
                           struct memory_before *out)
{
	*out = (struct memory_before){0};
	count = count < MEMORY_USES ? count : MEMORY_USES;
	if (!gpu->l2_kept) {
		follow_itself(gpu, uses, count, out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (uses[i].buffer)
			take_copies(h, gpu, &uses[i]);
	find_cold(h, gpu, uses, count, out);
	replace(h, gpu, uses, count, out);
}
