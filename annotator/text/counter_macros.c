/*
 * Chooses the macros that the markers of host text use (counters.cl).
 *
 * Why kernels with barriers begin with __gpusim_begin_divided: POCL 3.1 keeps a value that lives across a barrier once for each
 * work-item, or only once for the group if it takes the value to be uniform, that is, the same in all work-items. Its
 * uniformity analysis is unsound: it takes a basic block to be executed by all work-items or none if one incoming branch has
 * the same outcome for all, even if other branches lead to the same block. After
 *     if (same_for_all || p[i] > 3) { n = 1; p[i] = 0; } barrier(CLK_LOCAL_MEM_FENCE);
 * all work-items then have the n of one. That may happen to counters. It may also happen to variables of the kernel that POCL
 * computes rightly without counters, because the block did not exist before it counted.
 *
 * So the entry of such a kernel divides. Work-items go two ways, as far as a compiler can see that does not know the local size
 * yet. Neither way is the place where both meet, so POCL takes no block after it as executed by all. Once the compiler knows the
 * local size, it removes one way, and nothing is left of the division. Without it, 2 of 4,000 random kernels are miscounted
 * (tests/generate/run.sh BUILD 10 1162, and 1182).
 *
 * But POCL then runs no loop for all work-items side by side: phases of kernels/shapes (long) took ten times as long as without counters. So
 * the entry does not divide where all work-items of a group go the same way through the kernel (sites/one_way.c): each block is then executed
 * by all of them or by none, as POCL takes it to be.
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
