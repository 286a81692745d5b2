/* sectors: how well the accesses of a trace fall together, at a glance. */
#ifndef GPUSIM_MODELS_TRACE_SECTORS_H
#define GPUSIM_MODELS_TRACE_SECTORS_H

#include "models/trace/trace.h"

/* Sectors of 32 bytes that warps touch per access of a lane, and lines of 128 bytes, each counted as its four sectors, by a sample of
 * warps: 1/4 where neighbours read neighbouring words of one line, 5 where each goes elsewhere. 0: nothing accesses global memory, or memory
 * is short. */
double trace_sectors(const struct launch_trace *trace);

#endif
