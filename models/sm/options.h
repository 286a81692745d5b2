/* options: how an SM is simulated. */
#ifndef GPUSIM_MODELS_SM_OPTIONS_H
#define GPUSIM_MODELS_SM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Told of every instruction that issues: in which cycle, by the warp in which slot of an SM, which of the code. SMs are
 * simulated one after the other, and those that do the same only once. */
typedef void warp_issue_fn(void *ctx, uint64_t cycle, uint32_t slot, uint32_t instruction);

struct warp_options {
	bool exact;       /* simulate every group of the grid instead of extrapolating from the resident ones */
	/* Longer operand collection and write-back, from the bank-conflict model, in cycles per instruction; 0 where the
	 * engine resolves banks itself. */
	double extra_read_cycles, extra_write_cycles;
	/* Banks register by register, instead of the two figures above, where names of registers tell them: banks_by_name. */
	bool resolve_banks;
	bool hierarchy; /* memory behind L1, where paths have requests; else it answers at once */
	uint64_t shared_bytes; /* of a group, which L1 may have to do without */
	warp_issue_fn *on_issue; /* NULL: nobody */
	void *ctx;
};

#endif
