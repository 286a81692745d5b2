/*
 * The text of a kernel: a function that runs a warp until it ends or waits, and the kernel that runs the warps of its group in turn.
 *
 * The function is a state machine. Every part of a block is a label, and lanes go from label to label together: m are those that run. Where
 * a branch separates them, one side goes on and the other is kept in the list of entries (frame.cl). Labels of blocks where lanes meet
 * again look whether that is where these lanes have to wait.
 *
 * POCL inlines every function into the kernel, and its passes do not get along with large irreducible ones. GS_APART keeps them out.
 */
#include "annotator/lift/structure.h"

#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t pc_of_block(const struct planned_function *f, int32_t block)
{
	return f->first_pc + f->block_part[block];
}

static int32_t column_of(const struct kernel_writer *w, uint32_t row)
{
	for (uint32_t c = 0; c < w->plan->kernel->column_count; c++)
		if (w->plan->kernel->columns[c] == row)
			return (int32_t)c;
	return -1;
}

void write_count(struct kernel_writer *w, uint32_t row, const char *mask)
{
	int32_t column = w->plan->lifted->rows[row].term_count ? -1 : column_of(w, row);
	if (column >= 0)
		gs_buf_printf(w->out, "GS_COUNT(%d, %s)\n", column, mask);
}

/* ---- edges ---- */

static void count_edge(struct kernel_writer *w, uint32_t edge, const char *mask)
{
	const struct lifted *l = w->plan->lifted;
	const struct lift_terms *terms = &l->functions[w->f->index].edge_terms[edge];
	for (uint32_t t = terms->first; t < terms->first + terms->count; t++) {
		const struct lift_row *row = &l->rows[l->terms[t].row];
		if (terms->count == 1 && row->edge == (int32_t)edge && !row->term_count)
			write_count(w, l->terms[t].row, mask);
	}
	trace_edge(w, edge, mask);
}

/* Lanes end, or leave a function that was called. */
static void write_leave(struct kernel_writer *w, const char *mask)
{
	if (w->f->function->entry)
		gs_buf_printf(w->out, "alive &= ~(%s);\n", mask);
	else
		gs_buf_printf(w->out, "E[join].arrived |= %s;\n", mask);
}

/* All lanes that run follow the edge. */
void write_edge(struct kernel_writer *w, uint32_t edge)
{
	const struct graph_edge *e = &w->f->graph->edges[edge];
	count_edge(w, edge, "m");
	if (e->to < 0) {
		write_leave(w, "m");
		gs_buf_puts(w->out, "goto NEXT;\n");
		return;
	}
	uint32_t pc = pc_of_block(w->f, e->to);
	if (w->f->spins[e->to] && e->back) {
		gs_buf_printf(w->out, "if (++spins > most_spins) { spins = 0; pc = %uu; goto SPIN; }\n", pc);
		w->targets[pc] = true;
	}
	gs_buf_printf(w->out, "goto P%u;\n", pc);
}

static uint32_t edge_to_next(const struct kernel_writer *w, uint32_t block)
{
	const struct graph_block *b = &w->f->graph->blocks[block];
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count; e++)
		if (!w->f->graph->edges[e].taken)
			return e;
	return b->first_edge;
}

/* Lanes t end at once, without waiting for others. */
static void write_side_leaves(struct kernel_writer *w, uint32_t edge, const char *mask)
{
	int32_t to = w->f->graph->edges[edge].to;
	count_edge(w, edge, mask);
	while (to >= 0) {
		uint32_t next = w->f->graph->blocks[to].first_edge;
		write_count(w, w->plan->lifted->functions[w->f->index].block_rows[to], mask);
		trace_block(w, (uint32_t)to, mask);
		count_edge(w, next, mask);
		to = w->f->graph->edges[next].to;
	}
	write_leave(w, mask);
	gs_buf_printf(w->out, "m &= ~(%s);\n", mask);
}

static bool side_leaves(const struct planned_function *f, uint32_t edge)
{
	int32_t to = f->graph->edges[edge].to;
	return to < 0 || f->leaves[to];
}

/* The lanes t stop, at the join or at the begin of their side, and the others follow the edge. All branches share the text that does it. */
static void write_split(struct kernel_writer *w, int32_t join, int32_t side, uint32_t edge)
{
	const struct graph_edge *e = &w->f->graph->edges[edge];
	uint32_t meet = join < 0 ? NO_PC : pc_of_block(w->f, join), kept = side == join ? NO_PC : pc_of_block(w->f, side);
	uint32_t pc = pc_of_block(w->f, e->to);
	count_edge(w, edge, "(m & ~t)");
	gs_buf_printf(w->out, "meet = %uu;\nkept = %uu;\npc = %uu;\n", meet, kept, pc);
	if (w->f->spins[e->to] && e->back)
		gs_buf_puts(w->out, "spins++;\n");
	gs_buf_puts(w->out, "goto SPLIT;\n");
	w->targets[pc] = w->splits = true;
	if (meet != NO_PC)
		w->targets[meet] = true;
	if (kept != NO_PC)
		w->targets[kept] = true;
}

/* The lanes t take the first edge, others the second. */
static void write_divergence(struct kernel_writer *w, uint32_t block, uint32_t taken, uint32_t other)
{
	const struct graph_edge *edges = w->f->graph->edges;
	int32_t join = join_of(w->f, block);
	if (side_leaves(w->f, taken)) {
		write_side_leaves(w, taken, "t");
		write_edge(w, other);
		return;
	}
	if (side_leaves(w->f, other)) {
		gs_buf_puts(w->out, "t = m & ~t;\n");
		write_side_leaves(w, other, "t");
		write_edge(w, taken);
		return;
	}
	bool first = edges[taken].to == join && join >= 0;
	uint32_t goes = first ? other : taken, stops = first ? taken : other;
	gs_buf_puts(w->out, first ? "" : "t = m & ~t;\n");
	count_edge(w, stops, "t");
	write_split(w, join, edges[stops].to, goes);
}

static int write_branch(struct kernel_writer *w, uint32_t block, const struct ptx_instruction *i)
{
	const struct graph_block *b = &w->f->graph->blocks[block];
	uint32_t taken = b->first_edge, other = edge_to_next(w, block);
	if (i->guard < 0) {
		write_edge(w, taken);
		return 0;
	}
	bool varies = guard_varies(w->f, i);
	int result = 0;
	gs_buf_puts(w->out, varies ? "if (t == m) {\n" : "if (");
	if (!varies) {
		result = write_guard(w, i);
		gs_buf_puts(w->out, ") {\n");
	}
	write_edge(w, taken);
	gs_buf_puts(w->out, varies ? "}\nif (!t) {\n" : "} else {\n");
	write_edge(w, other);
	gs_buf_puts(w->out, "}\n");
	if (varies)
		write_divergence(w, block, taken, other);
	return result;
}

/* ---- tables ---- */

static uint32_t edge_to(const struct planned_function *f, uint32_t block, const struct ptx_operand *label)
{
	const struct graph_block *b = &f->graph->blocks[block];
	uint32_t at = label->label >= 0 && (uint32_t)label->label < f->function->label_count ? f->function->labels[label->label].at
	                                                                                      : f->function->instruction_count;
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count; e++) {
		int32_t to = f->graph->edges[e].to;
		if (to < 0 ? at >= f->function->instruction_count : f->graph->blocks[to].first == at)
			return e;
	}
	return b->first_edge;
}

/* Lanes that have the same value as the first one go on; others come back here later. */
int write_same_lanes(struct kernel_writer *w, const struct ptx_operand *o, const char *type, uint32_t block, uint32_t pc)
{
	struct lift_scope s = scope_of(w);
	int32_t join = join_of(w->f, block);
	bool varies = o->kind == PTX_REGISTER && !w->f->registers[o->reg].uniform;
	gs_buf_printf(w->out, "{\nuint l = GS_FIRST(m);\nwhich = ");
	int result = lift_value(&s, o, type, w->out, w->err);
	gs_buf_puts(w->out, ";\nt = 0;\n");
	if (varies && !result) {
		gs_buf_puts(w->out, "for (l = 0; l < 32; l++)\nt |= (uint)(");
		result = lift_value(&s, o, type, w->out, w->err);
		gs_buf_puts(w->out, " == which) << l;\nt = m & ~t;\nif (t) {\n");
		if (join >= 0) {
			gs_buf_printf(w->out, "GS_MEET(%uu)\n", pc_of_block(w->f, join));
			w->targets[pc_of_block(w->f, join)] = true;
		}
		gs_buf_printf(w->out, "GS_PUSH(%uu, t, GS_SIDE)\nm &= ~t;\n}\n", pc);
		w->targets[pc] = true;
	}
	gs_buf_puts(w->out, "}\n");
	return result;
}

static int write_table(struct kernel_writer *w, uint32_t block, const struct ptx_instruction *i, uint32_t pc)
{
	uint32_t number = 0;
	if (i->guard >= 0)
		return gs_fail(w->err, ENOTSUP, "line %u: %s: it has a guard", i->ptx_line, i->opcode);
	if (!i->operand_count)
		return gs_fail(w->err, ENOTSUP, "line %u: %s: an operand is missing", i->ptx_line, i->opcode);
	int result = write_same_lanes(w, &i->operands[0], "u32", block, pc);
	gs_buf_puts(w->out, "switch (which) {\n");
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (i->operands[o].kind == PTX_LABEL) {
			gs_buf_printf(w->out, "case %u:\n", number++);
			write_edge(w, edge_to(w->f, block, &i->operands[o]));
		}
	gs_buf_printf(w->out, "default: GS_FAULT(GS_LIFTED_BAD_TARGET, %u, which, 0, 0, 0)\n}\n", i->ptx_line);
	return result;
}

/* ---- ends ---- */

static int write_end(struct kernel_writer *w, uint32_t block, const struct ptx_instruction *i)
{
	const struct graph_block *b = &w->f->graph->blocks[block];
	bool exits = flow_kind(i) == FLOW_EXIT;
	int result = 0;
	gs_buf_puts(w->out, i->guard < 0 ? "t = m;\n" : guard_varies(w->f, i) ? "" : "t = 0u - ");
	if (i->guard >= 0 && !guard_varies(w->f, i)) {
		result = write_guard(w, i);
		gs_buf_puts(w->out, " & m;\n");
	}
	gs_buf_puts(w->out, "if (t) {\n");
	count_edge(w, b->first_edge, "t");
	if (exits)
		gs_buf_puts(w->out, "alive &= ~t;\n");
	else
		write_leave(w, "t");
	gs_buf_puts(w->out, "m &= ~t;\nif (!m) goto NEXT;\n}\n");
	if (i->guard >= 0)
		write_edge(w, edge_to_next(w, block));
	else
		gs_buf_puts(w->out, "goto NEXT;\n");
	return result;
}

static int write_trap(struct kernel_writer *w, uint32_t block, const struct ptx_instruction *i)
{
	int result = 0;
	if (i->guard >= 0) {
		gs_buf_puts(w->out, guard_varies(w->f, i) ? "if (t)\n" : "if (");
		if (!guard_varies(w->f, i)) {
			result = write_guard(w, i);
			gs_buf_puts(w->out, ")\n");
		}
	}
	gs_buf_printf(w->out, "GS_FAULT(GS_LIFTED_TRAP, %u, 0, 0, 0, 0)\n", i->ptx_line);
	if (i->guard >= 0)
		write_edge(w, edge_to_next(w, block));
	return result;
}

/* ---- parts ---- */

static int write_flow(struct kernel_writer *w, const struct kernel_part *part, const struct ptx_instruction *i, uint32_t pc)
{
	switch (flow_kind(i)) {
	case FLOW_BRANCH: return write_branch(w, part->block, i);
	case FLOW_TABLE: return write_table(w, part->block, i, pc);
	case FLOW_RETURN:
	case FLOW_EXIT: return write_end(w, part->block, i);
	case FLOW_TRAP: return write_trap(w, part->block, i);
	case FLOW_CALL: return write_call(w, part, i, pc);
	case FLOW_BARRIER:
	case FLOW_ARRIVE: return write_barrier(w, part, i, pc);
	case FLOW_NONE: break;
	}
	return 0;
}

/* About how many instructions a warp could execute, each of which needs the one before, while it executes these. A load from global memory takes
 * as long as some 60 of them: 270 cycles from L2 beside 4 to 5 (GPUs since Volta). Loads that stand together wait together. */
static uint32_t part_time(const struct planned_function *f, const struct kernel_part *part)
{
	enum { LOAD = 60 };
	bool loads = false;
	for (uint32_t i = part->first; i < part->end && !loads; i++) {
		const struct ptx_instruction *in = &f->function->instructions[i];
		loads = (in->class == CODE_load || in->class == CODE_atomic) && in->space != SPACE_shared && in->space != SPACE_param && in->space != SPACE_const;
	}
	return part->end - part->first + (loads ? LOAD : 0);
}

static int write_part(struct kernel_writer *w, uint32_t number)
{
	const struct kernel_part *part = &w->f->parts[number];
	const struct graph_block *b = &w->f->graph->blocks[part->block];
	uint32_t pc = w->f->first_pc + number;
	bool begins = w->f->block_part[part->block] == number;
	int result = 0;
	gs_buf_printf(w->out, "P%u:;\n", pc);
	if (begins) {
		if (w->f->joins[part->block])
			gs_buf_printf(w->out, "if (jpc == %uu) goto ARRIVE;\n", pc);
		write_count(w, w->plan->lifted->functions[w->f->index].block_rows[part->block], "m");
		trace_block(w, part->block, "m");
	}
	if (part->first < part->end && !begins && !part->resumes && w->f->fetches[part->first]) {
		gs_buf_printf(w->out, "if (due != %uu) { pc = %uu; goto FETCH; }\ndue = GS_NO_PC;\n", pc, pc);
		w->targets[pc] = true;
	}
	if (w->plan->fetches && part->first < part->end)
		gs_buf_printf(w->out, "clock += %u;\n", part_time(w->f, part));
	if (part->resumes)
		result = write_resumption(w, part);
	if (!result)
		result = write_items(w, part);
	const struct ptx_instruction *flow = last_flow(w->f, part);
	if (!result && flow)
		result = write_flow(w, part, flow, pc);
	else if (!result && part->end == b->first + b->count)
		write_edge(w, edge_to_next(w, part->block));
	return result;
}

/* ---- the function that runs a warp ---- */

static bool uses_special(const struct kernel_plan *p, const char *name)
{
	for (uint32_t f = 0; f < p->function_count; f++)
		for (uint32_t i = 0; i < p->functions[f].function->instruction_count; i++) {
			const struct ptx_instruction *in = &p->functions[f].function->instructions[i];
			for (uint32_t o = 0; o < in->operand_count; o++)
				if (in->operands[o].kind == PTX_SPECIAL && in->operands[o].text && !strncmp(in->operands[o].text, name, strlen(name)))
					return true;
		}
	return false;
}

static bool uses_carry(const struct kernel_plan *p)
{
	for (uint32_t f = 0; f < p->function_count; f++)
		for (uint32_t i = 0; i < p->functions[f].function->instruction_count; i++)
			if (has_word(p->functions[f].function->instructions[i].opcode, "cc"))
				return true;
	return false;
}

static void write_kept_register(struct kernel_writer *w, uint32_t f, uint32_t r)
{
	const struct planned_function *own = &w->plan->functions[f];
	const char *type = lift_storage(&own->function->registers[r]);
	uint32_t at = w->plan->saved_at + own->registers[r].saved_at;
	if (own->registers[r].uniform)
		gs_buf_printf(w->out, "#define u%u_%u (*(__global %s *)((__global uchar *)S + %u))\n", f, r, type, at);
	else
		gs_buf_printf(w->out, "#define r%u_%u ((__global %s *)((__global uchar *)S + %u))\n", f, r, type, at);
}

static void write_kept_registers(struct kernel_writer *w)
{
	for (uint32_t f = 0; f < w->plan->function_count; f++) {
		const struct planned_function *own = &w->plan->functions[f];
		for (uint32_t r = 0; r < own->function->register_count; r++)
			if (own->registers[r].kept && own->registers[r].used && (own->registers[r].uniform || own->registers[r].array))
				write_kept_register(w, f, r);
	}
}

static void write_registers(struct kernel_writer *w)
{
	for (uint32_t f = 0; f < w->plan->function_count; f++) {
		const struct planned_function *own = &w->plan->functions[f];
		for (uint32_t r = 0; r < own->function->register_count; r++) {
			const char *type = lift_storage(&own->function->registers[r]);
			if (!own->registers[r].used || !(own->registers[r].uniform || own->registers[r].array))
				continue;
			if (own->registers[r].kept)
				continue;
			if (own->registers[r].uniform)
				gs_buf_printf(w->out, "%s u%u_%u = 0;\n", type, f, r);
			else
				gs_buf_printf(w->out, "%s r%u_%u[32];\n", type, f, r);
		}
	}
}

/* The next kernel has other registers of these names. */
static void forget_registers(struct kernel_writer *w)
{
	for (uint32_t f = 0; f < w->plan->function_count; f++) {
		const struct planned_function *own = &w->plan->functions[f];
		for (uint32_t r = 0; r < own->function->register_count; r++)
			if (own->registers[r].kept)
				gs_buf_printf(w->out, "#undef %c%u_%u\n", own->registers[r].uniform ? 'u' : 'r', f, r);
	}
}

static void write_macros(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	gs_buf_printf(w->out, "#undef GS_DEPTH\n#define GS_DEPTH %uu\n#undef GS_LOCAL\n#define GS_LOCAL (locals + (ulong)(l) * %uul%s)\n"
	              "#undef GS_LOCAL_BYTES\n#define GS_LOCAL_BYTES %uul\n#undef GS_COLUMNS\n#define GS_COLUMNS %u\n",
	              p->stack_depth, p->local_bytes, p->recursive ? " + frame" : "", p->local_bytes, p->column_count);
	gs_buf_printf(w->out, "#undef GS_FRAME\n#define GS_FRAME %uul\n#undef GS_FRAMES\n#define GS_FRAMES ((ulong)S + %u + (ulong)depth * %u)\n",
	              p->local_frame, p->frames_at, p->frame_bytes);
	gs_buf_printf(w->out, "#undef GS_NOW\n#define GS_NOW %s\n#undef GS_AT_DEPTH\n#define GS_AT_DEPTH(d) %s\n", p->recursive ? "depth" : "0",
	              p->recursive ? "{ depth = d; frame = (ulong)depth * GS_FRAME; }" : "");
	gs_buf_printf(w->out, "#undef GS_IDS\n#define GS_IDS %s\n", p->in_pieces ? "__global" : "__private");
	/* Compilers unroll such loops 32 times. That is worth its time in small kernels only. */
	gs_buf_printf(w->out, "#undef GS_LANES\n#define GS_LANES %sfor (uint l = 0; l < 32; l++)\n",
	              p->in_pieces ? "_Pragma(\"clang loop unroll(disable)\") " : "");
	write_meeting_macros(w);
}

/* A warp that may stop gets its state, or begins. Others run one after the other, in the state of the first. */
static void write_warp_begin(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	bool threads = uses_special(p, "%tid");
	if (p->stops) {
		gs_buf_puts(w->out, threads ? "GS_FIND_THREADS\n" : "");
		gs_buf_puts(w->out, p->in_pieces ? "S->straight = straight;\n" : "");
		gs_buf_puts(w->out, "if (S->status == GS_NEW) {\nGS_NO_COUNTS\n");
		write_meeting_begin(w);
		gs_buf_puts(w->out, "} else {\n");
		write_restores(w);
		gs_buf_puts(w->out, p->meets ? "met = H->met;\n" : "");
		gs_buf_puts(w->out, "}\nif (!m) goto NEXT;\ngoto DISPATCH;\n");
		return;
	}
	gs_buf_puts(w->out, "NEXT_WARP:;\n{ uint left = g->threads - warp * 32; m = alive = start = left >= 32 ? 0xffffffffu : (1u << left) - 1u; }\n"
	                    "S->parted = 0;\nstraight = 32;\nsp = 0;\njpc = GS_NO_PC;\n");
	gs_buf_puts(w->out, "GS_NO_COUNTS\n");
	write_meeting_begin(w);
	gs_buf_puts(w->out, threads ? "GS_FIND_THREADS\n" : "");
	gs_buf_puts(w->out, p->in_pieces ? "S->straight = straight;\n" : "");
}

void write_common_values(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	/* Warps that never stop run one after the other, and share what the first has. */
	gs_buf_printf(w->out, "const ulong locals = g->locals + (ulong)%s * 32 * %u;\nGS_GROUP_VALUES\n", p->stops ? "warp" : "0", p->local_bytes);
	if (w->form == LIFT_TRACING)
		gs_buf_puts(w->out, "const ulong trace = g->trace;\n");
	if (p->meets)
		gs_buf_printf(w->out, "__global struct gs_meeting *H = (__global struct gs_meeting *)((ulong)S + %u);\n", p->meeting_at);
	if (p->in_pieces) {
		gs_buf_printf(w->out, "__global uint *tid_x = (__global uint *)((ulong)S + %u), *tid_y = tid_x + 32, *tid_z = tid_x + 64;\n", p->threads_at);
		gs_buf_printf(w->out, "__global uint *cc = (__global uint *)((ulong)S + %u);\n", p->carry_at);
		return;
	}
	if (uses_carry(p))
		gs_buf_puts(w->out, "uint cc[32];\n");
	if (uses_special(p, "%tid"))
		gs_buf_puts(w->out, "GS_THREAD_IDS\n");
}

static bool asks_any_barrier(const struct kernel_plan *p)
{
	for (uint32_t f = 0; f < p->function_count; f++)
		for (uint32_t i = 0; i < p->functions[f].function->instruction_count; i++)
			if (asks_barrier(&p->functions[f].function->instructions[i]))
				return true;
	return false;
}

static void write_begin(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	gs_buf_printf(w->out,
	              "static %suint gs_run_%s(__global struct gs_launch *launch, __private struct gs_group *g, __global struct gs_warp *S, uint warp, uint "
	              "never)\n{\nGS_APART(never)\n",
	              p->in_pieces ? "__attribute__((optnone, noinline)) " : "", p->kernel->name);
	write_registers(w);
	gs_buf_printf(w->out,
	              "__global struct gs_entry *E = (__global struct gs_entry *)((ulong)S + %u);\n"
	              "__global uint *parts = (__global uint *)((ulong)S + %u);\n"
	              "__global struct gs_count *counts = (__global struct gs_count *)((ulong)S + %u);\n"
	              "uint m = S->m, alive = S->alive, join = S->join, jpc = S->jpc, sp = S->sp, pc = S->pc, start = S->start, t = 0;\n"
	              "uint spins = S->spins, meet = GS_NO_PC, kept = GS_NO_PC, straight = S->straight;\nulong which = 0;\n",
	              p->entries_at, p->parts_at, p->counts_at);
	write_common_values(w);
	if (p->waits) /* groups that run in turn, and warps at a barrier, wait for one another, so that only a look now and then is worth it */
		gs_buf_printf(w->out, "const uint most_spins = launch->together || %d ? 0u : GS_MOST_SPINS;\n", asks_any_barrier(p));
	if (p->fetches)
		gs_buf_puts(w->out, "ulong clock = S->clock;\nuint due = S->status == GS_YIELDED ? S->pc : GS_NO_PC; /* it was not its turn there, and is now */\n");
	if (p->meets)
		gs_buf_puts(w->out, "uint met = 0, first = 0;\n");
	if (p->recursive)
		gs_buf_printf(w->out, "uint depth = S->depth;\nulong frame = (ulong)depth * %u;\n", p->local_frame);
	write_warp_begin(w);
}

/* A warp has ended. */
static void write_warp_end(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	gs_buf_puts(w->out, p->fetches ? "ENDED:;\ng->ended = max(g->ended, clock);\n" : "ENDED:;\n");
	gs_buf_puts(w->out, "if (g->counts) {\nif (start == 0xffffffffu && !S->parted) GS_STORE_ALL\n"
	                    "else gs_store_some(g, warp, counts, parts, GS_COLUMNS, start, never);\n}\n");
	gs_buf_puts(w->out, p->stops ? "S->status = GS_ENDED;\nS->alive = 0;\nreturn 0;\n"
	                             : "warp++;\nif (warp < g->warps) goto NEXT_WARP;\nreturn 0;\n");
}

static void write_rest(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	if (w->splits)
		gs_buf_puts(w->out, lift_frame_split);
	if (w->barriers)
		gs_buf_puts(w->out, lift_frame_wait);
	gs_buf_puts(w->out, lift_frame_next);
	write_meeting_labels(w);
	if (p->waits)
		gs_buf_puts(w->out, lift_frame_spin);
	if (p->fetches)
		gs_buf_puts(w->out, "FETCH:;\nS->status = GS_YIELDED;\nS->pc = pc;\ngoto STOP_ALL;\n");
	gs_buf_puts(w->out, "STOP_ALL:;\n");
	if (p->stops)
		write_saves(w);
	gs_buf_puts(w->out, "S->all = 1;\ngoto STOP;\nSTOP:;\nS->m = m;\nS->alive = alive;\nS->join = join;\nS->jpc = jpc;\nS->sp = sp;\nS->spins = spins;\n");
	if (p->recursive)
		gs_buf_puts(w->out, "S->depth = depth;\n");
	if (p->fetches)
		gs_buf_puts(w->out, "S->clock = clock;\n");
	gs_buf_puts(w->out, p->meets ? "H->met = met;\n" : "");
	gs_buf_puts(w->out, "return 0;\n");
	write_warp_end(w);
	gs_buf_puts(w->out, "FAULTED:;\nS->status = GS_FAULTED;\nreturn 0;\nDISPATCH:;\nswitch (pc) {\n");
	for (uint32_t pc = 0; pc < p->pc_count; pc++)
		if (w->targets[pc])
			gs_buf_printf(w->out, "case %u: goto P%u;\n", pc, pc);
	gs_buf_puts(w->out, "default: goto FAULTED;\n}\n}\n");
}

/* Each warp that can run does so until it waits. `fault` becomes 1 if the group cannot go on. */
static void write_pass(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	if (!p->stops) {
		gs_buf_printf(w->out, "gs_run_%s(launch, g, GS_STATE(0), 0, never);\ng->live_warps = 0;\nfault = GS_STATE(0)->status == GS_FAULTED;\n", p->kernel->name);
		return;
	}
	gs_buf_printf(w->out,
	              "uint ran = 0;\nfor (uint w = 0; w < g->warps && !fault; w++) {\n__global struct gs_warp *s = GS_STATE(w);\n"
	              "if (!gs_can_run(g, s, %u)) continue;\nran = 1;\n",
	              p->entries_at);
	gs_buf_puts(w->out, p->fetches ? "if (gs_now(g, s) >= g->horizon) continue;\n" : "");
	gs_buf_printf(w->out, "gs_run_%s(launch, g, s, w, never);\nif (s->status == GS_ENDED) { g->live_warps--;%s }\nfault = s->status == GS_FAULTED;\n}\n",
	              p->kernel->name, p->waits ? " gs_cluster_leave(launch, g, s);" : "");
	gs_buf_printf(w->out,
	              "if (!ran && !gs_open_late(g, %u, %u)%s) {\n"
	              "gs_fault(launch, g->number, GS_LIFTED_DEADLOCK, 0, 0, 0, 0, 0, never);\nfault = 1;\n}\n",
	              p->warp_bytes, p->entries_at, p->meets ? " && !gs_give_up(g, GS_MEETINGS)" : "");
	gs_buf_puts(w->out, p->waits ? "fault |= gs_failed(launch);\n" : ""); /* the group that is waited for may have ended */
}

/* The group `at` in its slot: its memory, its counters, its warps. `otherwise` is what to do where none is to run any more. */
static void write_group_begin(struct kernel_writer *w, const char *otherwise)
{
	const struct kernel_plan *p = w->plan;
	gs_buf_printf(w->out, "if (!gs_begin(launch, g, at, %u, 32ul * %u, %u)) %s;\n", p->warp_bytes, p->local_bytes, p->shared_bytes, otherwise);
	write_traced_begin(w);
	gs_buf_printf(w->out, "gs_place_counts(launch, g, %u);\n", p->column_count);
	gs_buf_puts(w->out, p->stops ? "gs_begin_barriers(g);\nfor (uint w = 0; w < g->warps; w++) gs_begin_warp(g, GS_STATE(w), w);\n" : "gs_begin_warp(g, GS_STATE(0), 0);\n");
}

/* Groups of a queue: the next one begins when one ends. */
static void write_next_group(struct kernel_writer *w)
{
	gs_buf_puts(w->out, "if (!fault && !g->live_warps && begun < count) {\n");
	gs_buf_puts(w->out, w->form == LIFT_TRACING ? "GS_TRACE_END\nGS_KEPT_GROUP(place)->trace = 0;\n" : "");
	gs_buf_puts(w->out, "const uint at = begun++;\n");
	write_group_begin(w, "{ fault = 1; break; }");
	gs_buf_puts(w->out, "}\n");
}

/* Groups that wait for one another: each runs as far as it can, then the next. Of those that share a queue, each runs until it is further than
 * others. So many are under way as a GPU holds. */
static void write_together(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	gs_buf_printf(w->out,
	              "if (launch->together) {\nconst uint count = (uint)launch->together, held = %s;\nuint fault = 0, begun = 0;\n"
	              "for (; begun < held; begun++) {\nconst uint at = begun;\n"
	              "g->slot = gs_take_slot(launch, launch->first + at);\n",
	              p->fetches ? "(uint)launch->held" : "count");
	write_group_begin(w, "return 0");
	gs_buf_puts(w->out, "*GS_KEPT_GROUP(at) = group;\n}\nfor (uint left = count; left && !fault;) {\n");
	gs_buf_puts(w->out, p->fetches ? "const ulong horizon = gs_first(launch, held) + GS_STEP;\n" : "");
	gs_buf_puts(w->out, "for (uint place = 0; place < held && !fault; place++) {\nif (!GS_KEPT_GROUP(place)->live_warps) continue;\n");
	gs_buf_puts(w->out, p->fetches ? "if (GS_KEPT_GROUP(place)->next >= horizon) continue;\n" : "");
	gs_buf_puts(w->out, "group = *GS_KEPT_GROUP(place);\n");
	gs_buf_puts(w->out, p->fetches ? "g->horizon = horizon;\n" : "");
	write_pass(w);
	gs_buf_puts(w->out, "left -= !g->live_warps;\n");
	if (p->fetches) {
		write_next_group(w);
		gs_buf_printf(w->out, "g->next = gs_next(g, %u, %u, never);\n", p->warp_bytes, p->entries_at);
	}
	gs_buf_puts(w->out, "*GS_KEPT_GROUP(place) = group;\n}\n}\n");
	if (w->form == LIFT_TRACING)
		gs_buf_puts(w->out, "for (uint place = 0; place < held; place++) {\ng->trace = GS_KEPT_GROUP(place)->trace;\nGS_TRACE_END\n}\n");
	gs_buf_puts(w->out, "return 0;\n}\n");
}

/* A function that runs groups, one with its guard, and the kernel that calls it: POCL compiles what is in a kernel itself three times. */
static void write_group(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	char name[LIFTED_NAME_BYTES];
	lifted_kernel_name(p->kernel->name, name);
	gs_buf_printf(w->out,
	              "#undef GS_STATE\n#define GS_STATE(w) ((__global struct gs_warp *)(g->states + (ulong)(w) * %u))\n"
	              "static uint gs_groups_%s(__global struct gs_launch *launch, ulong item, uint never)\n{\nGS_APART(never)\n"
	              "struct gs_group group;\n__private struct gs_group *g = &group;\ng->ended = g->next = 0;\n",
	              p->warp_bytes, p->kernel->name);
	write_together(w);
	gs_buf_puts(w->out, "const ulong first = item * launch->each, end = min(first + launch->each, launch->count);\n"
	                    "g->slot = gs_take_slot(launch, item);\nfor (ulong at = first; at < end; at++) {\n");
	write_group_begin(w, "break");
	gs_buf_puts(w->out, "for (uint fault = 0; g->live_warps && !fault;) {\n");
	if (p->fetches)
		gs_buf_printf(w->out, "g->horizon = gs_next(g, %u, %u, never) + GS_STEP;\n", p->warp_bytes, p->entries_at);
	write_pass(w);
	gs_buf_printf(w->out, "}\n%s}\ngs_release(launch, g);\nreturn 0;\n}\n", w->form == LIFT_TRACING ? "GS_TRACE_END\n" : "");
	gs_buf_printf(w->out,
	              "static uint gs_guarded_%s(__global struct gs_launch *launch, ulong item, uint never)\n{\nGS_APART(never)\n"
	              "if (GS_GUARD(launch)) return 0;\ngs_groups_%s(launch, item, never);\nGS_GUARD_END\nreturn 0;\n}\n"
	              "__kernel void %s(ulong address)\n{\n__global struct gs_launch *launch = (__global struct gs_launch *)address;\n"
	              "gs_guarded_%s(launch, get_global_id(0), (uint)(launch->slots >> 40));\n}\n",
	              p->kernel->name, p->kernel->name, name, p->kernel->name);
}

int write_kernel(const struct kernel_plan *p, enum lift_form form, struct gs_buf *out, struct gs_error *err)
{
	struct gs_buf run = {0};
	struct kernel_writer w = {.plan = p, .form = form, .out = out, .err = err, .f = &p->functions[0]};
	w.targets = calloc(p->pc_count + 1u, 1);
	int result = w.targets ? 0 : gs_fail(err, ENOMEM, "out of memory");
	if (result)
		return result;
	w.targets[0] = p->stops;
	write_macros(&w);
	write_kept_registers(&w);
	w.out = &run;
	write_begin(&w);
	for (uint32_t f = 0; f < p->function_count && !result; f++) {
		w.f = &p->functions[f];
		for (uint32_t i = 0; i < w.f->part_count && !result; i++)
			result = write_part(&w, i);
	}
	if (!result)
		write_rest(&w);
	gs_buf_puts(out, w.pieces.len ? w.pieces.data : "");
	gs_buf_puts(out, run.len ? run.data : "");
	out->failed |= w.pieces.failed | run.failed;
	w.out = out;
	if (!result) {
		forget_registers(&w);
		write_group(&w);
	}
	gs_buf_free(&w.pieces);
	gs_buf_free(&run);
	free(w.targets);
	return result ? result : out->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
