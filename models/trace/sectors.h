/* sectors: how well the accesses of a trace fall together, at a glance. */
#ifndef GPUSIM_MODELS_TRACE_SECTORS_H
#define GPUSIM_MODELS_TRACE_SECTORS_H

#include "models/trace/trace.h"

/* Sectors of 32 bytes that warps touch per access of a lane, by a sample of them: 1/8 where neighbours read neighbouring words, 1 where
 * each goes elsewhere. 0: nothing accesses global memory, or memory is short. */
double trace_sectors(const struct launch_trace *trace);

#endif
