/*
 * computer: the addresses of a warp's memory instructions, computed along its path.
 *
 * Where no trace says where a warp went, the steps of the code (struct code_step) do, as far as they depend on ids and arguments alone:
 * loops, strides and all are then exact. What depends on data is drawn: the same for the same place of memory, anywhere in the buffer that
 * the access is based on, in whole elements.
 */
#ifndef GPUSIM_MODELS_ACCESSES_COMPUTER_H
#define GPUSIM_MODELS_ACCESSES_COMPUTER_H

#include "models/accesses/accesses.h"

struct address_computer;

/* usual: as usual_accesses fills it; says which instructions go through lists. All of it must live as long. NULL: out of memory. */
struct address_computer *computer_new(const struct kernel_code *code, const struct launch_arguments *launch, const uint16_t *usual);
void computer_free(struct address_computer *c); /* NULL is fine */

/* A warp begins: `lanes` work-items of a group from `first` on, 64 at most; both are linear ids. */
void computer_begin(struct address_computer *c, uint64_t group, uint32_t first, uint32_t lanes);
/* It executes a block with these lanes on. */
void computer_execute(struct address_computer *c, uint32_t block, uint64_t mask);
/* The address of a lane, of an instruction of the block that was executed last, as in traces (models/trace/trace.h). False: not
 * known, and nothing to be drawn from. */
bool computer_address(const struct address_computer *c, uint32_t instruction, uint32_t lane, uint64_t *address);
/* What the launch says of an argument's memory; 0: nothing. */
uint64_t computer_argument_bytes(const struct address_computer *c, uint64_t argument);
/* Per instruction of the code: whether some address of it was drawn. */
const bool *computer_drawn(const struct address_computer *c);

#endif
