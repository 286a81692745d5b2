/*
 * requests: what the memory instructions of warps ask of the memory system, as the timing models take it.
 *
 * A request is one execution of a memory instruction by a warp. It falls apart into parts, the pieces that the
 * load/store unit hands to a cache one after the other: a line of 128 bytes, a sector of 32, by the GPU's coalescing rule.
 * Shared memory and parameters have no parts: their number of accesses (struct warp_path) says all.
 */
#ifndef GPUSIM_MODELS_ACCESSES_REQUESTS_H
#define GPUSIM_MODELS_ACCESSES_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

/* One part: where, and which of the GPU's smallest pieces (l1_sector_bytes or 32 bytes, whichever is less) are touched. */
struct memory_part {
	uint64_t address; /* of the part's line, a multiple of the GPU's l1_line_bytes; of constants, const_access_bytes */
	uint32_t sectors; /* bit s: bytes from 32 * s on, of that line */
	uint16_t bytes;   /* that lanes read or write, each byte once */
	uint16_t lanes;   /* of atomics: operations on this part, which follow one another where they meet at an address */
};

/* The parts of the requests of one path: request n, in the order of struct warp_path's accesses, has parts first[n] to
 * first[n + 1]. */
struct path_requests {
	const uint32_t *first; /* one more than requests */
	const struct memory_part *parts;
};

/* Whether two requests ask for the same sectors of the same lines, part by part. */
bool same_parts(const struct path_requests *r, uint32_t a, uint32_t b);

/* Addresses of launches are by argument, (a + 1) << ARGUMENT_BITS and what follows (models/trace/trace.h). */
enum { ARGUMENT_BITS = 40 };
/* The argument whose memory it is in; larger than any: in none. */
static inline uint64_t argument_of_address(uint64_t address)
{
	return (address >> ARGUMENT_BITS) - 1;
}

/* From here on, no launch has addresses: for lines that only fill a cache. */
#define NO_LAUNCHS_MEMORY (1ull << 61)

/* A part of memory that a launch touches. */
struct memory_range {
	uint64_t address, bytes;
	double traffic; /* distinct lines of it that a group touches, about: how much of a cache it takes beside other ranges */
	bool anywhere;  /* any group may ask for any line; else each goes through its own */
	bool written;
	double times;   /* how many groups ask for a line of it, about, in what their paths have of loops */
	double all_times; /* the same in all of their loops */
	double cold;    /* the share of it that is not in L2 when the launch begins */
	double far;     /* of loads that L2 has: the share that comes from another partition */
};

/*
 * What a launch asked of the memory system and what that did, for the report: the whole launch, extrapolated where it was
 * sampled. Requests and transactions are known with perfect memory, too; a rate that nothing was counted for is NAN, and
 * where the hierarchy was not modelled, everything after the load/store unit is NAN.
 */
struct memory_statistics {
	double requests;     /* global and local memory instructions executed by warps */
	double transactions; /* parts of these: lines or sectors */
	double l1_hit;       /* share of sectors that loads look up in L1 and find there, or on their way */
	double l2_hit;       /* rate of sectors asked for at L2 */
	double dram_read_bytes, dram_written_bytes;
	double dram_share;   /* bytes moved / what the memory could have moved meanwhile */
	double l2_share;     /* the same of L2's slices */
	double atomic_share; /* the same of the slice with most atomics, by these alone */
	double shared_factor; /* accesses per instruction on shared memory: 1 without bank conflicts */
	double atomics;      /* operations of lanes at L2 */
	double load_latency; /* cycles of a load from its start to its value, mean over those that missed L1 */
	double l2_read_bytes, l2_written_bytes; /* sectors that SMs ask of L2, atomics among them, and that they write there */
};

/* The same statistics of a launch that did `times` as much. */
void memory_scale(struct memory_statistics *m, double times);

#endif
