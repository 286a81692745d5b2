/* See decode.h. */
#include "analysis/sass/decode.h"

#include <string.h>

struct encoding {
	uint16_t bits;
	const char *name, *operands;
};

#define ENC(bits, name, operands) {bits, #name, operands},
static const struct encoding encodings[] = {
#include "analysis/sass/encodings.def"
};
#undef ENC

enum { BASE_BITS = 0x1ff };
enum { PROGRAM_BANK = 3 }; /* of constants: __constant__ */

static const struct encoding *find_encoding(uint16_t opcode)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(encodings); i++)
		if (encodings[i].bits == (opcode & BASE_BITS))
			return &encodings[i];
	return NULL;
}

struct word {
	uint64_t low, high;
};

static uint64_t load(const uint8_t *at)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < 8; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

/* Up to 32 bits of the instruction. */
static uint32_t field(const struct word *w, unsigned first, unsigned count)
{
	uint64_t bits = first >= 64 ? w->high >> (first - 64) : w->low >> first;
	if (first < 64 && first + count > 64)
		bits |= w->high << (64 - first);
	return (uint32_t)(bits & ((UINT64_C(1) << count) - 1));
}

/* ---- control flow ---- */

/* Bits 34 to 81 are a distance in words of 4 bytes from the next instruction. From sm_90 on, branches and calls have its lowest eight bits
 * in 16 to 23. */
static int64_t find_target(const struct word *w, unsigned arch, uint64_t at, bool split)
{
	uint64_t bits = (w->low >> 34 | w->high << 30) & ((UINT64_C(1) << 48) - 1);
	int64_t distance = (int64_t)(bits << 16) >> 16;
	if (split && arch >= 90)
		distance = (int64_t)((uint64_t)distance << 8 | field(w, 16, 8));
	int64_t target = (int64_t)((uint64_t)at + 16 + ((uint64_t)distance << 2));
	return target >= 0 ? target : -1;
}

enum { BRANCH_DIV = 2 }; /* bits 32 and 33 of BRA: 1 is .U */
enum { TRAPS = 0x15c };  /* BPT */

static void find_flow(const struct word *w, unsigned arch, uint64_t at, struct sass_instruction *out)
{
	static const struct {
		uint16_t bits;
		uint8_t flow;
		bool has_target, split;
	} flows[] = {
		{0x147, SASS_BRANCHES, true, true}, {0x14a, SASS_JUMPS, false, false}, {0x149, SASS_JUMPS, false, false}, {0x14c, SASS_JUMPS, false, false},
		{0x144, SASS_CALLS, true, true},    {0x143, SASS_CALLS, false, false}, {0x14d, SASS_ENDS, false, false},  {0x150, SASS_ENDS, false, false},
		{0x15b, SASS_ENDS, false, false},   {0x15c, SASS_ENDS, false, false},  {0x145, SASS_GATHERS, true, false},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(flows); i++)
		if (flows[i].bits == (out->opcode & BASE_BITS)) {
			out->flow = flows[i].flow;
			out->target = flows[i].has_target ? find_target(w, arch, at, flows[i].split) : -1;
			out->for_parted = out->flow == SASS_BRANCHES && field(w, 32, 2) == BRANCH_DIV;
			bool operand = flows[i].bits != TRAPS && field(w, 87, 4) != SASS_PT;
			out->conditional = out->for_parted || out->predicate != SASS_PT || out->negated || operand;
		}
}

/* ---- registers ---- */

enum { PLACE_D = 16, PLACE_A = 24, PLACE_B = 32, PLACE_C = 64 };

static void add_read(const struct word *w, struct sass_instruction *out, unsigned place, unsigned count)
{
	uint32_t first = field(w, place, 8), slot = place == PLACE_A ? 0 : place == PLACE_B ? 1 : 2;
	if (out->reuse >> slot & 1 && out->reads < 8 && first != SASS_RZ && place != PLACE_D)
		out->kept |= (uint8_t)(1u << out->reads);
	for (unsigned i = 0; i < count && first != SASS_RZ && first + i < SASS_RZ && out->reads < SASS_MOST_REGISTERS; i++)
		out->registers[out->reads++] = (uint8_t)(first + i);
}

/* What bits 9 to 11 say: B and C are registers in Rb and Rc (1); or one of the two is an immediate, a constant or a uniform register, which
 * takes bits 32 to 63, and the other is in Rc: C is that operand in forms 2, 3 and 7, B in the others. */
static void add_sources(const struct word *w, const char *operands, struct sass_instruction *out)
{
	unsigned form = out->opcode >> 9, stored = out->bytes > 4 ? out->bytes / 4 : 1;
	bool own = strchr(operands, 'x'), third = strpbrk(operands, "cC");
	bool other_is_c = form == 2 || form == 3 || form == 7;
	for (const char *o = operands; *o; o++) {
		unsigned count = *o >= 'A' && *o <= 'Z' ? 2 : 1;
		switch (*o) {
		case 'a':
		case 'A':
			add_read(w, out, PLACE_A, count);
			break;
		case 's':
			add_read(w, out, PLACE_B, stored);
			break;
		case 't':
			add_read(w, out, form == 1 ? PLACE_C : PLACE_B, stored);
			break;
		case 'e':
			add_read(w, out, PLACE_D, 1);
			break;
		case 'h':
			if (form == 1 || form == 2)
				add_read(w, out, PLACE_B, 1);
			if (form == 1 || form == 4)
				add_read(w, out, PLACE_C, 1);
			break;
		case 'b':
		case 'B':
			if (own ? form != 7 : form == 1)
				add_read(w, out, PLACE_B, count);
			else if (other_is_c && third)
				add_read(w, out, PLACE_C, count);
			break;
		case 'c':
		case 'C':
			if (own || !other_is_c)
				add_read(w, out, PLACE_C, count);
			break;
		}
	}
}

static void add_results(const struct word *w, const char *operands, struct sass_instruction *out)
{
	bool wide = strchr(operands, 'D'), loaded = strchr(operands, 'm');
	out->result = (uint8_t)field(w, 16, 8);
	if (out->result != SASS_RZ && (wide || loaded || strchr(operands, 'd')))
		out->results = (uint8_t)(loaded && out->bytes > 4 ? out->bytes / 4 : wide ? 2 : 1);
}

/* Where bits 9 to 11 say that an operand is a constant (3 and 5) or a uniform register (6 and 7), bits 32 to 63 say which. LDC and ULDC name a constant anyway. */
static void add_other_operand(const struct word *w, const char *operands, struct sass_instruction *out)
{
	unsigned form = out->opcode >> 9, base = out->opcode & BASE_BITS;
	bool loads_constant = base == 0x182 || base == 0x0b9, own = strchr(operands, 'x');
	if ((loads_constant || (!own && (form == 3 || form == 5))) && field(w, 54, 5) == 0)
		out->constant = (int32_t)field(w, 38, 16);
	out->indexed = base == 0x0bb && field(w, 54, 5) == PROGRAM_BANK;
	if (!own && (form == 6 || form == 7))
		out->uniform = (uint8_t)field(w, 32, 6);
	if (out->bytes && !loads_constant)
		out->offset = (int32_t)(field(w, 40, 24) << 8) >> 8;
}

void sass_decode(const uint8_t *at, unsigned arch, uint64_t offset, struct sass_instruction *out)
{
	static const uint8_t sizes[8] = {1, 1, 2, 2, 4, 8, 16, 4};
	struct word w = {load(at), load(at + 8)};
	*out = (struct sass_instruction){.opcode = (uint16_t)field(&w, 0, 12),
	                                 .predicate = (uint8_t)field(&w, 12, 3),
	                                 .negated = field(&w, 15, 1),
	                                 .stall = (uint8_t)field(&w, 105, 4),
	                                 .yield = !field(&w, 109, 1),
	                                 .write_barrier = (uint8_t)field(&w, 110, 3),
	                                 .read_barrier = (uint8_t)field(&w, 113, 3),
	                                 .wait_mask = (uint8_t)field(&w, 116, 6),
	                                 .reuse = (uint8_t)field(&w, 122, 3),
	                                 .target = -1,
	                                 .constant = -1,
	                                 .uniform = SASS_URZ};
	const struct encoding *e = find_encoding(out->opcode);
	find_flow(&w, arch, offset, out);
	if (!e)
		return;
	out->name = e->name;
	if (strchr(e->operands, 'w'))
		out->bytes = sizes[field(&w, 73, 3)];
	if (!strcmp(e->name, "S2R"))
		out->special = (uint8_t)field(&w, 72, 8);
	if (!strcmp(e->name, "DEPBAR"))
		out->special = (uint8_t)field(&w, 38, 6);
	add_other_operand(&w, e->operands, out);
	add_sources(&w, e->operands, out);
	add_results(&w, e->operands, out);
}
