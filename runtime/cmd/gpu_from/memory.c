/*
 * Rules of caches, interconnect and DRAM.
 *
 * GPGPU-Sim's latencies are those of parts of its pipeline; ours are from the issue of a load to the issue of what needs it. What the parts add up
 * to was measured there with single loads of two configurations, SM2_GTX480 and SM7_QV100 (models/gpus/gtx480.gpu, qv100.gpu). With P =
 * pipeline_latency:
 *   shared = its latency + P - 1         26 -> 31, 20 -> 24
 *   constants = P - 3                    3, 2
 *   L1 = its latency + P - 2             35 -> 39, 20 -> 23
 *   L2 = L1's + ROP + the network        35 + 120 + 29 = 184 with Booksim (network mode 1), 20 + 160 + 12 = 192 with a crossbar (mode 2)
 *   atomics = L2 without L1              149, measured 144; 172, measured 173
 *   DRAM = L2 + its latency + RCD + CL + half of RP, as half of the rows are open: 307, measured 298 to 308; 332, measured 335
 *   instructions that are not cached = DRAM without L1: 272, measured 267; constants P + 3 more
 */
#include "runtime/cmd/gpu_from/gpu_from.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, NETWORK_BOOKSIM = 29, NETWORK_CROSSBAR = 12 };

static double clock_ratio(struct from *f, unsigned domain)
{
	double clocks[4];
	from_list(f, CONFIG_CLOCKS, clocks, 4, 4);
	return clocks[0] > 0 && clocks[domain] > 0 ? clocks[domain] / clocks[0] : 1;
}

/* Sizes of shared memory, in KB. Without shared memory L1 has all, so 0 is left out. */
static void shared_sizes(struct from *f)
{
	double sizes[16];
	struct gs_buf words = {0};
	size_t count = from_list(f, CONFIG_SHARED_SIZES, sizes, GS_ARRAY_LEN(sizes), 1);
	for (size_t i = 0; i < count; i++)
		if (sizes[i] >= 1 && sizes[i] < 1 << 20)
			gs_buf_printf(&words, "%s%.0f", words.len ? "," : "", sizes[i]);
	bool some = words.len && !words.failed;
	from_put_word(f, "shared_carveouts", some ? words.data : "-", CONFIG_SHARED_SIZES, some ? "" : "what is in use, in steps of 8");
	gs_buf_free(&words);
}

static void l1_size(struct from *f, const struct from_cache *c)
{
	double set = c->sets * c->line, own = set * c->ways, unified = from_number(f, CONFIG_L1_UNIFIED) * 1024;
	bool adaptive = from_number(f, CONFIG_L1_ADAPTIVE) != 0;
	if (adaptive && unified <= 0)
		unified = own + from_number(f, CONFIG_SHARED);
	if (adaptive && set > 0 && unified >= set) {
		double ways = trunc(unified / set);
		from_put(f, "l1_bytes", set * ways, from_has(f, CONFIG_L1_UNIFIED) ? CONFIG_L1_UNIFIED : CONFIG_L1, "with shared memory, in whole ways");
		from_put(f, "l1_ways", ways, CONFIG_L1, "of all that L1 and shared memory have");
		from_put(f, "l1_shared_bytes", unified, from_has(f, CONFIG_L1_UNIFIED) ? CONFIG_L1_UNIFIED : CONFIG_L1, "with shared memory");
		shared_sizes(f);
	} else {
		from_put(f, "l1_bytes", own, CONFIG_L1, "sets * line * ways");
		from_put(f, "l1_ways", c->ways, CONFIG_L1, "%s", "");
	}
	from_put(f, "l1_unified", adaptive, CONFIG_L1_ADAPTIVE, "%s", "");
}

static void l1(struct from *f)
{
	struct from_cache c = from_cache(f, CONFIG_L1);
	double lookup = from_number(f, CONFIG_L1_LATENCY), pipeline = from_value(f, "pipeline_latency");
	double banks = f->trace ? from_number(f, CONFIG_L1_BANKS) : 1;
	bool skipped = from_number(f, CONFIG_L1_SKIPPED) != 0;
	from_put(f, "l1_latency", lookup + pipeline - 2, CONFIG_L1_LATENCY, "+ pipeline_latency - 2");
	from_put(f, "l1_lookup_cycles", lookup, CONFIG_L1_LATENCY, "a queue in front of the tags");
	from_put(f, "store_latency", lookup + pipeline, CONFIG_L1_LATENCY, "+ pipeline_latency: acknowledged when it has left L1");
	from_put(f, "l1_caches_global", !c.none && !skipped, CONFIG_L1_SKIPPED, "%s", "");
	if (c.none) {
		from_put(f, "l1_bytes", 0, CONFIG_L1, "none");
		from_put(f, "l1_unified", 0, CONFIG_L1, "none");
		return;
	}
	l1_size(f, &c);
	from_put(f, "l1_line_bytes", c.line, CONFIG_L1, "%s", "");
	from_put(f, "l1_sector_bytes", c.sectored ? SECTOR : c.line, CONFIG_L1, c.sectored ? "sectored%s" : "no sectors%s", "");
	from_put(f, "l1_access_bytes", c.sectored ? SECTOR * banks : c.line, banks > 1 ? CONFIG_L1_BANKS : CONFIG_L1, "a %s per cycle and bank",
	         c.sectored ? "sector" : "line");
	from_put(f, "l1_set_hash", c.index != 'L', CONFIG_L1, "index %c", c.index);
	from_put(f, "l1_mshrs", c.mshrs, CONFIG_L1, "%s", "");
	from_put(f, "l1_mshr_merges", c.merges, CONFIG_L1, "%s", "");
	from_put(f, "l1_miss_queue", c.queue, CONFIG_L1, "%s", "");
	from_put(f, "l1_allocate_on_fill", c.allocate != 'm', CONFIG_L1, "allocation %c", c.allocate);
	/* L: write-through of global memory that drops the line, write-back of local memory. T and B keep the line, and B all stores. */
	from_put(f, "l1_store_evicts", c.write == 'L' || c.write == 'E', CONFIG_L1, "writes %c", c.write);
	from_put(f, "l1_local_write_back", c.write == 'L' || c.write == 'B', CONFIG_L1, "writes %c", c.write);
	from_put(f, "l1_store_allocates", c.write_allocate != 'N', CONFIG_L1, "write allocation %c", c.write_allocate);
}

static void shared(struct from *f)
{
	double pipeline = from_value(f, "pipeline_latency"), coalescing = from_number(f, CONFIG_COALESCING);
	from_put(f, "shared_banks", from_number(f, CONFIG_SHARED_BANKS), CONFIG_SHARED_BANKS, "%s", "");
	from_put(f, "shared_latency", from_number(f, CONFIG_SHARED_LATENCY) + pipeline - 1, CONFIG_SHARED_LATENCY, "+ pipeline_latency - 1");
	from_put(f, "narrow_segments", coalescing < 40, CONFIG_COALESCING, "from 40 on, all segments have 32 bytes");
	if (from_number(f, CONFIG_WARP_PARTS) <= 1)
		from_put(f, "coalesce_bytes", 0, CONFIG_WARP_PARTS, "the whole warp at once");
}

/* Booksim has a file of its own, with lines "name = value;". Returns that value, or 0. */
static double booksim_value(struct from *f, const char *wanted)
{
	char path[PATH_MAX], word[64];
	struct gs_buf text = {0};
	double value = 0, found;
	const char *name = f->at[CONFIG_NETWORK_FILE] ? f->entries[f->at[CONFIG_NETWORK_FILE] - 1].value : "";
	if (!*name || strchr(name, '/') || from_number(f, CONFIG_NETWORK) != 1 || snprintf(path, sizeof path, "%s%s", f->folder, name) >= (int)sizeof path)
		return 0;
	if (!gs_read_regular_file(path, &text, NULL) && text.data)
		for (const char *line = text.data; line && !(value > 0); line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
			if (sscanf(line, " %63[a-z_] = %9lf", word, &found) == 2 && !strcmp(word, wanted) && found > 0)
				value = found;
	if (value > 0)
		from_text(f, CONFIG_NETWORK_FILE);
	gs_buf_free(&text);
	return value;
}

/* How fast the crossbar itself is: Booksim's moves flits in steps of its own, in the files that come with GPGPU-Sim two in a cycle. */
static void network_speed(struct from *f)
{
	double speedup = booksim_value(f, "internal_speedup");
	if (from_number(f, CONFIG_NETWORK) == 2)
		from_put(f, "icnt_speedup", 0, CONFIG_NETWORK, "2: a packet is a flit, and takes a cycle");
	else if (speedup > 0)
		from_put(f, "icnt_speedup", fmin(speedup, 64), CONFIG_NETWORK_FILE, "its internal_speedup");
	else
		from_put(f, "icnt_speedup", 2, CONFIG_NETWORK, "1: internal_speedup of the files that come with the simulator");
}

static void network(struct from *f)
{
	double interconnect = clock_ratio(f, 1), cores = from_number(f, CONFIG_CORES), flit = booksim_value(f, "flit_size");
	if (flit > 0)
		from_put(f, "icnt_flit_bytes", flit, CONFIG_NETWORK_FILE, "its flit_size");
	else
		from_put(f, "icnt_flit_bytes", from_number(f, CONFIG_FLIT), CONFIG_FLIT, "%s", "");
	network_speed(f);
	from_put(f, "icnt_sm_flits", cores > 1 ? interconnect / cores : interconnect, CONFIG_CLOCKS, "one of its cycles, of %.0f SMs", cores);
	from_put(f, "icnt_slice_flits", interconnect, CONFIG_CLOCKS, "one of its cycles");
}

static void l2(struct from *f)
{
	struct from_cache c = from_cache(f, CONFIG_L2);
	double channels = from_number(f, CONFIG_CHANNELS), slices = channels * from_number(f, CONFIG_SLICES), copies = from_number(f, CONFIG_L2_COPIES);
	bool crossbar = from_number(f, CONFIG_NETWORK) == 2;
	double added = (crossbar ? NETWORK_CROSSBAR : NETWORK_BOOKSIM) / clock_ratio(f, 1), rop = from_number(f, CONFIG_L2_LATENCY);
	from_put(f, "l2_latency", from_value(f, "l1_lookup_cycles") + rop + added, CONFIG_L2_LATENCY,
	         "+ L1's, and %.0f of network mode %s, measured in GPGPU-Sim 4", added, crossbar ? "2" : "1");
	from_put(f, "atomic_latency", rop + added, CONFIG_L2_LATENCY, "as l2_latency, without L1");
	from_put(f, "atomic_fast_latency", from_value(f, "pipeline_latency"), CONFIG_REGISTER_PORTS, "as pipeline_latency");
	from_put(f, "l2_slices", slices, CONFIG_SLICES, "of %.0f channels", channels);
	from_put(f, "l2_warm", copies != 0, CONFIG_L2_COPIES, "host writes go to L2");
	from_put(f, "l2_copies", copies != 0 ? (double)f->base.dram_bytes : 0, CONFIG_L2_COPIES, "%s",
	         copies != 0 ? "all copies: the memory of the base" : "none");
	from_put(f, "l2_kept", from_number(f, CONFIG_L2_FLUSHED) == 0, CONFIG_L2_FLUSHED, "%s", "");
	from_put(f, "l2_hash", from_number(f, CONFIG_L2_HASH) != 0, CONFIG_L2_HASH, "0: in turn");
	if (c.none)
		return;
	from_put(f, "l2_bytes", c.sets * c.line * c.ways * slices, CONFIG_L2, "sets * line * ways * slices");
	from_put(f, "l2_line_bytes", c.line, CONFIG_L2, "%s", "");
	from_put(f, "l2_sector_bytes", c.sectored ? SECTOR : c.line, CONFIG_L2, c.sectored ? "sectored%s" : "no sectors%s", "");
	from_put(f, "l2_ways", c.ways, CONFIG_L2, "%s", "");
	from_put(f, "l2_set_hash", c.index != 'L', CONFIG_L2, "index %c", c.index);
	from_put(f, "l2_mshrs", c.mshrs, CONFIG_L2, "%s", "");
	from_put(f, "l2_mshr_merges", c.merges, CONFIG_L2, "%s", "");
	from_put(f, "l2_slice_bytes", trunc((c.port > 0 ? c.port : c.line) * clock_ratio(f, 2)), CONFIG_L2, "its port, at L2's clock");
}

enum timing { BANKS, CCD, RRD, RCD, RAS, RP, RC, CL, WL, CDLR, TIMINGS = 14 };

/* Either numbers in order, or NAME=number. */
static void read_timing(struct from *f, double t[TIMINGS])
{
	static const char *const names[TIMINGS] = {"nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR", "nbkgrp", "CCDL", "RTPL"};
	const char *text = from_text(f, CONFIG_TIMING);
	if (!strchr(text, '=')) {
		from_list(f, CONFIG_TIMING, t, TIMINGS, CDLR + 1);
		return;
	}
	for (size_t i = 0; i < TIMINGS; i++) {
		const char *at = text;
		size_t length = strlen(names[i]);
		while (at && (strncmp(at, names[i], length) || at[length] != '='))
			at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL;
		t[i] = at ? (double)strtoul(at + length + 1, NULL, 10) : 0;
		if (i <= CDLR && (!at || t[i] > 10000 || at[length + 1] < '0' || at[length + 1] > '9'))
			from_bad(f, CONFIG_TIMING, "expected nbk=N:CCD=N:RRD=N:RCD=N:RAS=N:RP=N:RC=N:CL=N:WL=N:CDLR=N:...");
	}
}

/* A request of each channel in a cycle of DRAM, and a latency: no banks, no rows. */
static void simple_dram(struct from *f)
{
	static const char *const timings[] = {"dram_open_ns",  "dram_close_ns",         "dram_cycle_ns",
	                                      "dram_opens_ns", "dram_read_to_write_ns", "dram_write_to_read_ns"};
	double clocks[4], channels = from_number(f, CONFIG_CHANNELS), level = from_value(f, "l2_latency");
	from_list(f, CONFIG_CLOCKS, clocks, 4, 4);
	for (size_t i = 0; i < GS_ARRAY_LEN(timings); i++)
		from_put(f, timings[i], 0, CONFIG_SIMPLE_DRAM, "no banks and rows");
	from_put(f, "dram_access_bytes", SECTOR, CONFIG_SIMPLE_DRAM, "a sector in a cycle");
	from_put(f, "dram_gbps", clocks[3] * SECTOR * channels / 1000, CONFIG_SIMPLE_DRAM, "%.0f MHz * a sector * %.0f channels", clocks[3], channels);
	from_put(f, "dram_latency", level + from_number(f, CONFIG_DRAM_LATENCY), CONFIG_DRAM_LATENCY, "+ l2_latency %.0f", level);
}

static void dram_timing(struct from *f)
{
	double t[TIMINGS], clocks[4], ratio = from_number(f, CONFIG_RATIO);
	read_timing(f, t);
	from_list(f, CONFIG_CLOCKS, clocks, 4, 4);
	double ns = clocks[3] > 0 ? 1000 / clocks[3] : 1, burst = ratio > 0 ? from_number(f, CONFIG_BURST) / ratio : 0;
	double turn = t[CL] + burst + 2 - t[WL], row = t[RCD] + t[CL] + t[RP] / 2, level = from_value(f, "l2_latency");
	double whole = level + from_number(f, CONFIG_DRAM_LATENCY) + row / clock_ratio(f, 3);
	from_put(f, "dram_latency", whole, CONFIG_DRAM_LATENCY, "+ l2_latency %.0f, and RCD + CL + RP / 2", level);
	from_put(f, "dram_banks", t[BANKS], CONFIG_TIMING, "%s", "");
	from_put(f, "dram_open_ns", t[RCD] * ns, CONFIG_TIMING, "RCD at %.0f MHz", clocks[3]);
	from_put(f, "dram_close_ns", t[RP] * ns, CONFIG_TIMING, "RP");
	from_put(f, "dram_cycle_ns", t[RC] * ns, CONFIG_TIMING, "RC");
	from_put(f, "dram_opens_ns", t[RRD] * ns, CONFIG_TIMING, "RRD");
	from_put(f, "dram_column_ns", t[CL] * ns, CONFIG_TIMING, "CL");
	from_put(f, "dram_read_to_write_ns", turn > 0 ? turn * ns : 0, CONFIG_TIMING, "CL + burst + 2 - WL");
	from_put(f, "dram_write_to_read_ns", (t[WL] + burst + t[CDLR]) * ns, CONFIG_TIMING, "WL + burst + CDLR");
}

static void dram(struct from *f)
{
	double clocks[4], channels = from_number(f, CONFIG_CHANNELS), bytes = from_number(f, CONFIG_BUS) * from_number(f, CONFIG_CHIPS);
	double queue = from_number(f, CONFIG_QUEUE), returns = from_number(f, CONFIG_RETURNS);
	from_list(f, CONFIG_CLOCKS, clocks, 4, 4);
	from_put(f, "dram_gbps", clocks[3] * bytes * from_number(f, CONFIG_RATIO) * channels / 1000, CONFIG_BUS, "%.0f MHz * %.0f bytes * ratio * channels",
	         clocks[3], bytes);
	from_put(f, "dram_channels", channels, CONFIG_CHANNELS, "%s", "");
	from_put(f, "dram_access_bytes", from_number(f, CONFIG_BURST) * bytes, CONFIG_BURST, "of %.0f bytes", bytes);
	if (queue > 0)
		from_put(f, "dram_queue", queue + returns, CONFIG_QUEUE, "and %.0f returned", returns);
	dram_timing(f);
	if (from_number(f, CONFIG_SIMPLE_DRAM) != 0)
		simple_dram(f);
}

/* dramid@BIT; and a letter for each bit of an address: R row, B bank, C column, S within a burst. */
static void mapping(struct from *f)
{
	unsigned bit = 0, row = 0;
	if (!from_has(f, CONFIG_MAPPING))
		return;
	const char *text = from_text(f, CONFIG_MAPPING), *letters = strchr(text, ';');
	if (sscanf(text, "dramid@%u", &bit) == 1 && bit >= 5 && bit <= 20)
		from_put(f, "l2_interleave_bytes", (double)(1u << bit), CONFIG_MAPPING, "dramid@%u", bit);
	for (const char *c = letters ? letters : ""; *c; c++)
		row += *c == 'C' || *c == 'S';
	if (row >= 5 && row <= 20)
		from_put(f, "dram_row_bytes", (double)(1u << row), CONFIG_MAPPING, "%u bits of columns", row);
}

static void constants(struct from *f)
{
	struct from_cache c = from_cache(f, CONFIG_CONST), i = from_cache(f, CONFIG_ICACHE);
	double pipeline = from_value(f, "pipeline_latency"), memory = from_value(f, "dram_latency") - from_value(f, "l1_lookup_cycles");
	bool perfect = from_number(f, CONFIG_PERFECT_CONST) != 0;
	from_put(f, "const_latency", pipeline - 3, CONFIG_REGISTER_PORTS, "pipeline_latency - 3, measured in GPGPU-Sim 4");
	if (!c.none) {
		from_put(f, "const_bytes", c.sets * c.line * c.ways, CONFIG_CONST, "sets * line * ways");
		from_put(f, "const_ways", c.ways, CONFIG_CONST, "%s", "");
		from_put(f, "const_mshrs", perfect ? 0 : c.mshrs, CONFIG_CONST, "%s", perfect ? "none misses" : "");
	}
	if (perfect) {
		from_put(f, "const_miss_cycles", pipeline - 3, CONFIG_PERFECT_CONST, "%s", "");
		from_put(f, "icache_line_instructions", 0, CONFIG_PERFECT_CONST, "%s", "");
		from_put(f, "icache_bytes", 0, CONFIG_PERFECT_CONST, "%s", "");
		return;
	}
	from_put(f, "const_miss_cycles", memory + pipeline + 3, CONFIG_CONST, "from DRAM, without L1");
	if (i.none)
		return;
	from_put(f, "icache_bytes", i.sets * i.line * i.ways, CONFIG_ICACHE, "sets * line * ways");
	from_put(f, "icache_ways", i.ways, CONFIG_ICACHE, "%s", "");
	from_put(f, "icache_line_instructions", trunc(i.line / GPU_INSTRUCTION_BYTES), CONFIG_ICACHE, "8 bytes per PTX instruction");
	from_put(f, "icache_miss_cycles", 1, CONFIG_ICACHE, "measured in GPGPU-Sim 4 with perfect memory");
	from_put(f, "icache_cold_cycles", trunc(memory), CONFIG_ICACHE, "from DRAM, without L1");
}

void from_memory(struct from *f)
{
	l1(f);
	shared(f);
	network(f);
	l2(f);
	dram(f);
	mapping(f);
	constants(f);
}
