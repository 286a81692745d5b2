/*
 * killed - launches a kernel, prints "ready" when it has finished, then waits to be killed.
 *
 *   killed [seconds to wait, default 30]
 */
#include "guest.h"

static const char source[] =
	"__kernel void fill(__global int *out)\n"
	"{\n"
	"	out[get_global_id(0)] = (int)get_global_id(0) * 3;\n"
	"}\n";

int main(int argc, char **argv)
{
	enum { COUNT = 1024 };
	struct guest g;
	int out[COUNT];

	guest_open(&g);
	cl_kernel kernel = guest_kernel(guest_build(&g, source, NULL), "fill");
	cl_mem mem = guest_buffer(&g, sizeof out, NULL);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	for (int i = 0; i < 3; i++)
		guest_launch(&g, kernel, COUNT);
	OK(clFinish(g.queue));
	guest_read(&g, mem, out, sizeof out);
	EXPECT(out[COUNT - 1] == (COUNT - 1) * 3, "wrong result %d", out[COUNT - 1]);
	puts("ready");
	fflush(stdout);
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 30);
	return 0;
}
