/*
 * variants: the stages of an SM, compiled for what common machines have in common. All give the same results.
 *
 * Each line has what the variant gains over the one above it in CPU time, in turns with the other variants, GTX 480 with perfect
 * memory. Ranges are of two measurements on a busy machine: the 81 launches of tests/bench/engine.sh, the least of seven runs; and 14 of its
 * launches on one SM, the least of fifteen. A variant that gains less than about 5% does not stay.
 */
#ifndef GPUSIM_MODELS_SM_VARIANTS_H
#define GPUSIM_MODELS_SM_VARIANTS_H

#include "models/sm/state/machine.h"

ov_run_fn ov_run_any;    /* any machine */
ov_run_fn ov_run_word;   /* an SM's warps fit into a word: 6 to 8%; H200 12%, Titan X 8%, with the memory hierarchy 7% */
ov_run_fn ov_run_single; /* and all schedulers share their units: 7 to 8%; with the memory hierarchy 2%, less than the noise there */
ov_run_fn ov_run_plain;  /* and memory is perfect, and each stage does one thing per cycle: 8 to 10% */

/* And a warp's registers fit into a word, on x86 processors with instructions for bits in masks (BMI): 3 to 6%, median of
 * launches 5%. Either alone gains less: registers -2 to 2%, BMI 0 to 5%. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define OV_BMI 1
ov_run_fn ov_run_masks;

static inline bool ov_has_bmi(void) /* known only when it runs */
{
	return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
#define ov_run_masks ov_run_plain

static inline bool ov_has_bmi(void)
{
	return false;
}
#endif

#endif
