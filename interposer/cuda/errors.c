/* Errors: those of a thread, those that stay, and their texts. */
#include "interposer/cuda/interposer.h"

#include "runtime/config/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

static __thread int last_error;
static atomic_int sticky;

/* That something is not ready is an answer, no error. */
int error_note(int error)
{
	if (error && error != cudaErrorNotReady)
		last_error = error;
	return error;
}

int error_sticky(void)
{
	return atomic_load_explicit(&sticky, memory_order_relaxed);
}

/* What CUDA reports for a fault of a kernel; 0: it is no fault. */
static int fault_error(int result)
{
	switch (-result) {
	case CUDA_FAULT_TRAP:
	case CUDA_FAULT_DEADLOCK:
		return cudaErrorLaunchFailure;
	case CUDA_FAULT_ASSERT:
		return cudaErrorAssert;
	case CUDA_FAULT_STACK:
		return cudaErrorHardwareStackError;
	case CUDA_FAULT_BAD_TARGET:
		return cudaErrorInvalidPc;
	case CUDA_FAULT_ADDRESS:
		return cudaErrorIllegalAddress;
	case CUDA_FAULT_MISALIGNED:
		return cudaErrorMisalignedAddress;
	default:
		return 0;
	}
}

int error_of(int result, int otherwise)
{
	int none = 0, fault = result < 0 ? fault_error(result) : 0;
	if (fault) {
		atomic_compare_exchange_strong(&sticky, &none, fault);
		return error_sticky();
	}
	if (result == -ENOMEM)
		return cudaErrorMemoryAllocation;
	if (result == -ENOTSUP)
		return cudaErrorNotSupported;
	return result < 0 ? otherwise : cudaSuccess;
}

void error_say_once(const char *name, const char *fmt, ...)
{
	enum { MOST = 512 };
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const char *said[MOST];
	static size_t count;
	char text[512];
	bool is_new = true;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count; i++)
		is_new = is_new && strcmp(said[i], name);
	char *kept = is_new && count < MOST ? strdup(name) : NULL;
	if (kept)
		said[count++] = kept;
	pthread_mutex_unlock(&lock);
	if (!kept)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_error("%s", text);
}

void error_after_reset(void)
{
	if (error_sticky())
		atomic_store(&sticky, cudaErrorDevicesUnavailable);
}

/* Also of an error that stays: the next call that needs the device has it again. */
int hook_cudaGetLastError(void)
{
	int error = last_error;
	last_error = 0;
	return error;
}

int hook_cudaPeekAtLastError(void)
{
	return last_error;
}

static const struct error_text {
	int number;
	const char *name, *text;
} error_texts[] = {
#define ERROR(number, name, text) {number, #name, text},
#include "interposer/cuda/errors.def"
#undef ERROR
};

static const struct error_text *find_text(int error)
{
	static const struct error_text unknown = {0, "unrecognized error code", "unrecognized error code"};
	for (size_t i = 0; i < GS_ARRAY_LEN(error_texts); i++)
		if (error_texts[i].number == error)
			return &error_texts[i];
	return &unknown;
}

const char *hook_cudaGetErrorName(int error)
{
	return find_text(error)->name;
}

const char *hook_cudaGetErrorString(int error)
{
	return find_text(error)->text;
}
