/*
 * interposer: the OpenCL entry points, as the application calls them.
 *
 * Each hook passes the call to the driver, gives the application the driver's own answer and tells the
 * runtime what happened. It models nothing, keeps no records of objects, and links no LLVM.
 *
 * There are two ways in, and both end in the hooks: the functions exported under OpenCL's own names
 * (LD_PRELOAD), and the dispatch table of a layer (OPENCL_LAYERS). With both at once, the exported
 * functions pass every call to the loader, which comes back through the layer: nothing is seen twice.
 */
#ifndef GPUSIM_INTERPOSER_OPENCL_INTERPOSER_H
#define GPUSIM_INTERPOSER_OPENCL_INTERPOSER_H

#include "runtime/runtime.h"

#include <errno.h>

/* What a hook tells the runtime; the application's errno stays what the driver left. */
#define TELL(...) \
	do { \
		int saved_errno = errno; \
		__VA_ARGS__; \
		errno = saved_errno; \
	} while (0)

#define HOOK(name, ret, failure, params, args) ret hook_##name params;
#include "interposer/opencl/entries.def"
#undef HOOK

#endif
