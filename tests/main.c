/* Runs all suites, or the named ones, or with --except all but the named ones. Exits 1 if a test fails. GPUSIM_TEST_ROOT is the
 * repository, GPUSIM_TEST_CC the gpusim-cc to test. */
#include "tests/tests.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void make_folder(char *folder)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		exit(1);
	}
}

static char all_folders[2048]; /* of this run; "" until a test asks for one */
static pid_t folders_of;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

/* A child that ends must leave its parent's folders alone. */
static void remove_folders(void)
{
	if (folders_of == getpid())
		nftw(all_folders, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_folder(void)
{
	static char folder[4096];
	if (!all_folders[0]) {
		const char *base = getenv("TMPDIR");
		snprintf(all_folders, sizeof all_folders, "%s/gpusim-test.XXXXXX", base ? base : "/tmp");
		make_folder(all_folders);
		folders_of = getpid();
		atexit(remove_folders);
	}
	snprintf(folder, sizeof folder, "%s/XXXXXX", all_folders);
	make_folder(folder);
	return folder;
}

static CU_pSuite find_suite(const char *name)
{
	CU_pSuite suite = CU_get_suite(name);
	if (!suite) {
		fprintf(stderr, "unit-tests: there is no suite '%s'\n", name);
		exit(2);
	}
	return suite;
}

static unsigned failures(void) { return CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed(); }

/* CUnit counts anew with each suite. */
static unsigned run_named(char **names)
{
	unsigned all = 0;
	for (; *names; names++) {
		CU_basic_run_suite(find_suite(*names));
		all += failures();
	}
	return all;
}

/* Suites that are not active would count as failures. */
static unsigned run_all_except(char **names)
{
	CU_set_fail_on_inactive(CU_FALSE);
	for (; *names; names++)
		CU_set_suite_active(find_suite(*names), CU_FALSE);
	CU_basic_run_tests();
	return failures();
}

int main(int argc, char **argv)
{
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
#define X(name) add_##name##_tests();
	TEST_SUITES(X)
#undef X
	CU_basic_set_mode(CU_BRM_NORMAL);
	unsigned failed = argc > 1 && !strcmp(argv[1], "--except") ? run_all_except(argv + 2) : argc > 1 ? run_named(argv + 1) : run_all_except(argv + argc);
	CU_cleanup_registry();
	return failed ? 1 : 0;
}
