/*
 * Makes a result pack from a request pack: preprocesses, annotates, and compiles for every target.
 */
#ifndef GPUSIM_RUNTIME_CC_COMPILE_H
#define GPUSIM_RUNTIME_CC_COMPILE_H

#include "runtime/base/base.h"

/* Always fills *result. After an error it has a section "failure". */
void compile_request(const struct gs_pack *request, struct gs_pack *result);

#endif
