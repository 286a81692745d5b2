/*
 * args - kernel arguments of every kind, and the lives of the objects they come from.
 */
#include "guest.h"

enum { COUNT = 256 };

static const char source[] =
	"__kernel void scalars(__global float *out, char c, uchar uc, short s, ushort us, int i, uint ui, long l,\n"
	"                      ulong ul, float f)\n"
	"{\n"
	"	size_t g = get_global_id(0);\n"
	"	out[g] = g + c + uc + s + us + i + ui + (float)l + (float)ul + f;\n"
	"}\n"
	"\n"
	"__kernel void maybe(__global int *out, __global const int *in, __constant int *table)\n"
	"{\n"
	"	size_t g = get_global_id(0);\n"
	"	out[g] = (in ? in[g] : -1) + (table ? table[g & 15] : -1000);\n"
	"}\n"
	"\n"
	"struct item { char a; short b[3]; int c; float d; long e; uchar4 f; };\n"
	"__kernel void structs(__global int *out, struct item item)\n"
	"{\n"
	"	out[get_global_id(0)] = item.a + item.b[0] * 2 + item.b[1] * 3 + item.b[2] * 5 + item.c + (int)item.d +\n"
	"	                        (int)item.e + item.f.x + item.f.w + (int)get_global_id(0);\n"
	"}\n"
	"\n"
	"__kernel void vectors(__global int *out, int4 a, float3 b, char16 c, ushort2 d, long8 e)\n"
	"{\n"
	"	int4 b4 = (int4)(convert_int3(b), 0);\n"
	"	int4 all = a + b4 + convert_int4(c.s048c) + (int4)(d.x, d.y, d.x, d.y);\n"
	"	all += convert_int4(e.lo) + convert_int4(e.hi);\n"
	"	out[get_global_id(0)] = all.x + 10 * all.y + 100 * all.z + 1000 * all.w + (int)get_global_id(0);\n"
	"}\n"
	"\n"
	"__kernel void locals(__global int *out, __local int *a, int add, __local float2 *b)\n"
	"{\n"
	"	size_t l = get_local_id(0), n = get_local_size(0);\n"
	"	a[l] = (int)get_global_id(0);\n"
	"	b[l] = (float2)((float)l, (float)add);\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	out[get_global_id(0)] = a[n - 1 - l] + (int)b[n - 1 - l].x + (int)b[l].y;\n"
	"}\n"
	"\n"
	"__kernel void images(__global float *out, __read_only image2d_t in, sampler_t how, __write_only image2d_t to)\n"
	"{\n"
	"	const sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
	"	int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	"	float4 here = read_imagef(in, own, at), beside = read_imagef(in, how, at + (int2)(9, 0));\n"
	"	write_imagef(to, at, here.wzyx + beside);\n"
	"	out[at.y * get_global_size(0) + at.x] = here.x + beside.y;\n"
	"}\n";

static struct guest g;
static cl_program program;
static cl_mem out;
static int result[COUNT];

static void set_buffer(cl_kernel kernel, cl_uint index, cl_mem mem)
{
	OK(clSetKernelArg(kernel, index, sizeof mem, &mem));
}

static void show(const char *name)
{
	guest_read(&g, out, result, sizeof result);
	printf("%s %08x\n", name, guest_sum(result, sizeof result));
}

static void launch_and_show(cl_kernel kernel, const char *name)
{
	guest_launch(&g, kernel, COUNT);
	show(name);
}

static void test_scalars(void)
{
	cl_char c = -5;
	cl_uchar uc = 250;
	cl_short s = -3000;
	cl_ushort us = 60000;
	cl_int i = -70000;
	cl_uint ui = 80000;
	cl_long l = -5000000000;
	cl_ulong ul = 5000000000;
	cl_float f = 0.5f;
	cl_kernel kernel = guest_kernel(program, "scalars");
	const struct { size_t size; const void *value; } args[] = {
		{1, &c}, {1, &uc}, {2, &s}, {2, &us}, {4, &i}, {4, &ui}, {8, &l}, {8, &ul}, {4, &f},
	};

	set_buffer(kernel, 0, out);
	for (cl_uint a = 0; a < sizeof args / sizeof args[0]; a++)
		OK(clSetKernelArg(kernel, a + 1, args[a].size, args[a].value));
	launch_and_show(kernel, "scalars");
	float first;
	memcpy(&first, result, sizeof first);
	/* in float arithmetic, the two large ones absorb the small ones and then cancel each other */
	EXPECT(first > 66000.0f && first < 68000.0f, "scalars: %f", (double)first);
	OK(clReleaseKernel(kernel));
}

static void test_maybe(void)
{
	cl_mem none = NULL;
	int host[COUNT];

	for (int i = 0; i < COUNT; i++)
		host[i] = i * i;
	cl_mem in = guest_buffer(&g, sizeof host, host);
	cl_kernel kernel = guest_kernel(program, "maybe");
	set_buffer(kernel, 0, out);
	set_buffer(kernel, 1, in);
	set_buffer(kernel, 2, in);
	launch_and_show(kernel, "buffer and constant");
	EXPECT(result[17] == 17 * 17 + 1, "buffers: %d", result[17]);
	OK(clSetKernelArg(kernel, 1, sizeof none, NULL));
	launch_and_show(kernel, "no value");
	EXPECT(result[17] == -1 + 1, "no value: %d", result[17]);
	OK(clSetKernelArg(kernel, 1, sizeof none, &none));
	launch_and_show(kernel, "NULL buffer");
	EXPECT(result[17] == -1 + 1, "NULL buffer: %d", result[17]);
	set_buffer(kernel, 1, in);
	launch_and_show(kernel, "buffer again");
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(in));
}

static void test_values(void)
{
	struct { cl_char a; cl_short b[3]; cl_int c; cl_float d; cl_long e; cl_uchar4 f; } item = {
		1, {2, 3, 4}, 1000, 5.75f, 60000, {{7, 8, 9, 10}},
	};
	cl_int4 a = {{1, 2, 3, 4}};
	cl_float3 b = {{5, 6, 7}};
	cl_char16 c = {{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}};
	cl_ushort2 d = {{8, 9}};
	cl_long8 e = {{1, 2, 3, 4, 5, 6, 7, 8}};
	cl_kernel kernel = guest_kernel(program, "structs");

	set_buffer(kernel, 0, out);
	OK(clSetKernelArg(kernel, 1, sizeof item, &item));
	launch_and_show(kernel, "struct");
	EXPECT(result[3] == 1 + 4 + 9 + 20 + 1000 + 5 + 60000 + 7 + 10 + 3, "struct: %d", result[3]);
	OK(clReleaseKernel(kernel));

	kernel = guest_kernel(program, "vectors");
	set_buffer(kernel, 0, out);
	OK(clSetKernelArg(kernel, 1, sizeof a, &a));
	OK(clSetKernelArg(kernel, 2, sizeof b, &b));
	OK(clSetKernelArg(kernel, 3, sizeof c, &c));
	OK(clSetKernelArg(kernel, 4, sizeof d, &d));
	OK(clSetKernelArg(kernel, 5, sizeof e, &e));
	launch_and_show(kernel, "vectors");
	/* x: 1+5+1+8+1+5, y: 2+6+2+9+2+6, z: 3+7+3+8+3+7, w: 4+0+4+9+4+8 */
	EXPECT(result[0] == 21 + 270 + 3100 + 29000, "vectors: %d", result[0]);
	OK(clReleaseKernel(kernel));
}

static void test_locals(void)
{
	size_t global = COUNT, local = 32;
	cl_int add = 100;
	cl_kernel kernel = guest_kernel(program, "locals");

	set_buffer(kernel, 0, out);
	OK(clSetKernelArg(kernel, 1, local * sizeof(cl_int), NULL));
	OK(clSetKernelArg(kernel, 2, sizeof add, &add));
	OK(clSetKernelArg(kernel, 3, local * sizeof(cl_float2), NULL));
	for (; local >= 16; local /= 2) {
		OK(clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
		show("local memory");
		EXPECT(result[0] == (int)(local - 1) * 2 + 100, "locals: %d", result[0]);
	}
	OK(clReleaseKernel(kernel));
}

static void test_images(void)
{
	cl_image_format format = {CL_RGBA, CL_FLOAT};
	cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 16};
	static float pixels[16 * 16 * 4], back[16 * 16 * 4];
	size_t global[2] = {16, 16}, zero[3] = {0}, whole[3] = {16, 16, 1};
	cl_int err;

	if (!guest_has(g.device, CL_DEVICE_IMAGE_SUPPORT)) {
		puts("images unsupported");
		return;
	}
	for (int i = 0; i < 16 * 16 * 4; i++)
		pixels[i] = (float)(i % 97);
	cl_mem in = clCreateImage(g.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, pixels, &err);
	CREATED(err);
	cl_mem to = clCreateImage(g.context, CL_MEM_WRITE_ONLY, &format, &desc, NULL, &err);
	CREATED(err);
	cl_sampler how = clCreateSampler(g.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &err);
	CREATED(err);
	cl_kernel kernel = guest_kernel(program, "images");
	set_buffer(kernel, 0, out);
	set_buffer(kernel, 1, in);
	OK(clSetKernelArg(kernel, 2, sizeof how, &how));
	set_buffer(kernel, 3, to);
	OK(clEnqueueNDRangeKernel(g.queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
	show("image and sampler");
	OK(clEnqueueReadImage(g.queue, to, CL_TRUE, zero, whole, 0, 0, back, 0, NULL, NULL));
	printf("image written %08x\n", guest_sum(back, sizeof back));
	/* the pixel at 12,3 sees itself reversed and, clamped, the last pixel of its row */
	for (int c = 0; c < 4; c++)
		EXPECT(back[(3 * 16 + 12) * 4 + c] == pixels[(3 * 16 + 12) * 4 + 3 - c] + pixels[(3 * 16 + 15) * 4 + c],
		       "images: component %d", c);
	OK(clReleaseSampler(how));
	OK(clReleaseMemObject(in));
	OK(clReleaseMemObject(to));
	OK(clReleaseKernel(kernel));
}

static void test_sub_buffer(void)
{
	cl_buffer_region region = {.origin = 4096, .size = COUNT * sizeof(int)};
	static int host[4096];
	cl_int err;

	for (int i = 0; i < 4096; i++)
		host[i] = i;
	cl_mem whole = guest_buffer(&g, sizeof host, host);
	cl_mem part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
	CREATED(err);
	cl_kernel kernel = guest_kernel(program, "maybe");
	set_buffer(kernel, 0, out);
	set_buffer(kernel, 1, part);
	set_buffer(kernel, 2, whole);
	OK(clReleaseMemObject(whole)); /* the sub-buffer keeps it alive */
	launch_and_show(kernel, "sub-buffer");
	EXPECT(result[20] == 1024 + 20 + 4, "sub-buffer: %d", result[20]);
	OK(clReleaseMemObject(part));
	OK(clReleaseKernel(kernel));
}

static const char svm_source[] =
	"struct node { int value; __global struct node *next; };\n"
	"__kernel void walk(__global int *out, __global const struct node *list)\n"
	"{\n"
	"	int sum = 0;\n"
	"	for (__global const struct node *n = list; n; n = n->next)\n"
	"		sum += n->value;\n"
	"	out[get_global_id(0)] = sum + (int)get_global_id(0);\n"
	"}\n";

/* A list. Only its head is an argument. clSetKernelExecInfo names the other node to the kernel. */
static void test_svm(void)
{
	struct node { cl_int value; struct node *next; } *head, *tail;
	cl_device_svm_capabilities can = 0;
	void *others[1];

	if (clGetDeviceInfo(g.device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL) ||
	    !(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
		puts("SVM unsupported");
		return;
	}
	head = clSVMAlloc(g.context, CL_MEM_READ_WRITE, 4 * sizeof *head, 0);
	tail = clSVMAlloc(g.context, CL_MEM_READ_WRITE, sizeof *tail, 0);
	EXPECT(head && tail, "clSVMAlloc gave NULL");
	OK(clEnqueueSVMMap(g.queue, CL_TRUE, CL_MAP_WRITE, head, 4 * sizeof *head, 0, NULL, NULL));
	OK(clEnqueueSVMMap(g.queue, CL_TRUE, CL_MAP_WRITE, tail, sizeof *tail, 0, NULL, NULL));
	for (int i = 0; i < 4; i++) {
		head[i].value = i + 1;
		head[i].next = i < 3 ? &head[i + 1] : tail;
	}
	tail->value = 1000;
	tail->next = NULL;
	OK(clEnqueueSVMUnmap(g.queue, head, 0, NULL, NULL));
	OK(clEnqueueSVMUnmap(g.queue, tail, 0, NULL, NULL));
	cl_program walker = guest_build(&g, svm_source, NULL);
	cl_kernel kernel = guest_kernel(walker, "walk");
	set_buffer(kernel, 0, out);
	others[0] = tail;
	OK(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof others, others));
	OK(clSetKernelArgSVMPointer(kernel, 1, head));
	launch_and_show(kernel, "SVM pointer");
	EXPECT(result[5] == 1010 + 5, "SVM: %d", result[5]);
	OK(clSetKernelArgSVMPointer(kernel, 1, head + 2));
	launch_and_show(kernel, "SVM pointer inside");
	EXPECT(result[5] == 1007 + 5, "SVM inside: %d", result[5]);
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(walker));
	OK(clFinish(g.queue));
	clSVMFree(g.context, head);
	clSVMFree(g.context, tail);
}

static const char life_source[] =
	"__kernel void put(__global int *out, int value)\n"
	"{\n"
	"	out[get_global_id(0)] = value + (int)get_global_id(0);\n"
	"}\n"
	"__kernel void add(__global int *out, int value) { out[get_global_id(0)] += value; }\n"
	"__kernel void idle(void) { }\n";

static void test_clone(cl_program life)
{
	cl_int one = 1, two = 2, err;
	cl_kernel kernel = guest_kernel(life, "put");

	set_buffer(kernel, 0, out);
	OK(clSetKernelArg(kernel, 1, sizeof one, &one));
	cl_kernel clone = clCloneKernel(kernel, &err);
	if (err) {
		printf("clCloneKernel gave %d\n", err);
		OK(clReleaseKernel(kernel));
		return;
	}
	OK(clSetKernelArg(kernel, 1, sizeof two, &two));
	launch_and_show(clone, "clone");
	EXPECT(result[0] == 1, "the clone has the argument %d", result[0]);
	launch_and_show(kernel, "cloned");
	EXPECT(result[0] == 2, "the original has the argument %d", result[0]);
	OK(clReleaseKernel(kernel));
	OK(clSetKernelArg(clone, 1, sizeof two, &two));
	launch_and_show(clone, "clone that outlives");
	OK(clReleaseKernel(clone));
}

static void test_all_in_program(cl_program life)
{
	cl_uint count = 0, arguments, references;
	cl_kernel kernels[8];
	char name[64];

	OK(clCreateKernelsInProgram(life, 8, kernels, &count));
	printf("%u kernels in the program\n", count);
	for (cl_uint i = 0; i < count; i++) {
		cl_int value = 7;
		OK(clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
		OK(clGetKernelInfo(kernels[i], CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL));
		OK(clGetKernelInfo(kernels[i], CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, NULL));
		printf("kernel %s: %u arguments, %u references\n", name, arguments, references);
		if (arguments) {
			set_buffer(kernels[i], 0, out);
			OK(clSetKernelArg(kernels[i], 1, sizeof value, &value));
		}
		launch_and_show(kernels[i], name);
		OK(clReleaseKernel(kernels[i]));
	}
}

/* A new argument counts for launches enqueued after it was set, not for earlier ones. */
static void test_reuse(cl_program life)
{
	cl_kernel kernel = guest_kernel(life, "add");
	cl_int value = 1, zero = 0;

	OK(clEnqueueFillBuffer(g.queue, out, &zero, sizeof zero, 0, sizeof result, 0, NULL, NULL));
	set_buffer(kernel, 0, out);
	OK(clSetKernelArg(kernel, 1, sizeof value, &value));
	for (int i = 0; i < 3; i++)
		guest_launch(&g, kernel, COUNT);
	value = 100; /* the kernel has a copy of the old one */
	guest_launch(&g, kernel, COUNT);
	OK(clSetKernelArg(kernel, 1, sizeof value, &value));
	value = 0;
	launch_and_show(kernel, "arguments kept");
	EXPECT(result[9] == 104, "kept: %d", result[9]);
	OK(clReleaseKernel(kernel));
	kernel = guest_kernel(life, "add");
	set_buffer(kernel, 0, out);
	size_t global = COUNT;
	printf("argument missing %d\n", clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
	value = 3;
	OK(clSetKernelArg(kernel, 1, sizeof value, &value));
	printf("wrong index %d\n", clSetKernelArg(kernel, 2, sizeof value, &value));
	printf("wrong size %d\n", clSetKernelArg(kernel, 1, 8, &(cl_long){0}));
	printf("wrong value %d\n", clSetKernelArg(kernel, 1, sizeof value, NULL));
	launch_and_show(kernel, "kernel created again");
	EXPECT(result[9] == 107, "created again: %d", result[9]);
	OK(clReleaseKernel(kernel));
}

/* Enqueued commands work, even though the application has released its own references. */
static void test_releases(void)
{
	cl_int value = 11, err;
	cl_program life = guest_build(&g, life_source, NULL);
	cl_kernel kernel = guest_kernel(life, "put");

	OK(clReleaseProgram(life));
	set_buffer(kernel, 0, out);
	OK(clSetKernelArg(kernel, 1, sizeof value, &value));
	OK(clRetainKernel(kernel));
	OK(clReleaseKernel(kernel));
	launch_and_show(kernel, "program released first");
	EXPECT(result[1] == 12, "program released: %d", result[1]);

	cl_command_queue other = clCreateCommandQueue(g.context, g.device, 0, &err);
	CREATED(err);
	cl_mem mem = guest_buffer(&g, sizeof result, NULL);
	size_t global = COUNT;
	cl_event done;
	value = 12;
	set_buffer(kernel, 0, mem);
	OK(clSetKernelArg(kernel, 1, sizeof value, &value));
	OK(clEnqueueNDRangeKernel(other, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
	OK(clReleaseKernel(kernel));
	OK(clEnqueueCopyBuffer(other, mem, out, 0, 0, sizeof result, 0, NULL, &done));
	OK(clReleaseMemObject(mem));
	OK(clFlush(other));
	OK(clReleaseCommandQueue(other));
	OK(clWaitForEvents(1, &done));
	OK(clReleaseEvent(done));
	show("kernel, buffer and queue released after the enqueue");
	EXPECT(result[1] == 13, "all released: %d", result[1]);
}

int main(void)
{
	guest_open(&g);
	program = guest_build(&g, source, NULL);
	out = guest_buffer(&g, sizeof result, NULL);
	test_scalars();
	test_maybe();
	test_values();
	test_locals();
	test_images();
	test_sub_buffer();
	test_svm();
	cl_program life = guest_build(&g, life_source, "-cl-kernel-arg-info");
	test_clone(life);
	test_all_in_program(life);
	test_reuse(life);
	test_releases();
	OK(clReleaseProgram(life));
	OK(clReleaseProgram(program));
	OK(clReleaseMemObject(out));
	guest_close(&g);
	puts("args done");
	return 0;
}
