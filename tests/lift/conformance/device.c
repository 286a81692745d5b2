/*
 * device - executes the kernels of a folder on the first GPU of this machine, by the CUDA driver.
 *
 *   device [-O LEVEL] FOLDER [NAME...]
 *
 * LEVEL is how much the driver's compiler optimises, 0 to 4 (4). A difference that goes away with 0 is the compiler's, not the GPU's.
 * It needs nothing of CUDA to be built: libcuda.so.1 is opened at run time. Where there is none, it exits with 77.
 */
#include "tests/lift/conformance/folder.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of the driver, by the names that the library has them under. */
#define DRIVER(X)                                                                                                      \
	X(cuInit, (unsigned flags))                                                                                    \
	X(cuDeviceGet, (int *device, int ordinal))                                                                     \
	X(cuDevicePrimaryCtxRetain, (void **context, int device))                                                      \
	X(cuCtxSetCurrent, (void *context))                                                                            \
	X(cuCtxSynchronize, (void))                                                                                    \
	X(cuModuleLoadDataEx, (void **module, const void *image, unsigned count, int *options, void **values))         \
	X(cuModuleUnload, (void *module))                                                                              \
	X(cuModuleGetFunction, (void **function, void *module, const char *name))                                      \
	X(cuMemAlloc_v2, (uint64_t *address, size_t bytes))                                                            \
	X(cuMemFree_v2, (uint64_t address))                                                                            \
	X(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))                                              \
	X(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))                                                    \
	X(cuLaunchKernel, (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
	                   void *stream, void **parameters, void **extra))                                             \
	X(cuGetErrorString, (int error, const char **text))

#define MEMBER(name, arguments) int(*name) arguments;
struct driver {
	uintptr_t optimisation;
	DRIVER(MEMBER)
};

static int open_driver(struct driver *d)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library)
		return -1;
#define FIND(name, arguments)                                                                                          \
	*(void **)&d->name = dlsym(library, #name);                                                                    \
	if (!d->name)                                                                                                  \
		return -1;
	DRIVER(FIND)
	return 0;
}

static int failed(const struct driver *d, int error, const char *name, const char *what)
{
	const char *text = "";
	if (error) {
		d->cuGetErrorString(error, &text);
		fprintf(stderr, "%s: %s: %s (%d)\n", name, what, text, error);
	}
	return error;
}

/* The module, and why the driver does not take it. */
static int load(const struct driver *d, struct folder_kernel *k, void **module)
{
	enum { LOG_BUFFER = 5, LOG_BYTES = 6, OPTIMISATION = 7 };
	char log[4096] = "";
	int options[] = {LOG_BUFFER, LOG_BYTES, OPTIMISATION};
	void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)d->optimisation};
	int error = d->cuModuleLoadDataEx(module, k->ptx, 3, options, values);
	if (error && log[0])
		fprintf(stderr, "%s: %s\n", k->name, log);
	return failed(d, error, k->name, "cuModuleLoadDataEx");
}

static int launch(const struct driver *d, struct folder_kernel *k, void *module)
{
	uint64_t memory[3] = {0};
	void *function, *parameters[3];
	int error = failed(d, d->cuModuleGetFunction(&function, module, "test"), k->name, "cuModuleGetFunction");
	for (int i = 0; i < 3 && !error; i++) {
		parameters[i] = &memory[i];
		error = failed(d, d->cuMemAlloc_v2(&memory[i], k->bytes[i] + 1), k->name, "cuMemAlloc");
		if (!error)
			error = failed(d, d->cuMemcpyHtoD_v2(memory[i], k->memory[i], k->bytes[i] + 1), k->name, "cuMemcpyHtoD");
	}
	if (!error)
		error = failed(d, d->cuLaunchKernel(function, k->blocks, 1, 1, k->block, 1, 1, 0, NULL, parameters, NULL), k->name, "cuLaunchKernel");
	if (!error)
		error = failed(d, d->cuCtxSynchronize(), k->name, "the kernel");
	if (!error)
		error = failed(d, d->cuMemcpyDtoH_v2(k->memory[1], memory[1], k->bytes[1]), k->name, "cuMemcpyDtoH");
	for (int i = 0; i < 3; i++)
		if (memory[i])
			d->cuMemFree_v2(memory[i]);
	return error;
}

static int execute(void *user, struct folder_kernel *k)
{
	const struct driver *d = user;
	void *module;
	if (load(d, k, &module))
		return -1;
	int error = launch(d, k, module);
	d->cuModuleUnload(module);
	return error;
}

int main(int argc, char **argv)
{
	struct driver d = {.optimisation = 4};
	void *context;
	int device;
	if (argc > 2 && strcmp(argv[1], "-O") == 0) {
		d.optimisation = strtoul(argv[2], NULL, 10);
		argv += 2;
		argc -= 2;
	}
	if (argc < 2) {
		fprintf(stderr, "usage: device [-O LEVEL] FOLDER [NAME...]\n");
		return 2;
	}
	if (open_driver(&d) || d.cuInit(0) || d.cuDeviceGet(&device, 0)) {
		fprintf(stderr, "There is no CUDA driver or no GPU here.\n");
		return 77;
	}
	if (failed(&d, d.cuDevicePrimaryCtxRetain(&context, device), "device", "cuDevicePrimaryCtxRetain") ||
	    failed(&d, d.cuCtxSetCurrent(context), "device", "cuCtxSetCurrent"))
		return 1;
	return folder_execute(argv[1], "device", argc - 2, argv + 2, execute, &d) > 0;
}
