/* Occupancy vector: whether there are variants for x86 processors with BMI (3% faster). Only a run tells whether it has them. */
#ifndef GPUSIM_MODELS_SM_BMI_H
#define GPUSIM_MODELS_SM_BMI_H

#include "models/sm/sm.h"

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define OV_BMI 1
ov_run_fn ov_run_plain_bmi, ov_run_masks_bmi;

static inline bool ov_has_bmi(void)
{
	return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
#define ov_run_plain_bmi ov_run_plain
#define ov_run_masks_bmi ov_run_masks

static inline bool ov_has_bmi(void)
{
	return false;
}
#endif

#endif
