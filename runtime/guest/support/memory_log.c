#include "runtime/guest/support/memory_log.h"

#include "runtime/guest/support/table.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct known_buffer {
	struct argument_memory use;
	uint32_t home; /* 1 + the GPU that it is of; 0: not known */
};
static struct table buffers; /* handles to struct known_buffer; under the lock */
static uint64_t made;        /* buffers that there ever were */

/* With the lock held. NULL when out of memory. */
static struct known_buffer *find_buffer(const void *handle)
{
	struct known_buffer *b = table_get(&buffers, handle);
	if (b || !(b = calloc(1, sizeof *b)))
		return b;
	b->use.buffer = ++made;
	if (table_put(&buffers, handle, b) == b) {
		free(b);
		return NULL;
	}
	return b;
}

void memory_log_made(const void *handle)
{
	pthread_mutex_lock(&lock);
	struct known_buffer *b = find_buffer(handle);
	if (b)
		*b = (struct known_buffer){.use.buffer = ++made};
	pthread_mutex_unlock(&lock);
}

void memory_log_copied(const void *handle, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	struct known_buffer *b = find_buffer(handle);
	if (b) {
		b->use.copied += bytes;
		b->use.largest = bytes > b->use.largest ? bytes : b->use.largest;
	}
	pthread_mutex_unlock(&lock);
}

void memory_log_written(const void *handle, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	struct known_buffer *b = find_buffer(handle);
	if (b)
		b->use.written += bytes;
	pthread_mutex_unlock(&lock);
}

void memory_log_used(const void *handle, struct argument_memory *out)
{
	pthread_mutex_lock(&lock);
	struct known_buffer *b = find_buffer(handle);
	if (b) {
		*out = b->use;
		b->use = (struct argument_memory){.buffer = b->use.buffer};
	}
	pthread_mutex_unlock(&lock);
}

void memory_log_set_gpu(const void *handle, uint32_t gpu)
{
	pthread_mutex_lock(&lock);
	struct known_buffer *b = find_buffer(handle);
	if (b)
		b->home = gpu + 1;
	pthread_mutex_unlock(&lock);
}

uint32_t memory_log_gpu(const void *handle, uint32_t otherwise)
{
	pthread_mutex_lock(&lock);
	const struct known_buffer *b = table_get(&buffers, handle);
	uint32_t gpu = b && b->home ? b->home - 1 : otherwise;
	pthread_mutex_unlock(&lock);
	return gpu;
}
