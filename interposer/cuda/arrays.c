/*
 * Arrays, textures and surfaces. An array is device memory with a pitch, and a record of its shape. A texture or surface object is the
 * address of a struct lifted_texture (runtime/format/lifted.h), which kernels read.
 */
#include "interposer/cuda/memory.h"
#include "interposer/cuda/registration.h"
#include "interposer/cuda/streams.h"
#include "runtime/format/lifted.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum { ARRAY_LAYERED = 1, ARRAY_CUBE = 4, ARRAY_FLAGS = 1 | 2 | 4 | 8 /* layers, surfaces, cubes, gather */, MOST_LEVELS = 32 };

struct cuda_array_record {
	struct cuda_array_record *next;
	struct api_channel channel;
	struct api_extent extent; /* as the program gave it */
	unsigned flags;
	struct api_pitched memory;
};

struct mipmap_record {
	struct mipmap_record *next;
	unsigned count;
	void *levels[MOST_LEVELS]; /* arrays */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_array_record *arrays; /* under the lock */
static struct mipmap_record *mipmaps;    /* as well */

const struct cuda_array_record *array_of(const void *handle)
{
	pthread_mutex_lock(&lock);
	const struct cuda_array_record *a = arrays;
	while (a && a != handle)
		a = a->next;
	pthread_mutex_unlock(&lock);
	return a;
}

struct api_pitched array_memory(const struct cuda_array_record *a)
{
	return a->memory;
}

static size_t at_least_one(size_t value)
{
	return value ? value : 1;
}

static unsigned channels_of(const struct api_channel *c)
{
	return (unsigned)((c->x > 0) + (c->y > 0) + (c->z > 0) + (c->w > 0));
}

/* Elements of one, two or four channels of the same size. */
static bool is_channel(const struct api_channel *c)
{
	unsigned count = c ? channels_of(c) : 0;
	bool sizes = count && (c->x == 8 || c->x == 16 || c->x == 32) && !(c->kind == 2 && c->x == 8) && c->kind >= 0 && c->kind <= 2;
	return sizes && count != 3 && (count < 2 || c->y == c->x) && (count < 4 || (c->z == c->x && c->w == c->x)) && (c->y || !c->z) && (c->z || !c->w);
}

static size_t channel_bytes(const struct api_channel *c)
{
	return channels_of(c) * (unsigned)c->x / 8;
}

size_t array_element_bytes(const struct cuda_array_record *a)
{
	return channel_bytes(&a->channel);
}

int hook_cudaMalloc3DArray(void **out, const struct api_channel *channel, struct api_extent extent, unsigned flags)
{
	if (flags & ARRAY_CUBE && (extent.width != extent.height || !extent.depth || extent.depth % 6))
		return cudaErrorInvalidValue;
	if (!out || !is_channel(channel) || !extent.width || (flags & ~(unsigned)ARRAY_FLAGS) || extent.width > UINT32_MAX / 16 ||
	    extent.height > UINT32_MAX || extent.depth > UINT32_MAX)
		return cudaErrorInvalidValue;
	struct cuda_array_record *a = calloc(1, sizeof *a);
	if (!a)
		return cudaErrorMemoryAllocation;
	*a = (struct cuda_array_record){.channel = *channel, .extent = extent, .flags = flags};
	int error = hook_cudaMalloc3D(&a->memory, (struct api_extent){extent.width * channel_bytes(channel), at_least_one(extent.height),
	                                                              at_least_one(extent.depth)});
	if (error) {
		free(a);
		return error;
	}
	pthread_mutex_lock(&lock);
	a->next = arrays;
	arrays = a;
	pthread_mutex_unlock(&lock);
	*out = a;
	return cudaSuccess;
}

int hook_cudaMallocArray(void **out, const struct api_channel *channel, size_t width, size_t height, unsigned flags)
{
	return flags & ARRAY_LAYERED ? cudaErrorInvalidValue : hook_cudaMalloc3DArray(out, channel, (struct api_extent){width, height, 0}, flags);
}

int hook_cudaFreeArray(void *array)
{
	struct cuda_array_record *a, **link = &arrays;
	pthread_mutex_lock(&lock);
	while (*link && *link != array)
		link = &(*link)->next;
	a = *link;
	if (a)
		*link = a->next;
	pthread_mutex_unlock(&lock);
	int error = a ? hook_cudaFree(a->memory.address) : array ? cudaErrorInvalidValue : cudaSuccess;
	free(a);
	return error;
}

int hook_cudaArrayGetInfo(struct api_channel *channel, struct api_extent *extent, unsigned *flags, void *array)
{
	const struct cuda_array_record *a = array_of(array);
	if (!a)
		return cudaErrorInvalidValue;
	if (channel)
		*channel = a->channel;
	if (extent)
		*extent = a->extent;
	if (flags)
		*flags = a->flags;
	return cudaSuccess;
}

int hook_cudaGetChannelDesc(struct api_channel *out, const void *array)
{
	return out ? hook_cudaArrayGetInfo(out, NULL, NULL, (void *)array) : cudaErrorInvalidValue;
}

/* ---- mipmaps ---- */

static struct mipmap_record *mipmap_of(const void *handle)
{
	pthread_mutex_lock(&lock);
	struct mipmap_record *m = mipmaps;
	while (m && m != handle)
		m = m->next;
	pthread_mutex_unlock(&lock);
	return m;
}

static size_t halved(size_t value, unsigned times)
{
	return value ? at_least_one(value >> times) : 0;
}

static void free_levels(struct mipmap_record *m)
{
	for (unsigned i = 0; i < m->count; i++)
		hook_cudaFreeArray(m->levels[i]);
	free(m);
}

int hook_cudaMallocMipmappedArray(void **out, const struct api_channel *channel, struct api_extent extent, unsigned levels, unsigned flags)
{
	bool layers = flags & (ARRAY_LAYERED | ARRAY_CUBE);
	size_t longest = extent.width > extent.height ? extent.width : extent.height, most = 1;
	longest = !layers && extent.depth > longest ? extent.depth : longest;
	for (; longest > 1; longest /= 2)
		most++;
	if (!out || !levels || most > MOST_LEVELS)
		return cudaErrorInvalidValue;
	struct mipmap_record *m = calloc(1, sizeof *m);
	int error = m ? cudaSuccess : cudaErrorMemoryAllocation;
	for (; !error && m->count < levels && m->count < most; m->count += !error)
		error = hook_cudaMalloc3DArray(&m->levels[m->count], channel,
		                               (struct api_extent){halved(extent.width, m->count), halved(extent.height, m->count),
		                                                   layers ? extent.depth : halved(extent.depth, m->count)}, flags);
	if (error) {
		if (m)
			free_levels(m);
		return error;
	}
	pthread_mutex_lock(&lock);
	m->next = mipmaps;
	mipmaps = m;
	pthread_mutex_unlock(&lock);
	*out = m;
	return cudaSuccess;
}

int hook_cudaGetMipmappedArrayLevel(void **array, const void *mipmap, unsigned level)
{
	const struct mipmap_record *m = mipmap_of(mipmap);
	if (!array || !m || level >= m->count)
		return cudaErrorInvalidValue;
	*array = m->levels[level];
	return cudaSuccess;
}

int hook_cudaFreeMipmappedArray(void *mipmap)
{
	struct mipmap_record *m, **link = &mipmaps;
	pthread_mutex_lock(&lock);
	while (*link && *link != mipmap)
		link = &(*link)->next;
	m = *link;
	if (m)
		*link = m->next;
	pthread_mutex_unlock(&lock);
	if (!m)
		return mipmap ? cudaErrorInvalidValue : cudaSuccess;
	free_levels(m);
	return cudaSuccess;
}

/* ---- textures ---- */

/* Kernels see the levels. The other members are for questions. */
struct texture_object {
	struct api_resource resource;
	struct api_texture texture;
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

static bool set_memory(struct lifted_texture *t, const struct api_resource *r)
{
	const struct cuda_array_record *a = r->kind == API_RESOURCE_ARRAY ? array_of(r->of.array) : NULL;
	const struct api_channel *c = a ? &a->channel : &r->of.linear.channel; /* at the same place in all kinds of memory */
	size_t bytes;
	if ((r->kind == API_RESOURCE_ARRAY && !a) || !is_channel(c))
		return false;
	set_channel(t, c);
	t->height = t->depth = 1;
	if (a) {
		t->address = (uint64_t)(uintptr_t)a->memory.address;
		t->pitch = a->memory.pitch;
		t->slice = a->memory.pitch * a->memory.height;
		t->width = (uint32_t)a->extent.width;
		t->height = (uint32_t)at_least_one(a->extent.height);
		t->depth = (uint32_t)at_least_one(a->extent.depth);
		return true;
	}
	t->address = (uint64_t)(uintptr_t)r->of.linear.address;
	enum address_kind kind = address_kind_of(r->of.linear.address, &bytes);
	t->linear = r->kind == API_RESOURCE_LINEAR;
	t->width = (uint32_t)(t->linear ? r->of.linear.bytes / channel_bytes(c) : r->of.pitched.width);
	t->height = t->linear ? 1 : (uint32_t)r->of.pitched.height;
	t->pitch = t->linear ? 0 : r->of.pitched.pitch;
	size_t needed = t->linear ? r->of.linear.bytes : (t->height - 1ull) * t->pitch + t->width * channel_bytes(c);
	return kind != ADDRESS_PAGEABLE && t->width && t->height && needed <= bytes;
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
	bool reals = t->kind == 2 || t->scaled;
	return d->filter >= 0 && d->filter <= 1 && d->read_mode >= 0 && d->read_mode <= 1 && (!t->filters || reals) &&
	       !(t->scaled && t->kind != 2 && t->bits == 32) && !(t->linear && (t->filters || t->normalised));
}

/* One level, or an array, or memory. */
static bool set_level(struct lifted_texture *t, const struct api_resource *r, const struct api_texture *d, unsigned levels)
{
	t->levels = levels;
	t->level_filters = d->level_filter == 1;
	t->level_bias = d->level_bias;
	t->least_level = d->least_level;
	t->most_level = d->most_level;
	return set_memory(t, r) && set_reading(t, d);
}

int hook_cudaCreateTextureObject(uint64_t *out, const struct api_resource *resource, const struct api_texture *texture, const void *view)
{
	if (!out || !resource || !texture)
		return cudaErrorInvalidValue;
	if (view || texture->srgb) {
		error_say_once("texture", "cudaCreateTextureObject: views and sRGB are not implemented yet");
		return cudaErrorNotSupported;
	}
	const struct mipmap_record *m = resource->kind == API_RESOURCE_MIPMAPS ? mipmap_of(resource->of.array) : NULL;
	unsigned levels = m ? m->count : 1;
	if (resource->kind == API_RESOURCE_MIPMAPS && !m)
		return cudaErrorInvalidValue;
	struct texture_object *t = texture_new(resource, levels);
	if (!t)
		return cudaErrorMemoryAllocation;
	t->texture = *texture;
	struct api_resource one = *resource;
	bool good = true;
	for (unsigned i = 0; good && i < levels; i++) {
		if (m)
			one = (struct api_resource){.kind = API_RESOURCE_ARRAY, .of.array = m->levels[i]};
		good = set_level(&t->levels[i], &one, texture, levels);
	}
	if (!good) {
		free(t);
		return cudaErrorInvalidValue;
	}
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

/* A kernel that was launched may still read it. So it is freed when some others have come after it. */
int hook_cudaDestroyTextureObject(uint64_t object)
{
	enum { KEPT = 256 };
	static uint64_t kept[KEPT];
	static unsigned next;
	pthread_mutex_lock(&lock);
	uint64_t old = kept[next % KEPT];
	kept[next++ % KEPT] = object;
	pthread_mutex_unlock(&lock);
	free(texture_of(old));
	return cudaSuccess;
}

/* A surface is an array that was made for it. Of a texture's record it needs the memory. */
/* CUDA takes arrays as well that were made without the flag for surfaces. */
int hook_cudaCreateSurfaceObject(uint64_t *out, const struct api_resource *resource)
{
	const struct cuda_array_record *a = resource && resource->kind == API_RESOURCE_ARRAY ? array_of(resource->of.array) : NULL;
	if (!out || !a)
		return cudaErrorInvalidValue;
	struct texture_object *t = texture_new(resource, 1);
	if (!t)
		return cudaErrorMemoryAllocation;
	set_memory(t->levels, resource);
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
