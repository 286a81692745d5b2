/*
 * untouchable - kernels that the driver accepts and that other compilers refuse for good reasons. They must run unchanged and
 * give the right result.
 */
#include "guest.h"

enum { COUNT = 200 };

/* This is an error since clang 16. It is a warning in clang 15, which POCL 3.1 and others use. */
static const char implicit_int[] =
	"static twice(int x) { return 2 * x; }\n"
	"__kernel void run(__global int *out) { out[get_global_id(0)] = twice((int)get_global_id(0)) + 5; }\n";

/* Registers that only the host's processor has. */
static const char assembler[] =
	"__kernel void run(__global int *out)\n"
	"{\n"
	"	int x = (int)get_global_id(0), y;\n"
	"	__asm__(\"leal 5(%1,%1), %0\" : \"=a\"(y) : \"d\"(x));\n"
	"	out[get_global_id(0)] = y;\n"
	"}\n";

static const char builtin[] =
	"__kernel void run(__global int *out)\n"
	"{\n"
	"	__builtin_ia32_pause();\n"
	"	out[get_global_id(0)] = 2 * (int)get_global_id(0) + 5;\n"
	"}\n";

static struct guest g;

static void run(const char *name, const char *source)
{
	cl_program program = guest_program(&g, source);
	cl_int out[COUNT], err = clBuildProgram(program, 1, &g.device, NULL, NULL, NULL);

	if (err) {
		printf("%s: refused (%d)\n", name, err);
		OK(clReleaseProgram(program));
		return;
	}
	cl_kernel kernel = guest_kernel(program, "run");
	cl_mem mem = guest_buffer(&g, sizeof out, NULL);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	guest_launch(&g, kernel, COUNT);
	guest_read(&g, mem, out, sizeof out);
	for (int i = 0; i < COUNT; i++)
		EXPECT(out[i] == 2 * i + 5, "%s: element %d is %d", name, i, out[i]);
	printf("%s: right\n", name);
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
}

int main(void)
{
	guest_open(&g);
	run("implicit int", implicit_int);
	run("assembler", assembler);
	run("builtin of the processor", builtin);
	guest_close(&g);
	return 0;
}
