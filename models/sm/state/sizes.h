/* sizes: numbers that all parts of an SM share. */
#ifndef GPUSIM_MODELS_SM_STATE_SIZES_H
#define GPUSIM_MODELS_SM_STATE_SIZES_H

#include "models/code/costs.h"

enum {
	OV_KINDS = 6, /* of units: fp32, int, fp64, sfu, tensor, ldst, in the order of enum pipeline_resource */
	OV_LDST = RESOURCE_ldst - RESOURCE_fp32,
	OV_WHEEL = 1024,     /* cycles: events further away wait for another turn. Longer than most latencies; changes no result */
	OV_MAX_SLOTS = 4096, /* warps of an SM: four times the most of a description (max_warps_per_sm). A group of more is refused */
	OV_MAX_WORDS = OV_MAX_SLOTS / 32 + 2, /* of a scheduler's masks */
	OV_MAX_BANKS = 64,   /* banks and collectors that one partition is modelled with; more hardly ever collide, and 64 are a mask */
	OV_FRACTION = 256,   /* units of time per cycle where intervals may be fractions: an interval is off by 0.2% of a cycle at most */
};
#define OV_NONE UINT32_MAX
#define OV_NEVER UINT64_MAX

#endif
