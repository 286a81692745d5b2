/* base: growing text, JSON strings, near matches, files, packs. */
#include "tests/tests.h"

#include "runtime/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void text_grows_and_keeps_its_end(void)
{
	struct gs_buf b = {0};
	for (int i = 0; i < 1000; i++)
		gs_buf_printf(&b, "%d,", i % 10);
	CU_ASSERT_EQUAL(b.len, 2000);
	CU_ASSERT_EQUAL(b.data[2000], 0);
	CU_ASSERT_NSTRING_EQUAL(b.data + 1990, "5,6,7,8,9,", 10);
	gs_buf_free(&b);
}

static void check_json(const char *text, const char *expected)
{
	struct gs_buf b = {0};
	gs_buf_json(&b, text);
	CU_ASSERT_STRING_EQUAL(b.data, expected);
	gs_buf_free(&b);
}

static void check_html(const char *text, const char *expected)
{
	struct gs_buf b = {0};
	gs_buf_html(&b, text);
	CU_ASSERT_STRING_EQUAL(b.data, expected);
	gs_buf_free(&b);
}

static void html_text_is_escaped(void)
{
	check_html("a<b>&\"'", "a&#60;b&#62;&#38;&#34;&#39;");
	check_html("\tx\ny", "\tx\ny");
	check_html("\x01\x1b[0m\x7f", "\xef\xbf\xbd\xef\xbf\xbd[0m\xef\xbf\xbd");
	check_html("\xc3\xa4\xc3", "\xc3\xa4\xef\xbf\xbd");
}

static void json_strings_are_escaped(void)
{
	check_json("a\"b\\c", "\"a\\\"b\\\\c\"");
	check_json("\n\t\x7f", "\"\\u000a\\u0009\\u007f\"");
	check_json("\xc3\xa4", "\"\xc3\xa4\"");             /* U+00E4 is well formed */
	check_json("\xc3", "\"\\ufffd\"");                  /* cut off */
	check_json("\xc0\xaf", "\"\\ufffd\\ufffd\"");       /* overlong '/' */
	check_json("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
}

static void distance_counts_edits(void)
{
	CU_ASSERT_EQUAL(gs_edit_distance("kitten", "sitting", 5), 3); /* the textbook's pair */
	CU_ASSERT_EQUAL(gs_edit_distance("", "abc", 5), 3);
	CU_ASSERT_EQUAL(gs_edit_distance("same", "same", 5), 0);
	CU_ASSERT_EQUAL(gs_edit_distance("abcdef", "uvwxyz", 2), 3); /* limit + 1 */
}

static void nearest_is_found_only_when_near(void)
{
	const char *const words[] = {"gtx480", "h100", "h200", NULL};
	CU_ASSERT_STRING_EQUAL(gs_nearest("gtx48", words), "gtx480");
	CU_ASSERT_STRING_EQUAL(gs_nearest("h201", words), "h200");
	CU_ASSERT_PTR_NULL(gs_nearest("radeon", words));
}

static void file_is_replaced_whole(void)
{
	char path[4200];
	struct gs_buf b = {0};
	snprintf(path, sizeof path, "%s/file", test_folder());
	CU_ASSERT_EQUAL(gs_write_file(path, "first text", 10, NULL), 0);
	CU_ASSERT_EQUAL(gs_write_file(path, "2nd", 3, NULL), 0);
	CU_ASSERT_EQUAL(gs_read_file(path, &b, NULL), 0);
	CU_ASSERT_STRING_EQUAL(b.data, "2nd");
	gs_buf_free(&b);
}

static void who_may_read_a_file_the_umask_says(void)
{
	static const mode_t masks[][2] = {{0, 0666}, {022, 0644}, {002, 0664}, {077, 0600}};
	char path[4200];
	struct stat s;
	snprintf(path, sizeof path, "%s/masked", test_folder());
	for (size_t i = 0; i < GS_ARRAY_LEN(masks); i++) {
		mode_t before = umask(masks[i][0]);
		CU_ASSERT_EQUAL(gs_write_file(path, "x", 1, NULL), 0);
		umask(before);
		CU_ASSERT(!stat(path, &s) && (s.st_mode & 0777) == masks[i][1]);
	}
}

static void pipe_is_written_into_and_stays(void)
{
	char path[4200], got[8] = "";
	struct stat s;
	snprintf(path, sizeof path, "%s/pipe", test_folder());
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	CU_ASSERT_EQUAL(gs_write_file(path, "text", 4, NULL), 0);
	CU_ASSERT_EQUAL(read(fd, got, sizeof got - 1), 4);
	CU_ASSERT_STRING_EQUAL(got, "text");
	CU_ASSERT(!stat(path, &s) && S_ISFIFO(s.st_mode));
	close(fd);
}

static void what_never_ends_is_not_read(void)
{
	char path[4200];
	struct gs_error err;
	struct gs_buf b = {0};
	snprintf(path, sizeof path, "%s/fifo", test_folder());
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	CU_ASSERT(gs_read_regular_file(path, &b, &err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not a regular file"));
	CU_ASSERT(gs_read_regular_file("/dev/zero", &b, &err) < 0);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(gs_read_fd(zero, "/dev/zero", 100000, &b, &err), -EFBIG);
	close(zero);
	gs_buf_free(&b);
}

static void missing_file_is_told_by_name(void)
{
	struct gs_error err;
	struct gs_buf b = {0};
	CU_ASSERT(gs_read_file("/no/such/file", &b, &err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/no/such/file"));
	gs_buf_free(&b);
}

static void make_pack(struct gs_buf *bytes)
{
	struct gs_pack p = {0};
	gs_pack_puts(&p, "source", "line\nend 0123\n");
	gs_pack_add(&p, "bytes", "a\0b", 3);
	gs_pack_puts(&p, "source", "");
	CU_ASSERT_EQUAL(gs_pack_encode(&p, bytes, NULL), 0);
	gs_pack_free(&p);
}

static void pack_comes_back_as_it_was(void)
{
	struct gs_buf bytes = {0};
	struct gs_pack p = {0};
	make_pack(&bytes);
	CU_ASSERT_EQUAL_FATAL(gs_pack_decode(&p, bytes.data, bytes.len, NULL), 0);
	CU_ASSERT_EQUAL(p.count, 3);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&p, "source"), "line\nend 0123\n");
	CU_ASSERT_EQUAL(p.sections[1].len, 3);
	CU_ASSERT_EQUAL(memcmp(p.sections[1].data, "a\0b", 4), 0);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&p, "absent"), "");
	gs_pack_free(&p);
	gs_buf_free(&bytes);
}

static void damaged_pack_is_refused(void)
{
	struct gs_buf bytes = {0};
	make_pack(&bytes);
	for (size_t cut = 0; cut < bytes.len; cut++) {
		struct gs_pack p = {0};
		CU_ASSERT(gs_pack_decode(&p, bytes.data, cut, NULL) < 0);
		gs_pack_free(&p);
	}
	for (size_t i = 0; i < bytes.len; i++) {
		struct gs_pack p = {0};
		bytes.data[i] ^= 0x20;
		CU_ASSERT(gs_pack_decode(&p, bytes.data, bytes.len, NULL) < 0);
		bytes.data[i] ^= 0x20;
		gs_pack_free(&p);
	}
	gs_buf_free(&bytes);
}

void add_base_tests(void)
{
	CU_pSuite s = CU_add_suite("base", NULL, NULL);
	CU_add_test(s, "text grows and keeps its end", text_grows_and_keeps_its_end);
	CU_add_test(s, "JSON strings are escaped, bad UTF-8 replaced", json_strings_are_escaped);
	CU_add_test(s, "HTML text is escaped, bad UTF-8 and control characters replaced", html_text_is_escaped);
	CU_add_test(s, "distance counts edits up to its limit", distance_counts_edits);
	CU_add_test(s, "the nearest word is found only when near", nearest_is_found_only_when_near);
	CU_add_test(s, "a file is replaced whole", file_is_replaced_whole);
	CU_add_test(s, "a missing file is told by name", missing_file_is_told_by_name);
	CU_add_test(s, "who may read a file, the umask says", who_may_read_a_file_the_umask_says);
	CU_add_test(s, "a pipe is written into, and stays", pipe_is_written_into_and_stays);
	CU_add_test(s, "what never ends is not read", what_never_ends_is_not_read);
	CU_add_test(s, "a pack comes back as it was", pack_comes_back_as_it_was);
	CU_add_test(s, "a pack cut anywhere or changed in any byte is refused", damaged_pack_is_refused);
}
