/* Replaying profiles, for the commands that model them. */
#ifndef GPUSIM_RUNTIME_CMD_SWEEP_REPLAY_H
#define GPUSIM_RUNTIME_CMD_SWEEP_REPLAY_H

#include "runtime/base/base.h"

/* Models every launch of a profile on the targets of `runtime`, into its statistics and reports. With `partial`, a file that
 * ends early is taken up to there. Once per process. */
int replay_profile(const char *path, bool partial, struct gs_error *err);
/* One record of it; -EBADMSG for one that cannot be read. */
int replay_record(const char *kind, const struct gs_pack *pack, struct gs_error *err);
/* From now on nothing is said of who recorded a profile. */
void replay_quietly(void);
/* Forgets the programs and counters that records brought. */
void replay_reset(void);

#endif
