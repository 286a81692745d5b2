#include "runtime/guest/support/guard.h"

#include "runtime/format/lifted.h"
#include "runtime/format/native.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* A sanitizer's run-time system may be in any state when a signal comes. */
#define BARE __attribute__((no_sanitize("address", "thread", "undefined")))
#define NATIVE_FUNCTION __attribute__((visibility("default"), used))

/* What a function finds unchanged when one that it called returns: where it goes on, its stack, and the registers that called functions save. */
enum { MOST_KEPT = 24 };
struct guard {
	uint64_t kept[MOST_KEPT]; /* the assembler below knows the order */
	struct lifted_launch *launch; /* NULL: the thread is in no kernel */
};

static _Thread_local __attribute__((tls_model("initial-exec"))) struct guard guard;
static atomic_bool in_use;

bool guard_in_use(void)
{
	return in_use;
}

/* Called by the guard's entry. */
uint64_t *guard_enter(struct lifted_launch *launch) __attribute__((visibility("hidden"), used));
uint64_t *guard_enter(struct lifted_launch *launch)
{
	if (!atomic_load_explicit(&in_use, memory_order_relaxed))
		in_use = true;
	guard.launch = launch;
	return guard.kept;
}

/* After the kernel: faults of this thread are no longer the kernel's. */
NATIVE_FUNCTION void native_guard_end(void) __asm__(NATIVE_PREFIX "guard_end");
void native_guard_end(void)
{
	guard.launch = NULL;
}

/* The entry: keeps the registers, and returns 0. The way back takes their address, and has the entry return 1. */
#define FUNCTION(name) ".globl " name "\n.type " name ", %function\n" name ":\n"
#define ENTRY FUNCTION("\"" NATIVE_PREFIX "guard\"")
#define BACK ".hidden guard_back\n" FUNCTION("guard_back")
#if defined(__x86_64__)

#define HAS_GUARD 1
__asm__(".text\n" ENTRY
        "subq $8, %rsp\ncall guard_enter\naddq $8, %rsp\n"
        "movq %rbx, (%rax)\nmovq %rbp, 8(%rax)\nmovq %r12, 16(%rax)\nmovq %r13, 24(%rax)\nmovq %r14, 32(%rax)\nmovq %r15, 40(%rax)\n"
        "movq (%rsp), %rdx\nmovq %rdx, 48(%rax)\nmovq %rsp, 56(%rax)\n"
        "xorl %eax, %eax\nret\n" BACK
        "movq (%rdi), %rbx\nmovq 8(%rdi), %rbp\nmovq 16(%rdi), %r12\nmovq 24(%rdi), %r13\nmovq 32(%rdi), %r14\nmovq 40(%rdi), %r15\n"
        "movq 56(%rdi), %rsp\naddq $8, %rsp\nmovl $1, %eax\njmpq *48(%rdi)\n");

BARE static void set_registers(ucontext_t *u, void (*pc)(void))
{
	u->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)pc;
	u->uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)guard.kept;
}

/* The processor says nothing of an address that no memory can have, nor of one that is not aligned as the instruction needs it. The first is
 * in a register. */
BARE static bool has_impossible_address(const ucontext_t *u)
{
	for (int i = REG_R8; i <= REG_RSP; i++) {
		int64_t high = u->uc_mcontext.gregs[i] >> 47;
		if (high != 0 && high != -1)
			return true;
	}
	return false;
}

#elif defined(__aarch64__)

#define HAS_GUARD 1
__asm__(".text\n" ENTRY
        "stp x29, x30, [sp, #-16]!\nbl guard_enter\nldp x29, x30, [sp], #16\n"
        "stp x19, x20, [x0]\nstp x21, x22, [x0, #16]\nstp x23, x24, [x0, #32]\nstp x25, x26, [x0, #48]\nstp x27, x28, [x0, #64]\nstp x29, x30, [x0, #80]\n"
        "stp d8, d9, [x0, #96]\nstp d10, d11, [x0, #112]\nstp d12, d13, [x0, #128]\nstp d14, d15, [x0, #144]\n"
        "mov x1, sp\nstr x1, [x0, #160]\nmov w0, #0\nret\n" BACK
        "ldp x19, x20, [x0]\nldp x21, x22, [x0, #16]\nldp x23, x24, [x0, #32]\nldp x25, x26, [x0, #48]\nldp x27, x28, [x0, #64]\nldp x29, x30, [x0, #80]\n"
        "ldp d8, d9, [x0, #96]\nldp d10, d11, [x0, #112]\nldp d12, d13, [x0, #128]\nldp d14, d15, [x0, #144]\n"
        "ldr x1, [x0, #160]\nmov sp, x1\nmov w0, #1\nret\n");

BARE static void set_registers(ucontext_t *u, void (*pc)(void))
{
	u->uc_mcontext.pc = (uintptr_t)pc;
	u->uc_mcontext.regs[0] = (uintptr_t)guard.kept;
}

BARE static bool has_impossible_address(const ucontext_t *u)
{
	(void)u;
	return true;
}

#else

#define HAS_GUARD 0
NATIVE_FUNCTION uint32_t native_guard(struct lifted_launch *launch) __asm__(NATIVE_PREFIX "guard");
uint32_t native_guard(struct lifted_launch *launch)
{
	(void)launch;
	return 0;
}

static void set_registers(ucontext_t *u, void (*pc)(void))
{
	(void)u;
	(void)pc;
}

static bool has_impossible_address(const ucontext_t *u)
{
	(void)u;
	return true;
}

static void guard_back(void)
{
}

#endif
#if HAS_GUARD
void guard_back(void) __attribute__((visibility("hidden")));
#endif

BARE static bool is_misaligned(int sig, const siginfo_t *info, const ucontext_t *u)
{
	return sig == SIGBUS ? info->si_code == BUS_ADRALN : info->si_code == SI_KERNEL && !has_impossible_address(u);
}

BARE bool guard_leave(int sig, const siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	struct lifted_launch *launch = guard.launch;
	struct lifted_fault *f = launch ? (struct lifted_fault *)(uintptr_t)launch->fault : NULL;
	uint32_t none = LIFTED_NO_FAULT, kind = is_misaligned(sig, info, u) ? LIFTED_MISALIGNED : LIFTED_ADDRESS;
	if (!f || !HAS_GUARD)
		return false;
	guard.launch = NULL;
	set_registers(u, guard_back);
	if (__atomic_compare_exchange_n(&f->kind, &none, kind, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		f->group = LIFTED_ANY_GROUP;
		f->words[0] = info->si_code == SI_KERNEL ? 0 : (uintptr_t)info->si_addr;
		f->words[1] = info->si_code != SI_KERNEL; /* whether the address is known */
	}
	return true;
}
