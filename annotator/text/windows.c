/*
 * Traced text that leaves out iterations of long loops (tracer.cl). A loop becomes
 *
 *   {__gpusim_loop(NUMBER, SIZE, LAST) for (...) {__gpusim_body(NUMBER, BLOCK) ... }__gpusim_loop_end(NUMBER, BLOCK)}
 *
 * The number of a loop is its id plus 1. The size is that of its first window (blocks/windows.c). Windows begin and end where the body does,
 * so that the blocks on both sides of a gap follow each other as in a shorter run of the loop. LAST is 1 if what follows the loop
 * depends on the way of the last iteration: break, return and goto, and conditions with || or ?:. A return or goto ends
 * the loops that it leaves.
 *
 * Between windows each iteration would ask whether it is recorded. Compilers for GPUs then do not unroll the loop, and an iteration waits for
 * its own loads: a sum of products took eight times as long on an H200. So the text for GPUs has some loops twice (blocks/copies.c):
 *
 *   for (...; CONDITION; STEP) {__gpusim_body(NUMBER, BLOCK)
 *     __gpusim_between(NUMBER)for (...; STEP, CONDITION) {BODY}__gpusim_between_end(NUMBER, BLOCK) BODY that records}
 *
 * The first body only counts. It runs as many iterations as there are until the next window, or all, if a loop around this one is between
 * windows. Other text has no second body, because POCL takes more than linear time to compile it.
 */
#include "annotator/text/windows.h"

#include "annotator/source/parse.h"

#include <string.h>

enum {
	MOST_EVENTS = 500, /* blocks and sites of a program that has loops twice: it takes a driver longer to compile */
	SHORT_LOOP = 24,   /* blocks and sites of a loop that is worth unrolling */
};

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

/* Work-items of a sub-group have to take the same text to talk to each other, and assembler may do that, too. */
static bool may_talk(const struct annotation *a)
{
	for (size_t i = 0; i < a->unit_count; i++)
		if (strstr(a->units[i].text, "sub_group") || strstr(a->units[i].text, "asm"))
			return true;
	return false;
}

const struct loop *loop_written_twice(const struct annotation *a, unsigned body)
{
	if (a->block_count + a->site_count > MOST_EVENTS)
		return NULL;
	for (size_t i = 0; i < a->loop_count; i++) {
		const struct loop *l = &a->loops[i];
		if (l->body == body && l->window && l->parts.known && !l->needs_last && !l->leaves)
			return may_talk(a) ? NULL : l;
	}
	return NULL;
}

/* That a loop has two conditions, its own and that of the window, is too much for a compiler to unroll it unasked. */
bool is_short(const struct annotation *a, const struct loop *l)
{
	size_t count = 0;
	for (size_t i = 0; i < a->block_count; i++)
		count += a->blocks[i].loop == (int)l->id;
	for (size_t i = 0; i < a->site_count; i++)
		count += a->blocks[a->sites[i].block].loop == (int)l->id;
	return l->parts.innermost && count <= SHORT_LOOP;
}
