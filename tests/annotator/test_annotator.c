/* The annotator: exact text for small programs, the block table, and programs that it refuses. */
#include "tests/tests.h"

#include "annotator/annotator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define P "__private struct __gpusim_counts *__gpusim_n" /* parameter of a helper */
#define K "__global unsigned long *__gpusim_counters, unsigned long __gpusim_slots, unsigned long __gpusim_places, " \
	"ulong16 __gpusim_box"
/* A kernel whose work-items have the counter of one block. */
#define COUNTS "__gpusim_begin;struct __gpusim_counts __gpusim_c;__private struct __gpusim_counts *__gpusim_n = &__gpusim_c;"
#define BEGIN COUNTS "__gpusim_n->all0 = 0;"
#define SAVE(words) "{__gpusim_place(" #words ") {"
#define END SAVE(1) "__gpusim_put(0, __gpusim_total(0))}}}\n"

static struct gs_error error;

static struct annotation *create(const char *const *texts, size_t count, const char *standard)
{
	const char *args[] = {"-xcl", standard, "-w", NULL};
	struct annotator_unit units[4];
	struct annotation *a = NULL;
	error.text[0] = 0;
	for (size_t i = 0; i < count; i++)
		units[i] = (struct annotator_unit){.text = texts[i], .length = strlen(texts[i]), .clang_args = args};
	int result = annotation_create(units, count, &a, &error);
	CU_ASSERT_EQUAL(result == 0, a != NULL);
	CU_ASSERT_EQUAL(result == 0, error.text[0] == 0);
	return a;
}

/* Compares the text of a unit, from its first line marker on. The macros or declarations that we put before it are left out. */
static void check_text(const struct annotation *a, size_t unit, enum marker_form form, const char *expected)
{
	struct gs_buf out = {0};
	CU_ASSERT_EQUAL(annotation_write(a, unit, form, &out, &error), 0);
	const char *start = out.data ? strstr(out.data, "# 1 \"program.cl\"\n") : NULL;
	CU_ASSERT_PTR_NOT_NULL(start);
	if (start) {
		start += strlen("# 1 \"program.cl\"\n");
		CU_ASSERT_STRING_EQUAL(start, expected);
		if (strcmp(start, expected))
			fprintf(stderr, "\n%sinstead of\n%s", start, expected);
	}
	gs_buf_free(&out);
}

static void check_one(const char *body, enum marker_form form, const char *expected)
{
	struct gs_buf text = {0};
	gs_buf_printf(&text, "# 1 \"program.cl\"\n%s", body);
	struct annotation *a = create((const char *const[]){text.data}, 1, "-cl-std=CL1.2");
	if (a)
		check_text(a, 0, form, expected);
	else
		CU_FAIL(error.text);
	annotation_free(a);
	gs_buf_free(&text);
}

static void check_refused(const char *body, const char *standard, int code, const char *expected)
{
	struct gs_buf text = {0};
	const char *args[] = {"-xcl", standard, "-w", NULL};
	struct annotation *a = NULL;
	gs_buf_printf(&text, "# 1 \"program.cl\"\n%s", body);
	struct annotator_unit unit = {.text = text.data, .length = text.len, .clang_args = args};
	CU_ASSERT_EQUAL(annotation_create(&unit, 1, &a, &error), -code);
	CU_ASSERT_PTR_NULL(a);
	CU_ASSERT_STRING_EQUAL(error.text, expected);
	annotation_free(a);
	gs_buf_free(&text);
}

static void kernel_gets_counters_as_last_parameter(void)
{
	check_one("__kernel void k(__global int *p) { p[0] = 1; }\n", MARK_COUNT_PLAIN,
	          "__kernel void k(__global int *p, " K ") {__gpusim_begin; p[0] = 1; }\n");
	check_one("kernel void k() {}\nvoid __kernel l( void ) {}\n", MARK_COUNT_PLAIN,
	          "kernel void k(" K ") {__gpusim_begin;}\n"
	          "void __kernel l( " K " ) {__gpusim_begin;}\n");
}

static void helpers_and_their_prototypes_pass_the_counters_on(void)
{
	check_one("float f(float x);\n"
	          "static inline float g(void) { return 1.0f; }\n"
	          "float f(float x)\n{ return x + g(); }\n"
	          "__kernel void k(__global float *p) { p[0] = f(f(p[1]) + g()); }\n",
	          MARK_COUNT_PLAIN,
	          "float f(float x, " P ");\n"
	          "__gpusim_inline static inline float g(" P ") {__gpusim_block(0); return 1.0f; }\n"
	          "__gpusim_inline float f(float x, " P ")\n{__gpusim_block(1); return x + g(__gpusim_n); }\n"
	          "__kernel void k(__global float *p, " K ") {" COUNTS "__gpusim_n->all0 = __gpusim_n->all1 = 0; "
	          "p[0] = f(f(p[1], __gpusim_n) + g(__gpusim_n), __gpusim_n); " SAVE(2) "__gpusim_put(0, __gpusim_total(0))__gpusim_put(1, __gpusim_total(1))}}}\n");
}

/* Only functions that ask for the box, or call a function that does, get it as an argument. */
static void what_depends_on_the_box_is_asked_of_it(void)
{
	check_one("int f(int x) { return x + get_num_groups(x++); }\nint g(int x) { return f(x); }\n"
	          "int h(int x) { return x + get_local_size(0); }\n"
	          "__kernel void k(__global int *p) { p[0] = g(h(get_group_id(0))); }\n",
	          MARK_COUNT_PLAIN,
	          "__gpusim_inline int f(int x, " P ", ulong16 __gpusim_box) "
	          "{__gpusim_block(0); return x + __gpusim_num_groups_0(x++, __gpusim_box); }\n"
	          "__gpusim_inline int g(int x, " P ", ulong16 __gpusim_box) {__gpusim_block(1); return f(x, __gpusim_n, __gpusim_box); }\n"
	          "__gpusim_inline int h(int x, " P ") {__gpusim_block(2); return x + get_local_size(0); }\n"
	          "__kernel void k(__global int *p, " K ") {" COUNTS
	          "__gpusim_n->all0 = __gpusim_n->all1 = __gpusim_n->all2 = 0; "
	          "p[0] = g(h(__gpusim_group_id_0(0, __gpusim_box), __gpusim_n), __gpusim_n, __gpusim_box); "
	          "{__gpusim_place(3) {__gpusim_put(0, __gpusim_total(0))__gpusim_put(1, __gpusim_total(1))"
	          "__gpusim_put(2, __gpusim_total(2))}}}\n");
}

static void functions_defined_nowhere_are_left_alone(void)
{
	check_one("float vendor_op(float x);\n__kernel void k(__global float *p) { p[0] = vendor_op(sin(p[0])); }\n",
	          MARK_COUNT_PLAIN,
	          "float vendor_op(float x);\n__kernel void k(__global float *p, " K ") {__gpusim_begin; "
	          "p[0] = vendor_op(sin(p[0])); }\n");
}

static void overloads_are_told_apart(void)
{
	check_one("int __attribute__((overloadable)) f(int x) { return x; }\n"
	          "float __attribute__((overloadable)) f(float x);\n"
	          "__kernel void k(__global float *p) { p[0] = f(1) + f(1.0f); }\n",
	          MARK_COUNT_PLAIN,
	          "__gpusim_inline int __attribute__((overloadable)) f(int x, " P ") {__gpusim_block(0); return x; }\n"
	          "float __attribute__((overloadable)) f(float x);\n"
	          "__kernel void k(__global float *p, " K ") {" BEGIN " "
	          "p[0] = f(1, __gpusim_n) + f(1.0f); " END);
}

static void attributes_that_counting_breaks_are_dropped(void)
{
	check_one("__attribute__((const)) int f(int x) __attribute__((always_inline));\n"
	          "int f(int x) { return x; }\n__kernel void k(__global int *p) { p[0] = f(2); }\n",
	          MARK_COUNT_PLAIN,
	          "__attribute__(()) int f(int x, " P ") __attribute__((always_inline));\n"
	          "__gpusim_inline int f(int x, " P ") {__gpusim_block(0); return x; }\n"
	          "__kernel void k(__global int *p, " K ") {" BEGIN " "
	          "p[0] = f(2, __gpusim_n); " END);
}

static void called_kernel_gets_a_clone(void)
{
	check_one("__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void a(__global int *p)\n{ p[0] = 1; }\n"
	          "__kernel void b(__global int *p) { a(p); }\n",
	          MARK_COUNT_PLAIN,
	          "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void a(__global int *p, " K ")\n"
	          "{__gpusim_begin; p[0] = 1; }\n"
	          "# 1 \"program.cl\"\n"
	          "__gpusim_inline   void __gpusim_call_a(__global int *p, " P ")\n{__gpusim_block(0); p[0] = 1; }\n"
	          "# 2 \"program.cl\"\n\n"
	          "__kernel void b(__global int *p, " K ") {" BEGIN " "
	          "__gpusim_call_a(p, __gpusim_n); " END);
}

static void prototype_of_a_called_kernel_is_cloned_too(void)
{
	check_one("__kernel void a(void);\nvoid h() { a(); }\n__kernel void a(void) {}\n", MARK_COUNT_PLAIN,
	          "__kernel void a(" K ");\n# 1 \"program.cl\"\n void __gpusim_call_a(" P
	          ");\n# 1 \"program.cl\"\n\n"
	          "__gpusim_inline void h(" P ") {__gpusim_block(0); __gpusim_call_a(__gpusim_n); }\n"
	          "__kernel void a(" K ") {__gpusim_begin;}\n"
	          "# 3 \"program.cl\"\n__gpusim_inline  void __gpusim_call_a(" P ") {__gpusim_block(1);}\n# 3 \"program.cl\"\n\n");
}

static void labels_may_end_a_block(void)
{
	check_one("int f(int x) { if (x) goto out; switch (x) { case 1: x = 2; default: } { last: __attribute__((unused)) } out: }\n",
	          MARK_COUNT_PLAIN,
	          "__gpusim_inline int f(int x, " P ") {__gpusim_block(0); if (x){__gpusim_block(1); goto out;}__gpusim_block(2); "
	          "switch (x) { case 1:__gpusim_block(3); x = 2; default:__gpusim_block(4); }__gpusim_block(5); "
	          "{ last: __attribute__((unused))__gpusim_block(6); } out:__gpusim_block(7); }\n");
}

static void target_text_keeps_signatures_and_has_probes(void)
{
	check_one("int f(void) { return 1; }\n__kernel void k(__global int *p) { p[0] = f(); }\n"
	          "__kernel void l(__global int *p) { k(p); }\n",
	          MARK_PROBE,
	          "int f(void) {__gpusim_probe(1, 0, 0, -1); return 1; }\n"
	          "__kernel void k(__global int *p) {__gpusim_probe(2, 1, 0, -1); p[0] = f(); }\n"
	          "__kernel void l(__global int *p) {__gpusim_probe(3, 2, 0, -1); k(p); }\n");
}

static void helper_of_another_unit_gets_the_counters(void)
{
	const char *const units[] = {
		"# 1 \"program.cl\"\nint f(int x) { return x; }\nstatic int s(void) { return 1; }\n",
		"# 1 \"program.cl\"\nint f(int);\nint s(void);\n__kernel void k(__global int *p) { p[0] = f(s()); }\n",
	};
	struct annotation *a = create(units, 2, "-cl-std=CL1.2");
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	check_text(a, 0, MARK_COUNT_PLAIN, "__gpusim_inline int f(int x, " P ") {__gpusim_block(0); return x; }\n"
	                                   "__gpusim_inline static int s(" P ") {__gpusim_block(1); return 1; }\n");
	/* s of the second unit is not the static s of the first. */
	check_text(a, 1, MARK_COUNT_PLAIN,
	           "int f(int, " P ");\nint s(void);\n"
	           "__kernel void k(__global int *p, " K ") {" BEGIN " "
	           "p[0] = f(s(), __gpusim_n); " END);
	const struct block *blocks;
	CU_ASSERT_EQUAL(annotation_blocks(a, &blocks), 3);
	CU_ASSERT_EQUAL(blocks[1].unit, 0);
	CU_ASSERT_EQUAL(blocks[2].unit, 1);
	CU_ASSERT_STRING_EQUAL(blocks[2].function, "k");
	CU_ASSERT_STRING_EQUAL(blocks[2].kind, "entry");
	annotation_free(a);
}

/* The place where a work-item stores is computed without a branch. POCL 3.1 miscompiles a branch after a barrier under a
 * condition. */
static void nothing_branches_where_counters_are_stored(void)
{
	static const char *const macros[] = {"place(words)", "put(word, value)", "total(id)", "begin_with(first)", "sums(columns)",
	                                     "add(column, value)"};
	struct annotation *a = create((const char *const[]){"__kernel void k(__global int *p) { while (p[0]) p[0]--; }\n"}, 1, "-cl-std=CL1.2");
	struct gs_buf out = {0};
	CU_ASSERT_EQUAL_FATAL(annotation_write(a, 0, MARK_COUNT_PLAIN, &out, &error), 0);
	for (size_t i = 0; i < GS_ARRAY_LEN(macros); i++) {
		char name[64];
		snprintf(name, sizeof name, "#define __gpusim_%s ", macros[i]);
		const char *from = strstr(out.data, name);
		CU_ASSERT_PTR_NOT_NULL_FATAL(from);
		char *line = strndup(from, strcspn(from, "\n"));
		CU_ASSERT(!strstr(line, "if (") && !strchr(line, '?') && !strstr(line, "&&") && !strstr(line, "||"));
		free(line);
	}
	gs_buf_free(&out);
	annotation_free(a);
}

static void places_follow_the_line_markers(void)
{
	const char *const text = "# 1 \"program.cl\"\n# 40 \"my \\\"kernels\\\".cl\"\n__kernel\nvoid k(int a,\n"
	                         "# 7 \"list.h\" 1\nint b,\n# 43 \"my \\\"kernels\\\".cl\" 2\nfloat c) {}\n";
	struct annotation *a = create(&text, 1, "-cl-std=CL1.2");
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	const struct kernel_entry *kernels;
	const struct block *blocks;
	CU_ASSERT_EQUAL(annotation_kernels(a, &kernels), 1);
	CU_ASSERT_STRING_EQUAL(kernels[0].name, "k");
	CU_ASSERT_EQUAL(kernels[0].arguments, 3);
	CU_ASSERT_EQUAL(annotation_blocks(a, &blocks), 1);
	CU_ASSERT_STRING_EQUAL(blocks[0].place.file, "my \"kernels\".cl");
	CU_ASSERT_EQUAL(blocks[0].place.line, 41);
	CU_ASSERT_EQUAL(blocks[0].place.column, 6);
	annotation_free(a);
}

/* Insertions neither move the lines of the user's text nor change their number. */
static void lines_stay_where_they_are(void)
{
	const char *body = "float f(float x,\n        float y)\n{\n  return x\n    + y;\n}\n\n"
	                   "__kernel\nvoid k(\n  __global float *p\n)\n{\n  p[0] = f(p[1],\n    p[2]\n  );\n}\n";
	struct gs_buf text = {0}, out = {0};
	gs_buf_printf(&text, "# 1 \"program.cl\"\n%s", body);
	struct annotation *a = create((const char *const[]){text.data}, 1, "-cl-std=CL1.2");
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	annotation_write(a, 0, MARK_COUNT_ATOMIC, &out, &error);
	size_t lines = 0, expected = 0;
	for (const char *p = strstr(out.data, "# 1 \"program.cl\""); *p; p++)
		lines += *p == '\n';
	for (const char *p = text.data; *p; p++)
		expected += *p == '\n';
	CU_ASSERT_EQUAL(lines, expected);
	annotation_free(a);
	gs_buf_free(&text);
	gs_buf_free(&out);
}

static void brackets_in_literals_and_directives_do_not_confuse(void)
{
	check_one("int f(int x\n#pragma ) here\n) { return x; }\n"
	          "__kernel void k(__global int *p) { p[0] = f(')') + f(\"(\"[0]); }\n",
	          MARK_COUNT_PLAIN,
	          "__gpusim_inline int f(int x\n#pragma ) here\n, " P ") {__gpusim_block(0); return x; }\n"
	          "__kernel void k(__global int *p, " K ") {" BEGIN " "
	          "p[0] = f(')', __gpusim_n) + f(\"(\"[0], __gpusim_n); " END);
}

static void generic_address_space_programs_are_annotated(void)
{
	const char *const text = "# 1 \"program.cl\"\nint total;\nint f(int *p) { return *p; }\n"
	                         "__kernel void k(__global int *p) { local int t; t = 1; p[0] = f(p) + f(&t); }\n";
	struct annotation *a = create(&text, 1, "-cl-std=CL2.0");
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	check_text(a, 0, MARK_COUNT_PLAIN,
	           "int total;\n__gpusim_inline int f(int *p, " P ") {__gpusim_block(0); return *p; }\n"
	           "__kernel void k(__global int *p, " K ") {" BEGIN " local int t; t = 1; "
	           "p[0] = f(p, __gpusim_n) + f(&t, __gpusim_n); " END);
	annotation_free(a);
}

static struct annotation *create_with_trips(const char *text, const struct trips *wanted, size_t count)
{
	struct annotation *a = create(&text, 1, "-cl-std=CL1.2");
	unsigned counter = 0;
	for (size_t i = 0; a && i < count; i++)
		CU_ASSERT_EQUAL(annotation_want_trips(a, &wanted[i], &counter, &error), 0);
	return a;
}

/* Both counts, and a second request for one of them, share one trip number. Its last value gives the counts after the loop. */
static void trips_are_counted_where_wanted(void)
{
	const char *const text = "# 1 \"program.cl\"\nvoid f(int n) { while (n--) ; L: for (;n;) goto L; }\n";
	const struct trips wanted[] = {{TRIPS_COUNT_EVERY, 0, 1, 4, 1}, {TRIPS_COUNT_REACHED, 0, 1, 2, 0},
	                               {TRIPS_COUNT_EVERY, 0, 1, 4, 1}};
	const struct trips not_in_loop = {TRIPS_COUNT_EVERY, 0, 3, 4, 0}, no_loop = {TRIPS_COUNT_EVERY, 2, 1, 4, 0};
	struct annotation *a = create_with_trips(text, wanted, 3);
	unsigned counter = 0;
	const struct loop *loops;
	const struct block *blocks;
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL_FATAL(annotation_loops(a, &loops), 2);
	CU_ASSERT(loops[0].parent == 0 && loops[0].body == 1 && loops[0].outer == -1 && loops[0].has_trips);
	CU_ASSERT_EQUAL(annotation_want_trips(a, &not_in_loop, &counter, &error), -EINVAL);
	CU_ASSERT_EQUAL(annotation_want_trips(a, &no_loop, &counter, &error), -EINVAL);
	CU_ASSERT_EQUAL(annotation_blocks(a, &blocks), 6);
	CU_ASSERT(blocks[4].trips.factor == 4 && blocks[4].trips.residue == 1 && blocks[4].loop == 0);
	CU_ASSERT_STRING_EQUAL(blocks[5].kind, "trips");
	check_text(a, 0, MARK_COUNT_PLAIN,
	           "__gpusim_inline void f(int n, " P ") {__gpusim_block(0);{unsigned int __gpusim_t4 = 0; while (n--){__gpusim_block(1);"
	           "++__gpusim_t4; ;}__gpusim_trips(4, (__gpusim_t4 + 3u) / 4u);__gpusim_trips(5, __gpusim_t4 >= 2u);} "
	           "L:__gpusim_block(2); for (;n;){__gpusim_block(3); goto L;} }\n");
	annotation_free(a);
}

/* Not every work-item comes to the place after such a loop. An expression is numbered where it is evaluated. */
static void trips_of_a_loop_that_returns_are_counted_at_once(void)
{
	const char *const text = "# 1 \"program.cl\"\nint f(int *p, int n) { while (n--) if (n & 1 && p[n]) return 1; return 0; }\n";
	const struct trips wanted[] = {{TRIPS_COUNT_REACHED, 0, 2, 3, 0}, {TRIPS_COUNT_EVERY, 0, 1, 2, 0}};
	struct annotation *a = create_with_trips(text, wanted, 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	check_text(a, 0, MARK_COUNT_PLAIN,
	           "__gpusim_inline int f(int *p, int n, " P ") {__gpusim_block(0);{unsigned int __gpusim_t5 = 0;unsigned int __gpusim_t6 = 0; "
	           "while (n--){__gpusim_block(1);++__gpusim_t6;(void)(__gpusim_t6 % 2u == 0u && (__gpusim_block(6), 1)); "
	           "if (n & 1 && (__gpusim_part(2), ++__gpusim_t5, (void)(__gpusim_t5 == 3u && (__gpusim_block(5), 1)), "
	           "(p[n]))){__gpusim_part(3); return 1;}}} return 0; }\n");
	annotation_free(a);
}

/* At most 64 counters besides the entry are allowed. The 65th is refused, and the table stays as before. If a loop is entered
 * once, its trips follow from another counter. */
static void trips_never_cost_the_item_layout(void)
{
	struct gs_buf text = {0};
	gs_buf_puts(&text, "# 1 \"program.cl\"\n__kernel void k(__global int *p) {\n");
	gs_buf_puts(&text, "while (p[0]++) { p[3] = 0; while (p[1]++) ; while (p[2]++) ; }\n");
	for (int i = 0; i < 60; i++)
		gs_buf_puts(&text, "while (p[0]++) ;\n");
	gs_buf_puts(&text, "}\n");
	const struct trips wanted = {TRIPS_COUNT_EVERY, 1, 2, 4, 0}, one_more = {TRIPS_COUNT_EVERY, 2, 3, 4, 0},
	                   computed = {TRIPS_COUNT_EVERY, 0, 1, 4, 0};
	struct annotation *a = create_with_trips(text.data, &wanted, 1);
	unsigned counter;
	const struct block *blocks;
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL(annotation_want_trips(a, &one_more, &counter, &error), -ENOSPC);
	CU_ASSERT_EQUAL(annotation_blocks(a, &blocks), 65);
	CU_ASSERT_EQUAL(annotation_layout(a), COUNTERS_BY_ITEM);
	CU_ASSERT_EQUAL(annotation_want_trips(a, &computed, &counter, &error), 0);
	CU_ASSERT_EQUAL(annotation_blocks(a, &blocks), 66);
	CU_ASSERT(blocks[65].computed && !blocks[64].computed);
	annotation_free(a);
	gs_buf_free(&text);
}

static void barriers_of_other_functions_do_not_matter(void)
{
	check_one("void b(void) { barrier(1); }\nint f(void) { return 1; }\n__kernel void k(void) { b(); while (f()) f(); }\n",
	          MARK_PROBE,
	          "void b(void) {__gpusim_probe(1, 0, 0, -1); barrier(1); }\nint f(void) {__gpusim_probe(2, 1, 0, -1); "
	          "return 1; }\n__kernel void k(void) {__gpusim_probe(3, 2, 0, -1); b(); while (f())"
	          "{__gpusim_probe(3, 3, 0, -1); f();} }\n");
}

static void probes_stand_where_counters_do(void)
{
	check_one("int f(int *p, int n) { if (n) return 1; else n = 2; return n > 3 ? p[0] : p[1]; }\n", MARK_PROBE,
	          "int f(int *p, int n) {__gpusim_probe(1, 0, 0, -1); if (n){__gpusim_probe(1, 1, 0, -1); return 1;} "
	          "else{__gpusim_probe(1, 2, 0, -1); n = 2;}__gpusim_probe(1, 3, 0, -1); return n > 3 ? "
	          "(__gpusim_probe(1, 4, 0, -1), (p[0])) : (__gpusim_probe(1, 5, 0, -1), (p[1])); }\n");
	check_one("int aligned(int x) { return x; }\nstruct s { int a; } __attribute__((aligned(4)));\n", MARK_PROBE,
	          "int aligned(int x) {__gpusim_probe(1, 0, 0, -1); return x; }\nstruct s { int a; } __attribute__((aligned(4)));\n");
}

static void what_cannot_be_rewritten_is_refused_with_its_place(void)
{
	check_refused("__kernel void k(__global int *p) {\n  p[0] = q;\n}\n", "-cl-std=CL1.2", EINVAL,
	              "program.cl:2:10: use of undeclared identifier 'q'");
	check_refused("int f(int x) { return x; }\n__kernel void k(__global int *p) { p[0] = (f)(1); }\n",
	              "-cl-std=CL1.2", EINVAL, "program.cl:2:44: taking address of function is not allowed");
	check_refused("__kernel void k(__global int *p) {\n  void (^b)(void) = ^{ };\n}\n", "-cl-std=CL2.0", ENOTSUP,
	              "program.cl:2:21: a block (enqueue_kernel)");
	check_refused("__kernel void k(__global int *p) {\n  while (({ if (p[1]) break; p[2]; })) ;\n}\n", "-cl-std=CL1.2",
	              ENOTSUP, "program.cl:2:23: a jump out of statements in an expression");
	check_refused("__kernel void k(__global int *p) {\n  switch (p[0]) {\n  case 1:\n    for (; ({ if (p[1]) continue; p[2]; });) ;\n  }\n}\n",
	              "-cl-std=CL1.2", ENOTSUP, "program.cl:4:25: a jump out of statements in an expression");
	check_refused("__kernel void k(__global int *p) {\n  for (;;)\n    switch (({ if (p[1]) break; p[2]; })) { }\n}\n",
	              "-cl-std=CL1.2", ENOTSUP, "program.cl:3:14: a jump out of statements in an expression");
	check_refused("int f(int x) {\n  for (;;)\n    return ({ if (x) break; x; });\n  return 1;\n}\n", "-cl-std=CL1.2",
	              ENOTSUP, "program.cl:3:5: a jump out of statements in an expression");
	check_refused("int f(int x) { return x; }\nint g(int x) __attribute__((sizeof(f(1))));\nint g(int x) { return x; }\n",
	              "-cl-std=CL1.2", ENOTSUP, "program.cl:2:36: a call in an attribute or an assertion");
	check_refused("int f(int x) { return x; }\n_Static_assert(sizeof(f(1)) == 4, \"\");\n", "-cl-std=CL1.2", ENOTSUP,
	              "program.cl:2:23: a call in an attribute or an assertion");
	check_refused("__kernel void k(__global int *p) {\n  if (*p) k(p + 1);\n}\n", "-cl-std=CL1.2", ENOTSUP,
	              "program.cl:2:11: a kernel that calls itself");
	check_refused("int f(a) struct { int x; } a; { return a.x; }\n", "-cl-std=CL1.2", ENOTSUP,
	              "program.cl:1:5: a function without a prototype");
	check_refused("__kernel void a(void), b(void);\nvoid a(void) { }\nvoid f(void) { a(); }\n", "-cl-std=CL1.2", ENOTSUP,
	              "program.cl:1:15: a kernel that is none where it is defined");
	check_refused("__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void a(void), b(void);\n__kernel void a(void) { }\n"
	              "void f(void) { a(); }\n", "-cl-std=CL1.2", ENOTSUP,
	              "program.cl:1:62: attributes of a kernel declared together with others");
}

static bool is_inlined(int functions)
{
	struct gs_buf text = {0}, out = {0};
	gs_buf_puts(&text, "# 1 \"program.cl\"\nint f0(int x) { return x; }\n");
	for (int i = 1; i < functions; i++)
		gs_buf_printf(&text, "int f%d(int x) { return f%d(x) + f%d(x + 1); }\n", i, i - 1, i - 1);
	gs_buf_printf(&text, "__kernel void k(__global int *p) { p[0] = f%d(1); }\n", functions - 1);
	const char *source = text.data;
	struct annotation *a = create(&source, 1, "-cl-std=CL1.2");
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL(annotation_write(a, 0, MARK_COUNT_PLAIN, &out, &error), 0);
	bool inlined = strstr(out.data, "#define __gpusim_inline __attribute__((always_inline))\n");
	CU_ASSERT_EQUAL(inlined, !strstr(out.data, "#define __gpusim_inline\n"));
	annotation_free(a);
	gs_buf_free(&out);
	gs_buf_free(&text);
	return inlined;
}

/* f11 has 2^12 - 1 = 4095 blocks with all functions that it calls, more than 4000. f10 has 2047. */
static void functions_are_inlined_unless_kernels_become_huge(void)
{
	CU_ASSERT(is_inlined(1));
	CU_ASSERT(is_inlined(11));
	CU_ASSERT(!is_inlined(12));
}

static void empty_program_gives_an_empty_table(void)
{
	const char *const text = "";
	struct annotation *a = create(&text, 1, "-cl-std=CL1.2");
	const struct block *blocks;
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL(annotation_blocks(a, &blocks), 0);
	annotation_free(a);
}

static int names_of(const char *text, struct gs_buf *out)
{
	const char *args[] = {"-xcl", "-cl-std=CL1.2", "-w", NULL};
	return annotator_file_names(&(struct annotator_unit){.text = text, .length = strlen(text), .clang_args = args}, out);
}

/* Finds names of the file, but not names of parameters, members and variables. A tag inside a type belongs to the file. */
static void names_of_the_file_are_found(void)
{
	struct gs_buf names = {0};
	CU_ASSERT_EQUAL(names_of("# 7 \"program.cl\"\n"
	                         "struct outer { int member; struct inner { int deep; } in; };\n"
	                         "typedef union { int i; float f; } either;\n"
	                         "enum colour { RED, BLUE };\n"
	                         "__constant int table[2] = {RED, BLUE};\n"
	                         "int helper(int parameter);\n"
	                         "int helper(int parameter) { int variable = parameter; return variable; }\n"
	                         "__kernel void k(__global int *p) { p[0] = helper(table[1]); }\n", &names), 0);
	CU_ASSERT_STRING_EQUAL(names.data, "outer\ninner\neither\ncolour\nRED\nBLUE\ntable\nhelper\nk\n");
	gs_buf_free(&names);
}

/* A macro would also rename library functions and the components of vectors. */
static void names_of_the_language_are_not_to_be_renamed(void)
{
	static const char *const texts[] = {
	    "float __attribute__((overloadable)) mix(int a) { return mix(1.0f, 2.0f, (float)a); }\n",
	    "struct x { int a; };\n",
	    "int s1f(int a) { return a; }\n",
	    "__constant int hi = 1;\n",
	    "int broken(int a) { return b; }\n",
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(texts); i++) {
		struct gs_buf names = {0};
		CU_ASSERT_EQUAL(names_of(texts[i], &names), -ENOTSUP);
		CU_ASSERT_EQUAL(names.len, 0);
		gs_buf_free(&names);
	}
}

/* Only the driver's compile of the tracing text is affected. The counting text and the target's loops stay as they are. */
static void traced_loops_are_not_unrolled(void)
{
	const char *source = "# 1 \"program.cl\"\n# pragma OPENCL FP_CONTRACT ON\n__kernel void k(__global int *p) {\n"
	                     "  #pragma unroll 4\n  for (int i = 0; i < 4; i++) p[i] = 0;\n}\n";
	static const enum marker_form forms[] = {MARK_COUNT_PLAIN, MARK_PROBE, MARK_TRACE_PLAIN, MARK_TRACE_ATOMIC};
	struct annotation *a = create(&source, 1, "-cl-std=CL1.2");
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	for (size_t i = 0; i < GS_ARRAY_LEN(forms); i++) {
		bool traced = forms[i] == MARK_TRACE_PLAIN || forms[i] == MARK_TRACE_ATOMIC;
		struct gs_buf out = {0};
		CU_ASSERT_EQUAL(annotation_write(a, 0, forms[i], &out, &error), 0);
		CU_ASSERT_EQUAL(!strstr(out.data, "#pragma unroll 4\n"), traced);
		CU_ASSERT_EQUAL(!strstr(out.data, "  #               \n"), !traced);
		CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "# pragma OPENCL FP_CONTRACT ON\n"));
		CU_ASSERT_EQUAL(strstr(out.data, "llvm.va_start") != NULL, forms[i] == MARK_TRACE_PLAIN);
		gs_buf_free(&out);
	}
	annotation_free(a);
}

/* Attributes before a kernel belong to the kernel. Pragmas, structures and declarations are always there. A function is there
 * for the kernels that reach it: a and c reach `inner` through `helper`. A definition that cannot be cut out without its type
 * stays, and so do the functions that it calls. */
static void definitions_stand_between_guards(void)
{
#define GUARD(condition, text) "\n#if " condition "\n" text "\n#endif\n"
#define ONLY(index) "!defined __GPUSIM_ONLY || __GPUSIM_ONLY == " #index
#define DECLARATIONS \
	"# 1 \"program.cl\"\n" \
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" \
	"__kernel void a(__global int *p);\n" \
	"struct s { int n; } __attribute__((packed));\n" \
	"int late(int n);\n"
#define INNER "int inner(int n) { return n - 1; }"
#define HELPER "int helper(int n) { return inner(n) + 1; }"
#define UNUSED "int unused(int n) { return helper(n); }"
#define ALWAYS "int always(int n) { return n * 2; }\nstruct t { int n; } made(int n) { struct t r; r.n = always(n); return r; }\n"
#define B "__attribute__((reqd_work_group_size(8, 1, 1))) kernel void b(__global int *p) { if (p) { p[0] = '{' + late(1); } }"
#define A "__kernel void a(__global int *p) { p[0] = helper(2); }"
#define C "__kernel void c(__global int *p) { a(p); p[1] = late(inner(3)); }"
#define LATE "int late(int n) { return n; }"
#define LAST "\n__constant char t[] = \"__kernel void b(void) {}\";\n"
	static const char text[] = DECLARATIONS INNER "\n" HELPER "\n" UNUSED "\n" ALWAYS B "\n" A "\n" C "\n" LATE LAST;
	/* b is kernel 0, a is 1, c is 2 and calls a. */
	static const char expected[] = DECLARATIONS GUARD("!defined __GPUSIM_ONLY || (__GPUSIM_ONLY >= 1 && __GPUSIM_ONLY <= 2)", INNER)
	    "\n" GUARD("!defined __GPUSIM_ONLY || (__GPUSIM_ONLY >= 1 && __GPUSIM_ONLY <= 2)", HELPER)
	    "\n" GUARD("0", UNUSED) "\n" ALWAYS GUARD(ONLY(0), B) "\n" GUARD(ONLY(1), A) "\n" GUARD(ONLY(2), C)
	    "\n" GUARD("!defined __GPUSIM_ONLY || __GPUSIM_ONLY == 0 || __GPUSIM_ONLY == 2", LATE) LAST;
	struct annotation *a = create((const char *const[]){text}, 1, "-cl-std=CL1.2");
	struct gs_buf out = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL(annotation_guard_definitions(a, text, sizeof text - 1, &out, &error), 0);
	CU_ASSERT_STRING_EQUAL(out.data, expected);
	gs_buf_free(&out);
	annotation_free(a);
#undef GUARD
#undef ONLY
#undef DECLARATIONS
#undef INNER
#undef HELPER
#undef UNUSED
#undef ALWAYS
#undef A
#undef B
#undef C
#undef LATE
#undef LAST
}

/* A loop alone has windows of 64; two have 16 and 32, three 8, 8 and 32, through calls, too. Loops of few iterations by constants have none,
 * but more than 16 in all are one more level. */
static void windows_depend_on_the_nest(void)
{
	const struct loop *l;
	struct annotation *a = create((const char *const[]){
		"void g(int n) { for (int i = 0; i < n; i++) ; }\n"                                          /* 0: called in two loops */
		"kernel void a(int n) { while (n > 3) n--; for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) ; }\n" /* 1, 2, 3 */
		"kernel void b(int n) { for (int i = 0; i < n; i++) for (int j = n; j; j--) g(n); }\n"       /* 4, 5 */
		"kernel void c(int n) { for (int i = 0; i < n; i++) for (int j = 1; j <= 9; j += 2) for (int k = 8; k > 0; k--) ; }\n" /* 6 to 8 */
		"kernel void d(int n) { for (int i = 0; i < 1000; i++) do { } while (0); }\n"                /* 9, 10 */}, 1, "-cl-std=CL1.2");
	CU_ASSERT_EQUAL_FATAL(annotation_loops(a, &l), 11);
	const unsigned windows[] = {32, 64, 64, 0, 8, 8, 16, 0, 0, 64, 0}, trips[] = {0, 0, 0, 8, 0, 0, 0, 5, 8, 1000, 1};
	for (size_t i = 0; i < GS_ARRAY_LEN(windows); i++) {
		CU_ASSERT_EQUAL(l[i].window, windows[i]);
		CU_ASSERT_EQUAL(l[i].trips, trips[i]);
		CU_ASSERT_FALSE(l[i].needs_last);
	}
	annotation_free(a);
}

/* break, return, goto, a condition with ||, one that calls a function; not continue, a break of a switch, or &&. */
static void some_loops_need_their_last_iteration(void)
{
	const struct loop *l;
	struct annotation *a = create((const char *const[]){
		"int g(int n) { for (;;) if (n++ > 7) return n; }\n"
		"kernel void k(global int *p, int n) {\n"
		"for (int i = 0; i < n; i++) { if (p[i]) continue; switch (n) { case 1: break; } }\n"
		"while (n-- > 0 && p[n] > 3) ; while (n-- > 0 || p[n] > 3) ; while (g(n)) ;\n"
		"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (p[j]) break;\n"
		"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (p[j]) return; }\n"
		"kernel void m(global int *p, int n) { for (int i = 0; i < n; i++) { if (p[i]) goto out; } out:; }\n"}, 1, "-cl-std=CL1.2");
	CU_ASSERT_EQUAL_FATAL(annotation_loops(a, &l), 10);
	const bool needs[] = {true, false, false, true, true, false, true, true, true, true};
	for (size_t i = 0; i < GS_ARRAY_LEN(needs); i++) {
		CU_ASSERT_EQUAL(l[i].needs_last, needs[i]);
		CU_ASSERT(l[i].window > 0);
	}
	annotation_free(a);
}

/* A return ends the loops that it leaves. */
static void traced_loops_say_where_they_begin_and_end(void)
{
	check_one("kernel void k(global int *p, int n) { while (n--) if (p) return; }\n", MARK_TRACE_PLAIN,
	          "kernel void k(global int *p, int n, " K ", __global unsigned long *__gpusim_traces) {__gpusim_begin;__gpusim_trace_begins(0, 0);"
	          "__gpusim_base(0, 0, 0, p);struct __gpusim_counts __gpusim_c;__private struct __gpusim_counts *__gpusim_n = &__gpusim_c;"
	          "__gpusim_n->all1 = __gpusim_n->part2 = 0;__gpusim_b(0, __gpusim_t);{__gpusim_loop(1, 64, 1) while (n--){__gpusim_block(1);"
	          "__gpusim_body(1, 1) if (p){__gpusim_part(2);__gpusim_b(2, __gpusim_t); __gpusim_loop_end(1, 1){"
	          "__gpusim_end_trace(__gpusim_t);" SAVE(2) "__gpusim_put(0, __gpusim_total(1))__gpusim_put(1, __gpusim_n->part2)}return;}}}}"
	          "__gpusim_loop_end(1, 1)} __gpusim_end_trace(__gpusim_t);" SAVE(2)
	          "__gpusim_put(0, __gpusim_total(1))__gpusim_put(1, __gpusim_n->part2)}}}\n");
}

void add_annotator_tests(void)
{
	CU_pSuite suite = CU_add_suite("annotator", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(windows_depend_on_the_nest);
	TEST(some_loops_need_their_last_iteration);
	TEST(traced_loops_say_where_they_begin_and_end);
	TEST(kernel_gets_counters_as_last_parameter);
	TEST(helpers_and_their_prototypes_pass_the_counters_on);
	TEST(functions_defined_nowhere_are_left_alone);
	TEST(overloads_are_told_apart);
	TEST(attributes_that_counting_breaks_are_dropped);
	TEST(called_kernel_gets_a_clone);
	TEST(prototype_of_a_called_kernel_is_cloned_too);
	TEST(labels_may_end_a_block);
	TEST(target_text_keeps_signatures_and_has_probes);
	TEST(what_depends_on_the_box_is_asked_of_it);
	TEST(helper_of_another_unit_gets_the_counters);
	TEST(nothing_branches_where_counters_are_stored);
	TEST(places_follow_the_line_markers);
	TEST(lines_stay_where_they_are);
	TEST(brackets_in_literals_and_directives_do_not_confuse);
	TEST(generic_address_space_programs_are_annotated);
	TEST(trips_are_counted_where_wanted);
	TEST(trips_of_a_loop_that_returns_are_counted_at_once);
	TEST(trips_never_cost_the_item_layout);
	TEST(probes_stand_where_counters_do);
	TEST(barriers_of_other_functions_do_not_matter);
	TEST(what_cannot_be_rewritten_is_refused_with_its_place);
	TEST(functions_are_inlined_unless_kernels_become_huge);
	TEST(traced_loops_are_not_unrolled);
	TEST(empty_program_gives_an_empty_table);
	TEST(names_of_the_file_are_found);
	TEST(names_of_the_language_are_not_to_be_renamed);
	TEST(definitions_stand_between_guards);
#undef TEST
}
