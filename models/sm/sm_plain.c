/* As sm_single.c, with perfect memory and stages that do one thing per cycle (variants.h). */
#define OV_ONE_WORD 1
#define OV_ONE_PARTITION 1
#define OV_PLAIN 1
#include "models/sm/cycle.h"
#include "models/sm/variants.h"

enum ov_state ov_run_plain(struct ov_sm *sm)
{
	return run_cycles(sm);
}
