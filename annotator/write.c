/*
 * Renders a unit's edits. Host text starts with a few macros, so that the markers themselves stay short:
 *
 *   __gpusim_begin(BLOCKS)  at the entry of a kernel: where this work-group counts, and the buffer's header
 *   __gpusim_block(ID)      one more execution of a block
 *
 * The counters of the plain form are volatile. POCL marks its work-item loops as parallel, and then the
 * vectoriser turns `count[i]++` of sixteen work-items into one: counts were lost by up to 8 times wherever
 * other stores may alias (kernels that write ulong or uchar). Volatile counted right in every test; the
 * atomic form costs 2 to 5 times more again.
 */
#include "annotator/internal.h"
#include "runtime/cc/counters.h"

#include <errno.h>

#define COUNTER_TYPE "__global volatile unsigned long *"
#define KERNEL_PARAMETER COUNTER_TYPE "__gpusim_counters"
#define HELPER_PARAMETER COUNTER_TYPE "__gpusim_count"
#define CLONE_PREFIX "__gpusim_call_"

struct writer {
	const struct annotation *a;
	const struct unit *unit;
	enum marker_form form;
	struct gs_buf *out;
};

/* Slot of the group, then the header, which every launch writes once. */
static void write_begin_macro(struct gs_buf *out)
{
	gs_buf_printf(
	    out,
	    "#define __gpusim_begin(blocks) unsigned long __gpusim_group = (get_group_id(2) * get_num_groups(1) + "
	    "get_group_id(1)) * get_num_groups(0) + get_group_id(0); "
	    "%s__gpusim_count = __gpusim_counters + %d + (__gpusim_group < __gpusim_counters[%d] ? "
	    "__gpusim_group : __gpusim_group %% __gpusim_counters[%d]) * (blocks); "
	    "if (__gpusim_group == 0 && get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0) {",
	    COUNTER_TYPE, COUNTER_HEADER_WORDS, COUNTER_SLOTS, COUNTER_SLOTS);
	for (int i = 0; i < 3; i++)
		gs_buf_printf(
		    out, " __gpusim_counters[%d] = get_local_size(%d); __gpusim_counters[%d] = get_num_groups(%d);",
		    COUNTER_LOCAL + i, i, COUNTER_GROUPS + i, i);
	gs_buf_puts(out, " }\n");
}

static void write_prelude(struct gs_buf *out, enum marker_form form)
{
	if (form == MARK_PROBE) {
		gs_buf_puts(out, "void __gpusim_probe(ulong, ulong, uint, ulong) __asm__(\"llvm.pseudoprobe\");\n");
		return;
	}
	write_begin_macro(out);
	if (form == MARK_COUNT_PLAIN)
		gs_buf_puts(out, "#define __gpusim_block(id) __gpusim_count[id]++\n");
	else
		gs_buf_puts(out,
		            "#define __gpusim_half(id) ((__global volatile unsigned int *)(__gpusim_count + (id)))\n"
		            "#define __gpusim_block(id) (void)(atomic_inc(__gpusim_half(id)) == 0xffffffffu && "
		            "atomic_inc(__gpusim_half(id) + 1))\n");
}

static void write_marker(struct writer *w, const struct edit *e, bool clone)
{
	if (w->form == MARK_PROBE) {
		gs_buf_printf(w->out, "__gpusim_probe(%u, %u, 0, -1);", e->function->guid, e->block);
		return;
	}
	if (e->entry && e->function->kernel && !clone)
		gs_buf_printf(w->out, "__gpusim_begin(%zu);", w->a->block_count);
	gs_buf_printf(w->out, "__gpusim_block(%u);", e->block);
}

static void write_line_marker(struct gs_buf *out, const struct source_place *place)
{
	gs_buf_printf(out, "\n# %u \"", place->line);
	for (const char *p = place->file; *p; p++)
		gs_buf_printf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
	gs_buf_puts(out, "\"\n");
}

static void write_range(struct writer *w, size_t from, size_t to, bool clone);

/* The clone stands on lines of its own; line markers before and after it keep everybody's line numbers. */
static void write_clone(struct writer *w, const struct edit *e)
{
	write_line_marker(w->out, &e->place);
	write_range(w, e->from, e->at, true);
	write_line_marker(w->out, &e->end);
}

/* True when the edit applies, that is, when the bytes it replaces are to be left out. */
static bool write_edit(struct writer *w, const struct edit *e, bool clone)
{
	bool clone_only = e->kind == EDIT_CLONE_NAME || e->kind == EDIT_KERNEL_ONLY;
	if (e->kind == EDIT_COUNT)
		write_marker(w, e, clone);
	if (w->form == MARK_PROBE || (clone_only && !clone))
		return false;
	switch (e->kind) {
	case EDIT_PARAMETER:
		gs_buf_puts(w->out, e->alone ? "" : ", ");
		gs_buf_puts(w->out, e->function->kernel && !clone ? KERNEL_PARAMETER : HELPER_PARAMETER);
		break;
	case EDIT_ARGUMENT:
		gs_buf_puts(w->out, e->alone ? "__gpusim_count" : ", __gpusim_count");
		break;
	case EDIT_CALLEE:
	case EDIT_CLONE_NAME:
		gs_buf_puts(w->out, CLONE_PREFIX);
		break;
	case EDIT_CLONE:
		write_clone(w, e);
		break;
	case EDIT_COUNT:
	case EDIT_DROP:
	case EDIT_KERNEL_ONLY:
		break;
	}
	return true;
}

static size_t first_edit_from(const struct unit *u, size_t from)
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

static void write_range(struct writer *w, size_t from, size_t to, bool clone)
{
	const struct unit *u = w->unit;
	size_t at = from;
	for (size_t i = first_edit_from(u, from); i < u->edit_count; i++) {
		const struct edit *e = &u->edits[i];
		if (e->at > to || (clone && e->at == to))
			break;
		if (e->at < at || (e->at == from && e->kind == EDIT_CLONE && clone))
			continue; /* inside bytes that are left out; or the clone of the declaration before */
		gs_buf_add(w->out, u->text + at, e->at - at);
		at = e->at;
		if (write_edit(w, e, clone))
			at += e->drop;
	}
	gs_buf_add(w->out, u->text + at, to - at);
}

int annotation_write(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out,
                     struct gs_error *err)
{
	struct writer w = {.a = a, .unit = &a->units[unit], .form = form, .out = out};
	write_prelude(out, form);
	write_range(&w, 0, w.unit->length, false);
	return out->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
