/*
 * ranges - launches of 1 to 3 dimensions, with and without offsets and local sizes.
 *
 * Every work-item writes down its ids and sizes. So the checksums change if a launch is split in another way than the driver
 * alone would split it.
 */
#include "guest.h"

enum { FIELDS = 8, MAX_ITEMS = 4096 };

static const char source[] =
	"void note(__global uint *out)\n"
	"{\n"
	"	size_t at = 0;\n"
	"	for (int d = 2; d >= 0; d--)\n"
	"		at = at * get_global_size(d) + get_global_id(d) - get_global_offset(d);\n"
	"	out += at * 8;\n"
	"	out[0] += 1;\n"
	"	out[1] = get_work_dim();\n"
	"	for (int d = 2; d >= 0; d--) {\n"
	"		out[2] = out[2] * 1000 + get_global_id(d);\n"
	"		out[3] = out[3] * 1000 + get_local_id(d);\n"
	"		out[4] = out[4] * 1000 + get_group_id(d);\n"
	"		out[5] = out[5] * 1000 + get_local_size(d);\n"
	"		out[6] = out[6] * 1000 + get_num_groups(d);\n"
	"		out[7] = out[7] * 1000 + get_global_offset(d);\n"
	"	}\n"
	"}\n"
	"\n"
	"__kernel void where(__global uint *out) { note(out); }\n"
	"__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void required(__global uint *out) { note(out); }\n"
	"__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void task(__global uint *out) { note(out); }\n";

static struct guest g;
static cl_mem out;
static cl_uint noted[MAX_ITEMS][FIELDS];

static void clear(void)
{
	cl_uint zero = 0;

	OK(clEnqueueFillBuffer(g.queue, out, &zero, sizeof zero, 0, sizeof noted, 0, NULL, NULL));
}

/* Each item must have run once, at the place that its group and its position in the group give. */
static void check_items(const char *name, size_t items, cl_uint dims, const size_t *offset, const size_t *local)
{
	for (size_t i = 0; i < items; i++) {
		const cl_uint *n = noted[i];
		EXPECT(n[0] == 1 && n[1] == dims, "%s: item %zu ran %u times in %u dimensions", name, i, n[0], n[1]);
		for (cl_uint d = 0, unit = 1; d < dims; d++, unit *= 1000) {
			cl_uint global = n[2] / unit % 1000, lid = n[3] / unit % 1000, group = n[4] / unit % 1000;
			cl_uint size = n[5] / unit % 1000, off = n[7] / unit % 1000;
			EXPECT(off == (offset ? offset[d] : 0), "%s: offset %u", name, off);
			EXPECT(!local || size == local[d], "%s: local size %u", name, size);
			EXPECT(global == group * size + lid + off, "%s: item %zu has a wrong place", name, i);
		}
	}
}

static void range(cl_kernel kernel, const char *name, cl_uint dims, const size_t *offset, const size_t *global,
                  const size_t *local)
{
	size_t items = 1;
	cl_int err;

	for (cl_uint d = 0; d < dims; d++)
		items *= global[d];
	clear();
	err = clEnqueueNDRangeKernel(g.queue, kernel, dims, offset, global, local, 0, NULL, NULL);
	if (err) {
		printf("%s: error %d\n", name, err);
		return;
	}
	guest_read(&g, out, noted, sizeof noted);
	check_items(name, items, dims, offset, local);
	printf("%s: %08x, group size %u\n", name, guest_sum(noted, sizeof noted), noted[0][5]);
}

#define R(...) ((const size_t[3]){__VA_ARGS__})

static void test_uniform(cl_kernel where)
{
	range(where, "1D", 1, NULL, R(256), R(64));
	range(where, "1D of 1", 1, NULL, R(7), R(1));
	range(where, "1D offset", 1, R(100), R(128), R(64));
	range(where, "2D", 2, NULL, R(32, 16), R(8, 4));
	range(where, "2D offset", 2, R(5, 7), R(16, 8), R(8, 4));
	range(where, "3D", 3, NULL, R(8, 8, 8), R(4, 2, 2));
	range(where, "3D offset", 3, R(1, 2, 3), R(8, 4, 4), R(4, 2, 2));
}

static void test_no_local(cl_kernel where)
{
	range(where, "1D NULL local", 1, NULL, R(256), NULL);
	range(where, "1D NULL local, prime", 1, NULL, R(251), NULL);
	range(where, "1D NULL local, offset", 1, R(3), R(96), NULL);
	range(where, "2D NULL local", 2, NULL, R(48, 20), NULL);
	range(where, "3D NULL local, offset", 3, R(9, 8, 7), R(12, 6, 5), NULL);
}

static void test_required(cl_kernel required, cl_kernel task)
{
	range(required, "required size", 2, NULL, R(16, 8), R(8, 4));
	range(required, "required size, 3D", 3, NULL, R(16, 8, 2), R(8, 4, 1));
	range(required, "required size, other local", 2, NULL, R(16, 8), R(4, 4));
	range(required, "required size, NULL local", 2, NULL, R(16, 8), NULL);
	clear();
	OK(clEnqueueTask(g.queue, task, 0, NULL, NULL));
	guest_read(&g, out, noted, sizeof noted);
	check_items("task", 1, 1, NULL, R(1));
	printf("task: %08x\n", guest_sum(noted, sizeof noted));
}

static void test_errors(cl_kernel where)
{
	const struct { const char *name; cl_uint dims; const size_t *global, *local; } bad[] = {
		{"no dimension", 0, R(16), NULL},
		{"four dimensions", 4, (const size_t[4]){4, 4, 4, 4}, NULL},
		{"no global size", 1, NULL, R(16)},
		{"global size 0", 1, R(0), NULL},
		{"global size 0 in one dimension", 2, R(16, 0), R(4, 1)},
		{"local size 0", 1, R(16), R(0)},
		{"local size too large", 1, R(1 << 20), R(1 << 20)},
		{"local size larger than global", 1, R(16), R(32)},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		cl_event event = NULL;
		cl_int err = clEnqueueNDRangeKernel(g.queue, where, bad[i].dims, NULL, bad[i].global, bad[i].local, 0, NULL,
		                                    &event);
		printf("%s: error %d\n", bad[i].name, err);
		if (!err) {
			OK(clFinish(g.queue));
			OK(clReleaseEvent(event));
		}
	}
	OK(clFinish(g.queue));
}

static void test_non_uniform(cl_kernel where)
{
	const char *versions[] = {"-cl-std=CL2.0", "-cl-std=CL3.0"};

	range(where, "non-uniform in OpenCL C 1.2", 1, NULL, R(100), R(32));
	printf("non-uniform groups %ssupported\n",
	       guest_has(g.device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) ? "" : "not ");
	for (int v = 0; v < 2; v++) {
		cl_program program = guest_program(&g, source);
		cl_int err = clBuildProgram(program, 1, &g.device, versions[v], NULL, NULL);
		printf("build with %s: %d\n", versions[v], err);
		if (!err) {
			cl_kernel kernel = guest_kernel(program, "where");
			OK(clSetKernelArg(kernel, 0, sizeof out, &out));
			range(kernel, "uniform", 1, NULL, R(96), R(32));
			/* The last group is smaller, so check_items() does not hold for it. Only the sum is checked. */
			size_t global = 100, local = 32;
			clear();
			err = clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
			guest_read(&g, out, noted, sizeof noted);
			printf("non-uniform: %d, %08x\n", err, guest_sum(noted, sizeof noted));
			OK(clReleaseKernel(kernel));
		}
		OK(clReleaseProgram(program));
	}
}

int main(void)
{
	guest_open(&g);
	cl_program program = guest_build(&g, source, NULL);
	cl_kernel where = guest_kernel(program, "where"), required = guest_kernel(program, "required");
	cl_kernel task = guest_kernel(program, "task");
	out = guest_buffer(&g, sizeof noted, NULL);
	OK(clSetKernelArg(where, 0, sizeof out, &out));
	OK(clSetKernelArg(required, 0, sizeof out, &out));
	OK(clSetKernelArg(task, 0, sizeof out, &out));
	test_uniform(where);
	test_no_local(where);
	test_required(required, task);
	test_errors(where);
	test_non_uniform(where);
	OK(clReleaseKernel(where));
	OK(clReleaseKernel(required));
	OK(clReleaseKernel(task));
	OK(clReleaseProgram(program));
	OK(clReleaseMemObject(out));
	guest_close(&g);
	puts("ranges done");
	return 0;
}
