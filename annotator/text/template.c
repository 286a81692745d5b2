#include "annotator/text/template.h"

#include "models/trace/read.h"
#include "runtime/format/counters.h"
#include "runtime/format/facts.h"
#include "runtime/format/native.h"
#include "runtime/format/traces.h"

#include <string.h>

#define NUMBER(name) {#name, NULL, name}
#define BOX_SLOT(name, digit) {"BOX_" #name, "s" #digit, 0},
#define ITEM_SLOT(name, digit) {"ITEM_" #name, "s" #digit, 0},

static const struct text_value constants[] = {
#include "runtime/format/box.def"
#include "annotator/text/work_item.def"
	NUMBER(COUNTER_HEADER_WORDS),
	NUMBER(COUNTER_SIZE_BITS),
	{"COUNTER_SIZE_BITS_2", NULL, 2 * COUNTER_SIZE_BITS},
	{"COUNTER_PLACES", NULL, COUNTER_HEADER_WORDS + 1}, /* after the slots, and the word of all groups without one */
	NUMBER(COUNTER_FULL),
	NUMBER(COUNTER_FULL_SUM),
	{"COUNTER_FULL_SUM_HIGH", NULL, COUNTER_FULL_SUM >> 32},
	NUMBER(COUNTER_SLOTS),
	{"COUNTER_LOCAL_X", NULL, COUNTER_LOCAL},
	{"COUNTER_LOCAL_Y", NULL, COUNTER_LOCAL + 1},
	{"COUNTER_LOCAL_Z", NULL, COUNTER_LOCAL + 2},
	{"COUNTER_GROUPS_X", NULL, COUNTER_GROUPS},
	{"COUNTER_GROUPS_Y", NULL, COUNTER_GROUPS + 1},
	{"COUNTER_GROUPS_Z", NULL, COUNTER_GROUPS + 2},
	NUMBER(TRACE_TEXEL_BYTES),
	NUMBER(TRACE_WINDOWS_APART),
	NUMBER(TRACE_BRIEF_WINDOW),
	NUMBER(TRACE_IMAGE_BITS),
	{"TRACE_IMAGE_MASK", NULL, (1 << TRACE_IMAGE_BITS) - 1},
	{"TRACE_IMAGE_CLASS", NULL, TRACE_CLASSES - 1},
	NUMBER(TRACE_HEADER_WORDS),
	NUMBER(TRACE_COLUMNS_WORD),
	NUMBER(COLUMN_HEADER_WORDS),
	NUMBER(COLUMN_TAG_BITS),
	NUMBER(COLUMN_SITE_SHIFT),
	NUMBER(COLUMN_ADDRESS_SHIFT),
	NUMBER(COLUMN_TOLD_SHIFT),
	NUMBER(COLUMN_CUT_BIT),
	NUMBER(COLUMN_BLOCK),
	NUMBER(COLUMN_ACCESS),
	NUMBER(COLUMN_TOLD),
	NUMBER(COLUMN_COPY),
	NUMBER(COLUMN_BEGIN),
	NUMBER(COLUMN_BASE),
	NUMBER(COLUMN_GAP),
	NUMBER(BOX_RUN_BITS),
	{"BOX_RUN_MASK", NULL, (1 << BOX_RUN_BITS) - 1},
	{"SILENT_MACRO", SILENT_MACRO, 0},
	{"NATIVE_MACRO", NATIVE_MACRO, 0},
	{"NATIVE_PREFIX", NATIVE_PREFIX, 0},
	{NULL, NULL, 0},
};

static const struct text_value *find_value(const struct text_value *values, const char *name, size_t length)
{
	for (; values && values->name; values++)
		if (!strncmp(values->name, name, length) && !values->name[length])
			return values;
	return NULL;
}

static void write_value(const struct text_value *v, struct gs_buf *out)
{
	if (v->text)
		gs_buf_puts(out, v->text);
	else
		gs_buf_printf(out, v->number >> 31 ? "%#lx" : "%lu", v->number);
}

static void write_copies(unsigned long count, const char *text, size_t length, struct gs_buf *out)
{
	for (unsigned long i = 0; i < count; i++)
		for (size_t at = 0; at < length; at++)
			if (text[at] == '#')
				gs_buf_printf(out, "%lu", i);
			else
				gs_buf_add(out, &text[at], 1);
}

void write_template(const char *section, const struct text_value *values, struct gs_buf *out)
{
	for (const char *at; (at = strstr(section, "${"));) {
		const char *name = at + 2, *end = strchr(name, '}');
		size_t length = strcspn(name, "*}");
		const struct text_value *v = find_value(values, name, length);
		if (!v)
			v = find_value(constants, name, length);
		if (!v || !end) {
			gs_buf_add(out, section, (size_t)(name - section));
			section = name;
			continue;
		}
		gs_buf_add(out, section, (size_t)(at - section));
		if (name[length] == '*')
			write_copies(v->number, name + length + 1, (size_t)(end - name) - length - 1, out);
		else
			write_value(v, out);
		section = end + 1;
	}
	gs_buf_puts(out, section);
}
