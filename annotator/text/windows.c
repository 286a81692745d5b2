/*
 * Traced text that leaves out iterations of long loops (tracer.cl). A loop becomes
 *
 *   {__gpusim_loop(NUMBER, SIZE, LAST) for (...) {__gpusim_body(NUMBER, BLOCK) ... }__gpusim_loop_end(NUMBER, BLOCK)}
 *
 * The number of a loop is its id plus 1. The size is that of its first window (blocks/windows.c). Windows begin and end where the body does,
 * so that the blocks on both sides of a gap follow each other as in a shorter run of the loop. LAST is 1 if what follows the loop
 * depends on the way of the last iteration: break, return and goto, and conditions with || or ?:. A return or goto ends
 * the loops that it leaves.
 */
#include "annotator/text/windows.h"

bool has_windows(const struct annotation *a, size_t unit)
{
	for (size_t i = 0; i < a->loop_count; i++)
		if (a->loops[i].unit == unit && a->loops[i].window)
			return true;
	return false;
}

void write_window(const struct annotation *a, const struct edit *loop, struct gs_buf *out)
{
	const struct loop *l = &a->loops[loop->block];
	if (!l->window)
		return;
	if (loop->kind == EDIT_LOOP)
		gs_buf_printf(out, "{__gpusim_loop(%u, %u, %d)", l->id + 1, l->window, l->needs_last);
	else
		gs_buf_printf(out, "__gpusim_loop_end(%u, %u)}", l->id + 1, l->body);
}

void write_leave(const struct annotation *a, const struct edit *jump, struct gs_buf *out)
{
	for (int l = (int)jump->block; l >= 0; l = a->loops[l].outer)
		if (a->loops[l].window)
			gs_buf_printf(out, "__gpusim_loop_end(%d, %u)", l + 1, a->loops[l].body);
}

bool write_body(const struct annotation *a, unsigned block, struct gs_buf *out)
{
	for (size_t i = 0; i < a->loop_count; i++)
		if (a->loops[i].body == block && a->loops[i].window) {
			gs_buf_printf(out, "__gpusim_body(%zu, %u)", i + 1, block);
			return true;
		}
	return false;
}
