/* Fuzz target of the reader of fat binaries. Any bytes must be read without a fault, and what is unpacked is bounded. */
#include "analysis/fatbin/fatbin.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gs_buf ptx = {0}, note = {0};
	struct gs_error err;
	struct fatbin f;
	if (fatbin_read(data, size, &f, &err))
		return 0;
	for (size_t i = 0; i < f.count; i++)
		if (f.images[i].data < data || f.images[i].bytes > size || f.images[i].data + f.images[i].bytes > data + size)
			abort();
	fatbin_choose(&f, 90, &ptx, &note, &err);
	fatbin_free(&f);
	gs_buf_free(&ptx);
	gs_buf_free(&note);
	return 0;
}
