/*
 * Work-item functions whose answer depends on how a launch is cut into boxes (runtime/format/traces.h). Calls of them go to
 * functions of ours, which take the box; a unit gets those that it uses. They are not static, because that came
 * with OpenCL C 1.2: the unit is in their name. They add and never choose: a choice between the box's answer and the device's
 * own was not taken out of work-item loops, and made short kernels up to twice as slow.
 */
#include "annotator/text/boxes.h"

#include "annotator/edits/box_calls.h"

#include <string.h>

#define BY_DIMENSION(x, y, z, other) "d == 0 ? " x " : d == 1 ? " y " : d == 2 ? " z " : " other

static const struct {
	const char *builtin, *name, *parameters, *value;
	unsigned needs; /* the functions that it calls, a bit each */
} functions[BOX_FUNCTION_COUNT] = {
	[BOX_GROUP_ID] = {"get_group_id", "group_id", "unsigned int d, ",
	                  "get_group_id(d) + (" BY_DIMENSION("b.s0", "b.s1", "b.s2", "0") ")", 0},
	[BOX_NUM_GROUPS] = {"get_num_groups", "num_groups", "unsigned int d, ",
	                    "get_num_groups(d) + (" BY_DIMENSION("b.s3", "b.s4", "b.s5", "0") ")", 0},
	[BOX_GLOBAL_SIZE] = {"get_global_size", "global_size", "unsigned int d, ",
	                     "get_global_size(d) + (" BY_DIMENSION("b.s3", "b.s4", "b.s5", "0") ") * get_local_size(d)", 0},
	[BOX_GLOBAL_OFFSET] = {"get_global_offset", "global_offset", "unsigned int d, ",
	                       "get_global_offset(d) - (" BY_DIMENSION("b.s0", "b.s1", "b.s2", "0") ") * get_local_size(d)", 0},
	[BOX_GLOBAL_LINEAR_ID] = {"get_global_linear_id", "global_linear_id", "",
	                          "((get_global_id(2) - @global_offset(2, b)) * @global_size(1, b) + get_global_id(1) - "
	                          "@global_offset(1, b)) * @global_size(0, b) + get_global_id(0) - @global_offset(0, b)",
	                          1u << BOX_GLOBAL_SIZE | 1u << BOX_GLOBAL_OFFSET},
};

void write_box_function_name(int function, size_t unit, struct gs_buf *out)
{
	gs_buf_printf(out, "__gpusim_%s_%zu", functions[function].name, unit);
}

/* @NAME is a function of ours. */
static void write_value(const char *value, size_t unit, struct gs_buf *out)
{
	for (const char *at; (at = strchr(value, '@')); value = at) {
		size_t length = strcspn(++at, "(");
		gs_buf_printf(out, "%.*s__gpusim_%.*s_%zu", (int)(at - 1 - value), value, (int)length, at, unit);
		at += length;
	}
	gs_buf_puts(out, value);
}

void write_box_functions(unsigned wanted, size_t unit, struct gs_buf *out)
{
	for (int i = 0; i < BOX_FUNCTION_COUNT; i++)
		if (wanted & 1u << i)
			wanted |= functions[i].needs;
	for (int i = 0; i < BOX_FUNCTION_COUNT; i++) {
		if (!(wanted & 1u << i))
			continue;
		gs_buf_puts(out, "size_t ");
		write_box_function_name(i, unit, out);
		gs_buf_printf(out, "(%sulong16 b) { return ", functions[i].parameters);
		write_value(functions[i].value, unit, out);
		gs_buf_puts(out, "; }\n");
	}
}
