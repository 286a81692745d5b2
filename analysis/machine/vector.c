/*
 * Loads from shared memory that the assembler makes wider.
 *
 * Several loads of 4 bytes become one load of 16 or 8 bytes if all of these hold:
 *   - They are in one block. They have the same base register and offsets that follow one another.
 *   - The address is known to be a multiple of the new size.
 *   - No instruction between them writes to shared memory or waits at a barrier.
 * What an address is a multiple of follows from the constants that it is multiplied with or shifted by. It also follows from the
 * alignment that variables of shared memory are declared with.
 *
 * Source: ptxas 13.0 -c, sm_90, on NVIDIA's PTX of matmul_tiled. It has 16 loads along a row of a tile. If the tile is aligned
 * to 16, they become 4 LDS.128. If it is aligned to 4, they stay 16. Without -c, as for CUDA programs, ptxas places variables itself
 * and joins the loads in either case: matmul_tiled-m executes 12.6 million instructions on an H200, not 15.8. NVIDIA's OpenCL does not:
 * matmul_tiled-l takes 352 us on an H200, and 283 us with tiles declared to be aligned to 16.
 */
#include "analysis/machine/machine.h"

#include <string.h>

enum { MOST_DEPTH = 8, MOST_BYTES = 16, WORD = 4 };

static uint64_t low_bit(int64_t value)
{
	return value ? (uint64_t)value & -(uint64_t)value : MOST_BYTES;
}

/* Where a text is assembled as it is, whole, the assembler places its variables itself. */
static uint64_t alignment(const struct machine_function *f, const char *variable)
{
	const struct ptx_function *ptx = f->ptx;
	for (uint32_t v = 0; v < ptx->variable_count && variable; v++)
		if (!strcmp(ptx->variables[v].name, variable))
			return f->final ? MOST_BYTES : ptx->variables[v].align ? ptx->variables[v].align : 1;
	return WORD;
}

/* The largest power of two, up to MOST_BYTES, that certainly divides a value. */
static uint64_t multiple(const struct machine_function *f, const struct ptx_operand *o, unsigned depth)
{
	if (!o)
		return 1;
	if (o->kind == PTX_IMMEDIATE)
		return low_bit(o->value);
	if (o->kind == PTX_SYMBOL)
		return alignment(f, o->text);
	const struct ptx_instruction *i = machine_def(f, o);
	if (!i || depth >= MOST_DEPTH)
		return 1;
	const struct ptx_operand *a = machine_source(i, 0), *b = machine_source(i, 1);
	uint64_t of_a = multiple(f, a, depth + 1), of_b = b ? multiple(f, b, depth + 1) : 1;
	if (machine_is(i, "mov") || machine_is(i, "cvt") || machine_is(i, "cvta"))
		return of_a;
	if (machine_is(i, "add") || machine_is(i, "sub") || machine_is(i, "or"))
		return of_a < of_b ? of_a : of_b;
	if (machine_is(i, "and"))
		return of_a > of_b ? of_a : of_b;
	if (machine_is(i, "mul"))
		return of_a * of_b;
	if (machine_is(i, "shl") && b && b->kind == PTX_IMMEDIATE && b->value >= 0 && b->value < 32)
		return of_a << b->value;
	return 1;
}

static const struct ptx_operand *address_of(const struct ptx_instruction *i)
{
	const struct ptx_operand *o = machine_source(i, 0);
	bool simple = i->class == CODE_load && i->space == SPACE_shared && i->bytes == WORD && i->elements == 1 && i->guard < 0;
	return simple && o && o->kind == PTX_ADDRESS && o->reg >= 0 ? o : NULL;
}

static bool ends_group(const struct ptx_instruction *i, int32_t base)
{
	bool writes = (i->class == CODE_store || i->class == CODE_atomic) && i->space != SPACE_global;
	return writes || i->class == CODE_barrier || machine_result(i) == base;
}

/* The load of the word at `offset`, after `from` and before `end`. -1: there is none. */
static int64_t find_load(const struct machine_function *f, uint32_t from, uint32_t end, int32_t base, int64_t offset)
{
	for (uint32_t i = from; i < end; i++) {
		const struct ptx_instruction *in = &f->ptx->instructions[i];
		const struct ptx_operand *o = address_of(in);
		if (o && o->reg == base && o->value == offset && !f->plans[i].wider)
			return i;
		if (ends_group(in, base))
			return -1;
	}
	return -1;
}

/* Joins `words` loads, beginning with the one at `at`, if all of them exist. */
static bool join_words(struct machine_function *f, uint32_t at, uint32_t end, uint32_t words)
{
	const struct ptx_operand *o = address_of(&f->ptx->instructions[at]);
	int64_t others[MOST_BYTES / WORD];
	int64_t begin = o->value & ~(int64_t)(words * WORD - 1);
	for (uint32_t w = 0; w < words; w++) {
		others[w] = begin + w * WORD == o->value ? at : find_load(f, at + 1, end, o->reg, begin + w * WORD);
		if (others[w] < 0)
			return false;
	}
	for (uint32_t w = 0; w < words; w++)
		if (others[w] != at)
			f->plans[others[w]] = (struct machine_plan){.planned = true, .wider = at + 1};
	f->plans[at].bytes = (uint8_t)(words * WORD);
	return true;
}

void machine_vectors_find(struct machine_function *f)
{
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *block = &f->graph->blocks[b];
		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			const struct ptx_operand *o = address_of(&f->ptx->instructions[i]);
			struct ptx_operand base = o ? *o : (struct ptx_operand){.kind = PTX_IMMEDIATE};
			base.kind = PTX_REGISTER;
			uint64_t known = o && !f->plans[i].wider ? multiple(f, &base, 0) : 1;
			for (uint32_t words = MOST_BYTES / WORD; words > 1 && o; words /= 2)
				if (known >= words * WORD && join_words(f, i, block->first + block->count, words))
					break;
		}
	}
}
