/*
 * The driver, as a table of its functions. The interposer fills it once: from the next library in the search order, or from the
 * dispatch table that the loader gives to a layer. Code that calls the driver need not know which. All our own calls go through
 * this table, so they never come back to our hooks.
 */
#ifndef GPUSIM_RUNTIME_GUEST_DRIVER_CL_H
#define GPUSIM_RUNTIME_GUEST_DRIVER_CL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>

/* Functions that we call but do not interpose. */
#define CL_PLAIN_CALLS(X) \
	X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetCommandQueueInfo) \
	X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clReleaseMemObject) \
	X(clGetMemObjectInfo) X(clGetImageInfo) X(clGetKernelInfo) \
	X(clSetEventCallback) X(clRetainEvent) X(clReleaseEvent) X(clRetainContext) \
	X(clReleaseContext) X(clFlush) X(clGetProgramBuildInfo) X(clCreateSubBuffer) \
	X(clRetainDevice) X(clCreateContext)

struct cl_calls {
#define HOOK(name, ret, failure, params, args) ret (CL_API_CALL *name) params;
#include "interposer/opencl/entries.def"
#undef HOOK
#define X(name) __typeof__(&name) name;
	CL_PLAIN_CALLS(X)
#undef X
};

extern struct cl_calls cl;

/* Fills the table and starts the runtime, unless an OpenCL call has done so. For programs that call no OpenCL themselves. */
void cl_start(void);

#endif
