/*
 * Fuzz target of the PTX reader. Any bytes must be read without a fault, and the result must be consistent. libFuzzer's -timeout
 * finds inputs that take too long for their length.
 */
#include "tests/analysis/ptx_check.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two halves of the text, as two objects. */
static void check_link(const char *data, size_t size)
{
	struct gs_buf halves[2] = {{0}, {0}}, out = {0};
	struct gs_error err;
	gs_buf_add(&halves[0], data, size / 2);
	gs_buf_add(&halves[1], data + size / 2, size - size / 2);
	if (ptx_link(halves, 2, &out, &err) || ptx_check(out.data ? out.data : "", out.len))
		abort();
	for (int i = 0; i < 2; i++)
		gs_buf_free(&halves[i]);
	gs_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gs_buf clean = {0};
	const char *wrong = ptx_check((const char *)data, size);
	if (wrong) {
		fprintf(stderr, "ptx_reader: %s\n", wrong);
		abort();
	}
	check_link((const char *)data, size);
	ptx_without_probes((const char *)data, size, &clean);
	gs_buf_free(&clean);
	return 0;
}
