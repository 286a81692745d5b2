/*
 * page_history: how long a launch waits for pages of managed memory, because of who used them before it.
 *
 * Pages that the processor used last are in its memory. What nobody has used yet has no pages at all. A kernel that asks for such a page waits until the
 * driver has brought it, with others around it: pieces of 64 KB, up to all of a block of 2 MiB. Blocks follow one another. Where all SMs ask at the same
 * time, they all have to be answered. Measured on an H200 (tests/reference/h200-truth/managed.csv):
 *   ns = page_crowd_ns * (share of SMs that have groups) + page_block_ns * blocks + bytes of pieces / page_gbps
 * Memory below 1 MiB is given out of blocks that the GPU has: of it, only what the processor used is waited for, and small buffers share blocks.
 */
#ifndef GPUSIM_MODELS_HISTORY_PAGE_HISTORY_H
#define GPUSIM_MODELS_HISTORY_PAGE_HISTORY_H

#include "models/gpu/gpu.h"

enum { PAGE_HISTORY_BUFFERS = 64, PAGE_BYTES = 4096, PAGE_PIECE_BYTES = 1 << 16, PAGE_BLOCK_BYTES = 2 << 20, PAGE_POOL_BYTES = 1 << 20 };

/* Of one GPU. All zero: the processor has used nothing. */
struct page_history {
	struct waiting_pages {
		uint64_t buffer;
		uint64_t bytes; /* of its pages that are the processor's, and that no launch has asked for since */
	} waiting[PAGE_HISTORY_BUFFERS];
	uint32_t count;
};

/* Managed memory that a launch uses. */
struct page_use {
	uint64_t buffer;   /* its number */
	uint64_t bytes;    /* of the buffer */
	uint64_t asked;    /* that the launch asks for, at most */
	uint64_t touched;  /* of pages that the processor used since the launch before */
	uint64_t untouched; /* of pages that the launch uses, and nobody did before */
};

/* How long a launch of so many groups that uses these waits for pages, in ns. */
double page_history_launch(struct page_history *h, const struct gpu *gpu, uint64_t groups, const struct page_use *uses, size_t count);

#endif
