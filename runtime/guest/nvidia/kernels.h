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

/* PTX that counts, and that traces as well. For large groups there is each with few registers. */
enum twin_form { TWIN_COUNTS, TWIN_TRACES, TWIN_COUNTS_TIGHTLY, TWIN_TRACES_TIGHTLY, TWIN_FORMS };

struct gpu_twin {
	void *module; /* CUmodule; NULL: not loaded */
	unsigned long long context;
	bool failed;
};

struct gpu_module {
	const void *handle; /* CUmodule or CUlibrary */
	bool library;
	struct cuda_module *lifted; /* NULL: `why` says why not */
	bool prepared;              /* gpusim-cc was asked */
	const char *why;            /* it has nothing for us; NULL: it has */
	struct gpu_twin twins[TWIN_FORMS];
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
	void *twins[TWIN_FORMS];    /* CUfunctions */
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
bool kernels_has_line(const char *lines, const char *name); /* of a text with one name in each line */

#endif
