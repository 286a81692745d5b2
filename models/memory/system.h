/*
 * system: the memory hierarchy after L1, for SMs that are simulated together: interconnect, L2 and DRAM.
 *
 *   SM: L1 (l1.h) -> interconnect (network.h) -> slices of L2 (slice.h) -> channels of DRAM (dram.h) -> back
 * Caches are tags only. Everything is deterministic: requests that meet are served in the order of their times, then of SMs.
 */
#ifndef GPUSIM_MODELS_MEMORY_SYSTEM_H
#define GPUSIM_MODELS_MEMORY_SYSTEM_H

#include "models/accesses/requests.h"
#include "models/gpu/gpu.h"
#include "models/memory/request.h"
#include "models/memory/slice.h"

struct memory_system;
/*
 * For `sms` of the GPU's SMs: as many of its channels and slices, and as much of their bandwidth; L2 holds `capacity` of
 * the whole.
 */
struct memory_system *memory_new(const struct gpu *gpu, uint32_t sms, double capacity);
void memory_free(struct memory_system *m);
/* Where the launch's buffers are, by what its arguments point to. */
void memory_set_places(struct memory_system *m, const uint64_t *argument_bytes, size_t count);
/* L2 holds these, the last ones where not all fit; some of what loads find is far (struct memory_range). */
void memory_warm(struct memory_system *m, const struct memory_range *ranges, size_t count, bool steady);
/* Of the lines that take places of something that is not simulated, such a share in the place of dirty ones, of which there are so many bytes. */
void memory_set_replaced(struct memory_system *m, double dirty, double bytes);
/* Some lines are sent for SMs that are not simulated: these wait for them as long, and DRAM has nothing to do. */
void memory_set_others(struct memory_system *m, memory_others_fn *others, void *ctx);
/* L2 is asked for a line, or given one, without time. */
void memory_touch(struct memory_system *m, uint64_t address, bool dirty);
/* Sectors of these that L2 does not have, nor waits for. fill: it has them from now on. */
double memory_missing(struct memory_system *m, const struct memory_range *ranges, size_t count, bool fill);
/* Cycles from when a request leaves an SM to when its answer can be there, at least; whether some requests are atomics. */
uint32_t memory_round_trip(const struct memory_system *m, bool atomics);
/* When a packet that is ready in `cycle` leaves its SM; packets take turns. */
uint64_t memory_depart(struct memory_system *m, const struct memory_request *request, uint64_t cycle);
/* Requests must be sent in the order of their times by each SM; time is what memory_depart returned. */
int memory_send(struct memory_system *m, const struct memory_request *request);
/* All SMs have sent what leaves before `cycle`: calls on_reply for all answers that follow, SM by SM, each SM's
 * in the order of the network. */
int memory_advance(struct memory_system *m, uint64_t cycle, memory_reply_fn *on_reply, void *ctx);
/*
 * What the busiest slice of the whole GPU needs for the atomics that were done here, in cycles. Where some SMs are simulated,
 * their share of slices sees a share of the operations on each address; a counter that all groups add to sees all of them.
 */
int memory_hottest_atomics(struct memory_system *m, double *cycles); /* 0 or -ENOMEM */
/* Of what the simulated SMs did in so many cycles, scaled to all SMs: the fields of L2 and DRAM. */
void memory_count(const struct memory_system *m, uint64_t cycles, struct memory_statistics *out);
/* Pieces that L2 did not have and asked DRAM for, up to now, with those that were sent for others. */
uint64_t memory_fetches(const struct memory_system *m);
/* Cycles that loads and atomics waited in queues before L2 and before DRAM, all together. */
struct memory_waits {
	double l2, dram;
};
struct memory_waits memory_waits(const struct memory_system *m);
/* From the lookup of a load that hits L1 to its value; front: cycles between issue and the load/store unit. */
uint32_t memory_hit_cycles(const struct gpu *gpu, uint32_t front);

#endif
