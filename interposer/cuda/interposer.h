/*
 * interposer: the entry points of the CUDA runtime, as the application calls them.
 *
 * There is no CUDA below. A hook is our function for one entry point: it checks what CUDA would check, and has the runtime
 * (runtime/cuda.h) do the rest. What belongs to CUDA's interface is known here alone: error numbers, structs, handles, default streams.
 *
 * Where we are switched off (GPUSIM_OFF=1), or the program runs on a real GPU (host/), calls go to the library of that name that would have been
 * called without us.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_INTERPOSER_H
#define GPUSIM_INTERPOSER_CUDA_INTERPOSER_H

#include "interposer/cuda/types.h"
#include "runtime/cuda.h"

#include <stdatomic.h>
#include <stdbool.h>

bool is_device(int device); /* devices.c: of the program's */

#define API_LIST(...) __VA_ARGS__
/* More parameters, and arguments for them, of a function that may have them. Those that it has not are what happens to be there. */
#define API_MORE uintptr_t more1, uintptr_t more2, uintptr_t more3, uintptr_t more4, uintptr_t more5, uintptr_t more6
#define API_MORE_ARGUMENTS more1, more2, more3, more4, more5, more6

#define CALL(name, params, args) int hook_##name params;
#define LONG_CALL(name, params, args) int hook_##name params;
#define STREAM_CALL(name, params, args) int hook_##name params;
#define DEFAULT_CALL(name, params, args) int hook_##name(API_LIST params, void *stream);
#define VERSION_CALL(name, params, args) int hook_##name(API_LIST params, int version);
#define FREE_CALL(name, params, args) int hook_##name params;
#define PLAIN(name, type, otherwise, params, args) type hook_##name params;
#include "interposer/cuda/entries.def"

bool entry_is_off(void); /* GPUSIM_OFF=1, or a real GPU executes the program (host/): calls are passed on */
/* Starts what executes. 0, or the error that every call that needs the device has. */
int entry_start(void);
/* The same for a call of the CUDA runtime, which makes the device current. */
int entry_device_error(void);
bool entry_runtime_used(void); /* such a call was made */
/* The function of that name that the application would have called without us, or NULL. `self` is ours. */
void *entry_next(const char *name, const void *self);
/* Returns what that function does; `otherwise` where there is none. */
#define PASS_ON(name, type, otherwise, params, args) \
	do { \
		static _Atomic(void *) kept; \
		void *next = atomic_load_explicit(&kept, memory_order_relaxed); \
		if (!next) \
			atomic_store_explicit(&kept, next = entry_next(#name, (void *)name), memory_order_relaxed); \
		if (next) \
			return ((type(*) params)next)args; \
		return otherwise; \
	} while (0)
/* An exported function of ours, or NULL. */
void *entry_find(const char *name);
/* One that does nothing (refused.c), or NULL. */
void *entry_refused(const char *name);

/* ---- errors.c ---- */

/* Remembers an error of this thread for cudaGetLastError, and returns it. */
int error_note(int error);
/* The error of a kernel's fault, which all calls return from then on; 0: there was none. */
int error_sticky(void);
void error_after_reset(void); /* after a fault, resetting the device does not bring it back for this process */
/* The number for what a function of runtime/cuda.h returned; `otherwise` where that says nothing particular. A fault becomes sticky. */
int error_of(int result, int otherwise);
/* One line on stderr, the first time for that name. */
void error_say_once(const char *name, const char *fmt, ...) GS_PRINTF(2, 3);

#endif
