/* SMs whose warps fit into a word (variants.h). */
#define OV_ONE_WORD 1
#include "models/sm/cycle.h"
#include "models/sm/variants.h"

enum ov_state ov_run_word(struct ov_sm *sm)
{
	return run_cycles(sm);
}
