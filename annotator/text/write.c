/*
 * Writes a unit's text with its edits. Host text starts with macros (counters.cl), so that the markers themselves stay short:
 *
 *   __gpusim_begin          at the entry of a kernel: finds the place of this work-group
 *   __gpusim_begin_divided  the same for a kernel with barriers
 *   __gpusim_block(ID)      counts one more execution of a block
 *   __gpusim_part(ID)       the same for a block that runs at most as often as another block that has a counter
 *   __gpusim_half(PAIR, SHIFT)  the same for a block that shares a word with another
 *   __gpusim_flag(WORD, BIT)  the same for a block that runs at most once
 *   __gpusim_round(ID)      the same for the body of a loop with a barrier: stops when it is full
 *   __gpusim_trips(ID, N)   adds N to a counter of trips
 *   __gpusim_place(WORDS)   at the end of a kernel: finds where the work-item stores that many words
 *   __gpusim_put(WORD, VALUE)  stores one of them
 *   __gpusim_sums, __gpusim_add(COLUMN, VALUE)  instead of these two: for sums of the group
 *   __gpusim_inline         before a function: the compiler inlines it before it optimises anything
 *
 * Item layout. Counters are private variables, and each work-item stores its own when it ends. Compilers keep them in registers,
 * compute those of plain loops from the trip count, and vectorise the stores. Nothing is shared. On POCL this form takes 1.0 to
 * 1.3 times as long as the kernel. Two other forms were measured. A volatile increment at the entry alone made a copying kernel 18
 * times slower, because nothing was vectorised any more. A barrier with a sum by one work-item made a stencil 3 times slower.
 * All work-items of a group store the same sizes in the same place; compilers take that out of the loop.
 * Stores cost most in short kernels. Values that live across barriers cost most in kernels with barriers. So blocks that run once
 * have bits, and counters have 32 bits, two in a word, wherever an overflow shows in another counter. A kernel with more counters
 * than its work-items can store adds them to sums of the group when it ends. Such kernels are long.
 *
 * Functions count through a pointer to these variables. They have to be inlined first. LLVM, optimising such a function by itself,
 * merges two increments at the ends of branches that meet into one, with a choice of addresses. Then the variables stay in memory
 * for good. POCL 3.1 takes its loops over work-items as parallel, and vectorises accesses of what all of them share: the counts were
 * garbage.
 *
 * Group layout, where there are too many counters even for variables. Each is counted in memory, which makes short kernels 2 to 17
 * times slower. Sums and counters of the plain form are volatile. POCL marks its work-item loops as parallel, and then the
 * vectoriser turns `count[i]++` of sixteen work-items into one: counts were up to 8 times too low wherever other stores may alias.
 * The atomic form takes 2 to 5 times longer again.
 */
#include "annotator/text/write.h"

#include "annotator/edits/box_calls.h"
#include "annotator/edits/edits.h"
#include "annotator/edits/locals.h"
#include "annotator/source/nesting.h"
#include "annotator/source/scan.h"
#include "annotator/text/boxes.h"
#include "annotator/text/columns.h"
#include "annotator/text/counter_macros.h"
#include "annotator/text/template.h"
#include "annotator/text/trace_text.h"
#include "annotator/text/trips.h"
#include "annotator/text/windows.h"
#include "runtime/format/counters.h"

#include <errno.h>
#include <stdlib.h>

static const char *const kernel_parameter[] = {
	[COUNTERS_BY_ITEM] = "__global unsigned long *__gpusim_counters, unsigned long __gpusim_slots, "
	                     "unsigned long __gpusim_places",
	[COUNTERS_BY_GROUP] = COUNTER_TYPE "__gpusim_counters",
};
static const char *const helper_parameter[] = {
	[COUNTERS_BY_ITEM] = "__private struct __gpusim_counts *__gpusim_n",
	[COUNTERS_BY_GROUP] = COUNTER_TYPE "__gpusim_count",
};
static const char *const argument[] = {[COUNTERS_BY_ITEM] = "__gpusim_n", [COUNTERS_BY_GROUP] = "__gpusim_count"};
#define LOCALS_PARAMETER "__local char *__gpusim_l"
#define LOCALS_ARGUMENT "__gpusim_l"
#define BOX_PARAMETER "ulong16 __gpusim_box"
#define BOX_ARGUMENT "__gpusim_box"

/* Where a byte of the unit's text is in the written text. */
struct shift {
	size_t from, to;
};

static const size_t all_orders[] = {0, SIZE_MAX}, no_orders[] = {0, 0};

struct text_writer {
	const struct annotation *a;
	const struct parsed_unit *unit;
	enum marker_form form;
	bool traced;
	bool silent; /* traced text that records nothing: the second text of a loop */
	enum counter_layout layout;
	struct gs_buf *out;
	struct shift *shifts; /* one for each edit; NULL: not wanted */
	size_t shift_count;
};

/* The variables of all kernels and functions. The driver's compiler drops those that a kernel does not reach. */
static void write_counts(struct text_writer *w)
{
	gs_buf_puts(w->out, "struct __gpusim_counts { int none;");
	for (size_t i = 0; i < w->a->block_count; i++) {
		const struct block *b = &w->a->blocks[i];
		if (b->half >= 0 && !(b->half & 1))
			gs_buf_printf(w->out, " unsigned long pair%d;", b->half / 2);
		else if (b->half < 0 && !b->term_count)
			gs_buf_printf(w->out, b->bound == BOUND_NONE ? " unsigned long all%u;" : " unsigned int part%u;", b->id);
	}
	gs_buf_puts(w->out, " };\n");
}

static size_t index_of_unit(const struct text_writer *w)
{
	return (size_t)(w->unit - w->a->units);
}

/* The box functions that the unit calls, and those that its markers call: these need places in the whole launch. */
static void write_box(struct text_writer *w)
{
	unsigned own = !w->unit->has_kernels ? 0
	               : w->layout == COUNTERS_BY_GROUP && !w->traced
	                   ? 1u << BOX_GROUP_ID | 1u << BOX_NUM_GROUPS
	                   : 1u << BOX_GROUP_ID | 1u << BOX_NUM_GROUPS | 1u << BOX_GLOBAL_SIZE | 1u << BOX_GLOBAL_OFFSET;
	write_box_functions(w->unit->box_functions | own, index_of_unit(w), w->out);
	write_box_macros(own, index_of_unit(w), w->out);
}

static void write_prelude(struct text_writer *w)
{
	const struct text_value values[] = {{"UNIT", NULL, index_of_unit(w)}, {0}};
	bool inlines = w->layout == COUNTERS_BY_ITEM && inlines_all(w->a);
	if (w->form == MARK_PROBE) {
		write_template(prelude_probe, NULL, w->out);
		return;
	}
	if (w->unit->prints)
		write_template(prelude_print, NULL, w->out);
	write_template(w->unit->hides_builtins ? prelude_hidden_ids : prelude_ids, values, w->out);
	write_box(w);
	gs_buf_printf(w->out, "#define __gpusim_inline%s\n", inlines ? " __attribute__((always_inline))" : "");
	if (w->layout == COUNTERS_BY_ITEM)
		write_counts(w);
	write_counter_macros(w->a, index_of_unit(w), w->form, w->out);
	if (w->traced)
		write_trace_functions(w->a, index_of_unit(w), w->form, w->out);
}

static const struct kernel_entry *kernel_of_entry(const struct annotation *a, unsigned block)
{
	for (size_t i = 0; i < a->kernel_count; i++)
		if (a->kernels[i].entry == block)
			return &a->kernels[i];
	return NULL;
}

static size_t flag_words(const struct kernel_entry *k)
{
	return (k->flag_count + COUNTER_FLAGS - 1) / COUNTER_FLAGS;
}

/* The variable of a block's counter, as a member of __gpusim_counts. */
static void write_counter(struct text_writer *w, unsigned block)
{
	const struct block *b = &w->a->blocks[block];
	if (b->half >= 0)
		gs_buf_printf(w->out, "__gpusim_n->pair%d", b->half / 2);
	else
		gs_buf_printf(w->out, "__gpusim_n->%s%u", b->bound == BOUND_NONE ? "all" : "part", block);
}

/* counter_macros.c says why. Traced text has conditions of its own: whether a work-item is recorded. */
static bool is_divided(const struct text_writer *w, const struct kernel_entry *k)
{
	return k && k->has_barrier && w->form == MARK_COUNT_PLAIN && (w->traced || !k->one_way);
}

/* The entry of a kernel. In the item layout it declares the counters. The entry itself needs no counter. */
static void write_kernel_begin(struct text_writer *w, const struct edit *e)
{
	const struct kernel_entry *k = kernel_of_entry(w->a, e->block);
	gs_buf_puts(w->out, is_divided(w, k) ? "__gpusim_begin_divided;" : "__gpusim_begin;");
	if (e->function->passes_locals)
		write_room_for_locals(w->a, w->out);
	if (w->traced)
		write_trace_begin(e->function, e->block, w->out);
	if (w->layout == COUNTERS_BY_GROUP) {
		gs_buf_printf(w->out, "__gpusim_block(%u);", e->block);
		return;
	}
	for (size_t i = 0; k && i < flag_words(k); i++)
		gs_buf_printf(w->out, "unsigned int __gpusim_f%zu = 0;", i);
	if (!k || k->column_count == k->flag_count)
		return;
	gs_buf_puts(w->out, "struct __gpusim_counts __gpusim_c;__private struct __gpusim_counts *__gpusim_n = &__gpusim_c;");
	for (size_t i = k->flag_count; i < k->column_count; i++) {
		write_counter(w, k->columns[i]);
		gs_buf_puts(w->out, " = ");
	}
	gs_buf_puts(w->out, "0;");
}

/* Stores all columns of a kernel. */
static void write_stores(struct text_writer *w, const struct kernel_entry *k)
{
	size_t flags = flag_words(k);
	const char *store = k->summed ? "add" : "put";
	for (size_t i = 0; i < flags; i++)
		gs_buf_printf(w->out, "__gpusim_put(%zu, __gpusim_f%zu)", i, i);
	for (size_t i = k->flag_count; i < k->column_count; i++) {
		const struct block *b = &w->a->blocks[k->columns[i]];
		gs_buf_printf(w->out, "__gpusim_%s(%zu, ", store, flags + i - k->flag_count);
		if (b->half >= 0)
			gs_buf_printf(w->out, "__gpusim_half_%s(%d)", b->half & 1 ? "high" : "low", b->half / 2);
		else if (b->bound == BOUND_NONE)
			gs_buf_printf(w->out, "__gpusim_total(%u)", b->id);
		else
			write_counter(w, b->id);
		gs_buf_puts(w->out, ")");
	}
}

/*
 * Written at every way out. One exit for all, by goto, would be shorter. But POCL 3.1 does not terminate on a kernel that may leave
 * before a barrier and has code after the place where both ways meet.
 */
static void write_kernel_end(struct text_writer *w, const struct edit *e)
{
	const struct kernel_entry *k = kernel_of_entry(w->a, e->block);
	if (w->traced && e->kind != EDIT_RETURN_END)
		gs_buf_printf(w->out, "%s__gpusim_end_trace(__gpusim_t);", e->kind == EDIT_RETURN ? "{" : "");
	if (w->traced && e->kind == EDIT_RETURN_END)
		gs_buf_puts(w->out, "}");
	if (w->layout != COUNTERS_BY_ITEM || !k || !k->column_count)
		return;
	if (e->kind != EDIT_RETURN_END) {
		if (k->summed)
			gs_buf_printf(w->out, "{__gpusim_sums(%zu) {", k->column_count);
		else
			gs_buf_printf(w->out, "{__gpusim_place(%zu) {", flag_words(k) + k->column_count - k->flag_count);
		write_stores(w, k);
		gs_buf_puts(w->out, "}");
	}
	if (e->kind != EDIT_RETURN)
		gs_buf_puts(w->out, "}");
}

/* return f(); becomes { f(); ... return;}, because what f counts has to be stored, too. */
static void write_return_call(struct text_writer *w, const struct edit *e)
{
	if (e->kind == EDIT_RETURN_CALL) {
		gs_buf_puts(w->out, "{");
		return;
	}
	write_kernel_end(w, e);
	gs_buf_puts(w->out, "return;}");
}

/* The index of the block's flag in the kernel that contains it, or -1. */
static int flag_of(const struct text_writer *w, const struct edit *e, bool clone)
{
	const struct kernel_entry *k = NULL;
	for (size_t i = 0; i < w->a->kernel_count && !k && e->function->kernel && !clone; i++)
		if (w->a->kernels[i].name == e->function->name)
			k = &w->a->kernels[i];
	for (size_t i = 0; k && i < k->flag_count; i++)
		if (k->columns[i] == e->block)
			return (int)i;
	return -1;
}

/* An expression that counts one more execution of the edit's block. */
static void write_count(struct text_writer *w, const struct edit *e, bool clone)
{
	static const char *const counters[] = {[BOUND_NONE] = "block", [BOUND_BARRIERS] = "round", [BOUND_ROUND] = "part",
	                                       [BOUND_ONCE] = "part"};
	const struct block *b = &w->a->blocks[e->block];
	int flag = w->layout == COUNTERS_BY_ITEM ? flag_of(w, e, clone) : -1;
	if (flag >= 0)
		gs_buf_printf(w->out, "__gpusim_flag(%d, %d)", flag / COUNTER_FLAGS, flag % COUNTER_FLAGS);
	else if (w->layout == COUNTERS_BY_ITEM && b->half >= 0)
		gs_buf_printf(w->out, "__gpusim_half(%d, %d)", b->half / 2, b->half % 2 * 32);
	else
		gs_buf_printf(w->out, "__gpusim_%s(%u)", w->layout == COUNTERS_BY_ITEM ? counters[b->bound] : "block", e->block);
}

static void write_probe(struct text_writer *w, const struct edit *e)
{
	gs_buf_printf(w->out, "__gpusim_probe(%u, %u, 0, -1)", e->function->guid, e->block);
}

static void write_range(struct text_writer *w, size_t from, size_t to, const size_t orders[2], bool clone);

/* Whether what is written records. If not, it still hands on what others need to record. */
static bool records(const struct text_writer *w)
{
	return w->traced && !w->silent;
}

/* A part of a loop's header, which may be empty. */
static void write_part(struct text_writer *w, size_t from, size_t to, const char *before, const char *after, const char *otherwise, bool clone)
{
	bool empty = scan_blanks(w->unit->text, to, from) == to;
	gs_buf_puts(w->out, empty ? otherwise : before);
	if (!empty)
		write_range(w, from, to, all_orders, clone);
	gs_buf_puts(w->out, empty ? "" : after);
}

/* The second text of a loop, at the beginning of its body: iterations that nothing is recorded of. */
static void write_between(struct text_writer *w, const struct loop *l, bool clone)
{
	const struct loop_parts *p = &l->parts;
	const size_t orders[] = {p->first_order, p->last_order};
	w->silent = true;
	gs_buf_printf(w->out, "__gpusim_between%s(%u)for (; __gpusim_more & (__gpusim_left != 0); ",
	              is_short(w->a, l) ? "_short" : "", l->id + 1);
	write_part(w, p->step, p->step_end, "(", "), ", "", clone);
	write_part(w, p->condition, p->condition_end, "__gpusim_more = (", ") != 0, ", "", clone);
	gs_buf_puts(w->out, "__gpusim_left--)");
	write_range(w, p->body, p->body_end, orders, clone);
	gs_buf_printf(w->out, "__gpusim_between_end(%u, %u)", l->id + 1, l->body);
	w->silent = false;
}

static void write_marker(struct text_writer *w, const struct edit *e, bool clone)
{
	if (w->form == MARK_PROBE) {
		write_probe(w, e);
		gs_buf_puts(w->out, ";");
		return;
	}
	const struct loop *twice = records(w) && w->form == MARK_COUNT_ATOMIC ? loop_written_twice(w->a, e->block) : NULL;
	if (twice) {
		write_body(w->a, e->block, w->out);
		write_between(w, twice, clone);
	}
	if (e->entry && e->function->kernel && !clone)
		write_kernel_begin(w, e);
	else if (!w->a->blocks[e->block].term_count) {
		write_count(w, e, clone);
		gs_buf_puts(w->out, ";");
	}
	if (records(w) && !twice && !write_body(w->a, e->block, w->out))
		gs_buf_printf(w->out, "__gpusim_b(%u, __gpusim_t);", e->block);
	write_trip_numbers(w->a, e->block, ";", w->out);
}

static void write_wrap(struct text_writer *w, const struct edit *e, bool clone)
{
	bool derived = w->a->blocks[e->block].term_count;
	if (w->form != MARK_PROBE && derived && !records(w) && !has_trip_numbers(w->a, e->block))
		return;
	if (e->kind == EDIT_WRAP_END) {
		gs_buf_puts(w->out, "))");
		return;
	}
	gs_buf_puts(w->out, "(");
	if (w->form == MARK_PROBE) {
		write_probe(w, e);
		gs_buf_puts(w->out, ", (");
		return;
	}
	if (!derived) {
		write_count(w, e, clone);
		gs_buf_puts(w->out, ", ");
	}
	if (records(w))
		gs_buf_printf(w->out, "__gpusim_b(%u, __gpusim_t), ", e->block);
	write_trip_numbers(w->a, e->block, ", ", w->out);
	gs_buf_puts(w->out, "(");
}

static void write_line_marker(struct gs_buf *out, const struct source_place *place)
{
	gs_buf_printf(out, "\n# %u \"", place->line);
	for (const char *p = place->file; *p; p++)
		gs_buf_printf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
	gs_buf_puts(out, "\"\n");
}

/* The clone stands on lines of its own. Line markers before and after it keep all line numbers right. */
static void write_clone(struct text_writer *w, const struct edit *e)
{
	write_line_marker(w->out, &e->place);
	write_range(w, e->from, e->at, no_orders, true);
	write_line_marker(w->out, &e->end);
}

/* The parameters that a function or a kernel takes in addition. */
static void write_parameters(struct text_writer *w, const struct edit *e, bool clone)
{
	bool kernel = e->function->kernel && !clone && !e->of_clone;
	gs_buf_puts(w->out, e->alone ? "" : ", ");
	gs_buf_puts(w->out, (kernel ? kernel_parameter : helper_parameter)[w->layout]);
	if (kernel || e->function->takes_box)
		gs_buf_puts(w->out, ", " BOX_PARAMETER);
	if (!kernel && (e->function->passes_locals || owns_locals(e->function)))
		gs_buf_puts(w->out, ", " LOCALS_PARAMETER);
	if (w->traced)
		gs_buf_puts(w->out, kernel ? ", __global unsigned long *__gpusim_traces"
		                           : ", __private struct __gpusim_trace *__gpusim_t");
}

/* The arguments for them. */
static void write_arguments(struct text_writer *w, const struct edit *e)
{
	gs_buf_printf(w->out, e->alone ? "%s" : ", %s", argument[w->layout]);
	if (e->callee->takes_box)
		gs_buf_puts(w->out, ", " BOX_ARGUMENT);
	if (e->callee->passes_locals || owns_locals(e->callee))
		gs_buf_puts(w->out, ", " LOCALS_ARGUMENT);
	if (w->traced)
		gs_buf_puts(w->out, ", __gpusim_t");
}

/* Edits of declarations and calls. Returns whether it is one. */
static bool write_call_edit(struct text_writer *w, const struct edit *e, bool clone)
{
	switch (e->kind) {
	case EDIT_INLINE:
		gs_buf_puts(w->out, e->function->kernel && !clone ? "" : "__gpusim_inline ");
		return true;
	case EDIT_PARAMETER:
		write_parameters(w, e, clone);
		return true;
	case EDIT_ARGUMENT:
		write_arguments(w, e);
		return true;
	case EDIT_PRINT:
		gs_buf_puts(w->out, "__gpusim_printf");
		return true;
	case EDIT_BOX:
		write_box_function_name((int)e->block, index_of_unit(w), w->out);
		return true;
	case EDIT_BOX_END:
		gs_buf_puts(w->out, e->alone ? BOX_ARGUMENT : ", " BOX_ARGUMENT);
		return true;
	case EDIT_CLONE_NAME:
	case EDIT_CALLEE:
		if (clone || e->kind == EDIT_CALLEE)
			gs_buf_puts(w->out, CLONE_PREFIX);
		return true;
	default:
		return false;
	}
}

/* Edits of host text. Returns whether the bytes that the edit replaces are left out. */
static bool write_host_edit(struct text_writer *w, const struct edit *e, bool clone)
{
	if (write_call_edit(w, e, clone))
		return true;
	switch (e->kind) {
	case EDIT_CLONE:
		write_clone(w, e);
		return true;
	case EDIT_RETURN:
	case EDIT_RETURN_END:
	case EDIT_KERNEL_END:
		if (!clone)
			write_kernel_end(w, e);
		return true;
	case EDIT_RETURN_CALL:
	case EDIT_RETURN_CALL_END:
		if (!clone)
			write_return_call(w, e);
		return !clone;
	case EDIT_LOOP:
	case EDIT_LOOP_END:
		if (e->kind == EDIT_LOOP)
			write_trips(w->a, e, w->out);
		if (records(w))
			write_window(w->a, e, w->out);
		if (e->kind == EDIT_LOOP_END)
			write_trips(w->a, e, w->out);
		return true;
	case EDIT_LEAVE:
		if (records(w))
			write_leave(w->a, e, w->out);
		return true;
	case EDIT_TRACED:
		gs_buf_puts(w->out, records(w) ? e->fixed : "");
		return true;
	case EDIT_KERNEL_ONLY:
	case EDIT_CLONE_TEXT:
		gs_buf_puts(w->out, clone && e->fixed ? e->fixed : "");
		return clone;
	default:
		return true;
	}
}

static bool write_edit(struct text_writer *w, const struct edit *e, bool clone)
{
	if (e->kind == EDIT_COUNT)
		write_marker(w, e, clone);
	else if (e->kind == EDIT_WRAP || e->kind == EDIT_WRAP_END)
		write_wrap(w, e, clone);
	else if (e->kind == EDIT_TEXT)
		gs_buf_puts(w->out, e->fixed);
	else
		return w->form != MARK_PROBE && write_host_edit(w, e, clone);
	return true;
}

static size_t first_edit_from(const struct parsed_unit *u, size_t from)
{
	size_t low = 0, high = u->edit_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (u->edits[middle].at < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* If a directive begins at `at` and something else was written before it, starts a new line with the right number. */
static void start_directive_line(struct text_writer *w, size_t at)
{
	const char *text = w->unit->text, *name;
	size_t length;
	if (at >= w->unit->length || text[at] != '#' || !at || text[at - 1] != '\n' || !w->out->len ||
	    w->out->data[w->out->len - 1] == '\n')
		return;
	unsigned long line = scan_line(text, at, &name, &length);
	gs_buf_printf(w->out, "\n# %lu %.*s\n", line, (int)length, name);
}

/* Edits at `to` are written if their order is above the first of two, up to the second. */
static void write_range(struct text_writer *w, size_t from, size_t to, const size_t orders[2], bool clone)
{
	const struct parsed_unit *u = w->unit;
	size_t at = from;
	for (size_t i = first_edit_from(u, from); i < u->edit_count; i++) {
		const struct edit *e = &u->edits[i];
		if (e->at > to)
			break;
		if (e->at == to && (e->order <= orders[0] || e->order > orders[1]))
			continue;
		if (e->at < at || (e->at == from && e->kind == EDIT_CLONE && clone))
			continue; /* it is inside of bytes that are left out, or it is the clone of the declaration before */
		gs_buf_add(w->out, u->text + at, e->at - at);
		at = e->at;
		if (write_edit(w, e, clone))
			at += e->drop;
		start_directive_line(w, at);
		if (w->shifts)
			w->shifts[w->shift_count++] = (struct shift){.from = at, .to = w->out->len};
	}
	gs_buf_add(w->out, u->text + at, to - at);
}

int annotation_write(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out,
                     struct gs_error *err)
{
	struct text_writer w = {.a = a, .unit = &a->units[unit], .layout = annotation_layout(a), .out = out};
	w.traced = form == MARK_TRACE_PLAIN || form == MARK_TRACE_ATOMIC;
	w.form = form == MARK_TRACE_PLAIN ? MARK_COUNT_PLAIN : form == MARK_TRACE_ATOMIC ? MARK_COUNT_ATOMIC : form;
	write_prelude(&w);
	size_t start = out->len;
	write_range(&w, 0, w.unit->length, all_orders, false);
	if (w.traced && !out->failed)
		scan_blank_unrolls(out->data + start, out->len - start); /* drivers compile slowly if there are many events */
	if (out->failed)
		return gs_fail(err, ENOMEM, "out of memory");
	return form == MARK_PROBE ? 0 : refuse_deep_brackets(out->data + start, out->len - start, err);
}

/* The column in target text of the byte `at` of the unit's text. */
static unsigned column_in(const struct text_writer *w, size_t at)
{
	size_t low = 0, high = w->shift_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (w->shifts[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	struct shift s = low ? w->shifts[low - 1] : (struct shift){0, 0};
	size_t to = s.to + (at - s.from), line = to;
	while (line && line <= w->out->len && w->out->data[line - 1] != '\n')
		line--;
	return (unsigned)(to - line + 1);
}

int place_sites(struct annotation *a, struct gs_error *err)
{
	struct gs_buf out = {0};
	int result = 0;
	for (size_t i = 0; i < a->unit_count && a->site_count && !result; i++) {
		struct text_writer w = {.a = a, .unit = &a->units[i], .form = MARK_PROBE, .layout = annotation_layout(a), .out = &out};
		w.shifts = calloc(w.unit->edit_count + 1, sizeof *w.shifts);
		out.len = 0;
		if (w.shifts)
			write_range(&w, 0, w.unit->length, all_orders, false);
		result = !w.shifts || out.failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
		for (size_t j = 0; j < a->site_count && !result; j++)
			if (a->sites[j].unit == i)
				a->sites[j].place.column = column_in(&w, a->sites[j].at);
		free(w.shifts);
	}
	gs_buf_free(&out);
	return result;
}
