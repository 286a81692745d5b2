/* The tables of a CUDA module's result: rows, sites, kernels, parameters, variables. protocol.h describes every line. */
#include "runtime/cc/lifted.h"

#include "runtime/format/facts.h"

#include <string.h>

static void add_table(struct gs_pack *result, const char *name, struct gs_buf *text)
{
	gs_pack_add(result, name, text->data ? text->data : "", text->len);
	result->failed |= text->failed;
	gs_buf_free(text);
}

static bool is_lifted(const struct lift_kernel *k)
{
	return !*k->refused.text;
}

/* ---- places ---- */

/* Where something is: in the source, if the PTX says it (-lineinfo), else in the PTX. */
struct lifted_place {
	const char *file;
	uint32_t line, column;
};

static const char *file_name(const struct ptx_module *m, uint32_t number)
{
	for (uint32_t i = 0; i < m->file_count; i++)
		if (m->files[i].number == number && *m->files[i].name)
			return m->files[i].name;
	return NULL;
}

static struct lifted_place place_of(const struct ptx_module *m, const struct ptx_instruction *i)
{
	const char *file = i->line ? file_name(m, i->file) : NULL;
	return file ? (struct lifted_place){file, i->line, i->column} : (struct lifted_place){"ptx", i->ptx_line, 1};
}

/* The first instruction of a block, or the last one, which an edge leaves from. A block may be empty. */
static struct lifted_place place_of_block(const struct lifted *l, uint32_t function, uint32_t block, bool end)
{
	const struct ptx_function *f = &l->module->functions[function];
	const struct graph_block *b = &l->functions[function].graph->blocks[block];
	if (!b->count)
		return (struct lifted_place){"ptx", f->ptx_line, 1};
	return place_of(l->module, &f->instructions[end ? b->first + b->count - 1 : b->first]);
}

/* ---- rows ---- */

static const char *kind_of_row(const struct lift_row *r)
{
	if (r->edge >= 0)
		return "edge";
	return r->block ? "block" : "entry";
}

static void write_rows(const struct lifted *l, struct gs_pack *result)
{
	struct gs_buf table = {0}, details = {0};
	for (uint32_t i = 0; i < l->row_count; i++) {
		const struct lift_row *r = &l->rows[i];
		const struct graph *g = l->functions[r->function].graph;
		uint32_t block = r->edge >= 0 ? g->edges[r->edge].from : (uint32_t)r->block;
		struct lifted_place begin = place_of_block(l, r->function, block, r->edge >= 0), end = place_of_block(l, r->function, block, true);
		gs_buf_printf(&table, "%u 0 %s %s %u %u %s\n", i, l->module->functions[r->function].name, kind_of_row(r), begin.line,
		              begin.column, begin.file);
		gs_buf_printf(&details, "%u %u %u -1 -", i, end.line, end.column);
		for (uint32_t t = 0; t < r->term_count; t++)
			gs_buf_printf(&details, " %+d*%u", l->terms[r->first_term + t].factor, l->terms[r->first_term + t].row);
		gs_buf_puts(&details, "\n");
	}
	add_table(result, "blocks", &table);
	add_table(result, "block-details", &details);
}

static void write_loops(const struct lifted *l, struct gs_pack *result)
{
	struct gs_buf table = {0};
	for (uint32_t i = 0; i < l->loop_count; i++)
		gs_buf_printf(&table, "%u 0 %u %u %d 0\n", i, l->loops[i].parent, l->loops[i].body, l->loops[i].outer);
	add_table(result, "loops", &table);
}

static void write_sites(const struct lifted *l, struct gs_pack *result)
{
#define NAME(name) #name,
	static const char *const kinds[] = {TRACE_SITE_KINDS(NAME)}, *const spaces[] = {CODE_SPACES(NAME)};
#undef NAME
	struct gs_buf table = {0};
	for (uint32_t i = 0; i < l->site_count; i++) {
		const struct lift_site *s = &l->sites[i];
		struct lifted_place at = place_of(l->module, &l->module->functions[s->function].instructions[s->instruction]);
		gs_buf_printf(&table, "%u 0 %u %s %s %u %u %u %s\n", i, s->row, kinds[s->kind], spaces[s->space], s->bytes, at.line, at.column,
		              at.file);
	}
	add_table(result, "sites", &table);
}

/* ---- kernels ---- */

/* Whether a kernel makes a global address of a parameter. */
static bool is_address(const struct ptx_function *f, uint32_t parameter)
{
	int32_t loaded = -1;
	if (f->variables[parameter].pointer)
		return true;
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		const struct ptx_instruction *in = &f->instructions[i];
		const struct ptx_operand *o = in->operands;
		if (in->operand_count != 2 || o[0].kind != PTX_REGISTER)
			continue;
		if (in->space == SPACE_param && o[1].kind == PTX_ADDRESS && o[1].text && !o[1].value &&
		    !strcmp(o[1].text, f->variables[parameter].name))
			loaded = o[0].reg;
		else if (!strncmp(in->opcode, "cvta.to.global", strlen("cvta.to.global")) && o[1].reg >= 0 && o[1].reg == loaded)
			return true;
	}
	return false;
}

static bool has_loops(const struct lifted *l, uint32_t function)
{
	for (uint32_t i = 0; i < l->loop_count; i++)
		if (l->loops[i].function == function)
			return true;
	return false;
}

static void write_facts(const struct lifted *l, struct gs_pack *result)
{
	struct gs_buf safety = {0}, arguments = {0};
	for (uint32_t i = 0; i < l->kernel_count; i++) {
		const struct lift_kernel *k = &l->kernels[i];
		if (!is_lifted(k))
			continue;
		gs_buf_printf(&safety, "%s addresses%s%s%s\n", k->name, k->prints ? " prints" : "", k->waits ? " waits" : "",
		              has_loops(l, k->function) ? " parts" : "");
		gs_buf_puts(&arguments, k->name);
		for (uint32_t p = 0; p < k->parameter_count; p++)
			gs_buf_puts(&arguments, is_address(&l->module->functions[k->function], p) ? " global" : " value");
		gs_buf_puts(&arguments, "\n");
	}
	add_table(result, "safety", &safety);
	add_table(result, "arguments", &arguments);
}

static void write_kernels(const struct lifted *l, struct gs_pack *result)
{
	struct gs_buf names = {0}, columns = {0};
	for (uint32_t i = 0; i < l->kernel_count; i++) {
		const struct lift_kernel *k = &l->kernels[i];
		if (!is_lifted(k))
			continue;
		gs_buf_printf(&names, "%s %u\n", k->name, k->parameter_count);
		gs_buf_printf(&columns, "%s 0", k->name);
		for (uint32_t c = 0; c < k->column_count; c++)
			gs_buf_printf(&columns, " %u", k->columns[c]);
		gs_buf_puts(&columns, "\n");
	}
	add_table(result, "kernels", &names);
	gs_pack_puts(result, "layout", "item");
	add_table(result, "columns", &columns);
}

/* ---- the module ---- */

static void write_kernel(const struct lift_kernel *k, struct gs_buf *out)
{
	const struct lifted_sizes *s = &k->sizes;
	const uint32_t *m = k->maxntid, *r = k->reqntid;
	if (!is_lifted(k)) {
		gs_buf_printf(out, "refused %s %.*s\n", k->name, (int)strcspn(k->refused.text, "\n"), k->refused.text);
		return;
	}
	gs_buf_printf(out, "kernel %s %u %u %u %u %u %u %u %u %u %u ", k->name, s->parameter_bytes, s->shared_bytes, s->local_bytes,
	              s->warp_bytes, m[0], m[1], m[2], r[0], r[1], r[2]);
	gs_buf_printf(out, "%s%s%s%s%s%s%s%s", k->prints ? "p" : "", k->barriers ? "b" : "", k->waits ? "w" : "", k->fetches ? "f" : "", k->meets_groups ? "a" : "",
	              k->large ? "l" : "", k->of_warps ? "o" : "", k->prints || k->barriers || k->waits || k->meets_groups || k->large ? "" : "-");
	for (uint32_t p = 0; p < k->parameter_count; p++)
		gs_buf_printf(out, " %u:%u:%u", k->parameters[p].offset, k->parameters[p].bytes, k->parameters[p].align);
	gs_buf_puts(out, "\n");
	if (k->cluster[0])
		gs_buf_printf(out, "cluster %s %u %u %u\n", k->name, k->cluster[0], k->cluster[1], k->cluster[2]);
}

static void write_module(const struct lifted *l, struct gs_pack *result)
{
	struct gs_buf out = {0};
	gs_buf_printf(&out, "ptx %s %s\n", *l->module->version ? l->module->version : "0.0", *l->module->target ? l->module->target : "sm_0");
	for (uint32_t i = 0; i < l->kernel_count; i++)
		write_kernel(&l->kernels[i], &out);
	for (uint32_t i = 0; i < l->variable_count; i++) {
		const struct lift_variable *v = &l->variables[i];
		gs_buf_printf(&out, "variable %s %s %llu %llu %u\n", v->name, v->space == SPACE_const ? "const" : "global",
		              (unsigned long long)v->offset, (unsigned long long)v->bytes, v->align ? v->align : 1);
	}
	for (uint32_t i = 0; i < l->relocation_count; i++)
		gs_buf_printf(&out, "relocation %llu %llu %s\n", (unsigned long long)l->relocations[i].offset,
		              (unsigned long long)l->relocations[i].addend, l->relocations[i].function ? "function" : "data");
	add_table(result, "lifted", &out);
	gs_pack_add(result, "image", l->image_bytes ? (const char *)l->image : "", l->image_bytes);
}

void lifted_write_tables(const struct lifted *l, struct gs_pack *result)
{
	write_sites(l, result);
	write_kernels(l, result);
	write_facts(l, result);
	write_rows(l, result);
	write_loops(l, result);
	write_module(l, result);
}
