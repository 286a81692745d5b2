/* The cache on disk. */
#include "tests.h"

#include "runtime/cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int put(const char *key, size_t size)
{
	static char bytes[4096];
	struct gs_pack p = {0};
	memset(bytes, 'x', sizeof bytes);
	gs_pack_add(&p, "data", bytes, size);
	int failed = cache_put_pack(CACHE_RESULTS, key, &p, NULL);
	gs_pack_free(&p);
	return failed;
}

static bool has(const char *key)
{
	struct gs_pack p = {0};
	bool found = !cache_get_pack(CACHE_RESULTS, key, &p, NULL);
	gs_pack_free(&p);
	return found;
}

/* As if the entry had last been used at `seconds`. */
static void set_time(const char *folder, const char *key, time_t seconds)
{
	char path[4300];
	struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
	snprintf(path, sizeof path, "%s/results/%s", folder, key);
	CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void what_was_put_is_found(void)
{
	cache_setup(test_folder(), 1 << 20);
	CU_ASSERT_FALSE(has("a"));
	CU_ASSERT_EQUAL(put("a", 10), 0);
	CU_ASSERT_TRUE(has("a"));
	cache_remove(CACHE_RESULTS, "a");
	CU_ASSERT_FALSE(has("a"));
}

/* Entries of about 1000 bytes and a bound of 2500: the third store must drop the one unused for longest, which is b,
 * because a was read again. */
static void longest_unused_goes_first(void)
{
	const char *folder = test_folder();
	cache_setup(folder, 2500);
	put("a", 1000);
	put("b", 1000);
	set_time(folder, "a", 1000);
	set_time(folder, "b", 2000);
	CU_ASSERT_TRUE(has("a")); /* renews its time */
	put("c", 1000);
	CU_ASSERT_TRUE(has("a"));
	CU_ASSERT_FALSE(has("b"));
	CU_ASSERT_TRUE(has("c"));
	CU_ASSERT(cache_usage().size_bytes <= 2500);
}

static void damaged_entry_counts_as_missing(void)
{
	char path[4300];
	const char *folder = test_folder();
	cache_setup(folder, 1 << 20);
	put("a", 100);
	snprintf(path, sizeof path, "%s/results/a", folder);
	CU_ASSERT_EQUAL(truncate(path, 50), 0);
	CU_ASSERT_FALSE(has("a"));
	CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
}

static void no_bound_no_cache(void)
{
	cache_setup(test_folder(), 0);
	CU_ASSERT(put("a", 10) < 0);
	CU_ASSERT_FALSE(has("a"));
}

void add_cache_tests(void)
{
	CU_pSuite s = CU_add_suite("cache", NULL, NULL);
	CU_add_test(s, "what was put is found until removed", what_was_put_is_found);
	CU_add_test(s, "over the bound the longest unused goes first", longest_unused_goes_first);
	CU_add_test(s, "a damaged entry counts as missing and is removed", damaged_entry_counts_as_missing);
	CU_add_test(s, "a bound of 0 means no cache", no_bound_no_cache);
}
