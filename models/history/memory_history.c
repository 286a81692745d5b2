/* Buffers in the order of their use, like the lines of a cache that replaces the least recently used one. */
#include "models/history/memory_history.h"

#include <string.h>

static uint64_t capacity_of(const struct gpu *gpu)
{
	return gpu->l2_bytes / gpu->l2_partitions;
}

/* So many bytes of the buffer are no longer where they were. The youngest go: a launch mostly uses what the one before used. */
static void take_away(struct memory_history *h, uint64_t buffer, uint64_t bytes)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < h->count; i++) {
		struct recent_memory r = h->recent[i];
		uint64_t gone = r.buffer != buffer ? 0 : r.bytes < bytes ? r.bytes : bytes;
		r.bytes -= gone;
		bytes -= gone;
		if (r.bytes)
			h->recent[kept++] = r;
	}
	h->count = kept;
}

static void put_first(struct memory_history *h, uint64_t buffer, uint64_t bytes)
{
	take_away(h, buffer, bytes);
	if (!bytes)
		return;
	h->count -= h->count == MEMORY_HISTORY_BUFFERS; /* the oldest goes */
	memmove(h->recent + 1, h->recent, h->count * sizeof *h->recent);
	h->recent[0] = (struct recent_memory){buffer, bytes};
	h->count++;
}

/* What is beyond the capacity is gone. */
static void evict(struct memory_history *h, uint64_t capacity)
{
	uint32_t i = 0;
	for (; i < h->count && capacity; i++) {
		h->recent[i].bytes = h->recent[i].bytes < capacity ? h->recent[i].bytes : capacity;
		capacity -= h->recent[i].bytes;
	}
	h->count = i;
}

static uint64_t held(const struct memory_history *h, uint64_t buffer)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < h->count; i++)
		bytes += h->recent[i].buffer == buffer ? h->recent[i].bytes : 0;
	return bytes;
}

static void take_copies(struct memory_history *h, const struct gpu *gpu, const struct memory_use *use)
{
	if (use->largest <= gpu->l2_copies && use->copied)
		put_first(h, use->buffer, use->copied);
	else
		take_away(h, use->buffer, use->copied);
	if (use->written)
		put_first(h, use->buffer, use->written);
	evict(h, capacity_of(gpu));
}

static uint8_t cold_quarters(uint64_t there, uint64_t asked)
{
	double share = asked && there < asked ? (double)there / (double)asked : 1;
	return (uint8_t)(ALL_COLD - (uint32_t)(share * ALL_COLD + 0.5));
}

static void use_memory(struct memory_history *h, const struct gpu *gpu, const struct memory_use *uses, size_t count)
{
	double all = 0, capacity = (double)capacity_of(gpu);
	for (size_t i = 0; i < count; i++)
		all += uses[i].buffer ? (double)uses[i].bytes : 0;
	double share = all > capacity ? capacity / all : 1;
	for (size_t i = 0; i < count; i++)
		if (uses[i].buffer)
			put_first(h, uses[i].buffer, (uint64_t)((double)uses[i].bytes * share));
	evict(h, capacity_of(gpu));
}

void memory_history_launch(struct memory_history *h, const struct gpu *gpu, const struct memory_use *uses, size_t count,
                           struct memory_before *out)
{
	*out = (struct memory_before){0};
	count = count < MEMORY_ARGUMENTS ? count : MEMORY_ARGUMENTS;
	if (!gpu->l2_kept)
		return;
	for (size_t i = 0; i < count; i++)
		if (uses[i].buffer)
			take_copies(h, gpu, &uses[i]);
	for (size_t i = 0; i < count; i++) {
		bool known = uses[i].buffer;
		out->known |= known;
		out->cold[i] = known ? cold_quarters(held(h, uses[i].buffer), uses[i].bytes) : gpu->l2_warm ? 0 : ALL_COLD;
	}
	use_memory(h, gpu, uses, count);
}
