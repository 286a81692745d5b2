/* linear: registers that grow by the same number from lane to lane, in warps whose threads follow each other in x, in rows of at
 * least 16 (straight warps). */
#ifndef GPUSIM_ANNOTATOR_LIFT_LINEAR_H
#define GPUSIM_ANNOTATOR_LIFT_LINEAR_H

#include "annotator/lift/plan.h"

/* After plan_uniform: fills `spread` and `stride` of the registers. */
void plan_linear(struct planned_function *f);

/* The register that the instruction makes linear, or -1. */
int32_t linear_result(const struct planned_function *f, const struct ptx_instruction *i);
/* The operand of 32 bits that such an instruction extends to 64, if lanes differ in it, or NULL. */
const struct ptx_operand *extended_operand(const struct planned_function *f, const struct ptx_instruction *i, bool *is_signed);
/* The address of a load or store whose lanes access elements at a constant distance: *stride bytes. NULL: it is not known to be so. */
const struct ptx_operand *linear_address(const struct planned_function *f, const struct ptx_instruction *i, int64_t *stride);

#endif
