/* Kernel code with values in it: substitution, the names of vector slots, and a check that annotated text has a value in every
 * place. */
#include "tests/tests.h"

#include "annotator/annotator.h"
#include "annotator/text/template.h"
#include "runtime/format/traces.h"

#include <stdio.h>
#include <string.h>

static void check(const char *section, const struct text_value *values, const char *expected)
{
	struct gs_buf out = {0};
	write_template(section, values, &out);
	CU_ASSERT_STRING_EQUAL(out.data, expected);
	gs_buf_free(&out);
}

static void values_replace_their_names(void)
{
	const struct text_value values[] = {{"A", "x", 0}, {"AB", NULL, 12}, {"FULL", NULL, 0xffffffff}, {0}};
	check("f_${A}(${AB}, ${A})", values, "f_x(12, x)");
	check("${FULL}u", values, "0xffffffffu");
	check("nothing", NULL, "nothing");
	check("${TRACE_HEADER_WORDS}", NULL, "8");
}

static void copies_are_numbered(void)
{
	const struct text_value values[] = {{"N", NULL, 3}, {"NONE", NULL, 0}, {0}};
	check("${N*a[#] = }0;", values, "a[0] = a[1] = a[2] = 0;");
	check("x${NONE*a[#] = }0;", values, "x0;");
}

static void unknown_names_stay(void)
{
	const struct text_value values[] = {{"A", "x", 0}, {0}};
	check("${B} ${A} ${AA", values, "${B} x ${AA");
}

static void slots_have_one_number(void)
{
	static const char digits[] = "0123456789abcdef";
	char section[64], expected[8];
#define BOX_SLOT(name, digit) \
	snprintf(section, sizeof section, "${BOX_%s}", #name); \
	snprintf(expected, sizeof expected, "s%c", digits[BOX_##name]); \
	check(section, NULL, expected);
#include "runtime/format/box.def"
#undef BOX_SLOT
}

/* All sections: vectors, images, copies, atomics, arrays, printf, hidden builtins, calls of box functions. */
static const char program[] =
	"# 1 \"program.cl\"\n"
	"__constant int table[4] = {1, 2, 3, 4};\n"
	"size_t f(__global int *atomic_inc) { return get_global_linear_id() + atomic_inc[0]; }\n"
	"__kernel void k(__global int *p, __local int *l, read_only image2d_t i, read_only image1d_t j, sampler_t s) {\n"
	"int a[4]; event_t e = async_work_group_copy(l, p, 4, 0); wait_group_events(1, &e);\n"
	"for (int n = 0; n < 4; n++) { a[n] = table[n] + l[n]; vstore4(vload4(n, p), n, p); }\n"
	"atomic_add(p, a[p[0]]); printf(\"%d\", (int)f(p)); float4 c = read_imagef(i, s, (float2)(0.5f)) + read_imagef(j, s, 1);\n"
	"p[get_group_id(0)] = c.x; }\n";

static void texts_have_no_names_left(void)
{
	const char *args[] = {"-xcl", "-cl-std=CL2.0", "-w", NULL};
	struct annotator_unit unit = {.text = program, .length = sizeof program - 1, .clang_args = args};
	for (int by_group = 0; by_group < 2; by_group++) {
		struct annotation *a = NULL;
		struct gs_error err = {.text = ""};
		CU_ASSERT_EQUAL(annotation_create(&unit, 1, &a, &err), 0);
		CU_ASSERT_STRING_EQUAL(err.text, "");
		if (!a)
			return;
		if (by_group)
			annotation_without_variables(a);
		for (enum marker_form form = MARK_COUNT_PLAIN; form <= MARK_PROBE; form++) {
			struct gs_buf out = {0};
			CU_ASSERT_EQUAL(annotation_write(a, 0, form, &out, &err), 0);
			CU_ASSERT_PTR_NULL(strstr(out.data, "${"));
			CU_ASSERT_PTR_NULL(strstr(out.data, "/*"));
			CU_ASSERT_PTR_NULL(strstr(out.data, "\\\n"));
			gs_buf_free(&out);
		}
		annotation_free(a);
	}
}

void add_template_tests(void)
{
	CU_pSuite s = CU_add_suite("template", NULL, NULL);
	CU_add_test(s, "values replace their names", values_replace_their_names);
	CU_add_test(s, "copies are numbered", copies_are_numbered);
	CU_add_test(s, "unknown names stay", unknown_names_stay);
	CU_add_test(s, "slots of the box have one number", slots_have_one_number);
	CU_add_test(s, "annotated texts have no names left", texts_have_no_names_left);
}
