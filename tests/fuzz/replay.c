/*
 * replay - runs files through the fuzz target once each, without a fuzzer.
 *
 *   replay FILE...
 *
 * It prints the name of each file before it runs it. If a run ends early, the last line names the file that caused it.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		struct gs_buf bytes = {0};
		printf("%s\n", argv[i]);
		if (gs_read_file(argv[i], &bytes, NULL))
			return 1;
		LLVMFuzzerTestOneInput((const uint8_t *)(bytes.data ? bytes.data : ""), bytes.len);
		gs_buf_free(&bytes);
	}
	return 0;
}
