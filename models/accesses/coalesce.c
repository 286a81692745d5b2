/*
 * Coalescing.
 *
 *   lanes are coalesced in passes, as many lanes as move coalesce_bytes together (0: all of the warp); of the lanes of a pass,
 *   those in one segment of l1_access_bytes share a part, and a part says which sectors of its line they touch; what is all
 *   in sectors that an earlier pass has brought needs no other part
 *   atomics: segments of atomic_access_bytes, and a lane whose bytes are taken already begins another part
 *   constants: segments of const_access_bytes
 * Sources: GPGPU-Sim 4, whole warps in lines of 128 bytes, less for bytes and halves (narrow_segments), and its atomics;
 * for GPUs with sectors, counters of an H200 (tests/reference/h200-counters.csv): a warp's lanes that read one sector count
 * it once (matmul-s, 16 lanes at each of two addresses: 2.0 sectors per request; nbody-s, 32 lanes at the same 16 bytes: 1.0),
 * and CUDA C programming guide: 8 lanes of 16 bytes at a time.
 */
#include "models/accesses/coalesce.h"

#include "models/util/bits.h"
#include "models/util/divide.h"
#include "models/util/minmax.h"

#include <string.h>

enum { SECTOR_BYTES = 32, MASK_WORDS = 2 };

struct pass {
	const struct gpu *gpu;
	bool atomic;
	uint64_t segment_bytes, line_bytes;
	struct memory_part *parts;
	uint64_t (*masks)[MASK_WORDS]; /* bytes of the segment that are touched, as far as the mask goes */
	uint64_t *segments;
	uint64_t low, high; /* of the segments */
	uint32_t first, count;
};

/* The first `count` bits. */
static uint64_t low_bits(uint64_t count)
{
	return count ? ~0ull >> (64 - count) : 0;
}

static void set_bits(uint64_t *mask, uint64_t first, uint64_t count)
{
	if (first + count <= 64) {
		mask[0] |= low_bits(count) << first;
		return;
	}
	for (uint64_t w = 0; w < MASK_WORDS; w++) {
		uint64_t low = first > w * 64 ? first - w * 64 : 0, high = first + count > w * 64 ? first + count - w * 64 : 0;
		high = high < 64 ? high : 64;
		if (low < high)
			mask[w] |= low_bits(high - low) << low;
	}
}

static bool meets(const uint64_t *a, const uint64_t *b)
{
	return a[0] & b[0] || a[1] & b[1];
}

static uint32_t sectors_of(const struct memory_part *part, uint64_t from, uint64_t to)
{
	uint64_t first = (from - part->address) / SECTOR_BYTES, last = (to - 1 - part->address) / SECTOR_BYTES;
	uint32_t sectors = 0;
	for (uint64_t s = first; s <= last && s < 32; s++)
		sectors |= 1u << s;
	return sectors;
}

/* Whether a part takes bytes of its segment in. */
static bool takes(const struct pass *p, uint32_t i, uint64_t from, uint64_t to, const uint64_t *bytes)
{
	if (i >= p->first)
		return !(p->atomic && meets(p->masks[i], bytes));
	return !(sectors_of(&p->parts[i], from, to) & ~p->parts[i].sectors);
}

static uint32_t find_part(struct pass *p, uint64_t segment, uint64_t from, uint64_t to, const uint64_t *bytes)
{
	/* Lanes mostly go up or down: one beyond all before has no part. */
	if (segment >= p->low && segment <= p->high)
		for (uint32_t i = p->count; i-- > 0;)
			if (p->segments[i] == segment && takes(p, i, from, to, bytes))
				return i;
	if (p->count == COALESCE_MOST_PARTS)
		return p->count - 1;
	uint32_t n = p->count++;
	uint64_t address = segment * p->segment_bytes;
	p->segments[n] = segment;
	p->low = min_u64(p->low, segment);
	p->high = max_u64(p->high, segment);
	memset(p->masks[n], 0, sizeof p->masks[n]);
	p->parts[n] = (struct memory_part){.address = address - remainder_by(address, p->line_bytes)};
	return n;
}

/* Addresses from expressions may be anything: those at the end of all would go round. */
static void add_lane(struct pass *p, uint64_t address, uint64_t bytes)
{
	address &= UINT64_MAX / 2;
	uint64_t end = address + (bytes ? bytes : 1);
	for (uint64_t at = address; at < end;) {
		uint64_t segment = quotient(at, p->segment_bytes), begin = segment * p->segment_bytes;
		uint64_t stop = end < begin + p->segment_bytes ? end : begin + p->segment_bytes, mask[MASK_WORDS] = {0};
		set_bits(mask, at - begin, stop - at);
		uint32_t n = find_part(p, segment, at, stop, mask);
		p->parts[n].sectors |= sectors_of(&p->parts[n], at, stop);
		for (int w = 0; w < MASK_WORDS; w++)
			p->masks[n][w] |= mask[w];
		p->parts[n].lanes++;
		at = stop;
	}
}

static uint64_t or_else(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

static uint64_t segment_of(const struct gpu *gpu, const struct access_kind *kind)
{
	if (kind->space == SPACE_const)
		return or_else(gpu->const_access_bytes, 64);
	if (kind->atomic)
		return or_else(gpu->atomic_access_bytes, 32);
	if (gpu->narrow_segments && kind->bytes <= 2)
		return kind->bytes == 2 ? 64 : 32;
	return or_else(gpu->l1_access_bytes, 128);
}

static uint32_t lanes_of_pass(const struct gpu *gpu, const struct access_kind *kind, uint32_t lanes)
{
	uint64_t together = gpu->coalesce_bytes && kind->bytes ? gpu->coalesce_bytes / kind->bytes : lanes;
	return kind->atomic || kind->space == SPACE_const || together >= lanes ? lanes : together ? (uint32_t)together : 1;
}

uint32_t coalesce(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, uint32_t lanes,
                  struct memory_part *parts)
{
	uint64_t masks[COALESCE_MOST_PARTS][MASK_WORDS], segments[COALESCE_MOST_PARTS];
	struct pass p = {.gpu = gpu, .atomic = kind->atomic, .parts = parts, .masks = masks, .segments = segments,
	                 .low = UINT64_MAX};
	p.segment_bytes = segment_of(gpu, kind);
	p.line_bytes = kind->space == SPACE_const ? p.segment_bytes : or_else(gpu->l1_line_bytes, p.segment_bytes);
	lanes = lanes < COALESCE_MOST_LANES ? lanes : COALESCE_MOST_LANES;
	uint32_t step = lanes ? lanes_of_pass(gpu, kind, lanes) : 1;
	for (uint32_t i = 0; i < lanes; i++) {
		if (i % step == 0)
			p.first = p.count;
		add_lane(&p, addresses[i], kind->bytes);
	}
	for (uint32_t i = 0; i < p.count; i++) {
		uint32_t touched = bits_set(masks[i][0]) + bits_set(masks[i][1]);
		parts[i].bytes = (uint16_t)touched;
		parts[i].lanes = kind->atomic ? parts[i].lanes : 0;
	}
	return p.count;
}
