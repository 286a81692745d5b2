/* Texture and surface references of the runtime: a struct of the application, which is registered with the name of a variable. */
#include "interposer/cuda/textures/references.h"

#include "interposer/cuda/memory.h"
#include "interposer/cuda/registration.h"
#include "interposer/cuda/streams.h"

#include <string.h>

int reference_bind(void *variable, uint64_t object)
{
	size_t bytes;
	uint64_t before = object;
	bool good = variable_contains(variable, &bytes) && bytes >= sizeof object;
	int error = good ? device_wait_all() : cudaErrorInvalidTexture;
	if (!error) {
		memcpy(&before, variable, sizeof before);
		memcpy(variable, &object, sizeof object);
	}
	if (before)
		hook_cudaDestroyTextureObject(before);
	return error;
}

static int bind(const struct api_texture_reference *r, const struct api_resource *resource)
{
	void *variable;
	size_t bytes;
	uint64_t object;
	if (!r || variable_find(r, &variable, &bytes))
		return cudaErrorInvalidTexture;
	struct api_texture texture = {
		.modes = {r->modes[0], r->modes[1], r->modes[2]},
		.filter = r->filter,
		.read_mode = variable_reads_reals(r),
		.srgb = r->srgb,
		.normalised = r->normalised && resource->kind != API_RESOURCE_LINEAR,
		.anisotropy = r->anisotropy,
		.level_filter = r->level_filter,
		.level_bias = r->level_bias,
		.least_level = r->least_level,
		.most_level = r->most_level,
		.no_trilinear = r->no_trilinear,
	};
	int error = hook_cudaCreateTextureObject(&object, resource, &texture, NULL);
	return error ? error : reference_bind(variable, object);
}

/* Addresses need no alignment here. */
int hook_cudaBindTexture(size_t *offset, const struct api_texture_reference *r, void *address, const struct api_channel *channel, size_t bytes)
{
	size_t follow;
	if (!r || address_kind_of(address, &follow) == ADDRESS_PAGEABLE)
		return r ? cudaErrorInvalidValue : cudaErrorInvalidTexture;
	struct api_resource resource = {.kind = API_RESOURCE_LINEAR};
	resource.of.linear.address = address;
	resource.of.linear.channel = channel ? *channel : r->channel;
	resource.of.linear.bytes = bytes < follow ? bytes : follow; /* programs may leave it at UINT_MAX */
	if (offset)
		*offset = 0;
	return bind(r, &resource);
}

int hook_cudaBindTexture2D(size_t *offset, const struct api_texture_reference *r, void *address, const struct api_channel *channel, size_t width,
                           size_t height, size_t pitch)
{
	if (!r)
		return cudaErrorInvalidTexture;
	struct api_resource resource = {.kind = API_RESOURCE_PITCHED};
	resource.of.pitched.address = address;
	resource.of.pitched.channel = channel ? *channel : r->channel;
	resource.of.pitched.width = width;
	resource.of.pitched.height = height;
	resource.of.pitched.pitch = pitch;
	if (offset)
		*offset = 0;
	return bind(r, &resource);
}

int hook_cudaBindTextureToArray(const struct api_texture_reference *r, void *array, const struct api_channel *channel)
{
	(void)channel; /* that of the array */
	struct api_resource resource = {.kind = API_RESOURCE_ARRAY, .of.array = array};
	return bind(r, &resource);
}

int hook_cudaBindTextureToMipmappedArray(const struct api_texture_reference *r, void *array, const struct api_channel *channel)
{
	(void)channel;
	struct api_resource resource = {.kind = API_RESOURCE_MIPMAPS, .of.array = array};
	return bind(r, &resource);
}

int hook_cudaUnbindTexture(const struct api_texture_reference *r)
{
	void *variable;
	size_t bytes;
	return !r || variable_find(r, &variable, &bytes) ? cudaErrorInvalidTexture : reference_bind(variable, 0);
}

int hook_cudaGetTextureAlignmentOffset(size_t *offset, const struct api_texture_reference *r)
{
	if (!offset || !r)
		return offset ? cudaErrorInvalidTexture : cudaErrorInvalidValue;
	*offset = 0;
	return cudaSuccess;
}

/* The address of the struct is the symbol. */
int hook_cudaGetTextureReference(const struct api_texture_reference **out, const struct api_texture_reference *symbol)
{
	void *variable;
	size_t bytes;
	if (!out || variable_find(symbol, &variable, &bytes))
		return out ? cudaErrorInvalidTexture : cudaErrorInvalidValue;
	*out = symbol;
	return cudaSuccess;
}

/* ---- surfaces: the struct of the application is a description of a channel, which nothing reads ---- */

int hook_cudaBindSurfaceToArray(const struct api_channel *r, void *array, const struct api_channel *channel)
{
	(void)channel;
	void *variable;
	size_t bytes;
	uint64_t object;
	if (!r || variable_find(r, &variable, &bytes))
		return cudaErrorInvalidSurface;
	struct api_resource resource = {.kind = API_RESOURCE_ARRAY, .of.array = array};
	int error = hook_cudaCreateSurfaceObject(&object, &resource);
	return error ? error : reference_bind(variable, object);
}

int hook_cudaGetSurfaceReference(const struct api_channel **out, const struct api_channel *symbol)
{
	void *variable;
	size_t bytes;
	if (!out || variable_find(symbol, &variable, &bytes))
		return out ? cudaErrorInvalidSurface : cudaErrorInvalidValue;
	*out = symbol;
	return cudaSuccess;
}
