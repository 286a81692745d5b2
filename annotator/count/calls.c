/*
 * Functions that kernels call. A function has no register of its caller's, and kernels have its rows in different columns. So it finds the thread's words
 * by itself, each time that it is called, and the offset of its columns in a variable of the module: each thread of a kernel writes that, always the same,
 * before it calls. Twins run one at a time.
 *
 * Calls that are not counted: of functions outside of the module, which print or allocate; by address, because addresses in the program's memory are those
 * of its own module; and recursive ones, because the twin's larger frames may not have room on the stack.
 */
#include "annotator/count/internal.h"

#include "runtime/format/counted.h"

#include <stdlib.h>
#include <string.h>

bool calls_functions(const struct ptx_function *f)
{
	for (uint32_t i = 0; i < f->instruction_count; i++)
		if (ptx_callee(&f->instructions[i]))
			return true;
	return false;
}

/* The function of the module that is called, or NULL. */
static const struct ptx_function *called(const struct count_writer *w, const struct ptx_instruction *i)
{
	const struct ptx_operand *o = ptx_callee(i);
	const struct ptx_function *f = o && o->kind == PTX_SYMBOL ? ptx_find(w->lifted->module, o->text) : NULL;
	return f && !f->entry && !f->external && w->lifted->functions[f - w->lifted->module->functions].graph ? f : NULL;
}

enum { NOT_FOUND, UNDER_WAY, FOUND };

/* Finds all that a function calls. False: some of it cannot be counted. */
static bool find_called(const struct count_writer *w, uint32_t function, uint8_t *found)
{
	const struct ptx_module *m = w->lifted->module;
	const struct ptx_function *f = &m->functions[function];
	found[function] = UNDER_WAY;
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		if (!ptx_callee(&f->instructions[i]))
			continue;
		const struct ptx_function *to = called(w, &f->instructions[i]);
		if (!to || found[to - m->functions] == UNDER_WAY)
			return false;
		if (!found[to - m->functions] && !find_called(w, (uint32_t)(to - m->functions), found))
			return false;
	}
	found[function] = FOUND;
	return true;
}

/* Per function of the module: whether the kernel calls it. NULL: that cannot be counted, or memory is short. */
static uint8_t *called_by(const struct count_writer *w, const struct lift_kernel *k)
{
	const struct ptx_module *m = w->lifted->module;
	uint8_t *found = calloc(m->function_count + 1u, 1);
	bool good = found && find_called(w, k->function, found);
	for (uint32_t f = 0; f < m->function_count && good; f++)
		good = !found[f] || can_count_rows(w, f);
	if (good) {
		found[k->function] = NOT_FOUND;
		return found;
	}
	free(found);
	return NULL;
}

/* The first column of a function in a kernel; its others follow, in the order of rows. */
static uint32_t first_column(const struct count_writer *w, const struct lift_kernel *k, uint32_t function)
{
	uint32_t c = 0;
	while (c < k->column_count && w->lifted->rows[k->columns[c]].function != function)
		c++;
	return c;
}

bool can_count_calls(const struct count_writer *w, const struct lift_kernel *k)
{
	uint8_t *found = called_by(w, k);
	bool good = found;
	for (uint32_t c = 0; c < k->column_count && good; c++)
		good = w->lifted->rows[k->columns[c]].function == k->function || found[w->lifted->rows[k->columns[c]].function];
	free(found);
	return good;
}

/* Loops of functions look whether to stop, too. */
bool ends_in_calls(const struct count_writer *w, const struct lift_kernel *k)
{
	return calls_functions(&w->lifted->module->functions[k->function]);
}

void begin_calls(struct count_writer *w, const struct lift_kernel *k, struct gs_buf *out)
{
	uint8_t *found = calls_functions(&w->lifted->module->functions[k->function]) ? called_by(w, k) : NULL;
	if (!found)
		return;
	gs_buf_printf(out, "st.global.u64 [%s], %%gpusim_d4;\n", CALLS_VARIABLE);
	for (uint32_t f = 0; f < w->lifted->module->function_count; f++)
		if (found[f])
			gs_buf_printf(out, "mov.u64 %%gpusim_d5, %u;\nst.global.u64 [%s+%u], %%gpusim_d5;\n", first_column(w, k, f) * COLUMN_BYTES, CALLS_VARIABLE,
			              8 * (f + 1));
	free(found);
}

static void write_function(struct count_writer *w, uint32_t function)
{
	const struct ptx_function *f = &w->lifted->module->functions[function];
	const bool loops = w->lifted->functions[function].graph->loop_count;
	struct gs_buf registers = {0}, text = {0};
	uint32_t offset = 0;
	gs_buf_printf(&registers, ".reg .b32 %%gpusim_r<4>;\n.reg .b64 %%gpusim_d<6>;\n%s",
	              loops ? ".reg .pred %gpusim_stop;\n.reg .b32 %gpusim_rounds, %gpusim_look;\n" : "");
	insert_lines(w, body_line(w, f), &registers);
	put_thread(&text, false);
	gs_buf_printf(&text, "ld.global.u64 %%gpusim_d4, [%s];\n", CALLS_VARIABLE);
	put_place(&text);
	gs_buf_printf(&text, "ld.global.u64 %%gpusim_d3, [%s+%u];\nadd.u64 %%gpusim_d2, %%gpusim_d2, %%gpusim_d3;\n%s", CALLS_VARIABLE, 8 * (function + 1),
	              loops ? "mov.u32 %gpusim_rounds, 0;\n" : "");
	insert_lines(w, f->instructions[first_of_text(w, f)].ptx_line, &text);
	look_for_stop(w, function);
	for (uint32_t r = 0; r < w->lifted->row_count; r++)
		if (w->lifted->rows[r].function == function && !w->lifted->rows[r].term_count) {
			count_row(w, r, NULL, offset);
			offset += COLUMN_BYTES;
		}
}

void write_functions(struct count_writer *w, const struct lift_kernel *k)
{
	uint8_t *found = calls_functions(&w->lifted->module->functions[k->function]) ? called_by(w, k) : NULL;
	for (uint32_t f = 0; f < w->lifted->module->function_count && found; f++)
		if (found[f] && !w->written[f]) {
			w->written[f] = true;
			write_function(w, f);
		}
	free(found);
}
