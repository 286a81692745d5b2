/* The code of lifted kernels on every target. All of them execute the same PTX, so only registers and machine code differ. */
#include "runtime/cc/lifted.h"

#include "analysis/builtins/target_name.h"
#include "runtime/cc/assemble.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What was counted, as the mapping reads it. */
struct counted {
	struct mapping_rows rows;
	struct mapping_row_table *functions;
	struct mapping_row_term *terms;
	struct mapping_row_span *spans; /* of all functions */
	int32_t *sites;                 /* of all instructions */
};

static void counted_free(struct counted *c)
{
	free(c->functions);
	free(c->terms);
	free(c->spans);
	free(c->sites);
}

static void fill_function(struct counted *c, const struct lifted *l, uint32_t function, size_t *span, size_t *site)
{
	const struct lift_function *f = &l->functions[function];
	uint32_t instructions = l->module->functions[function].instruction_count;
	struct mapping_row_table *t = &c->functions[function];
	if (!f->graph)
		return;
	*t = (struct mapping_row_table){.block_rows = f->block_rows, .edge_terms = c->spans + *span, .sites = c->sites + *site};
	for (uint32_t e = 0; e < f->graph->edge_count; e++)
		c->spans[(*span)++] = (struct mapping_row_span){f->edge_terms[e].first, f->edge_terms[e].count};
	for (uint32_t i = 0; i < instructions; i++)
		c->sites[(*site)++] = -1;
}

static int counted_make(struct counted *c, const struct lifted *l, struct gs_error *err)
{
	size_t edges = 0, instructions = 0, span = 0, site = 0;
	for (uint32_t i = 0; i < l->module->function_count; i++)
		if (l->functions[i].graph) {
			edges += l->functions[i].graph->edge_count;
			instructions += l->module->functions[i].instruction_count;
		}
	*c = (struct counted){.functions = calloc(l->module->function_count + 1u, sizeof *c->functions),
	                      .terms = calloc(l->term_count + 1u, sizeof *c->terms),
	                      .spans = calloc(edges + 1, sizeof *c->spans),
	                      .sites = calloc(instructions + 1, sizeof *c->sites)};
	if (!c->functions || !c->terms || !c->spans || !c->sites) {
		counted_free(c);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < l->term_count; i++)
		c->terms[i] = (struct mapping_row_term){l->terms[i].row, l->terms[i].factor};
	for (uint32_t i = 0; i < l->module->function_count; i++)
		fill_function(c, l, i, &span, &site);
	for (uint32_t i = 0; i < l->site_count; i++) {
		const struct mapping_row_table *t = &c->functions[l->sites[i].function];
		if (t->sites)
			((int32_t *)t->sites)[l->sites[i].instruction] = (int32_t)i;
	}
	c->rows = (struct mapping_rows){
	    .row_count = l->row_count, .site_count = l->site_count, .functions = c->functions, .terms = c->terms};
	return 0;
}

/* The code of a kernel that was not lifted: nothing of it is counted. It can still be shown. */
static int make_uncounted(const struct ptx_module *module, const struct ptx_function *kernel, const char *arch, struct kernel_code **code,
                          struct gs_error *err)
{
	const struct mapping_source nothing = {.counter_count = 0};
	struct mapping *m = NULL;
	int result = mapping_create(module, kernel, &m, err);
	if (!result)
		result = mapping_solve(m, &nothing, arch, code, err);
	mapping_free(m);
	return result;
}

static int make_code(const struct counted *c, const struct lifted *l, const struct lift_kernel *k, const char *arch,
                     struct kernel_code **code, struct gs_error *err)
{
	const struct ptx_function *f = &l->module->functions[k->function];
	return *k->refused.text ? make_uncounted(l->module, f, arch, code, err) : mapping_counted(l->module, f, &c->rows, arch, code, err);
}

static void write_kernel(const struct counted *c, const struct lifted *l, const struct lift_kernel *k, const char *target,
                         const struct assembled_module *machine, const struct own_code *own, struct gs_buf *section, struct gs_pack *result)
{
	struct kernel_code *code = NULL;
	struct gs_error err = {""};
	struct gs_buf bytes = {0};
	if (make_code(c, l, k, target_assembler(target), &code, &err)) {
		gs_buf_printf(section, "kernel %s failure %.*s\n", k->name, (int)strcspn(err.text, "\n"), err.text);
		return;
	}
	assemble_kernel(machine, own, l->module, k->name, code, section);
	gs_buf_printf(section, "kernel %s instructions=%u shared_bytes=%u registers=%u\n", k->name, code->instructions, code->shared_bytes,
	              code->registers);
	gs_buf_printf(&bytes, "%s %s\n", target, k->name);
	code_write(code, &bytes);
	gs_pack_add(result, "code", bytes.data, bytes.len);
	result->failed |= bytes.failed;
	gs_buf_free(&bytes);
	code_free(code);
}

int lifted_write_targets(const struct lifted *l, char *const *archs, size_t count, const struct gs_buf *ptx, const struct fatbin *image,
                         struct gs_pack *result, struct gs_error *err)
{
	struct counted c;
	int failed = counted_make(&c, l, err);
	if (failed)
		return failed;
	for (size_t t = 0; t < count; t++) {
		struct gs_buf section = {0};
		struct assembled_module machine;
		struct own_code own;
		assemble(ptx->data, ptx->len, l->module, archs[t], true, &machine);
		own_code_read(image, archs[t], &own);
		gs_buf_printf(&section, "%s\n", archs[t]);
		for (uint32_t i = 0; i < l->kernel_count; i++)
			write_kernel(&c, l, &l->kernels[i], archs[t], &machine, &own, &section, result);
		own_code_free(&own);
		assembled_module_free(&machine);
		gs_pack_add(result, "target", section.data, section.len);
		gs_pack_add(result, "ptx", ptx->data, ptx->len);
		result->failed |= section.failed;
		gs_buf_free(&section);
	}
	counted_free(&c);
	return 0;
}
