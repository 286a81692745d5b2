/*
 * The text is copied, and lines of ours are inserted before lines of it. A row of a block is counted before the block's first instruction. A row of
 * an edge is counted before the branch that it leaves, under the same predicate or its opposite. So no label and no branch changes.
 *
 * A thread counts in registers, and adds them to its words when it ends: additions to memory in each round of a loop take longer than most loops. Where
 * rows or ends are many, it adds at once.
 */
#include "annotator/count/internal.h"

#include "runtime/format/counted.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REGISTERS = 24, MOST_ADDITIONS = 256 };

static bool is_table(const struct ptx_instruction *i)
{
	return !strncmp(i->opcode, "brx", 3);
}

/* The instruction before which a row is counted. NULL: there is none that will do. */
static const struct ptx_instruction *place_of_row(const struct count_writer *w, const struct lift_row *r, bool *taken)
{
	const struct graph *g = w->lifted->functions[r->function].graph;
	const struct graph_block *b = &g->blocks[r->edge >= 0 ? g->edges[r->edge].from : (uint32_t)r->block];
	if (!b->count)
		return NULL;
	uint32_t at = r->edge >= 0 ? b->first + b->count - 1 : b->first, own = first_of_text(w, g->function);
	if (own > at && own < b->first + b->count)
		at = own;
	const struct ptx_instruction *i = &g->function->instructions[at];
	*taken = r->edge >= 0 && g->edges[r->edge].taken;
	if (!begins_line(w, g->function, at) || (r->edge >= 0 && (i->guard < 0 || is_table(i))))
		return NULL;
	return i;
}

/* Textures and surfaces that are variables: nothing is bound to those of a twin, which is a module of its own. */
static bool names_textures(const struct ptx_function *f)
{
	for (uint32_t i = 0; i < f->instruction_count; i++)
		for (uint32_t o = 0; o < f->instructions[i].operand_count && f->instructions[i].space == SPACE_texture; o++) {
			const struct ptx_operand *at = &f->instructions[i].operands[o];
			if (at->kind == PTX_ADDRESS && at->reg < 0)
				return true;
		}
	return false;
}

bool can_count_rows(const struct count_writer *w, uint32_t function)
{
	const struct ptx_function *f = &w->lifted->module->functions[function];
	bool taken;
	if (!f->instruction_count || !begins_line(w, f, first_of_text(w, f)) || !body_line(w, f) || names_textures(f))
		return false;
	for (uint32_t r = 0; r < w->lifted->row_count; r++)
		if (w->lifted->rows[r].function == function && !w->lifted->rows[r].term_count && !place_of_row(w, &w->lifted->rows[r], &taken))
			return false;
	return true;
}

static bool can_count(const struct count_writer *w, const struct lift_kernel *k)
{
	return !*k->refused.text && k->column_count && can_count_rows(w, k->function) && can_count_calls(w, k);
}

/* How many places there are where threads end, if all of them are known and the first block is executed once; else 0. */
static uint32_t known_ends(const struct count_writer *w, const struct lift_kernel *k)
{
	const struct graph *g = w->lifted->functions[k->function].graph;
	uint32_t ends = 0;
	if (g->blocks[0].in_count)
		return 0;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct graph_block *b = &g->blocks[g->edges[e].from];
		uint32_t last = b->first + b->count - 1;
		if (g->edges[e].to >= 0 || !b->reachable)
			continue;
		if (!b->count || !is_exit(&g->function->instructions[last]) || !begins_line(w, g->function, last))
			return 0;
		ends++;
	}
	return ends;
}

static bool counts_in_registers(const struct count_writer *w, const struct lift_kernel *k)
{
	uint32_t ends = known_ends(w, k);
	return ends && k->column_count <= MOST_REGISTERS && ends * k->column_count <= MOST_ADDITIONS && !ends_in_calls(w, k);
}

/* In a kernel with loops. */
static bool looks_for_stop(const struct count_writer *w, const struct lift_kernel *k)
{
	return w->lifted->functions[k->function].graph->loop_count && known_ends(w, k);
}

/* Each iteration of a loop counts, and some look whether to go on. */
void look_for_stop(struct count_writer *w, uint32_t function)
{
	const struct graph *g = w->lifted->functions[function].graph;
	for (uint32_t l = 0; l < g->loop_count; l++) {
		const struct graph_block *b = &g->blocks[g->loops[l].header];
		struct gs_buf text = {0};
		uint32_t number = w->labels++;
		if (!b->count || !begins_line(w, g->function, b->first))
			continue;
		gs_buf_printf(&text, "add.u32 %%gpusim_rounds, %%gpusim_rounds, 1;\nand.b32 %%gpusim_look, %%gpusim_rounds, %d;\n"
		                     "setp.ne.u32 %%gpusim_stop, %%gpusim_look, 0;\n@%%gpusim_stop bra $gpusim_go_%u;\n", COUNT_LOOKS - 1, number);
		gs_buf_printf(&text, "ld.volatile.global.u32 %%gpusim_look, [%s+%d];\nsetp.ne.u32 %%gpusim_stop, %%gpusim_look, 0;\n@%%gpusim_stop exit;\n"
		                     "$gpusim_go_%u:\n", COUNT_VARIABLE, 8 * COUNT_STOP, number);
		insert_lines(w, g->function->instructions[b->first].ptx_line, &text);
	}
}

static void declare_registers(struct count_writer *w, const struct lift_kernel *k)
{
	struct gs_buf text = {0};
	gs_buf_puts(&text, ".reg .b32 %gpusim_r<4>;\n.reg .b64 %gpusim_d<6>;\n");
	if (looks_for_stop(w, k))
		gs_buf_puts(&text, ".reg .pred %gpusim_stop;\n.reg .b32 %gpusim_rounds, %gpusim_look;\n");
	if (counts_in_registers(w, k))
		gs_buf_printf(&text, ".reg .b32 %%gpusim_c<%u>;\n", k->column_count);
	if (w->form == COUNT_AND_TRACE)
		declare_trace(w, k, &text);
	insert_lines(w, body_line(w, &w->lifted->module->functions[k->function]), &text);
}

void put_thread(struct gs_buf *out, bool traces)
{
	static const char group[] =
		"mov.u32 %gpusim_r0, %ctaid.z;\nmov.u32 %gpusim_r1, %nctaid.y;\nmov.u32 %gpusim_r2, %ctaid.y;\n"
		"mad.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1, %gpusim_r2;\nmov.u32 %gpusim_r1, %nctaid.x;\nmov.u32 %gpusim_r2, %ctaid.x;\n"
		"mul.wide.u32 %gpusim_d1, %gpusim_r0, %gpusim_r1;\ncvt.u64.u32 %gpusim_d2, %gpusim_r2;\nadd.u64 %gpusim_d1, %gpusim_d1, %gpusim_d2;\n"
		"mov.u32 %gpusim_r0, %ntid.x;\nmov.u32 %gpusim_r1, %ntid.y;\nmul.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1;\n"
		"mov.u32 %gpusim_r1, %ntid.z;\nmul.lo.u32 %gpusim_r3, %gpusim_r0, %gpusim_r1;\n";
	static const char place[] =
		"cvt.u64.u32 %gpusim_d2, %gpusim_r3;\nmul.lo.u64 %gpusim_d1, %gpusim_d1, %gpusim_d2;\n"
		"mov.u32 %gpusim_r0, %tid.z;\nmov.u32 %gpusim_r1, %ntid.y;\nmov.u32 %gpusim_r2, %tid.y;\n"
		"mad.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1, %gpusim_r2;\nmov.u32 %gpusim_r1, %ntid.x;\nmov.u32 %gpusim_r2, %tid.x;\n"
		"mad.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1, %gpusim_r2;\ncvt.u64.u32 %gpusim_d2, %gpusim_r0;\n"
		"add.u64 %gpusim_d1, %gpusim_d1, %gpusim_d2;\n";
	gs_buf_puts(out, group);
	if (traces)
		gs_buf_puts(out, "mov.u64 %gpusim_group, %gpusim_d1;\n");
	gs_buf_puts(out, place);
}

void put_place(struct gs_buf *out)
{
	gs_buf_printf(out,
	              "ld.global.u64 %%gpusim_d3, [%s];\nld.global.u64 %%gpusim_d2, [%s+8];\n"
	              "and.b64 %%gpusim_d5, %%gpusim_d1, %d;\nmin.u64 %%gpusim_d2, %%gpusim_d1, %%gpusim_d2;\nsub.u64 %%gpusim_d1, %%gpusim_d1, %%gpusim_d2;\n"
	              "and.b64 %%gpusim_d1, %%gpusim_d1, %d;\nadd.u64 %%gpusim_d1, %%gpusim_d1, %%gpusim_d2;\nshr.u64 %%gpusim_d1, %%gpusim_d1, 5;\n"
	              "mad.lo.u64 %%gpusim_d2, %%gpusim_d1, %%gpusim_d4, %%gpusim_d3;\nmad.lo.u64 %%gpusim_d2, %%gpusim_d5, %d, %%gpusim_d2;\n",
	              COUNT_VARIABLE, COUNT_VARIABLE, COUNTED_WARP - 1, COUNT_SHARED - 1, COUNT_BYTES);
}

static void find_place(struct count_writer *w, const struct lift_kernel *k)
{
	struct gs_buf text = {0};
	const struct ptx_function *f = &w->lifted->module->functions[k->function];
	put_thread(&text, w->form == COUNT_AND_TRACE);
	if (w->form == COUNT_AND_TRACE)
		begin_trace(w, &text);
	gs_buf_printf(&text, "mov.u64 %%gpusim_d4, %u;\n", k->column_count * COLUMN_BYTES);
	put_place(&text);
	begin_calls(w, k, &text);
	if (looks_for_stop(w, k))
		gs_buf_puts(&text, "mov.u32 %gpusim_rounds, 0;\n");
	for (uint32_t c = 0; c < k->column_count && counts_in_registers(w, k); c++)
		gs_buf_printf(&text, "mov.u32 %%gpusim_c%u, 0;\n", c);
	insert_lines(w, f->instructions[first_of_text(w, f)].ptx_line, &text);
}

void count_row(struct count_writer *w, uint32_t row, const char *reg, uint32_t offset)
{
	struct gs_buf text = {0};
	const struct lift_row *r = &w->lifted->rows[row];
	char condition[80] = "";
	bool taken;
	const struct ptx_instruction *i = place_of_row(w, r, &taken);
	if (r->edge >= 0)
		put_condition(&w->lifted->module->functions[r->function], i, taken, condition);
	if (*condition)
		gs_buf_printf(&text, "@%s ", condition);
	if (reg)
		gs_buf_printf(&text, "add.u32 %s, %s, 1;\n", reg, reg);
	else
		gs_buf_printf(&text, "red.global.add.u32 [%%gpusim_d2+%u], 1;\n", offset);
	insert_lines(w, i->ptx_line, &text);
}

static void count_rows(struct count_writer *w, const struct lift_kernel *k)
{
	const bool registers = counts_in_registers(w, k);
	for (uint32_t c = 0; c < k->column_count; c++) {
		char reg[24];
		snprintf(reg, sizeof reg, "%%gpusim_c%u", c);
		if (w->lifted->rows[k->columns[c]].function == k->function)
			count_row(w, k->columns[c], registers ? reg : NULL, c * COLUMN_BYTES);
	}
}

/* Before the thread ends: what it counted in registers, and what it traced. */
static void end_threads(struct count_writer *w, const struct lift_kernel *k)
{
	const struct ptx_function *f = &w->lifted->module->functions[k->function];
	const bool registers = counts_in_registers(w, k);
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		struct gs_buf text = {0};
		char condition[80];
		if (!is_exit(&f->instructions[i]) || !begins_line(w, f, i))
			continue;
		put_condition(f, &f->instructions[i], true, condition);
		for (uint32_t c = 0; c < k->column_count && registers; c++)
			gs_buf_printf(&text, "%s%s%sred.global.add.u32 [%%gpusim_d2+%u], %%gpusim_c%u;\n", *condition ? "@" : "", condition, *condition ? " " : "",
			              c * COLUMN_BYTES, c);
		if (w->form == COUNT_AND_TRACE)
			end_trace(w, condition, &text);
		if (text.len)
			insert_lines(w, f->instructions[i].ptx_line, &text);
	}
}

/* ---- the module ---- */

static bool has_functions(const struct ptx_module *m)
{
	bool any = false;
	for (uint32_t f = 0; f < m->function_count; f++)
		any |= !m->functions[f].entry && !m->functions[f].external;
	return any;
}

/* The variables are declared before the first function or variable: after the line with the size of addresses. */
static bool declare_variables(struct count_writer *w)
{
	static const char word[] = ".address_size";
	for (uint32_t line = 1; line <= w->line_count; line++) {
		const char *at = w->lines[line - 1], *end = w->lines[line];
		while (at < end && isspace((unsigned char)*at))
			at++;
		if ((size_t)(end - at) < sizeof word || strncmp(at, word, sizeof word - 1))
			continue;
		struct gs_buf text = {0};
		gs_buf_printf(&text, ".visible .global .align 8 .b64 %s[%d];\n", COUNT_VARIABLE, COUNT_WORDS);
		if (w->form == COUNT_ROWS && has_functions(w->lifted->module))
			gs_buf_printf(&text, ".visible .global .align 8 .b64 %s[%u];\n", CALLS_VARIABLE, w->lifted->module->function_count + 1);
		if (w->form == COUNT_AND_TRACE)
			gs_buf_printf(&text, ".visible .global .align 8 .b64 %s[%d];\n", TRACE_VARIABLE, TRACE_WORDS);
		insert_lines(w, line + 1, &text);
		return true;
	}
	return false;
}

static void write_kernel(struct count_writer *w, const struct lift_kernel *k)
{
	declare_registers(w, k);
	find_place(w, k);
	if (looks_for_stop(w, k))
		look_for_stop(w, k->function);
	if (w->form == COUNT_AND_TRACE)
		trace_kernel(w, k);
	count_rows(w, k);
	write_functions(w, k);
	end_threads(w, k);
}

int count_write(const struct lifted *l, enum count_form form, const char *ptx, size_t length, struct gs_buf *out, struct gs_buf *kernels,
                struct gs_error *err)
{
	struct count_writer w = {.lifted = l, .form = form};
	w.written = calloc(l->module->function_count + 1u, sizeof *w.written);
	bool good = w.written && find_lines(&w, ptx, length), declared = good && declare_variables(&w);
	for (uint32_t n = 0; n < l->kernel_count && declared; n++) {
		const struct lift_kernel *k = &l->kernels[n];
		if (!can_count(&w, k) || (form == COUNT_AND_TRACE && (!known_ends(&w, k) || !can_trace(&w, k))))
			continue;
		write_kernel(&w, k);
		gs_buf_printf(kernels, "%s\n", k->name);
	}
	if (good && !w.failed)
		write_all_lines(&w, out);
	good = good && !w.failed && !out->failed && !kernels->failed;
	free_lines(&w);
	free(w.written);
	return good ? 0 : gs_fail(err, ENOMEM, "out of memory");
}
