/*
 * crowded - many kernels, each launched once, all of them held up by one user event until the last is enqueued. A library that counts what they
 * do has the counters of all of them in flight at the same time.
 */
#include "guest.h"

enum { KERNELS = 12, ITEMS = 1 << 20, LOCAL = 256 };

static struct guest g;
static cl_uint data[ITEMS];

/* Kernel k adds i % 3 * k times 1, in a loop whose length depends on data. */
static void write_source(char *out, size_t room)
{
	size_t at = 0;
	for (int k = 0; k < KERNELS; k++)
		at += (size_t)snprintf(out + at, room - at,
		                       "__kernel void k%d(__global uint *d) {\n\tsize_t i = get_global_id(0);\n\tuint x = d[i];\n"
		                       "\tfor (uint n = 0; n < i %% 3 * %d; n++)\n\t\tx += (x | 1) & 1;\n\td[i] = x;\n}\n", k, k);
}

int main(void)
{
	static char source[8192];
	const size_t global = ITEMS, local = LOCAL;
	cl_kernel kernels[KERNELS];
	cl_int err;
	guest_open(&g);
	write_source(source, sizeof source);
	cl_program program = guest_build(&g, source, "");
	cl_mem mem = guest_buffer(&g, sizeof data, data);
	cl_event gate = clCreateUserEvent(g.context, &err);
	CREATED(err);
	for (int k = 0; k < KERNELS; k++) {
		char name[8];
		snprintf(name, sizeof name, "k%d", k);
		kernels[k] = guest_kernel(program, name);
		OK(clSetKernelArg(kernels[k], 0, sizeof mem, &mem));
		OK(clEnqueueNDRangeKernel(g.queue, kernels[k], 1, NULL, &global, &local, !k, k ? NULL : &gate, NULL));
	}
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	guest_read(&g, mem, data, sizeof data);
	for (cl_uint i = 0; i < ITEMS; i++)
		EXPECT(data[i] == i % 3 * KERNELS * (KERNELS - 1) / 2, "wrong results");
	puts("right");
	for (int k = 0; k < KERNELS; k++)
		clReleaseKernel(kernels[k]);
	clReleaseEvent(gate);
	clReleaseMemObject(mem);
	clReleaseProgram(program);
	guest_close(&g);
	return 0;
}
