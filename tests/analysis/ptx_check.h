/* What must hold for everything that ptx_read makes, of good text and of garbage. */
#ifndef GPUSIM_TESTS_ANALYSIS_PTX_CHECK_H
#define GPUSIM_TESTS_ANALYSIS_PTX_CHECK_H

#include "analysis/ptx/ptx.h"

/* Reads a copy of exactly these bytes; NULL, or what is wrong with the result. */
const char *ptx_check(const char *text, size_t length);

#endif
