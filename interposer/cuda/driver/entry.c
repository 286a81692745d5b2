/* The exported functions, made of entries.def, and how a program finds them by name. */
#include "interposer/cuda/copies.h"
#include "interposer/cuda/driver/compiler_options.h"
#include "interposer/cuda/driver/driver.h"
#include "interposer/cuda/streams.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The runtime's numbers below 100 are its own, but for the first few. */
int driver_error(int error)
{
	enum { LAST_COMMON = 8, FIRST_COMMON = 100 };
	if (error <= LAST_COMMON || error >= FIRST_COMMON)
		return error;
	switch (error) {
	case cudaErrorInvalidSymbol:
	case cudaErrorInvalidDeviceFunction:
		return cudaErrorSymbolNotFound;
	default:
		return cudaErrorInvalidValue;
	}
}

/* The driver's own names. The numbers are those of the runtime. */
static const struct driver_error_name {
	int number;
	const char *name;
} error_names[] = {
	{0, "CUDA_SUCCESS"},
	{1, "CUDA_ERROR_INVALID_VALUE"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY"},
	{3, "CUDA_ERROR_NOT_INITIALIZED"},
	{4, "CUDA_ERROR_DEINITIALIZED"},
	{100, "CUDA_ERROR_NO_DEVICE"},
	{101, "CUDA_ERROR_INVALID_DEVICE"},
	{200, "CUDA_ERROR_INVALID_IMAGE"},
	{201, "CUDA_ERROR_INVALID_CONTEXT"},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
	{218, "CUDA_ERROR_INVALID_PTX"},
	{301, "CUDA_ERROR_FILE_NOT_FOUND"},
	{400, "CUDA_ERROR_INVALID_HANDLE"},
	{500, "CUDA_ERROR_NOT_FOUND"},
	{600, "CUDA_ERROR_NOT_READY"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
	{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
	{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
	{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
	{710, "CUDA_ERROR_ASSERT"},
	{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
	{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
	{714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
	{718, "CUDA_ERROR_INVALID_PC"},
	{719, "CUDA_ERROR_LAUNCH_FAILED"},
	{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
	{800, "CUDA_ERROR_NOT_PERMITTED"},
	{801, "CUDA_ERROR_NOT_SUPPORTED"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
	{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
	{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
	{907, "CUDA_ERROR_CAPTURED_EVENT"},
	{999, "CUDA_ERROR_UNKNOWN"},
};

int error_text(int error, const char **out, bool name)
{
	if (!out)
		return cudaErrorInvalidValue;
	*out = NULL;
	for (size_t i = 0; i < GS_ARRAY_LEN(error_names); i++)
		if (error_names[i].number == error)
			*out = name ? error_names[i].name : hook_cudaGetErrorString(error);
	return *out ? cudaSuccess : cudaErrorInvalidValue;
}

/* A stream that was made names its context; the default streams are those of the current one. */
static int needs_context_of(const void *stream)
{
	return !stream || stream == API_LEGACY_STREAM || stream == API_THREAD_STREAM ? driver_needs_context() : driver_needs_start();
}

#define FUNCTION(name, params, args, need, ...) \
	EXPORT int name params; \
	EXPORT int name params \
	{ \
		if (entry_is_off()) \
			PASS_ON(name, int, cudaErrorNoDevice, params, args); \
		int error = need; \
		return error ? error : driver_error(__VA_ARGS__); \
	}

#define FREE_CALL(name, params, args, ...) FUNCTION(name, params, args, 0, __VA_ARGS__)
#define DEVICE_CALL(name, params, args, ...) FUNCTION(name, params, args, driver_needs_start(), __VA_ARGS__)
#define CALL(name, params, args, ...) FUNCTION(name, params, args, driver_needs_context(), __VA_ARGS__)
#define LONG_CALL(name, params, args, ...) CALL(name, (API_LIST params, API_MORE), (API_LIST args, API_MORE_ARGUMENTS), __VA_ARGS__)
#define STREAM_CALL(name, params, args, ...) \
	FUNCTION(name, params, args, needs_context_of(stream), __VA_ARGS__) \
	FUNCTION(name##_ptsz, params, args, needs_context_of(stream), (stream = stream ? stream : API_THREAD_STREAM, __VA_ARGS__))
/* `stream` is that of the function's name. */
#define DEFAULT_CALL(name, params, args, ...) \
	static int default_##name(API_LIST params, void *stream) \
	{ \
		return __VA_ARGS__; \
	} \
	CALL(name, params, args, default_##name(API_LIST args, NULL)) \
	CALL(name##_ptds, params, args, default_##name(API_LIST args, API_THREAD_STREAM))
#include "interposer/cuda/driver/entries.def"

static const struct driver_address {
	const char *name;
	void *address;
} addresses[] = {
#define FREE_CALL(name, ...) {#name, (void *)name},
#define DEVICE_CALL(name, ...) {#name, (void *)name},
#define CALL(name, ...) {#name, (void *)name},
#define LONG_CALL(name, ...) {#name, (void *)name},
#define STREAM_CALL(name, ...) {#name, (void *)name}, {#name "_ptsz", (void *)name##_ptsz},
#define DEFAULT_CALL(name, ...) {#name, (void *)name}, {#name "_ptds", (void *)name##_ptds},
#include "interposer/cuda/driver/entries.def"
};

/* ---- by name ---- */

static void *find_address(const char *name)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(addresses); i++)
		if (!strcmp(addresses[i].name, name))
			return addresses[i].address;
	return entry_refused(name);
}

/* The version of CUDA, 1000 * major + 10 * minor, since which a plain name means this form. Forms with _v2 that are not here came with 3.2. */
static int since(const char *name, int form)
{
	static const struct {
		const char *name;
		int form, since;
	} forms[] = {
		{"cuCtxCreate", 3, 11040},
		{"cuCtxCreate", 4, 12050},
		{"cuCtxGetDevice", 2, 13000},
		{"cuCtxSynchronize", 2, 13000},
		{"cuDeviceGetUuid", 2, 11040},
		{"cuDevicePrimaryCtxRelease", 2, 11000},
		{"cuDevicePrimaryCtxReset", 2, 11000},
		{"cuDevicePrimaryCtxSetFlags", 2, 11000},
		{"cuEventElapsedTime", 2, 12080},
		{"cuGetProcAddress", 2, 12000},
		{"cuGraphAddDependencies", 2, 12030},
		{"cuGraphAddKernelNode", 2, 12000},
		{"cuGraphAddNode", 2, 12030},
		{"cuGraphExecKernelNodeSetParams", 2, 12000},
		{"cuGraphExecUpdate", 2, 12000},
		{"cuGraphGetEdges", 2, 12030},
		{"cuGraphInstantiate", 2, 11000},
		{"cuGraphKernelNodeGetParams", 2, 12000},
		{"cuGraphKernelNodeSetParams", 2, 12000},
		{"cuGraphNodeGetDependencies", 2, 12030},
		{"cuGraphNodeGetDependentNodes", 2, 12030},
		{"cuGraphRemoveDependencies", 2, 12030},
		{"cuMemAdvise", 2, 12020},
		{"cuMemPrefetchAsync", 2, 12020},
		{"cuMemcpyBatchAsync", 2, 13000},
		{"cuTexRefSetAddress2D", 3, 4010},
		{"cuStreamGetCaptureInfo", 2, 11030},
		{"cuStreamGetCaptureInfo", 3, 12030},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(forms); i++)
		if (forms[i].form == form && !strcmp(forms[i].name, name))
			return forms[i].since;
	return 3020;
}

enum { LEGACY = 1, PER_THREAD = 2 }; /* flags: whose default stream */

int driver_find(const char *name, void **out, int version, unsigned long long flags, int *status)
{
	enum { FOUND = 0, NOT_FOUND = 1, NEWEST_FORM = 4 };
	static const char *const per_thread[] = {"_ptsz", "_ptds", ""};
	char text[160];
	if (!name || !out || (flags & ~(unsigned long long)(LEGACY | PER_THREAD)) || flags == (LEGACY | PER_THREAD))
		return cudaErrorInvalidValue;
	*out = NULL;
	for (int form = NEWEST_FORM; form > 0 && !*out; form--) {
		char number[8] = "";
		if (form > 1 && version < since(name, form))
			continue;
		if (form > 1)
			snprintf(number, sizeof number, "_v%d", form);
		for (size_t i = flags & PER_THREAD ? 0 : 2; i < GS_ARRAY_LEN(per_thread) && !*out; i++) {
			snprintf(text, sizeof text, "%s%s%s", name, number, per_thread[i]);
			*out = find_address(text);
		}
	}
	if (status)
		*status = *out ? FOUND : NOT_FOUND;
	return *out ? cudaSuccess : cudaErrorSymbolNotFound;
}

/* ---- the runtime's ways to them ---- */

static int find_for_runtime(const char *name, void **out, unsigned version, unsigned long long flags, int *status)
{
	int error = driver_find(name, out, (int)version, flags, status);
	return error == cudaErrorSymbolNotFound && status ? cudaSuccess : error;
}

enum { NEWEST = 13000 };

int hook_cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status)
{
	return find_for_runtime(name, out, NEWEST, flags, status);
}

int hook_cudaGetDriverEntryPoint_ptsz(const char *name, void **out, unsigned long long flags, int *status)
{
	return find_for_runtime(name, out, NEWEST, flags ? flags : PER_THREAD, status);
}

int hook_cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, unsigned long long flags, int *status)
{
	return find_for_runtime(name, out, version, flags, status);
}

int hook_cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **out, unsigned version, unsigned long long flags, int *status)
{
	return find_for_runtime(name, out, version, flags ? flags : PER_THREAD, status);
}
