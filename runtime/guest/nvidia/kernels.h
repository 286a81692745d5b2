/*
 * kernels: modules and kernels that the program has loaded into a real GPU, and what gpusim-cc knows of them.
 *
 * A kernel is known by the driver's handle for it. Its module's image, as the program gave it to the driver, is lifted when the kernel is launched for
 * the first time (runtime/guest/cuda/modules.h). Kernels without PTX, or whose image we have not seen, are measured only.
 */
#ifndef GPUSIM_RUNTIME_GUEST_NVIDIA_KERNELS_H
#define GPUSIM_RUNTIME_GUEST_NVIDIA_KERNELS_H

#include "runtime/guest/cuda/modules.h"
#include "runtime/model/stats.h"

struct gpu_module {
	const void *handle; /* CUmodule or CUlibrary */
	bool library;
	struct cuda_module *lifted;
	bool prepared; /* gpusim-cc was asked */
	char *why;     /* it has nothing for us; NULL: it has */
	void *twin;    /* CUmodule of the PTX that counts */
	unsigned long long twin_context;
	bool twin_failed;
};

/* Launches of one size. */
struct gpu_sizes {
	struct measured_shape shape;
	unsigned launches; /* after the first */
};

struct gpu_kernel {
	char *name, *title;
	struct gpu_module *module; /* NULL: not known */
	bool asked;
	struct cuda_kernel *kernel; /* NULL: it is not modelled */
	char *why;                  /* that */
	void *twin;                 /* CUfunction of the PTX that counts */
	bool cannot_count;
	struct gpu_sizes *sizes;
	unsigned size_count;
};

/* The driver has loaded an image. `image` is a fat binary or its wrapper, a cubin, or PTX text. */
void kernels_loaded(const void *handle, const void *image, bool library);
void kernels_module_alias(const void *handle, const void *same);
void kernels_found(const void *function, const void *module, const char *name);
void kernels_alias(const void *function, const void *same);
/* The kernel of a handle, new if need be, by the name that the driver tells. NULL: out of memory. */
struct gpu_kernel *kernels_get(const void *function);
/* Before a launch: whether it can be modelled is known afterwards. True: it was not before. */
bool kernels_ask(struct gpu_kernel *k);

#endif
