/* The kernel as the timing models read it: classes, registers, blocks and edges. */
#include "tests/oracle/internal.h"

#include <stdlib.h>

static void add_instruction(struct kernel_code *c, const struct ptx_instruction *i)
{
	struct ptx_uses uses;
	ptx_uses(i, &uses);
	struct code_instruction *made = &c->code[c->code_count++];
	*made = (struct code_instruction){.class = i->class,
	                                  .space = i->space,
	                                  .bytes = i->bytes,
	                                  .elements = i->elements,
	                                  .flags = i->flags,
	                                  .writes = uses.writes,
	                                  .reads = uses.reads,
	                                  .waits = uses.waits,
	                                  .first_operand = c->operand_count,
	                                  .line = i->line,
	                                  .site = -1,
	                                  .opcode = c->string_bytes};
	uint32_t count = (uint32_t)uses.writes + uses.reads + uses.waits;
	memcpy(c->operands + c->operand_count, uses.list, count * sizeof *c->operands);
	c->operand_count += count;
	size_t length = strlen(i->opcode) + 1;
	memcpy(c->strings + c->string_bytes, i->opcode, length);
	c->string_bytes += (uint32_t)length;
}

static void add_blocks(const struct oracle *o, struct kernel_code *c)
{
	for (uint32_t b = 0; b < o->block_count; b++) {
		const struct oracle_block *from = &o->blocks[b];
		c->blocks[c->block_count++] =
		    (struct code_block){.first = from->first,
					.count = from->count,
					.first_edge = c->edge_count,
					.edge_count = from->next_count,
					.call = -1,
					.join = from->join < o->block_count ? (int32_t)from->join : -1,
					.loop = -1};
		bool branch = o->ops[from->first + from->count - 1].kind == OP_BRANCH;
		for (uint32_t e = 0; e < from->next_count; e++)
			c->edges[c->edge_count++] =
			    (struct code_edge){.from = b,
			                       .to = from->next[e] < o->block_count ? (int32_t)from->next[e] : -1,
			                       .taken = branch && !e,
			                       .denominator = 1};
	}
}

struct kernel_code *oracle_code(const struct oracle *o)
{
	const struct ptx_function *f = o->function;
	struct kernel_code *c = calloc(1, sizeof *c);
	size_t strings = 1;
	for (uint32_t i = 0; i < f->instruction_count; i++)
		strings += strlen(f->instructions[i].opcode) + 1;
	if (!c)
		return NULL;
	c->instructions = f->instruction_count;
	c->shared_bytes = (uint32_t)ptx_shared_bytes(o->module, f);
	c->local_bytes = (uint32_t)o->local_bytes;
	c->code = calloc(f->instruction_count + 1, sizeof *c->code);
	c->operands = calloc((size_t)(f->instruction_count + 1) * PTX_MAX_REGISTERS, sizeof *c->operands);
	c->register_table = calloc(f->register_count + 1, sizeof *c->register_table);
	c->blocks = calloc(o->block_count + 1, sizeof *c->blocks);
	c->edges = calloc(2 * (size_t)o->block_count + 1, sizeof *c->edges);
	c->functions = calloc(1, sizeof *c->functions);
	c->strings = calloc(1, strings);
	if (!c->code || !c->operands || !c->register_table || !c->blocks || !c->edges || !c->functions || !c->strings) {
		oracle_code_free(c);
		return NULL;
	}
	c->function_count = 1;
	for (uint32_t i = 0; i < f->instruction_count; i++)
		add_instruction(c, &f->instructions[i]);
	for (uint32_t r = 0; r < f->register_count; r++)
		c->register_table[c->register_count++] = (struct code_register){
		    .number = (uint16_t)f->registers[r].number,
		    .words = (uint8_t)(f->registers[r].bits == 1 ? 0 : (f->registers[r].bits + 31) / 32),
		    .copies = f->registers[r].copies};
	add_blocks(o, c);
	return c;
}

void oracle_code_free(struct kernel_code *code)
{
	if (!code)
		return;
	free(code->code);
	free(code->operands);
	free(code->register_table);
	free(code->blocks);
	free(code->edges);
	free(code->functions);
	free(code->strings);
	free(code);
}
