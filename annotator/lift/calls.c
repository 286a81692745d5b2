/*
 * Calls. The functions of a kernel are parts of one state machine. A call keeps a JOIN (frame.cl) with the place after it, and the lanes
 * that return wait there for the others. Parameters are variables in the local memory of the thread.
 *
 * A function that may call itself has its registers once. So a call between such functions saves those of the caller, and the callee uses
 * the next frame of local memory.
 */
#include "annotator/lift/structure.h"

#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct planned_function *callee_of(const struct kernel_writer *w, const char *name)
{
	int32_t f = function_index(w->plan->lifted->module, name);
	return f >= 0 && w->plan->planned[f] >= 0 ? &w->plan->functions[w->plan->planned[f]] : NULL;
}

static bool enters_frame(const struct kernel_writer *w, const struct planned_function *callee)
{
	return w->f->recursive && callee->recursive;
}

static const char *const word_types[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};

/* Copies bytes of local memory, in the largest words that its alignment allows. */
static void write_local_copy(struct kernel_writer *w, uint64_t to, const char *to_frame, uint64_t from, const char *from_frame, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes;) {
		uint32_t size = 8;
		while (size > 1 && (at + size > bytes || (to + at) % size || (from + at) % size))
			size /= 2;
		gs_buf_printf(w->out, "*(__global %s *)(GS_LOCAL%s + %lu) = *(__global %s *)(GS_LOCAL%s + %lu);\n", word_types[size], to_frame,
		              (unsigned long)(to + at), word_types[size], from_frame, (unsigned long)(from + at));
		at += size;
	}
}

static int local_place(struct kernel_writer *w, const struct ptx_instruction *i, const struct ptx_operand *o, uint64_t *out)
{
	struct lift_scope s = scope_of(w);
	struct lift_place place;
	if (o->kind != PTX_SYMBOL || !s.find(&s, o->text, &place) || place.kind != LIFT_LOCAL)
		return gs_fail(w->err, ENOTSUP, "line %u: %s: a parameter is not a variable of the function", i->ptx_line, i->opcode);
	*out = place.offset;
	return 0;
}

static int write_argument(struct kernel_writer *w, const struct ptx_instruction *i, const struct ptx_operand *o,
                          const struct planned_function *callee, uint32_t parameter)
{
	const struct ptx_variable *v = &callee->function->variables[parameter];
	const char *frame = enters_frame(w, callee) ? " + GS_FRAME" : "";
	uint64_t from, to = callee->variable_at[parameter];
	if (o->kind == PTX_SYMBOL) {
		int result = local_place(w, i, o, &from);
		if (!result)
			write_local_copy(w, to, frame, from, "", v->bytes);
		return result;
	}
	if (v->bytes > 8 || !v->bytes || (v->bytes & (v->bytes - 1)))
		return gs_fail(w->err, ENOTSUP, "line %u: %s: a parameter of %lu bytes is no variable", i->ptx_line, i->opcode, (unsigned long)v->bytes);
	struct lift_scope s = scope_of(w);
	char type[8] = {'b', 0};
	snprintf(type + 1, sizeof type - 1, "%u", (unsigned)v->bytes * 8);
	gs_buf_printf(w->out, "*(__global %s *)(GS_LOCAL%s + %lu) = ", word_types[v->bytes], frame, (unsigned long)to);
	int result = lift_value(&s, o, type, w->out, w->err);
	gs_buf_puts(w->out, ";\n");
	return result;
}

static int write_arguments(struct kernel_writer *w, const struct ptx_instruction *i, const struct planned_function *callee)
{
	const struct ptx_operand *own = ptx_callee(i);
	uint32_t parameter = 0;
	int result = 0;
	if (callee->function->passes_registers)
		return gs_fail(w->err, ENOTSUP, "line %u: call of %s, whose parameters are registers", i->ptx_line, callee->function->name);
	gs_buf_puts(w->out, "GS_LANES\nif (t >> l & 1u) {\n");
	for (const struct ptx_operand *o = own + 1; o < i->operands + i->operand_count && !result; o++)
		if (parameter < callee->function->parameter_count)
			result = write_argument(w, i, o, callee, parameter++);
	gs_buf_puts(w->out, "}\n");
	return result;
}

/* ---- registers of functions that call themselves ---- */

static void write_frame_registers(struct kernel_writer *w, bool save)
{
	uint32_t number = (uint32_t)(w->f - w->plan->functions);
	for (uint32_t r = 0; r < w->f->function->register_count; r++) {
		const struct planned_register *own = &w->f->registers[r];
		if (own->used && own->array)
			gs_buf_printf(w->out, save ? "GS_SAVE(%s, %u, r%u_%u)\n" : "GS_RESTORE(%s, %u, r%u_%u)\n",
			              lift_storage(&w->f->function->registers[r]), own->frame_at, number, r);
	}
}

/* ---- calls ---- */

static void write_entry(struct kernel_writer *w, const struct ptx_instruction *i, const struct planned_function *callee, uint32_t pc)
{
	bool frame = enters_frame(w, callee);
	if (frame)
		write_frame_registers(w, true);
	gs_buf_printf(w->out, "GS_PUSH(%uu, m, GS_JOIN)\nE[sp - 1].arrived = m & ~t;\nE[sp - 1].wait = %uu;\njoin = sp - 1;\njpc = GS_NO_PC;\nm = t;\n",
	              pc + 1, callee->index + 1);
	if (frame)
		gs_buf_printf(w->out, "if (depth >= %uu) GS_FAULT(GS_LIFTED_STACK, %u, 0, 0, 0, 0)\nGS_AT_DEPTH(depth + 1)\n", w->plan->most_calls,
		              i->ptx_line);
	gs_buf_printf(w->out, "goto P%u;\n", callee->first_pc);
	w->targets[pc + 1] = true;
}

static int write_indirect(struct kernel_writer *w, const struct kernel_part *part, const struct ptx_instruction *i, uint32_t pc)
{
	int result = i->guard >= 0 ? gs_fail(w->err, ENOTSUP, "line %u: %s: an indirect call with a guard", i->ptx_line, i->opcode)
	                           : write_same_lanes(w, ptx_callee(i), "u64", part->block, pc);
	gs_buf_puts(w->out, "t = m;\nswitch (which) {\n");
	for (uint32_t f = 1; f < w->plan->function_count && !result; f++) {
		const struct planned_function *callee = &w->plan->functions[f];
		gs_buf_printf(w->out, "case %u:\n", callee->index + 1);
		result = write_arguments(w, i, callee);
		write_entry(w, i, callee, pc);
	}
	gs_buf_printf(w->out, "default: GS_FAULT(GS_LIFTED_BAD_TARGET, %u, which, 0, 0, 0)\n}\n", i->ptx_line);
	return result;
}

/* The value of a parameter in lane l, as an expression. */
static int write_parameter(struct kernel_writer *w, const struct ptx_instruction *i, uint32_t number, const char *type, const char *name)
{
	const struct ptx_operand *o = ptx_callee(i) + 1 + number;
	uint64_t at = 0;
	gs_buf_printf(w->out, "%s %s = ", type, name);
	if (o >= i->operands + i->operand_count)
		return gs_fail(w->err, ENOTSUP, "line %u: %s: parameters are missing", i->ptx_line, i->opcode);
	int result = local_place(w, i, o, &at);
	gs_buf_printf(w->out, "*(__global %s *)(GS_LOCAL + %lu);\n", type, (unsigned long)at);
	return result;
}

static int write_print(struct kernel_writer *w, const struct ptx_instruction *i)
{
	uint64_t at = 0;
	gs_buf_puts(w->out, "GS_LANES\nif (t >> l & 1u) {\n");
	int result = write_parameter(w, i, 0, "ulong", "format");
	if (!result)
		result = write_parameter(w, i, 1, "ulong", "values");
	gs_buf_puts(w->out, "uint printed = gs_print(launch, format, values, never);\n");
	if (!result && i->operands[0].write)
		result = local_place(w, i, &i->operands[0], &at);
	if (i->operands[0].write)
		gs_buf_printf(w->out, "*(__global uint *)(GS_LOCAL + %lu) = printed;\n", (unsigned long)at);
	gs_buf_puts(w->out, "}\n");
	return result;
}

static int write_malloc(struct kernel_writer *w, const struct ptx_instruction *i)
{
	uint64_t at = 0;
	gs_buf_puts(w->out, "GS_LANES\nif (t >> l & 1u) {\n");
	int result = write_parameter(w, i, 0, "ulong", "bytes");
	if (!result && !i->operands[0].write)
		result = gs_fail(w->err, ENOTSUP, "line %u: %s: a result is missing", i->ptx_line, i->opcode);
	if (!result)
		result = local_place(w, i, &i->operands[0], &at);
	gs_buf_printf(w->out, "gs_malloc(launch, bytes, (__global ulong *)(GS_LOCAL + %lu), never);\n}\n", (unsigned long)at);
	return result;
}

static int write_free(struct kernel_writer *w, const struct ptx_instruction *i)
{
	gs_buf_puts(w->out, "GS_LANES\nif (t >> l & 1u) {\n");
	int result = write_parameter(w, i, 0, "ulong", "block");
	gs_buf_puts(w->out, "gs_free(launch, block, never);\n}\n");
	return result;
}

static int write_assertion(struct kernel_writer *w, const struct ptx_instruction *i)
{
	gs_buf_puts(w->out, "if (t) {\nuint l = GS_FIRST(t);\n");
	int result = write_parameter(w, i, 0, "ulong", "message");
	if (!result)
		result = write_parameter(w, i, 1, "ulong", "file");
	if (!result)
		result = write_parameter(w, i, 2, "uint", "at_line");
	if (!result)
		result = write_parameter(w, i, 3, "ulong", "name");
	gs_buf_printf(w->out, "GS_FAULT(GS_LIFTED_ASSERT, %u, message, file, name, at_line)\n}\n", i->ptx_line);
	return result;
}

static int write_guarded_lanes(struct kernel_writer *w, const struct ptx_instruction *i)
{
	int result = 0;
	if (i->guard < 0)
		gs_buf_puts(w->out, "t = m;\n");
	else if (!guard_varies(w->f, i)) {
		gs_buf_puts(w->out, "t = m & (0u - ");
		result = write_guard(w, i);
		gs_buf_puts(w->out, ");\n");
	}
	return result;
}

static int write_system_call(struct kernel_writer *w, const struct ptx_instruction *i, const char *name)
{
	return !strcmp(name, "vprintf") ? write_print(w, i)
	       : !strcmp(name, "malloc") ? write_malloc(w, i)
	       : !strcmp(name, "free")   ? write_free(w, i)
	                                 : write_assertion(w, i);
}

int write_call(struct kernel_writer *w, const struct kernel_part *part, const struct ptx_instruction *i, uint32_t pc)
{
	const struct ptx_operand *own = ptx_callee(i);
	if (own->kind == PTX_REGISTER)
		return write_indirect(w, part, i, pc);
	const struct planned_function *callee = callee_of(w, own->text);
	int result = write_guarded_lanes(w, i);
	if (result)
		return result;
	if (!callee)
		return write_system_call(w, i, own->text);
	if (i->guard >= 0) {
		gs_buf_puts(w->out, "if (!t) {\n");
		write_edge(w, w->f->graph->blocks[part->block].first_edge);
		gs_buf_puts(w->out, "}\n");
	}
	result = write_arguments(w, i, callee);
	write_entry(w, i, callee, pc);
	return result;
}

static int write_results(struct kernel_writer *w, const struct ptx_instruction *i, const struct planned_function *callee)
{
	const char *frame = enters_frame(w, callee) ? " + GS_FRAME" : "";
	uint32_t number = 0;
	int result = 0;
	if (enters_frame(w, callee))
		write_frame_registers(w, false);
	gs_buf_puts(w->out, "GS_LANES\nif (m >> l & 1u) {\n");
	for (uint32_t o = 0; o < i->operand_count && !result; o++) {
		const struct ptx_operand *to = &i->operands[o];
		if (!to->write || number >= callee->function->result_count)
			continue;
		uint32_t from = callee->function->parameter_count + number++;
		const struct ptx_variable *v = &callee->function->variables[from];
		uint64_t at = 0;
		result = local_place(w, i, to, &at);
		write_local_copy(w, at, "", callee->variable_at[from], frame, v->bytes);
	}
	gs_buf_puts(w->out, "}\n");
	return result;
}

int write_return(struct kernel_writer *w, const struct ptx_instruction *i)
{
	const struct ptx_operand *own = ptx_callee(i);
	const struct planned_function *callee = own->kind == PTX_SYMBOL ? callee_of(w, own->text) : NULL;
	int result = 0;
	if (own->kind == PTX_SYMBOL)
		return callee ? write_results(w, i, callee) : 0;
	gs_buf_puts(w->out, "switch (which) {\n");
	for (uint32_t f = 1; f < w->plan->function_count && !result; f++) {
		gs_buf_printf(w->out, "case %u:\n", w->plan->functions[f].index + 1);
		result = write_results(w, i, &w->plan->functions[f]);
		gs_buf_puts(w->out, "break;\n");
	}
	gs_buf_puts(w->out, "}\n");
	return result;
}
