/* How long copies take: over the link between host and GPU, or within the GPU's memory. */
#include "runtime/timeline/transfers.h"

const char *transfer_name(enum transfer_kind kind)
{
	static const char *const names[TRANSFER_KINDS] = {"read", "write", "copy", "fill", "map", "unmap", "peer"};
	return names[kind];
}

double transfer_time_ns(const struct gpu *gpu, enum transfer_kind kind, const struct transfer_stats *t)
{
	bool over_link = kind != TRANSFER_COPY && kind != TRANSFER_FILL;
	/* A byte at 1 GB/s takes 1 ns. A copy on the device reads and writes its memory. */
	double bytes = (double)t->size_bytes * (kind == TRANSFER_COPY ? 2 : 1);
	double gbps = kind == TRANSFER_PEER && gpu->peer_gbps > 0 ? gpu->peer_gbps : gpu->link_gbps;
	double latency = kind == TRANSFER_PEER && gpu->peer_gbps > 0 ? gpu->peer_latency_ns : gpu->link_latency_ns;
	if (!over_link)
		return bytes / gpu->dram_gbps;
	return t->size_bytes ? bytes / gbps + (double)t->commands * latency : 0;
}
