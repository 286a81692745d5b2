/*
 * shadow - all ways in which a kernel may access memory. It tests a library that runs kernels on copies. There are buffers that
 * are parts of one another, one buffer twice, images, no memory at all, a kernel whose results differ between runs, one that
 * prints, one whose memory is released right after its launch, one whose program is built again then, and queues in and out of
 * order.
 */
#include "guest.h"

static const char source[] =
	"__kernel void add(__global int *a, __global const int *b, int n)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	if (i < n)\n"
	"		a[i] += b[i];\n"
	"}\n"
	"__kernel void chain(__global int *a, __global int *b)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	a[i] = a[i] * 3 + 1;\n"
	"	b[i] = b[i] * 5 + 2;\n"
	"}\n"
	"__kernel void from(__global int *a, __global const int *b)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	a[i] = b[i] * 3 + 1;\n"
	"}\n"
	"__kernel void nothing(void)\n"
	"{\n"
	"}\n"
	"__kernel void optional(__global int *a, __global int *b)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	a[i] += b ? b[i] : 7;\n"
	"}\n"
	"__kernel void paint(__write_only image2d_t to, __global int *count)\n"
	"{\n"
	"	int x = get_global_id(0), y = get_global_id(1);\n"
	"	write_imageui(to, (int2)(x, y), (uint4)(x, y, x + y, 255));\n"
	"	atomic_add(count, x * y + 1);\n"
	"}\n"
	"__kernel void slots(__global int *next, __global int *owner)\n"
	"{\n"
	"	owner[atomic_inc(next)] = get_global_id(0);\n"
	"}\n"
	"__kernel void say(__global int *a)\n"
	"{\n"
	"	a[get_global_id(0)]++;\n"
	"	if (get_global_id(0) == 0)\n"
	"		printf(\"said %d\\n\", a[0]);\n"
	"}\n";

enum { N = 1024, LOCAL = 64, TIMES = 3 };

static void run(cl_command_queue queue, cl_kernel kernel, size_t global)
{
	size_t local = LOCAL;

	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
}

static void set(cl_kernel kernel, cl_uint index, cl_mem mem)
{
	OK(clSetKernelArg(kernel, index, sizeof mem, &mem));
}

static cl_mem part(cl_mem whole, size_t origin, size_t size)
{
	cl_int err;
	cl_buffer_region region = {origin, size};
	cl_mem mem = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);

	CREATED(err);
	return mem;
}

static void tell(const struct guest *g, const char *what, cl_mem mem, size_t size)
{
	char *bytes = malloc(size);

	guest_read(g, mem, bytes, size);
	printf("%s: %08x\n", what, guest_sum(bytes, size));
	free(bytes);
}

static cl_mem numbers(const struct guest *g, int factor)
{
	int values[N];

	for (int i = 0; i < N; i++)
		values[i] = i * factor;
	return guest_buffer(g, sizeof values, values);
}

/* The second sub-buffer begins in the middle of the first one. */
static void parts(const struct guest *g, cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "chain");
	cl_mem whole = numbers(g, 1), first = part(whole, 0, N * 2), second = part(whole, N * 2, N * 2);

	set(kernel, 0, first);
	set(kernel, 1, second);
	for (int i = 0; i < TIMES; i++)
		run(g->queue, kernel, N / 4);
	tell(g, "parts", whole, N * sizeof(int));
	set(kernel, 0, whole); /* and a buffer that is part of the other one: work-items do not touch the same elements */
	set(kernel, 1, part(whole, N * 2, N * 2));
	for (int i = 0; i < TIMES; i++)
		run(g->queue, kernel, N / 4);
	tell(g, "part of another", whole, N * sizeof(int));
	OK(clReleaseKernel(kernel));
}

static void twice(const struct guest *g, cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "add");
	cl_int n = N - 5;
	cl_mem mem = numbers(g, 3), other = numbers(g, 7);

	set(kernel, 0, mem);
	set(kernel, 1, mem);
	OK(clSetKernelArg(kernel, 2, sizeof n, &n));
	for (int i = 0; i < TIMES; i++)
		run(g->queue, kernel, N);
	tell(g, "one buffer twice", mem, N * sizeof(int));
	for (int i = 0; i < 20; i++) { /* back and forth */
		set(kernel, i & 1, mem);
		set(kernel, !(i & 1), other);
		run(g->queue, kernel, N);
	}
	tell(g, "to and fro", mem, N * sizeof(int));
	tell(g, "fro and to", other, N * sizeof(int));
	OK(clReleaseKernel(kernel));
}

static void none(const struct guest *g, cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "nothing"), optional = guest_kernel(program, "optional");
	cl_mem mem = numbers(g, 2);

	for (int i = 0; i < TIMES; i++)
		run(g->queue, kernel, N);
	set(optional, 0, mem);
	OK(clSetKernelArg(optional, 1, sizeof mem, NULL));
	for (int i = 0; i < TIMES; i++)
		run(g->queue, optional, N);
	tell(g, "no buffer", mem, N * sizeof(int));
	OK(clReleaseKernel(kernel));
	OK(clReleaseKernel(optional));
}

static void image(const struct guest *g, cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "paint");
	const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 32, .image_height = 32};
	size_t global[2] = {32, 32}, local[2] = {8, 8}, origin[3] = {0}, region[3] = {32, 32, 1};
	unsigned char pixels[32 * 32 * 4];
	cl_int err, zero = 0;
	cl_mem mem = clCreateImage(g->context, CL_MEM_WRITE_ONLY, &format, &desc, NULL, &err);

	CREATED(err);
	cl_mem count = guest_buffer(g, sizeof zero, &zero);
	set(kernel, 0, mem);
	set(kernel, 1, count);
	for (int i = 0; i < TIMES; i++)
		OK(clEnqueueNDRangeKernel(g->queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
	OK(clEnqueueReadImage(g->queue, mem, CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL));
	printf("image: %08x\n", guest_sum(pixels, sizeof pixels));
	tell(g, "count", count, sizeof zero);
	OK(clReleaseKernel(kernel));
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Each work-item gets a slot, but which one differs from run to run. */
static void racy(const struct guest *g, cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "slots");
	int owners[N * TIMES], zero = 0;
	cl_mem next = guest_buffer(g, sizeof zero, &zero), owner = guest_buffer(g, sizeof owners, NULL);

	set(kernel, 0, next);
	set(kernel, 1, owner);
	for (int i = 0; i < TIMES; i++)
		run(g->queue, kernel, N);
	guest_read(g, owner, owners, sizeof owners);
	for (int i = 0; i < TIMES; i++)
		qsort(owners + i * N, N, sizeof *owners, by_value);
	printf("slots: %08x\n", guest_sum(owners, sizeof owners));
	OK(clReleaseKernel(kernel));
}

static void prints(const struct guest *g, cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "say");
	cl_mem mem = numbers(g, 1);

	set(kernel, 0, mem);
	for (int i = 0; i < TIMES; i++) {
		run(g->queue, kernel, N);
		OK(clFinish(g->queue));
		fflush(stdout);
	}
	tell(g, "say", mem, N * sizeof(int));
	OK(clReleaseKernel(kernel));
}

/* The program has no more use for what a kernel reads, and releases it before the kernel has even begun. */
static void released(const struct guest *g, cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "from");
	size_t global = N, local = LOCAL;
	cl_int err;
	cl_event gate = clCreateUserEvent(g->context, &err);
	cl_mem input = numbers(g, 6), output = numbers(g, 8);

	CREATED(err);
	set(kernel, 0, output);
	set(kernel, 1, input);
	OK(clEnqueueNDRangeKernel(g->queue, kernel, 1, NULL, &global, &local, 1, &gate, NULL));
	OK(clReleaseMemObject(input));
	OK(clReleaseKernel(kernel));
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clReleaseEvent(gate));
	tell(g, "released", output, N * sizeof(int));
	OK(clReleaseMemObject(output));
}

/* None of our kernels may be left, so the program can be built again. */
static void rebuilt(const struct guest *g)
{
	cl_program program = guest_build(g, source, NULL);
	cl_mem mem = numbers(g, 4), other = numbers(g, 9);

	for (int i = 0; i < TIMES; i++) {
		cl_kernel kernel = guest_kernel(program, "chain");
		set(kernel, 0, mem);
		set(kernel, 1, other);
		run(g->queue, kernel, N);
		OK(clFinish(g->queue));
		OK(clReleaseKernel(kernel));
		OK(clBuildProgram(program, 1, &g->device, i ? NULL : "-DAGAIN", NULL, NULL));
	}
	tell(g, "rebuilt", mem, N * sizeof(int));
	OK(clReleaseProgram(program));
}

static void out_of_order(const struct guest *g, cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "chain");
	cl_int err;
	cl_command_queue queue = clCreateCommandQueue(g->context, g->device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &err);
	cl_event event = NULL;
	cl_mem mem = numbers(g, 4), other = numbers(g, 9);
	size_t global = N, local = LOCAL;

	CREATED(err);
	set(kernel, 0, mem);
	set(kernel, 1, other);
	for (int i = 0; i < 10; i++) {
		cl_event next;
		OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, i > 0, i ? &event : NULL, &next));
		if (i)
			OK(clReleaseEvent(event));
		event = next;
	}
	OK(clWaitForEvents(1, &event));
	OK(clReleaseEvent(event));
	tell(g, "out of order", mem, N * sizeof(int));
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseKernel(kernel));
}

int main(void)
{
	struct guest g;

	guest_open(&g);
	cl_program program = guest_build(&g, source, NULL);
	parts(&g, program);
	twice(&g, program);
	none(&g, program);
	image(&g, program);
	racy(&g, program);
	prints(&g, program);
	out_of_order(&g, program);
	released(&g, program);
	rebuilt(&g);
	OK(clReleaseProgram(program));
	guest_close(&g);
	puts("shadow done");
	return 0;
}
