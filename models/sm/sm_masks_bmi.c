/* Occupancy vector: models/sm/sm_masks.c for x86 processors that have instructions for bits in masks. */
#include "models/sm/bmi.h"

#ifdef OV_BMI
#pragma GCC target("bmi,bmi2")
#define OV_ONE_WORD 1
#define OV_ONE_PARTITION 1
#define OV_PLAIN 1
#define OV_MASKS 1
#include "models/sm/cycle.h"

enum ov_state ov_run_masks_bmi(struct ov_sm *sm)
{
	return run_cycles(sm);
}
#endif
