#include "runtime/guest/cuda/faults.h"

#include "runtime/config/log.h"
#include "runtime/cuda.h"
#include "runtime/guest/support/guard.h"
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
		[LIFTED_ADDRESS] = {CUDA_FAULT_ADDRESS, "accessed memory where there is none"},
		[LIFTED_MISALIGNED] = {CUDA_FAULT_MISALIGNED, "accessed memory at an address that is no multiple of what the access needs"},
	};
	struct gs_error text;
	if (f->kind == LIFTED_NO_FAULT || f->kind >= GS_ARRAY_LEN(kinds))
		return;
	if (f->group != LIFTED_ANY_GROUP)
		gs_fail(&text, 0, "kernel %s %s (block %llu, line %u of its PTX)", kernel, kinds[f->kind].what, (unsigned long long)f->group, f->line);
	else if (f->words[1])
		gs_fail(&text, 0, "kernel %s %s, at 0x%llx", kernel, kinds[f->kind].what, (unsigned long long)f->words[0]);
	else
		gs_fail(&text, 0, "kernel %s %s", kernel, kinds[f->kind].what);
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

static const int watched[] = {SIGSEGV, SIGBUS};
static struct sigaction before[GS_ARRAY_LEN(watched)]; /* what the application has set; under the lock, but for handlers */
static atomic_uint running;
static _Atomic(const char *) latest; /* the name of the kernel that was launched last */

/* A kernel without a guard has no way out: its thread is the driver's. */
static void say_kernel(const siginfo_t *info)
{
	char line[512];
	const char *kernel = latest;
	if (!running || !kernel || guard_in_use())
		return;
	/* of an address with too many bits, the processor does not say which it was */
	const char *what = info->si_code == SI_KERNEL ? "an address was accessed that no memory can have" : "memory was accessed where there is none, at ";
	int length = snprintf(line, sizeof line, "gpusim: error: while kernel %.300s ran, %s", kernel, what);
	if (info->si_code != SI_KERNEL)
		length += snprintf(line + length, sizeof line - (size_t)length, "%p", info->si_addr);
	length += snprintf(line + length, sizeof line - (size_t)length, "\n");
	log_raw(line, (size_t)length);
}

/* What is not a kernel's is the application's. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	if (guard_leave(sig, info, context))
		return;
	const struct sigaction *a = &before[sig == watched[0] ? 0 : 1];
	say_kernel(info);
	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(sig, info, context);
	else if (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN)
		a->sa_handler(sig);
	else
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

/* Our handler comes before that of the application, which may have been set since the last launch. */
static void watch(size_t i)
{
	struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK}, now;
	sigemptyset(&ours.sa_mask);
	if (sigaction(watched[i], NULL, &now) || (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault))
		return;
	if (!is_of_compiler(&now))
		before[i] = now;
	sigaction(watched[i], &ours, NULL);
}

void fault_watch(const char *kernel)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < GS_ARRAY_LEN(watched); i++)
		watch(i);
	pthread_mutex_unlock(&lock);
	latest = kernel;
	running++;
}

void fault_watch_end(void)
{
	running--;
}
