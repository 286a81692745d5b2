/* SMs whose warps fit into a word and whose schedulers share everything (variants.h). */
#define OV_ONE_WORD 1
#define OV_ONE_PARTITION 1
#include "models/sm/cycle.h"
#include "models/sm/variants.h"

enum ov_state ov_run_single(struct ov_sm *sm)
{
	return run_cycles(sm);
}
