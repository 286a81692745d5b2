/*
 * dlopen - an application that is not linked with libOpenCL. It opens the library itself and looks up every function of OpenCL
 * 3.0 by name, as hashcat, OpenCV and Python's bindings do.
 */
#include "guest.h"

#include <dlfcn.h>

#define FUNCTIONS(X) \
	X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateSubDevices) \
	X(clRetainDevice) X(clReleaseDevice) X(clSetDefaultDeviceCommandQueue) X(clGetDeviceAndHostTimer) \
	X(clGetHostTimer) X(clCreateContext) X(clCreateContextFromType) X(clRetainContext) X(clReleaseContext) \
	X(clGetContextInfo) X(clSetContextDestructorCallback) X(clCreateCommandQueueWithProperties) \
	X(clRetainCommandQueue) X(clReleaseCommandQueue) X(clGetCommandQueueInfo) X(clCreateBuffer) \
	X(clCreateSubBuffer) X(clCreateImage) X(clCreatePipe) X(clCreateBufferWithProperties) \
	X(clCreateImageWithProperties) X(clRetainMemObject) X(clReleaseMemObject) X(clGetSupportedImageFormats) \
	X(clGetMemObjectInfo) X(clGetImageInfo) X(clGetPipeInfo) X(clSetMemObjectDestructorCallback) X(clSVMAlloc) \
	X(clSVMFree) X(clCreateSamplerWithProperties) X(clRetainSampler) X(clReleaseSampler) X(clGetSamplerInfo) \
	X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clCreateProgramWithBuiltInKernels) \
	X(clCreateProgramWithIL) X(clRetainProgram) X(clReleaseProgram) X(clBuildProgram) X(clCompileProgram) \
	X(clLinkProgram) X(clSetProgramReleaseCallback) X(clSetProgramSpecializationConstant) \
	X(clUnloadPlatformCompiler) X(clGetProgramInfo) X(clGetProgramBuildInfo) X(clCreateKernel) \
	X(clCreateKernelsInProgram) X(clCloneKernel) X(clRetainKernel) X(clReleaseKernel) X(clSetKernelArg) \
	X(clSetKernelArgSVMPointer) X(clSetKernelExecInfo) X(clGetKernelInfo) X(clGetKernelArgInfo) \
	X(clGetKernelWorkGroupInfo) X(clGetKernelSubGroupInfo) X(clWaitForEvents) X(clGetEventInfo) \
	X(clCreateUserEvent) X(clRetainEvent) X(clReleaseEvent) X(clSetUserEventStatus) X(clSetEventCallback) \
	X(clGetEventProfilingInfo) X(clFlush) X(clFinish) X(clEnqueueReadBuffer) X(clEnqueueReadBufferRect) \
	X(clEnqueueWriteBuffer) X(clEnqueueWriteBufferRect) X(clEnqueueFillBuffer) X(clEnqueueCopyBuffer) \
	X(clEnqueueCopyBufferRect) X(clEnqueueReadImage) X(clEnqueueWriteImage) X(clEnqueueFillImage) \
	X(clEnqueueCopyImage) X(clEnqueueCopyImageToBuffer) X(clEnqueueCopyBufferToImage) X(clEnqueueMapBuffer) \
	X(clEnqueueMapImage) X(clEnqueueUnmapMemObject) X(clEnqueueMigrateMemObjects) X(clEnqueueNDRangeKernel) \
	X(clEnqueueNativeKernel) X(clEnqueueMarkerWithWaitList) X(clEnqueueBarrierWithWaitList) X(clEnqueueSVMFree) \
	X(clEnqueueSVMMemcpy) X(clEnqueueSVMMemFill) X(clEnqueueSVMMap) X(clEnqueueSVMUnmap) X(clEnqueueSVMMigrateMem) \
	X(clGetExtensionFunctionAddressForPlatform) X(clCreateImage2D) X(clCreateImage3D) \
	X(clEnqueueMarker) X(clEnqueueWaitForEvents) X(clEnqueueBarrier) X(clUnloadCompiler) \
	X(clGetExtensionFunctionAddress) X(clCreateCommandQueue) X(clCreateSampler) X(clEnqueueTask)

#define POINTER(name) static __typeof__(&name) p_##name;
FUNCTIONS(POINTER)

enum { COUNT = 333 };

static const char source[] =
	"__kernel void cube(__global const float *in, __global float *out)\n"
	"{\n"
	"	size_t i = get_global_id(0);\n"
	"	out[i] = in[i] * in[i] * in[i];\n"
	"}\n";

static void look_up(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

	EXPECT(library, "dlopen: %s", dlerror());
#define LOOK_UP(name) \
	*(void **)&p_##name = dlsym(library, #name); \
	if (!p_##name) \
		printf("missing: %s\n", #name);
	FUNCTIONS(LOOK_UP)
}

int main(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_int err;
	size_t global = COUNT;
	float in[COUNT], out[COUNT];
	const char *text = source;

	look_up();
	OK(p_clGetPlatformIDs(1, &platform, NULL));
	OK(p_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	cl_context context = p_clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	CREATED(err);
	cl_command_queue queue = p_clCreateCommandQueueWithProperties(context, device, NULL, &err);
	CREATED(err);
	cl_program program = p_clCreateProgramWithSource(context, 1, &text, NULL, &err);
	CREATED(err);
	OK(p_clBuildProgram(program, 1, &device, "", NULL, NULL));
	cl_kernel kernel = p_clCreateKernel(program, "cube", &err);
	CREATED(err);
	for (int i = 0; i < COUNT; i++)
		in[i] = (float)(i % 50);
	cl_mem from = p_clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in, &err);
	CREATED(err);
	cl_mem to = p_clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &err);
	CREATED(err);
	OK(p_clSetKernelArg(kernel, 0, sizeof from, &from));
	OK(p_clSetKernelArg(kernel, 1, sizeof to, &to));
	OK(p_clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
	OK(p_clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
	for (int i = 0; i < COUNT; i++)
		EXPECT(out[i] == in[i] * in[i] * in[i], "element %d is %f", i, (double)out[i]);
	printf("through dlsym: %08x\n", guest_sum(out, sizeof out));
	printf("unknown function: %s\n", p_clGetExtensionFunctionAddressForPlatform(platform, "clNo") ? "found" : "NULL");
	OK(p_clReleaseMemObject(from));
	OK(p_clReleaseMemObject(to));
	OK(p_clReleaseKernel(kernel));
	OK(p_clReleaseProgram(program));
	OK(p_clReleaseCommandQueue(queue));
	OK(p_clReleaseContext(context));
	return 0;
}
