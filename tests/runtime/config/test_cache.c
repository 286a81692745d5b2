/* The cache on disk. */
#include "tests/tests.h"

#include "runtime/config/cache.h"

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

/* Makes the entry look as if it was last used at `seconds`. */
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

/* Entries have about 1000 bytes, and the limit is 2500. The third store must drop the entry that was not used for longest. This
 * is b, because a was read again. */
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

/* The path of an entry, or of the cache's folder for results. */
static const char *path_of(const char *folder, const char *key)
{
	static char path[2][4300];
	static int turn;
	turn = !turn;
	snprintf(path[turn], sizeof path[turn], "%s/results%s%s", folder, *key ? "/" : "", key);
	return path[turn];
}

static mode_t mode_of(const char *path)
{
	struct stat s;
	return stat(path, &s) ? 0 : s.st_mode & 07777;
}

static void files_are_the_users_alone(void)
{
	char folder[4200];
	mode_t before = umask(0);
	snprintf(folder, sizeof folder, "%s/a/b", test_folder());
	cache_setup(folder, 1 << 20);
	CU_ASSERT_EQUAL(put("a", 10), 0);
	CU_ASSERT_EQUAL(mode_of(folder), 0700);
	CU_ASSERT_EQUAL(mode_of(path_of(folder, "")), 0700);
	CU_ASSERT_EQUAL(mode_of(path_of(folder, "a")), 0600);
	umask(before);
}

/* The cache does not wait for them, read them or remove them. */
static void what_is_no_file_counts_as_missing(void)
{
	const char *folder = test_folder();
	struct stat s;
	cache_setup(folder, 1 << 20);
	put("good", 10);
	CU_ASSERT_EQUAL(mkfifo(path_of(folder, "fifo"), 0600), 0);
	CU_ASSERT_EQUAL(symlink("/dev/zero", path_of(folder, "zero")), 0);
	CU_ASSERT_EQUAL(symlink("good", path_of(folder, "link")), 0);
	CU_ASSERT_EQUAL(mkdir(path_of(folder, "folder"), 0700), 0);
	for (const char *const *key = (const char *const[]){"fifo", "zero", "link", "folder", NULL}; *key; key++) {
		CU_ASSERT_FALSE(has(*key));
		CU_ASSERT_EQUAL(lstat(path_of(folder, *key), &s), 0);
	}
	CU_ASSERT_TRUE(has("good"));
	CU_ASSERT_EQUAL(put("fifo", 10), 0); /* an entry replaces it */
	CU_ASSERT_TRUE(has("fifo"));
}

static void what_others_can_write_counts_as_missing(void)
{
	const char *folder = test_folder();
	cache_setup(folder, 1 << 20);
	put("a", 10);
	CU_ASSERT_EQUAL(chmod(path_of(folder, "a"), 0620), 0);
	CU_ASSERT_FALSE(has("a"));
	CU_ASSERT_EQUAL(chmod(path_of(folder, "a"), 0600), 0);
	CU_ASSERT_TRUE(has("a"));
	if (!geteuid()) { /* only root can change the owner of a file */
		CU_ASSERT_EQUAL(chown(path_of(folder, "a"), 12345, (gid_t)-1), 0);
		CU_ASSERT_FALSE(has("a"));
		cache_remove(CACHE_RESULTS, "a");
		cache_trim(0);
		CU_ASSERT_EQUAL(access(path_of(folder, "a"), F_OK), 0);
	}
}

/* An entry contains its own key. */
static void an_entry_cannot_stand_for_another(void)
{
	char other[4300];
	const char *folder = test_folder();
	struct gs_pack p = {0};
	cache_setup(folder, 1 << 20);
	put("a", 10);
	CU_ASSERT_EQUAL(rename(path_of(folder, "a"), path_of(folder, "b")), 0);
	CU_ASSERT_FALSE(has("b"));
	put("a", 10);
	CU_ASSERT_EQUAL(cache_put_pack(CACHE_BINARIES, "c", &p, NULL), 0);
	snprintf(other, sizeof other, "%s/binaries/a", folder);
	CU_ASSERT_EQUAL(rename(path_of(folder, "a"), other), 0);
	CU_ASSERT_NOT_EQUAL(cache_get_pack(CACHE_BINARIES, "a", &p, NULL), 0);
	CU_ASSERT(cache_put_pack(CACHE_RESULTS, "../a", &p, NULL) < 0);
}

/* In a folder that others can write to, each user has a folder of their own. */
static void a_shared_folder_has_one_of_our_own(void)
{
	char own[4200], kept[4300];
	const char *folder = test_folder();
	CU_ASSERT_EQUAL(chmod(folder, 01777), 0);
	cache_setup(folder, 1 << 20);
	snprintf(own, sizeof own, "%s/user-%lu", folder, (unsigned long)geteuid());
	CU_ASSERT_EQUAL(put("a", 10), 0);
	CU_ASSERT_TRUE(has("a"));
	CU_ASSERT_STRING_EQUAL(cache_directory(), own);
	CU_ASSERT_EQUAL(mode_of(own), 0700);
	CU_ASSERT_NOT_EQUAL(access(path_of(folder, ""), F_OK), 0);
	/* Another user was faster and made a link to elsewhere. Then there is no cache at all. */
	snprintf(kept, sizeof kept, "%s/kept", folder);
	CU_ASSERT_EQUAL(rename(own, kept), 0);
	CU_ASSERT_EQUAL(symlink("kept", own), 0);
	CU_ASSERT_FALSE(has("a"));
	CU_ASSERT(put("a", 10) < 0);
	CU_ASSERT_EQUAL(unlink(own), 0);
	CU_ASSERT_EQUAL(rename(kept, own), 0);
	CU_ASSERT_TRUE(has("a"));
	CU_ASSERT_EQUAL(chmod(own, 0770), 0);
	CU_ASSERT_FALSE(has("a"));
	CU_ASSERT_EQUAL(chmod(folder, 0700), 0);
}

void add_cache_tests(void)
{
	CU_pSuite s = CU_add_suite("cache", NULL, NULL);
	CU_add_test(s, "what was put is found until removed", what_was_put_is_found);
	CU_add_test(s, "over the bound the longest unused goes first", longest_unused_goes_first);
	CU_add_test(s, "a damaged entry counts as missing and is removed", damaged_entry_counts_as_missing);
	CU_add_test(s, "a bound of 0 means no cache", no_bound_no_cache);
	CU_add_test(s, "files and folders are the user's alone", files_are_the_users_alone);
	CU_add_test(s, "FIFOs, links and folders count as missing", what_is_no_file_counts_as_missing);
	CU_add_test(s, "what others own or can write counts as missing", what_others_can_write_counts_as_missing);
	CU_add_test(s, "an entry cannot stand for another", an_entry_cannot_stand_for_another);
	CU_add_test(s, "in a shared folder there is one of our own", a_shared_folder_has_one_of_our_own);
}
