/* gpusim-cc as a process: requests in, results out. GPUSIM_TEST_CC names the program. */
#include "tests/tests.h"

#include "runtime/base/base.h"
#include "runtime/cc/options.h"
#include "models/code/code.h"
#include "runtime/format/protocol.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE "type=cpu\naddress_bits=64\nc_version=120\ncl_version=120\nimage_support=1\nlittle_endian=1\n" \
	"platform=Test\nextensions=cl_khr_fp64 cl_khr_byte_addressable_store cl_test_extension\nfeatures=\n"
#define PLAIN DEVICE "counters=plain\n"
#define KERNEL "__kernel void k(__global float *p) { p[get_global_id(0)] = 1.0f; }\n"

static char folder[4096];

static int setup(void)
{
	snprintf(folder, sizeof folder, "%s", test_folder());
	return 0;
}

static const char *in_folder(const char *name)
{
	static char path[4][8192];
	static unsigned next;
	char *p = path[next++ % 4];
	snprintf(p, sizeof path[0], "%s/%s", folder, name);
	return p;
}

static void write_text(const char *name, const char *text)
{
	CU_ASSERT_EQUAL(gs_write_file(in_folder(name), text, strlen(text), NULL), 0);
}

static void start_request(struct gs_pack *request, const char *device, const char *targets)
{
	gs_pack_puts(request, "version", GPUSIM_CC_VERSION);
	gs_pack_puts(request, "device", device);
	gs_pack_puts(request, "targets", targets);
}

static void add_unit(struct gs_pack *request, const char *options, const char *source)
{
	gs_pack_puts(request, "options", options);
	gs_pack_puts(request, "source", source);
}

static pid_t start_cc(const char *request, const char *result)
{
	const char *program = getenv("GPUSIM_TEST_CC");
	CU_ASSERT_PTR_NOT_NULL_FATAL(program);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("TMPDIR", in_folder("tmp"), 1);
		execl(program, program, request, result, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static size_t files_in(const char *path)
{
	size_t count = 0;
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));)
		count += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return count;
}

/* Runs the request and frees it. In any case there must be a result, and no temporary file may be left. */
static void run(struct gs_pack *request, struct gs_pack *result)
{
	struct gs_buf bytes = {0}, answer = {0};
	struct gs_error err = {""};
	int status = -1;
	mkdir(in_folder("tmp"), 0700);
	CU_ASSERT_EQUAL(gs_pack_encode(request, &bytes, &err), 0);
	CU_ASSERT_EQUAL(gs_write_file(in_folder("request"), bytes.data, bytes.len, &err), 0);
	unlink(in_folder("result"));
	waitpid(start_cc(in_folder("request"), in_folder("result")), &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(gs_read_file(in_folder("result"), &answer, &err), 0);
	CU_ASSERT_EQUAL(gs_pack_decode(result, answer.data, answer.len, &err), 0);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(result, "version"), GPUSIM_CC_VERSION);
	CU_ASSERT_EQUAL(files_in(in_folder("tmp")), 0);
	gs_buf_free(&bytes);
	gs_buf_free(&answer);
	gs_pack_free(request);
}

static struct gs_pack run_one(const char *device, const char *targets, const char *options, const char *source)
{
	struct gs_pack request = {0}, result = {0};
	start_request(&request, device, targets);
	add_unit(&request, options, source);
	run(&request, &result);
	return result;
}

static const struct gs_section *nth(const struct gs_pack *p, const char *name, size_t n)
{
	static const struct gs_section none = {.name = "", .data = ""};
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->sections[i].name, name) && !n--)
			return &p->sections[i];
	return &none;
}

/* Checks that nothing failed and that the host text contains `text`. */
static void check_host(const char *device, const char *options, const char *source, const char *text)
{
	struct gs_pack result = run_one(device, "", options, source);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"), "");
	bool found = strstr(gs_pack_text(&result, "host"), text);
	CU_ASSERT(found);
	if (!found)
		fprintf(stderr, "\n'%s' is not in:\n%s\n", text, gs_pack_text(&result, "host"));
	gs_pack_free(&result);
}

static void check_failure(const char *options, const char *source, const char *text)
{
	struct gs_pack result = run_one(PLAIN, "sm_70", options, source);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"), text);
	if (strcmp(gs_pack_text(&result, "failure"), text))
		fprintf(stderr, "\n'%s' instead of '%s'\n", gs_pack_text(&result, "failure"), text);
	gs_pack_free(&result);
}

static void options_are_split_like_a_shell_does(void)
{
	static const char *const expected[] = {"-D", "A=b c", "-DS=\"x\"", "it's", "a\\n", "", "end \\ here"};
	struct words w = {0};
	build_options_split("  -D 'A=b c'\t-DS=\\\"x\\\"\n\"it's\" 'a\\n' '' \"end \\\\ here\"", QUOTES_OF_SHELLS, &w);
	CU_ASSERT_EQUAL_FATAL(w.count, GS_ARRAY_LEN(expected));
	for (size_t i = 0; i < w.count; i++)
		CU_ASSERT_STRING_EQUAL(w.items[i], expected[i]);
	words_free(&w);
	build_options_split("-DA='open quote", QUOTES_OF_SHELLS, &w);
	CU_ASSERT_EQUAL_FATAL(w.count, 1);
	CU_ASSERT_STRING_EQUAL(w.items[0], "-DA=open quote");
	words_free(&w);
	build_options_split("", QUOTES_OF_SHELLS, &w);
	CU_ASSERT_EQUAL(w.count, 0);
}

/* How POCL 3.1 splits these options. A string of the macro's text shows it. */
static void options_are_split_like_pocl_does(void)
{
	static const char *const expected[] = {"-DA='4'", "-D", "B=x y ", "-DC= p q ", "-DE= x y  z w", "-DF=\\ x\\ "};
	struct words w = {0};
	build_options_split("-DA='4' -D \"B=x y\"  -DC=\"p q\" -DE=\"x\"y\" z\"w -DF=\\\"x\\\"", QUOTES_OF_POCL, &w);
	CU_ASSERT_EQUAL_FATAL(w.count, GS_ARRAY_LEN(expected));
	for (size_t i = 0; i < w.count; i++)
		CU_ASSERT_STRING_EQUAL(w.items[i], expected[i]);
	words_free(&w);
}

static void result_describes_host_kernels_blocks_and_targets(void)
{
	struct gs_pack r =
	    run_one(PLAIN, "sm_20\nsm_70", "-cl-mad-enable -DN=3 -Werror -g -cl-std=CL1.2",
	            "float f(float x) { return x * N; }\n"
	            "__kernel void k(__global float *p, int n) {\n __local int t[8]; t[n] = n; p[0] = f(p[t[1]]); }\n");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), "");
	CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&r, "host"), "__gpusim_block(0); return x * 3; }"));
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "host-options"), "-cl-mad-enable -cl-std=CL1.2 -w");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "kernels"), "k 2\n");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "arguments"), "k global value\n");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "safety"), "k straight grouped\n"); /* no loop; local memory */
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "blocks"), "0 0 f entry 1 7 program.cl\n1 0 k entry 2 15 program.cl\n");
	for (size_t i = 0; i < 2; i++) {
		char start[64];
		unsigned instructions = 0, shared = 0;
		snprintf(start, sizeof start, "%s\nkernel k instructions=%%u shared_bytes=%%u registers=0\n",
		         i ? "sm_70" : "sm_20");
		CU_ASSERT_EQUAL(sscanf(nth(&r, "target", i)->data, start, &instructions, &shared), 2);
		CU_ASSERT(instructions > 5 && instructions < 40);
		CU_ASSERT_EQUAL(shared, 32); /* int t[8] */
		const struct gs_section *bytes = nth(&r, "code", i);
		struct kernel_code *code = NULL;
		CU_ASSERT_EQUAL_FATAL(strncmp(bytes->data, i ? "sm_70 k\n" : "sm_20 k\n", 8), 0);
		CU_ASSERT_EQUAL_FATAL(code_read(bytes->data + 8, bytes->len - 8, &code, NULL), 0);
		CU_ASSERT_EQUAL(code->counter_count, 2); /* one for each line of `blocks` */
		CU_ASSERT_EQUAL(code->instructions, instructions);
		CU_ASSERT_EQUAL(code->unknown_count, 0);
		code_free(code);
		CU_ASSERT_PTR_NOT_NULL(strstr(nth(&r, "ptx", i)->data, ".entry k("));
		CU_ASSERT_PTR_NULL(strstr(nth(&r, "ptx", i)->data, "pseudoprobe"));
	}
	CU_ASSERT_PTR_NULL(gs_pack_find(&r, "dependency"));
	gs_pack_free(&r);
}

static void same_request_gives_the_same_bytes(void)
{
	struct gs_buf first = {0}, second = {0};
	for (int i = 0; i < 2; i++) {
		struct gs_pack request = {0}, result = {0};
		start_request(&request, PLAIN, "sm_50");
		gs_pack_puts(&request, "options", "");
		gs_pack_puts(&request, "header", "a/b.h\nint h(void);\n");
		gs_pack_puts(&request, "source", "#include \"a/b.h\"\n" KERNEL);
		run(&request, &result);
		CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"), "");
		gs_pack_encode(&result, i ? &second : &first, NULL);
		gs_pack_free(&result);
	}
	CU_ASSERT_EQUAL(first.len, second.len);
	CU_ASSERT_EQUAL(memcmp(first.data, second.data, first.len), 0);
	gs_buf_free(&first);
	gs_buf_free(&second);
}

static void a_bad_target_does_not_spoil_the_others(void)
{
	struct gs_pack r = run_one(PLAIN, "sm_70\nvoodoo2\nsm_20\n", "", KERNEL);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), "");
	CU_ASSERT(!strncmp(nth(&r, "target", 0)->data, "sm_70\nkernel k ", 15));
	CU_ASSERT(!strncmp(nth(&r, "target", 1)->data, "voodoo2\nfailure unknown architecture", 36));
	CU_ASSERT(!strncmp(nth(&r, "target", 2)->data, "sm_20\nkernel k ", 15));
	CU_ASSERT_EQUAL(nth(&r, "ptx", 1)->len, 0);
	gs_pack_free(&r);
}

static void macros_are_those_of_the_host_device(void)
{
	static const char source[] =
	    "int v = __OPENCL_VERSION__ + __OPENCL_C_VERSION__;\n"
	    "#if defined(cl_khr_fp64) && defined(cl_test_extension) && !defined(cl_khr_fp16) && !defined(__SPIR__) && "
	    "__IMAGE_SUPPORT__\n"
	    "int all_there;\n#endif\n"
	    "#ifdef __FAST_RELAXED_MATH__\nint fast;\n#endif\n"
	    "#if __ENDIAN_LITTLE__\nfloat pi = M_PI_F; int fence = CLK_LOCAL_MEM_FENCE;\n#endif\n";
	check_host(PLAIN, "-cl-std=CL2.0", source, "int v = 120 + 200;");
	check_host(PLAIN, "-cl-std=CL2.0", source, "int all_there;");
	check_host(PLAIN, "-cl-std=CL2.0 -cl-fast-relaxed-math", source, "int fast;");
	check_host(PLAIN, "-cl-std=CL2.0", source, "int fence = 0x01;");
	/* Another kind of device uses another target of clang. The text must not show that either. */
	check_host("type=gpu\nimage_support=1\ncl_version=120\nc_version=120\nextensions=cl_khr_fp64 "
	           "cl_test_extension\ncounters=atomic\n",
	           "-cl-std=CL2.0", source, "int all_there;");
}

static void headers_leave_no_text(void)
{
	struct gs_pack r = run_one(PLAIN, "", "", KERNEL);
	const char *host = gs_pack_text(&r, "host"), *text = strstr(host, "# 1 \"program.cl\"");
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NULL(strstr(text, "opencl-c"));
	CU_ASSERT_PTR_NULL(strstr(text, "#pragma"));
	CU_ASSERT_PTR_NULL(strstr(text, "typedef"));
	gs_pack_free(&r);
}

static void pocl_of_version_3_compiles_opencl_c_3(void)
{
	static const char device[] =
	    "type=cpu\nc_version=120\ncl_version=300\nplatform=Portable Computing Language\n"
	    "extensions=cl_khr_fp64\nfeatures=__opencl_c_fp64 __opencl_c_int64\ncounters=plain\n";
	check_host(device, "", "__constant int v = __OPENCL_C_VERSION__ + __opencl_c_fp64;\n", "int v = 300 + 1;");
	check_host(device, "-cl-std=CL1.2", "__constant int v = __OPENCL_C_VERSION__;\n", "int v = 120;");
}

/* POCL uses clang without clang's driver, and has macros of its own. */
static void macros_are_those_of_pocl(void)
{
	static const char device[] = "type=cpu\nc_version=120\ncl_version=300\nplatform=Portable Computing Language\n"
	                             "clang=15.0.6\nextensions=\nfeatures=\ncounters=plain\n";
	check_host(device, "", "#if !defined(__GNUC__) && __PIC__ == 2 && __PIE__ == 2 && defined(cl_khr_int64)\n"
	           "__constant int v = __clang_major__ + __clang_minor__ + __clang_patchlevel__ + POCL_DEVICE_ADDRESS_BITS;\n#endif\n",
	           "int v = 15 + 0 + 6 + 64;");
	check_host(device, "-D__GNUC__=3 -DPOCL_DEVICE_ADDRESS_BITS=1",
	           "__constant int v = __GNUC__ + POCL_DEVICE_ADDRESS_BITS;\n", "int v = 3 + 1;");
}

static void byte_order_mark_is_no_text(void)
{
	check_host(PLAIN, "", "\xef\xbb\xbf__constant int v = 4;\n", "\n__constant int v = 4;");
}

static void macros_of_the_options_are_applied(void)
{
	check_host(PLAIN, "-D A=1 -DB -D 'C(x)=(x + 1)' -DS=\\\"s\\\" -DGONE -U GONE",
	           "#ifndef GONE\n__constant int v = A + B + C(2); __constant char s[] = S;\n#endif\n",
	           "int v = 1 + 1 + (2 + 1); __constant char s[] = \"s\";");
}

static void includes_are_found_and_reported(void)
{
	struct gs_pack request = {0}, r = {0};
	char hash[33], expected[9000];
	mkdir(in_folder("include"), 0700);
	write_text("include/far.h", "int far(int);\n");
	write_text("near.h", "#include <far.h>\n#define NEAR 5\n");
	start_request(&request, PLAIN, "");
	gs_pack_puts(&request, "cwd", folder);
	add_unit(&request, "-I include", "#include \"near.h\"\n#include \"near.h\"\n__constant int v = NEAR;\n" KERNEL);
	run(&request, &r);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), "");
	CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&r, "host"), "int v = 5;"));
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "blocks"), "0 0 k entry 4 15 program.cl\n");
	gs_hash_hex("#include <far.h>\n#define NEAR 5\n", 32, hash);
	snprintf(expected, sizeof expected, "%s %s\n", hash, in_folder("near.h"));
	CU_ASSERT(!strncmp(gs_pack_text(&r, "dependency"), expected, strlen(expected)));
	gs_hash_hex("int far(int);\n", 14, hash);
	snprintf(expected, sizeof expected, "%s %s\n", hash, in_folder("include/far.h"));
	CU_ASSERT_STRING_EQUAL(strchr(gs_pack_text(&r, "dependency"), '\n') + 1, expected);
	gs_pack_free(&r);
}

static void embedded_headers_come_first_and_have_no_path(void)
{
	struct gs_pack request = {0}, r = {0};
	write_text("x.h", "__constant int which = 1;\n");
	start_request(&request, PLAIN, "");
	gs_pack_puts(&request, "cwd", folder);
	gs_pack_puts(&request, "options", "");
	gs_pack_puts(&request, "header", "x.h\n__constant int which = 2;\n");
	gs_pack_puts(&request, "header", "deep/er/y.h\n#include \"../z.h\"\n");
	gs_pack_puts(&request, "header", "deep/z.h\nvoid from_z(void) {}\n");
	gs_pack_puts(&request, "source", "#include \"x.h\"\n#include <deep/er/y.h>\n" KERNEL);
	run(&request, &r);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), "");
	CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&r, "host"), "which = 2;"));
	CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&r, "host"), "# 1 \"x.h\" 1\n"));
	CU_ASSERT_PTR_NULL(strstr(gs_pack_text(&r, "host"), folder));
	CU_ASSERT_PTR_NULL(gs_pack_find(&r, "dependency"));
	gs_pack_free(&r);
}

static void embedded_headers_cannot_leave_their_folder(void)
{
	static const char *const names[] = {"../x.h", "/x.h", "a/../../x.h", "", "..", "a/.."};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		struct gs_pack request = {0}, r = {0};
		char header[64], expected[128];
		snprintf(header, sizeof header, "%s\nint x;\n", names[i]);
		snprintf(expected, sizeof expected, "preprocess: an embedded header with the name '%s'", names[i]);
		start_request(&request, PLAIN, "");
		gs_pack_puts(&request, "options", "");
		gs_pack_puts(&request, "header", header);
		gs_pack_puts(&request, "source", KERNEL);
		run(&request, &r);
		CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), expected);
		gs_pack_free(&r);
	}
}

static void line_directives_lead_to_the_users_file(void)
{
	struct gs_pack r = run_one(PLAIN, "", "", "#line 100 \"gen erated.cl\"\n\n" KERNEL);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "blocks"), "0 0 k entry 101 15 gen erated.cl\n");
	CU_ASSERT_PTR_NULL(gs_pack_find(&r, "dependency"));
	gs_pack_free(&r);
}

static void helpers_of_other_units_are_counted(void)
{
	struct gs_pack request = {0}, r = {0};
	start_request(&request, PLAIN, "sm_70");
	add_unit(&request, "-DK=5", "int f(int x) { return x * K; }\n");
	add_unit(&request, "-DK=7", "int f(int x);\n__kernel void k(__global int *p) { p[0] = f(K); }\n");
	run(&request, &r);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), "");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "blocks"), "0 0 f entry 1 5 program.cl\n1 1 k entry 2 15 program.cl\n");
	CU_ASSERT_PTR_NOT_NULL(strstr(nth(&r, "host", 1)->data, "p[0] = f(7, __gpusim_n);"));
	CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&r, "ptx"), ", 35;")); /* 5 * 7, across units */
	gs_pack_free(&r);
}

/* The driver's thread has not enough stack for a struct of counters for each of 4096 work-items. */
static void without_the_optimiser_counters_are_no_variables(void)
{
	struct gs_pack r = run_one(PLAIN, "", "-cl-opt-disable", KERNEL);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "layout"), "group");
	gs_pack_free(&r);
	r = run_one(PLAIN, "", "", KERNEL);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "layout"), "item");
	gs_pack_free(&r);
}

static void errors_name_stage_and_place(void)
{
	check_failure("", "int a;\n#error no luck\n", "preprocess: program.cl:2:2: no luck");
	check_failure("", "\n#include \"missing.h\"\n", "preprocess: program.cl:2:10: 'missing.h' file not found");
	check_failure("", KERNEL "__kernel void l() {\n  return 1;\n}\n",
	              "annotate: program.cl:3:3: void function 'l' should not return a value");
	check_failure("-cl-std=CL2.0", "__kernel void k() {\n  void (^b)(void) = ^{ };\n}\n",
	              "annotate: program.cl:2:21: a block (enqueue_kernel)");
	check_failure("-cl-std=CLC++", KERNEL, "annotate: C++ for OpenCL (-cl-std=CLC++)");
}

static void odd_sources_do_no_harm(void)
{
	static const char nul[] = "/* \0 */ __kernel void k() {}\0";
	struct gs_pack request = {0}, r = run_one(PLAIN, "sm_70", "", "");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), "");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "kernels"), "");
	gs_pack_free(&r);
	start_request(&request, PLAIN, "sm_70");
	gs_pack_puts(&request, "options", "");
	gs_pack_add(&request, "source", nul, sizeof nul);
	run(&request, &r);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "kernels"), "k 0\n");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "arguments"), "k\n");
	gs_pack_free(&r);
	check_host(PLAIN, "", "#define A \\\r\n  int x\r\n__constant A = 1;\r\n__kernel void k() {\r\n}\r\n",
	           "__gpusim_begin;");
	check_host(PLAIN, "", "// caf\xe9 \xff\xfe\n__kernel void k() { printf(\"\xe9\"); }\n", "__gpusim_begin;");
	r = run_one(PLAIN, "sm_70", "", "\xff\xfe\x01 ((((( \" ' \\ # % { } ;");
	CU_ASSERT_NOT_EQUAL(gs_pack_text(&r, "failure")[0], 0);
	gs_pack_free(&r);
}

/* Makes a kernel of `first`, `count` times `again`, and `last`, each on a line. Checks the error of gpusim-cc; "": there is
 * none. */
static void check_long(const char *first, const char *again, size_t count, const char *last, const char *failure)
{
	struct gs_buf text = {0};
	gs_buf_printf(&text, "__kernel void k(__global int *p) { int i = get_global_id(0), s = p[i];\n%s", first);
	for (size_t i = 0; i < count; i++)
		gs_buf_printf(&text, "%s\n", again);
	gs_buf_printf(&text, "%s }\n", last);
	struct gs_pack r = run_one(PLAIN, "sm_70", "", text.data);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), failure);
	CU_ASSERT_EQUAL(strstr(gs_pack_text(&r, "target"), "failure") != NULL, false);
	gs_pack_free(&r);
	gs_buf_free(&text);
}

static void long_chains_do_not_nest(void)
{
	check_long("if (s == 0) p[i] = 1;", "else if (s == 7) p[i] = 2;", 300, "", "");
	check_long("p[i] = ", "s == 7 ? p[i + 1] : ", 300, "2;", "");
	check_long("p[i] = s", " + s", 20000, ";", "");
	check_long("p[i] = ", "- ", 4000, "s;", "");
}

/* In the tracing text, each access gets brackets. In the counting text, it does not. */
static void what_would_nest_too_deeply_only_if_traced_is_counted(void)
{
	struct gs_buf text = {0};
	gs_buf_puts(&text, "__kernel void k(__global int *p) { p[0] = ");
	for (int i = 0; i < 120; i++)
		gs_buf_puts(&text, "p[");
	gs_buf_puts(&text, "1");
	for (int i = 0; i < 120; i++)
		gs_buf_puts(&text, "]");
	gs_buf_puts(&text, "; }");
	struct gs_pack r = run_one(PLAIN, "sm_70", "", text.data);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), "");
	CU_ASSERT_PTR_NOT_NULL(gs_pack_find(&r, "host"));
	CU_ASSERT_PTR_NULL(gs_pack_find(&r, "traced"));
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "note"),
	                       "not traced: program.cl:1: brackets that would nest too deeply with those of the markers");
	gs_pack_free(&r);
	gs_buf_free(&text);
}

static void what_nests_too_deeply_is_refused_with_its_place(void)
{
	check_long("", "if (s > 7)", 300, "p[i] = 2;",
	           "annotate: program.cl:249: brackets that would nest too deeply with those of the markers");
	check_long("p[i] = s", " + s", 30000, ";",
	           "annotate: program.cl:2:8: statements or expressions nested more than 25000 deep");
}

static void ten_megabytes_are_read_in_time(void)
{
	struct gs_buf source = {0};
	for (int i = 0; source.len < 10u << 20; i++) {
		gs_buf_printf(&source, "__constant int table_%d[2] = {%d, 2}; /*", i, i);
		for (int j = 0; j < 100; j++)
			gs_buf_puts(&source, " a comment, as generated sources have them\n");
		gs_buf_puts(&source, "*/\n");
	}
	gs_buf_puts(&source, KERNEL);
	struct gs_pack r = run_one(PLAIN, "", "", source.data);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "failure"), "");
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&r, "kernels"), "k 1\n");
	gs_pack_free(&r);
	gs_buf_free(&source);
}

static void damaged_requests_are_failures(void)
{
	struct gs_pack r = {0};
	struct gs_buf answer = {0};
	int status = -1;
	mkdir(in_folder("tmp"), 0700);
	write_text("request", "gpusim-pack 1\nversion 5\n0.1");
	waitpid(start_cc(in_folder("request"), in_folder("result")), &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(gs_read_file(in_folder("result"), &answer, NULL), 0);
	CU_ASSERT_EQUAL(gs_pack_decode(&r, answer.data, answer.len, NULL), 0);
	CU_ASSERT(!strncmp(gs_pack_text(&r, "failure"), "internal: ", 10));
	gs_pack_free(&r);
	gs_buf_free(&answer);
	waitpid(start_cc(in_folder("request"), in_folder("no/such/folder/result")), &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) != 0);
	struct gs_pack old = {0};
	gs_pack_puts(&old, "version", "0.0.0");
	run(&old, &r);
	CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&r, "failure"), "version '0.0.0'"));
	gs_pack_free(&r);
}

static void a_compiler_that_dies_is_a_failure(void)
{
	write_text("dies", "#!/bin/sh\nkill -SEGV $$\n");
	write_text("fails", "#!/bin/sh\nexit 3\n");
	chmod(in_folder("dies"), 0700);
	chmod(in_folder("fails"), 0700);
	setenv("GPUSIM_CLANG", in_folder("dies"), 1);
	check_failure("", KERNEL, "preprocess: clang was killed by signal 11 (Segmentation fault)");
	setenv("GPUSIM_CLANG", in_folder("fails"), 1);
	check_failure("", KERNEL, "preprocess: clang failed without a message");
	setenv("GPUSIM_CLANG", in_folder("absent"), 1);
	struct gs_pack r = run_one(PLAIN, "sm_70", "", KERNEL);
	CU_ASSERT(!strncmp(gs_pack_text(&r, "failure"), "preprocess: cannot run ", 23));
	gs_pack_free(&r);
	unsetenv("GPUSIM_CLANG");
}

static void nothing_is_left_when_it_is_killed(void)
{
	struct gs_pack request = {0};
	struct gs_buf bytes = {0};
	int status;
	write_text("sleeps", "#!/bin/sh\nexec sleep 60\n");
	chmod(in_folder("sleeps"), 0700);
	mkdir(in_folder("tmp"), 0700);
	start_request(&request, PLAIN, "sm_70");
	add_unit(&request, "", KERNEL);
	gs_pack_encode(&request, &bytes, NULL);
	gs_write_file(in_folder("request"), bytes.data, bytes.len, NULL);
	setenv("GPUSIM_CLANG", in_folder("sleeps"), 1);
	pid_t pid = start_cc(in_folder("request"), in_folder("result"));
	for (int i = 0; i < 500 && !files_in(in_folder("tmp")); i++)
		usleep(10000);
	CU_ASSERT_EQUAL(files_in(in_folder("tmp")), 1);
	usleep(100000);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	for (int i = 0; i < 500 && files_in(in_folder("tmp")); i++)
		usleep(10000);
	CU_ASSERT_EQUAL(files_in(in_folder("tmp")), 0);
	unsetenv("GPUSIM_CLANG");
	gs_pack_free(&request);
	gs_buf_free(&bytes);
}

static bool has_line(const char *text, const char *line)
{
	size_t length = strlen(line);
	for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (!strncmp(text, line, length) && text[length] == '\n')
			return true;
	return false;
}

/* Our own names are among them: both texts have the counters. */
static void text_that_traces_says_which_names_it_has(void)
{
	struct gs_pack result = run_one(PLAIN, "", "", KERNEL), request = {0};
	const char *names = gs_pack_text(&result, "renames");
	CU_ASSERT(has_line(names, "k"));
	CU_ASSERT(has_line(names, "__gpusim_counts"));
	CU_ASSERT(!has_line(names, "p"));
	gs_pack_free(&result);
	result = (struct gs_pack){0};
	start_request(&request, PLAIN, "");
	add_unit(&request, "", KERNEL);
	add_unit(&request, "", "int other(int a) { return a; }\n");
	run(&request, &result);
	CU_ASSERT_PTR_NOT_NULL(gs_pack_find(&result, "traced"));
	CU_ASSERT_PTR_NULL(gs_pack_find(&result, "renames")); /* the texts are compiled one by one */
	gs_pack_free(&result);
}

void add_cc_tests(void)
{
	CU_pSuite suite = CU_add_suite("gpusim-cc", setup, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(options_are_split_like_a_shell_does);
	TEST(options_are_split_like_pocl_does);
	TEST(result_describes_host_kernels_blocks_and_targets);
	TEST(same_request_gives_the_same_bytes);
	TEST(a_bad_target_does_not_spoil_the_others);
	TEST(macros_are_those_of_the_host_device);
	TEST(headers_leave_no_text);
	TEST(pocl_of_version_3_compiles_opencl_c_3);
	TEST(macros_are_those_of_pocl);
	TEST(byte_order_mark_is_no_text);
	TEST(macros_of_the_options_are_applied);
	TEST(includes_are_found_and_reported);
	TEST(embedded_headers_come_first_and_have_no_path);
	TEST(embedded_headers_cannot_leave_their_folder);
	TEST(line_directives_lead_to_the_users_file);
	TEST(helpers_of_other_units_are_counted);
	TEST(without_the_optimiser_counters_are_no_variables);
	TEST(errors_name_stage_and_place);
	TEST(odd_sources_do_no_harm);
	TEST(long_chains_do_not_nest);
	TEST(what_nests_too_deeply_is_refused_with_its_place);
	TEST(what_would_nest_too_deeply_only_if_traced_is_counted);
	TEST(ten_megabytes_are_read_in_time);
	TEST(damaged_requests_are_failures);
	TEST(a_compiler_that_dies_is_a_failure);
	TEST(nothing_is_left_when_it_is_killed);
	TEST(text_that_traces_says_which_names_it_has);
#undef TEST
}
