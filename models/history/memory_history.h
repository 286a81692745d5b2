/*
 * memory_history: what L2 holds of a launch's memory when it begins, because of the launches and copies before it.
 *
 * L2 outlives a launch. Ranges of buffers are kept in the order of their last use, and bytes that are followed by as many as L2 holds are gone. A
 * launch uses a buffer from where its pointers point to, to the next of them or for as many bytes as its instructions can ask for; of a launch
 * that does not fit, each buffer keeps its share, evenly spread over the range. What the host copies is in L2 afterwards if it is little
 * (l2_copies): on an H200 the first launch after a copy of a megabyte takes as long as one with an L2 full of something else.
 *
 * Lines that launches have stored to are dirty, and go to DRAM when they leave L2, which is when a later launch needs their place. Of the bytes
 * that a launch brings into L2, so many of what they replace are dirty:
 *   (dirty before + stored by it - stored again while still dirty - dirty after) / (asked for by it - there before)
 * Lines that were written are in one partition of L2, and SMs of others have no copies until they load them: of an H200 all that the host copies, and half of
 * what launches and fills have stored to (tests/reference/h200-truth/sides.csv).
 * What nobody knows the state before of, or is launched again and again (l2_kept = 0), is taken to follow itself.
 */
#ifndef GPUSIM_MODELS_HISTORY_MEMORY_HISTORY_H
#define GPUSIM_MODELS_HISTORY_MEMORY_HISTORY_H

#include "models/gpu/gpu.h"

enum { MEMORY_HISTORY_BUFFERS = 512, MEMORY_ARGUMENTS = 32, MEMORY_USES = 2 * MEMORY_ARGUMENTS };

/* Of one GPU. All zero: L2 is empty. */
struct memory_history {
	struct recent_memory {
		uint64_t buffer, begin, length; /* ranges of a buffer do not overlap */
		uint64_t bytes;                 /* of the range, evenly spread */
		uint64_t dirty;                 /* of these bytes */
		uint64_t alone;                 /* of these bytes: in one partition of L2 alone, where they were written */
	} recent[MEMORY_HISTORY_BUFFERS]; /* the latest first */
	uint32_t count;
};

/* A part of the memory that an argument points to. Parts do not overlap. */
struct memory_use {
	uint32_t argument;
	uint64_t buffer;  /* its number; 0: it is not known, or there is none */
	uint64_t begin;   /* where what it uses of the buffer begins */
	uint64_t bytes;   /* that the launch asks for from there on, at most */
	uint64_t length;  /* that these are spread over, evenly; bytes or more */
	/* Of the whole buffer, by one of its parts alone. */
	uint64_t copied;  /* by the host, since the last launch that used the buffer */
	uint64_t largest; /* of these copies */
	uint64_t written; /* by copies and fills within the GPU, since then */
	uint64_t stored;  /* that the launch stores to, at most */
	bool last;        /* it is used when groups end, and all of them end together */
};

/* What L2 lacks of each argument's memory. In quarters, so that launches that find nearly the same are taken for the same. */
enum { ALL_COLD = 4, ALL_ALONE = 4, ALL_DIRTY = 16 };
struct memory_before {
	bool known; /* else l2_warm says it */
	uint8_t cold[MEMORY_ARGUMENTS]; /* 0 to ALL_COLD */
	uint8_t alone[MEMORY_ARGUMENTS]; /* 0 to ALL_ALONE: what partitions lack copies of that is at home in others */
	/* Of the lines that make place for those of the launch, 0 to ALL_DIRTY: those that are dirty; those that are and are not its own. */
	uint8_t dirty, others_dirty;
};

/* A launch uses `count` parts of its arguments' memory. Nothing is known where none of their buffers is, or the description says so (l2_kept). */
void memory_history_launch(struct memory_history *h, const struct gpu *gpu, const struct memory_use *uses, size_t count,
                           struct memory_before *out);

#endif
