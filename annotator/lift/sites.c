/* The places that access memory, and the loops, of a function. */
#include "annotator/lift/internal.h"
#include "annotator/lift/segments.h"
#include "models/trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool has_site(const struct ptx_instruction *i)
{
	if (i->space == SPACE_texture)
		return !strncmp(i->opcode, "tex.", 4) || !strncmp(i->opcode, "tld4.", 5) || !strncmp(i->opcode, "suld.", 5) || !strncmp(i->opcode, "sust.", 5);
	if (i->class != CODE_load && i->class != CODE_store && i->class != CODE_atomic)
		return false;
	switch (i->space) {
	case SPACE_global: case SPACE_shared: case SPACE_local: case SPACE_const: case SPACE_generic: return true;
	default: return false;
	}
}

/* Whether a fetch is between texels is the sampler's matter where its coordinates are reals. */
static enum trace_site_kind image_kind(const struct ptx_instruction *i)
{
	const char *type = strrchr(i->opcode, '.');
	bool fetch = !strncmp(i->opcode, "tex.", 4) || !strncmp(i->opcode, "tld4.", 5);
	return i->class == CODE_store ? TRACE_image_write : fetch && type && !strcmp(type, ".f32") ? TRACE_image_filter : TRACE_image_read;
}

static enum trace_site_kind kind_of(const struct ptx_instruction *i)
{
	if (i->space == SPACE_texture)
		return image_kind(i);
	return ptx_is_bulk(i) ? TRACE_bulk : i->class == CODE_load ? TRACE_load : i->class == CODE_store ? TRACE_store : TRACE_atomic;
}

int32_t site_of(const struct lifted *l, uint32_t function, uint32_t instruction)
{
	for (uint32_t s = 0; s < l->site_count; s++)
		if (l->sites[s].function == function && l->sites[s].instruction == instruction)
			return (int32_t)s;
	return -1;
}

static int list_sites(struct lifted *l, uint32_t function)
{
	const struct lift_function *f = &l->functions[function];
	const struct ptx_function *own = &l->module->functions[function];
	struct lift_site *larger = realloc(l->sites, (l->site_count + own->instruction_count + 1u) * sizeof *larger);
	if (!larger)
		return -ENOMEM;
	l->sites = larger;
	for (uint32_t i = 0; i < own->instruction_count; i++) {
		const struct ptx_instruction *in = &own->instructions[i];
		if (!has_site(in))
			continue;
		l->sites[l->site_count++] = (struct lift_site){
			.function = function,
			.instruction = i,
			.row = f->block_rows[graph_block_of(f->graph, i)],
			.kind = kind_of(in),
			.space = in->space,
			.bytes = in->bytes};
	}
	return 0;
}

/* ---- loops ---- */

static int add_term_of_row(struct lifted *l, const struct lift_term *term)
{
	for (uint32_t t = l->rows[l->row_count - 1].first_term; t < l->term_count; t++)
		if (l->terms[t].row == term->row) {
			l->terms[t].factor += term->factor;
			return 0;
		}
	struct lift_term *larger = realloc(l->terms, (l->term_count + 1u) * sizeof *larger);
	if (!larger)
		return -ENOMEM;
	l->terms = larger;
	larger[l->term_count++] = *term;
	return 0;
}

/* A new row: the sum of the edges that enter a loop. */
static int add_entry_row(struct lifted *l, uint32_t function, uint32_t loop)
{
	const struct lift_function *f = &l->functions[function];
	const struct graph_block *header = &f->graph->blocks[f->graph->loops[loop].header];
	struct lift_row *larger = realloc(l->rows, (l->row_count + 1u) * sizeof *larger);
	int result = larger ? 0 : -ENOMEM;
	if (result)
		return result;
	l->rows = larger;
	struct lift_row *row = &larger[l->row_count++];
	*row = (struct lift_row){.function = function, .block = -1, .edge = (int32_t)f->graph->in[header->first_in], .first_term = l->term_count};
	for (uint32_t i = 0; i < header->in_count && !result; i++) {
		uint32_t edge = f->graph->in[header->first_in + i];
		if (f->graph->edges[edge].back || !f->graph->blocks[f->graph->edges[edge].from].reachable)
			continue;
		row->edge = (int32_t)edge;
		for (uint32_t t = 0; t < f->edge_terms[edge].count && !result; t++) {
			struct lift_term term = l->terms[f->edge_terms[edge].first + t];
			result = add_term_of_row(l, &term);
		}
	}
	l->rows[l->row_count - 1].term_count = l->term_count - l->rows[l->row_count - 1].first_term;
	if (!result && !l->rows[l->row_count - 1].term_count) { /* the loop is the begin of the function */
		struct lift_term none = {f->block_rows[0], 0};
		result = add_term_of_row(l, &none);
		l->rows[l->row_count - 1].term_count = 1;
	}
	return result;
}

/* The row of the only block that leads to the loop and nowhere else, or -1. */
static int64_t preheader_row(const struct lift_function *f, uint32_t loop)
{
	const struct graph_block *header = &f->graph->blocks[f->graph->loops[loop].header];
	int64_t found = -1;
	uint32_t entries = 0;
	for (uint32_t i = 0; i < header->in_count; i++) {
		const struct graph_edge *e = &f->graph->edges[f->graph->in[header->first_in + i]];
		if (e->back || !f->graph->blocks[e->from].reachable)
			continue;
		entries++;
		found = f->graph->blocks[e->from].edge_count == 1 && !f->graph->blocks[e->from].calls ? (int64_t)f->block_rows[e->from] : -1;
	}
	return entries == 1 ? found : -1;
}

static int list_loops(struct lifted *l, uint32_t function)
{
	const struct lift_function *f = &l->functions[function];
	uint32_t first = l->loop_count;
	struct lift_loop *larger = realloc(l->loops, (l->loop_count + f->graph->loop_count + 1u) * sizeof *larger);
	int result = larger ? 0 : -ENOMEM;
	l->loops = larger ? larger : l->loops;
	for (uint32_t i = 0; i < f->graph->loop_count && !result; i++) {
		const struct graph_loop *own = &f->graph->loops[i];
		int64_t parent = preheader_row(f, i);
		if (parent < 0)
			result = add_entry_row(l, function, i);
		l->loops[l->loop_count++] = (struct lift_loop){.function = function,
		                                               .body = f->block_rows[own->header],
		                                               .parent = parent < 0 ? l->row_count - 1 : (uint32_t)parent,
		                                               .outer = own->outer < 0 ? -1 : (int32_t)(first + (uint32_t)own->outer)};
	}
	return result;
}

int add_sites(struct lifted *l, uint32_t function, struct gs_error *err)
{
	int result = list_sites(l, function);
	if (!result)
		result = list_loops(l, function);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
