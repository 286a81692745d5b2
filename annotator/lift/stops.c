/* Barriers, and what a warp keeps in its state while it waits. */
#include "annotator/lift/structure.h"

#include <errno.h>
#include <string.h>

/* Copies registers between the function's variables and the state. */
static void write_copies(struct kernel_writer *w, bool save)
{
	for (uint32_t f = 0; f < w->plan->function_count; f++) {
		const struct planned_function *own = &w->plan->functions[f];
		for (uint32_t r = 0; r < own->function->register_count; r++) {
			const struct planned_register *reg = &own->registers[r];
			if (!reg->used || !(reg->array || reg->uniform) || reg->kept)
				continue;
			const char *type = lift_storage(&own->function->registers[r]);
			uint32_t at = w->plan->saved_at + reg->saved_at;
			if (reg->uniform && save)
				gs_buf_printf(w->out, "*(__global %s *)((ulong)S + %u) = u%u_%u;\n", type, at, f, r);
			else if (reg->uniform)
				gs_buf_printf(w->out, "u%u_%u = *(__global %s *)((ulong)S + %u);\n", f, r, type, at);
			else if (save)
				gs_buf_printf(w->out, "GS_KEEP(%s, %u, r%u_%u)\n", type, at, f, r);
			else
				gs_buf_printf(w->out, "GS_TAKE(%s, %u, r%u_%u)\n", type, at, f, r);
		}
	}
}

void write_saves(struct kernel_writer *w)
{
	write_copies(w, true);
}

void write_restores(struct kernel_writer *w)
{
	gs_buf_puts(w->out, "if (S->all) {\n");
	write_copies(w, false);
	gs_buf_puts(w->out, "}\n");
}

static const struct ptx_instruction *resumed(const struct planned_function *f, const struct kernel_part *part)
{
	return &f->function->instructions[part->first - 1];
}

/* ---- barriers ---- */

struct barrier_operands {
	const struct ptx_operand *result, *id, *count, *predicate;
};

static struct barrier_operands operands_of(const struct ptx_instruction *i)
{
	struct barrier_operands b = {0};
	bool reduces = has_word(i->opcode, "red");
	uint32_t sources = 0, seen = 0;
	for (uint32_t o = 0; o < i->operand_count; o++)
		sources += !i->operands[o].write;
	for (uint32_t o = 0; o < i->operand_count; o++) {
		const struct ptx_operand *own = &i->operands[o];
		if (own->write)
			b.result = own;
		else if (!seen++)
			b.id = own;
		else if (reduces && seen == sources)
			b.predicate = own;
		else
			b.count = own;
	}
	return b;
}

static int write_number(struct kernel_writer *w, const struct ptx_operand *o, const char *name)
{
	struct lift_scope s = scope_of(w);
	gs_buf_printf(w->out, "uint %s = ", name);
	if (!o)
		gs_buf_puts(w->out, "0u");
	int result = o ? lift_value(&s, o, "u32", w->out, w->err) : 0;
	gs_buf_puts(w->out, ";\n");
	return result;
}

static int write_reduction(struct kernel_writer *w, const struct ptx_operand *predicate)
{
	struct lift_scope s = scope_of(w);
	gs_buf_puts(w->out, "uint yes = 0;\nfor (l = 0; l < 32; l++)\nyes |= ((");
	int result = lift_value(&s, predicate, "pred", w->out, w->err);
	gs_buf_puts(w->out, ") & 1u) << l;\nyes &= m;\ng->barriers[id].count += popcount(yes);\n"
	                    "g->barriers[id].all &= yes == m;\ng->barriers[id].any |= yes != 0;\n");
	return result;
}

/* The lanes that a guard leaves out go on behind the barrier. */
static int write_guarded(struct kernel_writer *w, const struct ptx_instruction *i, uint32_t after)
{
	int result = 0;
	if (i->guard < 0)
		return 0;
	if (guard_varies(w->f, i)) {
		gs_buf_printf(w->out, "if (!t) goto P%u;\nif (t != m) { GS_PUSH(%uu, m & ~t, GS_SIDE) m = t; }\n", after, after);
		w->targets[after] = true;
		return 0;
	}
	gs_buf_puts(w->out, "if (!");
	result = write_guard(w, i);
	gs_buf_printf(w->out, ") goto P%u;\n", after);
	return result;
}

static void write_wait(struct kernel_writer *w, uint32_t after)
{
	gs_buf_puts(w->out, w->plan->fetches ? "g->barriers[id].latest = max(g->barriers[id].latest, clock);\n" : "");
	gs_buf_printf(w->out, "S->sp = sp;\nif (!gs_arrive(g, S, E, id, expected, m, alive, 1, never)) {\npc = %uu;\nwhich = id;\ngoto WAIT;\n}\n", after);
	gs_buf_puts(w->out, w->plan->fetches ? "clock = g->barriers[id].opened;\n" : "");
	w->targets[after] = w->barriers = true;
}

/* barrier.cluster: warps of several groups meet. Those that have to wait look again when it is their turn. */
static int write_cluster_barrier(struct kernel_writer *w, const struct ptx_instruction *i, uint32_t pc)
{
	int result = write_guarded(w, i, pc + 1);
	if (flow_kind(i) == FLOW_ARRIVE) {
		gs_buf_puts(w->out, "gs_cluster_arrive(launch, g, S, m, alive, never);\n");
		return result;
	}
	gs_buf_printf(w->out, "if (gs_cluster_waits(launch, g, S, m, alive, never)) { pc = %uu; goto SPIN; }\n", pc);
	w->targets[pc] = true;
	return result;
}

int write_barrier(struct kernel_writer *w, const struct kernel_part *part, const struct ptx_instruction *i, uint32_t pc)
{
	if (has_word(i->opcode, "cluster"))
		return write_cluster_barrier(w, i, pc);
	struct barrier_operands b = operands_of(i);
	int result = write_guarded(w, i, pc + 1);
	if (!result && b.id && b.id->kind == PTX_REGISTER)
		result = write_same_lanes(w, b.id, "u32", part->block, pc);
	if (result)
		return result;
	gs_buf_puts(w->out, "{\nuint l = GS_FIRST(m);\n");
	result = write_number(w, b.id, "id");
	gs_buf_puts(w->out, "id &= 15u;\n");
	if (!result)
		result = write_number(w, b.count, "expected");
	if (!result && b.predicate)
		result = write_reduction(w, b.predicate);
	if (flow_kind(i) == FLOW_ARRIVE)
		gs_buf_puts(w->out, "S->sp = sp;\ngs_arrive(g, S, E, id, expected, m, alive, 0, never);\n");
	else
		write_wait(w, pc + 1);
	gs_buf_puts(w->out, "}\n");
	return result;
}

static int write_reduced(struct kernel_writer *w, const struct ptx_instruction *i)
{
	struct barrier_operands b = operands_of(i);
	struct lift_scope s = scope_of(w);
	const char *what = has_word(i->opcode, "popc") ? "was_count" : has_word(i->opcode, "and") ? "was_all" : "was_any";
	if (!b.result || b.result->reg < 0)
		return 0;
	gs_buf_puts(w->out, "GS_LANES\nif (m >> l & 1u) {\n");
	int result = write_number(w, b.id, "id");
	s.spell(&s, b.result->reg, w->out);
	gs_buf_printf(w->out, " = g->barriers[id & 15u].%s;\n}\n", what);
	return result;
}

int write_resumption(struct kernel_writer *w, const struct kernel_part *part)
{
	const struct ptx_instruction *i = resumed(w->f, part);
	if (flow_kind(i) == FLOW_CALL)
		return write_return(w, i);
	return has_word(i->opcode, "red") ? write_reduced(w, i) : 0;
}
