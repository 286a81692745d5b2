/* Texture and surface objects of the driver: the runtime's, with its structs filled in. */
#include "interposer/cuda/driver/driver.h"

#include "interposer/cuda/textures/views.h"

enum { READS_INTEGERS = 1, NORMALISED = 2, SRGB = 0x10, NO_TRILINEAR = 0x20 }; /* flags of a texture */

static bool resource_of(const struct driver_resource *r, struct api_resource *out)
{
	if (!r)
		return false;
	*out = (struct api_resource){.kind = r->kind};
	switch (r->kind) {
	case API_RESOURCE_LINEAR:
		out->of.linear.address = r->of.linear.address;
		out->of.linear.bytes = r->of.linear.bytes;
		return channel_of(r->of.linear.format, r->of.linear.channels, &out->of.linear.channel);
	case API_RESOURCE_PITCHED:
		out->of.pitched.address = r->of.pitched.address;
		out->of.pitched.width = r->of.pitched.width;
		out->of.pitched.height = r->of.pitched.height;
		out->of.pitched.pitch = r->of.pitched.pitch;
		return channel_of(r->of.pitched.format, r->of.pitched.channels, &out->of.pitched.channel);
	default:
		out->of.array = r->of.array;
		return true;
	}
}

static bool channel_read(const struct api_resource *r, const struct api_view *view, struct api_channel *out)
{
	void *array = r->of.array;
	if (view && view_channel(view, out))
		return true;
	if (r->kind == API_RESOURCE_LINEAR || r->kind == API_RESOURCE_PITCHED) {
		*out = r->of.linear.channel; /* at the same place in both */
		return true;
	}
	if (r->kind == API_RESOURCE_MIPMAPS && hook_cudaGetMipmappedArrayLevel(&array, r->of.array, 0))
		return false;
	return !hook_cudaGetChannelDesc(out, array);
}

/* Whether its elements are integers. */
static bool has_integers(const struct api_resource *r, const struct api_view *view, int *bits)
{
	enum { REALS = 2 };
	struct api_channel c = {0};
	bool known = channel_read(r, view, &c);
	*bits = c.x;
	return known && c.kind != REALS;
}

/* Integers are read as reals if the flag is not set. Those of 32 bits cannot be, and reals are reals. */
static int read_mode(const struct api_resource *r, const struct api_view *view, unsigned flags)
{
	int bits;
	return has_integers(r, view, &bits) && bits < 32 && !(flags & READS_INTEGERS);
}

int texture_create(uint64_t *out, const struct driver_resource *r, const struct driver_texture *t, const struct api_view *view)
{
	struct api_resource resource;
	if (!t || !resource_of(r, &resource))
		return cudaErrorInvalidValue;
	struct api_texture texture = {
		.modes = {t->modes[0], t->modes[1], t->modes[2]},
		.filter = t->filter,
		.read_mode = read_mode(&resource, view, t->flags),
		.srgb = (t->flags & SRGB) != 0,
		.border = {t->border[0], t->border[1], t->border[2], t->border[3]},
		.normalised = (t->flags & NORMALISED) != 0,
		.anisotropy = t->anisotropy,
		.level_filter = t->level_filter,
		.level_bias = t->level_bias,
		.least_level = t->least_level,
		.most_level = t->most_level,
		.no_trilinear = (t->flags & NO_TRILINEAR) != 0,
	};
	return hook_cudaCreateTextureObject(out, &resource, &texture, view);
}

int surface_create(uint64_t *out, const struct driver_resource *r)
{
	struct api_resource resource;
	return resource_of(r, &resource) ? hook_cudaCreateSurfaceObject(out, &resource) : cudaErrorInvalidValue;
}

int texture_resource(struct driver_resource *out, uint64_t object)
{
	struct api_resource r;
	int error = out ? hook_cudaGetTextureObjectResourceDesc(&r, object) : cudaErrorInvalidValue;
	if (error)
		return error;
	*out = (struct driver_resource){.kind = r.kind};
	switch (r.kind) {
	case API_RESOURCE_LINEAR:
		out->of.linear.address = r.of.linear.address;
		out->of.linear.bytes = r.of.linear.bytes;
		out->of.linear.format = format_of(&r.of.linear.channel, &out->of.linear.channels);
		break;
	case API_RESOURCE_PITCHED:
		out->of.pitched.address = r.of.pitched.address;
		out->of.pitched.width = r.of.pitched.width;
		out->of.pitched.height = r.of.pitched.height;
		out->of.pitched.pitch = r.of.pitched.pitch;
		out->of.pitched.format = format_of(&r.of.pitched.channel, &out->of.pitched.channels);
		break;
	default:
		out->of.array = r.of.array;
	}
	return cudaSuccess;
}

int texture_describe(struct driver_texture *out, uint64_t object)
{
	struct api_texture t;
	struct api_resource r;
	struct api_view view;
	int bits, error = out ? hook_cudaGetTextureObjectTextureDesc(&t, object) : cudaErrorInvalidValue;
	if (!error)
		error = hook_cudaGetTextureObjectResourceDesc(&r, object);
	if (error)
		return error;
	bool viewed = !hook_cudaGetTextureObjectResourceViewDesc(&view, object);
	bool integers = !t.read_mode && has_integers(&r, viewed ? &view : NULL, &bits);
	*out = (struct driver_texture){
		.modes = {t.modes[0], t.modes[1], t.modes[2]},
		.filter = t.filter,
		.flags = (integers ? READS_INTEGERS : 0u) | (t.normalised ? NORMALISED : 0u) | (t.srgb ? SRGB : 0u) | (t.no_trilinear ? NO_TRILINEAR : 0u),
		.anisotropy = t.anisotropy,
		.level_filter = t.level_filter,
		.level_bias = t.level_bias,
		.least_level = t.least_level,
		.most_level = t.most_level,
		.border = {t.border[0], t.border[1], t.border[2], t.border[3]},
	};
	return cudaSuccess;
}
