/*
 * Kernel code that is written in the .cl files of this folder, and the values that go into it.
 *
 * Make embeds every section of these files as a string (sections.awk). In a section, ${NAME} stands for a value. ${NAME*TEXT} stands
 * for NAME copies of TEXT, in which # is the number of the copy, from 0. A name without a value stays as it is, and no compiler
 * takes it. template.c has the values that never change: sizes of formats, and the slots of vectors by their names.
 */
#ifndef GPUSIM_ANNOTATOR_TEXT_TEMPLATE_H
#define GPUSIM_ANNOTATOR_TEXT_TEMPLATE_H

#include "runtime/base/base.h"

struct text_value {
	const char *name, *text; /* text is NULL: the value is the number */
	unsigned long number;
};

/* Appends a section with the given values. A value without a name ends the list; NULL: there are none. */
void write_template(const char *section, const struct text_value *values, struct gs_buf *out);

/* counters.cl */
extern const char counters_atomics[], counters_hidden_atomics[], counters_begin[], counters_by_item[], counters_sums[],
    counters_add_plain[], counters_add_atomic[], counters_by_group[], counters_count_plain[], counters_count_atomic[];
/* prelude.cl */
extern const char prelude_print[], prelude_probe[], prelude_ids[], prelude_hidden_ids[];
extern const char box_group_id[], box_num_groups[], box_global_size[], box_global_offset[], box_global_linear_id[],
    box_macro[];
/* tracer.cl */
extern const char tracer_names[], tracer_from[], tracer_if_native[], tracer_native[], tracer_native_calls[], tracer_guarded_calls[],
    tracer_guarded_accesses[], tracer_guarded_arrays[], tracer_native_accesses[],
    tracer_native_arrays[], tracer_else[], tracer_state[], tracer_runs[], tracer_apart_plain[], tracer_apart[], tracer_words[], tracer_events[],
    tracer_ends[], tracer_windows[], tracer_ids[], tracer_offset[], tracer_moved[],
    tracer_accesses[], tracer_arrays[], tracer_image_place[], tracer_copy[], tracer_endif[], tracer_images[];

#endif
