/* options: how an SM is simulated. */
#ifndef GPUSIM_MODELS_SM_STATE_OPTIONS_H
#define GPUSIM_MODELS_SM_STATE_OPTIONS_H

#include "models/history/code_history.h"

#include <stdbool.h>
#include <stdint.h>

/* Called for every instruction that issues: the cycle, the slot of its warp on the SM, and its place in the code. SMs are
 * simulated one after the other, and those that do the same only once. */
typedef void warp_issue_fn(void *ctx, uint64_t cycle, uint32_t slot, uint32_t instruction);

struct warp_options {
	bool exact;       /* simulate every group of the grid instead of extrapolating from the resident ones */
	double most_steps; /* instructions and parts of requests after which a simulation of long loops ends, if that is less than usual; 0: usual */
	/* Longer operand collection and write-back, from the bank-conflict model, in cycles per instruction; 0 where the
	 * engine resolves banks itself. */
	double extra_read_cycles, extra_write_cycles;
	/* Banks register by register, instead of the two figures above, where they follow from the names of registers: banks_by_name. */
	bool resolve_banks;
	double share;   /* of what would be simulated of a launch with the memory hierarchy, about: by fewer SMs; 0: all of that */
	bool hierarchy; /* the memory hierarchy after L1, where paths have requests; else memory answers at once */
	uint64_t shared_bytes; /* of a group, which L1 may have to do without */
	uint32_t most_groups;  /* that fit on an SM, however few the launch has; 0: those that it gets */
	enum code_place code_before; /* where the instructions are when the launch begins */
	bool parameters_before;      /* constant caches have the launch's parameters by then */
	warp_issue_fn *on_issue; /* NULL: none is called */
	void *ctx;
};

#endif
