/*
 * Orders machine instructions as an assembler does. In every block, each load comes before everything else. The instructions
 * that compute its address come before it. A warp waits longest for loads. It waits less if more of them are on their way at
 * once.
 *
 *   names   A register may be written several times in a block, as in the copies of an unrolled loop. Then each value except the last
 *           gets a name of its own, so that only true dependences are left. A guarded instruction may leave a register's old
 *           value, so such registers keep their name.
 *   order   Accesses, barriers and everything else that depends on memory keep their order. The rest follows the last load in its old
 *           order. No instruction moves past one without operands (CODE_nop), which stands for a parameter or an id.
 */
#include "analysis/machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS = 2048 }; /* a longer block keeps its order */

struct scheduler {
	struct kernel_code *code;
	uint32_t first, count; /* the block */
	uint32_t *writes;      /* per register: the writes in the block that are still to come */
	uint8_t *kept;         /* per register: keeps its name */
	uint16_t *name;        /* per register: the name of its current value */
	uint32_t fresh, most_fresh, named; /* names of the block's own values; the most in any block; registers that are named as in PTX */
	uint32_t *order, *place; /* instructions of the block, counted from its first: as they come; UINT32_MAX: not yet */
};

static struct code_instruction *instruction(const struct scheduler *s, uint32_t i)
{
	return &s->code->machine[s->first + i];
}

static bool holds_memory(const struct code_instruction *in)
{
	return in->class == CODE_load || in->class == CODE_store || in->class == CODE_atomic || in->class == CODE_fence ||
	       in->class == CODE_texture || in->class == CODE_barrier || in->class == CODE_shuffle || in->flags & CODE_CALL;
}

static bool is_load(const struct code_instruction *in)
{
	return in->class == CODE_load || in->class == CODE_texture;
}

/* ---- names ---- */

static void count_writes(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		const uint16_t *operand = &s->code->machine_operands[in->first_operand];
		for (uint32_t k = 0; k < (uint32_t)in->writes + in->reads + in->waits; k++) {
			s->name[operand[k]] = operand[k];
			s->writes[operand[k]] += k < in->writes;
			s->kept[operand[k]] |= k < in->writes && in->flags & CODE_GUARDED;
		}
	}
}

static void clear_writes(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		const uint16_t *operand = &s->code->machine_operands[in->first_operand];
		for (uint32_t k = 0; k < in->writes; k++)
			if (operand[k] < s->named)
				s->writes[operand[k]] = s->kept[operand[k]] = 0;
	}
}

/* Reads come first, because an instruction may read the old value of the register that it writes. */
static void give_names(struct scheduler *s)
{
	s->fresh = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		uint16_t *operand = &s->code->machine_operands[in->first_operand];
		for (uint32_t k = in->writes; k < (uint32_t)in->writes + in->reads + in->waits; k++)
			operand[k] = s->name[operand[k]];
		for (uint32_t k = 0; k < in->writes; k++) {
			uint16_t reg = operand[k];
			bool last = --s->writes[reg] == 0;
			if (!last && !s->kept[reg] && s->named + s->fresh < UINT16_MAX)
				s->name[reg] = (uint16_t)(s->named + s->fresh++);
			else if (last)
				s->name[reg] = reg;
			operand[k] = s->name[reg];
		}
	}
	s->most_fresh = s->fresh > s->most_fresh ? s->fresh : s->most_fresh;
}

/* ---- order ---- */

/* Whether `later` must stay after `earlier`. */
static bool depends(const struct scheduler *s, const struct code_instruction *later, const struct code_instruction *earlier)
{
	const uint16_t *a = &s->code->machine_operands[earlier->first_operand], *b = &s->code->machine_operands[later->first_operand];
	uint32_t a_all = (uint32_t)earlier->writes + earlier->reads + earlier->waits;
	uint32_t b_all = (uint32_t)later->writes + later->reads + later->waits;
	if (earlier->class == CODE_nop || (holds_memory(later) && holds_memory(earlier)))
		return true;
	for (uint32_t i = 0; i < a_all; i++)
		for (uint32_t k = 0; k < (i < earlier->writes ? b_all : later->writes); k++)
			if (a[i] == b[k])
				return true;
	return false;
}

/* Places an instruction after all instructions that it depends on. */
static void place_instruction(struct scheduler *s, uint32_t *done, uint32_t i)
{
	if (s->place[i] != UINT32_MAX)
		return;
	for (uint32_t k = 0; k < i; k++)
		if (s->place[k] == UINT32_MAX && depends(s, instruction(s, i), instruction(s, k)))
			place_instruction(s, done, k);
	s->place[i] = *done;
	s->order[(*done)++] = i;
}

static int reorder(struct scheduler *s)
{
	struct code_instruction *code = malloc(s->count * sizeof *code);
	uint32_t *origins = malloc(s->count * sizeof *origins), done = 0;
	int result = code && origins ? 0 : -ENOMEM;
	memset(s->place, 0xff, s->count * sizeof *s->place);
	for (uint32_t i = 0; i < s->count && !result; i++)
		if (is_load(instruction(s, i)))
			place_instruction(s, &done, i);
	for (uint32_t i = 0; i < s->count && !result; i++)
		place_instruction(s, &done, i);
	for (uint32_t i = 0; i < s->count && !result; i++) {
		code[i] = *instruction(s, s->order[i]);
		origins[i] = s->code->machine_origins[s->first + s->order[i]];
	}
	if (!result) {
		memcpy(instruction(s, 0), code, s->count * sizeof *code);
		memcpy(&s->code->machine_origins[s->first], origins, s->count * sizeof *origins);
	}
	free(code);
	free(origins);
	return result;
}

static int schedule_block(struct scheduler *s, const struct code_machine_block *b)
{
	uint32_t loads = 0;
	s->first = b->first;
	s->count = b->count;
	for (uint32_t i = 0; i < s->count; i++)
		loads += is_load(instruction(s, i));
	if (loads < 2 || s->count > MOST_INSTRUCTIONS)
		return 0;
	count_writes(s);
	give_names(s);
	clear_writes(s);
	return reorder(s);
}

/* The new registers have one word each. Blocks share them, for values of any width. So for values of two words, the ports of
 * registers see only one word. */
static int add_registers(struct kernel_code *c, uint32_t count)
{
	struct code_register *grown = reallocarray(c->machine_registers, (size_t)c->machine_register_count + count + 1, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	c->machine_registers = grown;
	for (uint32_t i = 0; i < count; i++)
		grown[c->machine_register_count + i] = (struct code_register){.number = (uint16_t)(c->machine_register_count + i), .words = 1};
	c->machine_register_count += count;
	return 0;
}

int machine_schedule(struct kernel_code *code)
{
	struct scheduler s = {.code = code, .named = code->machine_register_count};
	s.writes = calloc(s.named + 1u, sizeof *s.writes);
	s.kept = calloc(s.named + 1u, sizeof *s.kept);
	s.name = calloc(s.named + 1u, sizeof *s.name);
	s.order = calloc(MOST_INSTRUCTIONS, sizeof *s.order);
	s.place = calloc(MOST_INSTRUCTIONS, sizeof *s.place);
	int result = s.writes && s.kept && s.name && s.order && s.place ? 0 : -ENOMEM;
	for (uint32_t b = 0; b < code->machine_block_count && !result; b++)
		result = schedule_block(&s, &code->machine_blocks[b]);
	if (!result)
		result = add_registers(code, s.most_fresh);
	free(s.writes);
	free(s.kept);
	free(s.name);
	free(s.order);
	free(s.place);
	return result;
}
