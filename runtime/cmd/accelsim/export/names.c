/*
 * Machine instructions of ours by names that Accel-Sim's tables of opcodes have: it ends at one that they do not. Which one, the PTX
 * opcode says that an instruction is of (opcodes.c); else the plainest of its class stands for all.
 */
#include "runtime/cmd/accelsim/export/export.h"

#include "models/code/costs.h"
#include "models/warps/machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[CODE_CLASS_COUNT] = {
	[CODE_int_div] = "MUFU.RCP",
	[CODE_fp32_div] = "MUFU.RCP",
	[CODE_fp64_fma] = "DFMA", [CODE_fp64_minmax] = "DSETP", [CODE_fp64_div] = "MUFU.RCP64H",
	[CODE_branch] = "BRA.DIV",
	[CODE_fence] = "MEMBAR.SC.GPU", [CODE_texture] = "TEX", [CODE_tensor] = "HMMA.16816.F32", [CODE_nop] = "NOP",
	[CODE_tensor_half] = "HMMA.1688.F32", [CODE_tensor_fp64] = "DMMA.884", [CODE_uniform] = "ULDC",
};

static const char *access_name(const struct code_instruction *in, bool plain)
{
	bool load = in->class == CODE_load, atomic = in->class == CODE_atomic;
	switch (in->space) {
	case SPACE_shared:
		return load ? "LDS" : atomic ? "ATOMS" : "STS";
	case SPACE_local:
		return load ? "LDL" : "STL";
	case SPACE_generic:
		return load ? "LD" : atomic ? "ATOM" : "ST";
	case SPACE_param:
	case SPACE_const:
		return "LDC";
	default:
		return load ? "LDG" : !atomic ? "STG" : plain ? "RED" : "ATOMG";
	}
}

static const char *size_suffix(unsigned bytes)
{
	return bytes >= 16 ? ".128" : bytes >= 8 ? ".64" : bytes == 2 ? ".U16" : bytes == 1 ? ".U8" : "";
}

/* Whether its address is in two registers. */
static bool is_far(const struct kernel_code *view, const struct code_instruction *in)
{
	bool global = in->space == SPACE_global || in->space == SPACE_generic;
	return global && (view->origin != CODE_SELECTED || !in->reads || view->register_table[view->operands[in->first_operand + in->writes]].words == 2);
}

static void set_name(struct export_instruction *e, const struct kernel_code *view, const struct code_instruction *in, const char *ptx, unsigned arch)
{
	bool access = in->class == CODE_load || in->class == CODE_store || in->class == CODE_atomic;
	bool red = !strncmp(ptx, "red.", 4) && !in->writes;
	char known[sizeof e->opcode];
	const char *name = access ? access_name(in, red) : export_opcode(in->class, ptx, arch, known, sizeof known);
	name = name ? name : class_names[in->class];
	e->memory = access && in->space != SPACE_param && in->space != SPACE_const;
	if (in->class == CODE_branch)
		name = in->elements == CODE_TABLE_WAY ? "BRX"
		       : in->flags & CODE_EXPANDED    ? (in->flags & CODE_UNIFORM ? "BSSY" : "BSYNC")
		       : in->flags & CODE_UNIFORM     ? "BRA.U"
		                                      : name;
	if (in->class == CODE_tensor_fp64 && arch < 80) /* their tables have no DMMA */
		name = "DFMA";
	/* An assembler's instruction has its own name. Lanes exit at the end of a block (place_instructions). */
	bool own = view->origin != CODE_SELECTED && strcmp(ptx, "EXIT") && export_opcode_is_known(ptx, arch);
	snprintf(e->opcode, sizeof e->opcode, "%s%s%s%s%s", own ? ptx : name ? name : "NOP", access && is_far(view, in) ? ".E" : "",
	         in->class == CODE_atomic && !own ? export_atomic_suffix(ptx) : "",
	         access ? size_suffix(in->bytes) : "", in->class == CODE_load && strstr(ptx, ".global.nc") ? ".CONSTANT" : "");
	bool steps = in->class == CODE_tensor || in->class == CODE_tensor_half || in->class == CODE_tensor_fp64;
	e->repeats = steps && in->elements ? in->elements : 1;
	e->memory |= in->class == CODE_texture && in->site >= 0;
}

/* ---- registers ---- */

/* Whether a reader knows that each of its sources, or the first one, has two registers (analysis/sass/blocks.c). */
static bool is_known_pair(const struct code_instruction *in, uint32_t source)
{
	bool data = code_is_memory((enum code_class)in->class) && source == 1 && in->reads == 2 && in->bytes > 4;
	bool address = code_is_memory((enum code_class)in->class) && !source && (in->space == SPACE_global || in->space == SPACE_generic);
	return address || data || in->class == CODE_fp64 || in->class == CODE_fp64_fma || in->class == CODE_fp64_minmax;
}

static void add_source(struct export_instruction *e, int32_t number)
{
	if (e->source_count < EXPORT_SOURCES)
		e->sources[e->source_count++] = number;
}

/* An assembler's instruction: of registers in a row that a reader takes for one operand, the first. */
static void set_assembled(struct export_instruction *e, const struct kernel_code *view, const struct code_instruction *in)
{
	const uint16_t *reads = view->operands + in->first_operand + in->writes, *results = reads + in->reads + in->waits;
	const uint16_t *end = view->operands + (in + 1 < view->code + view->code_count ? in[1].first_operand : view->operand_count);
	bool wide = in->class == CODE_fp64 || in->class == CODE_fp64_fma || in->class == CODE_fp64_minmax || code_is_memory((enum code_class)in->class);
	e->result = results < end ? *results : -1;
	if (end - results == 2 && !strcmp(e->opcode, "IMAD"))
		strcpy(e->opcode, "IMAD.WIDE");
	for (uint32_t i = 0, row = 0; i < in->reads; i++) {
		row = wide && i && reads[i] == reads[i - 1] + 1 && reads[i] % (in->bytes > 8 ? 4 : 2) ? row + 1 : 0;
		if (!row)
			add_source(e, reads[i]);
	}
}

/* Second words come last: if there is no room for all, only a bank is missing. */
static void set_registers(struct export_instruction *e, const struct kernel_code *view, const struct code_instruction *in, const int32_t *numbers)
{
	const uint16_t *operands = view->operands + in->first_operand, *reads = operands + in->writes;
	if (view->origin != CODE_SELECTED) {
		set_assembled(e, view, in);
		return;
	}
	e->result = in->writes ? numbers[operands[0]] : -1;
	if (in->writes && view->register_table[operands[0]].words == 2 && !strncmp(e->opcode, "IMAD", 4))
		strcpy(e->opcode, "IMAD.WIDE"); /* of whatever PTX instruction: a sum that took a product in is one, too */
	for (uint32_t i = 0; i < (uint32_t)in->reads + in->waits; i++)
		add_source(e, numbers[reads[i]]);
	for (uint32_t i = 0; i < in->reads; i++)
		if (view->register_table[reads[i]].words == 2 && !is_known_pair(in, i))
			add_source(e, numbers[reads[i]] + 1);
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
		uint32_t last = block->first + block->count - 1;
		c->ends[b] = block->count && ends_always(c->code, of) && c->view.code[last].class == CODE_branch;
		if (c->ends[b])
			strcpy(c->instructions[last].opcode, "EXIT");
	}
	c->end = pc; /* behind all others, so that instructions have the places that the machine's have */
}

/* As find_places() of models/warps/machine/machine.c. */
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

int export_code_make(const struct kernel_code *code, const struct gpu *gpu, struct export_code *out)
{
	*out = (struct export_code){.code = code, .view = *code};
	if (machine_has(code)) {
		out->blocks = calloc(code->machine_block_count + 1u, sizeof *out->blocks);
		if (!out->blocks)
			return -ENOMEM;
		machine_view(code, out->blocks, &out->view);
	}
	const struct kernel_code *view = &out->view;
	unsigned arch = (unsigned)strtoul(gpu->arch + 3, NULL, 10);
	int32_t *numbers = calloc(view->register_count + 1u, sizeof *numbers);
	out->instructions = calloc(view->code_count + 1u, sizeof *out->instructions);
	out->ends = calloc(view->block_count + 1u, sizeof *out->ends);
	out->origins = calloc(view->code_count + 1u, sizeof *out->origins);
	int result = numbers && out->instructions && out->ends && out->origins ? export_registers(code, view, gpu, numbers) : -ENOMEM;
	for (uint32_t i = 0; i < view->code_count && !result; i++) {
		set_name(&out->instructions[i], view, &view->code[i],
		         code->strings && view->code[i].opcode < code->string_bytes ? code->strings + view->code[i].opcode : "", arch);
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
	free(c->ends);
	free(c->origins);
	*c = (struct export_code){0};
}
