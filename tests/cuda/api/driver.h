/* driver: what programs of this folder share that open the CUDA driver's library themselves, without a header of CUDA. */
#ifndef GPUSIM_TESTS_CUDA_API_DRIVER_H
#define GPUSIM_TESTS_CUDA_API_DRIVER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t address;
typedef int launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

/* CUDA_MEMCPY2D */
struct copy2d {
	struct side {
		size_t x, y;
		int kind;
		const void *host;
		address device;
		void *array;
		size_t pitch;
	} from, to;
	size_t width, height;
};

/* CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, which has contexts */
struct copy3d {
	struct side3d {
		size_t x, y, z, level;
		int kind;
		const void *host;
		address device;
		void *array, *context;
		size_t pitch, height;
	} from, to;
	size_t width, height, depth;
};

/* ---- the functions, by their names ---- */

static void *library;

static void *function(const char *name)
{
	void *f = dlsym(library, name);
	if (!f) {
		printf("FAIL %s is missing\n", name);
		exit(1);
	}
	return f;
}
#define CU(name, ...) ((int (*)(__VA_ARGS__))function(#name))

static int failures;
static void expect(long is, long wanted, const char *what, int line)
{
	if (is != wanted)
		failures++, printf("FAIL line %d: %s is %ld, not %ld\n", line, what, is, wanted);
}
#define EXPECT(is, wanted) expect((long)(is), (long)(wanted), #is, __LINE__)
#define GOOD(call) EXPECT(call, 0)

static inline void open_driver(void)
{
	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library) {
		printf("FAIL %s\n", dlerror());
		exit(1);
	}
}

static inline int verdict(void)
{
	if (!failures)
		puts("PASS");
	return failures != 0;
}

#endif
