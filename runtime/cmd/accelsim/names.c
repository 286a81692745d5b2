/*
 * Machine instructions of ours by names that Accel-Sim's tables of opcodes have: it ends at one that they do not. Of each class the plainest
 * instruction stands for all. Registers are numbered so that results of several registers are in a row.
 */
#include "runtime/cmd/accelsim/export.h"

#include "models/code/costs.h"
#include "models/warps/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ZERO_REGISTER = 255 };

static const char *const class_names[CODE_CLASS_COUNT] = {
	[CODE_int] = "IADD3", [CODE_int_mul] = "IMUL", [CODE_int_mad] = "IMAD", [CODE_int_minmax] = "IMNMX", [CODE_int_div] = "MUFU.RCP",
	[CODE_fp32] = "FADD", [CODE_fp32_fma] = "FFMA", [CODE_fp32_minmax] = "FMNMX", [CODE_fp32_div] = "MUFU.RCP", [CODE_fp64] = "DADD",
	[CODE_fp64_fma] = "DFMA", [CODE_fp64_minmax] = "DSETP", [CODE_fp64_div] = "MUFU.RCP64H", [CODE_sfu] = "MUFU.EX2", [CODE_conv] = "I2F",
	[CODE_logic] = "LOP3.LUT", [CODE_move] = "MOV", [CODE_shuffle] = "SHFL.IDX", [CODE_branch] = "BRA.DIV", [CODE_barrier] = "BAR.SYNC",
	[CODE_fence] = "MEMBAR.SC.GPU", [CODE_texture] = "TEX", [CODE_tensor] = "HMMA.16816.F32", [CODE_nop] = "NOP",
	[CODE_tensor_half] = "HMMA.1688.F32", [CODE_tensor_fp64] = "DMMA.884",
};

static const char *access_name(const struct code_instruction *in)
{
	bool load = in->class == CODE_load, atomic = in->class == CODE_atomic;
	switch (in->space) {
	case SPACE_shared:
		return load ? "LDS" : atomic ? "ATOMS.ADD" : "STS";
	case SPACE_local:
		return load ? "LDL" : "STL";
	case SPACE_generic:
		return load ? "LD.E" : atomic ? "ATOM.E.ADD" : "ST.E";
	case SPACE_param:
	case SPACE_const:
		return "LDC";
	default:
		return load ? "LDG.E" : atomic ? "ATOMG.E.ADD" : "STG.E";
	}
}

static const char *size_suffix(unsigned bytes)
{
	return bytes >= 16 ? ".128" : bytes >= 8 ? ".64" : bytes == 2 ? ".U16" : bytes == 1 ? ".U8" : "";
}

static void set_name(struct export_instruction *e, const struct code_instruction *in, unsigned arch)
{
	bool access = in->class == CODE_load || in->class == CODE_store || in->class == CODE_atomic;
	const char *name = access ? access_name(in) : class_names[in->class];
	e->memory = access && in->space != SPACE_param && in->space != SPACE_const;
	if (in->class == CODE_branch)
		name = in->flags & CODE_UNIFORM ? "BRA.U" : in->flags & CODE_EXPANDED ? "BSYNC" : name;
	if (in->class == CODE_tensor_fp64 && arch < 80) /* their tables have no DMMA */
		name = "DFMA";
	snprintf(e->opcode, sizeof e->opcode, "%s%s", name ? name : "NOP", access ? size_suffix(in->bytes) : "");
	bool steps = in->class == CODE_tensor || in->class == CODE_tensor_half || in->class == CODE_tensor_fp64;
	e->repeats = steps && in->elements ? in->elements : 1;
	e->memory |= in->class == CODE_texture && in->site >= 0;
}

/* ---- registers ---- */

/* How many registers a reader takes the result of an instruction for: those that suffixes tell. */
static uint32_t span_of(const struct code_instruction *in, uint32_t words)
{
	bool access = in->class == CODE_load || in->class == CODE_atomic;
	bool wide = in->class == CODE_fp64 || in->class == CODE_fp64_fma || in->class == CODE_tensor || in->class == CODE_tensor_half ||
	            in->class == CODE_tensor_fp64;
	uint32_t span = access ? (in->bytes > 8 ? 4 : in->bytes > 4 ? 2 : 1) : wide ? 4 : 1;
	return span > words ? span : words;
}

/* Numbers keep their place modulo 4, which banks are counted by; RZ is no register. */
static int32_t take_numbers(uint32_t *next, uint32_t like, uint32_t span)
{
	uint32_t first = *next;
	while (first % 4 != like % 4 || (first <= ZERO_REGISTER && first + span > ZERO_REGISTER))
		first++;
	*next = first + span;
	return (int32_t)first;
}

static int number_registers(const struct kernel_code *view, int32_t *numbers)
{
	uint32_t next = 0;
	for (uint32_t r = 0; r < view->register_count; r++)
		numbers[r] = -1;
	for (uint32_t i = 0; i < view->code_count; i++) { /* results of one instruction in a row */
		const struct code_instruction *in = &view->code[i];
		uint32_t words = 0;
		bool fresh = in->writes > 0;
		for (uint32_t w = 0; w < in->writes; w++) {
			uint16_t r = view->operands[in->first_operand + w];
			fresh &= numbers[r] < 0;
			words += view->register_table[r].words ? view->register_table[r].words : 1;
		}
		if (!fresh)
			continue;
		uint16_t first = view->operands[in->first_operand];
		uint32_t at = (uint32_t)take_numbers(&next, view->register_table[first].number, span_of(in, words));
		for (uint32_t w = 0; w < in->writes; w++) {
			uint16_t r = view->operands[in->first_operand + w];
			numbers[r] = (int32_t)at;
			at += view->register_table[r].words ? view->register_table[r].words : 1;
		}
	}
	for (uint32_t r = 0; r < view->register_count; r++)
		if (numbers[r] < 0)
			numbers[r] = take_numbers(&next, view->register_table[r].number, view->register_table[r].words ? view->register_table[r].words : 1);
	return 0;
}

static void set_registers(struct export_instruction *e, const struct kernel_code *view, const struct code_instruction *in, const int32_t *numbers)
{
	const uint16_t *operands = view->operands + in->first_operand;
	e->result = in->writes ? numbers[operands[0]] : -1;
	for (uint32_t i = in->writes; i < (uint32_t)in->writes + in->reads + in->waits && e->source_count < EXPORT_SOURCES; i++)
		e->sources[e->source_count++] = numbers[operands[i]];
}

/* ---- places ---- */

/* Whether it leads nowhere but out of the kernel, maybe over blocks of which nothing is left. */
static bool ends_always(const struct kernel_code *code, uint32_t block)
{
	for (uint32_t steps = 0; steps < code->block_count && code->blocks[block].edge_count == 1; steps++) {
		int32_t to = code->edges[code->blocks[block].first_edge].to;
		if (to < 0)
			return true;
		if (!machine_has(code) || code->machine_blocks[to].count)
			return false;
		block = (uint32_t)to;
	}
	return false;
}

static void place_instructions(struct export_code *c)
{
	uint32_t pc = 0;
	for (uint32_t b = 0; b < c->view.block_count; b++) {
		const struct code_block *block = &c->view.blocks[b];
		uint32_t of = c->blocks ? c->code->machine_blocks[b].of : b;
		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			c->instructions[i].pc = pc;
			pc += c->instructions[i].repeats * EXPORT_PC_STEP;
		}
		c->exits[b] = pc;
		pc += EXPORT_PC_STEP;
		uint32_t last = block->first + block->count - 1;
		c->ends[b] = block->count && ends_always(c->code, of) && c->view.code[last].class == CODE_branch;
		if (c->ends[b])
			strcpy(c->instructions[last].opcode, "EXIT");
	}
	c->end = pc;
}

/* As find_places() of models/warps/machine.c. */
static void find_origins(struct export_code *c)
{
	const struct kernel_code *code = c->code;
	struct access_origin *own = calloc(code->code_count + 1u, sizeof *own);
	for (uint32_t b = 0; b < code->block_count && own; b++)
		for (uint32_t i = code->blocks[b].first, rank = 0; i < code->blocks[b].first + code->blocks[b].count; i++)
			if (code_has_accesses(code->code[i].class))
				own[i] = (struct access_origin){b, rank++};
	for (uint32_t i = 0; i < c->view.code_count && own; i++)
		if (code_has_accesses(c->view.code[i].class))
			c->origins[i] = own[c->blocks ? code->machine_origins[i] : i];
	free(own);
}

int export_code_make(const struct kernel_code *code, unsigned arch, struct export_code *out)
{
	*out = (struct export_code){.code = code, .view = *code};
	if (machine_has(code)) {
		out->blocks = calloc(code->machine_block_count + 1u, sizeof *out->blocks);
		if (!out->blocks)
			return -ENOMEM;
		machine_view(code, out->blocks, &out->view);
	}
	const struct kernel_code *view = &out->view;
	int32_t *numbers = calloc(view->register_count + 1u, sizeof *numbers);
	out->instructions = calloc(view->code_count + 1u, sizeof *out->instructions);
	out->exits = calloc(view->block_count + 1u, sizeof *out->exits);
	out->ends = calloc(view->block_count + 1u, sizeof *out->ends);
	out->origins = calloc(view->code_count + 1u, sizeof *out->origins);
	int result = numbers && out->instructions && out->exits && out->ends && out->origins ? number_registers(view, numbers) : -ENOMEM;
	for (uint32_t i = 0; i < view->code_count && !result; i++) {
		set_name(&out->instructions[i], &view->code[i], arch);
		set_registers(&out->instructions[i], view, &view->code[i], numbers);
	}
	if (!result) {
		place_instructions(out);
		find_origins(out);
	}
	free(numbers);
	if (result)
		export_code_free(out);
	return result;
}

void export_code_free(struct export_code *c)
{
	free(c->blocks);
	free(c->instructions);
	free(c->exits);
	free(c->ends);
	free(c->origins);
	*c = (struct export_code){0};
}
