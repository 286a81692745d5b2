/*
 * binary - programs made from binaries that were read from other programs.
 *
 *   binary              reads a binary and uses it in the same process
 *   binary save FILE    builds from source, runs, and leaves the binary in a file
 *   binary load FILE    makes the program from that file
 */
#include "guest.h"

enum { COUNT = 256 };

static const char source[] =
	"int twice(int x) { return 2 * x; }\n"
	"__kernel void first(__global int *out) { out[get_global_id(0)] = twice((int)get_global_id(0)) + ADD; }\n"
	"__kernel void second(__global int *out, int value) { out[get_global_id(0)] += value; }\n";

struct binary {
	size_t size;
	unsigned char *bytes;
};

static struct guest g;

static void run(cl_program program, const char *what)
{
	cl_int out[COUNT], value = 1000;
	cl_kernel first = guest_kernel(program, "first"), second = guest_kernel(program, "second");
	cl_mem mem = guest_buffer(&g, sizeof out, NULL);

	OK(clSetKernelArg(first, 0, sizeof mem, &mem));
	OK(clSetKernelArg(second, 0, sizeof mem, &mem));
	OK(clSetKernelArg(second, 1, sizeof value, &value));
	guest_launch(&g, first, COUNT);
	guest_launch(&g, second, COUNT);
	guest_read(&g, mem, out, sizeof out);
	for (int i = 0; i < COUNT; i++)
		EXPECT(out[i] == 2 * i + 5 + value, "%s: element %d is %d", what, i, out[i]);
	printf("%s: %08x\n", what, guest_sum(out, sizeof out));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(first));
	OK(clReleaseKernel(second));
}

static struct binary read_binary(cl_program program)
{
	struct binary b = {0};

	OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof b.size, &b.size, NULL));
	EXPECT(b.size > 0, "the binary has no bytes");
	b.bytes = malloc(b.size);
	OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof b.bytes, &b.bytes, NULL));
	return b;
}

static void use_binary(struct binary b, const char *what)
{
	cl_int err, status = 1;
	const unsigned char *bytes = b.bytes;
	cl_program program = clCreateProgramWithBinary(g.context, 1, &g.device, &b.size, &bytes, &status, &err);

	EXPECT(!err && !status, "%s: clCreateProgramWithBinary gave %d, status %d", what, err, status);
	OK(clBuildProgram(program, 1, &g.device, NULL, NULL, NULL));
	run(program, what);
	/* a binary of a program that was made from a binary */
	struct binary again = read_binary(program);
	OK(clReleaseProgram(program));
	bytes = again.bytes;
	program = clCreateProgramWithBinary(g.context, 1, &g.device, &again.size, &bytes, &status, &err);
	EXPECT(!err && !status, "%s: the second binary gave %d, status %d", what, err, status);
	OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
	run(program, "binary of a binary");
	OK(clReleaseProgram(program));
	free(again.bytes);
}

static void use_junk(void)
{
	const unsigned char junk[] = "this is not a binary", *bytes = junk;
	size_t size = sizeof junk;
	cl_int err = 1, status = 1;
	cl_program program = clCreateProgramWithBinary(g.context, 1, &g.device, &size, &bytes, &status, &err);

	printf("junk: %s, error %d, status %d\n", program ? "a program" : "no program", err, status);
	if (program)
		clReleaseProgram(program);
}

static void save(const char *path, struct binary b)
{
	FILE *f = fopen(path, "wb");

	EXPECT(f && fwrite(b.bytes, 1, b.size, f) == b.size && !fclose(f), "cannot write %s", path);
}

static struct binary load(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct binary b;

	EXPECT(f && !fseek(f, 0, SEEK_END), "cannot read %s", path);
	b.size = (size_t)ftell(f);
	rewind(f);
	b.bytes = malloc(b.size);
	EXPECT(fread(b.bytes, 1, b.size, f) == b.size, "cannot read %s", path);
	fclose(f);
	return b;
}

int main(int argc, char **argv)
{
	int saving = argc == 3 && !strcmp(argv[1], "save"), loading = argc == 3 && !strcmp(argv[1], "load");
	struct binary b;

	EXPECT(argc == 1 || saving || loading, "usage: binary [save FILE|load FILE]");
	guest_open(&g);
	if (loading) {
		b = load(argv[2]);
		use_binary(b, "loaded");
	} else {
		cl_program program = guest_build(&g, source, "-DADD=5");
		run(program, "source");
		b = read_binary(program);
		OK(clReleaseProgram(program));
		if (saving)
			save(argv[2], b);
		else
			use_binary(b, "binary");
	}
	use_junk();
	free(b.bytes);
	guest_close(&g);
	return 0;
}
