/*
 * unsized - launches without a local size.
 *
 * Of three kernels one cannot tell how it was divided, one writes down its local sizes, and one adds up its groups in local memory. Whatever the
 * driver chooses, it must be the same with and without gpusim, launch after launch.
 */
#include "guest.h"

enum { ITEMS = 6000, LAUNCHES = 4 };

static const char source[] =
	"__kernel void plain(__global float *out, float by)\n"
	"{\n"
	"	size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
	"	out[i] = out[i] * by + i;\n"
	"}\n"
	"__kernel void sizes(__global uint *out)\n"
	"{\n"
	"	size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
	"	out[i] = get_local_size(0) * 65536 + get_local_size(1) * 4096 + get_local_id(0);\n"
	"}\n"
	"__kernel void sums(__global float *out)\n"
	"{\n"
	"	__local int sum;\n"
	"	size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
	"	if (get_local_id(0) == 0 && get_local_id(1) == 0)\n"
	"		sum = 0;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	atomic_add(&sum, (int)i);\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	out[i] = sum;\n"
	"}\n";

static struct guest g;
static cl_mem out;

static void launch(cl_kernel kernel, const char *name, cl_uint dims, const size_t *global)
{
	static cl_uint seen[ITEMS];
	cl_uint zero = 0;
	size_t most = 0;

	OK(clEnqueueFillBuffer(g.queue, out, &zero, sizeof zero, 0, sizeof seen, 0, NULL, NULL));
	for (int i = 0; i < LAUNCHES; i++)
		OK(clEnqueueNDRangeKernel(g.queue, kernel, dims, NULL, global, NULL, 0, NULL, NULL));
	guest_read(&g, out, seen, sizeof seen);
	OK(clGetKernelWorkGroupInfo(kernel, g.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
	printf("%s: %08x, at most %zu\n", name, guest_sum(seen, sizeof seen), most);
}

int main(void)
{
	const char *names[] = {"plain", "sizes", "sums"};
	const size_t row[] = {6000}, plane[] = {100, 60}, prime[] = {4099};
	cl_float by = 0.5f;

	guest_open(&g);
	cl_program program = guest_build(&g, source, NULL);
	out = guest_buffer(&g, ITEMS * sizeof(cl_uint), NULL);
	for (int i = 0; i < 3; i++) {
		cl_kernel kernel = guest_kernel(program, names[i]);
		OK(clSetKernelArg(kernel, 0, sizeof out, &out));
		if (!i)
			OK(clSetKernelArg(kernel, 1, sizeof by, &by));
		launch(kernel, names[i], 1, row);
		launch(kernel, names[i], 2, plane);
		launch(kernel, names[i], 1, prime);
		OK(clReleaseKernel(kernel));
	}
	OK(clReleaseProgram(program));
	OK(clReleaseMemObject(out));
	guest_close(&g);
	puts("unsized done");
	return 0;
}
