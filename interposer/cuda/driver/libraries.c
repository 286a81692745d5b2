/* Libraries that the application loads at run time, and their kernels (cudaLibrary*). A library is a registered binary; a kernel is a function of it. */
#include "interposer/cuda/driver/driver.h"

/* Options of the compiler and of the library change nothing here: all is loaded at once, and the image is copied. */
int hook_cudaLibraryLoadData(void **out, const void *image)
{
	return out ? binary_load(image, 0, (struct registered_binary **)out) : cudaErrorInvalidValue;
}

int hook_cudaLibraryLoadFromFile(void **out, const char *path)
{
	return module_load_file((struct registered_binary **)out, path);
}

int hook_cudaLibraryUnload(void *library)
{
	return binary_unload(library);
}

int hook_cudaLibraryGetKernel(void **kernel, void *library, const char *name)
{
	return function_of((struct registered_function **)kernel, library, name);
}

int hook_cudaLibraryGetKernelCount(unsigned *count, void *library)
{
	return count ? binary_function_count(library, count) : cudaErrorInvalidValue;
}

/* So many of them as there is room for, as CUDA does. */
int hook_cudaLibraryEnumerateKernels(void **kernels, unsigned room, void *library)
{
	unsigned count;
	int error = kernels && room ? binary_function_count(library, &count) : cudaErrorInvalidValue;
	for (unsigned i = 0; !error && i < room && i < count; i++)
		error = binary_function_at(library, i, (struct registered_function **)&kernels[i]);
	return error;
}

int hook_cudaLibraryGetGlobal(void **address, size_t *bytes, void *library, const char *name)
{
	return module_global(address, bytes, library, name);
}

/* Device memory is the host's here, managed or not. */
int hook_cudaLibraryGetManaged(void **address, size_t *bytes, void *library, const char *name)
{
	return module_global(address, bytes, library, name);
}
