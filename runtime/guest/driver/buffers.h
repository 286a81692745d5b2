/* buffers: memory for counters, for traces and for copies of the application's memory; and what is part of what of the latter. */
#ifndef GPUSIM_RUNTIME_GUEST_DRIVER_BUFFERS_H
#define GPUSIM_RUNTIME_GUEST_DRIVER_BUFFERS_H

#include "runtime/guest/driver/cl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The application's buffer that a sub-buffer, or an image made from one, is a part of; else the memory itself. */
cl_mem whole_memory(cl_mem mem);

enum buffer_kind { COUNTER_BUFFER, TRACE_BUFFER, SHADOW_BUFFER, BUFFER_KINDS };

struct counter_buffer {
	struct counter_buffer *next;
	struct context_pool *pool;
	enum buffer_kind kind;
	cl_mem mem;
	uint64_t *words; /* shared memory itself, or a copy of the device's; for traces, a copy after buffer_fetch_trace */
	size_t word_count;
	bool shared;
	uint64_t device_slots; /* the value of word 0 on the device */
	cl_device_id device;
};

struct context_pool *pool_for(cl_context context);
struct context_pool *pool_retain(struct context_pool *pool);
void pool_unref(struct context_pool *pool);
cl_context pool_context(const struct context_pool *pool);
/* A queue of ours on the device, which runs commands in order. NULL: there is none. */
cl_command_queue pool_queue(struct context_pool *pool, cl_device_id device);
/* Counts memory that is not in buffers within the bound of SHADOW_BUFFER. False: there is no room. */
bool shadow_memory_take(uint64_t bytes);
void shadow_memory_back(uint64_t bytes);
/* A buffer of at least `words` words, zeroed unless it is for copies. NULL when the bound is reached or memory is short. */
struct counter_buffer *buffer_take(struct context_pool *pool, cl_device_id device, enum buffer_kind kind, size_t words);
/* One of no pool, in the host's memory alone, for counts that come from elsewhere. */
struct counter_buffer *buffer_of_host(enum buffer_kind kind, size_t words);
/* Bytes that buffers of a kind may take together. A device with memory of its own may use more of it for traces than we use of the host's. */
uint64_t buffer_bound(enum buffer_kind kind, cl_device_id device);
/* Bytes of all buffers that are taken. */
uint64_t buffers_in_use(enum buffer_kind kind);
/* Writes the number of slots where the device reads it. */
int buffer_set_slots(struct counter_buffer *buffer, uint64_t slots);
/* Copies the device's words to buffer->words. Does nothing where memory is shared. */
int buffer_fetch(struct counter_buffer *buffer, size_t words);
/* The same for a trace buffer, as far as it is used. */
int buffer_fetch_trace(struct counter_buffer *buffer, size_t *words);
/* Reads a range of bytes of a buffer that is not shared. */
int buffer_read(struct counter_buffer *buffer, size_t offset, size_t bytes, void *to);
void buffer_give_back(struct counter_buffer *buffer, size_t words_used);

#endif
