/*
 * Memory pools. They keep nothing of what is freed, so that the memory they have reserved is the memory in use. An allocation has the number of its pool
 * as its flags.
 */
#include "interposer/cuda/memory.h"
#include "interposer/cuda/streams.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Attributes. The first three are ints, the others 64-bit numbers. Of memory, bytes now and the most there were. */
enum { POOL_FIRST_SIZE = 4, POOL_RESERVED = 5, POOL_MOST_RESERVED, POOL_USED, POOL_MOST_USED, POOL_ATTRIBUTES };

struct memory_pool {
	uint64_t attributes[POOL_ATTRIBUTES];
	unsigned number; /* from 1 */
	struct memory_pool *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_pool default_pool = {.number = 1}, *pools = &default_pool, *current = &default_pool;
static unsigned last_number = 1;

/* Under the lock: the pool has so many bytes more, or less. */
static void count_bytes(struct memory_pool *p, uint64_t more, uint64_t less)
{
	for (int now = POOL_RESERVED; now <= POOL_USED; now += 2) {
		uint64_t *most = &p->attributes[now + 1];
		p->attributes[now] += more - less;
		*most = p->attributes[now] > *most ? p->attributes[now] : *most;
	}
}

void pool_freed(unsigned number, size_t bytes)
{
	pthread_mutex_lock(&lock);
	for (struct memory_pool *p = pools; number && p; p = p->next)
		if (p->number == number)
			count_bytes(p, 0, bytes);
	pthread_mutex_unlock(&lock);
}

static bool pool_exists(const void *handle)
{
	pthread_mutex_lock(&lock);
	struct memory_pool *p = pools;
	while (p && p != handle)
		p = p->next;
	pthread_mutex_unlock(&lock);
	return p;
}

int hook_cudaDeviceGetDefaultMemPool(void **pool, int device)
{
	if (!pool || !is_device(device))
		return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	*pool = &default_pool;
	return cudaSuccess;
}

int hook_cudaDeviceGetMemPool(void **pool, int device)
{
	if (!pool || !is_device(device))
		return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	*pool = current;
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}

int hook_cudaDeviceSetMemPool(int device, void *pool)
{
	if (!is_device(device) || !pool_exists(pool))
		return !is_device(device) ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	current = pool;
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}

int hook_cudaMemPoolCreate(void **pool, const void *properties)
{
	if (!pool || !properties)
		return cudaErrorInvalidValue;
	struct memory_pool *p = calloc(1, sizeof *p);
	if (!p)
		return cudaErrorMemoryAllocation;
	pthread_mutex_lock(&lock);
	p->number = ++last_number;
	p->next = pools;
	pools = p;
	pthread_mutex_unlock(&lock);
	*pool = p;
	return cudaSuccess;
}

int hook_cudaMemPoolDestroy(void *pool)
{
	if (pool == &default_pool || !pool_exists(pool))
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	struct memory_pool **at = &pools;
	while (*at != pool)
		at = &(*at)->next;
	*at = (*at)->next;
	if (current == pool)
		current = &default_pool;
	pthread_mutex_unlock(&lock);
	free(pool);
	return cudaSuccess;
}

int hook_cudaMemPoolTrimTo(void *pool, size_t bytes)
{
	(void)bytes;
	return pool_exists(pool) ? cudaSuccess : cudaErrorInvalidValue;
}

/* Attributes are numbered from 1. */
static int copy_attribute(void *pool, int attribute, void *value, bool set)
{
	if (!value || attribute < 1 || attribute >= POOL_ATTRIBUTES || !pool_exists(pool))
		return cudaErrorInvalidValue;
	uint64_t *kept = &((struct memory_pool *)pool)->attributes[attribute];
	if (set && (attribute == POOL_RESERVED || attribute == POOL_USED))
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	if (set && attribute >= POOL_RESERVED)
		*kept = kept[-1]; /* CUDA takes 0 alone, which begins anew */
	else if (set)
		*kept = attribute < POOL_FIRST_SIZE ? (uint64_t) * (int *)value : *(uint64_t *)value;
	else if (attribute < POOL_FIRST_SIZE)
		*(int *)value = (int)*kept;
	else
		memcpy(value, kept, sizeof *kept);
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}

int hook_cudaMemPoolSetAttribute(void *pool, int attribute, void *value)
{
	return copy_attribute(pool, attribute, value, true);
}

int hook_cudaMemPoolGetAttribute(void *pool, int attribute, void *value)
{
	return copy_attribute(pool, attribute, value, false);
}

int hook_cudaMemPoolSetAccess(void *pool, const void *list, size_t count)
{
	return pool_exists(pool) && (list || !count) ? cudaSuccess : cudaErrorInvalidValue;
}

enum { READ_AND_WRITE = 3 };

int hook_cudaMemPoolGetAccess(int *flags, void *pool, void *location)
{
	if (!flags || !location || !pool_exists(pool))
		return cudaErrorInvalidValue;
	*flags = READ_AND_WRITE;
	return cudaSuccess;
}

static int allocate_from(void **out, size_t bytes, struct memory_pool *pool, void *stream)
{
	if (!stream_exists(stream))
		return cudaErrorInvalidResourceHandle;
	pthread_mutex_lock(&lock);
	pool = pool ? pool : current;
	unsigned number = pool->number;
	pthread_mutex_unlock(&lock);
	int error = memory_allocate(out, bytes, CUDA_DEVICE_MEMORY, number);
	pthread_mutex_lock(&lock);
	for (struct memory_pool *p = pools; !error && p; p = p->next)
		if (p->number == number)
			count_bytes(p, bytes, 0);
	pthread_mutex_unlock(&lock);
	return error;
}

int hook_cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream)
{
	return pool_exists(pool) ? allocate_from(out, bytes, pool, stream) : cudaErrorInvalidValue;
}

int hook_cudaMallocAsync(void **out, size_t bytes, void *stream)
{
	return allocate_from(out, bytes, NULL, stream);
}
