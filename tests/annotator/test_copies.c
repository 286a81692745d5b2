/* Loops that traced text for GPUs contains twice: the text, and which loops these are. Every loop is the first of its program. */
#include "tests/tests.h"

#include "annotator/annotator.h"

#include <string.h>

#define LOOP(body) "kernel void k(global int *p, int n) { for (int i = 0; i < n; i++) {" body "} }\n"

/* Whether host text of the form has the part. */
static bool written(const char *text, enum marker_form form, const char *part)
{
	static const char *const args[] = {"-xcl", "-cl-std=CL2.0", "-w", NULL};
	struct annotator_unit unit = {.text = text, .length = strlen(text), .clang_args = args};
	struct annotation *a = NULL;
	struct gs_buf out = {0};
	struct gs_error err = {""};
	bool done = !annotation_create(&unit, 1, &a, &err) && !annotation_write(a, 0, form, &out, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	done = done && strstr(out.data, part);
	gs_buf_free(&out);
	annotation_free(a);
	return done;
}

static bool twice(const char *text)
{
	return written(text, MARK_TRACE_ATOMIC, "__gpusim_between_end(1, ");
}

/* The second text counts and passes on what functions need, but it has no marks. An empty part of the header is left out. */
static void the_second_text_only_counts(void)
{
	CU_ASSERT(written("kernel void k(global int *p, int n) { for (; n; n--) p[n] = 1; }\n", MARK_TRACE_ATOMIC,
	                  "{__gpusim_loop(1, 64, 0) for (; n; n--){__gpusim_body(1, 1)__gpusim_between_short(1)for (; __gpusim_more & "
	                  "(__gpusim_left != 0); ( n--), __gpusim_more = ( n) != 0, __gpusim_left--){__gpusim_block(1); p[n] = 1;}"
	                  "__gpusim_between_end(1, 1)__gpusim_block(1); (*(__global int *)__gpusim_a_g(0, -1, 0, 4, &(p[n]), __gpusim_t)) "
	                  "= 1;}__gpusim_loop_end(1, 1)}"));
	CU_ASSERT(written("void f(int n) {}\nkernel void k(global int *p, int n) { do f(n); while (n--); f(n); }\n", MARK_TRACE_ATOMIC,
	                  "do{__gpusim_body(1, 2)__gpusim_between_short(1)for (; __gpusim_more & (__gpusim_left != 0); "
	                  "__gpusim_more = (n--) != 0, __gpusim_left--){__gpusim_block(2); f(n, __gpusim_n, __gpusim_t);}"
	                  "__gpusim_between_end(1, 2)__gpusim_block(2); f(n, __gpusim_n, __gpusim_t);} while (n--);__gpusim_loop_end(1, 2)}"));
}

/* Inside of the second text of the outer loop, the inner one is plain. Only the inner one is worth unrolling. */
static void nested_loops_are_not_doubled_again(void)
{
	CU_ASSERT(written("kernel void k(global int *p, int n) { for (; n; n--) for (int i = 0; i < n; i++) p[i] = 1; }\n", MARK_TRACE_ATOMIC,
	                  "{__gpusim_body(1, 1)__gpusim_between(1)for (; __gpusim_more & (__gpusim_left != 0); ( n--), __gpusim_more = ( n) != 0, "
	                  "__gpusim_left--){__gpusim_block(1); for (int i = 0; i < n; i++){__gpusim_block(2); p[i] = 1;}}"
	                  "__gpusim_between_end(1, 1)__gpusim_block(1);{__gpusim_loop(2, 32, 0) for (int i = 0; i < n; i++)"
	                  "{__gpusim_body(2, 2)__gpusim_between_short(2)"));
}

static void some_loops_are_written_once(void)
{
	CU_ASSERT(twice(LOOP("p[i] = 1;")));
	CU_ASSERT(twice(LOOP("if (p[i]) continue; switch (n) { case 1: break; }")));
	CU_ASSERT_FALSE(written(LOOP("p[i] = 1;"), MARK_TRACE_PLAIN, "__gpusim_between_end(1, "));
	CU_ASSERT_FALSE(twice(LOOP("if (p[i]) break;")));
	CU_ASSERT_FALSE(twice(LOOP("if (p[i]) return;")));
	CU_ASSERT_FALSE(twice(LOOP("if (p[i]) goto next; p[i] = 1; next:;")));
	CU_ASSERT_FALSE(twice(LOOP("barrier(1);")));
	CU_ASSERT_FALSE(twice(LOOP("static global int sum; p[i] = sum++;")));
	CU_ASSERT_FALSE(twice("void f(int i) { if (i) barrier(1); }\n" LOOP("f(n);")));
	CU_ASSERT_FALSE(twice("int sub_group_all(int);\n" LOOP("p[i] = sub_group_all(p[i]);")));
}

void add_copies_tests(void)
{
	CU_pSuite suite = CU_add_suite("copies", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(the_second_text_only_counts);
	TEST(nested_loops_are_not_doubled_again);
	TEST(some_loops_are_written_once);
#undef TEST
}
