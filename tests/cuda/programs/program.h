/*
 * program: what the programs of this folder share. A program is one file that three compilers read:
 *   clang   its kernels, to PTX (ptx/NAME.ptx, committed), without the CUDA toolkit
 *   gcc     its host part as C, with that PTX inside: it needs no toolkit either
 *   nvcc    both as an ordinary CUDA program, where nvcc is found
 * So a kernel stands between #ifdef WITH_KERNELS and #endif, and the rest between #ifdef WITH_HOST and #endif, in the common subset of C
 * and C++. Functions of both are FUNCTION. A program computes what it expects by itself, prints PASS or FAIL, and exits with 0 or 1.
 */
#ifndef GPUSIM_TESTS_CUDA_PROGRAM_H
#define GPUSIM_TESTS_CUDA_PROGRAM_H

#if defined(__CUDA__) || defined(__NVCC__)
#define WITH_KERNELS
#include "kernels/cuda/device.h"
#endif

#if defined(__NVCC__)

#define WITH_HOST
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define FUNCTION __host__ __device__ static
#define KERNEL(name)
#define VARIABLE(name, type, constant)
#define HANDLE(name) ((const void *)name)
#define SYMBOL(name) name

#elif defined(__CUDA__)

#define FUNCTION __device__ static

#else

#define WITH_HOST
#include "kernels/cuda/runtime.h"
#define FUNCTION __attribute__((unused)) static

/* The PTX text, by the assembler. */
__asm__(".section .rodata\nprogram_ptx: .incbin \"" PTX_FILE "\"\nprogram_ptx_end: .byte 0\n.previous");
extern const char program_ptx[] __attribute__((visibility("hidden"))), program_ptx_end[] __attribute__((visibility("hidden")));

static void **program_module(void)
{
	static void **module;
	if (!module && !cuda_missing())
		module = register_ptx(program_ptx, (size_t)(program_ptx_end - program_ptx));
	return module;
}

__attribute__((constructor(400))) static void program_registered(void)
{
	if (program_module())
		__cudaRegisterFatBinaryEnd(program_module());
}

__attribute__((destructor)) static void program_ended(void)
{
	if (program_module())
		__cudaUnregisterFatBinary(program_module());
}

#define ENTERED(name, f) __attribute__((constructor(300))) static void enter_##name(void) { if (program_module()) f; }
#define KERNEL(name) static char handle_##name; ENTERED(name, register_kernel(program_module(), &handle_##name, #name))
#define VARIABLE(name, type, constant) static char handle_##name[sizeof(type)]; \
	ENTERED(name, __cudaRegisterVar(program_module(), handle_##name, handle_##name, #name, 0, sizeof(type), constant, 0))
#define HANDLE(name) ((const void *)&handle_##name)
#define SYMBOL(name) handle_##name

#endif

#ifdef WITH_HOST

#define HOST __attribute__((unused)) static
/* Arguments are given by their addresses. */
#define LAUNCH(name, grid, block, shared, stream, ...) \
	do { \
		void *launch_arguments[] = {__VA_ARGS__}; \
		check((int)cudaLaunchKernel(HANDLE(name), grid, block, launch_arguments, shared, stream), "the launch of " #name); \
	} while (0)
#define CALL(call) check((int)(call), #call)

HOST int program_failures;

HOST void check(int error, const char *what)
{
	if (error) {
		printf("FAIL %s: error %d\n", what, error);
		exit(1);
	}
}

/* A line for a part of the program: how many of its results are wrong. */
HOST void report(const char *what, size_t wrong)
{
	if (wrong)
		printf("FAIL %s: %lu wrong\n", what, (unsigned long)wrong);
	else
		printf("PASS %s\n", what);
	program_failures += wrong > 0;
}

/* The exit code. */
HOST int finish(void)
{
	return program_failures > 0;
}

/* First of all. A process without a CUDA runtime exits with 77. */
HOST void begin(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
#ifndef __NVCC__
	if (cuda_missing()) {
		printf("SKIP There is no CUDA runtime in this process.\n");
		exit(77);
	}
#endif
}

HOST dim3 dims(unsigned x, unsigned y, unsigned z)
{
	dim3 d;
	d.x = x;
	d.y = y;
	d.z = z;
	return d;
}

/* Device memory with contents; NULL: zeros. */
HOST void *device_new(const void *contents, size_t bytes)
{
	void *p = NULL;
	CALL(cudaMalloc(&p, bytes));
	if (contents)
		CALL(cudaMemcpy(p, contents, bytes, cudaMemcpyHostToDevice));
	else
		CALL(cudaMemset(p, 0, bytes));
	return p;
}

/* What a kernel has written. Waits for it. */
HOST void fetch(void *to, const void *device, size_t bytes)
{
	CALL(cudaMemcpy(to, device, bytes, cudaMemcpyDeviceToHost));
}

/* The same numbers in every run. */
HOST unsigned next_number(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

#endif
#endif
