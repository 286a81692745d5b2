/* Fuzz target of what reads task lists and carries them out. Any bytes must be read without a fault, and lists that are taken end. */
#include "tests/fuzz/task_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	fuzz_task_list("fuzz.task", text, size);
	free(text);
	return 0;
}
