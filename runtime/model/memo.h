/* memo: estimates of launches that are alike. */
#ifndef GPUSIM_RUNTIME_MODEL_MEMO_H
#define GPUSIM_RUNTIME_MODEL_MEMO_H

#include "runtime/model/launch_record.h"

/* The accesses of the profile (launch_accesses), which stay the memo's; found anew only if the arguments or sizes have changed. */
int memo_accesses(struct launch_result *r, const struct gpu *gpu, size_t target);
void memo_key(const struct launch_result *r, char key[33]); /* of the profile as it is for one target */
/* Fills the estimate and the instructions of a target, if a launch like it is known. */
bool memo_find(struct launch_result *r, size_t target, const char key[33]);
void memo_keep(const struct launch_result *r, size_t target, const char key[33]);

#endif
