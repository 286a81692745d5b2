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

#include "annotator/text/template.h"

static void write_item_macros(enum marker_form form, struct gs_buf *out)
{
	write_template(counters_by_item, NULL, out);
	write_template(counters_sums, NULL, out);
	write_template(form == MARK_COUNT_PLAIN ? counters_add_plain : counters_add_atomic, NULL, out);
}

static void write_group_macros(size_t blocks, enum marker_form form, struct gs_buf *out)
{
	const struct text_value values[] = {{"BLOCKS", NULL, blocks}, {0}};
	write_template(counters_by_group, values, out);
	write_template(form == MARK_COUNT_PLAIN ? counters_count_plain : counters_count_atomic, NULL, out);
}

void write_counter_macros(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out)
{
	const struct text_value values[] = {{"UNIT", NULL, unit}, {0}};
	if (form == MARK_COUNT_ATOMIC)
		write_template(a->units[unit].hides_builtins ? counters_hidden_atomics : counters_atomics, values, out);
	write_template(counters_begin, NULL, out);
	if (annotation_layout(a) == COUNTERS_BY_GROUP)
		write_group_macros(a->block_count, form, out);
	else
		write_item_macros(form, out);
}
