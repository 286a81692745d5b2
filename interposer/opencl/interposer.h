/*
 * interposer: the OpenCL entry points, as the application calls them.
 *
 * A hook is our function for one entry point. It passes the call to the driver, gives the application the driver's own answer,
 * and reports the call to the runtime. It models nothing, keeps no records of objects, and links no LLVM.
 *
 * There are two ways into the hooks. With LD_PRELOAD, applications call functions that are exported under OpenCL's own names.
 * With OPENCL_LAYERS, the loader calls the dispatch table of a layer. With both at once, the exported functions pass every call
 * to the loader, and the loader calls the layer. So no call is seen twice.
 */
#ifndef GPUSIM_INTERPOSER_OPENCL_INTERPOSER_H
#define GPUSIM_INTERPOSER_OPENCL_INTERPOSER_H

#include "runtime/runtime.h"

#include <errno.h>

/* Reports something to the runtime. The application's errno stays as the driver left it. */
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
