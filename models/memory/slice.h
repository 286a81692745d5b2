/* slice: a channel of memory and its slices of L2. */
#ifndef GPUSIM_MODELS_MEMORY_SLICE_H
#define GPUSIM_MODELS_MEMORY_SLICE_H

#include "models/memory/dram.h"
#include "models/memory/map.h"
#include "models/memory/request.h"

struct partition;
/* What somebody who is not simulated has done for a line that L2 asks DRAM for: nothing, opened its row, or had it sent. */
enum memory_others { OTHERS_NOTHING, OTHERS_OPENED, OTHERS_SENT };
/* Groups that ask for the line at about the same time, and how many of them are simulated; 0: not known, or each at a time of its own. */
struct memory_sharers {
	float all, simulated;
	float before; /* how long ago others asked first, of the time in which lines were sent; 0: as `all` and `simulated` say */
};
typedef enum memory_others memory_others_fn(void *ctx, uint64_t address, struct memory_sharers *sharers);
struct memory_config {
	const struct gpu *gpu;
	struct memory_map map;
	struct dram_timing dram;
	uint64_t slice_bytes; /* of L2 */
	uint64_t lookup;      /* ticks of a slice for a sector */
	uint64_t request;     /* the same for a line that is read, whatever its sectors */
	uint64_t reply;       /* ticks of its port to the interconnect for one */
	uint64_t atomic, atomic_whole; /* and for an operation of an atomic; whole: on all words of a sector */
	uint64_t atomic_line, atomic_result; /* for the line of an atomic, and more for one with a result */
	uint32_t atomic_parts, whole_parts; /* the same of a slice of the real GPU, in MEMORY_PARTS of a cycle */
	uint64_t dram_pipe;   /* what a miss takes beside DRAM's own timing */
	double hot[PLACED_ARGUMENTS]; /* times as long as `atomic` that operations on an argument's memory take; 0: once */
	double replaced_dirty; /* of the lines that come in: those in whose places launches before this one left something to write */
	double replaced_lines; /* of each channel: no more than so many of these */
	memory_others_fn *others; /* NULL: all are simulated */
	void *others_ctx;
};
struct partition_counts {
	uint64_t reads, hits;       /* sectors */
	uint64_t writes, atomics;   /* sectors, operations */
	uint64_t busy, dram_busy;   /* ticks of slices' ports, of the DRAM's bus */
	uint64_t dram_reads, dram_writes; /* bursts */
	uint64_t fetches; /* of sectors that were not there: from DRAM, and those that were sent for others */
};
/* What is fetched together for one sector that is not there. */
uint64_t partition_fetch_bytes(const struct gpu *gpu);
/* The requests are those of the whole system. */
/* held: see dram_init(). */
struct partition *partition_new(const struct memory_config *config, const struct memory_requests *requests, double held);
void partition_free(struct partition *p);
/* The set of an address within the slice; and that it will be asked for soon. */
uint32_t partition_set(const struct partition *p, uint32_t slice, uint64_t local);
void partition_prefetch(const struct partition *p, uint32_t slice, uint32_t set);
/* What L2 holds before a launch: sectors of a line. */
void partition_warm(struct partition *p, uint32_t slice, uint64_t address, uint32_t set, bool dirty);
/* A line is used, without time: what comes in while a simulation jumps. */
void partition_touch(struct partition *p, uint32_t slice, uint64_t address, uint32_t set, bool dirty);
/* Sectors of the line that are not there, nor on their way. fill: they are from now on. */
uint32_t partition_missing(struct partition *p, uint32_t slice, uint64_t address, uint32_t set, bool fill);
/* A request comes to one of its slices. */
void partition_push(struct partition *p, uint32_t slice, uint32_t request);
/* Until the time; calls on_answer for every request that is answered, with its time set to that. */
typedef void partition_answer_fn(void *ctx, uint32_t request);
int partition_advance(struct partition *p, uint64_t until, partition_answer_fn *on_answer, void *ctx);
/* Adds what atomics on the lines that are there take, in MEMORY_PARTS of a cycle, to the slice that each is in by another map. */
void partition_atomics(const struct partition *p, const struct memory_map *map, uint64_t *parts);
struct partition_counts partition_counts(const struct partition *p);

#endif
