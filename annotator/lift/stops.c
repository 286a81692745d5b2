/* Barriers, and what a warp keeps in its state while it waits. */
#include "annotator/lift/structure.h"

#include <errno.h>
#include <string.h>

static bool is_kept(const struct planned_function *f, uint32_t reg, const uint64_t *live, const uint64_t *more)
{
	const struct planned_register *r = &f->registers[reg];
	return r->used && (r->array || r->uniform) && (!live || is_live(live, reg) || (more && is_live(more, reg)));
}

/* Text that copies registers between the function's variables and the state. */
static void write_copies(struct kernel_writer *w, const uint64_t *live, const uint64_t *more, bool save)
{
	for (uint32_t f = 0; f < w->plan->function_count; f++) {
		const struct planned_function *own = &w->plan->functions[f];
		for (uint32_t r = 0; r < own->function->register_count && (!live || own == w->f); r++) {
			if (!is_kept(own, r, live, more))
				continue;
			const char *type = lift_storage(&own->function->registers[r]);
			bool uniform = own->registers[r].uniform;
			uint32_t at = w->plan->saved_at + own->registers[r].saved_at;
			if (uniform && save)
				gs_buf_printf(w->out, "*(__global %s *)((ulong)S + %u) = u%u_%u;\n", type, at, f, r);
			else if (uniform)
				gs_buf_printf(w->out, "u%u_%u = *(__global %s *)((ulong)S + %u);\n", f, r, type, at);
			else if (save)
				gs_buf_printf(w->out, "GS_KEEP(%s, %u, r%u_%u)\n", type, at, f, r);
			else
				gs_buf_printf(w->out, "GS_TAKE(%s, %u, r%u_%u)\n", type, at, f, r);
		}
	}
}

void write_saves(struct kernel_writer *w, const uint64_t *live, const uint64_t *more)
{
	write_copies(w, live, more, true);
}

static const struct ptx_instruction *resumed(const struct planned_function *f, const struct kernel_part *part)
{
	return &f->function->instructions[part->first - 1];
}

/* What a barrier needs after it: its own operands, and what is live then. */
static void barrier_sets(const struct planned_function *f, uint32_t block, uint32_t barrier, const uint64_t **live, const uint64_t **more)
{
	const struct graph_block *b = &f->graph->blocks[block];
	*live = f->before + (size_t)barrier * f->live.words;
	*more = barrier + 1 < b->first + b->count ? *live + f->live.words : f->live.out + (size_t)block * f->live.words;
}

void write_restores(struct kernel_writer *w)
{
	const struct planned_function *before = w->f;
	gs_buf_puts(w->out, "if (S->all) {\n");
	write_copies(w, NULL, NULL, false);
	gs_buf_puts(w->out, "} else switch (pc) {\n");
	for (uint32_t f = 0; f < w->plan->function_count; f++) {
		w->f = &w->plan->functions[f];
		for (uint32_t p = 0; p < w->f->part_count; p++) {
			const uint64_t *live, *more;
			if (!w->f->parts[p].resumes || flow_kind(resumed(w->f, &w->f->parts[p])) != FLOW_BARRIER)
				continue;
			barrier_sets(w->f, w->f->parts[p].block, w->f->parts[p].first - 1, &live, &more);
			gs_buf_printf(w->out, "case %u:\n", w->f->first_pc + p);
			write_copies(w, live, more, false);
			gs_buf_puts(w->out, "break;\n");
		}
	}
	gs_buf_puts(w->out, "}\n");
	w->f = before;
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

static void write_wait(struct kernel_writer *w, const struct kernel_part *part, uint32_t after)
{
	const uint64_t *live, *more;
	gs_buf_printf(w->out,
	              "S->sp = sp;\nif (!gs_arrive(g, S, E, id, expected, m, alive, 1, never)) {\nif (m == alive) {\nS->status = GS_WAITING;\n"
	              "S->pc = %uu;\nS->wait = id;\nS->generation = g->barriers[id].generation;\nif (sp) goto STOP_ALL;\n",
	              after);
	barrier_sets(w->f, part->block, part->end - 1, &live, &more);
	write_copies(w, live, more, true);
	gs_buf_printf(w->out,
	              "S->all = 0;\ngoto STOP;\n}\nGS_PUSH(%uu, m, GS_SIDE)\nE[sp - 1].wait = id + 1;\n"
	              "E[sp - 1].generation = g->barriers[id].generation;\nm = 0;\n%s}\n",
	              after, w->plan->meets ? "first = sp - 1;\ngoto KEEP;\n" : "goto NEXT;\n");
	w->targets[after] = true;
}

int write_barrier(struct kernel_writer *w, const struct kernel_part *part, const struct ptx_instruction *i, uint32_t pc)
{
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
		write_wait(w, part, pc + 1);
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
	gs_buf_puts(w->out, "for (uint l = 0; l < 32; l++)\nif (m >> l & 1u) {\n");
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
