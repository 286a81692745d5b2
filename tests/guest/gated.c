/*
 * gated - three launches, of which a user event holds up the first two, and commands before it.
 *   gated released: a second thread completes the event while the third launch is enqueued
 *   gated held:     the thread that enqueues them completes it afterwards
 *   gated free:     there is no such event
 * It tests a library that has memory for two of them and may wait for more: in the first case it gets some, in the second it never would.
 */
#include "guest.h"

#include <pthread.h>
#include <stdbool.h>

static const char source[] =
	"__kernel void mul_add(__global uint *data, uint add)\n"
	"{\n"
	"	size_t i = get_global_id(0);\n"
	"	uint x = data[i];\n"
	"	for (uint n = 0; n < 4; n++)\n"
	"		x = x * 3 + data[i] + add;\n"
	"	data[i] = x;\n"
	"}\n";

enum { N = 1024, LOCAL = 64, LAUNCHES = 3, LATE_US = 100000 };

static struct guest g;
static cl_uint data[N], expected[N];

static void in_c(cl_uint add)
{
	for (int i = 0; i < N; i++) {
		cl_uint x = expected[i];
		for (int n = 0; n < 4; n++)
			x = x * 3 + expected[i] + add;
		expected[i] = x;
	}
}

/* Late enough that the third launch is under way, if it waits. If it is not, it gets memory at once: then this tests less, and fails not. */
static void *open_gate(void *gate)
{
	usleep(LATE_US);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	return NULL;
}

int main(int argc, char **argv)
{
	EXPECT(argc == 2, "usage: gated released|held|free");
	bool released = !strcmp(argv[1], "released"), held = !strcmp(argv[1], "held");
	size_t global = N, local = LOCAL;
	cl_int err;
	guest_open(&g);
	cl_program program = guest_build(&g, source, "");
	cl_kernel kernel = guest_kernel(program, "mul_add");
	for (int i = 0; i < N; i++)
		data[i] = expected[i] = (cl_uint)i;
	cl_mem mem = guest_buffer(&g, sizeof data, data);
	cl_event gate = clCreateUserEvent(g.context, &err);
	CREATED(err);
	pthread_t thread;
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	for (cl_uint i = 0; i < LAUNCHES; i++) {
		bool gated = (released || held) && !i;
		OK(clSetKernelArg(kernel, 1, sizeof i, &i));
		if (released && i == LAUNCHES - 1)
			EXPECT(!pthread_create(&thread, NULL, open_gate, gate), "no thread");
		OK(clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &global, &local, gated, gated ? &gate : NULL, NULL));
		in_c(i);
	}
	if (released)
		EXPECT(!pthread_join(thread, NULL), "no end of the thread");
	else
		OK(clSetUserEventStatus(gate, CL_COMPLETE));
	guest_read(&g, mem, data, sizeof data);
	EXPECT(!memcmp(data, expected, sizeof data), "wrong results");
	puts("right");
	clReleaseEvent(gate);
	clReleaseMemObject(mem);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	guest_close(&g);
	return 0;
}
