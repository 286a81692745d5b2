/*
 * boxes - launches of many work-groups whose kernels read everything about themselves: ids, sizes, offsets. This shows whether a
 * launch was run in parts. The queues are in order and out of order, with wait lists, events, profiling, atomics, local memory,
 * and eight threads at once.
 *
 *   boxes [launches per thread, default 20]
 */
#include "guest.h"

#include <pthread.h>

enum { FIELDS = 21, THREADS = 8, TALLY = 64, MAX_ITEMS = 32768, MAX_GROUPS = MAX_ITEMS / 8 };

static const char source[] =
	"__kernel void ids(__global uint *out)\n"
	"{\n"
	"	size_t at = 0;\n"
	"	for (int d = 2; d >= 0; d--)\n"
	"		at = at * get_global_size(d) + get_global_id(d) - get_global_offset(d);\n"
	"	out += at * 21;\n"
	"	for (int d = 0; d < 3; d++) {\n"
	"		out[d] = get_global_id(d);\n"
	"		out[3 + d] = get_local_id(d);\n"
	"		out[6 + d] = get_group_id(d);\n"
	"		out[9 + d] = get_global_size(d);\n"
	"		out[12 + d] = get_num_groups(d);\n"
	"		out[15 + d] = get_global_offset(d);\n"
	"	}\n"
	"	out[18] = get_work_dim();\n"
	"	out[19] += 1;\n"
	"	out[20] = get_num_groups(3) + 2 * get_global_size(4) + 4 * get_group_id(5) + 8 * get_global_offset(6);\n"
	"}\n"
	"\n"
	"__kernel void tiles(__global uint *sums, __local uint *tile, uint factor)\n"
	"{\n"
	"	uint l = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);\n"
	"	uint n = get_local_size(0) * get_local_size(1) * get_local_size(2);\n"
	"	uint g = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);\n"
	"	tile[l] = factor * (g + 1) + l;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	for (uint s = n / 2; s > 0; s /= 2) {\n"
	"		if (l < s)\n"
	"			tile[l] += tile[l + s];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	}\n"
	"	if (l == 0)\n"
	"		sums[g] = sums[g] * 3 + tile[0];\n"
	"}\n"
	"\n"
	"__kernel void tally(__global uint *counts)\n"
	"{\n"
	"	atomic_inc(&counts[get_group_id(0) % 64]);\n"
	"	if (get_global_id(0) == get_global_size(0) + get_global_offset(0) - 1)\n"
	"		atomic_add(&counts[0], 1000000);\n"
	"}\n";

static struct guest g;
static cl_program program;
static cl_uint noted[MAX_ITEMS][FIELDS];

static const struct shape {
	const char *name;
	cl_uint dims;
	size_t offset[3], global[3], local[3];
} shapes[] = {
	{"row", 1, {0}, {4096}, {64}},
	{"row with an offset", 1, {100}, {4096}, {32}},
	{"row of small groups", 1, {0}, {1000}, {1}},
	{"few groups", 1, {3}, {96}, {32}},
	{"short rows", 2, {0, 0}, {16, 1024}, {8, 8}},
	{"plane", 2, {0, 0}, {256, 96}, {16, 4}},
	{"plane with an offset", 2, {5, 9}, {128, 128}, {8, 4}},
	{"column", 2, {1, 2}, {8, 2000}, {8, 1}},
	{"space", 3, {0, 0, 0}, {32, 32, 32}, {4, 4, 4}},
	{"space with an offset", 3, {7, 1, 30}, {64, 16, 16}, {2, 4, 8}},
	{"flat space", 3, {0, 0, 0}, {256, 1, 64}, {8, 1, 1}},
};

static cl_command_queue create_queue(cl_command_queue_properties properties)
{
	cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
	cl_int err;
	cl_command_queue queue = clCreateCommandQueueWithProperties(g.context, g.device, list, &err);

	CREATED(err);
	return queue;
}

static size_t groups_of(const struct shape *s)
{
	size_t groups = 1;

	for (cl_uint d = 0; d < s->dims; d++)
		groups *= s->global[d] / s->local[d];
	return groups;
}

/* ---- ids and sizes that work-items see ---- */

static void check_item(const struct shape *s, size_t index)
{
	const cl_uint *n = noted[index];
	size_t rest = index;

	EXPECT(n[19] == 1 && n[18] == s->dims, "%s: item %zu: ran %u times in %u dimensions", s->name, index, n[19], n[18]);
	for (cl_uint d = 0; d < 3; d++) {
		size_t global = d < s->dims ? s->global[d] : 1, local = d < s->dims ? s->local[d] : 1;
		size_t offset = d < s->dims ? s->offset[d] : 0, at = rest % global;
		rest /= global;
		EXPECT(n[d] == at + offset && n[3 + d] == at % local && n[6 + d] == at / local && n[9 + d] == global &&
		       n[12 + d] == global / local && n[15 + d] == offset, "%s: item %zu, dimension %u: %u %u %u %u %u %u", s->name,
		       index, d, n[d], n[3 + d], n[6 + d], n[9 + d], n[12 + d], n[15 + d]);
	}
}

static void test_ids(void)
{
	cl_kernel kernel = guest_kernel(program, "ids");
	cl_uint zero = 0;
	cl_mem out = guest_buffer(&g, sizeof noted, NULL);

	OK(clSetKernelArg(kernel, 0, sizeof out, &out));
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const struct shape *s = &shapes[i];
		size_t items = 1;
		for (cl_uint d = 0; d < s->dims; d++)
			items *= s->global[d];
		OK(clEnqueueFillBuffer(g.queue, out, &zero, sizeof zero, 0, sizeof noted, 0, NULL, NULL));
		OK(clEnqueueNDRangeKernel(g.queue, kernel, s->dims, s->offset, s->global, s->local, 0, NULL, NULL));
		guest_read(&g, out, noted, sizeof noted);
		for (size_t item = 0; item < items; item++)
			check_item(s, item);
		printf("%s: %08x\n", s->name, guest_sum(noted, sizeof noted));
	}
	OK(clReleaseMemObject(out));
	OK(clReleaseKernel(kernel));
}

/* ---- the order of launches ---- */

static cl_uint sums[MAX_GROUPS];

static cl_event launch_tiles(cl_command_queue queue, cl_kernel kernel, const struct shape *s, cl_uint factor, cl_uint waits,
                             const cl_event *wait)
{
	cl_event event;

	OK(clSetKernelArg(kernel, 2, sizeof factor, &factor));
	OK(clEnqueueNDRangeKernel(queue, kernel, s->dims, s->offset, s->global, s->local, waits, wait, &event));
	return event;
}

/* Each sum is the old sum times 3 plus a new value, so another order of the launches gives other sums. */
static void check_sums(const struct shape *s, cl_uint launches)
{
	cl_uint n = 1;

	for (cl_uint d = 0; d < s->dims; d++)
		n *= (cl_uint)s->local[d];
	for (cl_uint group = 0; group < groups_of(s); group++) {
		cl_uint want = 0;
		for (cl_uint i = 1; i <= launches; i++)
			want = want * 3 + n * i * (group + 1) + n * (n - 1) / 2;
		EXPECT(sums[group] == want, "%s: sum of group %u is %u, not %u", s->name, group, sums[group], want);
	}
}

static void check_event(cl_event event, cl_command_queue queue)
{
	cl_command_type type;
	cl_command_queue of;
	cl_int status;

	OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
	OK(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, NULL));
	OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
	EXPECT(type == CL_COMMAND_NDRANGE_KERNEL && of == queue && status == CL_COMPLETE, "event: %x, %d", type, status);
}

static void check_times(cl_event event, cl_ulong *previous_end, int ordered)
{
	static const cl_profiling_info stages[4] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END,
	};
	cl_ulong t[4];

	for (int s = 0; s < 4; s++)
		OK(clGetEventProfilingInfo(event, stages[s], sizeof t[s], &t[s], NULL));
	EXPECT(t[0] <= t[1] && t[1] <= t[2] && t[2] < t[3], "profiling: %lu %lu %lu %lu", t[0], t[1], t[2], t[3]);
	EXPECT(!ordered || t[2] >= *previous_end, "started before the one that it waited for had ended");
	*previous_end = t[3];
}

static void test_order(const char *name, cl_command_queue_properties properties, const struct shape *s)
{
	enum { LAUNCHES = 9 };
	cl_command_queue queue = create_queue(properties);
	cl_kernel kernel = guest_kernel(program, "tiles");
	int chained = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	cl_int err;
	cl_event gate = clCreateUserEvent(g.context, &err), events[LAUNCHES];
	cl_ulong end = 0;

	CREATED(err);
	memset(sums, 0, sizeof sums);
	cl_mem mem = guest_buffer(&g, sizeof sums, sums);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	OK(clSetKernelArg(kernel, 1, 1024 * sizeof(cl_uint), NULL));
	for (cl_uint i = 0; i < LAUNCHES; i++)
		events[i] = launch_tiles(queue, kernel, s, i + 1, !i || chained, !i ? &gate : chained ? &events[i - 1] : NULL);
	OK(clFlush(queue));
	usleep(5000);
	for (int i = 0; i < LAUNCHES; i++) {
		OK(clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof err, &err, NULL));
		EXPECT(err > CL_COMPLETE, "%s: launch %d did not wait", name, i);
	}
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	/* It is enough for a reader to wait for the last event. */
	OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof sums, sums, 1, &events[LAUNCHES - 1], NULL));
	check_sums(s, LAUNCHES);
	for (int i = 0; i < LAUNCHES; i++) {
		check_event(events[i], queue);
		if (properties & CL_QUEUE_PROFILING_ENABLE)
			check_times(events[i], &end, 1);
		OK(clReleaseEvent(events[i]));
	}
	printf("%s, %s: %08x\n", name, s->name, guest_sum(sums, sizeof sums));
	OK(clReleaseEvent(gate));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseCommandQueue(queue));
}

/* If a launch waits for something that fails, no part of it may run. */
static void test_failed_wait(const char *name, cl_command_queue_properties properties)
{
	cl_command_queue queue = create_queue(properties);
	cl_kernel kernel = guest_kernel(program, "tiles");
	cl_int err;
	cl_event gate = clCreateUserEvent(g.context, &err);

	CREATED(err);
	memset(sums, 0, sizeof sums);
	cl_mem mem = guest_buffer(&g, sizeof sums, sums);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	OK(clSetKernelArg(kernel, 1, 1024 * sizeof(cl_uint), NULL));
	cl_event event = launch_tiles(queue, kernel, &shapes[0], 1, 1, &gate);
	OK(clSetUserEventStatus(gate, -1000));
	err = clWaitForEvents(1, &event);
	guest_read(&g, mem, sums, sizeof sums);
	printf("%s, failed wait: %d, %08x\n", name, err, guest_sum(sums, sizeof sums));
	OK(clReleaseEvent(event));
	OK(clReleaseEvent(gate));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseCommandQueue(queue));
}

/* ---- threads ---- */

struct worker {
	pthread_t thread;
	cl_uint launches;
};

static void *tally_alone(void *data)
{
	struct worker *w = data;
	cl_command_queue queue = create_queue(w->launches % 2 ? CL_QUEUE_PROFILING_ENABLE : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_kernel kernel = guest_kernel(program, "tally");
	cl_uint counts[TALLY] = {0};
	size_t offset = 11, global = 8192, local = 32;
	cl_mem mem = guest_buffer(&g, sizeof counts, counts);

	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	for (cl_uint i = 0; i < w->launches; i++) {
		cl_event event;
		OK(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &global, &local, 0, NULL, &event));
		OK(clWaitForEvents(1, &event));
		check_event(event, queue);
		OK(clReleaseEvent(event));
	}
	OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL));
	for (cl_uint i = 0; i < TALLY; i++)
		EXPECT(counts[i] == w->launches * (8192 / TALLY + (i ? 0 : 1000000)), "tally %u: %u", i, counts[i]);
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseCommandQueue(queue));
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[THREADS];
	cl_uint launches = argc > 1 ? (cl_uint)atoi(argv[1]) : 20;

	guest_open(&g);
	program = guest_build(&g, source, NULL);
	test_ids();
	test_order("in order", 0, &shapes[0]);
	test_order("in order, profiled", CL_QUEUE_PROFILING_ENABLE, &shapes[5]);
	test_order("out of order", CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &shapes[8]);
	test_order("out of order, profiled", CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, &shapes[1]);
	test_failed_wait("in order", 0);
	test_failed_wait("out of order", CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	for (int i = 0; i < THREADS; i++) {
		workers[i].launches = launches + (cl_uint)i;
		if (pthread_create(&workers[i].thread, NULL, tally_alone, &workers[i]))
			guest_fail("no thread");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	OK(clReleaseProgram(program));
	guest_close(&g);
	puts("boxes done");
	return 0;
}
