/*
 * PTX that traces: which threads do, the addresses of accesses, and where blocks and loops are recorded. windows.c has the text for those.
 *
 * Lines for one instruction come in this order: its block, its access, what the edges after it enter and leave, the end of the thread.
 */
#include "annotator/count/internal.h"

#include "models/trace/read.h"
#include "runtime/format/counted.h"
#include "runtime/format/traces.h"

#include <string.h>

enum { MOST_SITES = 1 << (COLUMN_ADDRESS_SHIFT - COLUMN_SITE_SHIFT), MOST_EVENTS = 600, MOST_LOOPS = 24 };

static const struct graph *graph_of(const struct count_writer *w, const struct lift_kernel *k)
{
	return w->lifted->functions[k->function].graph;
}

/* ---- what can be traced ---- */

/* The address that an access is traced with. NULL: it is not a sum of a register, or a name, and a number. */
static const struct ptx_operand *address_of(const struct ptx_instruction *i)
{
	static const char *const plain[] = {"ld.", "ldu.", "st.", "atom.", "red.", "cp.async."};
	const bool copy = !strncmp(i->opcode, "cp.async.", 9) && i->class != CODE_store;
	bool known = false;
	for (size_t n = 0; n < GS_ARRAY_LEN(plain); n++)
		known = known || !strncmp(i->opcode, plain[n], strlen(plain[n]));
	for (uint32_t o = 0; o < i->operand_count && known; o++)
		if (i->operands[o].kind == PTX_ADDRESS && !(copy && o == 0))
			return &i->operands[o];
	return NULL;
}

static const struct ptx_instruction *last_of(const struct graph *g, uint32_t block)
{
	const struct graph_block *b = &g->blocks[block];
	return &g->function->instructions[b->first + b->count - 1];
}

/* The edge enters or leaves a loop that is traced in windows. */
static bool is_told(const struct graph *g, const struct graph_edge *e)
{
	int32_t entered = e->back ? -1 : lift_headed(g, e->to), left = g->blocks[e->from].loop;
	return (entered >= 0 && lift_window(g, (uint32_t)entered)) || (left >= 0 && (e->to < 0 || !graph_in_loop(g, (uint32_t)e->to, (uint32_t)left)));
}

static bool can_trace_edges(const struct count_writer *w, const struct graph *g)
{
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct graph_block *b = &g->blocks[g->edges[e].from];
		if (b->reachable && is_told(g, &g->edges[e]) &&
		    (!begins_line(w, g->function, b->first + b->count - 1) || b->edge_count > 2 ||
		     (b->edge_count == 2) != (last_of(g, g->edges[e].from)->guard >= 0)))
			return false;
	}
	return true;
}

bool can_trace(const struct count_writer *w, const struct lift_kernel *k)
{
	const struct graph *g = graph_of(w, k);
	uint32_t events = 0;
	if (calls_functions(g->function)) /* where a thread writes is in registers of the kernel */
		return false;
	for (uint32_t b = 0; b < g->block_count; b++) {
		if (g->blocks[b].reachable && (!g->blocks[b].count || !begins_line(w, g->function, g->blocks[b].first)))
			return false;
		events++;
	}
	for (uint32_t s = 0; s < w->lifted->site_count; s++) {
		const struct lift_site *site = &w->lifted->sites[s];
		if (site->function != k->function)
			continue;
		if (!address_of(&g->function->instructions[site->instruction]) || !begins_line(w, g->function, site->instruction))
			return false;
		events++;
	}
	return events <= MOST_EVENTS && g->loop_count <= MOST_LOOPS && w->lifted->site_count <= MOST_SITES && can_trace_edges(w, g);
}

/* ---- registers, begin and end ---- */

void declare_trace(struct count_writer *w, const struct lift_kernel *k, struct gs_buf *out)
{
	const struct graph *g = graph_of(w, k);
	gs_buf_puts(out, ".reg .pred %gpusim_p, %gpusim_q;\n.reg .b64 %gpusim_e, %gpusim_f;\n"
	                 ".reg .b32 %gpusim_u, %gpusim_v, %gpusim_brief, %gpusim_apart, %gpusim_alone;\n"
	                 ".reg .b32 %gpusim_on, %gpusim_closed, %gpusim_skip, %gpusim_left, %gpusim_room, %gpusim_spilled, %gpusim_cut, %gpusim_whole, "
	                 "%gpusim_lane;\n.reg .b64 %gpusim_at, %gpusim_step, %gpusim_top, %gpusim_group;\n");
	for (uint32_t l = 0; l < g->loop_count; l++)
		if (lift_window(g, l))
			window_declare(l, out);
}

/* The thread's place in its group is in r0 and the size of groups in r3. d2 and d3 are free. */
void begin_trace(struct count_writer *w, struct gs_buf *out)
{
	(void)w;
	gs_buf_puts(out, "mov.u32 %gpusim_lane, %gpusim_r0;\nmov.u32 %gpusim_closed, 0;\nmov.u32 %gpusim_skip, 0;\nmov.u32 %gpusim_spilled, 0;\n"
	                 "mov.u32 %gpusim_cut, 0;\n");
	gs_buf_printf(out, "ld.global.u64 %%gpusim_top, [%s];\nld.global.u64 %%gpusim_e, [%s+%d];\n", TRACE_VARIABLE, TRACE_VARIABLE, 8 * TRACE_TABLE_AT);
	gs_buf_printf(out, "ld.global.u64 %%gpusim_step, [%s+%d];\nld.global.u32 %%gpusim_room, [%s+%d];\n", TRACE_VARIABLE, 8 * TRACE_COLUMN_COUNT,
	              TRACE_VARIABLE, 8 * TRACE_COLUMN_ROOM);
	gs_buf_printf(out, "ld.global.u32 %%gpusim_whole, [%s+%d];\nld.global.u32 %%gpusim_v, [%s+%d];\n", TRACE_VARIABLE, 8 * TRACE_WINDOW_SIZES,
	              TRACE_VARIABLE, 8 * TRACE_TOLD_WORDS);
	gs_buf_printf(out, "ld.global.u32 %%gpusim_alone, [%s+%d];\n", TRACE_VARIABLE, 8 * TRACE_ALONE);
	gs_buf_puts(out, "cvt.u32.u64 %gpusim_u, %gpusim_group;\nadd.u32 %gpusim_u, %gpusim_u, 1;\n"
	                 "setp.ne.u64 %gpusim_p, %gpusim_top, 0;\nsetp.ne.and.u64 %gpusim_q, %gpusim_e, 0, %gpusim_p;\n"
	                 "mad.lo.u64 %gpusim_e, %gpusim_group, 4, %gpusim_e;\n@%gpusim_q ld.global.u32 %gpusim_u, [%gpusim_e];\n"
	                 "setp.ne.and.u32 %gpusim_p, %gpusim_u, 0, %gpusim_p;\nselp.u32 %gpusim_on, 1, 0, %gpusim_p;\n"
	                 "setp.ne.and.u32 %gpusim_q, %gpusim_alone, 0, !%gpusim_p;\n@%gpusim_q exit;\n"
	                 "sub.u32 %gpusim_u, %gpusim_u, 1;\nmul.wide.u32 %gpusim_d2, %gpusim_u, %gpusim_r3;\ncvt.u64.u32 %gpusim_d3, %gpusim_lane;\n"
	                 "add.u64 %gpusim_d2, %gpusim_d2, %gpusim_d3;\n");
	gs_buf_printf(out, "mad.lo.u64 %%gpusim_top, %%gpusim_d2, 8, %%gpusim_top;\nadd.u64 %%gpusim_top, %%gpusim_top, %d;\n", TRACE_HEADER_WORDS * 8);
	gs_buf_printf(out, "selp.b64 %%gpusim_top, %%gpusim_top, 0, %%gpusim_p;\nmul.lo.u64 %%gpusim_step, %%gpusim_step, 8;\n"
	                   "mad.lo.u64 %%gpusim_at, %%gpusim_step, %d, %%gpusim_top;\n", COLUMN_HEADER_WORDS);
	gs_buf_puts(out, "setp.ne.u32 %gpusim_q, %gpusim_lane, 0;\n@%gpusim_q mov.u32 %gpusim_v, 0;\ncvt.u64.u32 %gpusim_e, %gpusim_v;\n"
	                 "mad.lo.u64 %gpusim_at, %gpusim_e, %gpusim_step, %gpusim_at;\nsub.u32 %gpusim_left, %gpusim_room, %gpusim_v;\n");
}

void end_trace(struct count_writer *w, const char *condition, struct gs_buf *out)
{
	(void)w;
	gs_buf_printf(out, "setp.ne%s.u64 %%gpusim_p, %%gpusim_top, 0%s%s;\n", *condition ? ".and" : "", *condition ? ", " : "", condition);
	gs_buf_printf(out, "setp.le.s32 %%gpusim_q, %%gpusim_left, 0;\nselp.u32 %%gpusim_u, 1, %%gpusim_cut, %%gpusim_q;\n"
	                   "shl.b32 %%gpusim_u, %%gpusim_u, %d;\nor.b32 %%gpusim_u, %%gpusim_u, %%gpusim_lane;\n", COLUMN_CUT_BIT);
	gs_buf_puts(out, "sub.u32 %gpusim_v, %gpusim_room, %gpusim_left;\nmov.b64 %gpusim_e, {%gpusim_u, %gpusim_v};\n"
	                 "@%gpusim_p st.global.u64 [%gpusim_top], %gpusim_group;\nadd.u64 %gpusim_f, %gpusim_top, %gpusim_step;\n"
	                 "@%gpusim_p st.global.u64 [%gpusim_f], %gpusim_e;\n");
}

/* ---- events ---- */

static const char next_word[] = "st.global.u64 [%gpusim_at], %gpusim_e;\nadd.u64 %gpusim_at, %gpusim_at, %gpusim_step;\n"
                                "sub.u32 %gpusim_left, %gpusim_left, 1;\n";

static void put_address(const struct ptx_function *f, const struct ptx_operand *o, struct gs_buf *out)
{
	const struct ptx_register *r = o->reg >= 0 ? &f->registers[o->reg] : NULL;
	if (r && r->bits == 32)
		gs_buf_printf(out, "cvt.u64.u32 %%gpusim_e, %s;\n", r->name);
	else if (r || o->text)
		gs_buf_printf(out, "mov.u64 %%gpusim_e, %s;\n", r ? r->name : o->text);
	else
		gs_buf_puts(out, "mov.u64 %gpusim_e, 0;\n");
	if (o->value)
		gs_buf_printf(out, "add.s64 %%gpusim_e, %%gpusim_e, %lld;\n", (long long)o->value);
}

/* The word after the address, which says how many bytes a bulk copy moves. */
static void put_bulk(const struct ptx_function *f, const struct ptx_operand *bytes, struct gs_buf *out)
{
	if (bytes->kind == PTX_REGISTER && bytes->reg >= 0)
		gs_buf_printf(out, "cvt.u64.u32 %%gpusim_e, %s;\n", f->registers[bytes->reg].name);
	else
		gs_buf_printf(out, "mov.u64 %%gpusim_e, %lld;\n", (long long)bytes->value);
	gs_buf_puts(out, next_word);
}

static void trace_access(struct count_writer *w, uint32_t site)
{
	static const uint8_t classes[CODE_SPACE_COUNT] = {[SPACE_shared] = 1, [SPACE_local] = 2, [SPACE_const] = 3};
	const struct lift_site *s = &w->lifted->sites[site];
	const struct ptx_function *f = &w->lifted->module->functions[s->function];
	const struct ptx_instruction *i = &f->instructions[s->instruction];
	struct gs_buf text = {0};
	char condition[80];
	uint32_t number = w->labels++;
	put_condition(f, i, true, condition);
	gs_buf_printf(&text, "setp.eq%s.u32 %%gpusim_p, %%gpusim_on, 1%s%s;\nsetp.gt.and.s32 %%gpusim_p, %%gpusim_left, 0, %%gpusim_p;\n",
	              *condition ? ".and" : "", *condition ? ", " : "", condition);
	gs_buf_printf(&text, "@!%%gpusim_p bra $gpusim_access_%u;\n", number);
	put_address(f, address_of(i), &text);
	gs_buf_printf(&text, "shl.b64 %%gpusim_e, %%gpusim_e, %d;\nor.b64 %%gpusim_e, %%gpusim_e, %u;\n", COLUMN_ADDRESS_SHIFT,
	              site << COLUMN_SITE_SHIFT | (uint32_t)classes[s->space] << COLUMN_TAG_BITS | (ptx_is_bulk(i) ? COLUMN_COPY : COLUMN_ACCESS));
	gs_buf_puts(&text, next_word);
	if (ptx_is_bulk(i))
		put_bulk(f, &i->operands[2], &text);
	gs_buf_printf(&text, "$gpusim_access_%u:\n", number);
	insert_lines(w, i->ptx_line, &text);
}

static void trace_edge(struct count_writer *w, const struct lift_function *f, const struct graph_edge *e)
{
	const struct graph *g = f->graph;
	const struct ptx_instruction *i = last_of(g, e->from);
	int32_t entered = e->back ? -1 : lift_headed(g, e->to);
	struct gs_buf text = {0};
	char condition[80];
	put_condition(g->function, i, e->taken, condition);
	for (int32_t l = g->blocks[e->from].loop; l >= 0 && (e->to < 0 || !graph_in_loop(g, (uint32_t)e->to, (uint32_t)l)); l = g->loops[l].outer)
		if (lift_window(g, (uint32_t)l))
			window_loop_end(w, g, (uint32_t)l, f->block_rows[g->loops[l].header], condition, &text);
	if (entered >= 0 && lift_window(g, (uint32_t)entered))
		window_loop(w, g, (uint32_t)entered, condition, &text);
	if (text.len)
		insert_lines(w, i->ptx_line, &text);
}

void trace_kernel(struct count_writer *w, const struct lift_kernel *k)
{
	const struct lift_function *f = &w->lifted->functions[k->function];
	const struct graph *g = f->graph;
	for (uint32_t b = 0; b < g->block_count; b++) {
		struct gs_buf text = {0};
		int32_t loop = lift_headed(g, (int32_t)b);
		if (!g->blocks[b].reachable)
			continue;
		if (loop >= 0 && lift_window(g, (uint32_t)loop))
			window_body(w, g, (uint32_t)loop, f->block_rows[b], &text);
		else
			window_block(w, f->block_rows[b], &text);
		insert_lines(w, g->function->instructions[g->blocks[b].first].ptx_line, &text);
	}
	for (uint32_t s = 0; s < w->lifted->site_count; s++)
		if (w->lifted->sites[s].function == k->function && g->blocks[graph_block_of(g, w->lifted->sites[s].instruction)].reachable)
			trace_access(w, s);
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->blocks[g->edges[e].from].reachable && is_told(g, &g->edges[e]))
			trace_edge(w, f, &g->edges[e]);
}
