/*
 * The code of a kernel whose own blocks and edges were counted, because the host executed this very PTX (annotator/lift). There is nothing
 * to solve: the sum of an edge is given, every block has its row as a probe, and every access has its site.
 */
#include "analysis/mapping/internal.h"

#include <errno.h>
#include <stdlib.h>

static const struct mapping_row_table *table_of(const struct mapping *m, const struct mapping_rows *rows, uint32_t function)
{
	return &rows->functions[m->reached.functions[function].ptx - m->module->functions];
}

int mapping_place_rows(const struct mapping *m, const struct mapping_rows *rows, struct kernel_code *code, struct gs_error *err)
{
	code->probes = calloc(code->block_count + 1u, sizeof *code->probes);
	if (!code->probes)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < m->reached.count; i++) {
		const struct reached_function *f = &m->reached.functions[i];
		const struct mapping_row_table *t = table_of(m, rows, i);
		for (uint32_t b = 0; b < f->graph->block_count; b++) {
			struct code_block *block = &code->blocks[f->first_block + b];
			block->first_probe = code->probe_count;
			block->probe_count = 1;
			code->probes[code->probe_count++] = t->block_rows[b];
		}
		for (uint32_t k = 0; k < f->ptx->instruction_count; k++) {
			code->code[f->first_instruction + k].probes_before = 1;
			code->code[f->first_instruction + k].site = t->sites ? t->sites[k] : -1;
		}
	}
	code->site_count = rows->site_count;
	return 0;
}

static void add_terms(const struct mapping_rows *rows, const struct mapping_row_span *span, struct kernel_code *code, uint32_t edge)
{
	code->edges[edge].first_term = code->term_count;
	code->edges[edge].term_count = span->count;
	for (uint32_t i = 0; i < span->count; i++) {
		const struct mapping_row_term *t = &rows->terms[span->first + i];
		code->terms[code->term_count++] = (struct code_term){t->row, t->factor};
	}
}

static int add_sums(const struct mapping *m, const struct mapping_rows *rows, struct kernel_code *code, struct gs_error *err)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < m->reached.count; i++)
		for (uint32_t e = 0; e < m->reached.functions[i].graph->edge_count; e++)
			count += table_of(m, rows, i)->edge_terms[e].count;
	code->terms = count < UINT32_MAX ? calloc(count + 1, sizeof *code->terms) : NULL;
	if (!code->terms)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < m->reached.count; i++)
		for (uint32_t e = 0; e < m->reached.functions[i].graph->edge_count; e++)
			add_terms(rows, &table_of(m, rows, i)->edge_terms[e], code, m->reached.functions[i].first_edge + e);
	return 0;
}

static int check_rows(const struct mapping *m, const struct mapping_rows *rows, struct gs_error *err)
{
	for (uint32_t i = 0; i < m->reached.count; i++) {
		const struct mapping_row_table *t = table_of(m, rows, i);
		if (!t->block_rows || !t->edge_terms)
			return gs_fail(err, EINVAL, "%s is called, and was not counted", m->reached.functions[i].ptx->name);
	}
	return 0;
}

int mapping_counted(const struct ptx_module *module, const struct ptx_function *kernel, const struct mapping_rows *rows, const char *arch,
                    struct kernel_code **out, struct gs_error *err)
{
	struct mapping *m = NULL;
	struct kernel_code *code = NULL;
	int result = mapping_create(module, kernel, &m, err);
	if (!result)
		result = check_rows(m, rows, err);
	if (!result)
		result = mapping_code(m, NULL, rows, arch, &code, err);
	if (!result) {
		code->counter_count = rows->row_count;
		result = add_sums(m, rows, code, err);
	}
	mapping_free(m);
	if (result)
		code_free(code);
	else
		*out = code;
	return result;
}
