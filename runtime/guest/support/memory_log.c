#include "runtime/guest/support/memory_log.h"

#include "runtime/guest/support/table.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table buffers; /* handles to struct argument_memory; under the lock */
static uint64_t made;        /* buffers that there ever were */

/* With the lock held. NULL when out of memory. */
static struct argument_memory *find_buffer(const void *handle)
{
	struct argument_memory *b = table_get(&buffers, handle);
	if (b || !(b = calloc(1, sizeof *b)))
		return b;
	b->buffer = ++made;
	if (table_put(&buffers, handle, b) == b) {
		free(b);
		return NULL;
	}
	return b;
}

void memory_log_made(const void *handle)
{
	pthread_mutex_lock(&lock);
	struct argument_memory *b = find_buffer(handle);
	if (b)
		*b = (struct argument_memory){.buffer = ++made};
	pthread_mutex_unlock(&lock);
}

void memory_log_copied(const void *handle, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	struct argument_memory *b = find_buffer(handle);
	if (b) {
		b->copied += bytes;
		b->largest = bytes > b->largest ? bytes : b->largest;
	}
	pthread_mutex_unlock(&lock);
}

void memory_log_written(const void *handle, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	struct argument_memory *b = find_buffer(handle);
	if (b)
		b->written += bytes;
	pthread_mutex_unlock(&lock);
}

void memory_log_used(const void *handle, struct argument_memory *out)
{
	pthread_mutex_lock(&lock);
	struct argument_memory *b = find_buffer(handle);
	if (b) {
		*out = *b;
		*b = (struct argument_memory){.buffer = b->buffer};
	}
	pthread_mutex_unlock(&lock);
}
