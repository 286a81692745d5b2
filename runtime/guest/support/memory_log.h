/* memory_log: the application's buffers, by number, and what was copied to each since a launch used it last. */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_MEMORY_LOG_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_MEMORY_LOG_H

#include "runtime/model/launch_record.h"

/* handle: the driver's, or an address of CUDA. It may have been another buffer's before. */
void memory_log_made(const void *handle);
void memory_log_copied(const void *handle, uint64_t bytes);  /* by the host */
void memory_log_written(const void *handle, uint64_t bytes); /* by a copy or a fill within the GPU */
/* A launch uses it. */
void memory_log_used(const void *handle, struct argument_memory *out);
/* Which of the program's GPUs has its contents. */
void memory_log_set_gpu(const void *handle, uint32_t gpu);
uint32_t memory_log_gpu(const void *handle, uint32_t otherwise); /* `otherwise`: not known */

#endif
