/* Buffers in the order of their use, like the lines of a cache that replaces the least recently used one. */
#include "models/history/memory_history.h"

#include "models/gpu/kept.h"
#include "models/util/minmax.h"

#include <string.h>

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
	return (struct recent_memory){r.buffer, bytes, (uint64_t)((double)r.dirty * share)};
}

/* So many bytes of the buffer are no longer where they were. The youngest go: a launch mostly uses what the one before used. Returns how many
 * of them were dirty. */
static uint64_t take_away(struct memory_history *h, uint64_t buffer, uint64_t bytes)
{
	uint64_t dirty = 0;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < h->count; i++) {
		struct recent_memory r = h->recent[i];
		uint64_t gone = r.buffer != buffer ? 0 : min_u64(r.bytes, bytes);
		h->recent[kept] = cut(r, r.bytes - gone);
		dirty += r.dirty - h->recent[kept].dirty;
		bytes -= gone;
		kept += r.bytes > gone;
	}
	h->count = kept;
	return dirty;
}

/* stays: the share of lines that are there until the launch asks for them. */
static void put_first(struct memory_history *h, uint64_t buffer, uint64_t bytes, uint64_t stored, double stays)
{
	uint64_t dirty = (uint64_t)((double)take_away(h, buffer, bytes) * stays);
	if (!bytes)
		return;
	h->count -= h->count == MEMORY_HISTORY_BUFFERS; /* the oldest goes */
	memmove(h->recent + 1, h->recent, h->count * sizeof *h->recent);
	h->recent[0] = (struct recent_memory){buffer, bytes, min_u64(max_u64(dirty, stored), bytes)};
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
static uint64_t held(const struct memory_history *h, const struct gpu *gpu, uint64_t buffer)
{
	uint64_t bytes = 0, left = surely(gpu);
	for (uint32_t i = 0; i < h->count; i++) {
		uint64_t there = min_u64(h->recent[i].bytes, left);
		bytes += h->recent[i].buffer == buffer ? there : 0;
		left -= there;
	}
	return bytes;
}

static void take_copies(struct memory_history *h, const struct gpu *gpu, const struct memory_use *use)
{
	if (use->largest <= gpu->l2_copies && use->copied)
		put_first(h, use->buffer, use->copied, 0, 1);
	else
		take_away(h, use->buffer, use->copied);
	if (use->written)
		put_first(h, use->buffer, use->written, use->written, 1);
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
	for (size_t i = 0; i < count; i++)
		if (uses[i].buffer && !uses[i].last)
			put_first(h, uses[i].buffer, (uint64_t)((double)uses[i].bytes * share), (uint64_t)((double)uses[i].stored * share), stays);
	for (size_t i = 0; i < count; i++)
		if (uses[i].buffer && uses[i].last)
			put_first(h, uses[i].buffer, uses[i].bytes, uses[i].stored, stays);
	evict(h, gpu);
}

/* All buffers: 0. */
static double dirty_bytes(const struct memory_history *h, uint64_t buffer)
{
	double bytes = 0;
	for (uint32_t i = 0; i < h->count; i++)
		bytes += !buffer || h->recent[i].buffer == buffer ? (double)h->recent[i].dirty : 0;
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
	double before = dirty_bytes(h, 0), stored = 0, incoming = 0, stays = kept_share(gpu, (uint64_t)all_bytes(uses, count), false);
	for (size_t i = 0; i < count; i++) {
		double bytes = uses[i].buffer ? (double)uses[i].bytes : 0;
		incoming += bytes > 0 ? bytes - stays * (double)min_u64(held(h, gpu, uses[i].buffer), uses[i].bytes) : 0;
		stored += bytes > 0 ? max_double((double)uses[i].stored - stays * dirty_bytes(h, uses[i].buffer), 0) : 0;
	}
	use_memory(h, gpu, uses, count, stays);
	double after = dirty_bytes(h, 0);
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

void memory_history_launch(struct memory_history *h, const struct gpu *gpu, const struct memory_use *uses, size_t count,
                           struct memory_before *out)
{
	*out = (struct memory_before){0};
	count = count < MEMORY_ARGUMENTS ? count : MEMORY_ARGUMENTS;
	if (!gpu->l2_kept) {
		follow_itself(gpu, uses, count, out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (uses[i].buffer)
			take_copies(h, gpu, &uses[i]);
	for (size_t i = 0; i < count; i++) {
		bool known = uses[i].buffer;
		out->known |= known;
		out->cold[i] = known ? cold_quarters(held(h, gpu, uses[i].buffer), uses[i].bytes) : gpu->l2_warm ? 0 : ALL_COLD;
	}
	replace(h, gpu, uses, count, out);
}
