/* The two ways in (interposer.h): exported functions, and the dispatch table of a layer. */
#include "interposer/opencl/interposer.h"

#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct cl_calls cl;

static struct cl_calls loader; /* libOpenCL's own functions; the exported functions call them */
static bool is_layer;          /* the loader has called clInitLayer */
static pthread_once_t start_once = PTHREAD_ONCE_INIT;

/* RTLD_NEXT finds nothing when libOpenCL was loaded after this library, as a dependency of a module that was opened locally
 * (Python does that). The soname then finds the copy that is already loaded. */
static void *find_function(const char *name)
{
	static void *library;
	void *f = dlsym(RTLD_NEXT, name);
	if (f)
		return f;
	if (!library)
		library = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
	return library ? dlsym(library, name) : NULL;
}

static void find_loader(void)
{
#define HOOK(name, ret, failure, params, args) *(void **)&loader.name = find_function(#name);
#include "interposer/opencl/entries.def"
#undef HOOK
#define X(name) *(void **)&loader.name = find_function(#name);
	CL_PLAIN_CALLS(X)
#undef X
}

static void start(void)
{
	int saved = errno;
	if (!is_layer) {
		find_loader();
		/* The loader initialises its layers at its first call. Before that we cannot know whether we are one of them. */
		cl_uint platforms;
		if (loader.clGetPlatformIDs)
			loader.clGetPlatformIDs(0, NULL, &platforms);
	}
	if (!is_layer)
		cl = loader;
	runtime_start();
	errno = saved;
}

static inline void ensure_started(void)
{
	pthread_once(&start_once, start);
}

void cl_start(void)
{
	ensure_started();
}

#define HOOK(name, ret, failure, params, args) \
	static ret CL_API_CALL layer_##name params \
	{ \
		ensure_started(); \
		if (!cl.name) \
			return failure; \
		return runtime_active() ? hook_##name args : cl.name args; \
	} \
	EXPORT ret CL_API_CALL name params \
	{ \
		ensure_started(); \
		if (!is_layer) \
			return layer_##name args; \
		if (!loader.name) \
			return failure; \
		return loader.name args; \
	}
#include "interposer/opencl/entries.def"
#undef HOOK

static const cl_icd_dispatch layer_dispatch = {
#define HOOK(name, ret, failure, params, args) .name = layer_##name,
#include "interposer/opencl/entries.def"
#undef HOOK
};

EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *value, size_t *size)
{
	static const char name[] = "gpusim";
	cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	const void *answer = what == CL_LAYER_API_VERSION ? (const void *)&version : name;
	size_t length = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
	if ((what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) || (value && room < length))
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, answer, length);
	if (size)
		*size = length;
	return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_ret,
                                      const cl_icd_dispatch **layer)
{
	enum { ENTRIES = sizeof(cl_icd_dispatch) / sizeof(void *) };
	cl_icd_dispatch known = {0};
	if (!target || !count_ret || !layer)
		return CL_INVALID_VALUE;
	memcpy(&known, target, (count < ENTRIES ? count : ENTRIES) * sizeof(void *));
#define HOOK(name, ret, failure, params, args) cl.name = known.name;
#include "interposer/opencl/entries.def"
#undef HOOK
#define X(name) cl.name = known.name;
	CL_PLAIN_CALLS(X)
#undef X
	/* The library may be preloaded as well. The exported functions then pass calls on to the loader. */
	if (!loader.clGetPlatformIDs)
		find_loader();
	is_layer = true;
	*count_ret = ENTRIES;
	*layer = &layer_dispatch;
	return CL_SUCCESS;
}
