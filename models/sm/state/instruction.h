/* instruction: an instruction of the code, as the pipeline of an SM sees it. */
#ifndef GPUSIM_MODELS_SM_STATE_INSTRUCTION_H
#define GPUSIM_MODELS_SM_STATE_INSTRUCTION_H

#include "models/sm/state/sizes.h"

enum ov_memory_rule { OV_NOT_MEMORY, OV_LOAD, OV_SHARED, OV_STORE, OV_FENCE };
enum ov_register { OV_WRITTEN, OV_PENDING, OV_LOADING }; /* loading: pending, by the load/store unit */
enum ov_copies { OV_NO_COPY, OV_COPY, OV_COMMIT }; /* asynchronous copies (models/sm/copies.h) */
enum ov_wait { OV_RUNS, OV_AT_BARRIER, OV_AT_ATOMIC, OV_AT_FENCE, OV_AT_GPU_FENCE, OV_AT_BRANCH, OV_AT_TABLE, OV_AT_CONSTANT };

struct ov_op {
	_Alignas(64) uint32_t first_operand; /* a line of the host's cache */
	uint8_t class, space, flags, kind;
	uint8_t writes, reads, waits;
	uint8_t latency_rule; /* enum ov_memory_rule */
	uint8_t stops;        /* enum ov_wait: what its warp then waits for */
	bool accesses;        /* memory, as counted in paths */
	bool repeats;         /* reads a bank more than once */
	bool leaves;          /* its warp may not simply go on after it */
	bool returns;         /* an atomic whose result is wanted */
	bool constant;        /* it does not issue before its constant is there (models/sm/constants.h) */
	uint32_t latency;     /* start to finish in the unit, for completion slots and result buses */
	uint32_t result;      /* start to the release of its registers; of memory, with one access */
	uint32_t initiation;  /* 1/OV_FRACTION cycles; of memory, per access */
	uint16_t target;      /* the first register that it writes; without any, one that nothing waits for */
	uint8_t marks;        /* enum ov_register: what those are until they are written */
	uint8_t copies;       /* enum ov_copies */
	uint64_t read_banks, write_banks; /* of warp slot 0 */
	uint64_t uses, sets;  /* registers to wait for, to be written: a bit for the register's index mod 64 */
};

/* Of an instruction that accesses memory. */
static inline bool ov_goes_to_caches(const struct ov_op *op)
{
	return op->space == SPACE_global || op->space == SPACE_generic || op->space == SPACE_texture;
}

#endif
