/*
 * The macros that markers of the host's text are (annotator/text/write.c has the list).
 *
 * POCL 3.1 keeps what lives across a barrier once for each work-item, but what it takes for the same in all of them only once
 * for the group. Basic blocks that it takes for executed by all work-items or none make it wrong there: it follows them from the
 * entry on, and one branch with the same outcome for all is enough, even where others lead to the same block. Of
 *     if (same_for_all || p[i] > 3) { n = 1; p[i] = 0; } barrier(CLK_LOCAL_MEM_FENCE);
 * all work-items then have the n of one. That may happen to counters, and to the kernel's own variables where POCL alone computes
 * them rightly, because the block was none before it counted. So the entry of a kernel with barriers divides (begin_divided):
 * work-items go two ways, as far as a compiler can see that does not know their number yet, neither is where both meet, and
 * POCL takes no block behind for one that all execute. Once it knows the size of a group, one way goes, and nothing is left of it.
 * Without that, 2 of 4,000 random kernels are miscounted (tests/generate/run.sh BUILD 10 1162, and 1182).
 */
#include "annotator/text/counter_macros.h"

#include "runtime/format/counters.h"

#define GROUP_ID \
	"(__gpusim_group_id(2) * __gpusim_num_groups(1) + __gpusim_group_id(1)) * __gpusim_num_groups(0) + __gpusim_group_id(0)"

/* By other names where variables hide them. */
static void write_atomics(size_t unit, bool hidden, struct gs_buf *out)
{
	static const struct {
		const char *name, *parameter, *argument;
	} atomics[] = {{"inc", "", ""}, {"add", ", unsigned int v", ", v"}, {"or", ", unsigned int v", ", v"}};
	for (size_t i = 0; i < GS_ARRAY_LEN(atomics); i++) {
		const char *name = atomics[i].name;
		if (hidden)
			gs_buf_printf(out,
			              "unsigned int __gpusim_atomic_%s_%zu(__global volatile unsigned int *p%s) { return atomic_%s(p%s); }\n"
			              "#define __gpusim_atomic_%s __gpusim_atomic_%s_%zu\n",
			              name, unit, atomics[i].parameter, name, atomics[i].argument, name, name, unit);
		else
			gs_buf_printf(out, "#define __gpusim_atomic_%s atomic_%s\n", name, name);
	}
}

/* Begins a kernel: `first` is of the store behind it. Two stores of different sizes are not made one. */
static void write_begins(struct gs_buf *out)
{
	gs_buf_puts(out, "#define __gpusim_begin __gpusim_begin_with()\n"
	                 "#define __gpusim_begin_divided __gpusim_begin_with(if (__gpusim_local_id(0) >> 31) "
	                 "*(__global unsigned int *)__gpusim_counters = 0; else)\n");
}

/*
 * No store depends on the work-item: each made a vectorised stencil twice as slow. Nor is there a branch: a condition behind a
 * barrier that is itself under one, where control leaves the kernel, made POCL 3.1 have all work-items of a group follow one of
 * them in conditions of the kernel's own. Groups without places store too, where nobody looks (runtime/format/counters.h).
 */
static void write_item_macros(struct gs_buf *out)
{
	gs_buf_puts(out, "#define __gpusim_block(id) __gpusim_n->all##id++\n"
	                 "#define __gpusim_trips(id, n) __gpusim_n->all##id += (n)\n"
	                 "#define __gpusim_part(id) __gpusim_n->part##id++\n"
	                 "#define __gpusim_half(at, shift) __gpusim_n->pair##at += 1ul << shift\n"
	                 "#define __gpusim_half_low(at) (__gpusim_n->pair##at & 0xffffffffu)\n"
	                 "#define __gpusim_half_high(at) (__gpusim_n->pair##at >> 32)\n"
	                 "#define __gpusim_round(id) __gpusim_n->part##id += __gpusim_n->part##id != 0xffffffffu\n"
	                 "#define __gpusim_flag(word, bit) __gpusim_f##word |= 1u << bit\n"
	                 "#define __gpusim_total(id) "
	                 "(unsigned int)(__gpusim_n->all##id | (0ul - (__gpusim_n->all##id > 0xffffffffUL)))\n");
	gs_buf_printf(out,
	              "#define __gpusim_begin_with(first) unsigned long __gpusim_group = " GROUP_ID "; "
	              "first __gpusim_counters[%d + __gpusim_slots + (__gpusim_group - __gpusim_slots & "
	              "0ul - (__gpusim_group < __gpusim_slots))] = "
	              "__gpusim_local_size(0) | __gpusim_local_size(1) << %d | __gpusim_local_size(2) << %d\n",
	              COUNTER_HEADER_WORDS, COUNTER_SIZE_BITS, 2 * COUNTER_SIZE_BITS);
	gs_buf_puts(out, "#define __gpusim_at(d) (__gpusim_global_id(d) - __gpusim_global_offset(d) - __gpusim_local_id(d))\n"
	                 "#define __gpusim_place(words) unsigned long __gpusim_i = (__gpusim_at(2) * __gpusim_global_size(1) + "
	                 "__gpusim_at(1) * __gpusim_local_size(2)) * __gpusim_global_size(0) + __gpusim_at(0) * __gpusim_local_size(1) * "
	                 "__gpusim_local_size(2), __gpusim_l = (__gpusim_local_id(2) * __gpusim_local_size(1) + __gpusim_local_id(1)) * "
	                 "__gpusim_local_size(0) + __gpusim_local_id(0), __gpusim_fits = 0ul - (__gpusim_i + __gpusim_local_size(0) * "
	                 "__gpusim_local_size(1) * __gpusim_local_size(2) <= __gpusim_places), __gpusim_step = __gpusim_places & "
	                 "__gpusim_fits, __gpusim_first = (__gpusim_i & __gpusim_fits) + ((words) * __gpusim_places & ~__gpusim_fits);\n");
	gs_buf_printf(out,
	              "#define __gpusim_put(word, value) ((__global unsigned int *)(__gpusim_counters + %d + "
	              "__gpusim_slots))[(word) * __gpusim_step + __gpusim_first + __gpusim_l] = value;\n",
	              COUNTER_HEADER_WORDS + 1);
}

/* A work-item's counter that is full makes its sum so too. */
static void write_sum_macros(struct gs_buf *out, enum marker_form form)
{
	gs_buf_printf(out,
	              "#define __gpusim_sums(columns) %s__gpusim_s = __gpusim_counters + %d + __gpusim_slots + "
	              "__gpusim_group %% __gpusim_slots * columns;\n",
	              COUNTER_TYPE, COUNTER_HEADER_WORDS + 1);
	if (form == MARK_COUNT_PLAIN)
		gs_buf_printf(out,
		              "#define __gpusim_add(column, value) { unsigned int __gpusim_v = value; "
		              "__gpusim_s[column] = __gpusim_s[column] + __gpusim_v | (0ul - (__gpusim_v == %#xu) & %#lxUL); }\n",
		              COUNTER_FULL, COUNTER_FULL_SUM);
	else
		gs_buf_printf(out,
		              "#define __gpusim_low(column) ((__global volatile unsigned int *)(__gpusim_s + column))\n"
		              "#define __gpusim_add(column, value) { unsigned int __gpusim_v = value; if (__gpusim_v == %#xu) "
		              "__gpusim_atomic_or(__gpusim_low(column) + 1, %#lxu); else if (__gpusim_v && "
		              "__gpusim_atomic_add(__gpusim_low(column), __gpusim_v) > 0xffffffffu - __gpusim_v) "
		              "__gpusim_atomic_inc(__gpusim_low(column) + 1); }\n",
		              COUNTER_FULL, COUNTER_FULL_SUM >> 32);
}

/* Slot of the group, then the header, which every launch writes once. */
static void write_group_macros(struct gs_buf *out, size_t blocks, enum marker_form form)
{
	gs_buf_printf(out,
	              "#define __gpusim_begin_with(first) unsigned long __gpusim_group = " GROUP_ID "; "
	              "%s__gpusim_count = __gpusim_counters + %d + __gpusim_group %% __gpusim_counters[%d] * %zu; "
	              "first if (__gpusim_group == 0 && __gpusim_local_id(0) == 0 && __gpusim_local_id(1) == 0 && __gpusim_local_id(2) == 0) {",
	              COUNTER_TYPE, COUNTER_HEADER_WORDS, COUNTER_SLOTS, blocks);
	for (int i = 0; i < 3; i++)
		gs_buf_printf(
		    out, " __gpusim_counters[%d] = __gpusim_local_size(%d); __gpusim_counters[%d] = __gpusim_num_groups(%d);",
		    COUNTER_LOCAL + i, i, COUNTER_GROUPS + i, i);
	gs_buf_puts(out, " }");
	if (form == MARK_COUNT_PLAIN)
		gs_buf_puts(out, "\n#define __gpusim_block(id) __gpusim_count[id]++\n"
		                 "#define __gpusim_trips(id, n) __gpusim_count[id] += (n)\n");
	else
		gs_buf_puts(out,
		            "\n#define __gpusim_half(id) ((__global volatile unsigned int *)(__gpusim_count + (id)))\n"
		            "#define __gpusim_block(id) (void)(__gpusim_atomic_inc(__gpusim_half(id)) == 0xffffffffu && "
		            "__gpusim_atomic_inc(__gpusim_half(id) + 1))\n"
		            "#define __gpusim_trips(id, n) (void)(__gpusim_atomic_add(__gpusim_half(id), n) > 0xffffffffu - (n) && "
		            "__gpusim_atomic_inc(__gpusim_half(id) + 1))\n");
}

void write_counter_macros(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out)
{
	if (form == MARK_COUNT_ATOMIC)
		write_atomics(unit, a->units[unit].hides_builtins, out);
	write_begins(out);
	if (annotation_layout(a) == COUNTERS_BY_GROUP) {
		write_group_macros(out, a->block_count, form);
		return;
	}
	write_item_macros(out);
	write_sum_macros(out, form);
}
