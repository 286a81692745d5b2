/* Profiles on disk: a written profile can be read, and no other file is accepted. */
#include "tests/tests.h"

#include "runtime/format/profile_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static char path[4200];

static void write_bytes(const void *data, size_t length)
{
	struct gs_error err;
	CU_ASSERT_EQUAL_FATAL(gs_write_file(path, data, length, &err), 0);
}

/* Two records: one of text, one of 100,000 equal bytes. */
static void make_profile(struct gs_buf *out)
{
	struct gs_error err;
	struct gs_pack run = {0}, launch = {0};
	static char counters[100000];
	snprintf(path, sizeof path, "%s/profile", test_folder());
	memset(counters, 7, sizeof counters);
	gs_pack_puts(&run, "command", "./app 1 2");
	gs_pack_add(&launch, "counters", counters, sizeof counters);
	profile_begin(out);
	CU_ASSERT_EQUAL(profile_add(out, "run", &run, &err), 0);
	CU_ASSERT_EQUAL(profile_add(out, "launch", &launch, &err), 0);
	profile_end(out);
	gs_pack_free(&run);
	gs_pack_free(&launch);
}

/* Reads all records. Returns the result of the last call, and the number of records. */
static int read_all(uint64_t *records, struct gs_error *err)
{
	struct profile_reader *r;
	char kind[PROFILE_KIND_SIZE];
	struct gs_pack pack;
	int result = profile_open(path, &r, err);
	*records = 0;
	if (result)
		return result;
	while ((result = profile_next(r, kind, &pack, err)) > 0) {
		++*records;
		gs_pack_free(&pack);
	}
	profile_reader_free(r);
	return result;
}

static void test_what_is_written_is_read(void)
{
	struct gs_buf file = {0};
	struct gs_error err;
	struct profile_reader *r;
	char kind[PROFILE_KIND_SIZE];
	struct gs_pack pack;
	make_profile(&file);
	CU_ASSERT(file.len < 2000); /* equal bytes take no room */
	write_bytes(file.data, file.len);
	CU_ASSERT_EQUAL_FATAL(profile_open(path, &r, &err), 0);
	CU_ASSERT_EQUAL(profile_next(r, kind, &pack, &err), 1);
	CU_ASSERT_STRING_EQUAL(kind, "run");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&pack, "command"), "./app 1 2");
	gs_pack_free(&pack);
	CU_ASSERT_EQUAL(profile_next(r, kind, &pack, &err), 1);
	CU_ASSERT_STRING_EQUAL(kind, "launch");
	const struct gs_section *s = gs_pack_find(&pack, "counters");
	CU_ASSERT(s && s->len == 100000 && s->data[99999] == 7);
	gs_pack_free(&pack);
	CU_ASSERT_EQUAL(profile_next(r, kind, &pack, &err), 0);
	CU_ASSERT_EQUAL(profile_next(r, kind, &pack, &err), 0);
	profile_reader_free(r);
	gs_buf_free(&file);
}

/* A file that was cut anywhere is reported as incomplete. The whole records before the cut can be read. */
static void test_a_file_that_was_cut_says_so(void)
{
	struct gs_buf file = {0};
	struct gs_error err;
	uint64_t records;
	make_profile(&file);
	for (size_t length = 0; length < file.len; length++) {
		write_bytes(file.data, length);
		int result = read_all(&records, &err);
		CU_ASSERT(result < 0 && records <= 2 && *err.text);
		if (length < strlen("gpusim-profile "))
			CU_ASSERT(result == -EINVAL && strstr(err.text, "is not a profile"));
	}
	gs_buf_free(&file);
}

/* A changed byte after the first line is found, unless it turns a kind into another word. */
static void test_a_damaged_file_is_found_out(void)
{
	struct gs_buf file = {0};
	struct gs_error err;
	uint64_t records;
	make_profile(&file);
	for (size_t at = strlen("gpusim-profile 1\n"); at < file.len; at++) {
		char was = file.data[at];
		file.data[at] = (char)(was ^ 0x80);
		write_bytes(file.data, file.len);
		CU_ASSERT_EQUAL(read_all(&records, &err), -EBADMSG);
		file.data[at] = was;
	}
	gs_buf_free(&file);
}

static void test_other_files_are_refused(void)
{
	struct gs_error err;
	uint64_t records;
	snprintf(path, sizeof path, "%s/other", test_folder());
	write_bytes("\177ELF", 4);
	CU_ASSERT_EQUAL(read_all(&records, &err), -EINVAL);
	write_bytes("gpusim-profile 2\n", 17);
	CU_ASSERT_EQUAL(read_all(&records, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "another version"));
	/* The file does not have as many bytes as its sizes say. No memory is allocated for them. */
	write_bytes("gpusim-profile 1\nlaunch 4000000000 4000000000 00000000000000000000000000000000\nx\n", 80);
	CU_ASSERT_EQUAL(read_all(&records, &err), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "more than 1 GiB"));
	write_bytes("gpusim-profile 1\nlaunch 1000000000 1000000000 00000000000000000000000000000000\nx\n", 80);
	CU_ASSERT_EQUAL(read_all(&records, &err), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "ends early"));
	snprintf(path, sizeof path, "/nonexistent/profile");
	CU_ASSERT_EQUAL(read_all(&records, &err), -ENOENT);
}

void add_profile_file_tests(void)
{
	CU_pSuite s = CU_add_suite("profile files", NULL, NULL);
	CU_add_test(s, "what is written is read", test_what_is_written_is_read);
	CU_add_test(s, "a file that was cut says so", test_a_file_that_was_cut_says_so);
	CU_add_test(s, "a damaged file is found out", test_a_damaged_file_is_found_out);
	CU_add_test(s, "other files are refused", test_other_files_are_refused);
}
