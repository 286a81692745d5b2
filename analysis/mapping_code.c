/* A kernel's code as the models read it, from PTX and graphs: all but its instructions (mapping_instructions.c) and the
 * sums of its edges (mapping_solve.c). */
#include "analysis/addresses.h"
#include "analysis/mapping_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The addresses of one function, its nodes behind those of the others. */
static int add_addresses(struct code_filler *f, const struct mapped_function *function, struct gs_error *err)
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
		uint32_t at = f->code_at[function->first_instruction + i];
		struct code_instruction *in = &c->code[at];
		if (at == f->code_at[function->first_instruction + i + 1] || in->flags & CODE_EXPANDED)
			continue;
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

static int fill_addresses(struct code_filler *f, struct gs_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < f->m->function_count && !result; i++)
		result = add_addresses(f, &f->m->functions[i], err);
	return result;
}

/* ---- blocks ---- */

static int32_t shifted(int32_t index, uint32_t first)
{
	return index < 0 ? -1 : (int32_t)(first + (uint32_t)index);
}

static void fill_function(struct code_filler *f, uint32_t number)
{
	struct kernel_code *c = f->code;
	const struct mapped_function *own = &f->m->functions[number];
	const struct graph *g = own->graph;
	c->functions[c->function_count++] = own->first_block;
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct graph_block *b = &g->blocks[i];
		const uint32_t *code_at = &f->code_at[own->first_instruction + b->first];
		int32_t callee = mapped_callee(f->m, number, i);
		c->blocks[c->block_count++] = (struct code_block){
		    .first = code_at[0],
		    .count = code_at[b->count] - code_at[0],
		    .first_edge = own->first_edge + b->first_edge,
		    .edge_count = b->edge_count,
		    .call = callee < 0 ? -1 : (int32_t)f->m->functions[callee].first_block,
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

static int fill_blocks(struct code_filler *f)
{
	struct kernel_code *c = f->code;
	c->functions = calloc(f->m->function_count + 1u, sizeof *c->functions);
	c->blocks = calloc(f->m->block_count + 1u, sizeof *c->blocks);
	c->edges = calloc(f->m->edge_count + 1u, sizeof *c->edges);
	c->loops = calloc(f->m->loop_count + 1u, sizeof *c->loops);
	if (!c->functions || !c->blocks || !c->edges || !c->loops)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->m->function_count; i++)
		fill_function(f, i);
	return 0;
}

/* ---- the rest ---- */

static int fill_files(struct code_filler *f)
{
	struct kernel_code *c = f->code;
	c->files = calloc(f->m->module->file_count + 1u, sizeof *c->files);
	if (!c->files)
		return -ENOMEM;
	while (c->file_count < f->m->module->file_count && c->file_count < UINT16_MAX) {
		c->files[c->file_count] = code_keep(f, f->m->module->files[c->file_count].name);
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

/* Registers of the kernel with the deepest of the functions that it calls, which take theirs on top. */
static int fill_resources(struct code_filler *f, struct gs_error *err)
{
	struct kernel_code *c = f->code;
	uint32_t called = 0, spilled = 0;
	uint64_t shared = 0;
	for (uint32_t i = f->m->function_count; i-- > 0;) {
		const struct mapped_function *function = &f->m->functions[i];
		struct liveness l;
		int result = graph_liveness(function->graph, &l, err);
		if (result)
			return result;
		if (i && l.most > called)
			called = l.most;
		if (!i)
			c->registers = graph_registers(function->graph, &l, f->arch, called, &spilled);
		liveness_free(&l);
		shared += ptx_shared_bytes(f->m->module, function->ptx);
		c->local_bytes += local_bytes_of(function->ptx);
	}
	c->local_bytes += spilled * 4;
	c->shared_bytes = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX;
	c->instructions = f->m->functions[0].ptx->instruction_count;
	return 0;
}

int mapping_code(const struct mapping *m, const char *arch, struct kernel_code **out, struct gs_error *err)
{
	struct code_filler f = {.m = m, .arch = arch, .code = calloc(1, sizeof *f.code)};
	if (m->register_count > MOST_PTX_REGISTERS) {
		free(f.code);
		return gs_fail(err, ERANGE, "%u registers are named, more than %d", m->register_count, MOST_PTX_REGISTERS);
	}
	int result = f.code ? 0 : -ENOMEM;
	code_keep(&f, "");
	if (!result)
		result = fill_files(&f);
	if (!result)
		result = code_fill_instructions(&f);
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
		result = fill_resources(&f, err);
	gs_buf_free(&f.strings);
	free(f.code_at);
	if (result)
		code_free(f.code);
	else
		*out = f.code;
	return result;
}
