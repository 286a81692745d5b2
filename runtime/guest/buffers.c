/*
 * Memory for counters: a pool per context, of zeroed buffers in sizes that are powers of two.
 *
 * A CPU device works in the host's memory: the buffer is memory of ours that the device uses in place, and
 * reading counters costs no command. For other devices a queue of ours reads and clears them.
 */
#include "state.h"

#include "runtime/cc/counters.h"

#include <stdlib.h>
#include <string.h>

struct pool_queue {
	struct pool_queue *next;
	cl_device_id device;
	cl_command_queue queue;
};

struct context_pool {
	struct context_pool *next;
	cl_context context;
	int refs;        /* builds in this context, and buffers in use */
	struct counter_buffer *idle;
	struct pool_queue *queues;
};

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static struct context_pool *pools;
static uint64_t allocated_bytes; /* under pools_lock; idle buffers too */

static void buffer_free(struct counter_buffer *b)
{
	allocated_bytes -= b->word_count * sizeof *b->words;
	if (b->mem)
		cl.clReleaseMemObject(b->mem);
	free(b->words);
	free(b);
}

static void pool_free_idle(struct context_pool *pool)
{
	while (pool->idle) {
		struct counter_buffer *b = pool->idle;
		pool->idle = b->next;
		buffer_free(b);
	}
}

struct context_pool *pool_for(cl_context context)
{
	pthread_mutex_lock(&pools_lock);
	struct context_pool *p = pools;
	while (p && p->context != context)
		p = p->next;
	if (!p && (p = calloc(1, sizeof *p))) {
		p->context = context;
		p->next = pools;
		pools = p;
	}
	if (p)
		p->refs++;
	pthread_mutex_unlock(&pools_lock);
	return p;
}

static void pool_unref_locked(struct context_pool *pool)
{
	if (--pool->refs)
		return;
	struct context_pool **link = &pools;
	while (*link != pool)
		link = &(*link)->next;
	*link = pool->next;
	pool_free_idle(pool);
	while (pool->queues) {
		struct pool_queue *q = pool->queues;
		pool->queues = q->next;
		cl.clReleaseCommandQueue(q->queue);
		free(q);
	}
	free(pool);
}

void pool_unref(struct context_pool *pool)
{
	pthread_mutex_lock(&pools_lock);
	pool_unref_locked(pool);
	pthread_mutex_unlock(&pools_lock);
}

static bool works_in_host_memory(cl_device_id device)
{
	cl_device_type type = 0;
	cl.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	return type & CL_DEVICE_TYPE_CPU;
}

/* Room for `bytes` more within the bound, at the price of idle buffers if need be. */
static bool make_room(uint64_t bytes)
{
	uint64_t bound = runtime.options.counter_memory.number;
	for (struct context_pool *p = pools; p && allocated_bytes + bytes > bound; p = p->next)
		pool_free_idle(p);
	return allocated_bytes + bytes <= bound;
}

static struct counter_buffer *buffer_new(struct context_pool *pool, cl_device_id device, size_t words)
{
	enum { ALIGNMENT = 4096 };
	size_t bytes = words * sizeof(uint64_t);
	struct counter_buffer *b = make_room(bytes) ? calloc(1, sizeof *b) : NULL;
	if (!b)
		return NULL;
	allocated_bytes += bytes;
	*b = (struct counter_buffer){.pool = pool, .word_count = words, .device = device};
	b->shared = works_in_host_memory(device);
	b->words = aligned_alloc(ALIGNMENT, bytes);
	if (b->words) {
		cl_int code;
		memset(b->words, 0, bytes);
		b->mem = cl.clCreateBuffer(pool->context, CL_MEM_READ_WRITE | (b->shared ? CL_MEM_USE_HOST_PTR :
		                           CL_MEM_COPY_HOST_PTR), bytes, b->words, &code);
	}
	if (b->mem)
		return b;
	buffer_free(b);
	return NULL;
}

struct counter_buffer *buffer_take(struct context_pool *pool, cl_device_id device, size_t words)
{
	size_t size = 512; /* words; one page */
	while (size < words)
		size *= 2;
	pthread_mutex_lock(&pools_lock);
	struct counter_buffer **link = &pool->idle;
	while (*link && ((*link)->word_count != size || (*link)->device != device))
		link = &(*link)->next;
	struct counter_buffer *b = *link;
	if (b)
		*link = b->next;
	else
		b = buffer_new(pool, device, size);
	if (b)
		pool->refs++;
	pthread_mutex_unlock(&pools_lock);
	return b;
}

static cl_command_queue pool_queue(struct context_pool *pool, cl_device_id device)
{
	pthread_mutex_lock(&pools_lock);
	struct pool_queue *q = pool->queues;
	while (q && q->device != device)
		q = q->next;
	if (!q && (q = calloc(1, sizeof *q))) {
		cl_int code;
		q->device = device;
		q->queue = cl.clCreateCommandQueue(pool->context, device, 0, &code);
		q->next = pool->queues;
		pool->queues = q;
	}
	pthread_mutex_unlock(&pools_lock);
	return q ? q->queue : NULL;
}

static int write_words(struct counter_buffer *b, size_t count)
{
	cl_command_queue queue = pool_queue(b->pool, b->device);
	return queue && cl.clEnqueueWriteBuffer(queue, b->mem, CL_TRUE, 0, count * sizeof *b->words, b->words, 0, NULL,
	                                        NULL) == CL_SUCCESS ? 0 : -1;
}

int buffer_set_slots(struct counter_buffer *b, uint64_t slots)
{
	b->words[COUNTER_SLOTS] = slots;
	if (b->shared || b->device_slots == slots)
		return 0;
	b->device_slots = slots;
	return write_words(b, 1);
}

int buffer_fetch(struct counter_buffer *b, size_t words)
{
	if (b->shared)
		return 0;
	cl_command_queue queue = pool_queue(b->pool, b->device);
	return queue && cl.clEnqueueReadBuffer(queue, b->mem, CL_TRUE, 0, words * sizeof *b->words, b->words, 0, NULL,
	                                       NULL) == CL_SUCCESS ? 0 : -1;
}

void buffer_give_back(struct counter_buffer *b, size_t words_used)
{
	struct context_pool *pool = b->pool;
	memset(b->words, 0, words_used * sizeof *b->words);
	b->device_slots = 0;
	bool clean = b->shared || !write_words(b, words_used);
	pthread_mutex_lock(&pools_lock);
	if (clean) {
		b->next = pool->idle;
		pool->idle = b;
	} else {
		buffer_free(b);
	}
	pool_unref_locked(pool);
	pthread_mutex_unlock(&pools_lock);
}
