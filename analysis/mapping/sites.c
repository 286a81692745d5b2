/*
 * Finds which source blocks begin where in the target's code, and which site of the source each of its accesses belongs to.
 *
 * Blocks are found by their probes. Accesses are found by .loc: line and column, and also by kind, space and size. A compiler may have
 * split one access (a structure, vload4): then several instructions belong to a site. It may have merged several (neighbours of an
 * unrolled loop): then the instruction belongs to the first site. If no site has the column, the line is enough, provided that only
 * one access on it fits the instruction. Some instructions lose their place, or take that of a use of their value. They may still be
 * the only one that fits among the sites of the source blocks that begin around them, or among the sites of the kernel that have no
 * instruction yet.
 */
#include "analysis/mapping/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- probes ---- */

static void list_of(const struct mapping *m, struct kernel_code *c, const struct probe_copy *copy, uint32_t **first,
                    uint32_t **count)
{
	const struct reached_function *f = &m->reached.functions[copy->function];
	if (copy->edge >= 0) {
		struct code_edge *e = &c->edges[f->first_edge + (uint32_t)copy->edge];
		*first = &e->first_probe;
		*count = &e->probe_count;
	} else {
		struct code_block *b = &c->blocks[f->first_block + copy->block];
		*first = &b->first_probe;
		*count = &b->probe_count;
	}
}

/* The probe covers everything from its place to the end of its block. */
static void stands_before(const struct mapping *m, struct kernel_code *c, const struct probe_copy *copy)
{
	const struct reached_function *f = &m->reached.functions[copy->function];
	const struct graph_block *b = &f->graph->blocks[copy->block];
	for (uint32_t i = copy->at; i < b->first + b->count; i++)
		c->code[f->first_instruction + i].probes_before++;
}

int mapping_probes(const struct mapping *m, const struct mapping_source *source, struct kernel_code *code,
                   struct gs_error *err)
{
	uint32_t *first, *count;
	code->probes = calloc(m->copy_count + 1u, sizeof *code->probes);
	if (!code->probes)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < m->copy_count; i++) {
		list_of(m, code, &m->copies[i], &first, &count);
		*count += m->copies[i].id < source->counter_count;
	}
	/* Copies are in the order of the text. Copies on an edge may lie between copies in a block. */
	for (uint32_t i = 0; i < m->copy_count; i++) {
		list_of(m, code, &m->copies[i], &first, &count);
		if (m->copies[i].id >= source->counter_count)
			continue;
		if (!*first) { /* 0 means not placed yet, so numbers are one higher until all are placed */
			*first = code->probe_count + 1;
			code->probe_count += *count;
			*count = 0;
		}
		code->probes[*first - 1 + (*count)++] = m->copies[i].id;
		if (m->copies[i].edge < 0)
			stands_before(m, code, &m->copies[i]);
	}
	for (uint32_t i = 0; i < code->block_count; i++)
		code->blocks[i].first_probe -= code->blocks[i].first_probe != 0;
	for (uint32_t i = 0; i < code->edge_count; i++)
		code->edges[i].first_probe -= code->edges[i].first_probe != 0;
	return 0;
}

/* ---- sites ---- */

struct tie {
	const struct mapping *m;
	const struct mapping_source *source;
	struct kernel_code *code;
	int32_t *file_of; /* per site: its file among the module's files; -1: none */
	bool *in_kernel;  /* per source block: the kernel's code has its probe */
	bool *has_some;   /* per site: some instruction belongs to it */
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Looks for the same name first, then for a name with the same ending: a compiler may put its folder before it. */
static int32_t file_of_site(const struct ptx_module *module, const char *name)
{
	for (uint32_t i = 0; i < module->file_count; i++)
		if (!strcmp(module->files[i].name, name))
			return (int32_t)i;
	for (uint32_t i = 0; i < module->file_count; i++)
		if (!strcmp(last_part(module->files[i].name), last_part(name)))
			return (int32_t)i;
	return -1;
}

static bool kind_fits(const struct code_instruction *in, const struct trace_site *s)
{
	switch ((enum trace_site_kind)s->kind) {
	case TRACE_load:
		return in->class == CODE_load;
	case TRACE_store:
		return in->class == CODE_store;
	case TRACE_atomic:
		return in->class == CODE_atomic;
	case TRACE_copy_in:
	case TRACE_copy_out:
	case TRACE_bulk:
		return in->class == CODE_load || in->class == CODE_store;
	case TRACE_image_read:
	case TRACE_image_write:
	case TRACE_image_filter:
		return in->class == CODE_texture || in->flags & CODE_CALL;
	default:
		return false;
	}
}

static bool is_copy(const struct trace_site *s)
{
	return s->kind == TRACE_copy_in || s->kind == TRACE_copy_out;
}

static bool is_image(const struct trace_site *s)
{
	return s->kind == TRACE_image_read || s->kind == TRACE_image_write || s->kind == TRACE_image_filter;
}

/* Constants may lie in global memory. If the compiler does not know the space, it is generic. A copy has two spaces. */
static bool space_fits(const struct code_instruction *in, const struct trace_site *s)
{
	return in->space == s->space || in->space == SPACE_generic || s->space == SPACE_generic || is_copy(s) || is_image(s) ||
	       (in->space == SPACE_const && s->space == SPACE_global) || (in->space == SPACE_global && s->space == SPACE_const);
}

/* The instruction accesses all of the site, a part of it, or the site and its neighbours. */
static bool bytes_fit(const struct code_instruction *in, const struct trace_site *s)
{
	if (in->bytes <= s->bytes || is_copy(s) || is_image(s))
		return true;
	return in->elements > 1 && s->bytes && in->bytes % s->bytes == 0;
}

static bool fits(const struct code_instruction *in, const struct trace_site *s)
{
	return kind_fits(in, s) && space_fits(in, s) && bytes_fit(in, s);
}

/* How well a site and an instruction on the same line agree, above 0. */
static int agreement(const struct code_instruction *in, const struct trace_site *s)
{
	return 1 + (in->bytes == s->bytes) + 2 * (in->space == s->space) + 4 * (in->column == s->column);
}

/* The site that agrees best. -1: none agrees, or two agree and neither has the instruction's column. */
static int32_t find_site(const struct tie *t, const struct code_instruction *in)
{
	int32_t best = -1;
	int most = 0;
	bool alone = true;
	for (uint32_t i = 0; i < t->source->site_count; i++) {
		const struct trace_site *s = &t->source->sites[i].site;
		if (s->line != in->line || t->file_of[i] != (int32_t)in->file || !fits(in, s))
			continue;
		int n = agreement(in, s);
		alone = n != most && (alone || n > most);
		if (n > most) {
			most = n;
			best = (int32_t)i;
		}
	}
	return best >= 0 && (alone || t->source->sites[best].site.column == in->column) ? best : -1;
}

static bool may_have_site(const struct code_instruction *in)
{
	bool memory = in->class == CODE_load || in->class == CODE_store || in->class == CODE_atomic;
	return (memory && in->space != SPACE_param && in->space != SPACE_none) || in->class == CODE_texture ||
	       in->flags & CODE_CALL;
}

/* ---- instructions without a source line ---- */

static bool begins_in(const struct kernel_code *c, const struct code_block *b, uint32_t source_block)
{
	for (uint32_t i = b->first_probe; i < b->first_probe + b->probe_count; i++)
		if (c->probes[i] == source_block)
			return true;
	return false;
}

/* The only site that fits exactly, among the source blocks that begin in block `b`. If `b` is NULL: among the sites without
 * instructions. */
static int32_t only_site(const struct tie *t, const struct code_instruction *in, const struct code_block *b)
{
	int32_t found = -1;
	for (uint32_t i = 0; i < t->source->site_count; i++) {
		const struct trace_site *s = &t->source->sites[i].site;
		if (!fits(in, s) || in->space != s->space || in->bytes != s->bytes || is_copy(s) || is_image(s) ||
		    s->block >= t->source->counter_count || !t->in_kernel[s->block] ||
		    (b ? !begins_in(t->code, b, s->block) : t->has_some[i]))
			continue;
		if (found >= 0)
			return -1;
		found = (int32_t)i;
	}
	return found;
}

static void tie_rest(struct tie *t, const struct reached_function *f, bool around)
{
	for (uint32_t i = 0; i < f->graph->block_count; i++) {
		const struct code_block *b = &t->code->blocks[f->first_block + i];
		for (uint32_t j = b->first; j < b->first + b->count; j++) {
			struct code_instruction *in = &t->code->code[j];
			if (in->site < 0 && may_have_site(in) && !(in->flags & CODE_CALL))
				in->site = only_site(t, in, around ? b : NULL);
		}
	}
}

/* ---- parts ---- */

static const struct ptx_operand *address_of(const struct ptx_instruction *in)
{
	for (uint32_t i = 0; i < in->operand_count; i++)
		if (in->operands[i].kind == PTX_ADDRESS)
			return &in->operands[i];
	return NULL;
}

static bool same_base(const struct ptx_operand *a, const struct ptx_operand *b)
{
	if (!a || !b || a->reg != b->reg)
		return false;
	return a->reg >= 0 || (a->text && b->text && !strcmp(a->text, b->text));
}

/* The offset of a part of a site. The constants in the addresses give it, counted from the first part. If an unrolled loop has
 * many parts, its elements lie one after the other. */
static uint32_t offset_in_site(const struct tie *t, const struct reached_function *f, const struct graph_block *b, uint32_t at)
{
	const struct code_instruction *code = t->code->code + f->first_instruction;
	const struct ptx_operand *own = address_of(&f->ptx->instructions[at]);
	uint32_t bytes = t->source->sites[code[at].site].site.bytes;
	int64_t least = own ? own->value : 0;
	if (!own || code[at].bytes >= bytes)
		return 0;
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		const struct ptx_operand *other = address_of(&f->ptx->instructions[i]);
		if (code[i].site == code[at].site && same_base(own, other) && other->value < least)
			least = other->value;
	}
	return (uint32_t)((own->value - least) % bytes);
}

static void tie_places(struct tie *t, const struct reached_function *f)
{
	struct code_instruction *code = t->code->code + f->first_instruction;
	for (uint32_t i = 0; i < f->ptx->instruction_count; i++) {
		code[i].site = may_have_site(&code[i]) && code[i].line ? find_site(t, &code[i]) : -1;
		if (code[i].site >= 0)
			t->has_some[code[i].site] = true;
	}
}

static void fill_offsets(struct tie *t, const struct reached_function *f)
{
	struct code_instruction *code = t->code->code + f->first_instruction;
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *block = &f->graph->blocks[b];
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			if (code[i].site >= 0)
				code[i].site_offset = offset_in_site(t, f, block, i);
	}
}

int mapping_sites(const struct mapping *m, const struct mapping_source *source, struct kernel_code *code,
                  struct gs_error *err)
{
	struct tie t = {.m = m, .source = source, .code = code, .file_of = calloc(source->site_count + 1u, sizeof *t.file_of),
	                .in_kernel = calloc(source->counter_count + 1u, sizeof *t.in_kernel),
	                .has_some = calloc(source->site_count + 1u, sizeof *t.has_some)};
	int result = t.file_of && t.in_kernel && t.has_some ? 0 : gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < source->site_count && !result; i++)
		t.file_of[i] = file_of_site(m->module, source->sites[i].file);
	for (uint32_t i = 0; i < code->probe_count && !result; i++)
		t.in_kernel[code->probes[i]] = true;
	for (uint32_t i = 0; i < m->reached.count && !result; i++)
		tie_places(&t, &m->reached.functions[i]);
	for (uint32_t i = 0; i < 2 * m->reached.count && !result; i++)
		tie_rest(&t, &m->reached.functions[i % m->reached.count], i < m->reached.count);
	for (uint32_t i = 0; i < m->reached.count && !result; i++)
		fill_offsets(&t, &m->reached.functions[i]);
	code->site_count = source->site_count;
	free(t.file_of);
	free(t.in_kernel);
	free(t.has_some);
	return result;
}
