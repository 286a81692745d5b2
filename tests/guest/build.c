/*
 * build - the many ways from source text to a kernel: several strings, options, includes, rebuilding,
 * callbacks, compile and link, and builds that fail.
 */
#include "guest.h"

#include <pthread.h>
#include <sys/stat.h>

enum { COUNT = 64 };

static struct guest g;
static cl_mem out;
static int result[COUNT];

static const char value_source[] =
	"#ifndef VALUE\n"
	"#define VALUE 1\n"
	"#endif\n"
	"__kernel void put(__global int *out) { out[get_global_id(0)] = VALUE + (int)get_global_id(0); }\n";

static const char text_source[] =
	"__kernel void put(__global int *out) { out[get_global_id(0)] = (int)sizeof(TEXT) + (int)get_global_id(0); }\n";

/* Launches the program's kernel and returns element 0 after checking the others against it. */
static int run(cl_program program, const char *name)
{
	cl_kernel kernel = guest_kernel(program, name);

	OK(clSetKernelArg(kernel, 0, sizeof out, &out));
	guest_launch(&g, kernel, COUNT);
	guest_read(&g, out, result, sizeof result);
	for (int i = 0; i < COUNT; i++)
		EXPECT(result[i] == result[0] + i, "%s: element %d is %d", name, i, result[i]);
	OK(clReleaseKernel(kernel));
	return result[0];
}

static void build_and_run(const char *what, const char *source, const char *options, int want)
{
	cl_program program = guest_build(&g, source, options);
	int got = run(program, "put");

	printf("%s: %d\n", what, got);
	EXPECT(got == want, "%s: %d, not %d", what, got, want);
	OK(clReleaseProgram(program));
}

/* The driver decides how quotes and spaces in options are read. Its behaviour must not change. */
static void try_build(const char *what, const char *source, const char *options)
{
	cl_program program = guest_program(&g, source);
	cl_int err = clBuildProgram(program, 1, &g.device, options, NULL, NULL);

	printf("%s: error %d, %d\n", what, err, err ? 0 : run(program, "put"));
	OK(clReleaseProgram(program));
}

/* Some strings end with a NUL, some are cut by a length, some are both; one is empty. */
static void test_strings(void)
{
	const char *strings[] = {
		"__kernel void put(", "__global int *out)THIS IS CUT", "", "{ out[get_global", "_id(0)] = 40 +",
		" (int)get_global_id(0)\n;", "}\n",
	};
	size_t lengths[] = {0, 18, 0, strlen(strings[3]), 0, strlen(strings[5]), 0};
	cl_int err;
	char text[256];
	size_t size;

	cl_program program = clCreateProgramWithSource(g.context, 7, strings, lengths, &err);
	CREATED(err);
	OK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size));
	printf("source of %zu bytes: %s", size, text);
	OK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	printf("strings: %d\n", run(program, "put"));
	OK(clReleaseProgram(program));
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	EXPECT(f && fputs(text, f) >= 0 && !fclose(f), "cannot write %s", path);
}

static void test_options(void)
{
	char dir[] = "/tmp/gpusim-guest-XXXXXX", path[128], spaced[64], options[256];

	build_and_run("no options", value_source, NULL, 1);
	build_and_run("empty options", value_source, "", 1);
	build_and_run("-D", value_source, "-DVALUE=2", 2);
	build_and_run("-D with a space", value_source, "  -D   VALUE=3  ", 3);
	build_and_run("-D with quotes", value_source, "-D \"VALUE=(2 + 2)\"", 4);
	build_and_run("-D of a function", value_source, "-DF(x)=((x)*5) -DVALUE=F(1)", 5);
	try_build("-D of a string", text_source, "-DTEXT=\\\"five!\\\"");
	try_build("-D of a string in quotes", text_source, "-D 'TEXT=\"five!\"'");
	build_and_run("-cl-std and others", value_source,
	              "-cl-std=CL1.2 -cl-mad-enable -cl-fast-relaxed-math -w -DVALUE=__OPENCL_C_VERSION__", 120);
	EXPECT(mkdtemp(dir), "no temporary directory");
	snprintf(path, sizeof path, "%s/value.h", dir);
	write_file(path, "#define VALUE 8\n");
	snprintf(spaced, sizeof spaced, "%s/with space", dir);
	snprintf(options, sizeof options, "-I %s", dir);
	char source[512];
	snprintf(source, sizeof source, "#include \"value.h\"\n%s", value_source);
	build_and_run("-I", source, options, 8);
	EXPECT(!mkdir(spaced, 0700), "cannot make %s", spaced);
	unlink(path);
	snprintf(path, sizeof path, "%s/value.h", spaced);
	write_file(path, "#define VALUE 9\n");
	snprintf(options, sizeof options, "-I \"%s\"", spaced);
	try_build("-I with a space", source, options);
	unlink(path);
	rmdir(spaced);
	rmdir(dir);
}

/* The driver may release a kernel a moment after its launch has completed. */
static cl_uint settled_references(cl_program program)
{
	enum { MOST_MS = 2000 };
	cl_uint references = 0;
	for (int i = 0; i < MOST_MS && references != 1; i++) {
		if (i)
			usleep(1000);
		OK(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL));
	}
	return references;
}

static void test_rebuild(void)
{
	cl_program program = guest_program(&g, value_source);
	char options[64];

	for (int value = 10; value < 13; value++) {
		snprintf(options, sizeof options, "-DVALUE=%d", value);
		OK(clBuildProgram(program, 1, &g.device, options, NULL, NULL));
		int got = run(program, "put");
		EXPECT(got == value, "rebuilt with %d: %d", value, got);
		OK(clGetProgramBuildInfo(program, g.device, CL_PROGRAM_BUILD_OPTIONS, sizeof options, options, NULL));
		printf("rebuilt: %d, '%s', %u references\n", got, options, settled_references(program));
	}
	/* a kernel holds its program: no rebuilding while it lives */
	cl_kernel kernel = guest_kernel(program, "put");
	printf("rebuilt under a kernel: %d\n", clBuildProgram(program, 1, &g.device, "-DVALUE=20", NULL, NULL));
	OK(clReleaseKernel(kernel));
	OK(clBuildProgram(program, 1, &g.device, "-DVALUE=21", NULL, NULL));
	printf("rebuilt after it: %d\n", run(program, "put"));
	OK(clReleaseProgram(program));
}

struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int called, value;
	cl_program program;
};

static void CL_CALLBACK built(cl_program program, void *data)
{
	struct waiting *w = data;

	pthread_mutex_lock(&w->lock);
	w->program = program;
	w->value = run(program, "put");
	w->called++;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void test_callback(void)
{
	struct waiting w = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	cl_program program = guest_program(&g, value_source);

	OK(clBuildProgram(program, 1, &g.device, "-DVALUE=30", built, &w));
	pthread_mutex_lock(&w.lock);
	while (!w.called)
		pthread_cond_wait(&w.changed, &w.lock);
	pthread_mutex_unlock(&w.lock);
	EXPECT(w.program == program, "the callback got another program");
	printf("callback: %d, called %d\n", w.value, w.called);
	OK(clReleaseProgram(program));
}

static void test_devices(void)
{
	cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_device_id parts[8];
	cl_uint count = 0;
	cl_int err = clCreateSubDevices(g.device, equally, 8, parts, &count);

	if (err || count < 2) {
		puts("no sub-devices");
		return;
	}
	cl_context context = clCreateContext(NULL, 2, parts, NULL, NULL, &err);
	CREATED(err);
	const char *text = value_source;
	cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
	CREATED(err);
	OK(clBuildProgram(program, 2, parts, "-DVALUE=40", NULL, NULL));
	cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof result, NULL, &err);
	CREATED(err);
	cl_kernel kernel = guest_kernel(program, "put");
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	for (int i = 0; i < 2; i++) {
		cl_command_queue queue = clCreateCommandQueue(context, parts[i], 0, &err);
		CREATED(err);
		size_t global = COUNT;
		OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
		OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
		printf("sub-device %d: %d\n", i, result[COUNT - 1]);
		OK(clReleaseCommandQueue(queue));
	}
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(mem));
	OK(clReleaseProgram(program));
	OK(clReleaseContext(context));
	for (cl_uint i = 0; i < count; i++)
		OK(clReleaseDevice(parts[i]));
}

static void print_type(cl_program program, const char *what)
{
	cl_program_binary_type type = 0;
	cl_build_status status = 0;

	OK(clGetProgramBuildInfo(program, g.device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
	OK(clGetProgramBuildInfo(program, g.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
	printf("%s: type %u, status %d\n", what, type, status);
}

/* main.cl uses two headers and a function of another program, which becomes a library first. */
static void test_compile_and_link(void)
{
	cl_program headers[2] = {
		guest_program(&g, "int helper(int x);\n#define BASE 500\n"),
		guest_program(&g, "#define SCALE(x) ((x) * 2)\n"),
	};
	const char *names[2] = {"helper.h", "inc/scale.h"};
	cl_program parts[2] = {
		guest_program(&g, "#include \"helper.h\"\n#include <inc/scale.h>\n"
		                  "__kernel void put(__global int *out)\n"
		                  "{\n"
		                  "	out[get_global_id(0)] = helper((int)get_global_id(0)) + SCALE(EXTRA);\n"
		                  "}\n"),
		guest_program(&g, "#include \"helper.h\"\nint helper(int x) { return x + BASE; }\n"
		                  "__kernel void second(__global int *out)\n"
		                  "{\n"
		                  "	out[get_global_id(0)] = helper((int)get_global_id(0));\n"
		                  "}\n"),
	};
	cl_int err;

	OK(clCompileProgram(parts[0], 1, &g.device, "-DEXTRA=7", 2, headers, names, NULL, NULL));
	print_type(parts[0], "compiled");
	OK(clCompileProgram(parts[1], 0, NULL, NULL, 1, headers, names, NULL, NULL));
	cl_program library = clLinkProgram(g.context, 1, &g.device, "-create-library", 1, &parts[1], NULL, NULL, &err);
	printf("library: %d\n", err);
	CREATED(err);
	print_type(library, "library");
	cl_program both[2] = {parts[0], library};
	cl_program linked = clLinkProgram(g.context, 1, &g.device, NULL, 2, both, NULL, NULL, &err);
	CREATED(err);
	print_type(linked, "linked");
	for (int i = 0; i < 2; i++) {
		OK(clReleaseProgram(headers[i]));
		OK(clReleaseProgram(both[i]));
	}
	printf("linked with a library: %d\n", run(linked, "put"));
	EXPECT(result[0] == 514, "linked: %d", result[0]);
	printf("the library's kernel: %d\n", run(linked, "second"));
	OK(clReleaseProgram(linked));
	OK(clReleaseProgram(parts[1]));
}

static void test_one_linked(void)
{
	cl_program part = guest_program(&g, value_source);
	cl_int err;

	OK(clCompileProgram(part, 1, &g.device, "-DVALUE=60", 0, NULL, NULL, NULL, NULL));
	cl_program linked = clLinkProgram(g.context, 1, &g.device, "", 1, &part, NULL, NULL, &err);
	CREATED(err);
	printf("compiled and linked alone: %d\n", run(linked, "put"));
	OK(clReleaseProgram(part));
	OK(clReleaseProgram(linked));
}

/* The driver names its temporary file in the log. That name is different in every run. */
static void print_log(const char *log)
{
	while (*log) {
		const char *path = strstr(log, "/"), *end = path ? path + strcspn(path, ":, \n") : NULL;
		if (!path) {
			fputs(log, stdout);
			break;
		}
		printf("%.*s<path>", (int)(path - log), log);
		log = end;
	}
	putchar('\n');
}

static void fail_to_build(const char *what, const char *source, const char *options)
{
	cl_program program = guest_program(&g, source);
	static char log[1 << 16];
	cl_build_status status = 1;
	cl_int err = clBuildProgram(program, 1, &g.device, options, NULL, NULL);

	log[0] = 0;
	OK(clGetProgramBuildInfo(program, g.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
	OK(clGetProgramBuildInfo(program, g.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
	printf("%s: error %d, status %d, log:\n", what, err, status);
	print_log(log);
	clCreateKernel(program, "put", &err);
	printf("%s: kernel error %d\n", what, err);
	OK(clReleaseProgram(program));
}

static void test_failures(void)
{
	cl_program program = guest_program(&g, value_source);
	cl_build_status status = 1;
	cl_int err;

	OK(clGetProgramBuildInfo(program, g.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
	clCreateKernel(program, "put", &err);
	printf("never built: status %d, kernel error %d\n", status, err);
	OK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	clCreateKernel(program, "absent", &err);
	printf("no such kernel: %d\n", err);
	clCreateKernel(program, NULL, &err);
	printf("NULL kernel name: %d\n", err);
	OK(clReleaseProgram(program));
	fail_to_build("syntax error", "__kernel void put(__global int *out)\n{\n	out[0] = 1 +;\n}\n", NULL);
	fail_to_build("undeclared name", "#line 70 \"user.cl\"\n__kernel void put(__global int *out) { *out = no; }\n", "");
	fail_to_build("bad option", value_source, "-no-such-option");
	fail_to_build("missing include", "#include \"absent.h\"\n", "-I /nonexistent");
	fail_to_build("#error", "#error asked for\n", "-DX");
	/* a failed build does not spoil the program for the next one */
	program = guest_program(&g, value_source);
	err = clBuildProgram(program, 1, &g.device, "-DVALUE=)", NULL, NULL);
	OK(clBuildProgram(program, 1, &g.device, "-DVALUE=80", NULL, NULL));
	printf("built after failure %d: %d\n", err, run(program, "put"));
	OK(clReleaseProgram(program));
}

static void test_info(void)
{
	cl_program program = guest_build(&g, value_source, "-DVALUE=90");
	cl_context context;
	cl_device_id device;
	size_t kernels, size;
	char names[64], text[sizeof value_source];

	OK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size));
	EXPECT(size == sizeof value_source && !memcmp(text, value_source, size), "the source is not what was given");
	OK(clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL));
	OK(clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof device, &device, NULL));
	EXPECT(context == g.context && device == g.device, "another context or device");
	OK(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL));
	OK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL));
	printf("info: %zu kernels: %s\n", kernels, names);
	print_type(program, "built");
	printf("clUnloadPlatformCompiler: %d\n", clUnloadPlatformCompiler(g.platform));
	printf("after it: %d\n", run(program, "put"));
	OK(clReleaseProgram(program));
	build_and_run("built after it", value_source, "-DVALUE=91", 91);
}

int main(void)
{
	guest_open(&g);
	out = guest_buffer(&g, sizeof result, NULL);
	test_strings();
	test_options();
	test_rebuild();
	test_callback();
	test_devices();
	test_compile_and_link();
	test_one_linked();
	test_failures();
	test_info();
	OK(clReleaseMemObject(out));
	guest_close(&g);
	puts("build done");
	return 0;
}
