/* launch: launches as commands that can be kept. */
#ifndef GPUSIM_INTERPOSER_CUDA_LAUNCH_H
#define GPUSIM_INTERPOSER_CUDA_LAUNCH_H

#include "interposer/cuda/graphs/graphs.h"
#include "interposer/cuda/registration.h"

/* Checks a launch and makes a command of it, whose parameters are the caller's. Returns an error number. */
int launch_command(const void *function, struct api_size3 grid, struct api_size3 block, void **args, size_t dynamic_shared,
                   struct graph_command *out);
/* Pointers to the parameters in the buffer that `extra` names, for whoever has them in one piece. The caller frees them. NULL: they do not fit, or
 * there is no memory. */
void **launch_arguments(const struct cuda_kernel_facts *facts, void **extra);
/* The blocks of a cluster that the attributes or the kernel ask for; 0: it has none. Returns an error number. */
int launch_cluster(const struct registered_function *f, const struct api_launch_config *config, unsigned size[3]);
int launch_enqueue(const struct registered_function *f, const struct cuda_launch *l, void *stream);

#endif
