/*
 * many - many launches of a tiny kernel, without waiting between them.
 *
 *   many [launches, default 20000 [work-items of one more, default none]]
 */
#include "guest.h"

/* The kernel adds its argument. A lost, repeated or confused launch changes the sum. */
static const char source[] =
	"__kernel void add(__global uint *out, uint value)\n"
	"{\n"
	"	out[get_global_id(0)] += value;\n"
	"}\n";

int main(int argc, char **argv)
{
	enum { COUNT = 64 };
	cl_uint launches = argc > 1 ? (cl_uint)atoi(argv[1]) : 20000, want = 0;
	size_t global = COUNT, local = 32, last = argc > 2 ? (size_t)atoi(argv[2]) : 0, size = (last > COUNT ? last : COUNT) * sizeof(cl_uint);
	cl_uint *out = calloc(1, size);
	struct guest g;

	guest_open(&g);
	cl_program program = guest_build(&g, source, NULL);
	cl_kernel kernel = guest_kernel(program, "add");
	cl_mem mem = guest_buffer(&g, size, out);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	for (cl_uint i = 0; i < launches; i++) {
		cl_uint value = i * 2654435761u;
		OK(clSetKernelArg(kernel, 1, sizeof value, &value));
		OK(clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
		want += value;
	}
	if (last) {
		OK(clSetKernelArg(kernel, 1, sizeof launches, &launches));
		OK(clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &last, &local, 0, NULL, NULL));
		want += launches;
	}
	guest_read(&g, mem, out, size);
	for (int i = 0; i < COUNT; i++)
		EXPECT(out[i] == want, "element %d is %u, not %u", i, out[i], want);
	free(out);
	printf("%u launches, %08x\n", launches, want);
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	guest_close(&g);
	return 0;
}
