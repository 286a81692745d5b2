/* Occupancy vector: SMs whose warps fit into a word. */
#define OV_ONE_WORD 1
#include "models/sm/cycle.h"

enum ov_state ov_run_word(struct ov_sm *sm)
{
	return run_cycles(sm);
}
