/*
 * Fuzz target of the PTX reader. Any bytes must be read without a fault, and the result must be consistent. libFuzzer's -timeout
 * finds inputs that take too long for their length.
 */
#include "tests/analysis/ptx_check.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gs_buf clean = {0};
	const char *wrong = ptx_check((const char *)data, size);
	if (wrong) {
		fprintf(stderr, "ptx_reader: %s\n", wrong);
		abort();
	}
	ptx_without_probes((const char *)data, size, &clean);
	gs_buf_free(&clean);
	return 0;
}
