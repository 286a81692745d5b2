/*
 * Addresses computed along a path.
 *
 *   a value = a known part + scale * (a number below range that is not known, named by a hash)
 * The known part goes through all operations as the target computes them. Of the unknown one, sums keep it, products and shifts scale it,
 * masks and remainders bound it; anything else gives a new one, named by the operands. So x[i[k] + 1] is the neighbour of x[i[k]],
 * i[k] & 255 is one of 256, and lanes that load the same place go to the same place.
 */
#include "models/accesses/computer.h"

#include "models/accesses/image.h"
#include "models/accesses/operation.h"
#include "models/util/hash.h"
#include "models/util/minmax.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 64 }; /* as REPLAY_MOST_LANES of models/warps/replay.h */
#define ARGUMENT_SHIFT 40 /* memory of argument a begins at (a + 1) << 40 */
#define CONSTANTS_BASE (1ull << 39)
#define MOST_RANGE (1ull << 62)

/* What is not known of a value. */
struct unknown {
	uint64_t hash; /* 0: all is known */
	uint64_t scale, range;
	double position; /* of what was loaded: where in its buffer it was, from 0 to 1 */
};

struct step_slot {
	uint64_t value[LANES];
	struct unknown unknown[LANES];
	uint64_t unknown_lanes; /* a bit for each whose value is not all known */
};

struct address_computer {
	const struct kernel_code *code;
	const struct launch_arguments *launch;
	const uint16_t *usual;
	struct step_slot *slots;
	uint32_t slot_count;
	uint32_t *first_step; /* per instruction: the first of its steps */
	uint32_t *number;     /* per instruction: among those that access memory */
	struct found {
		uint64_t addresses[LANES], known; /* a bit for each lane that has one */
	} *found;             /* per such instruction */
	uint64_t *executions; /* per block, by this warp */
	bool *drawn;
	uint64_t footprint;   /* bytes of all memory that arguments point to */
	uint64_t group, group_items, first;
	uint32_t lanes;
	uint64_t id[3], tid[LANES][3];
};

static uint64_t blend(uint64_t a, uint64_t b)
{
	return hash_number(a * 3 + hash_number(b + 0x5851f42d4c957f2du)) | 1;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) || product > MOST_RANGE ? MOST_RANGE : product;
}

static uint64_t range_of(unsigned bits)
{
	return bits >= 62 ? MOST_RANGE : 1ull << bits;
}

static struct unknown anything(uint64_t hash, unsigned bits)
{
	return (struct unknown){.hash = hash | 1, .scale = 1, .range = range_of(bits)};
}

/* ---- operations on what is not known ---- */

struct operand {
	uint64_t value;
	struct unknown unknown;
};

/* A new unknown, the same wherever the operands are. */
static struct operand mixed(const struct code_node *n, const struct operand *o)
{
	uint64_t hash = n->op;
	for (int k = 0; k < 3; k++)
		hash = blend(blend(hash, o[k].value), o[k].unknown.hash);
	return (struct operand){0, anything(hash, n->to_bits)};
}

static struct operand sum(const struct operand *a, const struct operand *b)
{
	struct operand out = {0, a->unknown.hash ? a->unknown : b->unknown};
	if (a->unknown.hash && b->unknown.hash) {
		out.unknown.hash = blend(a->unknown.hash, b->unknown.hash);
		out.unknown.scale = min_u64(a->unknown.scale, b->unknown.scale);
		out.unknown.range = max_u64(a->unknown.range, b->unknown.range);
	}
	return out;
}

/* Times a number that is known. */
static struct unknown scaled(struct unknown u, uint64_t by, unsigned bits)
{
	if (bits < 64 && by >> (bits - 1)) /* negative numbers lead as far */
		by = operation_cut(0 - by, bits);
	u.scale = times(u.scale, by);
	return by ? u : (struct unknown){.hash = 0};
}

/* Divided by a number that is known. */
static struct unknown divided(struct unknown u, uint64_t by)
{
	if (by && u.scale % by == 0) {
		u.scale /= by;
		return u;
	}
	u.range = max_u64(times(u.range, u.scale) / (by ? by : 1), 1);
	u.scale = 1;
	return u;
}

/* Of which only what is below a bound is left. What was known goes into the name. */
static struct operand bounded(const struct operand *a, uint64_t scale, uint64_t range)
{
	struct operand out = *a;
	if (a->value)
		out.unknown.hash = blend(a->unknown.hash, a->value);
	out.value = 0;
	out.unknown.scale = scale ? scale : 1;
	out.unknown.range = max_u64(min_u64(range, times(a->unknown.range, a->unknown.scale) / out.unknown.scale), 1);
	return out;
}

static struct operand operate_bits(const struct code_node *n, const struct operand *o)
{
	const struct operand *with = o[0].unknown.hash ? &o[0] : &o[1];
	uint64_t mask = o[0].unknown.hash ? o[1].value : o[0].value;
	if (o[0].unknown.hash && o[1].unknown.hash)
		return mixed(n, o);
	if (n->op == NODE_and && !mask)
		return (struct operand){0};
	if (n->op == NODE_and) {
		uint64_t lowest = mask & (0 - mask);
		return bounded(with, max_u64(lowest, with->unknown.scale), min_u64(mask, MOST_RANGE) / max_u64(lowest, with->unknown.scale) + 1);
	}
	if (mask < with->unknown.scale) /* as a sum: the bits are free */
		return (struct operand){with->value | mask, with->unknown};
	return mixed(n, o);
}

static struct operand operate(const struct code_node *n, const struct operand *o)
{
	uint64_t value = operation_value(n, o[0].value, o[1].value, o[2].value);
	struct operand out;
	if (!o[0].unknown.hash && !o[1].unknown.hash && !o[2].unknown.hash)
		return (struct operand){n->op == NODE_mix ? 0 : value,
		                        n->op == NODE_mix ? mixed(n, o).unknown : (struct unknown){.hash = 0}};
	switch (n->op) {
	case NODE_add:
	case NODE_sub:
		out = sum(&o[0], &o[1]);
		break;
	case NODE_neg:
	case NODE_cvt:
		out.unknown = o[0].unknown;
		break;
	case NODE_mul:
	case NODE_mad:
		if (o[0].unknown.hash && o[1].unknown.hash)
			return mixed(n, o);
		out.unknown = o[0].unknown.hash   ? scaled(o[0].unknown, o[1].value, n->from_bits)
		              : o[1].unknown.hash ? scaled(o[1].unknown, o[0].value, n->from_bits) : o[0].unknown;
		if (n->op == NODE_mad)
			out = sum(&(struct operand){0, out.unknown}, &o[2]);
		break;
	case NODE_shl:
	case NODE_shr:
	case NODE_div:
		if (o[1].unknown.hash)
			return mixed(n, o);
		out.unknown = n->op == NODE_div   ? divided(o[0].unknown, o[1].value)
		              : n->op == NODE_shl ? scaled(o[0].unknown, 1ull << (o[1].value & 63), 64)
		                                  : divided(o[0].unknown, 1ull << (o[1].value & 63));
		break;
	case NODE_rem:
		return o[1].unknown.hash ? mixed(n, o) : bounded(&o[0], o[0].unknown.scale, max_u64(o[1].value / o[0].unknown.scale, 1));
	case NODE_min: /* clamped to what is there: the other bound is what draws keep to */
	case NODE_max:
		return o[0].unknown.hash ? o[0] : o[1];
	case NODE_and:
	case NODE_or:
	case NODE_xor:
		return operate_bits(n, o);
	case NODE_select:
		return (o[2].unknown.hash ? o[2].unknown.hash >> 32 & 1 : o[2].value) ? o[0] : o[1];
	default:
		return mixed(n, o);
	}
	out.value = value;
	out.unknown.range = min_u64(out.unknown.range, range_of(n->to_bits));
	return out;
}

/* ---- memory ---- */

/* The argument whose memory an address is in, or -1. Addresses somewhat before it belong to it. */
static int64_t argument_of(const struct address_computer *c, uint64_t address)
{
	uint64_t number = (address + (1ull << (ARGUMENT_SHIFT - 1))) >> ARGUMENT_SHIFT;
	return number >= 1 && number <= c->launch->count ? (int64_t)number - 1 : -1;
}

static uint64_t bytes_of(const struct address_computer *c, int64_t argument)
{
	return argument >= 0 && c->launch->bytes ? min_u64(argument_memory(c->launch->bytes[argument]), CONSTANTS_BASE) : 0;
}

static uint64_t base_of(int64_t argument)
{
	return (uint64_t)(argument + 1) << ARGUMENT_SHIFT;
}

/* A byte of all memory that arguments point to, one after the other. */
static uint64_t place_in_footprint(const struct address_computer *c, uint64_t offset)
{
	for (int64_t a = 0; a < (int64_t)c->launch->count && c->footprint; a++) {
		uint64_t bytes = bytes_of(c, a);
		if (offset < bytes)
			return base_of(a) + offset;
		offset -= bytes;
	}
	return base_of(0) + offset;
}

static uint64_t alignment(uint64_t bytes)
{
	uint64_t lowest = bytes & (0 - bytes);
	return lowest ? min_u64(lowest, 16) : 1;
}

/* An offset that is not known all, brought into `size` bytes. */
static uint64_t draw(const struct operand *o, int64_t offset, uint64_t size, uint64_t bytes, bool in_list)
{
	uint64_t scale = max_u64(o->unknown.scale, 1), count = max_u64(min_u64(o->unknown.range, size / scale), 1);
	uint64_t number = in_list ? (uint64_t)(o->unknown.position * (double)(size / scale)) : hash_number(o->unknown.hash >> 1) % count;
	int64_t place = (int64_t)((uint64_t)offset + number * scale) % (int64_t)size;
	place = place < 0 ? place + (int64_t)size : place;
	return (uint64_t)place / alignment(bytes) * alignment(bytes);
}

/* Without sizes of buffers: as much as if every work-item had some bytes of its own. */
static uint64_t usual_size(const struct address_computer *c, uint32_t bytes)
{
	const uint64_t *g = c->launch->groups;
	return max_u64(c->footprint, times(times(times(g[0], g[1]), g[2]), c->group_items * bytes));
}

/* Where the access of a lane goes; false: not known. */
static bool find_address(struct address_computer *c, uint32_t instruction, const struct operand *o, uint64_t *out)
{
	const struct code_instruction *in = &c->code->code[instruction];
	int64_t argument = argument_of(c, o->value);
	uint64_t size = bytes_of(c, argument);
	/* Paths from counters may lead a lane over a border that it did not cross: neighbours of the buffer do as well, and keep moving. */
	bool outside = size && o->value - base_of(argument) + size >= 3 * size;
	*out = o->value;
	if (in->space == SPACE_shared)
		return !o->unknown.hash;
	if (in->space == SPACE_local) {
		size = max_u64(c->code->local_bytes, 4);
		*out = o->unknown.hash ? draw(o, (int64_t)o->value, size, in->bytes, false) : o->value % size;
		return true;
	}
	c->drawn[instruction] |= o->unknown.hash || outside;
	if (argument < 0 && !o->unknown.hash)
		*out = o->value < CONSTANTS_BASE && in->space != SPACE_generic ? CONSTANTS_BASE + o->value : o->value;
	else if (argument < 0) /* a pointer that was loaded */
		*out = place_in_footprint(c, draw(o, (int64_t)o->value, max_u64(usual_size(c, in->bytes), 1), in->bytes, false));
	else if (o->unknown.hash || outside)
		*out = base_of(argument) + draw(o, (int64_t)(o->value - base_of(argument)), size ? size : max_u64(usual_size(c, in->bytes), 1),
		                                in->bytes, o->unknown.hash && c->usual && c->usual[instruction] == ACCESSES_OF_LIST);
	return true;
}

/* What is at the address of the instruction. Shared and private memory change as the warp goes on; of atomics, lanes get one number
 * after the other. */
static struct operand content(const struct address_computer *c, const struct code_step *s, uint32_t block, uint32_t lane, uint32_t rank)
{
	const struct code_instruction *in = &c->code->code[s->instruction];
	const struct found *f = &c->found[c->number[s->instruction]];
	uint64_t address = f->known >> lane & 1 ? f->addresses[lane] : lane, salt = (uint64_t)s->node.value;
	int64_t argument = argument_of(c, address);
	struct operand out = {.value = 0};
	if (in->space == SPACE_shared || in->space == SPACE_local || !(f->known >> lane & 1))
		salt += blend(c->group, c->executions[block] + 1);
	if (in->space == SPACE_local || !(f->known >> lane & 1))
		salt += blend(c->first, lane);
	if (in->class == CODE_atomic) {
		salt += blend(blend(c->group, c->first), c->executions[block] + 1);
		out.value = rank;
	}
	out.unknown = anything(blend(address, salt), s->node.to_bits);
	uint64_t size = bytes_of(c, argument);
	if (size)
		out.unknown.position = min_double((double)(address - base_of(argument)) / (double)size, 1);
	return out;
}

/* ---- steps ---- */

static uint64_t leaf_of(const struct address_computer *c, const struct code_node *n, uint32_t lane, struct unknown *unknown)
{
	size_t d = (size_t)(n->value < 0 || n->value > 2 ? 0 : n->value);
	const struct launch_arguments *l = c->launch;
	switch (n->op) {
	case NODE_value:
		return (uint64_t)n->value;
	case NODE_tid:
		return c->tid[lane][d];
	case NODE_ntid:
		return l->local[d];
	case NODE_ctaid:
		return c->id[d];
	case NODE_nctaid:
		return l->groups[d];
	case NODE_param:
		if (n->value >= 0 && n->value < l->count && l->known[n->value])
			return l->values[n->value];
		*unknown = anything(blend(1, (uint64_t)n->value), n->to_bits);
		return 0;
	case NODE_uniform:
		*unknown = anything(blend(2, (uint64_t)n->value), n->to_bits);
		return 0;
	default:
		*unknown = anything(blend(c->group, c->first + lane + 1), n->to_bits);
		return 0;
	}
}

static void set(struct step_slot *s, uint32_t lane, const struct operand *o)
{
	s->value[lane] = o->value;
	s->unknown[lane] = o->unknown;
	s->unknown_lanes = (s->unknown_lanes & ~(1ull << lane)) | (uint64_t)(o->unknown.hash != 0) << lane;
}

static struct operand get(const struct address_computer *c, int32_t slot, uint32_t lane)
{
	static const struct operand none;
	if (slot < 0)
		return none;
	const struct step_slot *s = &c->slots[slot];
	return (struct operand){s->value[lane], s->unknown_lanes >> lane & 1 ? s->unknown[lane] : none.unknown};
}

static uint64_t unknown_lanes(const struct address_computer *c, int32_t slot)
{
	return slot < 0 ? 0 : c->slots[slot].unknown_lanes;
}

/* All lanes at once where all of their values are known, which is most of the time. */
static void step_known(struct address_computer *c, const struct code_step *s, uint64_t mask)
{
	static const uint64_t none[LANES];
	const struct code_node *n = &s->node;
	const uint64_t *a = n->a < 0 ? none : c->slots[n->a].value, *b = n->b < 0 ? none : c->slots[n->b].value;
	const uint64_t *third = n->c < 0 ? none : c->slots[n->c].value;
	struct step_slot *to = &c->slots[s->slot];
	for (uint64_t left = mask; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(left);
		to->value[lane] = operation_value(n, a[lane], b[lane], third[lane]);
	}
	to->unknown_lanes &= ~mask;
}

static void step_unknown(struct address_computer *c, const struct code_step *s, uint32_t block, uint64_t mask)
{
	uint32_t rank = 0;
	for (uint64_t left = mask; left; left &= left - 1, rank++) {
		uint32_t lane = (uint32_t)__builtin_ctzll(left);
		struct operand operands[3] = {get(c, s->node.a, lane), get(c, s->node.b, lane), get(c, s->node.c, lane)};
		struct operand value = s->node.op == NODE_content ? content(c, s, block, lane, rank) : operate(&s->node, operands);
		set(&c->slots[s->slot], lane, &value);
	}
}

static void step_address(struct address_computer *c, const struct code_step *s, uint64_t mask)
{
	struct found *f = &c->found[c->number[s->instruction]];
	f->known = 0;
	for (uint64_t left = mask; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(left);
		struct operand operands[3] = {get(c, s->node.a, lane), get(c, s->node.b, lane), {.value = 0}};
		struct operand address = operate(&s->node, operands);
		f->known |= (uint64_t)find_address(c, s->instruction, &address, &f->addresses[lane]) << lane;
	}
}

void computer_execute(struct address_computer *c, uint32_t block, uint64_t mask)
{
	const struct code_block *b = &c->code->blocks[block];
	for (uint32_t i = c->first_step[b->first]; i < c->first_step[b->first + b->count]; i++) {
		const struct code_step *s = &c->code->steps[i];
		if (s->slot < 0)
			step_address(c, s, mask);
		else if (s->node.op == NODE_content || s->node.op == NODE_mix ||
		         (unknown_lanes(c, s->node.a) | unknown_lanes(c, s->node.b) | unknown_lanes(c, s->node.c)) & mask)
			step_unknown(c, s, block, mask);
		else
			step_known(c, s, mask);
	}
	c->executions[block]++;
}

/* The image that an instruction takes: one after the other, of those that are written, or that are not. -1: none is known. */
static int64_t image_of(const struct address_computer *c, uint32_t instruction, struct image_shape *out)
{
	bool store = c->code->code[instruction].class == CODE_store;
	uint32_t before = 0, count = 0;
	for (uint32_t i = 0; i < instruction && !store; i++)
		before += c->code->code[i].class == CODE_texture;
	for (uint32_t pass = 0; pass < 2; pass++, before = count ? before % count : 0) {
		uint32_t n = 0;
		for (uint32_t a = 0; a < c->launch->count && c->launch->bytes; a++)
			if (image_shape_of(c->launch->bytes[a], out) && out->written == store && n++ == before && pass)
				return a;
		count = n;
	}
	return -1;
}

/* Images: the code does not show where. Neighbours read neighbouring texels, and the launch all of the image. */
static bool image_address(const struct address_computer *c, uint32_t instruction, uint32_t lane, uint64_t *address)
{
	struct image_shape s;
	int64_t image = image_of(c, instruction, &s);
	if (image >= 0) {
		uint64_t size[3] = {s.width, s.height, max_u64(s.depth, 1)}, at[3];
		for (int d = 0; d < 3; d++) {
			uint64_t all = max_u64(times(c->launch->groups[d], c->launch->local[d]), 1);
			at[d] = (uint64_t)((double)(c->id[d] * c->launch->local[d] + c->tid[lane][d]) * (double)size[d] / (double)all);
			at[d] = min_u64(at[d], size[d] - 1);
		}
		*address = base_of(image) + image_place(&s, (at[2] * size[1] + at[1]) * size[0] + at[0]);
		c->drawn[instruction] = true;
		return true;
	}
	uint32_t bytes = c->code->code[instruction].bytes ? c->code->code[instruction].bytes : 4;
	uint64_t item = c->group * c->group_items + c->first + lane;
	*address = place_in_footprint(c, item * bytes % max_u64(usual_size(c, bytes), 1));
	c->drawn[instruction] = true;
	return true;
}

bool computer_address(const struct address_computer *c, uint32_t instruction, uint32_t lane, uint64_t *address)
{
	if (c->code->code[instruction].space == SPACE_texture)
		return image_address(c, instruction, lane, address);
	if (c->code->code[instruction].flags & CODE_EXPANDED || c->first_step[instruction] == c->first_step[instruction + 1])
		return false;
	const struct found *f = &c->found[c->number[instruction]];
	*address = f->addresses[lane];
	return f->known >> lane & 1;
}

uint64_t computer_argument_bytes(const struct address_computer *c, uint64_t argument)
{
	return argument < c->launch->count && c->launch->bytes ? c->launch->bytes[argument] : 0;
}

const bool *computer_drawn(const struct address_computer *c)
{
	return c->drawn;
}

/* ---- life ---- */

void computer_begin(struct address_computer *c, uint64_t group, uint32_t first, uint32_t lanes)
{
	const uint64_t *local = c->launch->local;
	c->group = group;
	c->first = first;
	c->lanes = lanes;
	for (int d = 0; d < 3; d++) {
		c->id[d] = c->launch->groups[d] ? group % c->launch->groups[d] : 0;
		group /= c->launch->groups[d] ? c->launch->groups[d] : 1;
	}
	for (uint32_t l = 0; l < lanes; l++) {
		uint64_t item = (uint64_t)first + l;
		for (int d = 0; d < 3; d++) {
			c->tid[l][d] = local[d] ? item % local[d] : 0;
			item /= local[d] ? local[d] : 1;
		}
	}
	memset(c->executions, 0, (c->code->block_count + 1u) * sizeof *c->executions);
	for (uint32_t i = 0; i < c->slot_count; i++)
		c->slots[i].unknown_lanes = 0;
	for (uint32_t i = 0; i < c->code->step_count && c->code->steps[i].instruction == STEP_FIRST; i++)
		for (uint32_t l = 0; l < lanes; l++) {
			struct operand o = {.value = 0};
			o.value = operation_cut(leaf_of(c, &c->code->steps[i].node, l, &o.unknown), c->code->steps[i].node.to_bits);
			set(&c->slots[c->code->steps[i].slot], l, &o);
		}
}

static void index_code(struct address_computer *c)
{
	const struct kernel_code *code = c->code;
	uint32_t step = 0, count = 0;
	while (step < code->step_count && code->steps[step].instruction == STEP_FIRST)
		step++;
	for (uint32_t i = 0; i < code->code_count; i++) {
		c->first_step[i] = step;
		c->number[i] = count;
		count += code_accesses_memory(&code->code[i]);
		while (step < code->step_count && code->steps[step].instruction == i)
			step++;
	}
	c->first_step[code->code_count] = step;
}

static uint32_t count_slots(const struct kernel_code *code)
{
	int32_t most = -1;
	for (uint32_t i = 0; i < code->step_count; i++) {
		const struct code_step *s = &code->steps[i];
		const int32_t slots[] = {s->slot, s->node.a, s->node.b, s->node.c};
		for (size_t k = 0; k < GS_ARRAY_LEN(slots); k++)
			most = slots[k] > most ? slots[k] : most;
	}
	return (uint32_t)(most + 1);
}

struct address_computer *computer_new(const struct kernel_code *code, const struct launch_arguments *launch, const uint16_t *usual)
{
	struct address_computer *c = calloc(1, sizeof *c);
	uint32_t accesses = 0;
	if (!c)
		return NULL;
	for (uint32_t i = 0; i < code->code_count; i++)
		accesses += code_accesses_memory(&code->code[i]);
	*c = (struct address_computer){.code = code, .launch = launch, .usual = usual, .slot_count = count_slots(code)};
	c->group_items = launch->local[0] * launch->local[1] * launch->local[2];
	for (uint32_t a = 0; a < launch->count; a++)
		c->footprint = min_u64(c->footprint + bytes_of(c, a), MOST_RANGE);
	c->slots = calloc(c->slot_count + 1u, sizeof *c->slots);
	c->first_step = calloc(code->code_count + 1u, sizeof *c->first_step);
	c->number = calloc(code->code_count + 1u, sizeof *c->number);
	c->found = calloc(accesses + 1u, sizeof *c->found);
	c->executions = calloc(code->block_count + 1u, sizeof *c->executions);
	c->drawn = calloc(code->code_count + 1u, sizeof *c->drawn);
	if (!c->slots || !c->first_step || !c->number || !c->found || !c->executions || !c->drawn) {
		computer_free(c);
		return NULL;
	}
	index_code(c);
	return c;
}

void computer_free(struct address_computer *c)
{
	if (!c)
		return;
	free(c->slots);
	free(c->first_step);
	free(c->number);
	free(c->found);
	free(c->executions);
	free(c->drawn);
	free(c);
}
