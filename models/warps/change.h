/*
 * change: the warps of a launch as they would be if one cause of lost time were gone. The models time them like any others; what
 * is less then is what mending the cause would save.
 *
 * What becomes of requests, for the instructions of a line:
 *   coalesced  the bytes that lanes ask for lie side by side: as few sectors and parts as hold them. Requests that shared lines
 *              take different ones of these, and those that moved by less than a line move by a whole one, so that the
 *              memory that is touched in all is as large as the bytes asked for
 *   conflicts  instructions on shared memory take as few turns as their bytes need
 *   vectors    loads of a block that touch the same parts become one request
 *   atomics    operations on one address become one per warp, and the first warp of each group makes it
 *   lanes      blocks that a part of the lanes executes are executed by full warps: as much less often
 * and of the launch:
 *   groups     there are as many groups as fill all SMs, a whole number of times; `times` says how much too much that is
 */
#ifndef GPUSIM_MODELS_WARPS_CHANGE_H
#define GPUSIM_MODELS_WARPS_CHANGE_H

#include "models/warps/warps.h"

#define WARPS_CHANGES(X) X(none) X(coalesced) X(conflicts) X(vectors) X(atomics) X(lanes) X(groups)
#define WARPS_CHANGE(name) CHANGE_##name,
enum warps_change_kind { WARPS_CHANGES(WARPS_CHANGE) WARPS_CHANGE_COUNT };
#undef WARPS_CHANGE

struct warps_change {
	enum warps_change_kind kind;
	uint32_t line; /* of the source, whose instructions change; 0: of all */
	uint16_t file; /* index of the code's */
};

struct changed_warps {
	struct launch_warps warps; /* its arrays live as long as this and the launch_warps that it is of */
	double times;              /* that the launch's own work goes into the time of these */
	struct change_store *store;
};

/* shares: by block of the code, the lanes of a warp that execute it, 0 to 1; NULL: not known, all. resident: groups that the GPU
 * holds at once. Returns 0 or a negative errno value; the caller frees with changed_warps_free. */
int changed_warps_make(const struct gpu *gpu, const struct warps_change *change, const struct launch_warps *in, const double *shares,
                       uint64_t resident, struct changed_warps *out);
void changed_warps_free(struct changed_warps *c);

/* Turns of shared memory that an instruction's bytes need, if all lanes are on. */
uint32_t shared_turns_needed(const struct gpu *gpu, const struct code_instruction *i);

#endif
