/* Texture and surface objects. One is the address of a struct lifted_texture (runtime/format/lifted.h), which kernels read. */
#include "interposer/cuda/memory.h"
#include "interposer/cuda/textures/views.h"
#include "runtime/format/lifted.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum { ARRAY_LAYERED = 1 }; /* a flag of arrays */

/* Kernels see the levels. The other members are for questions. */
struct texture_object {
	struct api_resource resource;
	struct api_texture texture;
	bool viewed;
	struct api_view view;
	struct lifted_texture levels[];
};

static struct texture_object *texture_of(uint64_t object)
{
	return object ? (struct texture_object *)((char *)(uintptr_t)object - offsetof(struct texture_object, levels)) : NULL;
}

static struct texture_object *texture_new(const struct api_resource *r, unsigned levels)
{
	struct texture_object *t = calloc(1, sizeof *t + levels * sizeof *t->levels);
	if (t)
		t->resource = *r;
	return t;
}

static void set_channel(struct lifted_texture *t, const struct api_channel *c)
{
	t->channels = channels_of(c);
	t->bits = (uint32_t)c->x;
	t->kind = (uint32_t)c->kind;
}

static uint32_t at_least_one(size_t value)
{
	return value ? (uint32_t)value : 1;
}

static bool set_array(struct lifted_texture *t, void *array)
{
	struct api_channel channel;
	struct api_extent extent;
	unsigned flags;
	if (hook_cudaArrayGetInfo(&channel, &extent, &flags, array))
		return false;
	struct api_pitched memory = array_memory(array_of(array));
	set_channel(t, &channel);
	t->address = (uint64_t)(uintptr_t)memory.address;
	t->pitch = memory.pitch;
	t->slice = memory.pitch * memory.height;
	t->width = (uint32_t)extent.width;
	t->height = at_least_one(extent.height);
	t->depth = at_least_one(extent.depth);
	t->layers = flags & ARRAY_LAYERED ? t->depth : 0;
	return true;
}

/* Linear memory, or rows of it. */
static bool set_memory(struct lifted_texture *t, const struct api_resource *r)
{
	const struct api_channel *c = &r->of.linear.channel; /* at the same place in both */
	size_t bytes;
	if (!is_channel(c))
		return false;
	set_channel(t, c);
	t->address = (uint64_t)(uintptr_t)r->of.linear.address;
	enum address_kind kind = address_kind_of(r->of.linear.address, &bytes);
	t->linear = r->kind == API_RESOURCE_LINEAR;
	t->width = (uint32_t)(t->linear ? r->of.linear.bytes / channel_bytes(c) : r->of.pitched.width);
	t->height = t->linear ? 1 : (uint32_t)r->of.pitched.height;
	t->depth = 1;
	t->pitch = t->linear ? 0 : r->of.pitched.pitch;
	size_t needed = t->linear ? r->of.linear.bytes : (t->height - 1ull) * t->pitch + t->width * channel_bytes(c);
	return kind != ADDRESS_PAGEABLE && t->width && t->height && needed <= bytes;
}

/* What CUDA makes of bytes in sRGB: IEC 61966-2-1, from 0 to 1. */
static float curve[256];

static void make_curve(void)
{
	for (int i = 0; i < 256; i++) {
		double v = i / 255.0;
		curve[i] = (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
	}
}

static uint64_t curve_address(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_curve);
	return (uint64_t)(uintptr_t)curve;
}

static bool set_reading(struct lifted_texture *t, const struct api_texture *d)
{
	for (int i = 0; i < 3; i++) {
		if (d->modes[i] < 0 || d->modes[i] > 3)
			return false;
		t->modes[i] = (uint32_t)d->modes[i];
	}
	for (int i = 0; i < 4; i++)
		t->border[i] = d->border[i];
	t->filters = d->filter == 1;
	t->normalised = d->normalised != 0;
	t->scaled = d->read_mode == 1;
	t->curve = d->srgb && t->scaled && t->kind == 1 && t->bits == 8 ? curve_address() : 0;
	bool reals = t->kind == 2 || t->scaled;
	return d->filter >= 0 && d->filter <= 1 && d->read_mode >= 0 && d->read_mode <= 1 && (!t->filters || reals) &&
	       !(t->scaled && t->kind != 2 && t->bits == 32) && !(t->linear && (t->filters || t->normalised));
}

/* One level, or an array, or memory. */
static bool set_level(struct lifted_texture *t, const struct api_resource *r, const struct texture_object *o, unsigned levels)
{
	const struct api_texture *d = &o->texture;
	t->levels = levels;
	t->level_filters = d->level_filter == 1;
	t->level_bias = d->level_bias;
	t->least_level = d->least_level;
	t->most_level = d->most_level;
	bool good = r->kind == API_RESOURCE_ARRAY ? set_array(t, r->of.array) : set_memory(t, r);
	return good && (!o->viewed || view_apply(&o->view, t)) && set_reading(t, d);
}

static bool set_levels(struct texture_object *o, void *const *arrays, unsigned levels)
{
	unsigned first = o->viewed ? o->view.first_level : 0;
	bool good = true;
	for (unsigned i = 0; good && i < levels; i++) {
		struct api_resource one = {.kind = API_RESOURCE_ARRAY, .of.array = arrays[first + i]};
		good = set_level(&o->levels[i], o->resource.kind == API_RESOURCE_MIPMAPS ? &one : &o->resource, o, levels);
	}
	return good;
}

int hook_cudaCreateTextureObject(uint64_t *out, const struct api_resource *resource, const struct api_texture *texture, const struct api_view *view)
{
	if (!out || !resource || !texture)
		return cudaErrorInvalidValue;
	void *const *arrays = &resource->of.array;
	unsigned levels = resource->kind == API_RESOURCE_MIPMAPS ? mipmap_levels(resource->of.array, &arrays) : 1;
	int error = !levels ? cudaErrorInvalidValue : view ? view_check(view, resource, arrays[0], levels) : cudaSuccess;
	if (error)
		return error;
	levels = view ? view->last_level - view->first_level + 1 : levels;
	struct texture_object *t = texture_new(resource, levels);
	if (!t)
		return cudaErrorMemoryAllocation;
	t->texture = *texture;
	t->viewed = view;
	if (view)
		t->view = *view;
	if (!set_levels(t, arrays, levels)) {
		free(t);
		return cudaErrorInvalidValue;
	}
	cuda_texture_made(t->levels, false, resource->kind == API_RESOURCE_LINEAR || resource->kind == API_RESOURCE_PITCHED);
	*out = (uint64_t)(uintptr_t)t->levels;
	return cudaSuccess;
}

int hook_cudaGetTextureObjectResourceDesc(struct api_resource *out, uint64_t object)
{
	if (!out || !object)
		return cudaErrorInvalidValue;
	*out = texture_of(object)->resource;
	return cudaSuccess;
}

int hook_cudaGetTextureObjectTextureDesc(struct api_texture *out, uint64_t object)
{
	if (!out || !object)
		return cudaErrorInvalidValue;
	*out = texture_of(object)->texture;
	return cudaSuccess;
}

int hook_cudaGetTextureObjectResourceViewDesc(struct api_view *out, uint64_t object)
{
	if (!out || !object || !texture_of(object)->viewed)
		return cudaErrorInvalidValue;
	*out = texture_of(object)->view;
	return cudaSuccess;
}

/* A kernel that was launched may still read it. So it is freed when some others have come after it. */
int hook_cudaDestroyTextureObject(uint64_t object)
{
	enum { KEPT = 256 };
	static uint64_t kept[KEPT];
	static unsigned next;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	cuda_texture_gone(object);
	pthread_mutex_lock(&lock);
	uint64_t old = kept[next % KEPT];
	kept[next++ % KEPT] = object;
	pthread_mutex_unlock(&lock);
	free(texture_of(old));
	return cudaSuccess;
}

/* CUDA takes arrays as well that were made without the flag for surfaces. Of a texture's record a surface needs the memory. */
int hook_cudaCreateSurfaceObject(uint64_t *out, const struct api_resource *resource)
{
	if (!out || !resource || resource->kind != API_RESOURCE_ARRAY || !array_of(resource->of.array))
		return cudaErrorInvalidValue;
	struct texture_object *t = texture_new(resource, 1);
	if (!t)
		return cudaErrorMemoryAllocation;
	set_array(t->levels, resource->of.array);
	cuda_texture_made(t->levels, true, false);
	*out = (uint64_t)(uintptr_t)t->levels;
	return cudaSuccess;
}

int hook_cudaGetSurfaceObjectResourceDesc(struct api_resource *out, uint64_t object)
{
	return hook_cudaGetTextureObjectResourceDesc(out, object);
}

int hook_cudaDestroySurfaceObject(uint64_t object)
{
	return hook_cudaDestroyTextureObject(object);
}
