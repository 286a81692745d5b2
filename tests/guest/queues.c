/*
 * queues - out-of-order queues with wait lists and user events, markers and barriers, several contexts and queues, event
 * callbacks and profiling. It checks the order of commands, and what events report about themselves.
 */
#include "guest.h"

#include <pthread.h>

enum { COUNT = 1024 };

static const char source[] =
	"__kernel void mul_add(__global uint *out, uint mul, uint add)\n"
	"{\n"
	"	size_t i = get_global_id(0);\n"
	"	out[i] = out[i] * mul + add;\n"
	"}\n";

static struct guest g;
static cl_program program;

static cl_command_queue create_queue(cl_context context, cl_command_queue_properties properties)
{
	cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
	cl_int err;
	cl_command_queue queue = clCreateCommandQueueWithProperties(context, g.device, list, &err);

	CREATED(err);
	return queue;
}

static cl_event step(cl_command_queue queue, cl_kernel kernel, cl_mem mem, cl_uint mul, cl_uint add, cl_uint waits,
                     const cl_event *wait)
{
	size_t global = COUNT, local = 64;
	cl_event event;

	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	OK(clSetKernelArg(kernel, 1, sizeof mul, &mul));
	OK(clSetKernelArg(kernel, 2, sizeof add, &add));
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, waits, wait, &event));
	return event;
}

static cl_uint value_of(cl_command_queue queue, cl_mem mem)
{
	cl_uint all[COUNT];

	OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof all, all, 0, NULL, NULL));
	for (int i = 1; i < COUNT; i++)
		EXPECT(all[i] == all[0], "element %d is %u, element 0 is %u", i, all[i], all[0]);
	return all[0];
}

static cl_mem zeroes(const struct guest *of)
{
	static const cl_uint zero[COUNT];

	return guest_buffer(of, sizeof zero, zero);
}

static cl_int status_of(cl_event event)
{
	cl_int status = -1;

	OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
	return status;
}

/*
 * Out-of-order commands. Only events order them, and a user event holds them back. Multiplications and additions do not commute,
 * so any other order gives another number.
 */
static void test_chain(void)
{
	enum { STEPS = 100 };
	cl_command_queue queue = create_queue(g.context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_kernel kernel = guest_kernel(program, "mul_add");
	cl_mem mem = zeroes(&g);
	cl_int err;
	cl_event gate = clCreateUserEvent(g.context, &err), events[STEPS];
	cl_uint want = 0;

	CREATED(err);
	for (cl_uint i = 0; i < STEPS; i++) {
		events[i] = step(queue, kernel, mem, 3, i + 1, 1, i ? &events[i - 1] : &gate);
		want = want * 3 + i + 1;
	}
	OK(clFlush(queue));
	usleep(20000);
	for (int i = 0; i < STEPS; i++)
		EXPECT(status_of(events[i]) > CL_COMPLETE, "step %d ran before the user event", i);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clWaitForEvents(STEPS, events));
	for (int i = 0; i < STEPS; i++) {
		EXPECT(status_of(events[i]) == CL_COMPLETE, "step %d has status %d", i, status_of(events[i]));
		OK(clReleaseEvent(events[i]));
	}
	EXPECT(value_of(queue, mem) == want, "chain: %08x, not %08x", value_of(queue, mem), want);
	printf("chain %08x\n", want);
	OK(clReleaseEvent(gate));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseCommandQueue(queue));
}

/* Two branches that only a marker or a barrier joins. */
static void test_join(const char *name, int with_barrier)
{
	cl_command_queue queue = create_queue(g.context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_kernel kernel = guest_kernel(program, "mul_add");
	cl_mem a = zeroes(&g), b = zeroes(&g), both = guest_buffer(&g, 2 * COUNT * 4, NULL);
	cl_event branch[2], joined, copies[2];
	cl_uint sum[2];

	branch[0] = step(queue, kernel, a, 1, 7, 0, NULL);
	branch[1] = step(queue, kernel, b, 1, 8, 0, NULL);
	if (with_barrier)
		OK(clEnqueueBarrierWithWaitList(queue, 0, NULL, &joined));
	else
		OK(clEnqueueMarkerWithWaitList(queue, 2, branch, &joined));
	OK(clEnqueueCopyBuffer(queue, a, both, 0, 0, COUNT * 4, 1, &joined, &copies[0]));
	OK(clEnqueueCopyBuffer(queue, b, both, 0, COUNT * 4, COUNT * 4, 1, &joined, &copies[1]));
	OK(clEnqueueReadBuffer(queue, both, CL_FALSE, COUNT * 4 - 4, 8, sum, 2, copies, NULL));
	OK(clFinish(queue));
	printf("%s: %u %u\n", name, sum[0], sum[1]);
	EXPECT(sum[0] == 7 && sum[1] == 8, "%s: %u %u", name, sum[0], sum[1]);
	for (int i = 0; i < 2; i++) {
		OK(clReleaseEvent(branch[i]));
		OK(clReleaseEvent(copies[i]));
	}
	OK(clReleaseEvent(joined));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseMemObject(both));
	OK(clReleaseKernel(kernel));
	OK(clReleaseCommandQueue(queue));
}

/* Three in-order queues take turns on one buffer. */
static void test_turns(void)
{
	cl_command_queue queues[3];
	cl_kernel kernel = guest_kernel(program, "mul_add");
	cl_mem mem = zeroes(&g);
	cl_event last = NULL;
	cl_uint want = 0;

	for (int i = 0; i < 3; i++)
		queues[i] = create_queue(g.context, 0);
	for (cl_uint i = 0; i < 30; i++) {
		cl_event next = step(queues[i % 3], kernel, mem, 5, i, last ? 1 : 0, last ? &last : NULL);
		OK(clFlush(queues[i % 3]));
		if (last)
			OK(clReleaseEvent(last));
		last = next;
		want = want * 5 + i;
	}
	OK(clWaitForEvents(1, &last));
	OK(clReleaseEvent(last));
	EXPECT(value_of(queues[0], mem) == want, "turns: %08x", value_of(queues[0], mem));
	printf("turns %08x\n", want);
	for (int i = 0; i < 3; i++)
		OK(clReleaseCommandQueue(queues[i]));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
}

static void test_contexts(void)
{
	struct guest many[3];
	cl_program programs[3];
	cl_kernel kernels[3];
	cl_mem mems[3];

	for (cl_uint i = 0; i < 3; i++) {
		guest_open(&many[i]);
		programs[i] = guest_build(&many[i], source, NULL);
		kernels[i] = guest_kernel(programs[i], "mul_add");
		mems[i] = zeroes(&many[i]);
	}
	for (cl_uint round = 0; round < 4; round++)
		for (cl_uint i = 0; i < 3; i++)
			OK(clReleaseEvent(step(many[i].queue, kernels[i], mems[i], 2 + i, round + 1, 0, NULL)));
	for (int i = 0; i < 3; i++) {
		printf("context %d: %u\n", i, value_of(many[i].queue, mems[i]));
		OK(clReleaseMemObject(mems[i]));
		OK(clReleaseKernel(kernels[i]));
		OK(clReleaseProgram(programs[i]));
		guest_close(&many[i]);
	}
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int calls, wrong;
} heard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void CL_CALLBACK hear(cl_event event, cl_int status, void *data)
{
	pthread_mutex_lock(&heard.lock);
	heard.calls++;
	heard.wrong += status != CL_COMPLETE || event != *(cl_event *)data;
	pthread_cond_signal(&heard.changed);
	pthread_mutex_unlock(&heard.lock);
}

static void test_callbacks(void)
{
	enum { STEPS = 20 };
	cl_kernel kernel = guest_kernel(program, "mul_add");
	cl_mem mem = zeroes(&g);
	cl_event events[STEPS];

	for (cl_uint i = 0; i < STEPS; i++) {
		events[i] = step(g.queue, kernel, mem, 1, 1, 0, NULL);
		OK(clSetEventCallback(events[i], CL_COMPLETE, hear, &events[i]));
	}
	OK(clFinish(g.queue));
	pthread_mutex_lock(&heard.lock);
	while (heard.calls < STEPS)
		pthread_cond_wait(&heard.changed, &heard.lock);
	pthread_mutex_unlock(&heard.lock);
	printf("callbacks: %d, wrong %d\n", heard.calls, heard.wrong);
	EXPECT(heard.calls == STEPS && !heard.wrong, "callbacks");
	for (int i = 0; i < STEPS; i++)
		OK(clReleaseEvent(events[i]));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
}

/* The driver decides the count, because its queue holds the last event. But the count must be plausible. */
static void check_references(cl_event event)
{
	cl_uint references;

	OK(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL));
	EXPECT(references >= 1 && references <= 4, "%u references to the event", references);
}

static void test_event_info(void)
{
	cl_command_queue queue = create_queue(g.context, CL_QUEUE_PROFILING_ENABLE), of;
	cl_kernel kernel = guest_kernel(program, "mul_add");
	cl_mem mem = zeroes(&g);
	cl_command_type type;
	cl_context context;
	cl_ulong t[4];
	const cl_profiling_info stages[4] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END,
	};

	for (int i = 0; i < 3; i++) {
		cl_event event = step(queue, kernel, mem, 1, 1, 0, NULL);
		OK(clFinish(queue));
		OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
		OK(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, NULL));
		OK(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL));
		check_references(event);
		printf("event: type %x\n", type);
		EXPECT(of == queue && context == g.context, "an event of another queue or context");
		EXPECT(status_of(event) == CL_COMPLETE, "not complete after clFinish");
		for (int s = 0; s < 4; s++)
			OK(clGetEventProfilingInfo(event, stages[s], sizeof t[s], &t[s], NULL));
		EXPECT(t[0] <= t[1] && t[1] <= t[2] && t[2] <= t[3], "profiling: %lu %lu %lu %lu", t[0], t[1], t[2], t[3]);
		OK(clReleaseEvent(event));
	}
	cl_event event = step(g.queue, kernel, mem, 1, 1, 0, NULL);
	OK(clWaitForEvents(1, &event));
	printf("profiling without a profiling queue: %d\n",
	       clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t[3], &t[3], NULL));
	OK(clReleaseEvent(event));
	printf("value %u\n", value_of(queue, mem));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseCommandQueue(queue));
}

/* A command that waits for a failed command never runs, and its event says why. */
static void test_failed_wait(void)
{
	cl_command_queue queue = create_queue(g.context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_kernel kernel = guest_kernel(program, "mul_add");
	cl_mem mem = zeroes(&g);
	cl_int err;
	cl_event gate = clCreateUserEvent(g.context, &err);

	CREATED(err);
	cl_event event = step(queue, kernel, mem, 1, 5, 1, &gate);
	OK(clSetUserEventStatus(gate, -1000));
	err = clWaitForEvents(1, &event);
	printf("failed wait: %d, status %s\n", err, status_of(event) < 0 ? "negative" : "not negative");
	printf("value %u\n", value_of(g.queue, mem));
	OK(clReleaseEvent(event));
	OK(clReleaseEvent(gate));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseCommandQueue(queue));
}

static void test_errors(void)
{
	cl_kernel kernel = guest_kernel(program, "mul_add");
	cl_mem mem = zeroes(&g);
	size_t global = COUNT;
	cl_event event = step(g.queue, kernel, mem, 1, 1, 0, NULL);

	printf("wait list without a count: %d\n",
	       clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &global, NULL, 0, &event, NULL));
	printf("value %u\n", value_of(g.queue, mem));
	OK(clReleaseEvent(event));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
}

int main(void)
{
	guest_open(&g);
	program = guest_build(&g, source, NULL);
	test_chain();
	test_join("marker", 0);
	test_join("barrier", 1);
	test_turns();
	test_contexts();
	test_callbacks();
	test_event_info();
	test_failed_wait();
	test_errors();
	OK(clReleaseProgram(program));
	guest_close(&g);
	puts("queues done");
	return 0;
}
