/*
 * Kernels in pieces. Compilers take time that grows faster than the size of a function. So what lanes do between the instructions of control
 * flow of a large kernel becomes functions of their own. Registers are in the state of the warp, where all of them find them. What is left
 * of the function that runs a warp is not optimised: it is large, and takes little of the time of a launch.
 */
#include "annotator/lift/segments.h"

enum { MOST_IN_PIECE = 400 };

/* Items from `first` on that are one piece. */
static uint32_t count_items(const struct item_list *list, uint32_t first)
{
	uint32_t count = 0, instructions = 0;
	for (uint32_t i = first; i < list->count && instructions < MOST_IN_PIECE; i++, count++)
		instructions += list->items[i].count;
	return count;
}

/* Shuffles and the like may end the group, or wait for other lanes (meetings.c). */
static bool has_warp_item(const struct item_list *list, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++)
		if (list->items[i].kind == ITEM_WARP)
			return true;
	return false;
}

static void write_piece_call(struct kernel_writer *w, const struct kernel_part *part, bool takes_mask, bool warp)
{
	const struct kernel_plan *p = w->plan;
	gs_buf_printf(w->out, "%sgs_piece_%u_%s(launch, g, S, warp, m, alive, %s, %s, never);\n", takes_mask ? "t = " : "", w->piece_count,
	              p->kernel->name, p->meets ? "met" : "0u", p->recursive ? "frame" : "0ul");
	if (warp)
		gs_buf_puts(w->out, "if (S->status == GS_FAULTED) return 0;\n");
	if (warp && p->meets)
		gs_buf_printf(w->out, "met = 0;\nif (S->status == GS_HOLDS) { S->status = GS_YIELDED; pc = %uu; goto HOLD; }\n",
		              w->f->first_pc + (uint32_t)(part - w->f->parts));
}

static int write_piece(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, uint32_t first, uint32_t count)
{
	struct gs_buf *out = w->out;
	bool warp = has_warp_item(list, first, count);
	int result = 0;
	write_piece_call(w, part, list->items[first + count - 1].takes_mask, warp);
	w->out = &w->pieces;
	gs_buf_printf(w->out,
	              "static uint gs_piece_%u_%s(__global struct gs_launch *launch, __private struct gs_group *g, __global struct gs_warp *S, uint warp, "
	              "uint m, uint alive, uint met, ulong frame, uint never)\n{\nGS_APART(never)\nuint t = 0, pc = 0, straight = S->straight;\n",
	              w->piece_count++, w->plan->kernel->name);
	write_common_values(w);
	for (uint32_t i = 0; i < count && !result; i++)
		result = write_item(w, part, list, &list->items[first + i]);
	gs_buf_printf(w->out, "return t;\n%s%s}\n", warp ? "FAULTED:;\nS->status = GS_FAULTED;\nreturn t;\n" : "",
	              warp && w->plan->meets ? "HOLD:;\nS->status = GS_HOLDS;\nreturn t;\n" : "");
	w->out = out;
	return result;
}

int write_pieces(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list)
{
	int result = 0;
	for (uint32_t i = 0, count; i < list->count && !result; i += count) {
		count = count_items(list, i);
		result = write_piece(w, part, list, i, count);
	}
	return result;
}
