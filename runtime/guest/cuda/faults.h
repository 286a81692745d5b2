/* faults: what stopped a kernel. The first one stays: as on a GPU, nothing can be launched after it. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_FAULTS_H
#define GPUSIM_RUNTIME_GUEST_CUDA_FAULTS_H

#include "runtime/base/base.h"
#include "runtime/format/lifted.h"

/* After a launch: says what happened on stderr, once, and keeps it. Does nothing if there was no fault. */
void fault_note(const struct lifted_fault *f, const char *kernel, const uint64_t grid[3]);
/* The same of a launch that the driver ended with an error. */
void fault_of_driver(const char *kernel, int code);
/* Around a launch. A kernel that accesses memory that does not exist ends with a fault (guard.h). Where kernels cannot have a guard, the process
 * ends: this says why, and writes the reports. Faults outside of kernels are the application's, as are its handlers for them. */
void fault_watch(const char *kernel);
void fault_watch_end(void);
/* 0, or the negative number of enum cuda_fault (runtime/cuda.h; EIO: the driver's) and what happened. */
int fault_now(struct gs_error *err);

#endif
