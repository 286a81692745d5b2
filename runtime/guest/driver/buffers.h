/* buffers: memory for counters, for traces and for copies of the application's memory. */
#ifndef GPUSIM_RUNTIME_GUEST_DRIVER_BUFFERS_H
#define GPUSIM_RUNTIME_GUEST_DRIVER_BUFFERS_H

#include "runtime/guest/driver/cl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum buffer_kind { COUNTER_BUFFER, TRACE_BUFFER, SHADOW_BUFFER, BUFFER_KINDS };

struct counter_buffer {
	struct counter_buffer *next;
	struct context_pool *pool;
	enum buffer_kind kind;
	cl_mem mem;
	uint64_t *words; /* the memory itself where the device shares it, else a copy; of traces, once they were fetched */
	size_t word_count;
	bool shared;
	uint64_t device_slots; /* word 0 as the device has it */
	cl_device_id device;
};

struct context_pool *pool_for(cl_context context);
struct context_pool *pool_retain(struct context_pool *pool);
void pool_unref(struct context_pool *pool);
cl_context pool_context(const struct context_pool *pool);
/* A queue of ours on the device, which keeps order; NULL: there is none. */
cl_command_queue pool_queue(struct context_pool *pool, cl_device_id device);
/* Memory of the bound of SHADOW_BUFFER that is not in buffers. */
bool shadow_memory_take(uint64_t bytes);
void shadow_memory_back(uint64_t bytes);
/* A buffer of at least `words` words, zeroed unless it is for copies, or NULL when the bound is reached or memory is short. */
struct counter_buffer *buffer_take(struct context_pool *pool, cl_device_id device, enum buffer_kind kind, size_t words);
/* Writes the number of slots to where the device reads it. */
int buffer_set_slots(struct counter_buffer *buffer, uint64_t slots);
/* Brings the device's words to buffer->words; nothing to do where memory is shared. */
int buffer_fetch(struct counter_buffer *buffer, size_t words);
/* Likewise of a trace buffer, as much as is used. */
int buffer_fetch_trace(struct counter_buffer *buffer, size_t *words);
/* A range of the device's bytes, of a buffer that is not shared. */
int buffer_read(struct counter_buffer *buffer, size_t offset, size_t bytes, void *to);
void buffer_give_back(struct counter_buffer *buffer, size_t words_used);

#endif
