/*
 * overlap - launches of two queues, and of an out-of-order queue, with and without events that order them. It checks the results. With the
 * argument `times`, it also checks by profiling which of them ran beside each other, for a device that can do so.
 */
#include "guest.h"

#include <stdbool.h>

enum { COUNT = 64, STEPS = 100000, BUFFERS = 4 };

static const char source[] =
	"__kernel void spin(__global uint *v, int n)\n"
	"{\n"
	"	uint x = v[get_global_id(0)];\n"
	"	for (int i = 0; i < n; i++)\n"
	"		x = x * 1664525u + 1013904223u;\n"
	"	v[get_global_id(0)] = x;\n"
	"}\n";

static struct guest g;
static cl_kernel kernel;
static cl_mem memory[BUFFERS];
static int launches[BUFFERS];
static bool times;

struct span {
	cl_ulong start, end;
};

static cl_command_queue create_queue(cl_command_queue_properties properties)
{
	cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties | CL_QUEUE_PROFILING_ENABLE, 0};
	cl_int err;
	cl_command_queue queue = clCreateCommandQueueWithProperties(g.context, g.device, list, &err);
	CREATED(err);
	return queue;
}

static cl_event launch(cl_command_queue queue, int which, cl_uint waits, const cl_event *wait)
{
	size_t global = COUNT;
	int steps = STEPS;
	cl_event event;
	OK(clSetKernelArg(kernel, 0, sizeof memory[which], &memory[which]));
	OK(clSetKernelArg(kernel, 1, sizeof steps, &steps));
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &global, waits, wait, &event));
	launches[which]++;
	return event;
}

static struct span span_of(cl_event event)
{
	struct span s;
	OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof s.start, &s.start, NULL));
	OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof s.end, &s.end, NULL));
	EXPECT(s.end > s.start, "a launch took no time");
	return s;
}

static bool are_beside(cl_event first, cl_event second)
{
	struct span a = span_of(first), b = span_of(second);
	return b.start < a.end && a.start < b.end;
}

/* Whether launches ran beside each other that nothing orders. What else the machine does may have made the second too late. */
static void expect_beside(bool (*test)(void))
{
	enum { TRIES = 20 };
	for (int i = 0; i < (times ? TRIES : 1); i++)
		if (test())
			return;
	EXPECT(!times, "launches that nothing orders did not run at the same time");
}

static void expect_after(const char *what, cl_event first, cl_event second)
{
	struct span a = span_of(first), b = span_of(second);
	EXPECT(b.start >= a.end, "%s did not wait", what);
}

static bool test_two_queues(void)
{
	cl_command_queue a = create_queue(0), b = create_queue(0);
	cl_event first = launch(a, 0, 0, NULL), second = launch(b, 1, 0, NULL), third = launch(a, 0, 0, NULL), fourth = launch(b, 1, 1, &third);
	OK(clFlush(a));
	OK(clFinish(b));
	OK(clFinish(a));
	expect_after("a launch of the same queue", first, third);
	expect_after("a launch with an event of another queue", third, fourth);
	return are_beside(first, second);
}

static bool test_unordered_queue(void)
{
	cl_command_queue q = create_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event first = launch(q, 0, 0, NULL), second = launch(q, 1, 0, NULL), third = launch(q, 0, 1, &first), barrier;
	OK(clEnqueueBarrierWithWaitList(q, 0, NULL, &barrier));
	cl_event fourth = launch(q, 2, 0, NULL), fifth = launch(q, 3, 0, NULL);
	OK(clFinish(q));
	expect_after("a launch with an event", first, third);
	expect_after("a launch after a barrier", third, fourth);
	return are_beside(first, second) && are_beside(fourth, fifth);
}

static void check_results(void)
{
	cl_uint all[COUNT];
	for (int b = 0; b < BUFFERS; b++) {
		cl_uint x = 0;
		for (int k = 0; k < launches[b] * STEPS; k++)
			x = x * 1664525u + 1013904223u;
		OK(clEnqueueReadBuffer(g.queue, memory[b], CL_TRUE, 0, sizeof all, all, 0, NULL, NULL));
		for (int i = 0; i < COUNT; i++)
			EXPECT(all[i] == x, "element %d of buffer %d is %u, not %u", i, b, all[i], x);
	}
}

int main(int argc, char **argv)
{
	static const cl_uint zeroes[COUNT];
	times = argc > 1 && !strcmp(argv[1], "times");
	guest_open(&g);
	kernel = guest_kernel(guest_build(&g, source, NULL), "spin");
	for (int i = 0; i < BUFFERS; i++)
		memory[i] = guest_buffer(&g, sizeof zeroes, zeroes);
	expect_beside(test_two_queues);
	expect_beside(test_unordered_queue);
	check_results();
	puts("overlap: ok");
	return 0;
}
