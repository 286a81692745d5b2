/* Copies between host and device: how many, how large, how long on a target's link. */
#include "runtime/guest/state.h"

#include <stdlib.h>

/* A mapping that is still there; writable ones go back to the device when they are unmapped. */
struct mapping {
	struct mapping *next;
	const void *pointer;
	uint64_t size_bytes;
};

static struct mapping *mappings; /* under stats.lock */

void transfer_enqueued(enum transfer_kind kind, uint64_t size_bytes)
{
	lock_for_report(&stats.lock);
	stats.transfers[kind].commands++;
	stats.transfers[kind].size_bytes += size_bytes;
	unlock_for_report(&stats.lock);
}

uint64_t transfer_mapped(const void *pointer, cl_map_flags flags, uint64_t size_bytes)
{
	bool invalidated = flags & CL_MAP_WRITE_INVALIDATE_REGION;
	uint64_t moved = invalidated ? 0 : size_bytes;
	transfer_enqueued(TRANSFER_MAP, moved);
	struct mapping *m = flags & CL_MAP_WRITE || invalidated ? malloc(sizeof *m) : NULL;
	if (!m)
		return moved;
	lock_for_report(&stats.lock);
	*m = (struct mapping){mappings, pointer, size_bytes};
	mappings = m;
	unlock_for_report(&stats.lock);
	return moved;
}

uint64_t transfer_unmapped(const void *pointer)
{
	lock_for_report(&stats.lock);
	struct mapping **link = &mappings, *m;
	while (*link && (*link)->pointer != pointer)
		link = &(*link)->next;
	m = *link;
	if (m)
		*link = m->next;
	unlock_for_report(&stats.lock);
	uint64_t moved = m ? m->size_bytes : 0;
	transfer_enqueued(TRANSFER_UNMAP, moved);
	free(m);
	return moved;
}

const char *transfer_name(enum transfer_kind kind)
{
	static const char *const names[TRANSFER_KINDS] = {"read", "write", "copy", "fill", "map", "unmap"};
	return names[kind];
}

double transfer_time_ns(const struct gpu *gpu, enum transfer_kind kind, const struct transfer_stats *t)
{
	bool over_link = kind != TRANSFER_COPY && kind != TRANSFER_FILL;
	/* A byte at 1 GB/s takes 1 ns. A copy on the device reads and writes its memory. */
	double bytes = (double)t->size_bytes * (kind == TRANSFER_COPY ? 2 : 1);
	if (!over_link)
		return bytes / gpu->dram_gbps;
	return t->size_bytes ? bytes / gpu->link_gbps + (double)t->commands * gpu->link_latency_ns : 0;
}
