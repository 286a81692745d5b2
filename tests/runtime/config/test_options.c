/* The table of options: values, complaints, suggestions. */
#include "tests/tests.h"

#include "models/models.h"
#include "runtime/config/options.h"

#include <stdio.h>
#include <string.h>

static char complaints[4096];

static void complain(const char *line)
{
	strncat(complaints, line, sizeof complaints - strlen(complaints) - 2);
	strcat(complaints, "\n");
}

static struct gs_options with(char *const *environment)
{
	struct gs_options o;
	complaints[0] = 0;
	options_defaults(&o);
	options_from_environment(&o, environment, complain);
	return o;
}

static void every_default_is_allowed(void)
{
	const struct option_row *rows;
	struct gs_options o;
	options_defaults(&o);
	for (size_t i = 0, n = options_rows(&rows); i < n; i++) {
		struct gs_error err = {""};
		CU_ASSERT_EQUAL(options_set(&o, &rows[i], rows[i].name, rows[i].fallback, &err), 0);
		CU_ASSERT_STRING_EQUAL(err.text, "");
	}
	options_free(&o);
}

static void values_are_parsed(void)
{
	struct gs_options o = with((char *[]){"GPUSIM_GPU=h200,v100", "GPUSIM_MODEL=occupancy", "GPUSIM_REPORT=json,csv",
	                                      "GPUSIM_CACHE_SIZE=3G", "GPUSIM_OFF=1", "HOME=/x", "GPUSIM_TEST_X=1", NULL});
	CU_ASSERT_STRING_EQUAL(o.gpu.text, "h200,v100");
	CU_ASSERT_EQUAL(o.model.number, MODEL_OCCUPANCY);
	CU_ASSERT_EQUAL(o.report.number, REPORT_JSON | REPORT_CSV);
	CU_ASSERT_EQUAL(o.cache_size.number, UINT64_C(3221225472)); /* 3 * 2^30 */
	CU_ASSERT_EQUAL(o.off.number, 1);
	CU_ASSERT_STRING_EQUAL(complaints, "");
	options_free(&o);
}

static void bad_value_names_variable_value_and_allowed(void)
{
	struct gs_options o = with((char *[]){"GPUSIM_MODEL=magic", NULL});
	CU_ASSERT_STRING_EQUAL(complaints, "GPUSIM_MODEL: 'magic' is not allowed; allowed: "
	                                   "full|optimistic|probabilistic|occupancy; using 'full'\n");
	CU_ASSERT_EQUAL(o.model.number, MODEL_FULL);
	options_free(&o);
}

static void wrong_numbers_are_refused(void)
{
	static const char *const bad[] = {"", "x", "-1", "1T", "1 ", "12KK", "99999999999999999999", "0x10",
	                                  "18446744073709551615K"};
	const struct option_row *row = options_find("CACHE_SIZE");
	struct gs_options o;
	options_defaults(&o);
	for (size_t i = 0; i < GS_ARRAY_LEN(bad); i++)
		CU_ASSERT(options_set(&o, row, "x", bad[i], NULL) < 0);
	CU_ASSERT_EQUAL(o.cache_size.number, UINT64_C(512) << 20);
	CU_ASSERT(options_set(&o, options_find("CC_TIMEOUT"), "x", "0", NULL) < 0);
	CU_ASSERT(options_set(&o, options_find("REPORT"), "x", "json,", NULL) < 0);
	CU_ASSERT(options_set(&o, options_find("OFF"), "x", "yes", NULL) < 0);
	options_free(&o);
}

static void near_name_is_suggested(void)
{
	struct gs_options o = with((char *[]){"GPUSIM_REPORTS=json", "GPUSIM_SOMETHING=1", NULL});
	CU_ASSERT_STRING_EQUAL(complaints, "GPUSIM_REPORTS is not one of our variables; did you mean GPUSIM_REPORT?\n"
	                                   "GPUSIM_SOMETHING is not one of our variables (gpusim --help lists them)\n");
	options_free(&o);
}

static void flags_are_named_after_variables(void)
{
	char flag[64];
	const struct option_row *row = options_find("cache-dir");
	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	CU_ASSERT_STRING_EQUAL(row->name, "CACHE_DIR");
	options_flag_name(row, flag, sizeof flag);
	CU_ASSERT_STRING_EQUAL(flag, "--cache-dir");
	CU_ASSERT_PTR_NULL(options_find("cache"));
}

void add_options_tests(void)
{
	CU_pSuite s = CU_add_suite("options", NULL, NULL);
	CU_add_test(s, "every default is an allowed value", every_default_is_allowed);
	CU_add_test(s, "values are parsed by type", values_are_parsed);
	CU_add_test(s, "a bad value names variable, value and what is allowed", bad_value_names_variable_value_and_allowed);
	CU_add_test(s, "wrong numbers and lists are refused", wrong_numbers_are_refused);
	CU_add_test(s, "a name close to an existing one is suggested", near_name_is_suggested);
	CU_add_test(s, "flags are named after variables", flags_are_named_after_variables);
}
