/* Runs all suites, or the named ones. Exits 1 if a test fails. GPUSIM_TEST_ROOT is the repository, GPUSIM_TEST_CC the gpusim-cc
 * to test. */
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

const char *test_folder(void)
{
	static char folder[4096];
	const char *base = getenv("TMPDIR");
	snprintf(folder, sizeof folder, "%s/gpusim-test.XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder)) {
		perror(folder);
		exit(1);
	}
	return folder;
}

static void run_named(char **names)
{
	for (; *names; names++) {
		CU_pSuite suite = CU_get_suite(*names);
		if (!suite) {
			fprintf(stderr, "unit-tests: there is no suite '%s'\n", *names);
			exit(2);
		}
		CU_basic_run_suite(suite);
	}
}

int main(int argc, char **argv)
{
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
#define X(name) add_##name##_tests();
	TEST_SUITES(X)
#undef X
	CU_basic_set_mode(CU_BRM_NORMAL);
	if (argc > 1)
		run_named(argv + 1);
	else
		CU_basic_run_tests();
	unsigned failures = CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed();
	CU_cleanup_registry();
	return failures ? 1 : 0;
}
