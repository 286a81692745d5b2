/* event: what happens in a later cycle. */
#ifndef GPUSIM_MODELS_SM_STATE_EVENT_H
#define GPUSIM_MODELS_SM_STATE_EVENT_H

#include "models/sm/state/sizes.h"

enum ov_event_kind {
	OV_WRITE, OV_LOADED, OV_SHARED_RESULT, OV_ATOMIC_BACK, OV_BRANCHED, OV_FENCED, OV_BARRIER_OPENS, OV_STALL_ENDS, OV_STORED, OV_READ_DONE,
	OV_PART_WRITTEN, OV_GROUP, OV_L1, OV_ANSWER
};

struct ov_event {
	uint32_t time; /* its low bits: events are less than that away */
	uint32_t next, op;
	uint16_t slot; /* of a barrier, the group */
	uint16_t kind;
};

/* What a fetch has brought, on its way to the buffer. */
struct ov_fill {
	uint64_t time;
	uint16_t slot;
	uint16_t epoch;
};

#endif
