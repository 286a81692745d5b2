#include "runtime/guest/cuda/faults.h"

#include "runtime/config/log.h"
#include "runtime/cuda.h"
#include "runtime/process/signals.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first_code; /* 0: none; under the lock */
static struct gs_error first_text;

/* Whether it is the first. */
static bool keep(int code, const char *text)
{
	pthread_mutex_lock(&lock);
	bool first = !first_code;
	if (first) {
		first_code = code;
		gs_fail(&first_text, code, "%s", text);
	}
	pthread_mutex_unlock(&lock);
	return first;
}

int fault_now(struct gs_error *err)
{
	pthread_mutex_lock(&lock);
	int result = first_code ? gs_fail(err, first_code, "%s", first_text.text) : 0;
	pthread_mutex_unlock(&lock);
	return result;
}

static const char *text_at(uint64_t address)
{
	return address ? (const char *)(uintptr_t)address : "?";
}

/* In the words that CUDA has for it. */
static void say_assertion(const struct lifted_fault *f, const uint64_t grid[3])
{
	struct gs_buf line = {0};
	uint64_t x = f->group % grid[0], y = f->group / grid[0] % grid[1], z = f->group / grid[0] / grid[1];
	gs_buf_printf(&line, "%.1000s:%u: %.1000s: block: [%llu,%llu,%llu] Assertion `%.1000s` failed.\n", text_at(f->words[1]),
	              (unsigned)f->words[3], text_at(f->words[2]), (unsigned long long)x, (unsigned long long)y, (unsigned long long)z,
	              text_at(f->words[0]));
	if (!line.failed)
		log_raw(line.data, line.len);
	gs_buf_free(&line);
}

void fault_note(const struct lifted_fault *f, const char *kernel, const uint64_t grid[3])
{
	static const struct {
		int code;
		const char *what;
	} kinds[] = {
		[LIFTED_TRAP] = {CUDA_FAULT_TRAP, "executed a trap"},
		[LIFTED_ASSERT] = {CUDA_FAULT_ASSERT, "failed an assertion"},
		[LIFTED_STACK] = {CUDA_FAULT_STACK, "calls functions too deeply for its stack"},
		[LIFTED_DEADLOCK] = {CUDA_FAULT_DEADLOCK, "waits at a barrier that can never open"},
		[LIFTED_BAD_TARGET] = {CUDA_FAULT_BAD_TARGET, "calls or branches to something that is no function or label"},
		[LIFTED_ELSEWHERE] = {CUDA_FAULT_DEADLOCK, "shuffles with lanes that never come to a shuffle of the same kind and mask"},
	};
	struct gs_error text;
	if (f->kind == LIFTED_NO_FAULT || f->kind >= GS_ARRAY_LEN(kinds))
		return;
	gs_fail(&text, 0, "kernel %s %s (block %llu, line %u of its PTX)", kernel, kinds[f->kind].what, (unsigned long long)f->group, f->line);
	if (f->kind == LIFTED_ASSERT)
		say_assertion(f, grid);
	if (keep(kinds[f->kind].code, text.text) && f->kind != LIFTED_ASSERT)
		log_error("%s", text.text);
}

void fault_of_driver(const char *kernel, int code)
{
	struct gs_error text;
	gs_fail(&text, 0, "the OpenCL driver did not run kernel %s (%d)", kernel, code);
	if (keep(EIO, text.text))
		log_error("%s", text.text);
}

/* ---- memory that does not exist ---- */

static atomic_uint running;
static _Atomic(const char *) latest; /* the name of the kernel that was launched last */
static pthread_once_t watched = PTHREAD_ONCE_INIT;

/* There is no way out of a kernel: its thread is the driver's. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	char line[512];
	const char *kernel = latest;
	(void)context;
	if (running && kernel) {
		/* of an address with too many bits, the processor does not say which it was */
		const char *what = info->si_code == SI_KERNEL ? "an address was accessed that no memory can have" : "memory was accessed where there is none, at ";
		int length = snprintf(line, sizeof line, "gpusim: error: while kernel %.300s ran, %s", kernel, what);
		if (info->si_code != SI_KERNEL)
			length += snprintf(line + length, sizeof line - (size_t)length, "%p", info->si_addr);
		length += snprintf(line + length, sizeof line - (size_t)length, "\n");
		log_raw(line, (size_t)length);
	}
	signals_end(sig);
}

/* LLVM, with which a driver builds kernels in this process, sets handlers that remove its files and say nothing. */
static bool is_of_compiler(const struct sigaction *a)
{
	Dl_info library;
	void *handler = a->sa_flags & SA_SIGINFO ? (void *)a->sa_sigaction : (void *)a->sa_handler;
	if (a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN || !dladdr(handler, &library) || !library.dli_fname)
		return false;
	const char *slash = strrchr(library.dli_fname, '/'), *name = slash ? slash + 1 : library.dli_fname;
	return strstr(name, "LLVM") || strstr(name, "pocl") || strstr(name, "clang");
}

/* A handler of the application's stays. */
static void watch(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS};
	struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER}, before;
	sigemptyset(&ours.sa_mask);
	for (size_t i = 0; i < GS_ARRAY_LEN(signals); i++)
		if (!sigaction(signals[i], NULL, &before) && (before.sa_handler == SIG_DFL || is_of_compiler(&before)))
			sigaction(signals[i], &ours, NULL);
}

void fault_watch(const char *kernel)
{
	pthread_once(&watched, watch);
	latest = kernel;
	running++;
}

void fault_watch_end(void)
{
	running--;
}
