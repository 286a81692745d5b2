/* The exported functions (interposer.h), made of entries.def. */
#include "interposer/cuda/interposer.h"

#include "interposer/cuda/host/host.h"
#include "interposer/cuda/ways/caller.h"
#include "interposer/cuda/ways/static_runtime.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

bool entry_is_off(void)
{
	const char *off = getenv("GPUSIM_OFF");
	return (off && !strcmp(off, "1")) || host_is_gpu();
}

static atomic_int is_off = -1; /* what entry_is_off() said at the first call */
static pthread_once_t start_once = PTHREAD_ONCE_INIT;
static bool started;

static void start(void)
{
	int saved = errno;
	struct gs_error err = {""};
	started = !cuda_start(&err); /* which says why not */
	errno = saved;
}

static bool switched_off(void)
{
	int off = atomic_load_explicit(&is_off, memory_order_relaxed);
	if (off < 0)
		atomic_store_explicit(&is_off, off = entry_is_off(), memory_order_relaxed);
	return off;
}

static atomic_bool runtime_used;

bool entry_runtime_used(void)
{
	return atomic_load_explicit(&runtime_used, memory_order_relaxed);
}

int entry_device_error(void)
{
	if (!entry_runtime_used())
		atomic_store_explicit(&runtime_used, true, memory_order_relaxed);
	return entry_start();
}

/* A forked child has lost the threads that do the work. */
int entry_start(void)
{
	pthread_once(&start_once, start);
	if (!cuda_active())
		return started ? cudaErrorInitializationError : cudaErrorNoDevice;
	return error_sticky();
}

/* Libraries that were opened locally are not found by RTLD_NEXT. */
static void *find_in_loaded(const char *name)
{
	static const char *const libraries[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcuda.so.1"};
	for (size_t i = 0; i < GS_ARRAY_LEN(libraries); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
		void *f = library ? dlsym(library, name) : NULL;
		if (library)
			dlclose(library);
		if (f)
			return f;
	}
	return NULL;
}

void *entry_next(const char *name, const void *self)
{
	void *f = dlsym(RTLD_NEXT, name);
	if (!f)
		f = find_in_loaded(name);
	if (f == self)
		return NULL; /* an alias library (README.md) leads back to us */
	return f && host_is_gpu() ? host_wrap(name, f) : f;
}

/* What does not need the device's context works after a fault, too. */
static bool outlives_fault(const char *name)
{
	static const char *const names[] = {"cudaGetDeviceCount", "cudaSetDevice", "cudaGetDevice", "cudaGetDeviceProperties", "cudaGetDeviceProperties_v2",
	                                    "cudaDeviceGetAttribute", "cudaDeviceReset", "cudaThreadExit", "cudaRuntimeGetVersion"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int error_before(const char *name)
{
	int error = entry_device_error();
	return error && error == error_sticky() && outlives_fault(name) ? cudaSuccess : error;
}

/* An exported function. `call` is what it does when we are not switched off. */
#define FUNCTION(name, type, otherwise, params, args, ...) \
	EXPORT type name params; \
	EXPORT type name params \
	{ \
		if (switched_off()) \
			PASS_ON(name, type, otherwise, params, args); \
		__VA_ARGS__ \
	}
#define DEVICE_FUNCTION(name, params, args, ...) \
	FUNCTION(name, int, cudaErrorNoDevice, params, args, int error = error_before(#name); \
	         return error_note(error ? error : __VA_ARGS__);)
#define FOR_THREAD(name, params, args) \
	DEVICE_FUNCTION(name##_ptsz, params, args, (stream = stream ? stream : API_THREAD_STREAM, hook_##name args))

#define CALL(name, params, args) DEVICE_FUNCTION(name, params, args, hook_##name args)
#define LONG_CALL(name, params, args) \
	DEVICE_FUNCTION(name, (API_LIST params, API_MORE), (API_LIST args, API_MORE_ARGUMENTS), hook_##name args)
#define STREAM_CALL(name, params, args) CALL(name, params, args) FOR_THREAD(name, params, args)
#define DEFAULT_CALL(name, params, args) \
	DEVICE_FUNCTION(name, params, args, hook_##name(API_LIST args, NULL)) \
	DEVICE_FUNCTION(name##_ptds, params, args, hook_##name(API_LIST args, API_THREAD_STREAM))
#define VERSION_CALL(name, params, args) \
	DEVICE_FUNCTION(name, params, args, hook_##name(API_LIST args, caller_version(__builtin_return_address(0))))
#define FREE_CALL(name, params, args) FUNCTION(name, int, cudaErrorNoDevice, params, args, return hook_##name args;)
#define PLAIN(name, type, otherwise, params, args) FUNCTION(name, type, otherwise, params, args, return hook_##name args;)
#include "interposer/cuda/entries.def"

static const struct entry_address {
	const char *name;
	void *address;
} addresses[] = {
#define CALL(name, params, args) {#name, (void *)name},
#define LONG_CALL(name, params, args) {#name, (void *)name},
#define STREAM_CALL(name, params, args) {#name, (void *)name}, {#name "_ptsz", (void *)name##_ptsz},
#define DEFAULT_CALL(name, params, args) {#name, (void *)name}, {#name "_ptds", (void *)name##_ptds},
#define VERSION_CALL(name, params, args) {#name, (void *)name},
#define FREE_CALL(name, params, args) {#name, (void *)name},
#define PLAIN(name, type, otherwise, params, args) {#name, (void *)name},
#include "interposer/cuda/entries.def"
};

void *entry_find(const char *name)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(addresses); i++)
		if (!strcmp(addresses[i].name, name))
			return addresses[i].address;
	return entry_refused(name);
}

/* Before the program's own code runs, which registers its fat binaries before main. */
__attribute__((constructor)) static void when_loaded(void)
{
	int saved = errno;
	if (!switched_off())
		static_runtime_redirect(entry_find);
	errno = saved;
}
