/* As sm_plain.c, where a warp's registers fit into a word, for x86 processors with BMI. */
#include "models/sm/variants.h"

#ifdef OV_BMI
#pragma GCC target("bmi,bmi2")
#define OV_ONE_WORD 1
#define OV_ONE_PARTITION 1
#define OV_PLAIN 1
#define OV_MASKS 1
#include "models/sm/cycle.h"

enum ov_state ov_run_masks(struct ov_sm *sm)
{
	return run_cycles(sm);
}
#endif
