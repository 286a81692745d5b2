/* Memory pools: there is one, which gives every allocation and keeps nothing. Handles of others are accepted and mean the same. */
#include "interposer/cuda/streams.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_ATTRIBUTES = 9, POOL_FIRST_SIZE = 4 /* attributes before are ints, from here on 64-bit numbers */ };

struct memory_pool {
	uint64_t attributes[POOL_ATTRIBUTES];
	struct memory_pool *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_pool default_pool, *pools = &default_pool, *current = &default_pool;

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
	if (!pool || device)
		return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	*pool = &default_pool;
	return cudaSuccess;
}

int hook_cudaDeviceGetMemPool(void **pool, int device)
{
	if (!pool || device)
		return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	*pool = current;
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}

int hook_cudaDeviceSetMemPool(int device, void *pool)
{
	if (device || !pool_exists(pool))
		return device ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
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
	pthread_mutex_lock(&lock);
	if (set)
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

int hook_cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream)
{
	return pool_exists(pool) ? hook_cudaMallocAsync(out, bytes, stream) : cudaErrorInvalidValue;
}
