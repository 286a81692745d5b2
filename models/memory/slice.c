/*
 * A channel of memory and its slices of L2: all that an address can meet after the interconnect.
 *
 *   a slice takes requests in their order, a sector at a time; one that cannot go on holds up those after it
 *   read: hit, or joins a fetch under way, or fetches; a sector that was written in part is fetched before it is read
 *   write: kept in L2, without fetching (written back when its line goes); atomic: a read that leaves its sector written
 * A fetch needs an entry, a line that is not waiting itself, and room in the channel's queue. Source: Accel-Sim, IV
 * (lazy fetch on read, write-back with masks); GPGPU-Sim 4's memory_sub_partition.
 */
#include "models/memory/slice.h"

#include "models/accesses/requests.h"
#include "models/memory/tags.h"
#include "models/util/bits.h"
#include "models/util/divide.h"
#include "models/util/hash.h"
#include "models/util/minmax.h"
#include "models/util/pool.h"

#include <errno.h>
#include <stdlib.h>

enum { MOST_SLICES = 16 }; /* of a channel: a tag of DRAM has four bits for them (set_config) */
enum { BUCKETS = 256 }; /* of a table of fetches, about as many as a slice has (l2_mshrs). Changes the simulation's speed only */
/* Of an H200: adds to four lines of each slice take l2_atomic_cycles (micro.csv, atomics), to 16 and more the rest as well (scattered.csv). */
enum { ATOMIC_LINES = 4 };

/* Sectors that are fetched together, and who waits for them. */
struct fetch {
	uint64_t address; /* of the first byte */
	uint64_t started;
	float gaps; /* of those between the first and the last of its sharers, as many as that to the second; 0: not measured */
	uint32_t line, sectors, waiters, last_waiter, count, chain;
};
struct fetch_waiter {
	uint32_t request, next;
	uint64_t since;
};
struct slice {
	struct tag_store tags;
	uint32_t head, tail; /* requests */
	uint32_t line;       /* of the first of them; no other takes it away */
	uint64_t free, out_free;
	bool blocked;
	uint64_t atomic_lines[ATOMIC_LINES]; /* those that atomics came to last, and 1 */
	uint32_t atomic_next;
	uint32_t fetch_count;
	uint32_t buckets[BUCKETS]; /* fetch + 1 */
};
struct arrival {
	uint64_t time;
	uint32_t slice, fetch;
};

struct partition {
	const struct memory_config *config;
	const struct memory_requests *shared;
	struct memory_request *requests; /* of `shared`, while it advances */
	uint64_t next[MOST_SLICES];      /* when a slice can serve its first request; MEMORY_NEVER: it has none, or is blocked */
	struct dram_channel dram;
	struct slice *slices;
	struct fetch *fetches;
	struct fetch_waiter *waiters;
	struct pool fetch_pool, waiter_pool;
	struct arrival *arrivals; /* a ring, of a power of two */
	uint32_t arrival_capacity, arrival_head, arrival_count;
	uint64_t now, until, dram_time;
	uint64_t fetch_bytes;
	uint32_t line_sectors;
	struct partition_counts counts;
	double written_for_others; /* lines */
	double owed; /* of the next line that something else was written back for: launches before this one left dirty lines */
	uint64_t sent_from; /* the first fetch */
	double apart, measured; /* ticks between the first and the last sharer of a line, added up; of so many lines */
	partition_answer_fn *on_answer;
	void *ctx;
	int error;
};

uint64_t partition_fetch_bytes(const struct gpu *gpu)
{
	uint64_t bytes = gpu->l2_fills_access && gpu->dram_access_bytes > MEMORY_SECTOR ? gpu->dram_access_bytes : MEMORY_SECTOR;
	return max_u64(bytes, gpu->l2_sector_bytes);
}

struct partition *partition_new(const struct memory_config *config, const struct memory_requests *requests, double held)
{
	struct partition *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	const struct gpu *gpu = config->gpu;
	uint64_t lines = config->slice_bytes / gpu->l2_line_bytes;
	p->config = config;
	p->shared = requests;
	p->fetch_pool = p->waiter_pool = (struct pool)POOL_EMPTY;
	p->dram_time = MEMORY_NEVER;
	p->line_sectors = (uint32_t)(gpu->l2_line_bytes / MEMORY_SECTOR);
	p->fetch_bytes = partition_fetch_bytes(gpu);
	p->slices = calloc(config->map.slices, sizeof *p->slices);
	int rc = p->slices ? dram_init(&p->dram, &config->dram, held) : -ENOMEM;
	for (uint32_t s = 0; s < config->map.slices && !rc; s++) {
		p->slices[s].head = p->slices[s].tail = MEMORY_NONE;
		p->next[s] = MEMORY_NEVER;
		rc = tags_init(&p->slices[s].tags, lines ? lines : 1, gpu->l2_ways);
	}
	if (rc) {
		partition_free(p);
		return NULL;
	}
	return p;
}

void partition_free(struct partition *p)
{
	if (!p)
		return;
	for (uint32_t s = 0; p->slices && s < p->config->map.slices; s++)
		tags_free(&p->slices[s].tags);
	dram_free(&p->dram);
	free(p->slices);
	free(p->fetches);
	free(p->waiters);
	free(p->arrivals);
	free(p);
}

uint32_t partition_set(const struct partition *p, uint32_t slice, uint64_t local)
{
	const struct gpu *gpu = p->config->gpu;
	return memory_set(quotient(local, gpu->l2_line_bytes), p->slices[slice].tags.sets, gpu->l2_set_hash);
}

void partition_prefetch(const struct partition *p, uint32_t slice, uint32_t set)
{
	tags_prefetch(&p->slices[slice].tags, set);
}

void partition_warm(struct partition *p, uint32_t slice, uint64_t address, uint32_t set, bool dirty)
{
	struct slice *s = &p->slices[slice];
	uint32_t line = tags_find(&s->tags, set, address);
	if (line == MEMORY_NONE) {
		line = tags_victim(&s->tags, set);
		tags_replace(&s->tags, set, line, address);
	}
	tags_line(&s->tags, line)->valid = p->line_sectors < 32 ? (1u << p->line_sectors) - 1 : UINT32_MAX;
	tags_line(&s->tags, line)->dirty = dirty ? tags_line(&s->tags, line)->valid : 0;
	tags_touch(&s->tags, set, line);
}

uint32_t partition_missing(struct partition *p, uint32_t slice, uint64_t address, uint32_t set, bool fill)
{
	struct slice *s = &p->slices[slice];
	uint32_t line = tags_find(&s->tags, set, address), all = p->line_sectors < 32 ? (1u << p->line_sectors) - 1 : UINT32_MAX;
	if (line == MEMORY_NONE) {
		if (fill)
			partition_touch(p, slice, address, set, false);
		return p->line_sectors;
	}
	struct tag_line *l = tags_line(&s->tags, line);
	uint32_t missing = all & ~(l->valid | l->pending);
	l->valid |= fill ? missing : 0;
	return bits_set(missing);
}

/* When it can serve its first request. */
static void note_next(struct partition *p, const struct slice *s, const struct memory_request *requests)
{
	uint64_t *next = &p->next[s - p->slices];
	*next = s->head == MEMORY_NONE || s->blocked ? MEMORY_NEVER : max_u64(requests[s->head].time, s->free);
}

/* Where the line of the slice's first request is: before it is served, so that the host can fetch what is known of it. */
static void find_line(struct slice *s, const struct memory_request *r)
{
	s->line = tags_find(&s->tags, r->set, r->address);
	if (s->line != MEMORY_NONE)
		__builtin_prefetch(tags_line(&s->tags, s->line), 1);
}

void partition_touch(struct partition *p, uint32_t slice, uint64_t address, uint32_t set, bool dirty)
{
	struct slice *s = &p->slices[slice];
	uint32_t line = tags_find(&s->tags, set, address);
	if (line == MEMORY_NONE) {
		line = tags_victim(&s->tags, set);
		if (line == MEMORY_NONE)
			return;
		tags_replace(&s->tags, set, line, address);
		tags_line(&s->tags, line)->valid = p->line_sectors < 32 ? (1u << p->line_sectors) - 1 : UINT32_MAX;
	}
	tags_line(&s->tags, line)->dirty |= dirty ? tags_line(&s->tags, line)->valid : 0;
	tags_touch(&s->tags, set, line);
	if (s->head != MEMORY_NONE && p->shared->all[s->head].set == set) /* its line may be another now */
		find_line(s, &p->shared->all[s->head]);
}

void partition_push(struct partition *p, uint32_t slice, uint32_t request)
{
	struct slice *s = &p->slices[slice];
	struct memory_request *all = p->shared->all, *r = &all[request];
	r->asked = r->left = (uint8_t)bits_set(r->sectors);
	r->next = MEMORY_NONE;
	if (s->tail == MEMORY_NONE)
		s->head = request;
	else
		all[s->tail].next = request;
	s->tail = request;
	tags_prefetch(&s->tags, r->set);
	if (s->head == request) {
		find_line(s, r);
		note_next(p, s, all);
	}
}

static void answer_sector(struct partition *p, struct slice *s, uint32_t n, uint64_t time)
{
	struct memory_request *r = &p->requests[n];
	if (r->kind != MEMORY_WRITE) {
		time = max_u64(time, s->out_free);
		s->out_free = time + p->config->reply;
	}
	if (--r->left)
		return;
	r->time = time;
	p->on_answer(p->ctx, n);
}

static void wait_for(struct partition *p, struct fetch *f, uint32_t request)
{
	uint32_t n = pool_take(&p->waiter_pool, p->waiters, next);
	if (n == POOL_NONE) {
		p->error = -ENOMEM;
		return;
	}
	p->waiters[n] = (struct fetch_waiter){.request = request, .next = MEMORY_NONE, .since = p->now};
	if (f->waiters == MEMORY_NONE)
		f->waiters = n;
	else
		p->waiters[f->last_waiter].next = n;
	f->last_waiter = n;
	f->count++;
}

static uint32_t *bucket_of(struct slice *s, uint64_t address)
{
	return &s->buckets[hash_high(address) >> 56];
}

static uint32_t find_fetch(struct partition *p, struct slice *s, uint64_t address)
{
	uint32_t n = *bucket_of(s, address);
	while (n && p->fetches[n - 1].address != address)
		n = p->fetches[n - 1].chain;
	return n - 1; /* or MEMORY_NONE */
}

static void push_dram(struct partition *p, const struct slice *s, uint64_t address, enum dram_kind kind, uint32_t bytes, uint32_t tag)
{
	uint64_t access = p->config->gpu->dram_access_bytes, time = p->now + (kind == DRAM_WRITE ? 0 : p->config->dram_pipe);
	uint64_t local = memory_map_local(&p->config->map, address);
	uint32_t bursts = (uint32_t)quotient(bytes + access - 1, access);
	int rc = dram_push(&p->dram, time, local, (uint32_t)(s - p->slices), p->config->map.slices, kind, bursts, tag);
	p->error = p->error ? p->error : rc;
	p->dram_time = time < p->dram_time ? time : p->dram_time;
}

/* A line for the request's, its old content written back; MEMORY_NONE: not now. clean: there was nothing to write. */
static uint32_t allocate(struct partition *p, struct slice *s, const struct memory_request *r, bool *clean)
{
	uint32_t line = tags_victim(&s->tags, r->set);
	if (line == MEMORY_NONE || dram_full(&p->dram))
		return MEMORY_NONE;
	uint32_t dirty = tags_line(&s->tags, line)->dirty;
	*clean = !dirty;
	if (dirty)
		push_dram(p, s, tags_address(&s->tags, line), DRAM_WRITE, bits_set(dirty) * MEMORY_SECTOR, MEMORY_NONE);
	tags_replace(&s->tags, r->set, line, r->address);
	return s->line = line;
}

/* Lines that the launch brings in take the places of others, also where the simulation has room for all. Some of those have to be written. */
static void write_back_others(struct partition *p, const struct slice *s, uint64_t address)
{
	p->owed += p->config->replaced_dirty;
	if (p->owed < 1 || p->written_for_others >= p->config->replaced_lines)
		return;
	p->owed--;
	p->written_for_others++;
	push_dram(p, s, address | NO_LAUNCHS_MEMORY, DRAM_WRITE, p->line_sectors * MEMORY_SECTOR, MEMORY_NONE);
}

/* In the order of their times; what is sent for others overtakes what waits for DRAM. */
static void push_arrival(struct partition *p, struct arrival a)
{
	if (p->arrival_count == p->arrival_capacity) {
		uint32_t capacity = p->arrival_capacity ? 2 * p->arrival_capacity : 64;
		struct arrival *grown = malloc(capacity * sizeof *grown);
		if (!grown) {
			p->error = -ENOMEM;
			return;
		}
		for (uint32_t i = 0; i < p->arrival_count; i++)
			grown[i] = p->arrivals[(p->arrival_head + i) & (p->arrival_capacity - 1)];
		free(p->arrivals);
		p->arrivals = grown;
		p->arrival_capacity = capacity;
		p->arrival_head = 0;
	}
	uint32_t mask = p->arrival_capacity - 1, at = p->arrival_head + p->arrival_count++;
	for (; at != p->arrival_head && p->arrivals[(at - 1) & mask].time > a.time; at--)
		p->arrivals[at & mask] = p->arrivals[(at - 1) & mask];
	p->arrivals[at & mask] = a;
}

/*
 * How much earlier than the first simulated one of its sharers somebody else had a line sent. If n of them come at any time within S, m of them
 * simulated, and the first one is none of these:
 *   S n / ((m + 1) (n + 1))    expected
 * S is measured: the second one of m comes S / (m + 1) after the first, or after the line.
 */
static uint64_t ahead(const struct partition *p, const struct memory_sharers *s)
{
	double apart = p->measured > 0 ? p->apart / p->measured : 0;
	if (s->before > 0)
		return (uint64_t)((double)s->before * (double)(p->now - p->sent_from));
	return s->all > 1 ? (uint64_t)(apart * (double)s->all / ((double)s->simulated + 1) / ((double)s->all + 1)) : 0;
}

static void note_gap(struct partition *p, struct fetch *f)
{
	if (!(f->gaps > 0))
		return;
	p->apart += (double)f->gaps * (double)(p->now - f->started);
	p->measured++;
	f->gaps = 0;
}

/* Sent for somebody else: as long as DRAM that has nothing else to do takes. */
static void arrive_for_others(struct partition *p, const struct slice *s, uint32_t fetch, const struct memory_sharers *sharers)
{
	const struct dram_timing *d = &p->config->dram;
	uint64_t bursts = quotient(p->fetch_bytes + p->config->gpu->dram_access_bytes - 1, p->config->gpu->dram_access_bytes);
	uint64_t takes = p->config->dram_pipe + d->open + d->column + bursts * d->burst;
	struct arrival a = {p->now + takes - min_u64(takes, ahead(p, sharers)), (uint32_t)(s - p->slices), fetch};
	push_arrival(p, a);
}

/* The sectors of the fetch that are not there. */
static bool start_fetch(struct partition *p, struct slice *s, uint32_t request, uint64_t address)
{
	const struct gpu *gpu = p->config->gpu;
	const struct memory_request *r = &p->requests[request];
	uint32_t line = s->line;
	bool clean = false;
	if (s->fetch_count >= gpu->l2_mshrs || dram_full(&p->dram))
		return false;
	if (line == MEMORY_NONE)
		line = allocate(p, s, r, &clean);
	if (line == MEMORY_NONE)
		return false;
	uint32_t n = pool_take(&p->fetch_pool, p->fetches, chain);
	if (n == POOL_NONE) {
		p->error = -ENOMEM;
		return false;
	}
	uint32_t *bucket = bucket_of(s, address), first = (uint32_t)((address - r->address) / MEMORY_SECTOR);
	uint32_t sectors = (uint32_t)((1ull << p->fetch_bytes / MEMORY_SECTOR) - 1) << first;
	p->fetches[n] = (struct fetch){.address = address, .started = p->now, .line = line, .sectors = sectors,
	                               .waiters = MEMORY_NONE, .chain = *bucket};
	*bucket = n + 1;
	s->fetch_count++;
	p->sent_from = p->counts.fetches++ ? p->sent_from : p->now;
	tags_line(&s->tags, line)->pending |= sectors;
	wait_for(p, &p->fetches[n], request);
	struct memory_sharers sharers = {0, 0, 0};
	enum memory_others others = p->config->others ? p->config->others(p->config->others_ctx, address, &sharers) : OTHERS_NOTHING;
	if (others == OTHERS_SENT) {
		arrive_for_others(p, s, n, &sharers);
		return true;
	}
	if (clean)
		write_back_others(p, s, r->address);
	p->fetches[n].gaps = sharers.simulated >= 2 ? sharers.simulated + 1 : 0;
	push_dram(p, s, address, others == OTHERS_OPENED ? DRAM_READ_OPEN : DRAM_READ, (uint32_t)p->fetch_bytes, n << 4 | (uint32_t)(s - p->slices));
	return true;
}

static bool read_sector(struct partition *p, struct slice *s, uint32_t request, uint32_t sector)
{
	const struct memory_request *r = &p->requests[request];
	uint32_t bit = 1u << sector;
	if (s->line != MEMORY_NONE && tags_line(&s->tags, s->line)->valid & bit) {
		p->counts.reads++;
		p->counts.hits++;
		tags_touch(&s->tags, r->set, s->line);
		if (memory_is_atomic(r->kind))
			tags_line(&s->tags, s->line)->dirty |= bit;
		answer_sector(p, s, request, p->now);
		return true;
	}
	uint64_t address = r->address + sector * MEMORY_SECTOR, at = address - remainder_by(address, p->fetch_bytes);
	uint32_t fetch = find_fetch(p, s, at);
	bool done = false;
	if (fetch != MEMORY_NONE && p->fetches[fetch].count < p->config->gpu->l2_mshr_merges) {
		if (r->sm != p->requests[p->waiters[p->fetches[fetch].waiters].request].sm)
			note_gap(p, &p->fetches[fetch]);
		wait_for(p, &p->fetches[fetch], request);
		done = true;
	} else if (fetch == MEMORY_NONE) {
		done = start_fetch(p, s, request, at);
	}
	p->counts.reads += done;
	return done;
}

static bool write_sector(struct partition *p, struct slice *s, uint32_t request, uint32_t sector)
{
	const struct memory_request *r = &p->requests[request];
	uint32_t bit = 1u << sector;
	bool clean = false;
	if (s->line == MEMORY_NONE && allocate(p, s, r, &clean) == MEMORY_NONE)
		return false;
	if (clean)
		write_back_others(p, s, r->address);
	struct tag_line *l = tags_line(&s->tags, s->line);
	bool whole = r->bytes >= r->asked * MEMORY_SECTOR;
	tags_touch(&s->tags, r->set, s->line);
	l->dirty |= bit;
	if (whole)
		l->valid |= bit;
	p->counts.writes++;
	answer_sector(p, s, request, p->now);
	return true;
}

/* What the sector keeps the slice busy for. */
static void add_parts(uint32_t *sum, uint64_t parts)
{
	*sum = parts < UINT32_MAX - *sum ? *sum + (uint32_t)parts : UINT32_MAX;
}

/* What a request of an atomic takes for its line, unless that is one of the last few. */
static uint64_t atomic_line_ticks(const struct partition *p, struct slice *s, const struct memory_request *r)
{
	uint64_t line = r->address / p->config->gpu->l2_line_bytes + 1;
	for (uint32_t i = 0; i < ATOMIC_LINES; i++)
		if (s->atomic_lines[i] == line)
			return 0;
	s->atomic_lines[s->atomic_next++ % ATOMIC_LINES] = line;
	return p->config->atomic_line + (r->kind == MEMORY_ATOMIC_RESULT ? p->config->atomic_result : 0);
}

static uint64_t lookup_ticks(struct partition *p, struct slice *s, const struct memory_request *r)
{
	if (!memory_is_atomic(r->kind))
		return p->config->lookup;
	uint32_t operations = r->lanes ? r->lanes : 1;
	bool whole = r->bytes >= r->asked * MEMORY_SECTOR;
	p->counts.atomics += operations;
	if (s->line != MEMORY_NONE)
		add_parts(&tags_line(&s->tags, s->line)->atomics, (uint64_t)operations * (whole ? p->config->whole_parts : p->config->atomic_parts));
	uint64_t argument = argument_of_address(r->address), ticks = (whole ? p->config->atomic_whole : p->config->atomic) * operations;
	double hot = argument < PLACED_ARGUMENTS ? p->config->hot[argument] : 0;
	return max_u64(hot > 1 ? (uint64_t)((double)ticks * hot) : ticks, p->config->lookup) + atomic_line_ticks(p, s, r);
}

/* What a request takes beside its sectors. Of what is far, another slice looks up as much, and this one is given a copy; there are as many such
 * requests on the other side. */
static uint64_t request_ticks(const struct partition *p, const struct memory_request *r)
{
	uint64_t once = r->kind == MEMORY_READ ? p->config->request : 0;
	return r->far ? 2 * (once + r->asked * p->config->lookup) : once;
}

/* The slice has looked up all sectors of its first request. */
static void take_next(struct partition *p, struct slice *s)
{
	s->head = p->requests[s->head].next;
	if (s->head == MEMORY_NONE) {
		s->tail = MEMORY_NONE;
		return;
	}
	const struct memory_request *r = &p->requests[s->head];
	__builtin_prefetch(&p->requests[r->next != MEMORY_NONE ? r->next : s->head], 1);
	find_line(s, r);
}

/* Whether all sectors of the request that are left hit, and nothing else can happen to the slice while they are looked up. */
static bool hits_alone(const struct partition *p, const struct slice *s, const struct memory_request *r, uint64_t last)
{
	if (s->line == MEMORY_NONE || memory_is_atomic(r->kind) || last > p->until)
		return false;
	uint64_t arrival = p->now + p->config->dram.column; /* of what is not served yet, at least */
	if (p->arrival_count)
		arrival = min_u64(arrival, p->arrivals[p->arrival_head].time);
	return last < arrival && (r->kind == MEMORY_WRITE || !(r->sectors & ~tags_line(&s->tags, s->line)->valid));
}

/* All its sectors at once, as if they were served one by one. */
static void serve_hits(struct partition *p, struct slice *s, struct memory_request *r, uint32_t count, uint64_t last)
{
	struct tag_line *l = tags_line(&s->tags, s->line);
	tags_touch(&s->tags, r->set, s->line);
	r->queued_l2 = max_u64(r->queued_l2, last - r->time);
	if (r->kind == MEMORY_WRITE) {
		l->dirty |= r->sectors;
		l->valid |= r->bytes >= r->asked * MEMORY_SECTOR ? r->sectors : 0;
		p->counts.writes += count;
	} else {
		p->counts.reads += count;
		p->counts.hits += count;
	}
	r->sectors = 0;
	for (uint32_t i = 0; i < count; i++)
		answer_sector(p, s, s->head, p->now + i * p->config->lookup);
	uint64_t request = request_ticks(p, r);
	s->free = last + p->config->lookup + request;
	p->counts.busy += count * p->config->lookup + request;
	take_next(p, s);
	note_next(p, s, p->requests);
}

/* The next sector of the slice's first request. */
static void serve_slice(struct partition *p, struct slice *s)
{
	uint32_t n = s->head;
	struct memory_request *r = &p->requests[n];
	uint32_t sector = (uint32_t)__builtin_ctz(r->sectors), left = r->sectors & (r->sectors - 1);
	uint32_t count = bits_set(r->sectors);
	uint64_t last = p->now + (count - 1) * p->config->lookup;
	if (hits_alone(p, s, r, last)) {
		serve_hits(p, s, r, count, last);
		return;
	}
	uint64_t busy = lookup_ticks(p, s, r);
	r->queued_l2 = max_u64(r->queued_l2, p->now - r->time);
	r->sectors = left;
	bool done = r->kind == MEMORY_WRITE ? write_sector(p, s, n, sector) : read_sector(p, s, n, sector);
	if (!done) {
		r->sectors = left | 1u << sector;
		s->blocked = true;
		note_next(p, s, p->requests);
		return;
	}
	busy += !left ? request_ticks(p, r) : 0;
	s->free = p->now + busy;
	p->counts.busy += busy;
	if (!left)
		take_next(p, s);
	note_next(p, s, p->requests);
}

static void unblock(struct partition *p)
{
	for (uint32_t s = 0; s < p->config->map.slices; s++) {
		if (!p->slices[s].blocked)
			continue;
		p->slices[s].blocked = false;
		note_next(p, &p->slices[s], p->requests);
	}
}

static void finish_fetch(struct partition *p, const struct arrival *a)
{
	struct slice *s = &p->slices[a->slice];
	struct fetch *f = &p->fetches[a->fetch];
	uint32_t *at = bucket_of(s, f->address), next;
	while (*at != a->fetch + 1)
		at = &p->fetches[*at - 1].chain;
	*at = f->chain;
	struct tag_line *l = tags_line(&s->tags, f->line);
	note_gap(p, f);
	l->valid |= f->sectors;
	l->pending &= ~f->sectors;
	for (uint32_t w = f->waiters; w != MEMORY_NONE; w = next) {
		struct fetch_waiter *waiter = &p->waiters[w];
		struct memory_request *r = &p->requests[waiter->request];
		uint64_t waited = p->now - waiter->since;
		next = waiter->next;
		if (memory_is_atomic(r->kind))
			l->dirty |= f->sectors;
		r->queued_dram = waited > r->queued_dram ? waited : r->queued_dram;
		answer_sector(p, s, waiter->request, p->now);
		pool_give(&p->waiter_pool, p->waiters, next, w);
	}
	pool_give(&p->fetch_pool, p->fetches, chain, a->fetch);
	s->fetch_count--;
	unblock(p);
}

static void serve_dram(struct partition *p)
{
	struct dram_access served;
	uint64_t there = dram_serve(&p->dram, p->now, &served);
	if (there != MEMORY_NEVER) {
		if (!served.write)
			push_arrival(p, (struct arrival){there, served.tag & 15, served.tag >> 4});
		unblock(p);
	}
	p->dram_time = dram_next(&p->dram, p->now);
}

int partition_advance(struct partition *p, uint64_t until, partition_answer_fn *on_answer, void *ctx)
{
	p->on_answer = on_answer;
	p->ctx = ctx;
	p->requests = p->shared->all;
	p->until = until;
	while (!p->error) {
		uint64_t arrival = p->arrival_count ? p->arrivals[p->arrival_head].time : MEMORY_NEVER;
		uint64_t best = arrival < p->dram_time ? arrival : p->dram_time;
		struct slice *first = NULL;
		for (uint32_t s = 0; s < p->config->map.slices; s++) {
			uint64_t time = max_u64(p->next[s], p->now);
			if (time < best) {
				best = time;
				first = &p->slices[s];
			}
		}
		if (best > until)
			break;
		p->now = best;
		if (first) {
			serve_slice(p, first);
		} else if (arrival == best) {
			struct arrival a = p->arrivals[p->arrival_head];
			p->arrival_head = (p->arrival_head + 1) & (p->arrival_capacity - 1);
			p->arrival_count--;
			finish_fetch(p, &a);
		} else {
			serve_dram(p);
		}
	}
	return p->error;
}

void partition_atomics(const struct partition *p, const struct memory_map *map, uint64_t *parts)
{
	for (uint32_t s = 0; s < p->config->map.slices && p->counts.atomics; s++) {
		const struct tag_store *t = &p->slices[s].tags;
		for (uint64_t i = 0; i < (uint64_t)t->sets * t->ways; i++) {
			if (!tags_was_used(t, (uint32_t)i) || !tags_line(t, (uint32_t)i)->atomics)
				continue;
			struct memory_place at = memory_map_find(map, tags_address(t, (uint32_t)i));
			parts[at.channel * map->slices + at.slice] += tags_line(t, (uint32_t)i)->atomics;
		}
	}
}

struct partition_counts partition_counts(const struct partition *p)
{
	struct partition_counts c = p->counts;
	c.dram_reads = p->dram.reads;
	c.dram_writes = p->dram.writes;
	c.dram_busy = p->dram.busy;
	return c;
}
