/*
 * Occupancy vector: memory after the load/store unit, where it is not perfect.
 *
 *   load/store unit -> l1_lookup_cycles in a queue -> tags -> hit: the value memory_hit_cycles later
 *                                                          -> miss: leaves the SM in the next cycle, comes back, is written
 * Parts of requests are looked up in order, one per cycle, or l1_tags_per_cycle of loads; with l1_store_cycles, stores take so long, and loads
 * as long as they had the load/store unit, for the banks that they read then or when their line has come. A part waits if L1 has no entry for
 * it, or no room for it to leave; then those after it wait, too, and at last the unit. Atomics leave at once. So do loads where L1 does not
 * cache global memory. Constants and parameters have tags of their own, and a miss costs const_miss_cycles.
 *
 * L1's data are written a sector in a cycle, by stores and by what arrives. The only reads that wait for it are those of filters that need all cycles
 * themselves. Source: an H200 (tests/reference/h200-truth/micro.csv, texture_32x8, 4096 x 4096 texels of 16 bytes, nine reads of each): a warp takes 150
 * cycles where its reads take 9 x 16, and 353 where they are between texels and take 9 x 32; it stores 16 sectors, and about 25 arrive.
 */
#ifndef GPUSIM_MODELS_SM_MEMORY_H
#define GPUSIM_MODELS_SM_MEMORY_H

#include "models/traffic/footprint.h"
#include "models/accesses/coalesce.h"
#include "models/memory/map.h"
#include "models/sm/gaps.h"
#include "models/sm/variant.h"
#include "models/util/bits.h"
#include "models/util/divide.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <stdlib.h>

static inline const struct gpu *gpu_of(const struct ov_sm *sm)
{
	return sm->m->gpu;
}

static uint32_t new_access(struct ov_sm *sm, const struct ov_flight *f, uint32_t parts)
{
	struct ov_memory *o = sm->memory;
	uint32_t n = pool_take(&o->access_pool, o->accesses, next);
	if (n == POOL_NONE) {
		sm->error = -ENOMEM;
		return OV_NONE;
	}
	o->accesses[n] = (struct ov_access){.op = f->op, .slot = f->slot, .parts = (uint16_t)parts, .begun = sm->now};
	return n;
}

static bool add_part(struct ov_sm *sm, const struct ov_part *part)
{
	struct ov_memory *o = sm->memory;
	if (o->part_count == o->part_capacity) {
		uint32_t capacity = o->part_capacity ? 2 * o->part_capacity : 128;
		struct ov_part *grown = malloc(capacity * sizeof *grown);
		if (!grown) {
			sm->error = -ENOMEM;
			return false;
		}
		for (uint32_t i = 0; i < o->part_count; i++)
			grown[i] = o->parts[(o->part_head + i) & (o->part_capacity - 1)];
		free(o->parts);
		o->parts = grown;
		o->part_capacity = capacity;
		o->part_head = 0;
	}
	l1_prefetch(o->l1, part->address);
	o->parts[(o->part_head + o->part_count++) & (o->part_capacity - 1)] = *part;
	return true;
}

/* All parts are looked up and answered: its registers, or its acknowledgement. */
static void finish_access(struct ov_sm *sm, uint32_t n)
{
	struct ov_memory *o = sm->memory;
	struct ov_access *a = &o->accesses[n];
	const struct ov_op *op = &sm->ops[a->op];
	uint64_t done = a->last > sm->now ? a->last : sm->now + 1;
	if (a->parts || a->waits)
		return;
	if (op->class == CODE_texture && gpu_of(sm)->texture_latency > gpu_of(sm)->l1_latency) /* coordinates before L1, filters after it */
		done += (uint64_t)(gpu_of(sm)->texture_latency - gpu_of(sm)->l1_latency);
	if (op->class == CODE_atomic && gpu_of(sm)->atomics_stop_warp)
		ov_schedule(sm, done > sm->now + 1 ? done - 1 : done, OV_ATOMIC_BACK, a->slot, a->op);
	if (op->latency_rule != OV_LOAD)
		ov_schedule(sm, done, OV_STORED, a->slot, a->op);
	else
		ov_schedule(sm, done, a->missed ? OV_SHARED_RESULT : OV_LOADED, a->slot, a->op);
	if (a->missed && op->latency_rule == OV_LOAD) {
		o->latency_sum += (double)(done - a->begun);
		o->latency_count++;
	}
	pool_give(&o->access_pool, o->accesses, next, n);
}

/* Requests that wait to leave the SM. */
static bool leaving_full(struct ov_sm *sm)
{
	struct ov_memory *o = sm->memory;
	uint32_t size = gpu_of(sm)->l1_miss_queue;
	while (o->leaving_count && o->leaving[o->leaving_head] <= sm->now) {
		o->leaving_head = o->leaving_head + 1 < size ? o->leaving_head + 1 : 0;
		o->leaving_count--;
	}
	return o->leaving_count == size;
}

/* A bit of an answer's id: it is for an access, not for an entry of L1. */
enum { FOR_ACCESS = 1u << 31 };

/* Returns the cycle in which it leaves the SM. */
static uint64_t send_request(struct ov_sm *sm, enum memory_kind kind, uint64_t address, uint32_t sectors, uint32_t bytes, uint32_t lanes,
                 uint32_t id, uint64_t cycle)
{
	struct ov_memory *o = sm->memory;
	struct memory_request r = {.address = address, .sectors = sectors, .sm = o->index, .id = id, .bytes = (uint16_t)bytes,
	                           .lanes = (uint16_t)lanes, .kind = (uint8_t)kind};
	uint32_t size = gpu_of(sm)->l1_miss_queue;
	r.time = memory_depart(o->system, &r, cycle);
	if (o->leaving_count < size) {
		uint32_t at = o->leaving_head + o->leaving_count++;
		o->leaving[at < size ? at : at - size] = r.time / MEMORY_TICKS;
	}
	int rc = memory_send(o->system, &r);
	sm->error = sm->error ? sm->error : rc;
	return r.time / MEMORY_TICKS;
}

/* Whether nothing waits for a store once it has left. A launch ends when all stores have arrived: its last groups wait
 * for theirs, unless its own end takes as long. */
static bool is_posted(const struct ov_sm *sm)
{
	return !gpu_of(sm)->wait_for_stores && (!sm->last_groups || gpu_of(sm)->launch_end_ns > 0);
}

/* A store that nobody waits for. It leaves with what waits to leave of its line, but for sectors that do not. */
static uint64_t send_posted(struct ov_sm *sm, const struct ov_part *p)
{
	struct ov_sent_store *s = &sm->memory->sent[hash_number(p->address) % SENT_STORES];
	bool waits = gpu_of(sm)->l1_store_merges && s->address == p->address && s->left > sm->now + 1;
	uint32_t sectors = waits ? p->sectors & ~s->sectors : p->sectors;
	if (!sectors)
		return s->left;
	uint32_t bytes = p->bytes * bits_set(sectors) / bits_set(p->sectors);
	uint64_t left = send_request(sm, MEMORY_WRITE, p->address, sectors, bytes, 0, OV_NONE, sm->now + 1);
	*s = (struct ov_sent_store){p->address, left, waits ? sectors | s->sectors : sectors};
	return left;
}

static void send_store(struct ov_sm *sm, const struct ov_part *p)
{
	struct ov_access *a = &sm->memory->accesses[p->access];
	bool posted = is_posted(sm);
	uint64_t left = posted ? send_posted(sm, p) : send_request(sm, MEMORY_WRITE, p->address, p->sectors, p->bytes, 0, p->access | FOR_ACCESS, sm->now + 1);
	if (posted)
		a->last = max_u64(a->last, left);
	else
		a->waits++;
	if (gpu_of(sm)->fence_latency > 0)
		sm->warps[a->slot].acknowledged = max_u64(left, sm->now + 1) + (uint64_t)gpu_of(sm)->l2_latency;
}

/* After a fence nothing is found in L1 that was there before. */
static inline void ov_memory_forgets(struct ov_sm *sm)
{
	if (sm->memory)
		l1_forget(sm->memory->l1);
}

static bool is_cached(const struct ov_sm *sm, const struct ov_part *p)
{
	return p->local || gpu_of(sm)->l1_caches_global;
}

static uint32_t bytes_of(uint32_t sectors)
{
	return bits_set(sectors) * MEMORY_SECTOR;
}

/* L1's data are written for so many sectors: in cycles in which no filter reads them. */
static void write_data(struct ov_sm *sm, uint32_t sectors)
{
	struct ov_memory *o = sm->memory;
	o->data_free = max_u64(o->data_free, sm->now) + bits_set(sectors);
}

static bool look_up_load(struct ov_sm *sm, const struct ov_part *p)
{
	struct ov_memory *o = sm->memory;
	struct ov_access *a = &o->accesses[p->access];
	struct l1_request ask;
	uint32_t waits, sectors = bits_set(p->sectors);
	if (!is_cached(sm, p)) {
		send_request(sm, MEMORY_READ, p->address, p->sectors, bytes_of(p->sectors), 0, p->access | FOR_ACCESS, sm->now + 1);
		a->waits++;
		a->missed = true;
		return true;
	}
	enum l1_result result = l1_load(o->l1, p->address, p->sectors, p->access, &waits, &ask);
	if (result == L1_FULL)
		return false;
	a->hit |= !ask.sectors;
	o->counts.looked_up += sectors;
	o->counts.hits += sectors - (result == L1_HIT ? 0 : bits_set(ask.sectors));
	if (result == L1_HIT) {
		uint64_t done = sm->now + o->hit_cycles;
		a->last = done > a->last ? done : a->last;
		return true;
	}
	a->waits += waits;
	a->missed = true;
	if (ask.dirty)
		send_request(sm, MEMORY_WRITE, ask.evicted, ask.dirty, bytes_of(ask.dirty), 0, OV_NONE, sm->now + 1);
	write_data(sm, ask.sectors);
	if (ask.sectors)
		send_request(sm, MEMORY_READ, p->address, ask.sectors, bytes_of(ask.sectors), 0, ask.entry, sm->now + 1);
	if (ask.sectors && a->hit)
		o->lookup_free += gpu_of(sm)->l1_mixed_miss_cycles;
	return true;
}

/* A read of an image with more than two passes (texture_cycles) is a filter's, which reads L1's data in each of them. Others leave cycles. */
static bool reads_always(const struct ov_sm *sm, const struct ov_op *op, uint32_t accesses)
{
	enum { PASSES = 2 };
	const struct gpu *gpu = gpu_of(sm);
	return op->class == CODE_texture && accesses > PASSES * ((gpu->warp_size + gpu->texels_per_cycle - 1) / gpu->texels_per_cycle);
}

/* When the unit that has taken the instruction has done so many accesses, as far as L1's data are concerned; 0: these do not matter. */
static uint64_t ov_memory_reads_data(struct ov_sm *sm, const struct ov_op *op, uint32_t accesses)
{
	struct ov_memory *o = sm->memory;
	if (!reads_always(sm, op, accesses))
		return 0;
	o->data_free = max_u64(o->data_free, sm->now) + accesses;
	return o->data_free;
}

/* False: not now. */
static bool look_up(struct ov_sm *sm, const struct ov_part *p)
{
	struct ov_memory *o = sm->memory;
	if (leaving_full(sm) && (p->store || !is_cached(sm, p) || !l1_has(o->l1, p->address, p->sectors)))
		return false;
	if (!p->store)
		return look_up_load(sm, p);
	bool whole = p->bytes >= bytes_of(p->sectors);
	write_data(sm, p->sectors);
	if (l1_store(o->l1, p->address, p->sectors, whole, p->local))
		send_store(sm, p);
	return true;
}

static void plan_step(struct ov_sm *sm, uint64_t time)
{
	struct ov_memory *o = sm->memory;
	if (time < sm->now + 1)
		time = sm->now + 1;
	if (time >= o->next_step)
		return;
	o->next_step = time;
	ov_schedule(sm, time, OV_L1, 0, 0);
}

static void ov_memory_step(struct ov_sm *sm)
{
	struct ov_memory *o = sm->memory;
	if (o->next_step > sm->now)
		return;
	o->next_step = OV_NEVER;
	if (!o->part_count)
		return;
	o->lookup_free = max_double(o->lookup_free, (double)sm->now);
	while (o->lookup_free < (double)(sm->now + 1) && o->part_count && o->parts[o->part_head].ready <= sm->now) {
		struct ov_part p = o->parts[o->part_head];
		if (!look_up(sm, &p)) {
			/* Until a request leaves; else until an answer comes, which steps on. */
			if (leaving_full(sm))
				plan_step(sm, o->leaving[o->leaving_head]);
			return;
		}
		o->lookup_free += (double)p.cycles;
		o->part_head = (o->part_head + 1) & (o->part_capacity - 1);
		o->part_count--;
		o->accesses[p.access].parts--;
		finish_access(sm, p.access);
	}
	if (o->part_count)
		plan_step(sm, max_u64(o->parts[o->part_head].ready, (uint64_t)o->lookup_free));
}

/* Its queue is full: the unit cannot take another. */
static inline bool ov_memory_full(const struct ov_sm *sm)
{
	return sm->memory->part_count > sm->memory->room;
}

/* Where the group's part is: see struct address_shift. */
static uint64_t shifted_address(const struct ov_sm *sm, const struct ov_flight *f, uint64_t address)
{
	const struct launch_warps *launch = sm->m->launch;
	const struct ov_group *g = &sm->groups[sm->warps[f->slot].group];
	uint64_t line = gpu_of(sm)->l1_line_bytes;
	if (sm->ops[f->op].space == SPACE_local) {
		uint64_t bytes = ((uint64_t)launch->code->local_bytes * gpu_of(sm)->warp_size / line + 1) * line;
		return (1ull << 44) + ((uint64_t)sm->memory->index * sm->m->slots + f->slot) * bytes + address % bytes;
	}
	return g->moves ? launch_address(launch, f->op, address, g->id, g->moved, line) : address;
}

static uint32_t merge_part(struct memory_part *parts, uint32_t count, const struct memory_part *p)
{
	for (uint32_t i = 0; i < count; i++)
		if (parts[i].address == p->address) {
			parts[i].sectors |= p->sectors;
			parts[i].bytes = (uint16_t)(parts[i].bytes + p->bytes);
			parts[i].lanes = (uint16_t)(parts[i].lanes + p->lanes);
			return count;
		}
	parts[count] = *p;
	return count + 1;
}

/* Parts that have moved within their lines: sectors that leave one come to the next, and parts that meet become one. */
static uint32_t move_parts(const struct ov_sm *sm, const struct ov_flight *f, const struct memory_part *first, uint32_t count)
{
	uint64_t line = gpu_of(sm)->l1_line_bytes;
	uint32_t sectors = (uint32_t)(line / MEMORY_SECTOR), moved = 0;
	struct memory_part *out = sm->memory->moved;
	for (uint32_t i = 0; i < count && moved + 2 <= 2 * COALESCE_MOST_PARTS; i++) {
		struct memory_part p = first[i];
		uint64_t address = ov_round_address(sm, &sm->warps[f->slot], f->request, shifted_address(sm, f, p.address), line);
		uint32_t by = (uint32_t)(address % line / MEMORY_SECTOR);
		uint64_t mask = (uint64_t)(p.sectors | !p.sectors) << by, own = mask & ((1ull << sectors) - 1);
		uint16_t bytes = (uint16_t)(p.bytes * bits_set((uint32_t)own) / bits_set(p.sectors | !p.sectors));
		p.address = address / line * line;
		p.sectors = (uint32_t)own;
		p.bytes = bytes ? bytes : (uint16_t)(first[i].bytes ? 1 : 0);
		if (own)
			moved = merge_part(out, moved, &p);
		p.address += line;
		p.sectors = (uint32_t)(mask >> sectors);
		p.bytes = (uint16_t)(first[i].bytes - bytes);
		if (p.sectors)
			moved = merge_part(out, moved, &p);
	}
	return moved;
}

/* Atomic operations stay as they are: lanes that meet on a word, or in a sector, have parts of their own, one behind the other. */
static uint32_t move_atomics(const struct ov_sm *sm, const struct ov_flight *f, const struct memory_part *first, uint32_t count)
{
	uint64_t line = gpu_of(sm)->l1_line_bytes;
	struct memory_part *out = sm->memory->moved;
	for (uint32_t i = 0; i < count; i++) {
		out[i] = first[i];
		out[i].address = ov_round_address(sm, &sm->warps[f->slot], f->request, shifted_address(sm, f, first[i].address), line) / MEMORY_SECTOR * MEMORY_SECTOR;
	}
	return count;
}

/* How many of a part's operations follow one another: those on one address. */
static uint32_t atomic_turns(const struct ov_sm *sm, const struct ov_flight *f, const struct memory_part *p)
{
	uint32_t bytes = (uint32_t)p->lanes * sm->m->launch->code->code[f->op].bytes;
	return p->bytes && bytes > p->bytes ? (bytes + p->bytes - 1) / p->bytes : 1;
}

static void send_atomic(struct ov_sm *sm, const struct ov_flight *f, const struct memory_part *first, uint32_t count)
{
	bool moved = first == sm->memory->moved;
	struct ov_memory *o = sm->memory;
	uint32_t n = new_access(sm, f, 0);
	for (uint32_t i = 0; i < count && n != OV_NONE; i++) {
		uint64_t address = moved ? first[i].address : shifted_address(sm, f, first[i].address);
		send_request(sm, sm->ops[f->op].returns ? MEMORY_ATOMIC_RESULT : MEMORY_ATOMIC, address, first[i].sectors | !first[i].sectors, first[i].bytes,
		     atomic_turns(sm, f, &first[i]), n | FOR_ACCESS, sm->now + i + 1);
		o->accesses[n].waits++;
		o->accesses[n].missed = true;
	}
}

/* The cycle of the unit's `cycles` in which it comes to a part: the last part in the last one. */
static uint64_t cycle_of_part(uint32_t part, uint32_t count, uint32_t cycles)
{
	return cycles == count || !cycles ? part : ((uint64_t)(part + 1) * cycles + count - 1) / count - 1;
}

/* Of a part, where loads take `cycles` of the unit for so many parts. Lanes do not meet in banks in private memory. */
static float lookup_cycles(const struct gpu *gpu, const struct ov_op *op, uint32_t count, uint32_t cycles)
{
	double tags = 1.0 / gpu->l1_tags_per_cycle;
	bool store = op->latency_rule == OV_STORE;
	if (gpu->l1_store_cycles <= 0)
		return (float)(store ? 1 : tags);
	if (store)
		return (float)gpu->l1_store_cycles;
	return (float)(op->space == SPACE_local ? tags : max_double(tags, (double)cycles / count));
}

static void queue_parts(struct ov_sm *sm, const struct ov_flight *f, const struct memory_part *first, uint32_t count, uint32_t cycles)
{
	bool moved = first == sm->memory->moved;
	struct ov_memory *o = sm->memory;
	const struct ov_op *op = &sm->ops[f->op];
	uint32_t n = new_access(sm, f, count);
	float lookup = lookup_cycles(gpu_of(sm), op, count, cycles);
	for (uint32_t i = 0; i < count && n != OV_NONE; i++) {
		struct ov_part p = {.cycles = lookup,
		                 .ready = sm->now + gpu_of(sm)->l1_lookup_cycles + cycle_of_part(i, count, cycles) * op->initiation / OV_FRACTION,
		                 .address = moved ? first[i].address : shifted_address(sm, f, first[i].address),
		                 .access = n,
		                 .sectors = first[i].sectors | !first[i].sectors, /* at least one */
		                 .bytes = first[i].bytes,
		                 .store = op->latency_rule == OV_STORE,
		                 .local = op->space == SPACE_local};
		if (gpu_of(sm)->l1_sector_bytes >= gpu_of(sm)->l1_line_bytes && !p.store) /* whole lines */
			p.sectors = (uint32_t)((1ull << gpu_of(sm)->l1_line_bytes / MEMORY_SECTOR) - 1);
		add_part(sm, &p);
	}
	if (o->part_count == count)
		plan_step(sm, o->parts[o->part_head].ready);
}

/* When a line is there that is asked for now, or, if all entries are taken, when the first of them is free. */
static uint64_t ask_for_constant(struct ov_sm *sm, uint64_t miss)
{
	struct ov_memory *o = sm->memory;
	uint32_t count = gpu_of(sm)->const_mshrs;
	uint64_t *first = o->constant_entries;
	if (!count)
		return sm->now + miss;
	for (uint32_t i = 1; i < count; i++)
		if (o->constant_entries[i] < *first)
			first = &o->constant_entries[i];
	o->constants_taken = max_u64(sm->now, *first);
	*first = o->constants_taken + miss;
	return *first;
}

/* What misses of constants add. */
static uint64_t constant_cycles(struct ov_sm *sm, const struct memory_part *first, uint32_t count)
{
	static const struct memory_part parameters = {0};
	struct tag_store *t = &sm->memory->constants;
	const struct gpu *gpu = gpu_of(sm);
	double miss = (gpu->const_miss_cycles > 0 ? gpu->const_miss_cycles : gpu->l2_latency) - gpu->const_latency;
	uint64_t wait = 0;
	if (!count)
		first = &parameters;
	for (uint32_t i = 0; i < (count ? count : 1); i++) {
		uint64_t address = first[i].address + 1; /* parameters and constants are not the same memory */
		uint32_t set = memory_set(quotient(first[i].address, gpu->const_access_bytes), t->sets, false), line = tags_find(t, set, address);
		if (line != MEMORY_NONE) {
			tags_touch(t, set, line);
			uint64_t there = (uint64_t)tags_line(t, line)->valid << 32 | tags_line(t, line)->dirty;
			wait = there > sm->now + wait ? there - sm->now : wait;
			continue;
		}
		line = tags_victim(t, set);
		if (line == MEMORY_NONE || miss <= 0)
			continue;
		tags_replace(t, set, line, address);
		uint64_t there = ask_for_constant(sm, (uint64_t)miss);
		tags_line(t, line)->valid = (uint32_t)(there >> 32);
		tags_line(t, line)->dirty = (uint32_t)there;
		wait = max_u64(wait, there - sm->now);
	}
	return wait;
}

/* The unit has taken the instruction; false: it is one that memory need not be asked for. */
static bool ov_memory_takes(struct ov_sm *sm, const struct ov_flight *f, uint32_t accesses)
{
	const struct ov_op *op = &sm->ops[f->op];
	const struct path_requests *requests = sm->warps[f->slot].requests;
	struct ov_memory *o = sm->memory;
	o->unit_op = f->op;
	o->unit_accesses = accesses;
	if (op->space == SPACE_shared) {
		o->counts.shared++;
		o->counts.shared_accesses += accesses;
	}
	if (op->space == SPACE_shared || op->latency_rule == OV_FENCE || !code_has_accesses(op->class))
		return false;
	bool constant = op->space == SPACE_param || op->space == SPACE_const;
	uint32_t count = 0;
	const struct memory_part *first = NULL;
	if (requests && f->request != OV_NONE) {
		first = &requests->parts[requests->first[f->request]];
		count = requests->first[f->request + 1] - requests->first[f->request];
		if (requests->first[f->request + 1] < requests->first[f->request])
			count = 0;
	}
	if (constant) {
		bool known = op->space == SPACE_param && sm->m->options->parameters_before;
		uint64_t wait = known ? 0 : constant_cycles(sm, first, count);
		if (!wait)
			return false;
		ov_schedule(sm, sm->now + op->result + wait, OV_SHARED_RESULT, f->slot, f->op);
		return true;
	}
	if (!count)
		return false;
	if (o->moved && op->space != SPACE_local && sm->warps[f->slot].path->gap_count) {
		count = op->class == CODE_atomic ? move_atomics(sm, f, first, count) : move_parts(sm, f, first, count);
		first = o->moved;
	}
	o->counts.requests++;
	o->counts.parts += count;
	if (op->class == CODE_atomic)
		send_atomic(sm, f, first, count);
	else
		queue_parts(sm, f, first, count, op->latency_rule == OV_STORE ? count : accesses);
	return true;
}

/* One result per cycle is written: a part of a load, or, where L1 has banks, a line that was asked for: all loads that wait for it read it
 * there, in the cycles that they had in the unit. */
static void access_answered(void *ctx, uint32_t n)
{
	struct ov_sm *sm = ctx;
	struct ov_memory *o = sm->memory;
	struct ov_access *a = &o->accesses[n];
	const struct ov_op *op = &sm->ops[a->op];
	uint64_t at = sm->now + 1;
	if (op->latency_rule == OV_LOAD) {
		uint64_t next = gpu_of(sm)->l1_banks && o->filled ? o->written : o->written + 1;
		at = at > next ? at : next;
		o->written = at;
		o->filled = true;
	}
	a->last = at > a->last ? at : a->last;
	a->waits--;
	finish_access(sm, n);
}

static void ov_memory_answer(struct ov_sm *sm, uint32_t id)
{
	struct ov_memory *o = sm->memory;
	if (id == OV_NONE)
		return;
	o->filled = false;
	if (id & FOR_ACCESS)
		access_answered(sm, id & ~FOR_ACCESS);
	else
		l1_fill(o->l1, id, access_answered, sm);
	if (l1_failed(o->l1))
		sm->error = -ENOMEM;
	if (o->part_count && o->next_step == OV_NEVER)
		plan_step(sm, o->parts[o->part_head].ready);
}

/* The line of instructions is fetched from: when it is there, if it was, and has been replaced since. One that was there
 * before, in this launch or an earlier one, is in L2. */
static void ov_memory_line(struct ov_sm *sm, uint32_t line, uint64_t *ready)
{
	struct tag_store *t = &sm->memory->lines;
	const struct gpu *gpu = gpu_of(sm);
	double again = gpu->icache_cold_cycles - (gpu->dram_latency - gpu->l2_latency);
	if (!t->sets)
		return;
	uint32_t set = line % t->sets, at = tags_find(t, set, line);
	if (at != MEMORY_NONE) {
		tags_touch(t, set, at);
		return;
	}
	tags_replace(t, set, tags_victim(t, set), line);
	if ((*ready || sm->m->options->code_before == CODE_IN_L2) && again > 0)
		*ready = sm->now + (uint64_t)again;
}

static enum cycle_kind ov_memory_reason(const struct ov_sm *sm)
{
	const struct ov_memory *o = sm->memory;
	const struct ov_op *op = &sm->ops[o->unit_op];
	if (ov_memory_full(sm))
		return CYCLES_l1;
	if (o->unit_accesses <= 1)
		return CYCLES_unit_ldst;
	return op->space == SPACE_shared ? CYCLES_shared : op->class == CODE_atomic ? CYCLES_atomics : CYCLES_l1;
}

#endif
