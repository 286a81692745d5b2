/*
 * Numbers of a machine's registers for those of the code, which are as many as there are values. A number is taken from the first to the
 * last instruction that names a value, loops included, as an assembler's would be; traces have 0 to 254 (255 is RZ).
 *
 * A number tells the bank, as on the chip: what the models take the assembler to have chosen (models/sm/state/read_ports.h). Predicates, which are in no bank, have
 * numbers of their own, the last ones: a reader knows them by the comparisons that write them.
 */
#include "runtime/cmd/accelsim/export/export.h"

#include "models/sm/state/read_ports.h"

#include <errno.h>
#include <stdlib.h>

enum { NUMBERS = 255, PREDICATES = 32, FIRST_PREDICATE = NUMBERS - PREDICATES, UNNAMED_BANKS = 4 };

/* Values that have their numbers in a row: the results of one instruction, or one value alone. Instructions count from 1. */
struct range {
	uint32_t first, last; /* instructions */
	uint32_t span;        /* numbers */
	uint32_t bank;        /* of its first number; READ_PORT_NONE: any */
	uint32_t number;
	bool predicate;
	bool carried;         /* read before it is written: it comes from before, or from the turn of a loop before */
};

struct allotment {
	const struct kernel_code *code, *view;
	struct range *ranges;
	uint32_t count;
	uint32_t *range_of, *offset; /* by register */
	struct range *loops;         /* only first and last */
	uint32_t busy[NUMBERS];      /* by number: the last instruction that needs it */
	uint32_t next[2];            /* of values and predicates: all numbers are gone through in turn, so that one seldom waits for the one before it */
	uint32_t banks;
	uint8_t *bank_of;            /* by register */
};

static uint32_t words_of(const struct kernel_code *view, uint16_t r)
{
	return view->register_table[r].words ? view->register_table[r].words : 1;
}

/* How many registers a reader takes the result of an instruction for: those that suffixes tell. */
static uint32_t span_of(const struct code_instruction *in, uint32_t words)
{
	bool access = in->class == CODE_load || in->class == CODE_atomic;
	bool wide = in->class == CODE_fp64 || in->class == CODE_fp64_fma || in->class == CODE_tensor || in->class == CODE_tensor_half ||
	            in->class == CODE_tensor_fp64;
	uint32_t span = access ? (in->bytes > 8 ? 4 : in->bytes > 4 ? 2 : 1) : wide ? 4 : 1;
	return span > words ? span : words;
}

/* ---- values that stand in a row ---- */

static void put_in_row(struct allotment *a, const uint16_t *registers, uint32_t count, uint32_t span)
{
	struct range *range = &a->ranges[a->count];
	uint32_t words = 0;
	for (uint32_t i = 0; i < count; i++) {
		a->range_of[registers[i]] = a->count + 1;
		a->offset[registers[i]] = words;
		words += words_of(a->view, registers[i]);
	}
	*range = (struct range){.span = span > words ? span : words, .bank = a->bank_of[registers[0]],
	                        .predicate = !a->view->register_table[registers[0]].words};
	a->count++;
}

static void make_rows(struct allotment *a)
{
	const struct kernel_code *view = a->view;
	for (uint32_t i = 0; i < view->code_count; i++) {
		const struct code_instruction *in = &view->code[i];
		const uint16_t *results = view->operands + in->first_operand;
		uint32_t words = 0;
		bool fresh = in->writes > 0;
		for (uint32_t w = 0; w < in->writes; w++) {
			fresh &= !a->range_of[results[w]];
			words += words_of(view, results[w]);
		}
		if (fresh)
			put_in_row(a, results, in->writes, span_of(in, words));
	}
	for (uint32_t r = 0; r < view->register_count; r++)
		if (!a->range_of[r])
			put_in_row(a, &(uint16_t){(uint16_t)r}, 1, 1);
}

/* ---- how long they are needed ---- */

static void name_at(struct allotment *a, uint16_t r, uint32_t at, bool read)
{
	struct range *range = &a->ranges[a->range_of[r] - 1];
	if (!range->last) {
		range->first = at;
		range->carried = read;
	}
	range->last = at;
}

static void find_ranges(struct allotment *a)
{
	for (uint32_t i = 0; i < a->view->code_count; i++) {
		const struct code_instruction *in = &a->view->code[i];
		const uint16_t *operands = a->view->operands + in->first_operand;
		for (uint32_t o = in->writes; o < (uint32_t)in->writes + in->reads + in->waits; o++)
			name_at(a, operands[o], i + 1, true);
		for (uint32_t o = 0; o < in->writes; o++)
			name_at(a, operands[o], i + 1, false);
	}
}

static void stretch(struct range *range, uint32_t first, uint32_t last)
{
	if (!range->last || first < range->first)
		range->first = first;
	if (last > range->last)
		range->last = last;
}

static void find_loops(struct allotment *a)
{
	for (uint32_t b = 0; b < a->view->block_count; b++) {
		const struct code_block *block = &a->view->blocks[b];
		uint32_t of = a->view->blocks == a->code->blocks ? b : a->code->machine_blocks[b].of;
		if (!block->count)
			continue;
		for (int32_t l = a->code->blocks[of].loop; l >= 0; l = a->code->loops[l].outer)
			stretch(&a->loops[l], block->first + 1, block->first + block->count);
	}
}

/* A value that a loop finds is needed until its end; one that it leaves, from its begin; one that a turn leaves to the next, for all of it. */
static bool go_through_loop(struct range *range, const struct range *loop)
{
	struct range was = *range;
	if (range->last < loop->first || range->first > loop->last)
		return false;
	if (range->first < loop->first || range->last > loop->last || range->carried)
		stretch(range, range->first < loop->first ? range->first : loop->first, loop->last);
	return range->first != was.first || range->last != was.last;
}

static void go_through_loops(struct allotment *a)
{
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t l = 0, again = 1; again && l <= a->code->loop_count; l++) {
			again = 0;
			for (uint32_t k = 0; k < a->code->loop_count; k++)
				again |= a->loops[k].last && go_through_loop(&a->ranges[i], &a->loops[k]);
		}
}

/* ---- numbers ---- */

/* The last instruction that needs one of the numbers of a row. */
static uint32_t busy_until(const struct allotment *a, uint32_t number, uint32_t span)
{
	uint32_t last = 0;
	for (uint32_t n = number; n < number + span; n++)
		last = a->busy[n] > last ? a->busy[n] : last;
	return last;
}

/* A row that is free, or the one that is free first. */
static uint32_t find_row(const struct allotment *a, const struct range *range)
{
	uint32_t first = range->predicate ? FIRST_PREDICATE : 0, count = range->predicate ? PREDICATES : FIRST_PREDICATE;
	uint32_t best = first, soonest = UINT32_MAX;
	for (uint32_t i = 0; i < count && soonest > range->first; i++) {
		uint32_t number = first + (a->next[range->predicate] + i) % count;
		bool fits = range->predicate || range->bank == READ_PORT_NONE || number % a->banks == range->bank;
		if (!fits || number + range->span > first + count)
			continue;
		uint32_t until = busy_until(a, number, range->span);
		if (until < soonest) {
			best = number;
			soonest = until;
		}
	}
	return best;
}

static void take_row(struct allotment *a, struct range *range)
{
	range->number = find_row(a, range);
	for (uint32_t n = range->number; n < range->number + range->span && n < NUMBERS; n++)
		a->busy[n] = range->last;
	a->next[range->predicate] = range->number + range->span - (range->predicate ? FIRST_PREDICATE : 0);
}

static int compare_ranges(const void *x, const void *y)
{
	const struct range *const *a = x, *const *b = y;
	return (*a)->first != (*b)->first ? ((*a)->first < (*b)->first ? -1 : 1) : (*a < *b ? -1 : *a > *b);
}

static int take_rows(struct allotment *a)
{
	struct range **order = calloc(a->count + 1u, sizeof *order);
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->count; i++) {
		order[i] = &a->ranges[i];
		if (a->ranges[i].carried && a->ranges[i].first)
			a->ranges[i].first--; /* it is there before the instruction that reads it */
		uint32_t most = a->ranges[i].predicate ? PREDICATES : FIRST_PREDICATE - READ_PORT_BANKS;
		if (a->ranges[i].span > most)
			a->ranges[i].span = most;
	}
	qsort(order, a->count, sizeof(struct range *), compare_ranges);
	for (uint32_t i = 0; i < a->count; i++)
		take_row(a, order[i]);
	free(order);
	return 0;
}

/* Where banks are not looked at, they are those of the names. */
static int choose_banks(struct allotment *a, const struct gpu *gpu)
{
	uint32_t banks = read_port_banks(gpu);
	a->banks = banks ? banks : UNNAMED_BANKS;
	if (banks)
		return read_ports_choose(a->view, banks, a->bank_of);
	for (uint32_t r = 0; r < a->view->register_count; r++)
		a->bank_of[r] = (uint8_t)(a->view->register_table[r].number % UNNAMED_BANKS);
	return 0;
}

int export_registers(const struct kernel_code *code, const struct kernel_code *view, const struct gpu *gpu, int32_t *numbers)
{
	struct allotment a = {.code = code, .view = view};
	a.ranges = calloc(view->register_count + 1u, sizeof *a.ranges);
	a.range_of = calloc(view->register_count + 1u, sizeof *a.range_of);
	a.offset = calloc(view->register_count + 1u, sizeof *a.offset);
	a.loops = calloc(code->loop_count + 1u, sizeof *a.loops);
	a.bank_of = calloc(view->register_count + 1u, 1);
	int result = a.ranges && a.range_of && a.offset && a.loops && a.bank_of ? choose_banks(&a, gpu) : -ENOMEM;
	if (!result) {
		make_rows(&a);
		find_ranges(&a);
		find_loops(&a);
		go_through_loops(&a);
		result = take_rows(&a);
	}
	for (uint32_t r = 0; r < view->register_count && !result; r++) {
		uint32_t number = a.ranges[a.range_of[r] - 1].number + a.offset[r];
		numbers[r] = (int32_t)(number < NUMBERS ? number : NUMBERS - 1);
	}
	free(a.ranges);
	free(a.range_of);
	free(a.offset);
	free(a.loops);
	free(a.bank_of);
	return result;
}
