/*
 * topology: the links between the GPUs of a program, from a file of lines (# begins a comment):
 *
 *   GPU GPU GBPS LATENCY_NS   a link between two, in both directions
 *   nvlink GPU GPU ...        one between each pair of these: peer_gbps and peer_latency_ns of the description
 *   pcie GPU GPU ...          the same over the host's bus: link_gbps and link_latency_ns
 *
 * A copy goes over as few links as possible, of such paths over the one whose slowest link is fastest. It takes as long as that link needs
 * for its bytes, and the latencies of all links of the path. Without a file, all pairs are as peer_gbps says.
 */
#ifndef GPUSIM_RUNTIME_TIMELINE_TOPOLOGY_H
#define GPUSIM_RUNTIME_TIMELINE_TOPOLOGY_H

#include "models/gpu/gpu.h"
#include "runtime/base/base.h"

#include <stdint.h>

enum { TOPOLOGY_GPUS = 16 };
enum topology_kind { TOPOLOGY_GIVEN, TOPOLOGY_NVLINK, TOPOLOGY_PCIE, TOPOLOGY_KINDS };

struct topology_link {
	bool there;
	double gbps, latency_ns; /* TOPOLOGY_GIVEN only */
};

struct topology {
	uint32_t count; /* GPUs; 0: no file was given */
	struct topology_link links[TOPOLOGY_KINDS][TOPOLOGY_GPUS][TOPOLOGY_GPUS];
};

struct peer_ends {
	uint32_t from, to; /* GPUs of the program */
};

struct peer_path {
	uint32_t links; /* 0: there is none */
	double gbps, latency_ns;
};

/* Of a program with so many GPUs. On failure err says which line of the file is wrong, and t is empty. */
int topology_load(struct topology *t, const char *path, uint32_t gpus, struct gs_error *err);
int topology_parse(struct topology *t, const char *text, uint32_t gpus, struct gs_error *err); /* err begins with the line's number */
struct peer_path topology_path(const struct topology *t, const struct gpu *gpu, struct peer_ends ends);
/* A copy from one GPU of the program to another; t may be NULL. */
double topology_time_ns(const struct topology *t, const struct gpu *gpu, struct peer_ends ends, uint64_t commands, uint64_t size_bytes);

#endif
