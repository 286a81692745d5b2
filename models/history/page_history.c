#include "models/history/page_history.h"

#include "models/util/minmax.h"

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* NULL: there is no room for more buffers. */
static struct waiting_pages *waiting_of(struct page_history *h, uint64_t buffer)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (h->waiting[i].buffer == buffer)
			return &h->waiting[i];
	if (h->count == PAGE_HISTORY_BUFFERS)
		return NULL;
	h->waiting[h->count] = (struct waiting_pages){buffer, 0};
	return &h->waiting[h->count++];
}

/* A buffer that nothing is known of any more makes place for others. */
static void forget_empty(struct page_history *h)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < h->count; i++)
		if (h->waiting[i].bytes)
			h->waiting[kept++] = h->waiting[i];
	h->count = kept;
}

/* Bytes of the processor's pages that come to the GPU. */
static uint64_t take_waiting(struct page_history *h, const struct page_use *use)
{
	struct waiting_pages *w = waiting_of(h, use->buffer);
	uint64_t waiting = min_u64((w ? w->bytes : 0) + use->touched, whole_pages(use->bytes));
	uint64_t moved = min_u64(waiting, whole_pages(use->asked));
	if (w)
		w->bytes = waiting - moved;
	return moved;
}

static uint64_t pieces_of(uint64_t bytes)
{
	return (bytes + PAGE_PIECE_BYTES - 1) / PAGE_PIECE_BYTES * PAGE_PIECE_BYTES;
}

/* Bytes of pieces that follow one another. */
static double blocks_ns(const struct gpu *gpu, uint64_t bytes)
{
	uint64_t blocks = (bytes + PAGE_BLOCK_BYTES - 1) / PAGE_BLOCK_BYTES;
	return (double)blocks * gpu->page_block_ns + (double)bytes / gpu->page_gbps;
}

double page_history_launch(struct page_history *h, const struct gpu *gpu, uint64_t groups, const struct page_use *uses, size_t count)
{
	uint64_t small = 0;
	double ns = 0;
	for (size_t i = 0; i < count; i++) {
		const struct page_use *use = &uses[i];
		uint64_t moved = take_waiting(h, use);
		if (use->bytes < PAGE_POOL_BYTES)
			small += pieces_of(moved);
		else
			ns += blocks_ns(gpu, pieces_of(moved + use->untouched));
	}
	forget_empty(h);
	ns += blocks_ns(gpu, small);
	return ns > 0 ? ns + gpu->page_crowd_ns * min_double(1, (double)groups / gpu->sm_count) : 0;
}
