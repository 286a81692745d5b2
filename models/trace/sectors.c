/*
 * Sectors per access, of a few warps of a trace:
 *
 *   (different (site, n, sector) + 4 different (site, n, line)) / accesses, where n is which of its executions of the site a lane makes
 *
 * Lanes of a warp that execute a site together touch as many sectors as this says. It is the same for every GPU, and needs no
 * way through the code, so it costs little.
 */
#include "models/trace/sectors.h"

#include "models/util/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ACCESSES: of a lane, the first; LINE: sectors. */
enum { LANES = 32, GROUPS = 8, ACCESSES = 64, SECTOR = 32, LINE = 4, TABLE = 8 * LANES * ACCESSES, PLACES = 4 * GROUPS * LANES * ACCESSES, BUFFERS = 16 };

struct sample {
	uint64_t *table;      /* of TABLE hashes; 0: free */
	uint64_t *places;     /* the same of PLACES, for the lines and sectors of all warps */
	uint32_t *executions; /* of a lane, by site */
	uint64_t accesses, sectors;
	uint64_t visits, lines; /* of warps to lines, each execution of a site by itself; different lines */
	uint64_t places_taken, bytes; /* different sectors; bytes that are asked for */
	uint64_t low[BUFFERS], high[BUFFERS]; /* by argument (models/trace/trace.h); high 0: none */
};

/* Whether a table of so many hashes did not have this one. It has it then. */
static bool is_new(uint64_t *table, size_t size, uint64_t hash)
{
	size_t at = (size_t)((hash |= 1) >> 20) % size;
	while (table[at] && table[at] != hash)
		at = (at + 1) % size;
	bool new = !table[at];
	table[at] = hash;
	return new;
}

static bool is_new_to_warp(struct sample *s, uint32_t site, uint32_t n, uint64_t place)
{
	return is_new(s->table, TABLE, hash_number(hash_number(place) ^ hash_high((uint64_t)site << 32 | n)));
}

static void add_reach(struct sample *s, uint64_t address, uint32_t bytes)
{
	uint32_t buffer = (uint32_t)(address >> 40) % BUFFERS;
	if (!s->high[buffer] || address < s->low[buffer])
		s->low[buffer] = address;
	if (address + bytes > s->high[buffer])
		s->high[buffer] = address + bytes;
}

static uint32_t log2_of(double value)
{
	return value > 1 ? (uint32_t)lround(log2(value)) : 0;
}

static uint32_t reach_of(const struct sample *s)
{
	static const double least = 128 << 10;
	double bytes = 0;
	for (int b = 0; b < BUFFERS; b++)
		bytes += (double)(s->high[b] - s->low[b]);
	return log2_of(bytes / least) << 8 | log2_of(s->lines ? (double)s->visits / (double)s->lines : 1);
}

static bool goes_to_memory(const struct trace_site *site)
{
	return site->space == SPACE_global || site->space == SPACE_generic || site->space == SPACE_const;
}

static void add_lane(struct sample *s, const struct launch_trace *trace, const struct lane_trace *lane)
{
	uint32_t accesses = 0;
	memset(s->executions, 0, trace->site_count * sizeof *s->executions);
	for (size_t i = 0; i < lane->count && accesses < ACCESSES; i++) {
		const struct trace_event *event = &lane->events[i];
		uint32_t site = event->what - TRACE_ACCESS;
		if (event->what < TRACE_ACCESS || site >= trace->site_count || !goes_to_memory(&trace->sites[site]))
			continue;
		uint64_t first = event->address / SECTOR, last = (event->address + (event->bytes ? event->bytes - 1 : 0)) / SECTOR;
		uint32_t n = s->executions[site]++;
		for (uint64_t sector = first; sector <= last; sector += last > first ? last - first : 1) {
			s->sectors += is_new_to_warp(s, site, n, sector << 1);
			s->places_taken += is_new(s->places, PLACES, hash_number(sector << 1));
			if (!is_new_to_warp(s, site, n, sector / LINE << 1 | 1))
				continue;
			s->sectors += LINE;
			s->visits++;
			s->lines += is_new(s->places, PLACES, hash_number(sector / LINE << 1 | 1));
		}
		s->bytes += event->bytes;
		add_reach(s, event->address, event->bytes);
		accesses++;
	}
	s->accesses += accesses;
}

/* One warp of a group; not always the same one. */
static void add_group(struct sample *s, const struct launch_trace *trace, const struct traced_group *group, size_t number)
{
	uint32_t warps = (group->lane_count + LANES - 1) / LANES, first = warps ? (uint32_t)(number % warps) * LANES : 0;
	memset(s->table, 0, TABLE * sizeof *s->table);
	for (uint32_t i = first; i < group->lane_count && i < first + LANES; i++)
		add_lane(s, trace, &group->lanes[i]);
}

struct trace_glance trace_glance(const struct launch_trace *trace)
{
	struct sample s = {.table = calloc(TABLE, sizeof *s.table), .places = calloc(PLACES, sizeof *s.places),
	                   .executions = calloc(trace->site_count + 1, sizeof *s.executions)};
	size_t count = trace->group_count < GROUPS ? trace->group_count : GROUPS;
	for (size_t i = 0; s.table && s.places && s.executions && i < count; i++)
		add_group(&s, trace, &trace->groups[i * trace->group_count / count], i);
	free(s.table);
	free(s.places);
	free(s.executions);
	struct trace_glance glance = {.reach = reach_of(&s)};
	for (uint32_t a = 0; a < GLANCE_ARGUMENTS; a++)
		glance.extent[a] = s.high[(a + 1) % BUFFERS] - s.low[(a + 1) % BUFFERS];
	double spread = s.bytes ? (double)(s.places_taken * SECTOR) / (double)s.bytes : 1;
	glance.sectors = s.accesses ? (double)s.sectors / (double)s.accesses : 0;
	glance.spread = fmax(spread, 1);
	return glance;
}
