/*
 * dlsym, exported: so the CUDA runtime finds our functions in NVIDIA's driver (README.md).
 *
 * dlsym of the C library looks at who calls it where the handle is RTLD_NEXT. So ours goes there by a jump, with the caller's own return address,
 * unless it has an answer itself. It has one only in a program that runs on a real GPU, for names of functions in wrap.c, in a library that was
 * opened.
 */
#include "interposer/cuda/host/host.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool host_is_gpu(void)
{
	static int is_gpu = -1;
	if (is_gpu < 0) {
		const char *host = getenv("GPUSIM_CUDA_HOST"), *off = getenv("GPUSIM_OFF");
		is_gpu = host && !strcmp(host, "gpu") && !(off && !strcmp(off, "1"));
	}
	return is_gpu;
}

bool host_is_ours(const void *address)
{
	Dl_info ours, theirs;
	return dladdr((void *)host_is_ours, &ours) && dladdr(address, &theirs) && ours.dli_fbase == theirs.dli_fbase;
}

__attribute__((visibility("hidden"))) void *gpusim_real_dlsym;

static void *finds_nothing(void *handle, const char *name)
{
	(void)handle, (void)name;
	return NULL;
}

static void *find_after(void *library)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
	void *found = NULL;
	for (size_t v = 0; v < sizeof versions / sizeof *versions && !found; v++)
		found = dlvsym(library, "dlsym", versions[v]);
	return found;
}

/* If this library comes after the C library, by the names of that. Before glibc 2.34 a library of its own had it. But the first way comes
 * first: sanitizers call dlsym before their dlopen works. */
static void find_real(void)
{
	static const char *const libraries[] = {"libc.so.6", "libdl.so.2"};
	void *found = find_after(RTLD_NEXT);
	for (size_t l = 0; l < sizeof libraries / sizeof *libraries && !found; l++) {
		void *library = dlopen(libraries[l], RTLD_LAZY | RTLD_NOLOAD);
		found = library ? find_after(library) : NULL;
	}
	gpusim_real_dlsym = found ? found : (void *)finds_nothing;
}

void *host_real_dlsym(void *handle, const char *name)
{
	if (!gpusim_real_dlsym)
		find_real();
	return ((void *(*)(void *, const char *))gpusim_real_dlsym)(handle, name);
}

/* What dlsym returns; NULL: what that of the C library does. */
__attribute__((used, visibility("hidden"))) void *gpusim_dlsym_answer(void *handle, const char *name, const void *caller);
void *gpusim_dlsym_answer(void *handle, const char *name, const void *caller)
{
	if (!gpusim_real_dlsym)
		find_real();
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !name || strncmp(name, "cu", 2) || !host_is_gpu() || host_is_ours(caller))
		return NULL;
	void *found = host_real_dlsym(handle, name), *wrapped = found ? host_wrap(name, found) : NULL;
	return wrapped == found ? NULL : wrapped;
}

/* Sanitizers call dlsym before code that they have changed can run. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#elif defined(__x86_64__)
__asm__(".text\n.balign 16\n.globl dlsym\n.type dlsym, @function\ndlsym:\n"
	"mov (%rsp), %rdx\npush %rdi\npush %rsi\nsub $8, %rsp\n"
	"call gpusim_dlsym_answer\n"
	"add $8, %rsp\npop %rsi\npop %rdi\n"
	"test %rax, %rax\njne 1f\n"
	"mov gpusim_real_dlsym(%rip), %rax\njmp *%rax\n"
	"1: ret\n.size dlsym, . - dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n.balign 16\n.globl dlsym\n.type dlsym, %function\ndlsym:\n"
	"stp x29, x30, [sp, #-32]!\nmov x29, sp\nstp x0, x1, [sp, #16]\n"
	"mov x2, x30\nbl gpusim_dlsym_answer\nmov x16, x0\n"
	"ldp x0, x1, [sp, #16]\nldp x29, x30, [sp], #32\n"
	"cbnz x16, 1f\n"
	"adrp x16, gpusim_real_dlsym\nldr x16, [x16, #:lo12:gpusim_real_dlsym]\nbr x16\n"
	"1: mov x0, x16\nret\n.size dlsym, . - dlsym\n");
#else
#error "lookup.c knows x86_64 and aarch64 alone"
#endif
