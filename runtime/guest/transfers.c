/* Copies between host and device that the application asks for. */
#include "runtime/runtime.h"

#include "runtime/guest/driver/buffers.h"
#include "runtime/guest/driver/several.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/timeline.h"
#include "runtime/guest/support/memory_log.h"

#include <pthread.h>
#include <stdlib.h>

/* A mapping that still exists. If it is writable, its bytes go back to the device when it is unmapped. */
struct mapped_region {
	struct mapped_region *next;
	const void *pointer;
	uint64_t size_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapped_region *mappings; /* under the lock */

void transfer_enqueued(enum transfer_kind kind, uint64_t size_bytes)
{
	stats_add_transfer(&simulation.stats, kind, size_bytes);
}

void memory_at(cl_mem mem, cl_command_queue queue)
{
	if (several_wanted())
		memory_log_set_gpu(whole_memory(mem), several_of_queue(queue));
}

void transfer_copied(cl_mem from, cl_mem to, uint64_t size_bytes, const struct command_call *call)
{
	cl_mem source = several_wanted() ? whole_memory(from) : NULL, goal = source ? whole_memory(to) : NULL;
	uint32_t own = goal ? several_of_queue(call->queue) : 0;
	struct peer_ends ends = {goal ? memory_log_gpu(source, own) : 0, goal ? memory_log_gpu(goal, own) : 0};
	if (goal)
		memory_log_set_gpu(goal, ends.to);
	if (ends.from == ends.to) {
		transfer_enqueued(TRANSFER_COPY, size_bytes);
		timeline_transfer(TRANSFER_COPY, size_bytes, call);
		return;
	}
	stats_add_peer_copy(&simulation.stats, ends, size_bytes);
	timeline_peer_copy(ends, size_bytes, call);
}

void memory_made(cl_mem mem)
{
	memory_log_made(mem);
}

void memory_changed(cl_mem mem, enum transfer_kind kind, uint64_t size_bytes)
{
	if (kind == TRANSFER_WRITE || kind == TRANSFER_UNMAP)
		memory_log_copied(whole_memory(mem), size_bytes);
	else if (kind == TRANSFER_COPY || kind == TRANSFER_FILL)
		memory_log_written(whole_memory(mem), size_bytes);
}

uint64_t transfer_mapped(const void *pointer, cl_map_flags flags, uint64_t size_bytes)
{
	bool invalidated = flags & CL_MAP_WRITE_INVALIDATE_REGION;
	uint64_t moved = invalidated ? 0 : size_bytes;
	transfer_enqueued(TRANSFER_MAP, moved);
	struct mapped_region *m = flags & CL_MAP_WRITE || invalidated ? malloc(sizeof *m) : NULL;
	if (!m)
		return moved;
	pthread_mutex_lock(&lock);
	*m = (struct mapped_region){mappings, pointer, size_bytes};
	mappings = m;
	pthread_mutex_unlock(&lock);
	return moved;
}

uint64_t transfer_unmapped(const void *pointer)
{
	pthread_mutex_lock(&lock);
	struct mapped_region **link = &mappings, *m;
	while (*link && (*link)->pointer != pointer)
		link = &(*link)->next;
	m = *link;
	if (m)
		*link = m->next;
	pthread_mutex_unlock(&lock);
	uint64_t moved = m ? m->size_bytes : 0;
	transfer_enqueued(TRANSFER_UNMAP, moved);
	free(m);
	return moved;
}
