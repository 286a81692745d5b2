/*
 * Entry points that exist and do nothing: they say their name once, and return cudaErrorNotSupported.
 *
 * Their parameters are not known here. Where we are switched off, a call must still reach the library below us with all of them. So the
 * exported functions are a few instructions: the address of the name goes to a register that carries no parameter, then the common part
 * keeps the registers of parameters, asks refused_target() where to go, and goes there.
 */
#include "interposer/cuda/interposer.h"

#include <string.h>

#if defined(__aarch64__)
#define STUB(name) \
	__asm__(".text\n.balign 8\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
		"adr x17, 1f\nb gpusim_refused_common\n" \
		"1: .asciz \"" #name "\"\n.balign 8\n.size " #name ", . - " #name "\n");
__asm__(".text\n.balign 8\n.hidden gpusim_refused_common\n.globl gpusim_refused_common\n.type gpusim_refused_common, %function\n"
	"gpusim_refused_common:\n"
	"stp x29, x30, [sp, #-224]!\nmov x29, sp\n"
	"stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n"
	"stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\nstp q6, q7, [sp, #192]\n"
	"mov x0, x17\nbl gpusim_refused_target\nmov x16, x0\n"
	"ldp q0, q1, [sp, #96]\nldp q2, q3, [sp, #128]\nldp q4, q5, [sp, #160]\nldp q6, q7, [sp, #192]\n"
	"ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\nldr x8, [sp, #80]\n"
	"ldp x29, x30, [sp], #224\nbr x16\n"
	".size gpusim_refused_common, . - gpusim_refused_common\n");
#elif defined(__x86_64__)
#define STUB(name) \
	__asm__(".text\n.balign 8\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
		"lea 1f(%rip), %r11\njmp gpusim_refused_common\n" \
		"1: .asciz \"" #name "\"\n.balign 8\n.size " #name ", . - " #name "\n");
__asm__(".text\n.balign 8\n.hidden gpusim_refused_common\n.globl gpusim_refused_common\n.type gpusim_refused_common, @function\n"
	"gpusim_refused_common:\n"
	"push %rbp\nmov %rsp, %rbp\nand $-16, %rsp\nsub $192, %rsp\n"
	"mov %rdi, (%rsp)\nmov %rsi, 8(%rsp)\nmov %rdx, 16(%rsp)\nmov %rcx, 24(%rsp)\nmov %r8, 32(%rsp)\nmov %r9, 40(%rsp)\n"
	"mov %rax, 48(%rsp)\nmovaps %xmm0, 64(%rsp)\nmovaps %xmm1, 80(%rsp)\nmovaps %xmm2, 96(%rsp)\nmovaps %xmm3, 112(%rsp)\n"
	"movaps %xmm4, 128(%rsp)\nmovaps %xmm5, 144(%rsp)\nmovaps %xmm6, 160(%rsp)\nmovaps %xmm7, 176(%rsp)\n"
	"mov %r11, %rdi\ncall gpusim_refused_target\nmov %rax, %r11\n"
	"mov (%rsp), %rdi\nmov 8(%rsp), %rsi\nmov 16(%rsp), %rdx\nmov 24(%rsp), %rcx\nmov 32(%rsp), %r8\nmov 40(%rsp), %r9\n"
	"mov 48(%rsp), %rax\nmovaps 64(%rsp), %xmm0\nmovaps 80(%rsp), %xmm1\nmovaps 96(%rsp), %xmm2\nmovaps 112(%rsp), %xmm3\n"
	"movaps 128(%rsp), %xmm4\nmovaps 144(%rsp), %xmm5\nmovaps 160(%rsp), %xmm6\nmovaps 176(%rsp), %xmm7\n"
	"mov %rbp, %rsp\npop %rbp\njmp *%r11\n"
	".size gpusim_refused_common, . - gpusim_refused_common\n");
#else
#error "refused.c knows x86_64 and aarch64 alone"
#endif

static int refused_call(void)
{
	return error_note(cudaErrorNotSupported);
}

__attribute__((used, visibility("hidden"))) void *gpusim_refused_target(const char *name);
void *gpusim_refused_target(const char *name)
{
	void *next = entry_is_off() ? entry_next(name, entry_refused(name)) : NULL;
	if (next)
		return next;
	if (!entry_is_off())
		error_say_once(name, "%s is not implemented yet", name);
	return (void *)refused_call;
}

#define REFUSED(name) STUB(name) __attribute__((visibility("default"))) extern void name(void);
#include "interposer/cuda/entries.def"
#define REFUSED(name) STUB(name) __attribute__((visibility("default"))) extern void name(void);
#include "interposer/cuda/ways/refused_driver.def"

static const struct refused_address {
	const char *name;
	void (*address)(void);
} addresses[] = {
#define REFUSED(name) {#name, name},
#include "interposer/cuda/entries.def"
#define REFUSED(name) {#name, name},
#include "interposer/cuda/ways/refused_driver.def"
};

void *entry_refused(const char *name)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(addresses); i++)
		if (!strcmp(addresses[i].name, name))
			return (void *)addresses[i].address;
	return NULL;
}
