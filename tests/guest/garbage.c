/*
 * garbage - wrong handles and values for which the loader and the driver return an error code, and program texts that do not
 * compile. Prints the codes.
 */
#include "guest.h"

static struct guest g;
static cl_program program;
static cl_kernel kernel;
static cl_mem mem;

static const char source[] =
	"__kernel void add(__global int *out, int value) { out[get_global_id(0)] += value; }\n";

#define CODE(call) printf("%d: %s\n", (int)(call), #call)
/* for calls that return an object and write err */
#define MADE(call) \
	do { \
		cl_int err = 12345; \
		const void *made = (call); \
		printf("%s, %d: %s\n", made ? "object" : "NULL", err, #call); \
	} while (0)

static void test_null_handles(void)
{
	size_t one = 1;
	cl_uint n;
	char info[64];

	CODE(clGetPlatformIDs(0, NULL, NULL));
	CODE(clGetPlatformIDs(0, &g.platform, NULL));
	CODE(clGetDeviceIDs(g.platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL));
	CODE(clGetDeviceIDs(g.platform, 0, 0, NULL, &n));
	CODE(clGetDeviceIDs(g.platform, (cl_device_type)1 << 40, 0, NULL, &n));
	CODE(clGetDeviceInfo(NULL, CL_DEVICE_NAME, sizeof info, info, NULL));
	CODE(clGetDeviceInfo(g.device, 0xffff, sizeof info, info, NULL));
	CODE(clGetDeviceInfo(g.device, CL_DEVICE_NAME, 1, info, NULL));
	CODE(clGetDeviceInfo(g.device, CL_DEVICE_TYPE, 1, info, NULL));
	CODE(clBuildProgram(NULL, 0, NULL, NULL, NULL, NULL));
	CODE(clCompileProgram(NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
	CODE(clRetainProgram(NULL));
	CODE(clReleaseProgram(NULL));
	CODE(clGetProgramInfo(NULL, CL_PROGRAM_SOURCE, 0, NULL, NULL));
	CODE(clGetProgramBuildInfo(NULL, g.device, CL_PROGRAM_BUILD_LOG, 0, NULL, NULL));
	CODE(clCreateKernelsInProgram(NULL, 0, NULL, NULL));
	CODE(clSetKernelArg(NULL, 0, sizeof mem, &mem));
	CODE(clSetKernelArgSVMPointer(NULL, 0, NULL));
	CODE(clSetKernelExecInfo(NULL, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
	CODE(clRetainKernel(NULL));
	CODE(clReleaseKernel(NULL));
	CODE(clGetKernelInfo(NULL, CL_KERNEL_FUNCTION_NAME, 0, NULL, NULL));
	CODE(clEnqueueNDRangeKernel(NULL, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
	CODE(clEnqueueTask(NULL, kernel, 0, NULL, NULL));
	CODE(clEnqueueReadBuffer(NULL, mem, CL_TRUE, 0, 4, info, 0, NULL, NULL));
	CODE(clEnqueueReadBuffer(g.queue, NULL, CL_TRUE, 0, 4, info, 0, NULL, NULL));
	CODE(clEnqueueWriteBuffer(g.queue, NULL, CL_TRUE, 0, 4, info, 0, NULL, NULL));
	CODE(clEnqueueCopyBuffer(g.queue, mem, NULL, 0, 0, 4, 0, NULL, NULL));
	CODE(clEnqueueUnmapMemObject(g.queue, NULL, NULL, 0, NULL, NULL));
	CODE(clReleaseMemObject(NULL));
	CODE(clRetainCommandQueue(NULL));
	CODE(clReleaseCommandQueue(NULL));
	CODE(clFlush(NULL));
	CODE(clFinish(NULL));
	CODE(clReleaseContext(NULL));
	CODE(clReleaseEvent(NULL));
	CODE(clWaitForEvents(0, NULL));
}

static void test_null_creators(void)
{
	const char *text = source, *none = NULL;
	const unsigned char *bytes = (const unsigned char *)source;
	size_t size = sizeof source;

	MADE(clCreateContext(NULL, 0, NULL, NULL, NULL, &err));
	MADE(clCreateCommandQueue(NULL, g.device, 0, &err));
	MADE(clCreateProgramWithSource(NULL, 1, &text, NULL, &err));
	MADE(clCreateProgramWithSource(g.context, 0, &text, NULL, &err));
	MADE(clCreateProgramWithSource(g.context, 1, &none, NULL, &err));
	MADE(clCreateProgramWithBinary(NULL, 1, &g.device, &size, &bytes, NULL, &err));
	MADE(clCreateProgramWithBinary(g.context, 0, &g.device, &size, &bytes, NULL, &err));
	MADE(clCreateProgramWithBinary(g.context, 1, &g.device, &size, &bytes, NULL, &err));
	MADE(clCreateProgramWithBinary(g.context, 1, &g.device, &(size_t){0}, &bytes, NULL, &err));
	MADE(clCreateProgramWithBuiltInKernels(g.context, 1, &g.device, "no.such.kernel", &err));
	MADE(clCreateProgramWithIL(g.context, source, sizeof source, &err));
	MADE(clLinkProgram(NULL, 0, NULL, NULL, 1, &program, NULL, NULL, &err));
	MADE(clLinkProgram(g.context, 0, NULL, NULL, 0, NULL, NULL, NULL, &err));
	MADE(clCreateKernel(NULL, "add", &err));
	MADE(clCreateKernel(program, "", &err));
	MADE(clCloneKernel(NULL, &err));
	MADE(clCreateBuffer(g.context, CL_MEM_READ_WRITE, 0, NULL, &err));
	MADE(clCreateBuffer(NULL, CL_MEM_READ_WRITE, 4, NULL, &err));
	MADE(clEnqueueMapBuffer(g.queue, NULL, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &err));
	/* only the code is checked: POCL 3.1 returns an object that is neither NULL nor a context */
	cl_int code = 12345;
	(void)clCreateContextFromType(NULL, 0, NULL, NULL, &code);
	printf("%d: clCreateContextFromType(NULL, 0, NULL, NULL, &code)\n", code);
	/* an application may not ask for the code */
	printf("%s: kernel, no code\n", clCreateKernel(program, "absent", NULL) ? "object" : "NULL");
	printf("%s: program, no code\n", clCreateProgramWithSource(g.context, 0, NULL, NULL, NULL) ? "object" : "NULL");
}

static void test_values(void)
{
	size_t one = 1;
	char info[64];

	CODE(clBuildProgram(program, 1, NULL, NULL, NULL, NULL));
	CODE(clBuildProgram(program, 0, &g.device, NULL, NULL, NULL));
	CODE(clBuildProgram(program, 0, NULL, NULL, NULL, info));
	CODE(clSetKernelArg(kernel, 99, sizeof mem, &mem));
	CODE(clSetKernelArg(kernel, 0, 0, NULL));
	CODE(clSetKernelArg(kernel, 0, 3, &mem));
	CODE(clSetKernelArg(kernel, 1, 0, NULL));
	CODE(clSetKernelArg(kernel, 1, (size_t)-1, &one));
	CODE(clGetKernelInfo(kernel, 0xffff, sizeof info, info, NULL));
	CODE(clGetProgramInfo(program, 0xffff, sizeof info, info, NULL));
	CODE(clEnqueueReadBuffer(g.queue, mem, CL_TRUE, 0, 1 << 20, info, 0, NULL, NULL));
	CODE(clEnqueueReadBuffer(g.queue, mem, CL_TRUE, (size_t)-4, 8, info, 0, NULL, NULL));
	CODE(clEnqueueReadBuffer(g.queue, mem, CL_TRUE, 0, 4, NULL, 0, NULL, NULL));
	CODE(clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
	CODE(clEnqueueNDRangeKernel(g.queue, kernel, 77, NULL, &one, NULL, 0, NULL, NULL));
	CODE(clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &(size_t){(size_t)-1}, &one, 0, NULL, NULL));
}

static void build(const char *what, const char *text, size_t length, const char *options)
{
	cl_int err;
	cl_program p = clCreateProgramWithSource(g.context, 1, &text, &length, &err);

	if (err) {
		printf("%s: not created, %d\n", what, err);
		return;
	}
	err = clBuildProgram(p, 1, &g.device, options, NULL, NULL);
	size_t kernels = 0;
	cl_int counted = clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL);
	printf("%s: build %d, count %d, %zu kernels\n", what, err, counted, kernels);
	OK(clReleaseProgram(p));
}

static void test_texts(void)
{
	static char junk[4096], options[1 << 16], deep[8192];
	static const char nul[] = "__kernel void a(void) { }\n\0__kernel void b(void) { }\n";
	unsigned state = 7;

	for (size_t i = 0; i < sizeof junk; i++)
		junk[i] = (char)((state = state * 1103515245u + 12345u) >> 16);
	memset(options, ' ', sizeof options - 1);
	memcpy(options + sizeof options - 32, "-DX=1", 5);
	memset(deep, '(', sizeof deep);
	build("empty", "", 0, NULL);
	build("blank", " \n\t\n", 4, NULL);
	build("no kernel", "int f(void) { return 1; }\n", 26, NULL);
	build("NUL inside", nul, sizeof nul - 1, NULL);
	build("junk", junk, sizeof junk, NULL);
	build("brackets", deep, sizeof deep, NULL);
	build("unfinished comment", source, sizeof source - 1, "-DX=/*");
	build("open quote", source, sizeof source - 1, "-DX=\"");
	build("long blank options", source, sizeof source - 1, options);
	for (size_t i = 0; i + 16 < sizeof options; i += 16)
		snprintf(options + i, 17, " -DLONG%06zu=1 ", i);
	build("long options", source, sizeof source - 1, options);
	build("lone dash", source, sizeof source - 1, "-");
	build("not options", source, sizeof source - 1, "; rm $(x) `y` | z");
	build("unknown standard", source, sizeof source - 1, "-cl-std=CL9.9");
}

int main(void)
{
	cl_int value = 4, zero[4] = {0};

	guest_open(&g);
	program = guest_build(&g, source, NULL);
	kernel = guest_kernel(program, "add");
	mem = guest_buffer(&g, sizeof zero, zero);
	test_null_handles();
	test_null_creators();
	test_values();
	test_texts();
	/* after all that the kernel still works */
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	OK(clSetKernelArg(kernel, 1, sizeof value, &value));
	guest_launch(&g, kernel, 4);
	guest_read(&g, mem, zero, sizeof zero);
	EXPECT(zero[3] == 4, "the kernel gave %d", zero[3]);
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	guest_close(&g);
	puts("garbage done");
	return 0;
}
