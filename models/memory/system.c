/*
 * The interconnect and all partitions.
 *
 *   an SM's port -> half of the way -> the slice's port -> L2, DRAM -> the slice's port -> the other half -> the SM's port
 * Packets have a header and go in flits. A port moves so many flits per cycle, in the order of arrival. The way takes what
 * ports and lookups leave of l2_latency, for a load alone that hits L2; back from an atomic, what they leave of
 * atomic_latency. No request is answered before a round trip has passed: SMs run that long by themselves, and then all
 * requests are served in the order of their times. Slices are not equally far from an SM: the way back takes up to half of l2_spread_cycles
 * more or less, evenly over the lines, and in another order for each SM. What comes from DRAM is likewise from its near or its far half: each
 * SM has one half of the channels' pieces near, and dram_far_cycles are between them.
 *
 * A part of the GPU's SMs gets that part of everything. Channels and slices come in whole numbers; their speeds make up for
 * the rest.
 */
#include "models/memory/system.h"

#include "models/memory/crossbar.h"
#include "models/memory/far.h"
#include "models/memory/network.h"
#include "models/memory/slice.h"
#include "models/memory/warm.h"
#include "models/util/bits.h"
#include "models/util/hash.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* How many requests ahead the host's memory is asked for them. Changes the simulation's speed only. */
enum { AHEAD = 8 };
static const double golden = 0.6180339887; /* multiples of it are spread evenly between whole numbers */

struct port {
	uint64_t free;
	uint64_t stored; /* flits of stores that have left and that no slice has taken yet */
};

/* Requests that a slice has answered, in the order of their times. */
struct answer_list {
	uint32_t *requests;
	size_t count, room;
};

/* What an SM is told, in the order of the network: all of it at once, while the host has the SM in its caches. */
struct reply_list {
	struct memory_reply *replies;
	size_t count, room;
};

/* Lines on their way to L2, AHEAD of them: the host fetches what is known of their sets meanwhile. */
struct line_queue {
	void (*take)(struct partition *p, uint32_t slice, uint64_t address, uint32_t set, bool dirty);
	struct line_place {
		uint64_t address;
		uint32_t channel, slice, set;
		bool dirty;
	} lines[AHEAD];
	uint64_t given, taken;
};

struct memory_system {
	struct memory_config config;
	const struct gpu *gpu;
	uint32_t sms, forward, back, atomic_back; /* cycles of the way; back: of loads and stores */
	uint64_t flit_ticks_sm, flit_ticks_slice, flit_ticks_store; /* store: 0: as all others */
	uint64_t header_ticks_store, part_ticks_store; /* of a slice's port, for a store's header and for a sector that is written in part */
	uint64_t miss_ticks, store_ticks_sm; /* of an SM's port; 0: by flits */
	uint32_t far;    /* cycles: dram_far_cycles, as far as what is before DRAM takes half as many */
	uint32_t spread; /* cycles: l2_spread_cycles, as far as the way back has as many */
	uint64_t piece;  /* bytes that follow one another in a channel, about */
	struct far_lines copies;
	struct port *from_sm;
	struct network *requests, *answers;
	struct partition **partitions;
	struct memory_requests flying; /* all requests, from when they are sent until they are answered */
	uint32_t *sent; /* those that have not left yet; of an SM, in their order */
	size_t sent_count, sent_room;
	struct answer_list *answered; /* of a step, per slice */
	struct reply_list *replies; /* of a step, per SM */
	struct line_queue warmed, touched; /* touched: taken before L2 is asked for anything */
	double waited_l2, waited_dram;
	uint64_t advanced; /* ticks of L2 */
	int error;
};

static uint32_t flits(const struct gpu *gpu, uint64_t bytes)
{
	return (uint32_t)((gpu->icnt_header_bytes + bytes + gpu->icnt_flit_bytes - 1) / gpu->icnt_flit_bytes);
}

static uint32_t line_sectors(const struct gpu *gpu)
{
	return gpu->l1_line_bytes > MEMORY_SECTOR ? (uint32_t)(gpu->l1_line_bytes / MEMORY_SECTOR) : 1;
}

/* What the slowest port of the way takes for all sectors of a line but the first, in whole cycles. */
static uint32_t line_cycles(const struct memory_system *m)
{
	uint64_t slowest = m->config.lookup > m->config.reply ? m->config.lookup : m->config.reply;
	uint64_t to_sm = m->flit_ticks_sm * flits(m->gpu, MEMORY_SECTOR);
	slowest = slowest > to_sm ? slowest : to_sm;
	return (uint32_t)(((line_sectors(m->gpu) - 1) * slowest + MEMORY_TICKS - 1) / MEMORY_TICKS);
}

uint32_t memory_hit_cycles(const struct gpu *gpu, uint32_t front)
{
	double rest = gpu->l1_latency - front - gpu->l1_lookup_cycles;
	return rest < 1 ? 1 : (uint32_t)(rest + 0.5);
}

/* In whole cycles. */
static uint32_t round_at_least(double cycles, uint32_t least)
{
	return cycles > least ? (uint32_t)(cycles + 0.5) : least;
}

/* An atomic is not looked up in L1 and is of one sector: what a load takes for that is not in its way. */
static void set_atomic_way(struct memory_system *m)
{
	const struct gpu *gpu = m->gpu;
	double alone = gpu->l2_latency - gpu->l1_lookup_cycles - line_cycles(m);
	m->atomic_back = round_at_least(m->back + gpu->atomic_latency - alone, 1);
}

/* See models/sm/memory.h: a miss leaves the SM one cycle after its lookup and needs one more to be written. */
static void set_ways(struct memory_system *m)
{
	const struct gpu *gpu = m->gpu;
	uint32_t hit = memory_hit_cycles(gpu, gpu->operand_collectors ? 1 + 2 / gpu->collector_steps : 0);
	uint32_t way = round_at_least(gpu->l2_latency - gpu->l1_latency + hit - 2 - line_cycles(m), 2);
	m->forward = way / 2;
	m->back = way - m->forward;
	m->spread = min_u32((uint32_t)gpu->l2_spread_cycles, m->back);
	m->piece = max_u64(gpu->l2_line_bytes, gpu->l2_interleave_bytes * (gpu->l2_turn_bytes ? 2 : 1)); /* of two slices that take turns */
	set_atomic_way(m);
	const struct dram_timing *d = &m->config.dram;
	/* A line is fetched in pieces, which follow one another at DRAM as they do in L2. */
	uint64_t piece = gpu->l2_fills_access && gpu->dram_access_bytes > MEMORY_SECTOR ? gpu->dram_access_bytes : MEMORY_SECTOR;
	uint64_t bursts = (gpu->l1_line_bytes + piece - 1) / piece * d->burst, serial = (uint64_t)line_cycles(m) * MEMORY_TICKS;
	uint64_t last = bursts > serial + d->burst ? bursts - serial : d->burst;
	double own = (double)(d->open + d->column + last) / MEMORY_TICKS;
	double more = gpu->dram_latency - gpu->l2_latency - own;
	m->far = more > 0 ? (uint32_t)fmin(gpu->dram_far_cycles, 2 * more) : 0;
	more -= m->far / 2.0 + gpu->dram_refresh_share * gpu->dram_refresh_cycles / 2;
	m->config.dram_pipe = more > 0 ? (uint64_t)(more * MEMORY_TICKS) : 0;
}

static void init_map(struct memory_map *map, const struct gpu *gpu, uint32_t channels, uint32_t slices)
{
	memory_map_init(map, channels, slices, gpu->l2_interleave_bytes, gpu->l2_hash);
	if (gpu->l2_turn_bytes && gpu->l2_interleave_bytes % gpu->l2_turn_bytes == 0)
		map->turn_bytes = gpu->l2_turn_bytes;
}

static void set_config(struct memory_system *m, double capacity)
{
	const struct gpu *gpu = m->gpu;
	double share = (double)m->sms / gpu->sm_count;
	uint32_t slices = gpu->l2_slices / gpu->dram_channels ? gpu->l2_slices / gpu->dram_channels : 1;
	uint32_t channels = memory_channels(gpu, share);
	struct memory_config *c = &m->config;
	double speed = gpu->l2_slices * share / (channels * slices); /* of a slice, against a real one */
	c->gpu = gpu;
	slices = slices < 16 ? slices : 16;
	init_map(&c->map, gpu, channels, slices);
	dram_timing_init(&c->dram, gpu, channels, share);
	c->slice_bytes = (uint64_t)((double)gpu->l2_bytes / gpu->l2_partitions * capacity / (channels * slices));
	c->lookup = (uint64_t)(MEMORY_TICKS * (double)MEMORY_SECTOR / (double)gpu->l2_slice_bytes / speed + 0.5);
	c->request = (uint64_t)(MEMORY_TICKS * gpu->l2_request_cycles / speed + 0.5);
	c->atomic = (uint64_t)(MEMORY_TICKS * gpu->l2_atomic_cycles / speed + 0.5);
	c->atomic_line = (uint64_t)(MEMORY_TICKS * gpu->l2_atomic_line_cycles / speed + 0.5);
	c->atomic_result = (uint64_t)(MEMORY_TICKS * gpu->l2_atomic_result_cycles / speed + 0.5);
	double whole = gpu->l2_atomic_whole_cycles > 0 ? gpu->l2_atomic_whole_cycles : gpu->l2_atomic_cycles;
	c->atomic_whole = (uint64_t)(MEMORY_TICKS * whole / speed + 0.5);
	c->atomic_parts = (uint32_t)(MEMORY_PARTS * gpu->l2_atomic_cycles + 0.5);
	c->whole_parts = (uint32_t)(MEMORY_PARTS * whole + 0.5);
	m->flit_ticks_sm = (uint64_t)(MEMORY_TICKS / gpu->icnt_sm_flits);
	m->flit_ticks_slice = (uint64_t)(MEMORY_TICKS / gpu->icnt_slice_flits / speed);
	m->miss_ticks = gpu->l1_misses_per_cycle > 0 ? (uint64_t)(MEMORY_TICKS / gpu->l1_misses_per_cycle) : 0;
	m->store_ticks_sm = gpu->icnt_sm_store_flits > 0 ? (uint64_t)(MEMORY_TICKS / gpu->icnt_sm_store_flits) : 0;
	if (gpu->icnt_store_flits > 0) {
		double flit = MEMORY_TICKS / gpu->icnt_store_flits / speed;
		m->flit_ticks_store = (uint64_t)flit;
		m->header_ticks_store = (uint64_t)(flit * gpu->icnt_store_header_flits);
		m->part_ticks_store = (uint64_t)(flit * gpu->icnt_store_part_flits);
	}
	c->reply = m->flit_ticks_slice * flits(gpu, MEMORY_SECTOR);
	set_ways(m);
}

struct memory_system *memory_new(const struct gpu *gpu, uint32_t sms, double capacity)
{
	struct memory_system *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->gpu = gpu;
	m->sms = sms;
	m->warmed.take = partition_warm;
	m->touched.take = partition_touch;
	set_config(m, capacity);
	uint32_t channels = m->config.map.channels;
	m->from_sm = calloc(sms, sizeof *m->from_sm);
	uint32_t slices = channels * m->config.map.slices;
	const struct crossbar_timing there = {m->flit_ticks_slice, (uint64_t)(gpu->icnt_queue_flits * m->flit_ticks_slice), gpu->icnt_speedup};
	const struct crossbar_timing back = {m->flit_ticks_sm, (uint64_t)(gpu->icnt_queue_flits * m->flit_ticks_sm), gpu->icnt_speedup};
	m->requests = network_new(&m->flying, sms, slices, false, m->store_ticks_sm > 0, gpu->icnt_in_order ? &there : NULL);
	m->answers = network_new(&m->flying, sms, slices, true, false, gpu->icnt_in_order ? &back : NULL);
	m->flying.pool = (struct pool)POOL_EMPTY;
	m->answered = calloc(slices, sizeof *m->answered);
	m->replies = calloc(sms, sizeof *m->replies);
	m->partitions = calloc(channels, sizeof *m->partitions);
	bool ok = m->from_sm && m->requests && m->answers && m->answered && m->replies && m->partitions;
	for (uint32_t i = 0; ok && i < channels; i++) /* channels do not do their writes at the same time */
		ok = (m->partitions[i] = partition_new(&m->config, &m->flying, fmod(i * golden, 1))) != NULL;
	if (ok)
		return m;
	memory_free(m);
	return NULL;
}

void memory_set_places(struct memory_system *m, const uint64_t *argument_bytes, size_t count)
{
	memory_places_init(&m->config.map.places, m->gpu, argument_bytes, count);
}

void memory_free(struct memory_system *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; m->partitions && i < m->config.map.channels; i++)
		partition_free(m->partitions[i]);
	free(m->partitions);
	free(m->from_sm);
	network_free(m->requests);
	network_free(m->answers);
	for (uint32_t i = 0; m->answered && i < m->config.map.channels * m->config.map.slices; i++)
		free(m->answered[i].requests);
	free(m->answered);
	for (uint32_t i = 0; m->replies && i < m->sms; i++)
		free(m->replies[i].replies);
	free(m->replies);
	free(m->flying.all);
	free(m->sent);
	free(m);
}

static void take_first(struct memory_system *m, struct line_queue *q)
{
	const struct line_place *l = &q->lines[q->taken++ % AHEAD];
	q->take(m->partitions[l->channel], l->slice, l->address, l->set, l->dirty);
}

static void take_all(struct memory_system *m, struct line_queue *q)
{
	while (q->taken < q->given)
		take_first(m, q);
}

static void give_line(struct memory_system *m, struct line_queue *q, uint64_t address, bool dirty)
{
	struct memory_place at = memory_map_find(&m->config.map, address);
	const struct partition *p = m->partitions[at.channel];
	uint32_t set = partition_set(p, at.slice, at.local);
	partition_prefetch(p, at.slice, set);
	if (q->given - q->taken == AHEAD)
		take_first(m, q);
	q->lines[q->given++ % AHEAD] = (struct line_place){address, at.channel, at.slice, set, dirty};
}

static void warm_line(void *ctx, uint64_t address, bool dirty)
{
	struct memory_system *m = ctx;
	give_line(m, &m->warmed, address, dirty);
}

/* Lines of a range that the slice with most of them has. */
static uint32_t most_lines(const struct memory_map *map, const struct memory_range *range, uint64_t line)
{
	uint32_t most = 0, *lines = calloc((size_t)map->channels * map->slices, sizeof *lines);
	for (uint64_t at = range->address; lines && at < range->address + range->bytes; at += line) {
		struct memory_place place = memory_map_find(map, at);
		most = max_u32(most, ++lines[place.channel * map->slices + place.slice]);
	}
	free(lines);
	return most;
}

/*
 * Memory of few lines is in as few slices here as on the whole GPU. There, the slice with most of them does what all SMs ask, here what some do.
 * So that a counter that everybody adds to is as busy as the real one, also while groups end, operations on it take as much longer.
 */
static void set_hot(struct memory_system *m, const struct memory_range *ranges, size_t count)
{
	enum { FEW = 16 }; /* lines of a slice; of more, all slices have nearly as many */
	uint32_t channels = m->gpu->dram_channels, slices = m->config.map.slices;
	struct memory_map whole;
	init_map(&whole, m->gpu, channels, slices);
	whole.places = m->config.map.places;
	for (size_t i = 0; i < count && channels > m->config.map.channels; i++) {
		uint64_t argument = argument_of_address(ranges[i].address), line = m->gpu->l2_line_bytes;
		if (argument >= PLACED_ARGUMENTS || ranges[i].bytes > FEW * line * channels * slices)
			continue;
		double there = most_lines(&whole, &ranges[i], line), here = most_lines(&m->config.map, &ranges[i], line);
		m->config.hot[argument] = here > 0 ? (double)channels / m->config.map.channels * there / here : 0;
	}
}

void memory_warm(struct memory_system *m, const struct memory_range *ranges, size_t count, bool steady)
{
	const struct memory_config *c = &m->config;
	far_lines_set(&m->copies, m->gpu, ranges, count);
	set_hot(m, ranges, count);
	warm_lines(ranges, count, c->slice_bytes * c->map.channels * c->map.slices, m->gpu->l2_line_bytes, steady, warm_line, m);
	take_all(m, &m->warmed);
}

void memory_set_replaced(struct memory_system *m, double dirty, double bytes)
{
	m->config.replaced_dirty = dirty;
	m->config.replaced_lines = bytes / (double)m->gpu->l2_line_bytes / m->config.map.channels;
}

double memory_missing(struct memory_system *m, const struct memory_range *ranges, size_t count, bool fill)
{
	double missing = 0;
	uint64_t line = m->gpu->l2_line_bytes;
	take_all(m, &m->touched);
	for (size_t i = 0; i < count; i++)
		for (uint64_t at = ranges[i].address / line * line; at < ranges[i].address + ranges[i].bytes; at += line) {
			struct memory_place place = memory_map_find(&m->config.map, at);
			struct partition *p = m->partitions[place.channel];
			missing += partition_missing(p, place.slice, at, partition_set(p, place.slice, place.local), fill);
		}
	return missing;
}

void memory_set_others(struct memory_system *m, memory_others_fn *others, void *ctx)
{
	m->config.others = others;
	m->config.others_ctx = ctx;
}

void memory_touch(struct memory_system *m, uint64_t address, bool dirty)
{
	give_line(m, &m->touched, address - address % m->gpu->l2_line_bytes, dirty);
}

uint32_t memory_round_trip(const struct memory_system *m, bool atomics)
{
	uint32_t back = atomics && m->atomic_back < m->back ? m->atomic_back : m->back;
	return m->forward + (back > m->spread / 2 + 1 ? back - m->spread / 2 : 1);
}

static uint64_t pass_port(struct port *p, uint64_t time, uint64_t ticks)
{
	time = time > p->free ? time : p->free;
	p->free = time + ticks;
	return time;
}

/* Of the SM's port. */
static uint64_t departing_ticks(const struct memory_system *m, const struct memory_request *r)
{
	uint32_t sectors = (uint32_t)__builtin_popcount(r->sectors);
	if (r->kind == MEMORY_WRITE && m->store_ticks_sm)
		return (sectors + (r->bytes < sectors * MEMORY_SECTOR)) * m->store_ticks_sm;
	uint64_t ticks = flits(m->gpu, r->kind == MEMORY_READ ? 0 : r->bytes) * m->flit_ticks_sm;
	return r->kind == MEMORY_READ ? max_u64(ticks, m->miss_ticks) : ticks;
}

uint64_t memory_depart(struct memory_system *m, const struct memory_request *r, uint64_t cycle)
{
	return pass_port(&m->from_sm[r->sm], cycle * MEMORY_TICKS, departing_ticks(m, r));
}

int memory_send(struct memory_system *m, const struct memory_request *request)
{
	uint32_t n = pool_take(&m->flying.pool, m->flying.all, next);
	if (n == POOL_NONE || !gs_reserve(&m->sent, m->sent_count, &m->sent_room, sizeof *m->sent))
		return -ENOMEM;
	m->flying.all[n] = *request;
	m->sent[m->sent_count++] = n;
	if (m->flying.pool.first_free != POOL_NONE)
		__builtin_prefetch(&m->flying.all[m->flying.pool.first_free], 1);
	return 0;
}

static void request_passes(void *ctx, uint32_t n, uint64_t start)
{
	struct memory_system *m = ctx;
	struct memory_request *r = &m->flying.all[n];
	uint32_t slices = m->config.map.slices;
	r->queued_l2 = start - r->time;
	r->time = start + (uint64_t)m->forward * MEMORY_TICKS;
	partition_push(m->partitions[r->slice / slices], r->slice % slices, n);
}

/* Sectors of a store of which some bytes stay as they are: those that miss half of theirs in the mean, and at least one. */
static uint32_t parts_of(const struct memory_request *r)
{
	uint32_t sectors = bits_set(r->sectors), whole = sectors * MEMORY_SECTOR;
	return r->bytes < whole ? min_u32((whole - r->bytes + MEMORY_SECTOR / 2 - 1) / (MEMORY_SECTOR / 2), sectors) : 0;
}

/* Of a slice's port. A warp's atomics on a line are parts of one packet, so that they have no headers of their own. */
static uint32_t slice_ticks(const struct memory_system *m, const struct memory_request *r)
{
	uint32_t sectors = bits_set(r->sectors);
	if (r->kind == MEMORY_WRITE && m->flit_ticks_store) {
		uint32_t parts = parts_of(r);
		return (uint32_t)(m->header_ticks_store + parts * m->part_ticks_store + (sectors - parts) * m->flit_ticks_store);
	}
	if (r->kind != MEMORY_READ && m->flit_ticks_store)
		return (uint32_t)(sectors * m->flit_ticks_store);
	return (uint32_t)(flits(m->gpu, r->kind == MEMORY_READ ? 0 : r->bytes) * m->flit_ticks_slice);
}

/* Whether the line is at home in another half than the SM. Lines of a channel that follow one another are alike. */
static bool is_elsewhere(const struct memory_system *m, uint64_t address, uint32_t sm)
{
	return ((hash_number(address / m->piece) >> 32) + sm) % 2;
}

static uint32_t store_flits(const struct memory_request *r)
{
	return 1 + (uint32_t)__builtin_popcount(r->sectors);
}

static void queue_request(struct memory_system *m, uint32_t n)
{
	struct memory_request *r = &m->flying.all[n];
	struct memory_place at = memory_map_find(&m->config.map, r->address);
	r->set = partition_set(m->partitions[at.channel], at.slice, at.local);
	r->slice = (uint16_t)(at.channel * m->config.map.slices + at.slice);
	r->ticks = slice_ticks(m, r);
	r->left = 1;
	if (r->kind == MEMORY_WRITE)
		m->from_sm[r->sm].stored += store_flits(r);
	r->far = m->copies.any && r->kind == MEMORY_READ && is_elsewhere(m, r->address, r->sm) && far_lines_copy(&m->copies, m->gpu, r);
	network_push(m->requests, n);
}

/* An SM whose packets wait in too great a number sends no more until they have gone. Packets that wait at their slices count, too, if they are
 * stores: nobody waits for the answer of one, so nothing else ends a queue that gets longer and longer. Where each SM has a queue of its own in
 * front of the crossbar (icnt_in_order), all that wait are in that. */
static void hold_ports(struct memory_system *m, uint64_t before)
{
	uint64_t most = (uint64_t)m->gpu->icnt_queue_flits * m->flit_ticks_slice;
	for (uint32_t s = 0; s < m->sms; s++) {
		struct port *port = &m->from_sm[s];
		uint64_t stores = m->gpu->icnt_in_order ? 0 : port->stored * m->flit_ticks_slice, waiting = max_u64(network_waiting(m->requests, s), stores);
		if (waiting > most)
			port->free = max_u64(port->free, before + waiting - most);
	}
}

/* What leaves before `before`, to its partition; the rest stays. The network asks for the order of each SM's requests only, and
 * they were sent in it. */
static void deliver_requests(struct memory_system *m, uint64_t before)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->sent_count; i++) {
		uint32_t n = m->sent[i];
		if (i + AHEAD < m->sent_count)
			__builtin_prefetch(&m->flying.all[m->sent[i + AHEAD]], 1);
		if (m->flying.all[n].time < before)
			queue_request(m, n);
		else
			m->sent[kept++] = n;
	}
	m->sent_count = kept;
	network_advance(m->requests, before - 1, request_passes, m);
}

/* Of answers of one slice: the order of the network, which hardly ever is not that in which they come. */
static bool answered_before(const struct memory_request *a, const struct memory_request *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->sm != b->sm ? a->sm < b->sm : a->id < b->id;
}

static void keep_answer(void *ctx, uint32_t n)
{
	struct memory_system *m = ctx;
	const struct memory_request *all = m->flying.all;
	struct answer_list *list = &m->answered[all[n].slice];
	if (all[n].kind == MEMORY_WRITE)
		m->from_sm[all[n].sm].stored -= 1u + all[n].asked;
	if (!gs_reserve(&list->requests, list->count, &list->room, sizeof *list->requests)) {
		m->error = -ENOMEM;
		return;
	}
	size_t at = list->count++;
	for (; at && answered_before(&all[n], &all[list->requests[at - 1]]); at--)
		list->requests[at] = list->requests[at - 1];
	list->requests[at] = n;
}

static void add_waits(struct memory_system *m, const struct memory_request *r)
{
	double least = m->gpu->dram_latency - m->gpu->l2_latency, dram = (double)r->queued_dram / MEMORY_TICKS;
	m->waited_l2 += (double)r->queued_l2 / MEMORY_TICKS;
	m->waited_dram += dram > least ? dram - least : 0;
}

/* What a line of DRAM takes longer than one of the near half that finds it ready. Lines of a channel that follow one another are alike. */
static uint64_t more_from_dram(const struct memory_system *m, uint64_t address, uint32_t sm)
{
	enum { WHOLE = 1 << 16 };
	uint64_t chance = hash_number(address / m->piece), far = is_elsewhere(m, address, sm) ? m->far : 0;
	if (chance % WHOLE >= (uint64_t)(m->gpu->dram_refresh_share * WHOLE))
		return far;
	return far + (uint64_t)((double)(chance / WHOLE % WHOLE) / WHOLE * m->gpu->dram_refresh_cycles);
}

/* Where on the chip the SM and a line are is not known: by chance, so that loops that go from line to line are not long at one of them. */
static uint64_t way_back(const struct memory_system *m, const struct memory_request *r)
{
	uint64_t way = memory_is_atomic(r->kind) ? m->atomic_back : m->back, line = r->address / m->gpu->l2_line_bytes;
	if (r->queued_dram)
		way += more_from_dram(m, r->address, r->sm);
	else if (r->far)
		way += m->far;
	if (!m->spread)
		return way;
	uint64_t more = hash_number(line ^ (uint64_t)r->sm << 40) % (m->spread + 1);
	return way + more > m->spread / 2 + 1 ? way + more - m->spread / 2 : 1;
}

static void answer_passes(void *ctx, uint32_t n, uint64_t start)
{
	struct memory_system *m = ctx;
	struct memory_request *r = &m->flying.all[n];
	r->queued_l2 += start - r->time;
	if (r->kind != MEMORY_WRITE)
		add_waits(m, r);
	/* The last flit arrives. */
	uint64_t way = way_back(m, r);
	uint64_t last = start + r->ticks - m->flit_ticks_sm + way * MEMORY_TICKS;
	struct memory_reply reply = {.time = (last + MEMORY_TICKS - 1) / MEMORY_TICKS, .sm = r->sm, .id = r->id};
	struct reply_list *list = &m->replies[r->sm];
	if (gs_reserve(&list->replies, list->count, &list->room, sizeof *list->replies))
		list->replies[list->count++] = reply;
	else
		m->error = -ENOMEM;
	pool_give(&m->flying.pool, m->flying.all, next, n);
}

static void tell_sms(struct memory_system *m, memory_reply_fn *on_reply, void *ctx)
{
	for (uint32_t s = 0; s < m->sms; s++) {
		for (size_t i = 0; i < m->replies[s].count; i++)
			on_reply(ctx, &m->replies[s].replies[i]);
		m->replies[s].count = 0;
	}
}

static void queue_answer(struct memory_system *m, uint32_t n)
{
	struct memory_request *r = &m->flying.all[n];
	/* Sector by sector; acknowledgements of writes have a header only. */
	uint32_t count = flits(m->gpu, r->kind == MEMORY_WRITE ? 0 : MEMORY_SECTOR);
	r->left = m->gpu->icnt_in_order ? r->asked : 1;
	r->ticks = (uint32_t)(count * m->flit_ticks_sm) * (r->asked / r->left);
	/* Its first flits have come while the slice was at the last. */
	uint64_t ahead = r->ticks * r->left - m->flit_ticks_sm;
	r->time = r->time > ahead ? r->time - ahead : 0;
	r->time = r->time > m->advanced ? r->time : m->advanced;
	network_push(m->answers, n);
}

static void queue_answers(struct memory_system *m)
{
	uint32_t slices = m->config.map.channels * m->config.map.slices;
	for (uint32_t s = 0; s < slices; s++) {
		const struct answer_list *list = &m->answered[s];
		for (size_t i = 0; i < list->count; i++) {
			if (i + AHEAD < list->count)
				__builtin_prefetch(&m->flying.all[list->requests[i + AHEAD]], 1);
			queue_answer(m, list->requests[i]);
		}
		m->answered[s].count = 0;
	}
}

int memory_advance(struct memory_system *m, uint64_t cycle, memory_reply_fn *on_reply, void *ctx)
{
	uint64_t before = cycle * MEMORY_TICKS, until = before + (uint64_t)m->forward * MEMORY_TICKS - 1;
	take_all(m, &m->touched);
	deliver_requests(m, before);
	for (uint32_t i = 0; i < m->config.map.channels && !m->error; i++) {
		int rc = partition_advance(m->partitions[i], until, keep_answer, m);
		m->error = m->error ? m->error : rc;
	}
	hold_ports(m, before);
	queue_answers(m);
	if (!m->error)
		network_advance(m->answers, until, answer_passes, m);
	m->advanced = until + 1;
	if (!m->error)
		tell_sms(m, on_reply, ctx);
	return m->error;
}

int memory_hottest_atomics(struct memory_system *m, double *cycles)
{
	const struct gpu *gpu = m->gpu;
	struct memory_map whole;
	uint64_t most = 0;
	uint32_t slices = gpu->l2_slices / gpu->dram_channels ? gpu->l2_slices / gpu->dram_channels : 1;
	uint64_t *parts = calloc((size_t)gpu->dram_channels * slices, sizeof *parts);
	if (!parts)
		return -ENOMEM;
	take_all(m, &m->touched);
	init_map(&whole, gpu, gpu->dram_channels, slices);
	whole.places = m->config.map.places;
	for (uint32_t c = 0; c < m->config.map.channels; c++)
		partition_atomics(m->partitions[c], &whole, parts);
	for (uint32_t s = 0; s < gpu->dram_channels * slices; s++)
		most = parts[s] > most ? parts[s] : most;
	free(parts);
	*cycles = (double)most / MEMORY_PARTS;
	return 0;
}

void memory_count(const struct memory_system *m, uint64_t cycles, struct memory_statistics *out)
{
	struct partition_counts sum = {0};
	double share = (double)m->sms / m->gpu->sm_count;
	for (uint32_t i = 0; i < m->config.map.channels; i++) {
		struct partition_counts c = partition_counts(m->partitions[i]);
		sum.reads += c.reads;
		sum.hits += c.hits;
		sum.writes += c.writes;
		sum.atomics += c.atomics;
		sum.busy += c.busy;
		sum.dram_busy += c.dram_busy;
		sum.dram_reads += c.dram_reads;
		sum.dram_writes += c.dram_writes;
	}
	double access = (double)m->gpu->dram_access_bytes, time = (double)cycles * MEMORY_TICKS * m->config.map.channels;
	out->l2_hit = sum.reads ? (double)sum.hits / (double)sum.reads : NAN;
	out->dram_read_bytes = (double)sum.dram_reads * access / share;
	out->dram_written_bytes = (double)sum.dram_writes * access / share;
	out->dram_share = cycles ? (double)sum.dram_busy / time : NAN;
	out->l2_share = cycles ? (double)sum.busy / (time * m->config.map.slices) : NAN;
	out->atomics = (double)sum.atomics / share;
	out->l2_read_bytes = (double)sum.reads * MEMORY_SECTOR / share;
	out->l2_written_bytes = (double)sum.writes * MEMORY_SECTOR / share;
}

uint64_t memory_fetches(const struct memory_system *m)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < m->config.map.channels; i++)
		sum += partition_counts(m->partitions[i]).fetches;
	return sum;
}

struct memory_waits memory_waits(const struct memory_system *m)
{
	return (struct memory_waits){.l2 = m->waited_l2, .dram = m->waited_dram};
}
