/*
 * memory: the memory hierarchy behind the load/store units, for the occupancy vector (models/sm/memory.h) and its tests.
 *
 *   SM: L1 (models/memory/l1.c) -> interconnect (models/memory/system.c) -> slices of L2 (models/memory/slice.c) -> channels of DRAM
 *   (models/memory/dram.c) -> back
 * Time is counted in ticks, MEMORY_TICKS of a core cycle, because ports and DRAM do not keep the core's step. Caches are tags
 * only. Everything is deterministic: requests that meet are served in the order of their times, then of SMs.
 */
#ifndef GPUSIM_MODELS_MEMORY_MEMORY_H
#define GPUSIM_MODELS_MEMORY_MEMORY_H

#include "models/gpu/gpu.h"
#include "models/accesses/requests.h"
#include "models/util/pool.h"

enum { MEMORY_TICKS = 256, MEMORY_SECTOR = 32 };
#define MEMORY_NONE UINT32_MAX
#define MEMORY_NEVER UINT64_MAX

/* ---- models/memory/tags.c: a set-associative cache's tags, least recently used out first ---- */

struct tag_line {
	uint64_t address;
	uint32_t valid, pending, dirty; /* sectors; pending: asked for, the line cannot go; dirty alone: to be fetched before it is read */
	uint32_t older, newer, chain;
	uint32_t atomics; /* operations, since the line came */
};
struct tag_store {
	struct tag_line *lines;
	uint32_t *oldest, *newest; /* per set */
	uint32_t *buckets;         /* of a hash of addresses */
	uint32_t sets, ways, bucket_mask;
};
/* Returns 0 or -ENOMEM. Without room for a line, it never has one. */
int tags_init(struct tag_store *t, uint64_t lines, uint32_t ways);
void tags_free(struct tag_store *t);
/* The line's index, or MEMORY_NONE. */
uint32_t tags_find(const struct tag_store *t, uint64_t address);
void tags_touch(struct tag_store *t, uint32_t set, uint32_t line);
/* The line of the set that goes next: the least recently used of those that nothing is pending for. MEMORY_NONE: all wait. */
uint32_t tags_victim(const struct tag_store *t, uint32_t set);
/* Gives a victim to another address, without sectors. */
void tags_replace(struct tag_store *t, uint32_t set, uint32_t line, uint64_t address);
/* The line is the next to go. */
void tags_drop(struct tag_store *t, uint32_t set, uint32_t line);

/* ---- models/memory/map.c: where addresses are ---- */

struct memory_place {
	uint32_t channel, slice; /* slice: of the channel */
	uint64_t local;          /* address within the slice: what sets, banks and rows are taken from */
};
struct memory_map {
	uint32_t channels, slices; /* slices: of a channel */
	uint64_t interleave_bytes;
	bool hash;
	uint32_t polynomial, degree; /* of a hash over a power of two of slices */
};
/* Channels of a part of the GPU. Without a hash, strides of powers of two meet in fewer channels the more such factors their number
 * has, so a part of them must not have more of these than all: the nearest such number. What it is off by, they are slower or faster. */
uint32_t memory_channels(const struct gpu *gpu, double share);
void memory_map_init(struct memory_map *m, uint32_t channels, uint32_t slices, uint64_t interleave_bytes, bool hash);
struct memory_place memory_map_find(const struct memory_map *m, uint64_t address);
/* The set of a line, with higher bits of its address mixed in where hash says so. */
uint32_t memory_set(uint64_t line, uint32_t sets, bool hash);

/* ---- models/memory/dram.c: one channel ---- */

struct dram_timing {
	uint64_t burst;                     /* ticks of the data bus for an access */
	uint64_t open, close, cycle, column; /* activate, precharge, between activations of a bank, to the data */
	uint64_t between_opens;             /* of different banks */
	uint64_t read_to_write, write_to_read; /* between the columns of an access and of one the other way */
	uint32_t banks, queue;
	uint64_t row_bytes;
};
void dram_timing_init(struct dram_timing *t, const struct gpu *gpu, uint32_t channels, double share);
struct dram_access {
	uint64_t time, row;
	uint32_t bank, tag; /* tag: the caller's */
	uint16_t bursts;
	bool write;
	uint32_t next; /* in its bank */
};
struct dram_bank {
	uint64_t row, ready, opened;
	uint32_t head, tail, current; /* accesses that wait, in their order; the one that the row is opened for */
	bool open;
};
struct dram_channel {
	const struct dram_timing *timing;
	struct dram_access *accesses;
	struct pool pool; /* of them */
	uint32_t waiting;
	struct dram_bank *banks;
	uint64_t bus_free, last_open, last_column;
	bool last_write, used;
	uint64_t reads, writes, busy; /* bursts; ticks of the bus */
};
int dram_init(struct dram_channel *c, const struct dram_timing *timing);
void dram_free(struct dram_channel *c);
bool dram_full(const struct dram_channel *c);
/* `local` is the address within one of `slices` slices, which have banks of their own. */
int dram_push(struct dram_channel *c, uint64_t time, uint64_t local, uint32_t slice, uint32_t slices, bool write,
              uint32_t bursts, uint32_t tag);
/* When the next access can be served, not before `now`; MEMORY_NEVER: there is none. */
uint64_t dram_next(struct dram_channel *c, uint64_t now);
/* Serves it, at the time that dram_next told; returns when its data is there. */
uint64_t dram_serve(struct dram_channel *c, uint64_t now, struct dram_access *served);

/* ---- models/memory/slice.c: a channel and its slices of L2 ---- */

enum memory_kind { MEMORY_READ, MEMORY_WRITE, MEMORY_ATOMIC };

/* What an SM asks of L2: sectors of one line. */
struct memory_request {
	uint64_t time;    /* ticks: when it leaves the SM; then, when it is at L2 */
	uint64_t address; /* of the line */
	uint32_t sectors; /* 32 bytes each */
	uint32_t sm, id;  /* id: the SM's own */
	uint16_t bytes, lanes; /* lanes: of an atomic, operations that follow one another */
	uint8_t kind;
	uint8_t asked, left; /* sectors, all and those not yet answered */
	uint32_t next;
	uint64_t queued_l2, queued_dram;
};
/* The answer to all sectors of a request. */
struct memory_reply {
	uint64_t time; /* ticks */
	uint32_t sm, id;
	uint8_t kind, sectors;
	uint32_t slice; /* of its channel; then, of all */
	uint64_t queued_l2, queued_dram; /* ticks of its time that it waited there */
};

struct partition;
struct memory_config {
	const struct gpu *gpu;
	struct memory_map map;
	struct dram_timing dram;
	uint64_t slice_bytes; /* of L2 */
	uint64_t lookup;      /* ticks of a slice for a sector */
	uint64_t reply;       /* ticks of its port to the interconnect for one */
	uint64_t atomic;      /* and for an operation of an atomic */
	uint64_t dram_pipe;   /* what a miss takes beside DRAM's own timing */
};
struct partition_counts {
	uint64_t reads, hits;       /* sectors */
	uint64_t writes, atomics;   /* sectors, operations */
	uint64_t busy, dram_busy;   /* ticks of slices' ports, of the DRAM's bus */
	uint64_t dram_reads, dram_writes; /* bursts */
};
struct partition *partition_new(const struct memory_config *config);
void partition_free(struct partition *p);
/* What L2 holds before a launch: sectors of a line. */
void partition_warm(struct partition *p, uint32_t slice, uint64_t address, uint64_t local, bool dirty);
int partition_push(struct partition *p, uint32_t slice, const struct memory_request *r);
/* Until the time, telling of every request that is answered. */
typedef void memory_reply_fn(void *ctx, const struct memory_reply *reply);
int partition_advance(struct partition *p, uint64_t until, memory_reply_fn *tell, void *ctx);
/* Adds the operations of atomics on the lines that are there to the slice that each is in by another map. */
void partition_atomics(const struct partition *p, const struct memory_map *map, uint64_t *operations);
struct partition_counts partition_counts(const struct partition *p);

/* ---- models/memory/l1.c: the cache of an SM ---- */

struct l1_config {
	uint64_t bytes, line_bytes;
	uint32_t ways, mshrs, merges;
	bool hash, sectored, on_fill, store_evicts, store_allocates;
};
struct l1_cache;
struct l1_cache *l1_new(const struct l1_config *config);
void l1_free(struct l1_cache *c);
enum l1_result { L1_HIT, L1_WAITS, L1_FULL };
struct l1_request {
	uint32_t entry, sectors; /* to be asked for; sectors 0: nothing */
	uint64_t evicted;        /* line that is written back, with `dirty` sectors; 0: none */
	uint32_t dirty;
};
/* A load of sectors of a line by `who`, who is told once for each of *waits entries. L1_FULL changes nothing. */
enum l1_result l1_load(struct l1_cache *c, uint64_t line, uint32_t sectors, uint32_t who, uint32_t *waits,
                       struct l1_request *ask);
bool l1_has(const struct l1_cache *c, uint64_t line, uint32_t sectors);
/* A store; write_back: kept here if the line is (then false: nothing to send). */
bool l1_store(struct l1_cache *c, uint64_t line, uint32_t sectors, bool whole, bool write_back);
/* The sectors of an entry have come. */
typedef void l1_waiter_fn(void *ctx, uint32_t who);
void l1_fill(struct l1_cache *c, uint32_t entry, l1_waiter_fn *tell, void *ctx);
bool l1_failed(const struct l1_cache *c); /* out of memory */

/* ---- models/memory/network.c: one direction of the interconnect ---- */

struct network_packet {
	uint64_t ready;
	uint32_t from, to, ticks; /* ticks: of its ports */
	uint32_t payload, next;
};
struct network;
struct network *network_new(uint32_t inputs, uint32_t outputs, bool in_order);
void network_free(struct network *n);
/* Packets of an input are pushed in the order in which they are ready. Returns 0 or -ENOMEM. */
int network_push(struct network *n, const struct network_packet *packet);
/* Tells of all packets that pass until then, and when they begin to. */
typedef void network_fn(void *ctx, const struct network_packet *packet, uint64_t start);
void network_advance(struct network *n, uint64_t until, network_fn *tell, void *ctx);
uint64_t network_waiting(const struct network *n, uint32_t input); /* ticks of packets that wait */

/* ---- models/memory/system.c: interconnect, all partitions ---- */

struct memory_system;
/*
 * For `sms` of the GPU's SMs: as many of its channels and slices, and as much of their bandwidth; L2 holds `capacity` of
 * the whole.
 */
struct memory_system *memory_new(const struct gpu *gpu, uint32_t sms, double capacity);
void memory_free(struct memory_system *m);
/* L2 holds these, the last ones where not all fit. */
void memory_warm(struct memory_system *m, const struct memory_range *ranges, size_t count, bool steady);
/* Cycles from when a request leaves an SM to when its answer can be there, at least; whether some requests are atomics. */
uint32_t memory_round_trip(const struct memory_system *m, bool atomics);
/* When a packet of the SM that is ready in `cycle` leaves it; packets take turns. */
uint64_t memory_depart(struct memory_system *m, uint32_t sm, uint64_t cycle, enum memory_kind kind, uint32_t bytes);
/* Requests must be sent in the order of their times by each SM; time is what memory_depart told. */
int memory_send(struct memory_system *m, const struct memory_request *request);
/* All SMs have sent what leaves before `cycle`: tells of all answers that follow, in the order of their times in cycles. */
int memory_advance(struct memory_system *m, uint64_t cycle, memory_reply_fn *tell, void *ctx);
/* Of what the simulated SMs did in so many cycles, scaled to all SMs: the fields behind L1. */
/*
 * What the busiest slice of the whole GPU needs for the atomics that were done here, in cycles. Where some SMs are simulated,
 * their share of slices sees a share of the operations on each address; a counter that all groups add to sees all of them.
 */
int memory_hottest_atomics(const struct memory_system *m, double *cycles); /* 0 or -ENOMEM */
void memory_count(const struct memory_system *m, uint64_t cycles, struct memory_statistics *out);
/* Cycles that loads and atomics waited in queues before L2 and before DRAM, all together. */
struct memory_waits {
	double l2, dram;
};
struct memory_waits memory_waits(const struct memory_system *m);
/* From the lookup of a load that hits L1 to its value; front: cycles between issue and the load/store unit. */
uint32_t memory_hit_cycles(const struct gpu *gpu, uint32_t front);

#endif
