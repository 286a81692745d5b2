/* What a module has, and the text of all its kernels. */
#include "annotator/lift/lift.h"

#include "annotator/lift/internal.h"
#include "analysis/graph/contract.h"
#include "runtime/format/counters.h"
#include "runtime/format/native.h"
#include "runtime/format/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct gs_error *err)
{
	return gs_fail(err, ENOMEM, "out of memory");
}

/* ---- kernels ---- */

static int list_parameters(struct lift_kernel *k, const struct ptx_function *f)
{
	uint32_t at = 0;
	k->parameter_count = f->parameter_count;
	k->parameters = calloc(f->parameter_count + 1u, sizeof *k->parameters);
	for (uint32_t v = 0; k->parameters && v < f->parameter_count; v++) {
		uint32_t align = f->variables[v].align ? f->variables[v].align : 1;
		at = (at + align - 1) / align * align;
		k->parameters[v] = (struct lift_parameter){at, (uint32_t)f->variables[v].bytes, align};
		at += (uint32_t)f->variables[v].bytes;
	}
	return k->parameters ? 0 : -ENOMEM;
}

/* Graph, rows, sites and loops of a function that some kernel reaches. */
static int add_function(struct lifted *l, uint32_t function, struct gs_error *err)
{
	if (l->functions[function].graph)
		return 0;
	int result = graph_build(&l->module->functions[function], &l->functions[function].graph, err);
	if (!result && graph_contract(l->functions[function].graph, l->module->debug, &l->functions[function].contracted))
		result = out_of_memory(err);
	if (!result)
		result = add_rows(l, function, err);
	return result ? result : add_sites(l, function, err);
}

static int list_columns(const struct lifted *l, struct lift_kernel *k, const uint32_t *list, uint32_t count)
{
	k->columns = calloc(l->row_count + 1u, sizeof *k->columns);
	if (!k->columns)
		return -ENOMEM;
	for (uint32_t f = 0; f < count; f++)
		for (uint32_t r = 0; r < l->row_count; r++)
			if (l->rows[r].function == list[f] && !l->rows[r].term_count)
				k->columns[k->column_count++] = r;
	k->entry_row = l->functions[k->function].block_rows[0];
	return 0;
}

/* A kernel that cannot be lifted is no failure. */
static int refuse(struct lift_kernel *k, int result, const struct gs_error *why)
{
	if (result && result != -ENOMEM) {
		k->refused = *why;
		result = 0;
	}
	return result;
}

static int reach(struct lifted *l, struct lift_kernel *k, uint32_t *list, struct gs_error *err)
{
	struct gs_error why = {""};
	uint32_t count = 0;
	int result = reach_functions(l, k->function, list, &count, &why);
	for (uint32_t f = 0; f < count && !result; f++)
		result = add_function(l, list[f], &why);
	if (!result && list_columns(l, k, list, count))
		result = gs_fail(&why, ENOMEM, "out of memory");
	result = refuse(k, result, &why);
	return result ? gs_fail(err, ENOMEM, "%s", why.text) : 0;
}

/* Only writing a kernel's text shows that it can be lifted. */
static int measure(struct lifted *l, struct lift_kernel *k, struct gs_error *err)
{
	struct gs_error why = {""};
	struct kernel_plan plan = {0};
	struct gs_buf text = {0};
	int result = plan_kernel(l, k, &plan, &why);
	for (int form = LIFT_COUNTING; form <= LIFT_TRACING && !result; form++) {
		text.len = 0;
		result = write_kernel(&plan, (enum lift_form)form, &text, &why);
	}
	if (!result) {
		k->sizes = (struct lifted_sizes){plan.parameter_bytes, plan.shared_bytes, plan.local_bytes, plan.warp_bytes};
		k->prints = plan.prints;
		k->barriers = plan.barriers;
		k->waits = plan.waits_for_groups;
		k->fetches = plan.fetches_from_groups;
		k->meets_groups = plan.meets_groups;
		k->large = plan.in_pieces;
		k->of_warps = plan.of_warps;
	}
	plan_free(&plan);
	gs_buf_free(&text);
	result = refuse(k, result, &why);
	return result ? gs_fail(err, ENOMEM, "%s", why.text) : 0;
}

static int add_kernels(struct lifted *l, struct gs_error *err)
{
	const struct ptx_module *m = l->module;
	uint32_t *list = calloc(m->function_count + 1u, sizeof *list);
	l->kernels = calloc(m->function_count + 1u, sizeof *l->kernels);
	int result = list && l->kernels ? 0 : out_of_memory(err);
	for (uint32_t f = 0; f < m->function_count && !result; f++) {
		const struct ptx_function *own = &m->functions[f];
		if (!own->entry || own->external)
			continue;
		struct lift_kernel *k = &l->kernels[l->kernel_count++];
		*k = (struct lift_kernel){.name = own->name, .function = f};
		memcpy(k->reqntid, own->reqntid, sizeof k->reqntid);
		memcpy(k->maxntid, own->maxntid, sizeof k->maxntid);
		memcpy(k->cluster, own->reqnctapercluster, sizeof k->cluster);
		result = list_parameters(k, own) ? out_of_memory(err) : reach(l, k, list, err);
	}
	for (uint32_t k = 0; k < l->kernel_count && !result; k++)
		if (!*l->kernels[k].refused.text)
			result = measure(l, &l->kernels[k], err);
	free(list);
	return result;
}

int lift_module(const struct ptx_module *module, struct lifted **out, struct gs_error *err)
{
	struct lifted *l = calloc(1, sizeof *l);
	int result = l ? 0 : out_of_memory(err);
	if (!result) {
		l->module = module;
		l->functions = calloc(module->function_count + 1u, sizeof *l->functions);
		result = l->functions ? lay_out_variables(l, err) : out_of_memory(err);
	}
	if (!result)
		result = add_kernels(l, err);
	if (!result && !l->kernel_count)
		result = gs_fail(err, EINVAL, "the PTX has no kernel");
	if (result)
		lift_free(l);
	else
		*out = l;
	return result;
}

void lift_free(struct lifted *l)
{
	if (!l)
		return;
	for (uint32_t k = 0; k < l->kernel_count; k++) {
		free(l->kernels[k].parameters);
		free(l->kernels[k].columns);
	}
	for (uint32_t f = 0; l->functions && f < l->module->function_count; f++) {
		graph_free(l->functions[f].graph);
		free(l->functions[f].contracted);
		free(l->functions[f].block_rows);
		free(l->functions[f].edge_terms);
	}
	free(l->variables);
	free(l->image);
	free(l->relocations);
	free(l->kernels);
	free(l->rows);
	free(l->terms);
	free(l->functions);
	free(l->sites);
	free(l->loops);
	free(l);
}

/* ---- text ---- */

static void write_constants(const struct lifted *l, struct gs_buf *out)
{
	static const struct {
		const char *name;
		unsigned value;
	} values[] = {{"GS_COUNTER_HEADER", COUNTER_HEADER_WORDS}, {"GS_COUNTER_BITS", COUNTER_SIZE_BITS},
	              {"GS_LIFTED_MISALIGNED", LIFTED_MISALIGNED}, {"GS_LIFTED_TRAP", LIFTED_TRAP},             {"GS_LIFTED_ASSERT", LIFTED_ASSERT},
	              {"GS_LIFTED_STACK", LIFTED_STACK},           {"GS_LIFTED_DEADLOCK", LIFTED_DEADLOCK},
	              {"GS_LIFTED_BAD_TARGET", LIFTED_BAD_TARGET}, {"GS_LIFTED_ELSEWHERE", LIFTED_ELSEWHERE},
	              {"GS_MOST_SPINS", 1000},                     {"GS_MOST_LOOKS", 16},
	              {"GS_GROUP_BYTES", LIFTED_GROUP_BYTES},      {"GS_ORDER_NUMBER", LIFTED_TRACED - 1},
	              {"GS_MOST_PRINTED", 64}};
	for (size_t i = 0; i < GS_ARRAY_LEN(values); i++)
		gs_buf_printf(out, "#define %s %u\n", values[i].name, values[i].value);
	gs_buf_printf(out, "#define GS_ROWS %uu\n#define GS_SITES %uu\n#define GS_LOOPS %uu\n#define GS_NATIVE \"%s\"\n", l->row_count, l->site_count,
	              l->loop_count, NATIVE_PREFIX);
}

static void write_launch(struct gs_buf *out)
{
	gs_buf_puts(out, "struct gs_launch { ulong ");
#define WORD_1(name) #name ", "
#define WORD_3(name) #name "[3], "
#define WORD(name, words) WORD_##words(name)
	gs_buf_puts(out, LIFTED_LAUNCH(WORD) "end; };\n");
#undef WORD
#undef WORD_3
#undef WORD_1
	gs_buf_puts(out, "struct gs_fault_words { uint kind, line; ulong group, words[4]; };\n"
	                 "struct gs_prints_words { ulong room, used, lost; };\nstruct gs_heap { ulong lock, bytes, used, live, lists[128]; };\n");
}

int lift_write(const struct lifted *l, enum lift_form form, struct gs_buf *out, struct gs_error *err)
{
	int result = 0;
	gs_buf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	                 "#pragma OPENCL FP_CONTRACT OFF\n");
	write_constants(l, out);
	write_launch(out);
	gs_buf_puts(out, lift_frame_builtins);
	gs_buf_puts(out, lift_prelude);
	gs_buf_puts(out, lift_frame);
	if (form == LIFT_TRACING)
		gs_buf_puts(out, lift_frame_tracing);
	for (uint32_t k = 0, index = 0; k < l->kernel_count && !result; k++) {
		struct kernel_plan plan = {0};
		if (*l->kernels[k].refused.text)
			continue;
		gs_buf_printf(out, "#if !defined(" ONLY_MACRO ") || " ONLY_MACRO " == %u\n", index++);
		result = plan_kernel(l, &l->kernels[k], &plan, err);
		if (!result)
			result = write_kernel(&plan, form, out, err);
		gs_buf_puts(out, "#endif\n");
		plan_free(&plan);
	}
	return result ? result : out->failed ? out_of_memory(err) : 0;
}
