/* Modules, libraries, and what they have. */
#include "interposer/cuda/driver/driver.h"

#include "interposer/cuda/driver/compiler_options.h"
#include "runtime/base/base.h"

int module_load(struct registered_binary **out, const void *image, unsigned registers)
{
	struct gs_buf text = {0};
	if (!out || !image)
		return cudaErrorInvalidValue;
	if (!registers || !is_ptx(image))
		return binary_load(image, 0, out);
	bound_registers(&text, image, registers);
	int error = text.failed ? cudaErrorMemoryAllocation : binary_load(text.data, text.len, out);
	gs_buf_free(&text);
	return error;
}

int module_load_file(struct registered_binary **out, const char *path)
{
	struct gs_error err;
	struct gs_buf text = {0};
	if (!out || !path)
		return cudaErrorInvalidValue;
	if (gs_read_file(path, &text, &err))
		return cudaErrorFileNotFound;
	int error = text.len ? binary_load(text.data, text.len, out) : cudaErrorInvalidKernelImage;
	gs_buf_free(&text);
	return error;
}

int module_global(void **address, size_t *bytes, struct registered_binary *b, const char *name)
{
	void *found;
	size_t count;
	if (!name)
		return cudaErrorInvalidValue;
	int error = binary_variable(b, name, &found, &count);
	if (error)
		return error;
	if (address)
		*address = found;
	if (bytes)
		*bytes = count;
	return cudaSuccess;
}

int function_of(struct registered_function **out, struct registered_binary *b, const char *name)
{
	return out && name ? binary_function(b, name, out) : cudaErrorInvalidValue;
}

/* CUDA's own name for a handle that is none. */
static int find(const void *function, struct registered_function **out)
{
	return function_prepare(function, out) ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

int function_attribute(int *value, int attribute, const void *function)
{
	struct registered_function *f;
	struct api_function_attributes a;
	int error = value ? find(function, &f) : cudaErrorInvalidValue;
	if (!error)
		error = hook_cudaFuncGetAttributes(&a, function, 12);
	if (error)
		return error;
	/* by their numbers */
	const int values[] = {a.max_threads, (int)a.shared_bytes, (int)a.const_bytes, (int)a.local_bytes, a.registers, a.ptx_version, a.binary_version,
	                      a.cached_in_l1, a.max_dynamic_shared, a.carveout, a.cluster_required, a.cluster[0], a.cluster[1], a.cluster[2],
	                      a.non_portable_cluster, a.cluster_policy};
	if (attribute < 0 || attribute >= (int)GS_ARRAY_LEN(values))
		return cudaErrorInvalidValue;
	*value = values[attribute];
	return cudaSuccess;
}

int function_binary(struct registered_binary **out, const void *function)
{
	struct registered_function *f;
	int error = out ? find(function, &f) : cudaErrorInvalidValue;
	if (!error)
		*out = f->binary;
	return error;
}
