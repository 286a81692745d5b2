/*
 * Text that records what lanes do, by calls of native code (runtime/guest/support/trace_warp.c): blocks as they begin, the addresses of
 * accesses before they are made, and loops in windows.
 *
 * The block that begins a window's iterations is the loop's header. After a gap a lane goes on with another iteration, or with what follows
 * the loop. The latter is a way through the code only if iterations that are left out end as those before the gap do: where the only way out
 * is that of the only block which leads back. Other loops keep the blocks of their last iteration.
 */
#include "annotator/lift/structure.h"

#include "annotator/lift/internal.h"

/* First windows of loops in a nest of that many: of the innermost, and of all others; see annotator/blocks/windows.c. */
static const struct {
	unsigned innermost, outer;
} sizes[] = {{64, 64}, {64, 64}, {32, 16}, {32, 8}, {16, 4}};

static uint32_t levels_inside(const struct graph *g, uint32_t loop)
{
	uint32_t deepest = g->loops[loop].depth;
	for (uint32_t l = 0; l < g->loop_count; l++)
		for (int32_t o = g->loops[l].outer; o >= 0; o = g->loops[o].outer)
			if ((uint32_t)o == loop && g->loops[l].depth > deepest)
				deepest = g->loops[l].depth;
	return deepest - g->loops[loop].depth;
}

unsigned lift_window(const struct graph *g, uint32_t loop)
{
	uint32_t within = levels_inside(g, loop), levels = g->loops[loop].depth + within;
	size_t last = GS_ARRAY_LEN(sizes) - 1;
	levels = levels < last ? levels : (uint32_t)last;
	if (!g->loops[loop].header)
		return 0;
	return within ? sizes[levels].outer : sizes[levels].innermost;
}

static unsigned window_size(const struct planned_function *f, uint32_t loop)
{
	return f->recursive ? 0 : lift_window(f->graph, loop);
}

bool lift_window_needs_last(const struct graph *g, uint32_t loop)
{
	int64_t latch = -1;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].back && g->edges[e].to == (int32_t)g->loops[loop].header) {
			if (latch >= 0 && latch != g->edges[e].from)
				return true;
			latch = g->edges[e].from;
		}
	for (uint32_t e = 0; e < g->edge_count; e++) {
		bool leaves = graph_in_loop(g, g->edges[e].from, loop) && (g->edges[e].to < 0 || !graph_in_loop(g, (uint32_t)g->edges[e].to, loop));
		if (leaves && g->edges[e].from != latch)
			return true;
	}
	return false;
}

int32_t lift_headed(const struct graph *g, int32_t block)
{
	int32_t loop = block < 0 ? -1 : g->blocks[block].loop;
	return loop >= 0 && g->loops[loop].header == (uint32_t)block ? loop : -1;
}

/* Numbers of loops begin with 1 in traces. */
static uint32_t loop_number(const struct kernel_writer *w, uint32_t loop)
{
	const struct lifted *l = w->plan->lifted;
	uint32_t first = 0;
	while (first < l->loop_count && l->loops[first].function != w->f->index)
		first++;
	return first + loop + 1;
}

static uint32_t row_of(const struct kernel_writer *w, uint32_t block)
{
	return w->plan->lifted->functions[w->f->index].block_rows[block];
}

void trace_block(struct kernel_writer *w, uint32_t block, const char *mask)
{
	if (w->form != LIFT_TRACING)
		return;
	int32_t loop = lift_headed(w->f->graph, (int32_t)block);
	if (loop >= 0 && window_size(w->f, (uint32_t)loop))
		gs_buf_printf(w->out, "if (trace) gs_trace_body(trace, warp, %u, %u, %s);\n", loop_number(w, (uint32_t)loop), row_of(w, block), mask);
	else
		gs_buf_printf(w->out, "if (trace) gs_trace_block(trace, warp, %u, %s);\n", row_of(w, block), mask);
}

void trace_edge(struct kernel_writer *w, uint32_t edge, const char *mask)
{
	const struct graph *g = w->f->graph;
	const struct graph_edge *e = &g->edges[edge];
	if (w->form != LIFT_TRACING)
		return;
	for (int32_t l = g->blocks[e->from].loop; l >= 0 && (e->to < 0 || !graph_in_loop(g, (uint32_t)e->to, (uint32_t)l)); l = g->loops[l].outer)
		if (window_size(w->f, (uint32_t)l))
			gs_buf_printf(w->out, "if (trace) gs_trace_loop_end(trace, warp, %u, %u, %s);\n", loop_number(w, (uint32_t)l),
			              row_of(w, g->loops[l].header), mask);
	int32_t entered = e->back ? -1 : lift_headed(g, e->to);
	if (entered >= 0 && window_size(w->f, (uint32_t)entered))
		gs_buf_printf(w->out, "if (trace) gs_trace_loop(trace, warp, %u, %u, %d, %s);\n", loop_number(w, (uint32_t)entered),
		              window_size(w->f, (uint32_t)entered), lift_window_needs_last(g, (uint32_t)entered), mask);
}

/* Of a texture, what native code makes of its object and the address (runtime/guest/support/trace_warp.c). */
static int write_traced_texel(struct kernel_writer *w, const struct ptx_instruction *i)
{
	struct lift_scope s = scope_of(w);
	gs_buf_puts(w->out, "trace ? gs_trace_texel(trace, ");
	int result = lift_object(&s, i, w->out, w->err);
	gs_buf_puts(w->out, ", ");
	if (!result)
		result = lift_address(&s, i, w->out, w->err);
	gs_buf_puts(w->out, ") : 0ul");
	return result;
}

/* Constants are offsets in the image of the module. */
int write_traced_address(struct kernel_writer *w, const struct ptx_instruction *i)
{
	if (i->space == SPACE_texture)
		return write_traced_texel(w, i);
	struct lift_scope s = scope_of(w);
	int result = lift_address(&s, i, w->out, w->err);
	gs_buf_puts(w->out, i->space == SPACE_const ? " - variables" : "");
	if (result || !ptx_is_bulk(i))
		return result;
	gs_buf_puts(w->out, " | (ulong)("); /* as warp_bulk takes it */
	result = lift_value(&s, &i->operands[2], "u32", w->out, w->err);
	gs_buf_puts(w->out, " >> 4) << 48");
	return result;
}

void write_record(struct kernel_writer *w, uint32_t instruction, const char *lanes, const char *addresses)
{
	const struct ptx_instruction *i = &w->f->function->instructions[instruction];
	int32_t site = site_of(w->plan->lifted, w->f->index, instruction);
	unsigned class = i->space == SPACE_shared ? 1 : i->space == SPACE_local ? 2 : i->space == SPACE_const ? 3 : i->space == SPACE_texture ? 4 : 0;
	if (ptx_is_bulk(i))
		gs_buf_printf(w->out, "gs_trace_bulk(trace, warp, %d, %s, %s);\n", site, lanes, addresses);
	else
		gs_buf_printf(w->out, "gs_trace_access(trace, warp, %d, %u, %u, %s, %s);\n", site, class, i->bytes, lanes, addresses);
}

int write_traced_access(struct kernel_writer *w, uint32_t instruction)
{
	const struct ptx_instruction *i = &w->f->function->instructions[instruction];
	gs_buf_puts(w->out, "if (trace) {\nulong a[32];\n");
	int result = write_guard_mask(w, i);
	gs_buf_puts(w->out, "GS_LANES\nif (x >> l & 1u) a[l] = ");
	if (!result)
		result = write_traced_address(w, i);
	gs_buf_puts(w->out, ";\n");
	write_record(w, instruction, "x", "a");
	gs_buf_puts(w->out, "}\n");
	return result;
}

/* Where a group begins, and what it is. */
void write_traced_begin(struct kernel_writer *w)
{
	const struct lifted *l = w->plan->lifted;
	uint32_t first_site = 0;
	while (first_site < l->site_count && l->sites[first_site].function != w->plan->kernel->function)
		first_site++;
	if (w->form == LIFT_TRACING)
		gs_buf_printf(w->out, "GS_TRACE_BEGIN(%u, %u)\n", w->plan->kernel->entry_row, first_site < l->site_count ? first_site : 0);
}
