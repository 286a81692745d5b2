/* start: the OpenCL device that CUDA programs run on. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_START_H
#define GPUSIM_RUNTIME_GUEST_CUDA_START_H

#include "runtime/guest/driver/buffers.h"

struct cuda_device {
	cl_device_id device;
	cl_context context;
	struct context_pool *pool;
	cl_uint units; /* groups that it runs at a time */
};

/* After cuda_start has succeeded. */
const struct cuda_device *cuda_device(void);
/* At exit: what the program has enqueued is completed, within reason, and what kernels have printed is written. */
void cuda_finish(void);

#endif
