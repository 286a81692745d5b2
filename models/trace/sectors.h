/* sectors: how well the accesses of a trace fall together, and how far they go, at a glance. */
#ifndef GPUSIM_MODELS_TRACE_SECTORS_H
#define GPUSIM_MODELS_TRACE_SECTORS_H

#include "models/trace/trace.h"

enum { GLANCE_ARGUMENTS = 15 };
struct trace_glance {
	double sectors;
	uint32_t reach; /* equal where caches see much the same */
	double spread;
	uint64_t extent[GLANCE_ARGUMENTS];
};

/* sectors: those of 32 bytes that warps touch per access of a lane, and lines of 128 bytes, each counted as its four sectors, by a sample of
 * warps: 1/4 where neighbours read neighbouring words of one line, 5 where each goes elsewhere. 0: nothing accesses global memory, or memory
 * is short.
 * reach: by powers of two, how much memory is between the lowest and the highest address, summed over buffers, where that is more than
 * 128 KiB; and how often the warps of the sample come to the same line.
 * spread: bytes of the different sectors of the sample by the bytes that it asks for, 1 at least: 8 where words are anywhere, 1 where rows are read.
 * extent: bytes between the lowest and the highest address of the sample, by argument; 0: not known. */
struct trace_glance trace_glance(const struct launch_trace *trace);

#endif
