/*
 * The loop over the lanes of a straight warp (linear.h), all of which run.
 *
 * It is one loop for each row of lanes. Before it, what is linear is computed for the first lane: w7 is the register %7 there as
 * instructions go on, s7 what it begins with, b3 the result of the loop's instruction 3, and a4 the address of its instruction 4. In the
 * loop the compiler sees how they grow with n, the lane's place in its row. Rows have 16 or 32 lanes. The innermost loop always has
 * 16, so that the compiler knows how long it is; numbers have 64 bits, so that it sees that they do not wrap.
 */
#include "annotator/lift/linear.h"
#include "annotator/lift/segments.h"

#include <errno.h>
#include <stdlib.h>

enum { LAST_LANE = 31, LEAST_ROW = 16 };

bool is_straight_item(const struct kernel_writer *w, const struct item_list *list, const struct text_item *item)
{
	int64_t stride;
	bool found = false;
	for (uint32_t i = 0; i < item->count && w->form == LIFT_COUNTING && !found; i++)
		found = linear_address(w->f, &w->f->function->instructions[list->instructions[item->first + i]], &stride) != NULL;
	return found;
}

/* A linear value: what it is in the first lane of the row, and more. */
static void put_linear(struct kernel_writer *w, int32_t reg, char name, uint32_t number)
{
	int64_t stride = w->f->registers[reg].stride;
	if (!stride)
		gs_buf_printf(w->out, "%c%u", name, number);
	else if (w->f->function->registers[reg].bits == 64)
		gs_buf_printf(w->out, "%c%u + n * %#llxul", name, number, (unsigned long long)stride);
	else
		gs_buf_printf(w->out, "%c%u + (uint)n * %#xu", name, number, (uint32_t)stride);
}

static bool is_linear(const struct kernel_writer *w, int32_t reg)
{
	return w->f->registers[reg].spread == SPREAD_LINEAR;
}

/* ---- before the loop ---- */

static void write_first_registers(struct kernel_writer *w, const struct item_uses *uses)
{
	uint32_t f = (uint32_t)(w->f - w->plan->functions);
	for (uint32_t i = 0; i < uses->count; i++) {
		int32_t reg = uses->list[i].reg;
		const char *type = lift_storage(&w->f->function->registers[reg]);
		if (!is_linear(w, reg))
			continue;
		if (uses->list[i].load)
			gs_buf_printf(w->out, "%s w%d = r%u_%d[l];\nconst %s s%d = w%d;\n", type, reg, f, reg, type, reg, reg);
		else
			gs_buf_printf(w->out, "%s w%d = 0;\n", type, reg);
	}
}

/* Whether 32 bits hold the value in all lanes. */
static int write_fits(struct kernel_writer *w, const struct ptx_operand *o, bool is_signed)
{
	struct lift_scope s = scope_of(w);
	int64_t stride = o->kind == PTX_SPECIAL ? 1 : w->f->registers[o->reg].stride;
	gs_buf_printf(w->out, "fits &= (ulong)((long)(%s)", is_signed ? "int" : "uint");
	int result = lift_value(&s, o, "u32", w->out, w->err);
	gs_buf_printf(w->out, " + %lldl) >> 32 == 0;\n", (long long)(stride * LAST_LANE + (is_signed ? INT64_C(0x80000000) : 0)));
	return result;
}

static int write_first_address(struct kernel_writer *w, const struct ptx_instruction *i, const struct ptx_operand *address, int64_t stride,
                               uint32_t number)
{
	struct lift_scope s = scope_of(w);
	bool narrow = address->reg >= 0 && w->f->function->registers[address->reg].bits <= 32;
	gs_buf_printf(w->out, "const ulong a%u = %s", number, i->space == SPACE_shared ? "GS_SHARED + " : "");
	int result = lift_address(&s, i, w->out, w->err);
	gs_buf_puts(w->out, ";\n");
	if (result || !narrow || !stride)
		return result;
	gs_buf_puts(w->out, "fits &= (ulong)((long)(");
	result = lift_address(&s, i, w->out, w->err);
	gs_buf_printf(w->out, ") + %lldl) >> 32 == 0;\n", (long long)stride * LAST_LANE);
	return result;
}

static int write_first(struct kernel_writer *w, const struct ptx_instruction *i, uint32_t number)
{
	struct lift_scope s = scope_of(w);
	int64_t stride;
	bool is_signed;
	int32_t reg = linear_result(w->f, i);
	const struct ptx_operand *address = linear_address(w->f, i, &stride);
	if (address)
		return write_first_address(w, i, address, stride, number);
	if (reg < 0)
		return 0;
	const struct ptx_operand *extended = extended_operand(w->f, i, &is_signed);
	int result = extended ? write_fits(w, extended, is_signed) : 0;
	gs_buf_puts(w->out, "{ ");
	if (!result)
		result = lift_statement(&s, i, w->out, w->err);
	gs_buf_printf(w->out, "}\nconst %s b%u = w%d;\n", lift_storage(&w->f->function->registers[reg]), number, reg);
	return result;
}

/* ---- the loop ---- */

static void write_straight_loads(struct kernel_writer *w, const struct item_uses *uses)
{
	for (uint32_t i = 0; i < uses->count; i++) {
		int32_t reg = uses->list[i].reg;
		if (!is_linear(w, reg) || !uses->list[i].load) {
			write_load(w, &uses->list[i]);
			continue;
		}
		gs_buf_printf(w->out, "%s v%d = ", lift_storage(&w->f->function->registers[reg]), reg);
		put_linear(w, reg, 's', (uint32_t)reg);
		gs_buf_puts(w->out, ";\n");
	}
}

static int write_straight_statement(struct kernel_writer *w, const struct ptx_instruction *i, uint32_t number)
{
	int64_t stride = 0;
	int32_t reg = linear_result(w->f, i);
	int result = 0;
	if (linear_address(w->f, i, &stride)) {
		w->access = (struct straight_access){true, number, stride};
		result = write_lane_statement(w, i, false);
		w->access.straight = false;
	} else if (reg >= 0) {
		gs_buf_printf(w->out, "v%d = ", reg);
		put_linear(w, reg, 'b', number);
		gs_buf_puts(w->out, ";\n");
	} else {
		result = write_lane_statement(w, i, false);
	}
	return result;
}

int write_straight(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item,
                   const struct item_uses *uses)
{
	const struct ptx_instruction *instructions = w->f->function->instructions;
	int result = 0;
	gs_buf_puts(w->out, "for (uint fits = 1; done < 32; done += straight) {\nconst ulong l = done;\n");
	w->in_first = true;
	write_first_registers(w, uses);
	for (uint32_t i = 0; i < item->count && !result; i++)
		result = write_first(w, &instructions[list->instructions[item->first + i]], i);
	w->in_first = false;
	gs_buf_printf(w->out, "if (!fits) {\nstraight = S->straight = 0;\nbreak;\n}\nfor (ulong k = 0; k < straight; k += %d)\n"
	              "GS_ALL for (ulong i = 0; i < %d; i++) {\nconst ulong n = k + i, l = done + n;\n", LEAST_ROW, LEAST_ROW);
	w->in_lanes = true;
	write_straight_loads(w, uses);
	for (uint32_t i = 0; i < item->count && !result; i++)
		result = write_straight_statement(w, &instructions[list->instructions[item->first + i]], i);
	if (!result)
		result = write_loop_end(w, part, item, uses, false);
	w->in_lanes = false;
	gs_buf_puts(w->out, "}\n}\n");
	return result;
}
