/* builtin - kernels without a source: the driver's built-in ones and native functions of the host. */
#include "guest.h"

enum { COUNT = 128 };

static struct guest g;

static int has_builtin(const char *name)
{
	char names[4096] = "";

	return !clGetDeviceInfo(g.device, CL_DEVICE_BUILT_IN_KERNELS, sizeof names - 1, names, NULL) && strstr(names, name);
}

static void test_builtin(void)
{
	unsigned char a[COUNT], b[COUNT], sum[COUNT];
	cl_int err;

	if (!has_builtin("pocl.add.i8")) {
		puts("no built-in kernel");
		return;
	}
	cl_program program = clCreateProgramWithBuiltInKernels(g.context, 1, &g.device, "pocl.add.i8", &err);
	CREATED(err);
	printf("build of built-in kernels: %d\n", clBuildProgram(program, 1, &g.device, NULL, NULL, NULL));
	cl_kernel kernel = clCreateKernel(program, "pocl.add.i8", &err);
	if (err) { /* Debian's POCL 3.1 names the kernels but does not contain their source */
		printf("built-in kernel: %d\n", err);
		OK(clReleaseProgram(program));
		return;
	}
	for (int i = 0; i < COUNT; i++) {
		a[i] = (unsigned char)i;
		b[i] = (unsigned char)(i * 3);
	}
	cl_mem mems[3] = {guest_buffer(&g, COUNT, a), guest_buffer(&g, COUNT, b), guest_buffer(&g, COUNT, NULL)};
	for (cl_uint i = 0; i < 3; i++)
		OK(clSetKernelArg(kernel, i, sizeof mems[i], &mems[i]));
	guest_launch(&g, kernel, COUNT);
	guest_read(&g, mems[2], sum, COUNT);
	printf("built-in kernel: %08x\n", guest_sum(sum, COUNT));
	for (int i = 0; i < 3; i++)
		OK(clReleaseMemObject(mems[i]));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
}

static void CL_CALLBACK native(void *data)
{
	int **to = data;

	**to = 4711;
}

static void test_native(void)
{
	cl_device_exec_capabilities can = 0;
	int result = 0, *to = &result;

	OK(clGetDeviceInfo(g.device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL));
	if (!(can & CL_EXEC_NATIVE_KERNEL)) {
		puts("no native kernels");
		return;
	}
	OK(clEnqueueNativeKernel(g.queue, native, &to, sizeof to, 0, NULL, NULL, 0, NULL, NULL));
	OK(clFinish(g.queue));
	printf("native kernel: %d\n", result);
}

int main(void)
{
	guest_open(&g);
	test_builtin();
	test_native();
	guest_close(&g);
	return 0;
}
