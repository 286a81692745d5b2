/* host: our functions in the way of a program to NVIDIA's driver. Start reading here. */
#ifndef GPUSIM_INTERPOSER_CUDA_HOST_HOST_H
#define GPUSIM_INTERPOSER_CUDA_HOST_HOST_H

#include <stdbool.h>

bool host_is_gpu(void); /* GPUSIM_CUDA_HOST=gpu */

/* Our function for one of the driver's, which is known by its name there and by its address; `function` itself if we have none for it. */
void *host_wrap(const char *name, void *function);

/* Whether an address is one of this library. */
bool host_is_ours(const void *address);
/* dlsym of the C library. */
void *host_real_dlsym(void *handle, const char *name);

#endif
