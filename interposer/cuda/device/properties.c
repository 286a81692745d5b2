#include "interposer/cuda/device/properties.h"

#include "interposer/cuda/device/limits.h"

#include <stdio.h>
#include <string.h>

struct device_facts {
	int major, minor;
	struct size_limits grid, block;
	int clock_khz, memory_clock_khz, memory_bus_bits;
	int double_ratio; /* of single to double precision's speed */
	bool stacked;     /* memory of HBM, which has error correction */
	int persisting_l2, window; /* bytes of L2 that may be set aside, and of memory that an access policy is for */
	size_t memory_bytes;
};

static void fill_facts(struct device_facts *d, const struct gpu *g, size_t memory_bytes)
{
	int capability = limit_capability(g);
	*d = (struct device_facts){.major = capability / 10,
	                           .minor = capability % 10,
	                           .grid = limit_grid(g),
	                           .block = limit_block(g),
	                           .memory_bytes = memory_bytes};
	d->clock_khz = (int)(g->clock_mhz * 1000 + 0.5);
	/* Stacked memory has 128 bits per channel, other memory 64 or less. Programs compute the bandwidth from clock and width, at
	 * two transfers per cycle, so that the clock follows from the bandwidth. */
	d->stacked = g->dram_gbps > 650;
	d->memory_bus_bits = (int)g->dram_channels * (d->stacked ? 128 : 64);
	/* as an H200 has it: 5 eighths of L2 */
	d->persisting_l2 = capability < 80 ? 0 : (int)(g->l2_bytes / 8 * 5);
	d->window = capability < 80 ? 0 : 128 << 20;
	d->memory_clock_khz = (int)(g->dram_gbps * 1e9 * 8 / 2 / d->memory_bus_bits / 1e3 + 0.5);
	double fp64 = (g->fp64_units ? g->fp64_units : g->sfu_units) / g->fp64_fma_initiation;
	double ratio = g->fp32_units / g->fp32_fma_initiation / fp64;
	d->double_ratio = ratio < 1 ? 1 : (int)(ratio + 0.5);
}

/* ---- properties ---- */

/* Members follow one another. Without `at`, only their offsets are computed. */
struct layout {
	char *at;
	size_t offset, last; /* where the next one may begin, and where the last one did */
};

static void put(struct layout *l, const void *value, size_t bytes, size_t alignment)
{
	l->last = (l->offset + alignment - 1) / alignment * alignment;
	if (l->at)
		memcpy(l->at + l->last, value, bytes);
	l->offset = l->last + bytes;
}

#define PUT_int(...) put(l, (int[]){__VA_ARGS__}, sizeof(int[]){__VA_ARGS__}, sizeof(int))
#define PUT_size_t(...) put(l, (size_t[]){__VA_ARGS__}, sizeof(size_t[]){__VA_ARGS__}, sizeof(size_t))
#define PUT_name256(...) put(l, title, sizeof title, 1)
#define PUT_uuid16(...) put(l, uuid, sizeof uuid, 1)
#define PUT_luid8(...) put(l, (char[8]){0}, 8, 1)

/* Puts all members, or those up to `until`. False: it was not found. */
static bool put_members(struct layout *l, int version, const struct gpu *g, const struct device_facts *d, const char *until)
{
	char title[256] = {0};
	uint64_t uuid[2] = {gs_hash(g->name, strlen(g->name)), gs_hash(g->title, strlen(g->title))};
	snprintf(title, sizeof title, "%s", g->title);
#define PROPERTY(type, member, first, last, ...) \
	if (version >= first && version <= last) { \
		PUT_##type(__VA_ARGS__); \
		if (until && !strcmp(until, #member)) \
			return true; \
	}
#include "interposer/cuda/device/properties.def"
#undef PROPERTY
	return false;
}

void properties_fill(void *out, int version, const struct gpu *g, size_t memory_bytes)
{
	struct device_facts d;
	fill_facts(&d, g, memory_bytes);
	put_members(&(struct layout){.at = out}, version, g, &d, NULL);
}

long properties_offset(const char *member, int version)
{
	static const struct gpu none;
	static const struct device_facts nothing;
	struct layout l = {0};
	return put_members(&l, version, &none, &nothing, member) ? (long)l.last : -1;
}

/* ---- attributes ---- */

bool properties_attribute(int number, const struct gpu *g, int *out)
{
	enum { MOST = 147 }; /* of CUDA 13 */
	struct device_facts facts;
	const struct device_facts *d = &facts;
	fill_facts(&facts, g, 0);
	switch (number) {
#define ATTRIBUTE(number, answer) \
	case number: \
		*out = answer; \
		break;
#include "interposer/cuda/device/attributes.def"
#undef ATTRIBUTE
	default:
		*out = 0;
	}
	return number >= 1 && number <= MOST;
}
