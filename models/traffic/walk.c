/*
 * A walk of requests through the caches, without time.
 *
 *   groups: as many as some SMs hold; their warps take turns, request by request
 *   a part is looked up in its SM's L1; if it misses, in L2's tags; all data is there at once
 *   latency of a load: that of the furthest level that one of its parts comes from
 *   bandwidth: bytes / what a level moves per cycle
 * L2's capacity is the share of footprint.h, as in the occupancy vector.
 */
#include "models/traffic/walk.h"

#include "models/gpu/l1_split.h"
#include "models/traffic/footprint.h"
#include "models/memory/dram.h"
#include "models/memory/l1.h"
#include "models/memory/map.h"
#include "models/memory/system.h"
#include "models/memory/tags.h"
#include "models/util/divide.h"
#include "models/traffic/request_walk.h"
#include "models/memory/warm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* SMs whose groups share L2; parts of requests that are walked; waves of groups above which L2 is as the launch keeps it. They
 * bound the time of a walk; more of them make hit rates of large launches more certain. */
enum { MOST_SMS = 4, MOST_PARTS = 200000, MANY_WAVES = 8 };

struct cache_walk {
	const struct gpu *gpu;
	const struct launch_warps *warps;
	struct l1_cache *l1[MOST_SMS];
	struct tag_store l2;
	struct request_walker *walkers;
	uint64_t sector_mask;
	uint32_t sms, fetch_sectors;
	uint64_t requests, parts, looked_up, l1_hits, sectors, l2_hits, read, written, atomics, loads, stores;
	double latency;
	bool failed;
};

static void nobody(void *ctx, uint32_t who)
{
	(void)ctx;
	(void)who;
}

static uint32_t l2_line(struct cache_walk *w, uint64_t address)
{
	uint32_t set = memory_set(quotient(address, w->gpu->l2_line_bytes), w->l2.sets, true), line = tags_find(&w->l2, set, address);
	if (line == MEMORY_NONE) {
		line = tags_victim(&w->l2, set);
		w->written += (uint64_t)__builtin_popcount(tags_line(&w->l2, line)->dirty);
		tags_replace(&w->l2, set, line, address);
	} else {
		tags_touch(&w->l2, set, line);
	}
	return line;
}

/* True: all sectors were there. */
static bool read_l2(struct cache_walk *w, uint64_t address, uint32_t sectors)
{
	struct tag_line *l = tags_line(&w->l2, l2_line(w, address));
	uint32_t missing = sectors & ~l->valid;
	w->sectors += (uint64_t)__builtin_popcount(sectors);
	w->l2_hits += (uint64_t)__builtin_popcount(sectors & l->valid);
	for (uint32_t s = 0; s < 32; s += w->fetch_sectors) {
		uint32_t piece = (uint32_t)(((1ull << w->fetch_sectors) - 1) << s);
		if (missing & piece) {
			w->read++;
			l->valid |= piece;
		}
	}
	return !missing;
}

static void write_l2(struct cache_walk *w, uint64_t address, uint32_t sectors, bool whole)
{
	struct tag_line *l = tags_line(&w->l2, l2_line(w, address));
	l->dirty |= sectors;
	l->valid |= whole ? sectors : 0;
	w->stores += (uint64_t)__builtin_popcount(sectors);
}

/* The level that a part of a load comes from: 0 is L1. */
static int load_part(struct cache_walk *w, uint32_t sm, uint64_t address, uint32_t sectors)
{
	struct l1_request ask = {.sectors = sectors};
	uint32_t waits;
	if (w->gpu->l1_sector_bytes >= w->gpu->l1_line_bytes)
		sectors = ask.sectors = (uint32_t)w->sector_mask;
	if (w->gpu->l1_caches_global) {
		bool hit = l1_load(w->l1[sm], address, sectors, 0, &waits, &ask) == L1_HIT;
		w->looked_up += (uint64_t)__builtin_popcount(sectors);
		w->l1_hits += (uint64_t)(__builtin_popcount(sectors) - (hit ? 0 : __builtin_popcount(ask.sectors)));
		if (hit)
			return 0;
		if (ask.entry != MEMORY_NONE)
			l1_fill(w->l1[sm], ask.entry, nobody, NULL);
		w->failed |= l1_failed(w->l1[sm]);
	}
	return read_l2(w, address, ask.sectors) ? 1 : 2;
}

static void take_request(struct cache_walk *w, const struct request_walker *k, const struct walked_request *r)
{
	const struct code_instruction *in = &w->warps->code->code[r->instruction];
	uint32_t sm = (uint32_t)(k->group % w->sms);
	int level = 0;
	if (!r->global)
		return;
	w->requests++;
	for (uint32_t p = 0; p < r->part_count; p++) {
		const struct memory_part *part = &r->parts[p];
		uint64_t address = walker_address(w->warps, k, r->instruction, part, w->gpu->l1_line_bytes);
		bool whole = part->bytes >= __builtin_popcount(part->sectors) * MEMORY_SECTOR;
		int from = 0;
		w->parts++;
		if (in->class == CODE_store) {
			l1_store(w->l1[sm], address, part->sectors, whole, false);
			write_l2(w, address, part->sectors, whole);
		} else if (in->class == CODE_atomic) {
			read_l2(w, address, part->sectors);
			write_l2(w, address, part->sectors, false);
			w->atomics += part->lanes ? part->lanes : 1;
		} else {
			from = load_part(w, sm, address, part->sectors);
		}
		level = from > level ? from : level;
	}
	if (in->class != CODE_load && in->class != CODE_texture)
		return;
	w->loads++;
	w->latency += level == 0 ? w->gpu->l1_latency : level == 1 ? w->gpu->l2_latency : w->gpu->dram_latency;
}

/* Groups from `first` on, all of them at once. */
static void walk_together(struct cache_walk *w, uint64_t first, uint64_t groups)
{
	const struct launch_warps *l = w->warps;
	uint64_t count = groups * l->warps_per_group, left = count;
	struct walked_request request;
	for (uint64_t i = 0; i < count; i++)
		walker_start(l, first + i / l->warps_per_group, (uint32_t)(i % l->warps_per_group), &w->walkers[i]);
	while (left && !w->failed)
		for (uint64_t i = 0; i < count; i++) {
			struct request_walker *k = &w->walkers[i];
			if (!k->path)
				continue;
			if (walker_next(l, k, &request))
				take_request(w, k, &request);
			else
				left--;
		}
}

static int set_up(struct cache_walk *w, uint32_t resident, uint32_t most, uint64_t shared_bytes, double capacity)
{
	const struct gpu *gpu = w->gpu;
	uint64_t threads = (uint64_t)w->warps->warps_per_group * gpu->warp_size;
	struct l1_config config = {.bytes = gpu_l1_left(gpu, threads, shared_bytes, resident, most), .line_bytes = gpu->l1_line_bytes,
	                           .ways = gpu->l1_ways, .mshrs = 4, .merges = 4, .hash = gpu->l1_set_hash,
	                           .store_evicts = gpu->l1_store_evicts, .store_allocates = gpu->l1_store_allocates};
	bool ok = true;
	for (uint32_t s = 0; s < w->sms; s++)
		ok &= (w->l1[s] = l1_new(&config)) != NULL;
	uint64_t lines = (uint64_t)((double)gpu->l2_bytes / gpu->l2_partitions * capacity) / gpu->l2_line_bytes;
	w->walkers = calloc((size_t)w->sms * resident * w->warps->warps_per_group, sizeof *w->walkers);
	int rc = tags_init(&w->l2, lines ? lines : 1, gpu->l2_ways);
	w->sector_mask = (1ull << gpu->l1_line_bytes / MEMORY_SECTOR) - 1;
	w->fetch_sectors = gpu->l2_fills_access && gpu->dram_access_bytes > MEMORY_SECTOR
	                       ? (uint32_t)(gpu->dram_access_bytes / MEMORY_SECTOR) : 1;
	return ok && w->walkers ? rc : -ENOMEM;
}

static void warm_line(void *ctx, uint64_t address, bool dirty)
{
	struct cache_walk *w = ctx;
	struct tag_line *l = tags_line(&w->l2, l2_line(w, address));
	l->valid = UINT32_MAX;
	l->dirty = dirty ? (uint32_t)w->sector_mask : 0;
}

static void sum_up(const struct cache_walk *w, double scale, struct memory_walk *out)
{
	const struct gpu *gpu = w->gpu;
	double sectors = (double)(w->sectors + w->stores) * scale, access = w->fetch_sectors * (double)MEMORY_SECTOR;
	double read = (double)w->read * (access > (double)gpu->dram_access_bytes ? access : (double)gpu->dram_access_bytes) * scale;
	double written = (double)w->written * MEMORY_SECTOR * scale;
	double slices = sectors * MEMORY_SECTOR / ((double)gpu->l2_slices * (double)gpu->l2_slice_bytes);
	double ports = (double)w->sectors * scale / ((double)gpu->sm_count * gpu->icnt_sm_flits);
	double atomics = (double)w->atomics * scale * gpu->l2_atomic_cycles / gpu->l2_slices;
	out->l2_cycles = fmax(fmax(slices, ports), atomics);
	out->dram_cycles = (read + written) / (gpu->dram_gbps * 1000 / gpu->clock_mhz);
	out->load_latency = w->loads ? w->latency / (double)w->loads : 0;
	out->memory = (struct memory_statistics){
		.requests = (double)w->requests * scale,
		.transactions = (double)w->parts * scale,
		.l1_hit = w->looked_up ? (double)w->l1_hits / (double)w->looked_up : NAN,
		.l2_hit = w->sectors ? (double)w->l2_hits / (double)w->sectors : NAN,
		.dram_read_bytes = read,
		.dram_written_bytes = written,
		.dram_share = NAN,
		.l2_share = NAN,
		.atomic_share = NAN,
		.shared_factor = NAN,
		.atomics = (double)w->atomics * scale,
		.load_latency = out->load_latency,
		.l2_read_bytes = (double)w->sectors * MEMORY_SECTOR * scale,
		.l2_written_bytes = (double)w->stores * MEMORY_SECTOR * scale,
	};
}

static void clean_up(struct cache_walk *w)
{
	for (uint32_t s = 0; s < w->sms; s++)
		l1_free(w->l1[s]);
	tags_free(&w->l2);
	free(w->walkers);
}

int memory_walk(const struct gpu *gpu, const struct launch_warps *warps, uint32_t resident, uint64_t shared_bytes,
                struct memory_walk *out)
{
	struct cache_walk w = {.gpu = gpu, .warps = warps, .sms = gpu->sm_count < MOST_SMS ? gpu->sm_count : MOST_SMS};
	struct memory_range *ranges = NULL;
	size_t count = warps->warm_count;
	double capacity = 1;
	*out = (struct memory_walk){0};
	uint64_t even = (warps->groups + gpu->sm_count - 1) / gpu->sm_count, together;
	uint32_t most = resident;
	resident = even < resident ? (uint32_t)even : resident;
	together = (uint64_t)resident * w.sms;
	int rc = warps->warm ? 0 : footprint_ranges(gpu, warps, &ranges, &count);
	const struct memory_range *before = ranges ? ranges : warps->warm;
	if (!rc)
		rc = footprint_capacity(gpu, warps, before, count, together, (uint64_t)resident * gpu->sm_count, &capacity);
	if (!rc)
		rc = set_up(&w, resident, most, shared_bytes, capacity);
	if (!rc && (gpu->l2_warm || launch_knows_l2(warps)))
		warm_lines(before, count, (uint64_t)w.l2.sets * w.l2.ways * gpu->l2_line_bytes, gpu->l2_line_bytes,
		           warps->groups > MANY_WAVES * together, warm_line, &w);
	w.written = 0;
	uint64_t n = 0;
	for (; !rc && n < warps->groups && w.parts < MOST_PARTS && !w.failed; n += together)
		walk_together(&w, n, warps->groups - n < together ? warps->groups - n : together);
	n = n < warps->groups ? n : warps->groups;
	if (!rc && n)
		sum_up(&w, (double)warps->groups / (double)n, out);
	rc = w.failed ? -ENOMEM : rc;
	clean_up(&w);
	free(ranges);
	return rc;
}
