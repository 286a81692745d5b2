/* Arrays, and mipmaps of them. An array is device memory with a pitch, and a record of its shape. */
#include "interposer/cuda/memory.h"

#include <pthread.h>
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

unsigned channels_of(const struct api_channel *c)
{
	return (unsigned)((c->x > 0) + (c->y > 0) + (c->z > 0) + (c->w > 0));
}

bool is_channel(const struct api_channel *c)
{
	unsigned count = c ? channels_of(c) : 0;
	bool sizes = count && (c->x == 8 || c->x == 16 || c->x == 32) && !(c->kind == 2 && c->x == 8) && c->kind >= 0 && c->kind <= 2;
	return sizes && count != 3 && (count < 2 || c->y == c->x) && (count < 4 || (c->z == c->x && c->w == c->x)) && (c->y || !c->z) && (c->z || !c->w);
}

size_t channel_bytes(const struct api_channel *c)
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

static const struct mipmap_record *mipmap_of(const void *handle)
{
	pthread_mutex_lock(&lock);
	const struct mipmap_record *m = mipmaps;
	while (m && m != handle)
		m = m->next;
	pthread_mutex_unlock(&lock);
	return m;
}

unsigned mipmap_levels(const void *handle, void *const **levels)
{
	const struct mipmap_record *m = mipmap_of(handle);
	*levels = m ? m->levels : NULL;
	return m ? m->count : 0;
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
