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
	              "static %suint gs_piece_%u_%s(__global struct gs_launch *launch, __private struct gs_group *g, __global struct gs_warp *S, uint warp, "
	              "uint m, uint alive, uint met, ulong frame, uint never)\n{\nGS_APART(never)\nuint t = 0, pc = 0, straight = S->straight;\n",
	              warp && in_single_lanes(w) ? "__attribute__((optnone, noinline)) " : "", w->piece_count++, w->plan->kernel->name);
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

/* ---- lanes one after the other ---- */

/*
 * The text that traces is what the first launch waits for. So it is made to be compiled soon: a run of instructions is one loop that goes
 * through the lanes that run, where the text that counts has up to three, of which two are vectorised (segments.c). Addresses
 * are kept in the loop and recorded behind it, for one loop before and one behind each access would be more text than all the rest. Groups
 * that are not traced run in this text only until the other one is worth its time (lending, in runtime/guest/cuda/programs.c). Pieces with
 * shuffles and the like are not even optimised: each is several loops over the lanes, and most of what a compiler works on in a sort.
 */
bool in_single_lanes(const struct kernel_writer *w)
{
	return w->form == LIFT_TRACING;
}

/* Keeps the address of this lane, in the array of instruction `number` of the loop. */
static int write_kept_address(struct kernel_writer *w, const struct ptx_instruction *i, uint32_t number)
{
	int result = 0;
	if (i->guard >= 0) {
		gs_buf_puts(w->out, "if ");
		result = write_guard(w, i);
		gs_buf_printf(w->out, " { lanes%u |= 1u << l; ", number);
	}
	gs_buf_printf(w->out, "at%u[l] = ", number);
	if (!result)
		result = write_traced_address(w, i);
	gs_buf_puts(w->out, i->guard >= 0 ? "; }\n" : ";\n");
	return result;
}

static void write_kept_arrays(struct kernel_writer *w, const struct item_list *list, const struct text_item *item)
{
	for (uint32_t k = 0; k < item->count; k++) {
		const struct ptx_instruction *i = &w->f->function->instructions[list->instructions[item->first + k]];
		if (has_site(i))
			gs_buf_printf(w->out, i->guard >= 0 ? "ulong at%u[32];\nuint lanes%u = 0;\n" : "ulong at%u[32];\n", k, k);
	}
}

static void write_records(struct kernel_writer *w, const struct item_list *list, const struct text_item *item)
{
	for (uint32_t k = 0; k < item->count; k++) {
		uint32_t instruction = list->instructions[item->first + k];
		const struct ptx_instruction *i = &w->f->function->instructions[instruction];
		char lanes[24] = "m", at[24];
		if (!has_site(i))
			continue;
		if (i->guard >= 0)
			snprintf(lanes, sizeof lanes, "lanes%u", k);
		snprintf(at, sizeof at, "at%u", k);
		gs_buf_puts(w->out, "if (trace) ");
		write_record(w, instruction, lanes, at);
	}
}

int write_single_lanes(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item,
                       const struct item_uses *uses)
{
	int result = 0;
	gs_buf_puts(w->out, "{\n");
	write_kept_arrays(w, list, item);
	gs_buf_puts(w->out, "for (uint left = m; left; left &= left - 1) {\nconst uint l = GS_FIRST(left);\n");
	w->in_lanes = true;
	for (uint32_t u = 0; u < uses->count; u++)
		write_load(w, &uses->list[u]);
	for (uint32_t k = 0; k < item->count && !result; k++) {
		const struct ptx_instruction *i = &w->f->function->instructions[list->instructions[item->first + k]];
		result = has_site(i) ? write_kept_address(w, i, k) : 0;
		if (!result)
			result = write_lane_statement(w, i, false);
	}
	if (!result)
		result = write_loop_end(w, part, item, uses, false);
	w->in_lanes = false;
	gs_buf_puts(w->out, "}\n");
	write_records(w, list, item);
	gs_buf_puts(w->out, "}\n");
	return result;
}
