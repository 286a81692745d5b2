/* Kernels, their arguments and their launches. */
#include "interposer/opencl/interposer.h"

cl_kernel hook_clCreateKernel(cl_program program, const char *name, cl_int *error)
{
	cl_kernel kernel = cl.clCreateKernel(program, name, error);
	if (kernel)
		TELL(kernel_created(kernel, program));
	return kernel;
}

cl_int hook_clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count)
{
	cl_uint created = 0;
	cl_int result = cl.clCreateKernelsInProgram(program, room, kernels, &created);
	if (count)
		*count = created;
	for (cl_uint i = 0; result == CL_SUCCESS && kernels && i < created && i < room; i++)
		TELL(kernel_created(kernels[i], program));
	return result;
}

cl_kernel hook_clCloneKernel(cl_kernel kernel, cl_int *error)
{
	cl_kernel clone = cl.clCloneKernel(kernel, error);
	if (clone)
		TELL(kernel_cloned(clone, kernel));
	return clone;
}

cl_int hook_clRetainKernel(cl_kernel kernel)
{
	cl_int result = cl.clRetainKernel(kernel);
	if (result == CL_SUCCESS)
		kernel_retained(kernel);
	return result;
}

cl_int hook_clReleaseKernel(cl_kernel kernel)
{
	TELL(kernel_released(kernel)); /* before the driver's release: the handle may be reused at once */
	return cl.clReleaseKernel(kernel);
}

cl_int hook_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
	cl_int result = cl.clSetKernelArg(kernel, index, size, value);
	if (result == CL_SUCCESS)
		TELL(kernel_arg_set(kernel, index, size, value));
	return result;
}

cl_int hook_clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *value)
{
	cl_int result = cl.clSetKernelArgSVMPointer(kernel, index, value);
	if (result == CL_SUCCESS)
		TELL(kernel_svm_arg_set(kernel, index, value));
	return result;
}

cl_int hook_clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void *value)
{
	cl_int result = cl.clSetKernelExecInfo(kernel, what, size, value);
	if (result == CL_SUCCESS)
		TELL(kernel_exec_info_set(kernel, what, size, value));
	return result;
}

cl_int hook_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                   const size_t *global, const size_t *local, cl_uint wait_count, const cl_event *wait,
                                   cl_event *event)
{
	/* A call without a global size is an error. Since OpenCL 2.1 it is a launch that does nothing. The driver decides. */
	if (!global)
		return cl.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, wait_count, wait, event);
	return kernel_launch(queue, kernel, dims, offset, global, local, wait_count, wait, event);
}

cl_int hook_clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count, const cl_event *wait,
                          cl_event *event)
{
	return kernel_launch(queue, kernel, 1, NULL, NULL, NULL, wait_count, wait, event);
}

cl_int hook_clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *args,
                                  size_t args_size, cl_uint mem_count, const cl_mem *mems, const void **locations,
                                  cl_uint wait_count, const cl_event *wait, cl_event *event)
{
	cl_int result = cl.clEnqueueNativeKernel(queue, function, args, args_size, mem_count, mems, locations, wait_count,
	                                         wait, event);
	if (result == CL_SUCCESS)
		launch_not_modelled("(native function)", "a function of the host, not a kernel");
	return result;
}
