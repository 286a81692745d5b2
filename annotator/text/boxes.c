/*
 * The text of box functions, in prelude.cl. A unit gets those that it calls, and those that they call.
 */
#include "annotator/text/boxes.h"

#include "annotator/edits/box_calls.h"
#include "annotator/text/template.h"

static const struct {
	const char *name, *text;
	unsigned needs; /* the box functions that it calls, one bit each */
} functions[BOX_FUNCTION_COUNT] = {
	[BOX_GROUP_ID] = {"group_id", box_group_id, 0},
	[BOX_NUM_GROUPS] = {"num_groups", box_num_groups, 0},
	[BOX_GLOBAL_SIZE] = {"global_size", box_global_size, 0},
	[BOX_GLOBAL_OFFSET] = {"global_offset", box_global_offset, 0},
	[BOX_GLOBAL_LINEAR_ID] = {"global_linear_id", box_global_linear_id, 1u << BOX_GLOBAL_SIZE | 1u << BOX_GLOBAL_OFFSET},
};

void write_box_function_name(int function, size_t unit, struct gs_buf *out)
{
	gs_buf_printf(out, "__gpusim_%s_%zu", functions[function].name, unit);
}

void write_box_functions(unsigned wanted, size_t unit, struct gs_buf *out)
{
	const struct text_value values[] = {{"UNIT", NULL, unit}, {0}};
	for (int i = 0; i < BOX_FUNCTION_COUNT; i++)
		if (wanted & 1u << i)
			wanted |= functions[i].needs;
	for (int i = 0; i < BOX_FUNCTION_COUNT; i++)
		if (wanted & 1u << i)
			write_template(functions[i].text, values, out);
}

void write_box_macros(unsigned wanted, size_t unit, struct gs_buf *out)
{
	for (int i = 0; i < BOX_FUNCTION_COUNT; i++) {
		const struct text_value values[] = {{"NAME", functions[i].name, 0}, {"UNIT", NULL, unit}, {0}};
		if (wanted & 1u << i)
			write_template(box_macro, values, out);
	}
}
