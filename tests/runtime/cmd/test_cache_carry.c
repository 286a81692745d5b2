/* gpusim cache fill and import, with files that this machine would not have written itself. */
#include "tests/tests.h"

#include "runtime/format/protocol.h"
#include "runtime/format/profile_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[2000]; /* the test's folder: the cache and the output of the command */

static const char gpu_device[] = "type=gpu\naddress_bits=64\nc_version=120\ncl_version=300\nimage_support=1\nlittle_endian=1\n"
                                 "platform=NVIDIA CUDA\nname=NVIDIA H200\ndriver=550.1\n"
                                 "extensions=cl_khr_fp64 cl_nv_compiler_options\nfeatures=__opencl_c_fp64\ncounters=atomic\n";
static const char other_cpu[] = "type=cpu\naddress_bits=64\nc_version=120\ncl_version=300\nimage_support=1\nlittle_endian=1\n"
                                "platform=Portable Computing Language\nname=pthread-A CPU That Is Not Here\ndriver=3.1\n"
                                "extensions=\nfeatures=\ncounters=plain\n";

static void make_request(const char *version, const char *device, struct gs_pack *out)
{
	gs_pack_puts(out, "version", version);
	gs_pack_puts(out, "device", device);
	gs_pack_puts(out, "targets", "sm_90:vendor\n");
	gs_pack_puts(out, "options", "");
	gs_pack_puts(out, "source", "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2.0f; }\n");
}

static void write_file(const char *kind, const struct gs_pack *record)
{
	struct gs_buf bytes = {0};
	struct gs_error err;
	char path[2100];
	snprintf(folder, sizeof folder, "%s", test_folder());
	snprintf(path, sizeof path, "%s/file", folder);
	records_begin(&bytes, &cache_format);
	CU_ASSERT_EQUAL(profile_add(&bytes, kind, record, &err), 0);
	profile_end(&bytes);
	CU_ASSERT_EQUAL(gs_write_file(path, bytes.data, bytes.len, &err), 0);
	gs_buf_free(&bytes);
}

/* Runs "gpusim cache ACTION file" in the test's folder and returns its exit code. *said gets its error messages. */
static int run_cache(const char *action, struct gs_buf *said)
{
	const char *command = getenv("GPUSIM_TEST_BIN"), *cc = getenv("GPUSIM_TEST_CC");
	char line[8000], path[2100];
	CU_ASSERT_PTR_NOT_NULL_FATAL(command);
	snprintf(line, sizeof line, "cd '%s' && GPUSIM_CC='%s' GPUSIM_CACHE_DIR='%s/cache' '%s' cache %s file >out 2>err", folder,
	         cc ? cc : "", folder, command, action);
	int status = system(line);
	snprintf(path, sizeof path, "%s/err", folder);
	gs_read_file(path, said, NULL);
	return WEXITSTATUS(status);
}

static bool cached(const char *key)
{
	char path[2200];
	snprintf(path, sizeof path, "%s/cache/results/%s", folder, key);
	return !access(path, R_OK);
}

/* The library of this version has its own version in its requests, so it asks with another key. */
static void request_of_another_version_is_answered_for_ours(void)
{
	struct gs_pack old = {0}, own = {0};
	struct gs_buf bytes = {0}, said = {0};
	char key[33];
	make_request("0.0.1-elsewhere", gpu_device, &old);
	make_request(GPUSIM_CC_VERSION, gpu_device, &own);
	CU_ASSERT_EQUAL(gs_pack_encode(&own, &bytes, NULL), 0);
	gs_hash_hex(bytes.data, bytes.len, key);
	write_file("wanted", &old);
	CU_ASSERT_EQUAL(run_cache("fill", &said), 0);
	CU_ASSERT_STRING_EQUAL(said.data, "");
	CU_ASSERT_TRUE(cached(key));
	gs_buf_free(&said);
	gs_buf_free(&bytes);
	gs_pack_free(&own);
	gs_pack_free(&old);
}

static void request_of_another_cpu_is_refused(void)
{
	struct gs_pack request = {0};
	struct gs_buf said = {0};
	make_request(GPUSIM_CC_VERSION, other_cpu, &request);
	write_file("wanted", &request);
	CU_ASSERT_EQUAL(run_cache("fill", &said), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(said.data, "it is for another CPU"));
	gs_buf_free(&said);
	gs_pack_free(&request);
}

/* Imports a record of one section with this key and version. */
static int import_result(const char *key, const char *version, const char *complaint)
{
	struct gs_pack result = {0};
	struct gs_buf said = {0};
	gs_pack_puts(&result, "key", key);
	gs_pack_puts(&result, "version", version);
	write_file("result", &result);
	int code = run_cache("import", &said);
	CU_ASSERT_PTR_NOT_NULL(strstr(said.data, complaint));
	gs_buf_free(&said);
	gs_pack_free(&result);
	return code;
}

static void results_that_nobody_would_find_are_refused(void)
{
	static const char key[] = "0123456789abcdef0123456789abcdef";
	CU_ASSERT_EQUAL(import_result(key, "0.0.1-elsewhere", "has results of gpusim 0.0.1-elsewhere"), 2);
	CU_ASSERT_FALSE(cached(key));
	CU_ASSERT_EQUAL(import_result("../../file", GPUSIM_CC_VERSION, "a record without a key"), 2);
	CU_ASSERT_EQUAL(import_result(key, GPUSIM_CC_VERSION, ""), 0);
	CU_ASSERT_TRUE(cached(key));
}

void add_cache_carry_tests(void)
{
	CU_pSuite s = CU_add_suite("cache_carry", NULL, NULL);
	CU_add_test(s, "a request of another version is answered for ours", request_of_another_version_is_answered_for_ours);
	CU_add_test(s, "a request of another CPU is refused", request_of_another_cpu_is_refused);
	CU_add_test(s, "results of another version or without a key are refused", results_that_nobody_would_find_are_refused);
}
