/* How often a memory instruction occupies the load/store unit, by GPGPU-Sim 4's rules for a GTX 480. */
#include "tests/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

enum { BANKS = 32, MOST_PIECES = ORACLE_WARP * 8 };

struct set {
	uint64_t members[MOST_PIECES];
	uint32_t count;
};

static void add(struct set *s, uint64_t member)
{
	for (uint32_t i = s->count; i--;)
		if (s->members[i] == member)
			return;
	if (s->count < MOST_PIECES)
		s->members[s->count++] = member;
}

/* The number of distinct pieces of `size` bytes that the lanes touch. */
static uint32_t pieces(const struct oracle_access *a, uint64_t size)
{
	struct set touched;
	touched.count = 0;
	for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
		uint64_t address = a->addresses[__builtin_ctz(rest)], end = address + (a->bytes ? a->bytes : 1) - 1;
		for (uint64_t piece = address / size; piece <= end / size; piece++)
			add(&touched, piece);
	}
	return touched.count;
}

/* Only the first word of a wide access counts. */
static uint32_t bank_conflicts(const struct oracle_access *a)
{
	struct set words;
	uint32_t in_bank[BANKS] = {0}, most = 0;
	words.count = 0;
	for (uint32_t rest = a->mask; rest; rest &= rest - 1)
		add(&words, a->addresses[__builtin_ctz(rest)] / 4);
	for (uint32_t i = 0; i < words.count; i++) {
		uint32_t n = ++in_bank[words.members[i] % BANKS];
		most = n > most ? n : most;
	}
	return most;
}

/* Lanes that update one address take turns. Lanes of a segment with different addresses go together. */
static uint32_t atomic_segments(const struct oracle_access *a)
{
	enum { SEGMENT = 32 };
	uint64_t segments[ORACLE_WARP];
	uint32_t turns[ORACLE_WARP], count = 0, sum = 0;
	for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
		uint64_t address = a->addresses[__builtin_ctz(rest)];
		uint32_t turn = 1, s = 0;
		for (uint32_t before = a->mask & ((rest & -rest) - 1); before; before &= before - 1)
			turn += a->addresses[__builtin_ctz(before)] == address;
		while (s < count && segments[s] != address / SEGMENT)
			s++;
		if (s == count) {
			segments[count++] = address / SEGMENT;
			turns[s] = 0;
		}
		turns[s] = turn > turns[s] ? turn : turns[s];
	}
	for (uint32_t s = 0; s < count; s++)
		sum += turns[s];
	return sum;
}

/* The words of all lanes lie together, so distinct words are distinct lines. */
static uint32_t local_lines(const struct oracle_access *a)
{
	return pieces(a, 4);
}

uint32_t oracle_gtx480_accesses(const struct oracle_access *a)
{
	switch (a->space) {
	case SPACE_shared: return bank_conflicts(a);
	case SPACE_param:
	case SPACE_const: return pieces(a, 64);
	case SPACE_local: return local_lines(a);
	default: break;
	}
	if (a->class == CODE_atomic)
		return atomic_segments(a);
	return pieces(a, a->bytes == 1 ? 32 : a->bytes == 2 ? 64 : 128);
}

/* The set of a line. GPGPU-Sim mixes higher bits of the address into it. */
static uint32_t set_of(uint64_t line)
{
	static const uint8_t bits[] = {13, 14, 15, 17, 19};
	uint64_t address = line * 128, mixed = 0;
	for (uint32_t i = 0; i < sizeof bits; i++)
		mixed |= (address >> bits[i] & 1) << i;
	return (uint32_t)((line ^ mixed) % ORACLE_L1_SETS);
}

/* Whether the line is cached. After a load it is cached, after a store it is not. */
static bool look_up(struct oracle_l1 *cache, uint64_t line, bool store)
{
	uint64_t *ways = cache->lines[set_of(line)];
	uint32_t way = 0;
	while (way < ORACLE_L1_WAYS && ways[way] != line + 1)
		way++;
	bool hit = way < ORACLE_L1_WAYS;
	if (store && hit) {
		memmove(&ways[way], &ways[way + 1], (ORACLE_L1_WAYS - 1 - way) * sizeof *ways);
		ways[ORACLE_L1_WAYS - 1] = 0;
	} else if (!store) {
		memmove(&ways[1], ways, (hit ? way : ORACLE_L1_WAYS - 1) * sizeof *ways);
		ways[0] = line + 1;
	}
	return hit;
}

uint32_t oracle_gtx480_wait(struct oracle_l1 *cache, const struct oracle_access *a)
{
	enum { MISS_CYCLES = 4, LINE = 128 };
	bool store = a->class == CODE_store, missed = false;
	if (a->space != SPACE_global || a->class == CODE_atomic)
		return 0;
	for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
		uint64_t address = a->addresses[__builtin_ctz(rest)];
		for (uint64_t line = address / LINE; line <= (address + a->bytes - 1) / LINE; line++)
			missed |= !look_up(cache, line, store);
	}
	return missed && !store ? MISS_CYCLES : 0;
}

static void add_part(struct memory_part *parts, uint32_t *count, uint64_t address, uint64_t part_bytes, uint64_t line_bytes,
                     uint32_t bytes)
{
	uint64_t line = address / line_bytes * line_bytes;
	uint32_t sector = (uint32_t)((address - line) / 32), n = 0;
	while (n < *count && (parts[n].address != line ||
	                      (part_bytes < line_bytes && !(parts[n].sectors >> sector & 1))))
		n++;
	if (n == ORACLE_PARTS)
		return;
	if (n == *count)
		parts[(*count)++] = (struct memory_part){.address = line};
	parts[n].sectors |= 1u << sector;
	parts[n].bytes = (uint16_t)(parts[n].bytes + bytes);
}

static int highest_first(const void *a, const void *b)
{
	const struct memory_part *x = a, *y = b;
	uint64_t at = x->address * 64 + x->sectors, other = y->address * 64 + y->sectors;
	return at < other ? 1 : at > other ? -1 : 0;
}

/* Lanes that write to one address count once. The accesses of a lane are split at sectors. */
static void add_lane(const struct oracle_access *a, uint32_t lane, uint64_t part_bytes, uint64_t line_bytes,
                     struct memory_part *parts, uint32_t *count)
{
	uint64_t address = a->addresses[lane], end = address + (a->bytes ? a->bytes : 1);
	bool again = false;
	for (uint32_t before = a->mask & ((1u << lane) - 1); before; before &= before - 1)
		again |= a->addresses[__builtin_ctz(before)] == address;
	while (address < end) {
		uint64_t next = (address / 32 + 1) * 32 < end ? (address / 32 + 1) * 32 : end;
		add_part(parts, count, address, part_bytes, line_bytes, again ? 0 : (uint32_t)(next - address));
		address = next;
	}
}

/* One part for each turn of a segment. */
static uint32_t atomic_parts(const struct oracle_access *a, uint64_t line_bytes, struct memory_part *parts)
{
	uint32_t count = 0;
	for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest), turn = 0, n = 0;
		uint64_t address = a->addresses[lane], line = address / line_bytes * line_bytes;
		uint32_t sector = 1u << (address - line) / 32;
		for (uint32_t before = a->mask & ((1u << lane) - 1); before; before &= before - 1)
			turn += a->addresses[__builtin_ctz(before)] == address;
		for (; n < count; n++)
			if (parts[n].address == line && parts[n].sectors == sector && !turn--)
				break;
		if (n == count)
			parts[count++] = (struct memory_part){.address = line, .sectors = sector, .lanes = 1};
		parts[n].bytes = (uint16_t)(parts[n].bytes + a->bytes);
	}
	return count;
}

uint32_t oracle_parts(const struct gpu *gpu, const struct oracle_access *a, struct memory_part *parts)
{
	uint32_t count = 0;
	uint64_t line = a->space == SPACE_param || a->space == SPACE_const ? gpu->const_access_bytes : gpu->l1_line_bytes;
	if (a->space == SPACE_shared)
		return 0;
	if (a->class == CODE_atomic)
		return atomic_parts(a, gpu->l1_line_bytes, parts);
	for (uint32_t rest = a->mask; rest; rest &= rest - 1)
		add_lane(a, (uint32_t)__builtin_ctz(rest), gpu->l1_access_bytes < line ? 32 : line, line, parts, &count);
	qsort(parts, count, sizeof *parts, highest_first);
	return count;
}
