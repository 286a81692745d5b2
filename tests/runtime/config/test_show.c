/* Numbers and names as reports show them. */
#include "tests/tests.h"

#include "runtime/config/show.h"

#include <string.h>

static void numbers_have_three_digits_and_a_unit(void)
{
	char cell[SHOW_CELL];
	CU_ASSERT_STRING_EQUAL(show_time(cell, 0), "0.00 ns");
	CU_ASSERT_STRING_EQUAL(show_time(cell, 999.4), "999 ns");
	CU_ASSERT_STRING_EQUAL(show_time(cell, 999.6), "1.00 us");
	CU_ASSERT_STRING_EQUAL(show_time(cell, 12345), "12.3 us");
	CU_ASSERT_STRING_EQUAL(show_time(cell, 5e12), "5000 s");
	CU_ASSERT_STRING_EQUAL(show_bytes(cell, 1000), "1000 B");
	CU_ASSERT_STRING_EQUAL(show_bytes(cell, 1536), "1.50 KiB");
	CU_ASSERT_STRING_EQUAL(show_count(cell, 42), "42");
	CU_ASSERT_STRING_EQUAL(show_count(cell, 17825792), "17.8 M");
}

static void changes_say_their_direction(void)
{
	char cell[SHOW_CELL];
	CU_ASSERT_STRING_EQUAL(show_change(cell, 200, 100), "2.00x faster");
	CU_ASSERT_STRING_EQUAL(show_change(cell, 100, 150), "1.50x slower");
	CU_ASSERT_STRING_EQUAL(show_change(cell, 100, 100.4), "same");
	CU_ASSERT_STRING_EQUAL(show_change(cell, 0, 100), "-");
}

static void name_is(const char *name, size_t most, const char *expected)
{
	struct gs_buf b = {0};
	show_name(&b, name, most);
	CU_ASSERT_STRING_EQUAL(b.data ? b.data : "", expected);
	gs_buf_free(&b);
}

/* Of 11 columns, 3 are dots. Two thirds of the other 8 are the head: 5 and 3. */
static void names_lose_their_middle_and_control_characters(void)
{
	name_is("saxpy", 11, "saxpy");
	name_is("gemm_batched_transposed", 11, "gemm_...sed");
	name_is("\033[31mred\n", 20, "?[31mred?");
	name_is("\303\244\303\244\303\244\303\244\303\244\303\244", 9, "\303\244\303\244...\303\244"); /* letters stay whole */
}

static void long_names_lose_namespaces_and_arguments_first(void)
{
	name_is("a::b::saxpy<float>", 18, "a::b::saxpy<float>");
	name_is("a::b::saxpy<float>", 12, "saxpy<float>");
	name_is("cub::detail::DeviceScanKernel<int, long>", 20, "DeviceScanKernel...>");
	name_is("f<a::b, c::d, e::f>", 11, "f<a::...:f>"); /* these are of its arguments */
}

static void lines_end_before_column_100(void)
{
	struct gs_buf text = {0}, out = {0};
	size_t longest = 0, lines = 0;
	for (int i = 0; i < 60; i++)
		gs_buf_puts(&text, i % 7 ? "word, " : "a-word-that-is-longer ");
	for (int i = 0; i < 250; i++)
		gs_buf_puts(&text, "x");
	show_wrapped(&out, "gpusim: ", text.data, 4);
	for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		longest = strlen(line) > longest ? strlen(line) : longest;
		CU_ASSERT_EQUAL(strncmp(line, lines ? "gpusim:     " : "gpusim: a", lines ? 12 : 9), 0);
	}
	CU_ASSERT_EQUAL(longest, 100);
	gs_buf_free(&text);
	gs_buf_free(&out);
}

/* There are 92 columns after the prefix. 87 of x, a blank and "303" would end at 91, but " us," would not fit. Then 2 + 81
 * columns and " 2 of" leave four for " them". "of" is not a unit. */
static void numbers_keep_their_units(void)
{
	struct gs_buf text = {0}, out = {0};
	for (int i = 0; i < 87; i++)
		gs_buf_puts(&text, "x");
	gs_buf_puts(&text, " 303 us, then ");
	for (int i = 0; i < 81; i++)
		gs_buf_puts(&text, "y");
	gs_buf_puts(&text, " 2 of them");
	show_wrapped(&out, "gpusim: ", text.data, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "x\ngpusim:   303 us, then\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "y 2 of\ngpusim:   them\n"));
	gs_buf_free(&text);
	gs_buf_free(&out);
}

void add_show_tests(void)
{
	CU_pSuite s = CU_add_suite("show", NULL, NULL);
	CU_ADD_TEST(s, numbers_have_three_digits_and_a_unit);
	CU_ADD_TEST(s, changes_say_their_direction);
	CU_ADD_TEST(s, names_lose_their_middle_and_control_characters);
	CU_ADD_TEST(s, long_names_lose_namespaces_and_arguments_first);
	CU_ADD_TEST(s, lines_end_before_column_100);
	CU_ADD_TEST(s, numbers_keep_their_units);
}
