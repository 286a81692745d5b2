/* Occupancy vector: as models/sm/sm_plain.c, where registers fit into a word. */
#define OV_ONE_WORD 1
#define OV_ONE_PARTITION 1
#define OV_PLAIN 1
#define OV_MASKS 1
#include "models/sm/cycle.h"

enum ov_state ov_run_masks(struct ov_sm *sm)
{
	return run_cycles(sm);
}
