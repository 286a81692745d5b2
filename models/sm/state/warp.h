/* warp: the state of a warp, and of the work-group that it is of. */
#ifndef GPUSIM_MODELS_SM_STATE_WARP_H
#define GPUSIM_MODELS_SM_STATE_WARP_H

#include "models/accesses/requests.h"
#include "models/sm/state/instruction.h"
#include "models/warps/warps.h"

/* The mask of its scheduler that a warp is in; below OV_KINDS: it is ready for a unit of that kind. */
enum ov_place { OV_FLUSHES = OV_KINDS, OV_BLOCKED, OV_LOAD_BLOCKED, OV_WAITS, OV_NOWHERE, OV_PLACES };

struct ov_warp {
	_Alignas(64) uint32_t pc; /* next instruction */
	uint32_t left;                /* instructions of its block */
	uint32_t buffer_pc, fetch_pc; /* what the buffer begins with, and what is fetched next */
	uint64_t unwritten;           /* of pending registers, as in ov_op; without masks, maybe of others while some are pending */
	uint64_t loading, blocking;   /* with masks: of those, by the load/store unit; what is waited for, 0 if not blocked */
	uint32_t in_flight;           /* instructions not completed */
	uint32_t position;            /* in its scheduler's masks */
	uint16_t scheduler, group, bank; /* bank: what its slot adds */
	uint16_t buffered, fetching;   /* instructions */
	uint16_t place, wait;          /* enum ov_place, ov_wait */
	bool finished;
	uint16_t epoch;                /* fetches begun before a flush are void */
	uint32_t pending, blocked_on;  /* without masks: registers not written; one of them, if blocked */
	const uint32_t *block, *block_end; /* the rest of its path, up to the next gap */
	uint32_t access, access_count;     /* of those of its path: done, and all */
	const uint16_t *accesses, *memory_waits;
	const struct path_requests *requests; /* NULL: not known */
	const struct warp_path *path;
	uint16_t copies[CODE_MOST_COPIES]; /* asynchronous copies under way, by group */
	uint64_t acknowledged; /* when its last store was, or will be, as far as fences want to know */
	uint64_t turn; /* among those that wait for a place for their constants; 0: it does not */
	uint32_t next_gap; /* of the path: the first that ends at its place or after it; block_end is there */
};

struct ov_group {
	uint32_t live, unfinished, arrived; /* warps */
	uint64_t id, began, ended; /* ended: when its last warp did; 0: not yet */
	int64_t moved[3]; /* groups, from the one of the pattern */
	bool moves;
};

#endif
