/* device: an OpenCL device that is measured. The library is opened at run time, so that building needs its headers alone. */
#ifndef GPUSIM_TRUTH_DEVICE_H
#define GPUSIM_TRUTH_DEVICE_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

#define TRUTH_FUNCTIONS(X)                                                                                             \
	X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext) X(clCreateCommandQueue)      \
	X(clCreateProgramWithSource) X(clBuildProgram) X(clGetProgramBuildInfo) X(clGetProgramInfo) X(clCreateKernel)  \
	X(clReleaseKernel) X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clFinish) X(clReleaseEvent)                   \
	X(clGetEventProfilingInfo) X(clCreateBuffer) X(clCreateImage2D) X(clReleaseMemObject) X(clEnqueueReadBuffer)   \
	X(clEnqueueWriteBuffer) X(clEnqueueReadImage) X(clEnqueueWriteImage)

enum { TRUTH_PROGRAMS = 32 };

struct measured_device {
#define FIELD(name) __typeof__(name) *name;
	TRUTH_FUNCTIONS(FIELD)
#undef FIELD
	cl_device_id id;
	cl_context context;
	cl_command_queue queue;
	bool is_nvidia; /* lines of PTX read its clocks */
	bool is_quick;  /* everything once, for a device that is not measured but tried on */
	struct {
		char file[64];
		cl_program program;
	} programs[TRUTH_PROGRAMS];
	int program_count;
	cl_kernel spin, flush, nothing, rate, stamp; /* of its own */
	cl_mem scratch, area;               /* scratch: results of these; area: what is flushed over the caches */
};

/* Says what failed. Returns whether nothing did. */
bool succeeded(cl_int err, const char *what);
bool open_measured_device(struct measured_device *d);
/* A program, once. Options are the driver's defaults. ptx_dir: where its PTX goes, or NULL. */
cl_program built_program(struct measured_device *d, const char *folder, const char *file, const char *ptx_dir);
/* One launch, and its time from START to END. local: NULL for the driver's choice. */
bool timed_launch(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, double *ns);
/* So many in a row: the time of one of them, from the first one's START to the last one's END; and the clock right after them. */
bool launch_row(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, int count, double *ns,
                double *clock_mhz);
/* The same by the GPU's own timer, which a work-item reads before and another after. 0 where there is none. */
bool stamped_launch(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, double *ns);
bool spin_up(struct measured_device *d, double ms);
bool flush_caches(struct measured_device *d);
double sm_clock_mhz(struct measured_device *d); /* 0: not known */

#endif
