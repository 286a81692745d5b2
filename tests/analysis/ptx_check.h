/* Checks that must hold for every result of ptx_read(), for good text and for garbage. */
#ifndef GPUSIM_TESTS_ANALYSIS_PTX_CHECK_H
#define GPUSIM_TESTS_ANALYSIS_PTX_CHECK_H

#include "analysis/ptx/ptx.h"

/* Reads a copy of exactly these bytes. Returns NULL, or a text that says what is wrong with the result. */
const char *ptx_check(const char *text, size_t length);

#endif
