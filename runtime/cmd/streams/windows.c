/* See windows.h. */
#include "runtime/cmd/streams/windows.h"

#include <errno.h>
#include <stdlib.h>

enum {
	BRIEF = 4, /* first window in an iteration that is held back; there are no others */
	APART = 4, /* windows begin at powers of this, times the first */
};

/* First windows of loops in a nest of that many (annotator/blocks/windows.c): of the innermost, and of all others. */
static const struct {
	uint32_t innermost, outer;
} sizes[] = {{64, 64}, {64, 64}, {32, 16}, {32, 8}, {16, 4}};

int window_rules_make(const struct kernel_code *code, struct window_rules *out)
{
	*out = (struct window_rules){code, calloc(code->loop_count + 1u, 1), calloc(code->loop_count + 1u, 1)};
	if (!out->depths || !out->nests) {
		window_rules_free(out);
		return -ENOMEM;
	}
	for (uint32_t l = 0; l < code->loop_count; l++)
		for (int32_t at = (int32_t)l; at >= 0 && out->depths[l] < UINT8_MAX; at = code->loops[at].outer)
			out->depths[l]++;
	for (uint32_t l = 0; l < code->loop_count; l++)
		for (int32_t at = (int32_t)l, steps = 0; at >= 0 && steps < UINT8_MAX; at = code->loops[at].outer, steps++)
			out->nests[at] = out->depths[l] > out->nests[at] ? out->depths[l] : out->nests[at];
	return 0;
}

void window_rules_free(struct window_rules *r)
{
	free(r->depths);
	free(r->nests);
	*r = (struct window_rules){0};
}

static uint32_t first_window(const struct window_rules *r, const struct lane_windows *w, uint32_t loop)
{
	uint32_t nest = r->nests[loop], last = GS_ARRAY_LEN(sizes) - 1;
	if (w->holding)
		return BRIEF;
	return r->depths[loop] == nest ? sizes[nest < last ? nest : last].innermost : sizes[nest < last ? nest : last].outer;
}

/* Iterations count from 1. */
static bool is_in_window(const struct window_rules *r, const struct lane_windows *w, const struct loop_frame *f)
{
	uint64_t first = first_window(r, w, f->loop), begin = first * APART;
	if (f->iteration <= first || w->holding)
		return f->iteration <= first;
	while (begin <= f->iteration / APART)
		begin *= APART;
	return f->iteration >= begin && f->iteration - begin < first / 2;
}

static bool is_in_loop(const struct kernel_code *code, uint32_t loop, uint32_t block)
{
	int32_t at = code->blocks[block].loop;
	for (uint32_t steps = 0; at >= 0 && at != (int32_t)loop && steps < code->loop_count; steps++)
		at = code->loops[at].outer;
	return at == (int32_t)loop;
}

/* ---- events ---- */

static void pass(struct lane_windows *w, const struct window_event *e, window_event_fn *put, void *ctx)
{
	if (w->cut)
		return;
	if (!w->holding)
		put(ctx, e);
	else if (w->held.len < WINDOWS_MOST_HELD * sizeof *e)
		gs_buf_add(&w->held, e, sizeof *e);
	w->cut |= w->holding && (w->held.failed || w->held.len >= WINDOWS_MOST_HELD * sizeof *e);
}

static struct window_event *held(struct lane_windows *w, size_t at)
{
	return (struct window_event *)(void *)(w->held.data + at);
}

/* The gap of the frame ends: its event has its numbers now. What is held back goes on, unless that is in a gap around it. */
static void end_gap(const struct window_rules *r, struct lane_windows *w, struct loop_frame *f, window_event_fn *put, void *ctx)
{
	f->gap = false;
	if (w->cut)
		return;
	*held(w, f->first_held) = (struct window_event){WINDOW_GAP, r->code->loops[f->loop].header, f->kept, f->missing};
	if (w->holding != (uint32_t)(f - w->frames) + 1)
		return;
	w->holding = 0;
	for (size_t at = 0; at < w->held.len; at += sizeof(struct window_event)) {
		const struct window_event *e = held(w, at);
		if (e->kind != WINDOW_GAP || e->iterations)
			put(ctx, e);
	}
	w->held.len = 0;
}

static void begin_gap(struct lane_windows *w, struct loop_frame *f)
{
	struct window_event mark = {.kind = WINDOW_GAP};
	f->gap = true;
	f->missing = 0;
	if (!w->holding)
		w->holding = (uint32_t)(f - w->frames) + 1;
	f->first_held = w->held.len;
	pass(w, &mark, NULL, NULL);
}

/* ---- loops ---- */

static void leave_loop(const struct window_rules *r, struct lane_windows *w, window_event_fn *put, void *ctx)
{
	struct loop_frame *f = &w->frames[w->depth - 1];
	if (f->gap)
		end_gap(r, w, f, put, ctx);
	w->depth--;
}

static void next_iteration(const struct window_rules *r, struct lane_windows *w, struct loop_frame *f, window_event_fn *put, void *ctx)
{
	f->iteration++;
	if (!f->gap) {
		if (is_in_window(r, w, f))
			f->kept++;
		else
			begin_gap(w, f);
		return;
	}
	/* There is another: the one before it is left out. */
	f->missing++;
	if (w->cut)
		return;
	w->held.len = f->first_held + sizeof(struct window_event);
	uint32_t holding = w->holding;
	w->holding = holding == (uint32_t)(f - w->frames) + 1 ? 0 : holding;
	bool again = is_in_window(r, w, f);
	w->holding = holding;
	if (!again)
		return;
	end_gap(r, w, f, put, ctx);
	f->kept = 1;
}

void lane_windows_begin(struct lane_windows *w)
{
	struct gs_buf held = w->held;
	held.len = 0;
	*w = (struct lane_windows){.held = held};
}

/* Loops around a block that the lane is not in yet, the outermost first. */
static void enter_loops(const struct window_rules *r, struct lane_windows *w, uint32_t block)
{
	const struct kernel_code *code = r->code;
	int32_t around[WINDOWS_MOST_DEEP], inside = w->depth ? (int32_t)w->frames[w->depth - 1].loop : -1;
	uint32_t count = 0, steps = 0;
	for (int32_t at = code->blocks[block].loop; at >= 0 && at != inside && steps++ < code->loop_count; at = code->loops[at].outer)
		if (r->depths[at] <= WINDOWS_MOST_DEEP && count < WINDOWS_MOST_DEEP)
			around[count++] = at;
	while (count-- && w->depth < WINDOWS_MOST_DEEP)
		w->frames[w->depth++] = (struct loop_frame){.loop = (uint32_t)around[count], .iteration = 1, .kept = 1};
}

void lane_windows_block(const struct window_rules *r, struct lane_windows *w, uint32_t block, window_event_fn *put, void *ctx)
{
	const struct window_event e = {.kind = WINDOW_BLOCK, .what = block};
	while (w->depth && !is_in_loop(r->code, w->frames[w->depth - 1].loop, block))
		leave_loop(r, w, put, ctx);
	if (w->depth && r->code->loops[w->frames[w->depth - 1].loop].header == block)
		next_iteration(r, w, &w->frames[w->depth - 1], put, ctx);
	else
		enter_loops(r, w, block);
	pass(w, &e, put, ctx);
}

void lane_windows_access(struct lane_windows *w, uint32_t site, uint64_t address, window_event_fn *put, void *ctx)
{
	const struct window_event e = {.kind = WINDOW_ACCESS, .what = site, .address = address};
	pass(w, &e, put, ctx);
}

void lane_windows_end(const struct window_rules *r, struct lane_windows *w, window_event_fn *put, void *ctx)
{
	while (w->depth)
		leave_loop(r, w, put, ctx);
}
