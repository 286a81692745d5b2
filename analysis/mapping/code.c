/* Fills a kernel's code as the models read it, from PTX and graphs. analysis/mapping/solve.c adds the sums of its edges. */
#include "analysis/builtins/target_name.h"
#include "analysis/graph/addresses.h"
#include "analysis/machine/machine.h"
#include "analysis/mapping/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct filler {
	const struct mapping *m;
	struct kernel_code *code;
	struct gs_buf strings;
};

static uint32_t append_string(struct filler *f, const char *text)
{
	uint32_t offset = (uint32_t)f->strings.len;
	gs_buf_add(&f->strings, text, strlen(text) + 1);
	return offset;
}

/* ---- instructions ---- */

/* Each opcode is stored once in the strings. A hash table finds it. If the table is full, an opcode may be stored twice. */
enum { OPCODE_SLOTS = 1024 };

static uint32_t opcode_offset(struct filler *f, uint32_t *slots, const char *opcode)
{
	uint64_t hash = gs_hash(opcode, strlen(opcode));
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t *slot = &slots[(hash + i) % OPCODE_SLOTS];
		if (!*slot)
			return (*slot = append_string(f, opcode) + 1) - 1;
		if (!f->strings.failed && !strcmp(f->strings.data + *slot - 1, opcode))
			return *slot - 1;
	}
	return append_string(f, opcode);
}

static uint16_t file_index(const struct mapping *m, uint32_t number)
{
	for (uint32_t i = 0; i < m->module->file_count; i++)
		if (m->module->files[i].number == number)
			return (uint16_t)i;
	return 0;
}

static void fill_instruction(struct filler *f, const struct reached_function *function, const struct ptx_instruction *in,
                             struct code_instruction *out, uint32_t *slots)
{
	struct kernel_code *c = f->code;
	struct ptx_uses uses;
	ptx_uses(in, &uses);
	*out = (struct code_instruction){.class = in->class,
	                                 .space = in->space,
	                                 .bytes = in->bytes,
	                                 .elements = in->elements,
	                                 .flags = in->flags,
	                                 .writes = uses.writes,
	                                 .reads = uses.reads,
	                                 .waits = uses.waits,
	                                 .first_operand = c->operand_count,
	                                 .address = -1,
	                                 .site = -1,
	                                 .column = (uint16_t)(in->column < UINT16_MAX ? in->column : UINT16_MAX)};
	if (in->file && c->file_count) {
		out->line = in->line;
		out->file = file_index(f->m, in->file);
	}
	for (uint32_t i = 0; i < (uint32_t)uses.writes + uses.reads + uses.waits; i++)
		c->operands[c->operand_count++] = (uint16_t)(function->first_register + uses.list[i]);
	out->opcode = opcode_offset(f, slots, in->opcode);
}

static int fill_instructions(struct filler *f)
{
	struct kernel_code *c = f->code;
	uint32_t *slots = calloc(OPCODE_SLOTS, sizeof *slots);
	c->code = calloc(f->m->instruction_count + 1u, sizeof *c->code);
	c->operands = calloc((size_t)f->m->instruction_count * PTX_MAX_REGISTERS + 1, sizeof *c->operands);
	int result = slots && c->code && c->operands ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < f->m->reached.count && !result; i++) {
		const struct reached_function *function = &f->m->reached.functions[i];
		for (uint32_t j = 0; j < function->ptx->instruction_count; j++)
			fill_instruction(f, function, &function->ptx->instructions[j], &c->code[c->code_count++], slots);
	}
	free(slots);
	uint16_t *shorter = result ? NULL : reallocarray(c->operands, c->operand_count + 1u, sizeof *shorter);
	if (shorter)
		c->operands = shorter;
	return result;
}

static int fill_registers(struct filler *f)
{
	struct kernel_code *c = f->code;
	c->register_table = calloc(f->m->register_count + 1u, sizeof *c->register_table);
	for (uint32_t i = 0; c->register_table && i < f->m->reached.count; i++) {
		const struct ptx_function *ptx = f->m->reached.functions[i].ptx;
		for (uint32_t r = 0; r < ptx->register_count; r++)
			c->register_table[c->register_count++] = (struct code_register){
			    .number = (uint16_t)ptx->registers[r].number,
			    .words = (uint8_t)(ptx->registers[r].bits == 1 ? 0 : (ptx->registers[r].bits + 31) / 32),
			    .copies = ptx->registers[r].copies};
	}
	return c->register_table ? 0 : -ENOMEM;
}

/* Adds the addresses of one function. Its nodes follow the nodes of the functions before it. */
static int add_addresses(struct filler *f, const struct reached_function *function, struct gs_error *err)
{
	struct kernel_code *c = f->code;
	struct address_table t;
	int result = addresses_find(function->graph, &t, err);
	if (result)
		return result;
	struct code_node *grown = reallocarray(c->nodes, c->node_count + t.node_count + 1u, sizeof *grown);
	for (uint32_t i = 0; grown && i < t.node_count; i++) {
		struct code_node n = t.nodes[i];
		n.a = n.a < 0 ? -1 : n.a + (int32_t)c->node_count;
		n.b = n.b < 0 ? -1 : n.b + (int32_t)c->node_count;
		n.c = n.c < 0 ? -1 : n.c + (int32_t)c->node_count;
		grown[c->node_count + i] = n;
	}
	for (uint32_t i = 0; grown && i < function->ptx->instruction_count; i++) {
		struct code_instruction *in = &c->code[function->first_instruction + i];
		in->address = t.of[i] < 0 ? -1 : t.of[i] + (int32_t)c->node_count;
		in->flags |= in->class == CODE_branch ? t.guards[i] : 0;
	}
	if (grown) {
		c->nodes = grown;
		c->node_count += t.node_count;
	}
	addresses_free(&t);
	return grown ? 0 : gs_fail(err, ENOMEM, "out of memory");
}

static int fill_addresses(struct filler *f, struct gs_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < f->m->reached.count && !result; i++)
		result = add_addresses(f, &f->m->reached.functions[i], err);
	return result;
}

/* ---- blocks ---- */

static int32_t shifted(int32_t index, uint32_t first)
{
	return index < 0 ? -1 : (int32_t)(first + (uint32_t)index);
}

static void fill_function(struct filler *f, uint32_t number)
{
	struct kernel_code *c = f->code;
	const struct reached_function *own = &f->m->reached.functions[number];
	const struct graph *g = own->graph;
	c->functions[c->function_count++] = own->first_block;
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct graph_block *b = &g->blocks[i];
		int32_t callee = mapped_callee(f->m, number, i);
		c->blocks[c->block_count++] = (struct code_block){
		    .first = own->first_instruction + b->first,
		    .count = b->count,
		    .first_edge = own->first_edge + b->first_edge,
		    .edge_count = b->edge_count,
		    .call = callee >= 0                          ? (int32_t)f->m->reached.functions[callee].first_block
		            : mapped_call_of_any(f->m, number, i) ? CODE_CALL_ANY
		                                                  : -1,
		    .join = shifted(b->ipdom, own->first_block),
		    .loop = shifted(b->loop, own->first_loop),
		    .function = number,
		};
	}
	for (uint32_t i = 0; i < g->edge_count; i++)
		c->edges[c->edge_count++] = (struct code_edge){.from = own->first_block + g->edges[i].from,
		                                               .to = shifted(g->edges[i].to, own->first_block),
		                                               .taken = g->edges[i].taken,
		                                               .denominator = 1};
	for (uint32_t i = 0; i < g->loop_count; i++)
		c->loops[c->loop_count++] = (struct code_loop){.header = own->first_block + g->loops[i].header,
		                                               .outer = shifted(g->loops[i].outer, own->first_loop)};
}

static int fill_blocks(struct filler *f)
{
	struct kernel_code *c = f->code;
	c->functions = calloc(f->m->reached.count + 1u, sizeof *c->functions);
	c->blocks = calloc(f->m->block_count + 1u, sizeof *c->blocks);
	c->edges = calloc(f->m->edge_count + 1u, sizeof *c->edges);
	c->loops = calloc(f->m->loop_count + 1u, sizeof *c->loops);
	if (!c->functions || !c->blocks || !c->edges || !c->loops)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->m->reached.count; i++)
		fill_function(f, i);
	return 0;
}

/* ---- the rest ---- */

static int fill_files(struct filler *f)
{
	struct kernel_code *c = f->code;
	c->files = calloc(f->m->module->file_count + 1u, sizeof *c->files);
	if (!c->files)
		return -ENOMEM;
	while (c->file_count < f->m->module->file_count && c->file_count < UINT16_MAX) {
		c->files[c->file_count] = append_string(f, f->m->module->files[c->file_count].name);
		c->file_count++;
	}
	return 0;
}

static uint32_t local_bytes_of(const struct ptx_function *function)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < function->variable_count; i++)
		if (function->variables[i].space == SPACE_local)
			bytes += function->variables[i].bytes;
	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* The registers of the kernel, plus the most that any chain of called functions takes on top of them. */
static int fill_resources(struct filler *f, const char *arch, struct gs_error *err)
{
	struct kernel_code *c = f->code;
	uint32_t called = 0, spilled = 0;
	uint64_t shared = 0;
	for (uint32_t i = f->m->reached.count; i-- > 0;) {
		const struct reached_function *function = &f->m->reached.functions[i];
		struct liveness l;
		int result = graph_liveness(function->graph, &l, err);
		if (result)
			return result;
		if (i && l.most > called)
			called = l.most;
		if (!i)
			c->registers = graph_registers(function->graph, &l, arch, called, &spilled);
		liveness_free(&l);
		shared += ptx_shared_bytes(f->m->module, function->ptx);
		c->local_bytes += local_bytes_of(function->ptx);
	}
	c->local_bytes += spilled * 4;
	c->shared_bytes = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX;
	c->instructions = f->m->reached.functions[0].ptx->instruction_count;
	return 0;
}

/* Replaces calls of library functions by their code. If the target wants machine instructions, makes them. final: of this very text */
static int expand(const struct mapping *m, const char *arch, bool final, struct kernel_code *code, struct gs_error *err)
{
	uint32_t *starts = calloc(code->code_count + 2u, sizeof *starts);
	struct code_instruction *before = calloc(code->code_count + 1u, sizeof *before);
	int result = starts && before ? 0 : gs_fail(err, ENOMEM, "out of memory");
	if (!result) {
		memcpy(before, code->code, code->code_count * sizeof *before);
		result = mapping_expand(m, arch, code, starts, err);
	}
	if (!result)
		result = mapping_steps(m, starts, code, err);
	if (!result && target_is_machine(arch))
		result = machine_make(&m->reached, arch, final, before, starts, code, err);
	free(starts);
	free(before);
	return result;
}

/* Ties blocks and accesses to what was counted and traced. */
static int tie(const struct mapping *m, const struct mapping_source *source, const struct mapping_rows *rows, struct kernel_code *code,
               struct gs_error *err)
{
	if (rows)
		return mapping_place_rows(m, rows, code, err);
	int result = mapping_probes(m, source, code, err);
	return result ? result : mapping_sites(m, source, code, err);
}

int mapping_code(const struct mapping *m, const struct mapping_source *source, const struct mapping_rows *rows, const char *arch,
                 struct kernel_code **out, struct gs_error *err)
{
	struct filler f = {.m = m, .code = calloc(1, sizeof *f.code)};
	if (m->register_count > UINT16_MAX) {
		free(f.code);
		return gs_fail(err, ERANGE, "%u registers are named, more than %d", m->register_count, UINT16_MAX);
	}
	int result = f.code ? 0 : -ENOMEM;
	append_string(&f, "");
	if (!result)
		result = fill_files(&f);
	if (!result)
		result = fill_instructions(&f);
	if (!result)
		result = fill_registers(&f);
	if (!result)
		result = fill_blocks(&f);
	if (!result && !f.strings.failed) {
		f.code->string_bytes = (uint32_t)f.strings.len;
		f.code->strings = f.strings.data;
		f.strings = (struct gs_buf){0};
	}
	if (result || f.strings.failed)
		result = gs_fail(err, ENOMEM, "out of memory");
	else
		result = fill_addresses(&f, err);
	if (!result)
		result = fill_resources(&f, arch, err);
	if (!result)
		result = tie(m, source, rows, f.code, err);
	if (!result)
		result = expand(m, arch, rows != NULL, f.code, err);
	gs_buf_free(&f.strings);
	if (result)
		code_free(f.code);
	else
		*out = f.code;
	return result;
}
