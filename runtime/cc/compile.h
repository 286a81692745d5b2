/*
 * From a request pack to a result pack: preprocess, annotate, compile for every target.
 */
#ifndef GPUSIM_RUNTIME_CC_COMPILE_H
#define GPUSIM_RUNTIME_CC_COMPILE_H

#include "runtime/base/base.h"

/* Fills *result in any case: what cannot be done is a "failure" section in it. */
void compile_request(const struct gs_pack *request, struct gs_pack *result);

#endif
