/* The code of every kernel of gpusim-cc's answer; see explain.h. */
#include "runtime/cmd/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct gs_error *err)
{
	return gs_fail(err, ENOMEM, "out of memory");
}

/* ---- from PTX, where the answer has no code of its own ---- */

static uint16_t file_index(const struct ptx_module *module, uint32_t number)
{
	uint32_t i = 0;
	while (i < module->file_count && module->files[i].number != number)
		i++;
	return (uint16_t)(i < module->file_count ? i : UINT16_MAX);
}

static uint32_t keep(struct gs_buf *strings, const char *text)
{
	uint32_t offset = (uint32_t)strings->len;
	gs_buf_add(strings, text, strlen(text) + 1);
	return offset;
}

static void fill_instruction(struct kernel_code *c, const struct ptx_module *module, const struct ptx_instruction *in,
                             struct gs_buf *strings)
{
	struct ptx_uses u;
	struct code_instruction *out = &c->code[c->code_count++];
	ptx_uses(in, &u);
	*out = (struct code_instruction){.class = in->class, .space = in->space, .bytes = in->bytes,
	                                 .elements = in->elements, .flags = in->flags, .writes = u.writes,
	                                 .reads = u.reads, .waits = u.waits, .first_operand = c->operand_count,
	                                 .opcode = keep(strings, in->opcode)};
	uint16_t file = file_index(module, in->file);
	if (in->file && file != UINT16_MAX) {
		out->file = file;
		out->line = in->line;
	}
	for (uint32_t i = 0; i < (uint32_t)u.writes + u.reads + u.waits; i++)
		c->operands[c->operand_count++] = u.list[i];
}

static void fill_graph(struct kernel_code *c, const struct graph *g)
{
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct graph_block *b = &g->blocks[i];
		c->blocks[c->block_count++] = (struct code_block){.first = b->first, .count = b->count,
		                                                  .first_edge = b->first_edge, .edge_count = b->edge_count,
		                                                  .call = -1, .join = b->ipdom, .loop = b->loop};
	}
	for (uint32_t i = 0; i < g->edge_count; i++)
		c->edges[c->edge_count++] = (struct code_edge){.from = g->edges[i].from, .to = g->edges[i].to,
		                                               .taken = g->edges[i].taken, .denominator = 1};
	for (uint32_t i = 0; i < g->loop_count; i++)
		c->loops[c->loop_count++] = (struct code_loop){.header = g->loops[i].header, .outer = g->loops[i].outer};
	for (uint32_t i = 0; i < g->function->register_count; i++) {
		const struct ptx_register *r = &g->function->registers[i];
		c->register_table[c->register_count++] = (struct code_register){
			.number = (uint16_t)r->number, .words = (uint8_t)(r->bits == 1 ? 0 : (r->bits + 31) / 32)};
	}
	c->function_count = 1;
}

static struct kernel_code *code_from_graph(const struct ptx_module *module, const struct graph *g)
{
	const struct ptx_function *f = g->function;
	struct kernel_code *c = calloc(1, sizeof *c);
	struct gs_buf strings = {0};
	if (!c)
		return NULL;
	c->instructions = f->instruction_count;
	c->shared_bytes = (uint32_t)ptx_shared_bytes(module, f);
	c->code = calloc(f->instruction_count + 1u, sizeof *c->code);
	c->operands = calloc((size_t)f->instruction_count * PTX_MAX_REGISTERS + 1, sizeof *c->operands);
	c->register_table = calloc(f->register_count + 1u, sizeof *c->register_table);
	c->blocks = calloc(g->block_count, sizeof *c->blocks);
	c->edges = calloc(g->edge_count + 1u, sizeof *c->edges);
	c->loops = calloc(g->loop_count + 1u, sizeof *c->loops);
	c->functions = calloc(1, sizeof *c->functions);
	c->files = calloc(module->file_count + 1u, sizeof *c->files);
	if (!c->code || !c->operands || !c->register_table || !c->blocks || !c->edges || !c->loops || !c->functions ||
	    !c->files) {
		code_free(c);
		return NULL;
	}
	for (uint32_t i = 0; i < module->file_count; i++)
		c->files[c->file_count++] = keep(&strings, module->files[i].name);
	for (uint32_t i = 0; i < f->instruction_count; i++)
		fill_instruction(c, module, &f->instructions[i], &strings);
	fill_graph(c, g);
	c->strings = strings.data ? strings.data : calloc(1, 1);
	c->string_bytes = (uint32_t)strings.len;
	return c;
}

/* ---- of the answer ---- */

/* The section "code" of a kernel: its first line is ARCHITECTURE NAME. */
static const struct gs_section *code_section(const struct gs_pack *answer, const char *kernel, size_t *header)
{
	for (size_t i = 0; i < answer->count; i++) {
		const struct gs_section *s = &answer->sections[i];
		const char *end = memchr(s->data, '\n', s->len), *blank = memchr(s->data, ' ', s->len);
		if (strcmp(s->name, "code") || !end || !blank || blank > end ||
		    strlen(kernel) != (size_t)(end - blank - 1) || memcmp(blank + 1, kernel, strlen(kernel)))
			continue;
		*header = (size_t)(end - s->data) + 1;
		return s;
	}
	return NULL;
}

static uint32_t registers_of(const struct explain *e, struct explain_kernel *k, struct gs_error *err)
{
	struct liveness l;
	if (graph_liveness(k->graph, &l, err))
		return 0;
	uint32_t registers = graph_registers(k->graph, &l, e->gpu.arch, 0, &k->spilled);
	k->live = l.most;
	liveness_free(&l);
	return registers;
}

/* ".entry NAME( ... )": how many of its parameters are ".ptr .shared", which the reader does not keep. */
static uint32_t count_local_pointers(const char *ptx, const char *kernel)
{
	static const char entry[] = ".entry ", pointer[] = ".ptr .shared";
	size_t length = strlen(kernel);
	uint32_t count = 0;
	while ((ptx = strstr(ptx, entry))) {
		ptx += strlen(entry);
		if (strncmp(ptx, kernel, length) || ptx[length] != '(')
			continue;
		const char *end = strchrnul(ptx, ')');
		for (const char *p = ptx; (p = strstr(p, pointer)) && p < end; p++)
			count++;
	}
	return count;
}

static int read_kernel(struct explain *e, struct explain_kernel *k, const struct gs_pack *answer, struct gs_error *err)
{
	size_t header = 0;
	int result = graph_build(k->function, &k->graph, err);
	if (result)
		return result;
	const struct gs_section *s = code_section(answer, k->name, &header);
	if (s)
		result = code_read(s->data + header, s->len - header, &k->code, err);
	else
		k->code = code_from_graph(e->module, k->graph);
	if (!result && !k->code)
		result = out_of_memory(err);
	uint32_t registers = result ? 0 : registers_of(e, k, err);
	k->local_pointers = count_local_pointers(gs_pack_text(answer, "ptx"), k->name);
	if (!result && !k->code->registers)
		k->code->registers = registers;
	return result;
}

static int no_such_kernel(const struct explain *e, const char *only, struct gs_error *err)
{
	const char **names = calloc(e->module->function_count + 1u, sizeof *names);
	size_t count = 0;
	for (uint32_t i = 0; names && i < e->module->function_count; i++)
		if (e->module->functions[i].entry)
			names[count++] = e->module->functions[i].name;
	const char *nearest = names && only ? gs_nearest(only, names) : NULL;
	int result = !only ? gs_fail(err, ENOENT, "%s has no kernel", e->source.file)
		     : nearest
			 ? gs_fail(err, ENOENT, "%s has no kernel '%s'; did you mean '%s'?", e->source.file, only, nearest)
			 : gs_fail(err, ENOENT, "%s has no kernel '%s'", e->source.file, only);
	free(names);
	return result;
}

int explain_read_code(struct explain *e, const struct gs_pack *answer, const char *only, struct gs_error *err)
{
	const char *ptx = gs_pack_text(answer, "ptx");
	int result = ptx_read(ptx, strlen(ptx), &e->module, err);
	if (result)
		return result;
	e->kernels = calloc(e->module->function_count + 1u, sizeof *e->kernels);
	if (!e->kernels)
		return out_of_memory(err);
	for (uint32_t i = 0; i < e->module->function_count && !result; i++) {
		const struct ptx_function *f = &e->module->functions[i];
		if (!f->entry || (only && strcmp(only, f->name)))
			continue;
		struct explain_kernel *k = &e->kernels[e->kernel_count++];
		k->name = f->name;
		k->function = f;
		result = read_kernel(e, k, answer, err);
	}
	return result || e->kernel_count ? result : no_such_kernel(e, only, err);
}

void explain_free(struct explain *e)
{
	for (size_t i = 0; i < e->kernel_count; i++) {
		struct explain_kernel *k = &e->kernels[i];
		for (uint32_t l = 0; k->lines && l <= e->source.line_count; l++)
			explain_line_free(&k->lines[l]);
		for (size_t p = 0; p < k->place_count; p++)
			explain_line_free(&k->places[p].line);
		explain_line_free(&k->elsewhere);
		explain_line_free(&k->all);
		free(k->unrolled);
		free(k->lines);
		free(k->places);
		graph_free(k->graph);
		code_free(k->code);
	}
	free(e->kernels);
	ptx_free(e->module);
	explain_source_free(&e->source);
}
