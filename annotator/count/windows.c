/*
 * PTX that records blocks, and loops in windows: annotator/text/tracer.cl, instruction by instruction. Its names are the same. A thread has its state in
 * registers: %gpusim_on (0: nothing is recorded, 1: everything is, 2: blocks are), %gpusim_closed (the loop between whose windows it is, or 0),
 * %gpusim_skip, %gpusim_at, %gpusim_left, %gpusim_spilled and %gpusim_cut; and for each loop those of window_declare().
 *
 * Numbers of iterations have 32 bits here: a thread that goes through a loop more often runs longer than twins may.
 */
#include "annotator/count/internal.h"

#include "models/trace/read.h"
#include "runtime/format/traces.h"

#include <string.h>

#define NEVER "0x7fffffff"

void window_declare(uint32_t loop, struct gs_buf *out)
{
	gs_buf_printf(out, ".reg .b32 %%gpusim_w%u_trip, %%gpusim_w%u_first, %%gpusim_w%u_edge, %%gpusim_w%u_next, %%gpusim_w%u_skip, %%gpusim_w%u_size, "
	                   "%%gpusim_w%u_mode, %%gpusim_w%u_outer, %%gpusim_w%u_spilled, %%gpusim_w%u_left;\n.reg .b64 %%gpusim_w%u_mark;\n",
	              loop, loop, loop, loop, loop, loop, loop, loop, loop, loop, loop);
}

/*
 * Text with its own names replaced: $L is the loop, # a number that no other text has, and % stands for %gpusim_. So the text below is that of PTX.
 */
static void put(struct gs_buf *out, const char *text, uint32_t loop, uint32_t number)
{
	for (const char *at = text; *at; at++)
		if (*at == '%')
			gs_buf_puts(out, "%gpusim_");
		else if (*at == '#')
			gs_buf_printf(out, "%u", number);
		else if (!strncmp(at, "$L", 2))
			gs_buf_printf(out, "%u", loop), at++;
		else
			gs_buf_add(out, at, 1);
}

/* Without room the trace ends; or, in an iteration that may be forgotten again, the iteration is. Then q is whether to write. */
static const char look_for_room[] =
	"setp.le.s32 %q, %left, 0;\n"
	"@!%q bra $gpusim_room_#;\n"
	"setp.eq.u32 %q, %on, 2;\n"
	"@%q mov.u32 %spilled, 1;\n"
	"@%q bra $gpusim_room_#;\n"
	"or.b32 %cut, %cut, %on;\n"
	"mov.u32 %on, 0;\n"
	"mov.u32 %closed, 0;\n"
	"$gpusim_room_#:\n"
	"setp.ne.u32 %q, %on, 0;\n"
	"setp.eq.and.u32 %q, %spilled, 0, %q;\n";

static void put_word(struct gs_buf *out, const char *word)
{
	gs_buf_printf(out, "@%%gpusim_q st.global.u64 [%%gpusim_at], %s;\n@%%gpusim_q add.u64 %%gpusim_at, %%gpusim_at, %%gpusim_step;\n"
	                   "@%%gpusim_q sub.u32 %%gpusim_left, %%gpusim_left, 1;\n", word);
}

static void put_constant(struct gs_buf *out, uint64_t word)
{
	gs_buf_printf(out, "mov.u64 %%gpusim_e, %llu;\n", (unsigned long long)word);
	put_word(out, "%gpusim_e");
}

/* A block that is executed while something is recorded. */
static void put_block(struct count_writer *w, uint32_t row, struct gs_buf *out)
{
	put(out, look_for_room, 0, w->labels++);
	put_constant(out, (uint64_t)row << COLUMN_TAG_BITS | COLUMN_BLOCK);
}

void window_block(struct count_writer *w, uint32_t row, struct gs_buf *out)
{
	uint32_t number = w->labels++;
	put(out, "setp.ne.u32 %p, %on, 0;\n@!%p bra $gpusim_block_#;\n", 0, number);
	put_block(w, row, out);
	put(out, "$gpusim_block_#:\n", 0, number);
}

/* A loop that is entered. */
void window_loop(struct count_writer *w, const struct graph *g, uint32_t loop, const char *condition, struct gs_buf *out)
{
	static const char text[] =
		"setp.eq.u32 %q, %on, 2;\n"
		"setp.gt.u32 %p, %whole, 1;\n"
		"mul.lo.u32 %v, %whole, %u;\n"
		"selp.u32 %v, %v, %u, %p;\n"
		"selp.u32 %v, %brief, %v, %q;\n"
		"mov.u32 %w$L_trip, 0;\n"
		"mov.u32 %w$L_first, 0;\n"
		"setp.eq.u32 %p, %whole, 1;\n"
		"selp.u32 %w$L_edge, " NEVER ", %v, %p;\n"
		"selp.u32 %w$L_size, %v, %u, %q;\n"
		"shr.u32 %w$L_size, %w$L_size, 1;\n"
		"mul.lo.u32 %v, %v, %apart;\n"
		"selp.u32 %w$L_next, " NEVER ", %v, %q;\n"
		"mov.u32 %w$L_mode, %on;\n"
		"mov.u32 %w$L_outer, %closed;\n"
		"mov.u32 %w$L_skip, %skip;\n"
		"mov.u32 %w$L_spilled, 0;\n"
		"$gpusim_loop_#:\n";
	uint32_t number = w->labels++;
	gs_buf_printf(out, "setp.ne%s.u32 %%gpusim_p, %%gpusim_on, 0%s%s;\n", *condition ? ".and" : "", *condition ? ", " : "", condition);
	put(out, "@!%p bra $gpusim_loop_#;\n", loop, number);
	gs_buf_printf(out, "mov.u32 %%gpusim_u, %u;\nmov.u32 %%gpusim_brief, %d;\nmov.u32 %%gpusim_apart, %d;\n", lift_window(g, loop), TRACE_BRIEF_WINDOW,
	              TRACE_WINDOWS_APART);
	put(out, text, loop, number);
}

/* A gap after the iterations of a window: %gpusim_v is how many were left out. */
static void put_gap(struct count_writer *w, uint32_t loop, uint32_t row, struct gs_buf *out)
{
	put(out, look_for_room, loop, w->labels++);
	put_constant(out, (uint64_t)row << COLUMN_TOLD_SHIFT | COLUMN_GAP << COLUMN_TAG_BITS | COLUMN_TOLD);
	put(out, "sub.u32 %u, %w$L_edge, %w$L_first;\ncvt.u64.u32 %e, %u;\n", loop, 0);
	put_word(out, "%gpusim_e");
	put(out, "cvt.u64.u32 %e, %v;\n", loop, 0);
	put_word(out, "%gpusim_e");
}

/* The state before the loop was closed; %gpusim_v is how many iterations were left out. */
static void put_go_on(struct count_writer *w, uint32_t loop, uint32_t row, bool last, struct gs_buf *out)
{
	put(out, "mov.u32 %on, %w$L_mode;\nmov.u32 %closed, %w$L_outer;\nmov.u32 %skip, %w$L_skip;\n", loop, 0);
	if (!last)
		put_gap(w, loop, row, out);
	else
		put(out, "setp.eq.u32 %q, %w$L_spilled, 0;\ncvt.u64.u32 %e, %v;\nsub.u64 %f, %w$L_mark, %step;\n@%q st.global.u64 [%f], %e;\n", loop, 0);
}

/* The end of a window. Between windows nothing is recorded; or (last) only blocks are, and forgotten when another iteration begins. */
static void put_close(struct count_writer *w, uint32_t loop, uint32_t row, bool last, uint32_t number, struct gs_buf *out)
{
	if (!last) {
		gs_buf_printf(out, "mov.u32 %%gpusim_closed, %u;\n", loop + 1);
		put(out, "mov.u32 %on, 0;\nsub.u32 %skip, %w$L_next, %w$L_edge;\nbra $gpusim_done_#;\n", loop, number);
		return;
	}
	put(out, "mov.u32 %v, 0;\n", loop, number);
	put_gap(w, loop, row, out);
	put(out, "setp.eq.u32 %p, %on, 0;\n@%p bra $gpusim_done_#;\n", loop, number);
	gs_buf_printf(out, "mov.u32 %%gpusim_closed, %u;\n", loop + 1);
	put(out, "mov.u32 %on, 2;\nmov.u32 %w$L_spilled, %spilled;\nmov.u64 %w$L_mark, %at;\nmov.u32 %w$L_left, %left;\nbra $gpusim_count_#;\n", loop, number);
}

/* Another window begins, if it is time. */
static void put_open(struct count_writer *w, uint32_t loop, uint32_t row, bool last, uint32_t number, struct gs_buf *out)
{
	if (last)
		put(out, "mov.u32 %spilled, %w$L_spilled;\nsetp.eq.u32 %q, %spilled, 0;\n@%q mov.u64 %at, %w$L_mark;\n@%q mov.u32 %left, %w$L_left;\n"
		         "setp.lt.u32 %q, %w$L_trip, %w$L_next;\n@%q bra $gpusim_count_#;\n", loop, number);
	put(out, "sub.u32 %v, %w$L_next, %w$L_edge;\n", loop, number);
	put_go_on(w, loop, row, last, out);
	put(out, "mov.u32 %w$L_trip, %w$L_next;\nmov.u32 %w$L_first, %w$L_next;\nadd.u32 %w$L_edge, %w$L_first, %w$L_size;\n", loop, number);
	gs_buf_printf(out, "mul.wide.u32 %%gpusim_e, %%gpusim_w%u_next, %d;\nmin.u64 %%gpusim_e, %%gpusim_e, " NEVER ";\n", loop, TRACE_WINDOWS_APART);
	put(out, "cvt.u32.u64 %w$L_next, %e;\n", loop, number);
}

void window_body(struct count_writer *w, const struct graph *g, uint32_t loop, uint32_t row, struct gs_buf *out)
{
	const bool last = lift_window_needs_last(g, loop);
	uint32_t number = w->labels++;
	gs_buf_printf(out, "setp.eq.u32 %%gpusim_p, %%gpusim_closed, %u;\n", loop + 1);
	put(out, "setp.ne.u32 %q, %on, 0;\n@%q bra $gpusim_going_#;\n@!%p bra $gpusim_done_#;\n"
	         "sub.u32 %skip, %skip, 1;\nsetp.ne.u32 %q, %skip, 0;\n@%q bra $gpusim_done_#;\n"
	         "$gpusim_going_#:\n@%p bra $gpusim_open_#;\n"
	         "setp.ne.u32 %q, %w$L_trip, %w$L_edge;\n@%q bra $gpusim_count_#;\n", loop, number);
	put_close(w, loop, row, last, number, out);
	put(out, "$gpusim_open_#:\n", loop, number);
	put_open(w, loop, row, last, number, out);
	put(out, "$gpusim_count_#:\nadd.u32 %w$L_trip, %w$L_trip, 1;\n", loop, number);
	put(out, "setp.ne.u32 %p, %on, 0;\n@!%p bra $gpusim_done_#;\n", loop, number);
	put_block(w, row, out);
	put(out, "$gpusim_done_#:\n", loop, number);
}

void window_loop_end(struct count_writer *w, const struct graph *g, uint32_t loop, uint32_t row, const char *condition, struct gs_buf *out)
{
	const bool last = lift_window_needs_last(g, loop);
	uint32_t number = w->labels++;
	gs_buf_printf(out, "setp.eq%s.u32 %%gpusim_p, %%gpusim_closed, %u%s%s;\n", *condition ? ".and" : "", loop + 1, *condition ? ", " : "", condition);
	put(out, "@!%p bra $gpusim_left_#;\n", loop, number);
	if (last)
		put(out, "setp.ne.u32 %q, %spilled, 0;\nsetp.eq.and.u32 %q, %w$L_spilled, 0, %q;\n@%q mov.u64 %at, %w$L_mark;\n@%q mov.u32 %left, %w$L_left;\n"
		         "@%q mov.u32 %spilled, 0;\nselp.u32 %u, 0, 1, %q;\nsub.u32 %v, %w$L_trip, %w$L_edge;\nsub.u32 %v, %v, %u;\n", loop, number);
	else
		put(out, "sub.u32 %v, %w$L_next, %w$L_edge;\nsub.u32 %v, %v, %skip;\nadd.u32 %v, %v, 1;\n", loop, number);
	put_go_on(w, loop, row, last, out);
	put(out, "$gpusim_left_#:\n", loop, number);
}
