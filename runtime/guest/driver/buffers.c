/*
 * Memory for counters, for traces, and for copies of the application's buffers. Each context has a pool. Buffers for counters
 * and traces are zeroed. Their sizes are powers of two. Sizes of copies are rounded up to an eighth of a power of two.
 *
 * A CPU device works in the host's memory. Its buffers are memory of ours that the device uses in place, so reading counters
 * needs no command. For other devices a queue of ours reads and clears them. Buffers for traces are large, because the length
 * of a trace is not known before. Only the part that was used is touched, and only headers are cleared.
 */
#include "runtime/guest/driver/buffers.h"

#include "runtime/format/counters.h"
#include "runtime/format/traces.h"
#include "runtime/guest/driver/device.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; older systems make pages when they are touched */
#endif

struct pool_queue {
	struct pool_queue *next;
	cl_device_id device;
	cl_command_queue queue;
};

/* A device that buffers were made for. */
struct pool_device {
	struct pool_device *next;
	cl_device_id device;
	bool kept; /* the application has released it, and we hold a reference */
};

struct context_pool {
	struct context_pool *next;
	cl_context context;
	int refs;        /* builds in this context, and buffers in use */
	struct counter_buffer *idle;
	struct pool_queue *queues;
	struct pool_device *devices;
};

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static struct context_pool *pools;
static uint64_t allocated_bytes[BUFFER_KINDS]; /* including idle buffers; under pools_lock */
static atomic_uint_fast64_t used_bytes[BUFFER_KINDS]; /* of buffers that are taken */

/* ---- the host's memory ---- */

enum { HUGE_PAGE_BITS = 21, HUGE_PAGE = 1 << HUGE_PAGE_BITS };

/* Uses huge pages where the system has them. The first access to a page waits for it, and that access is a kernel's. In virtual
 * machines, half a megabyte took 0.17 to 0.38 ms in pages of 4 KiB, more than the short kernel itself. As a part of a huge page
 * it took 0.04 to 0.06 ms. */
static void *zero_pages(size_t bytes, int flags)
{
	char *pages = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	if (pages == MAP_FAILED)
		return NULL;
	size_t before = -(uintptr_t)pages % HUGE_PAGE;
	if (before)
		munmap(pages, before);
	munmap(pages + before + bytes, HUGE_PAGE - before);
	madvise(pages + before, bytes, MADV_HUGEPAGE);
	return pages + before;
}

struct piece {
	char *at;
	size_t left;
};

/* A piece is a huge page from which buffers are cut. There is one piece for all small buffers, and one for each larger power of
 * two, so that each is used completely. If a part of a huge page is given back, its memory stays taken until the rest is given
 * back, too. */
static struct piece *piece_for(size_t bytes)
{
	enum { SMALL_BITS = 16 };
	static struct piece pieces[HUGE_PAGE_BITS - SMALL_BITS];
	size_t larger = 0;
	while (bytes > (size_t)1 << (SMALL_BITS + larger))
		larger++;
	return &pieces[larger];
}

/* Buffers of up to half a huge page are cut from one. Thousands of launches may be in flight, and a page fault or a system call
 * for each would cost more than all else that we do for it. Under pools_lock. */
static void *cut_from_piece(size_t bytes)
{
	struct piece *p = piece_for(bytes);
	if (p->left < bytes) {
		if (p->left)
			munmap(p->at, p->left);
		p->at = zero_pages(HUGE_PAGE, 0);
		p->left = p->at ? HUGE_PAGE : 0;
		if (p->at)
			madvise(p->at, p->left, MADV_POPULATE_WRITE);
	}
	if (!p->left)
		return NULL;
	char *cut = p->at;
	p->at += bytes;
	p->left -= bytes;
	return cut;
}

/* For traces, the pages do not exist before they are used. */
static uint64_t *host_memory(enum buffer_kind kind, size_t bytes)
{
	if (kind != COUNTER_BUFFER)
		return zero_pages(bytes, MAP_NORESERVE);
	return bytes <= HUGE_PAGE / 2 ? cut_from_piece(bytes) : zero_pages(bytes, 0);
}

static void free_host_memory(struct counter_buffer *b)
{
	if (b->words)
		munmap(b->words, b->word_count * sizeof *b->words);
	b->words = NULL;
}

static void buffer_free(struct counter_buffer *b)
{
	allocated_bytes[b->kind] -= b->word_count * sizeof *b->words;
	if (b->mem)
		cl.clReleaseMemObject(b->mem);
	free_host_memory(b);
	free(b);
}

/* ---- pools ---- */

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

struct context_pool *pool_retain(struct context_pool *pool)
{
	pthread_mutex_lock(&pools_lock);
	pool->refs++;
	pthread_mutex_unlock(&pools_lock);
	return pool;
}

cl_context pool_context(const struct context_pool *pool)
{
	return pool->context;
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
	while (pool->devices) {
		struct pool_device *d = pool->devices;
		pool->devices = d->next;
		if (d->kept)
			cl.clReleaseDevice(d->device);
		free(d);
	}
	free(pool);
}

static struct pool_device *find_device(const struct context_pool *pool, cl_device_id device)
{
	struct pool_device *d = pool->devices;
	while (d && d->device != device)
		d = d->next;
	return d;
}

static void note_device(struct context_pool *pool, cl_device_id device)
{
	struct pool_device *d = find_device(pool, device) ? NULL : calloc(1, sizeof *d);
	if (!d)
		return;
	*d = (struct pool_device){.next = pool->devices, .device = device};
	pool->devices = d;
}

/* When a buffer is released, POCL 3.1 looks at the device of the buffer's last command. If that was a sub-device that the
 * application has released, it is gone by then. So we keep a reference to it. */
void device_released(cl_device_id device)
{
	cl_device_id parent = NULL;
	cl_uint references = 0;
	if (!cl.clRetainDevice || cl.clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL) != CL_SUCCESS || !parent ||
	    cl.clGetDeviceInfo(device, CL_DEVICE_REFERENCE_COUNT, sizeof references, &references, NULL) != CL_SUCCESS || references != 1)
		return;
	pthread_mutex_lock(&pools_lock);
	for (struct context_pool *p = pools; p; p = p->next) {
		struct pool_device *d = find_device(p, device);
		if (d && !d->kept)
			d->kept = cl.clRetainDevice(device) == CL_SUCCESS;
	}
	pthread_mutex_unlock(&pools_lock);
}

void pool_unref(struct context_pool *pool)
{
	pthread_mutex_lock(&pools_lock);
	pool_unref_locked(pool);
	pthread_mutex_unlock(&pools_lock);
}

cl_command_queue pool_queue(struct context_pool *pool, cl_device_id device)
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

/* Clears a buffer in the device's own memory. */
static int zero_words(struct counter_buffer *b, size_t words)
{
	const cl_ulong zero = 0;
	cl_command_queue queue = pool_queue(b->pool, b->device);
	/* The write comes after the fill, and we wait for it. */
	return queue && cl.clEnqueueFillBuffer && cl.clEnqueueFillBuffer(queue, b->mem, &zero, sizeof zero, 0,
	                                          words * sizeof zero, 0, NULL, NULL) == CL_SUCCESS &&
	       cl.clEnqueueWriteBuffer(queue, b->mem, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL) == CL_SUCCESS ? 0 : -1;
}

/* Events take four to eight times the memory there (runtime/format/traces.h), of which there is much and little is touched. */
static uint64_t trace_bound(cl_device_id device)
{
	enum { OWN_TIMES = 16, OWN_PART = 16 };
	uint64_t bytes = TRACE_BUFFER_SHARE(simulation.options.trace_memory.number);
	cl_ulong memory = 0;
	if (!device) /* that of a CUDA program, whose driver says itself what is free */
		return bytes * OWN_TIMES;
	if (device_is_cpu(device) || cl.clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL) != CL_SUCCESS)
		return bytes;
	uint64_t own = memory / OWN_PART < bytes * OWN_TIMES ? memory / OWN_PART : bytes * OWN_TIMES;
	return own > bytes ? own : bytes;
}

uint64_t buffer_bound(enum buffer_kind kind, cl_device_id device)
{
	switch (kind) {
	case TRACE_BUFFER:
		return trace_bound(device);
	case SHADOW_BUFFER:
		return simulation.options.shadow_memory.number;
	default:
		return simulation.options.counter_memory.number;
	}
}

/* Makes room for `bytes` more within the bound. Frees idle buffers if need be. */
static bool make_room(enum buffer_kind kind, cl_device_id device, uint64_t bytes)
{
	const uint64_t bound = buffer_bound(kind, device);
	for (struct context_pool *p = pools; p && allocated_bytes[kind] + bytes > bound; p = p->next)
		pool_free_idle(p);
	return allocated_bytes[kind] + bytes <= bound;
}

bool shadow_memory_take(uint64_t bytes)
{
	pthread_mutex_lock(&pools_lock);
	bool room = make_room(SHADOW_BUFFER, NULL, bytes);
	allocated_bytes[SHADOW_BUFFER] += room ? bytes : 0;
	pthread_mutex_unlock(&pools_lock);
	return room;
}

void shadow_memory_back(uint64_t bytes)
{
	pthread_mutex_lock(&pools_lock);
	allocated_bytes[SHADOW_BUFFER] -= bytes;
	pthread_mutex_unlock(&pools_lock);
}

static struct counter_buffer *buffer_new(struct context_pool *pool, cl_device_id device, enum buffer_kind kind, size_t words)
{
	size_t bytes = words * sizeof(uint64_t);
	struct counter_buffer *b = make_room(kind, device, bytes) ? calloc(1, sizeof *b) : NULL;
	cl_int code;
	if (!b)
		return NULL;
	allocated_bytes[kind] += bytes;
	*b = (struct counter_buffer){.pool = pool, .kind = kind, .word_count = words, .device = device};
	b->shared = device_is_cpu(device);
	bool ours = b->shared || kind == COUNTER_BUFFER;
	cl_mem_flags from = b->shared ? CL_MEM_USE_HOST_PTR : kind == COUNTER_BUFFER ? CL_MEM_COPY_HOST_PTR : 0;
	if (!ours || (b->words = host_memory(kind, bytes)))
		b->mem = cl.clCreateBuffer(pool->context, CL_MEM_READ_WRITE | from, bytes, b->words, &code);
	if (b->mem)
		return b;
	buffer_free(b);
	return NULL;
}

/* Rounds up a number of words: to a power of two, at least a page; for copies, and counters that are not cut from a huge page, to an
 * eighth between two powers of two. */
static size_t size_class(enum buffer_kind kind, size_t words)
{
	enum { LEAST = 512, STEPS = 8, LEAST_COUNTERS = HUGE_PAGE / sizeof(uint64_t) };
	size_t size = LEAST;
	while (size < words)
		size *= 2;
	if (kind == TRACE_BUFFER || size < (kind == COUNTER_BUFFER ? LEAST_COUNTERS : LEAST * STEPS))
		return size;
	size_t step = size / 2 / STEPS;
	return (words + step - 1) / step * step;
}

struct counter_buffer *buffer_take(struct context_pool *pool, cl_device_id device, enum buffer_kind kind, size_t words)
{
	size_t size = size_class(kind, words);
	pthread_mutex_lock(&pools_lock);
	struct counter_buffer **link = &pool->idle;
	while (*link && ((*link)->word_count != size || (*link)->device != device || (*link)->kind != kind))
		link = &(*link)->next;
	struct counter_buffer *b = *link;
	bool is_new = !b;
	if (b)
		*link = b->next;
	else
		b = buffer_new(pool, device, kind, size);
	if (b) {
		pool->refs++;
		used_bytes[kind] += b->word_count * sizeof *b->words;
		note_device(pool, device);
	}
	pthread_mutex_unlock(&pools_lock);
	if (b && is_new && !b->words && kind == TRACE_BUFFER && zero_words(b, TRACE_HEADER_WORDS)) {
		buffer_give_back(b, 0);
		return NULL;
	}
	return b;
}

struct counter_buffer *buffer_of_host(enum buffer_kind kind, size_t words)
{
	struct counter_buffer *b = calloc(1, sizeof *b);
	if (!b || !(b->words = calloc(words, sizeof *b->words))) {
		free(b);
		return NULL;
	}
	b->kind = kind;
	b->word_count = words;
	b->shared = true;
	used_bytes[b->kind] += words * sizeof *b->words;
	return b;
}

uint64_t buffers_in_use(enum buffer_kind kind)
{
	return used_bytes[kind];
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

static int read_words(struct counter_buffer *b, size_t words)
{
	cl_command_queue queue = pool_queue(b->pool, b->device);
	return queue && cl.clEnqueueReadBuffer(queue, b->mem, CL_TRUE, 0, words * sizeof *b->words, b->words, 0, NULL,
	                                       NULL) == CL_SUCCESS ? 0 : -1;
}

int buffer_read(struct counter_buffer *b, size_t offset, size_t bytes, void *to)
{
	cl_command_queue queue = pool_queue(b->pool, b->device);
	return queue && cl.clEnqueueReadBuffer(queue, b->mem, CL_TRUE, offset, bytes, to, 0, NULL, NULL) == CL_SUCCESS ? 0 : -1;
}

int buffer_fetch(struct counter_buffer *b, size_t words)
{
	return b->shared ? 0 : read_words(b, words);
}

/* The headers of columns say how long these are. */
static int fetch_columns(struct counter_buffer *b, size_t *words)
{
	uint64_t columns = b->words[TRACE_COLUMNS_WORD];
	if (!trace_column_room(b->word_count, columns) || buffer_fetch(b, TRACE_HEADER_WORDS + COLUMN_HEADER_WORDS * columns))
		return -1;
	*words = trace_columns_used(b->words, b->word_count);
	return buffer_fetch(b, *words);
}

int buffer_fetch_trace(struct counter_buffer *b, size_t *words)
{
	const size_t chunk_words = TRACE_CHUNK_BYTES / sizeof *b->words, room = (b->word_count - TRACE_HEADER_WORDS) / chunk_words;
	if (!b->words && !(b->words = host_memory(b->kind, b->word_count * sizeof *b->words)))
		return -1;
	if (buffer_fetch(b, TRACE_HEADER_WORDS))
		return -1;
	if (b->words[TRACE_COLUMNS_WORD])
		return fetch_columns(b, words);
	size_t taken = (uint32_t)b->words[0];
	*words = TRACE_HEADER_WORDS + (taken < room ? taken : room) * chunk_words;
	return buffer_fetch(b, *words);
}

/* Clears a used buffer. If host memory is only a copy of a trace, all of it is freed. */
static bool clear(struct counter_buffer *b, size_t words_used)
{
	const size_t chunk_words = TRACE_CHUNK_BYTES / sizeof *b->words;
	if (b->kind == SHADOW_BUFFER)
		return true;
	if (b->kind == COUNTER_BUFFER) {
		memset(b->words, 0, words_used * sizeof *b->words);
		return b->shared || !write_words(b, words_used);
	}
	if (!b->shared) {
		free_host_memory(b);
		return words_used && !zero_words(b, TRACE_HEADER_WORDS);
	}
	memset(b->words, 0, TRACE_HEADER_WORDS * sizeof *b->words);
	for (size_t at = TRACE_HEADER_WORDS; at + chunk_words <= words_used; at += chunk_words)
		memset(b->words + at, 0, TRACE_CHUNK_HEADER_WORDS * sizeof *b->words);
	return true;
}

void buffer_give_back(struct counter_buffer *b, size_t words_used)
{
	struct context_pool *pool = b->pool;
	used_bytes[b->kind] -= b->word_count * sizeof *b->words;
	if (!pool) {
		free(b->words);
		free(b);
		return;
	}
	bool clean = clear(b, words_used);
	b->device_slots = 0;
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

cl_mem whole_memory(cl_mem mem)
{
	cl_mem whole = NULL;
	cl.clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
	return whole ? whole : mem;
}
