/* Fuzz target of the reader of machine code. Any bytes must be read without a fault, and what is found lies in them. */
#include "analysis/sass/cubin.h"
#include "analysis/sass/decode.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gs_error err;
	struct cubin c;
	if (cubin_read(data, size, &c, &err))
		return 0;
	for (size_t i = 0; i < c.count; i++) {
		const struct cubin_code *k = &c.codes[i];
		if (k->bytes < data || (size_t)k->instructions * CUBIN_WORD > size || k->bytes + (size_t)k->instructions * CUBIN_WORD > data + size)
			abort();
		for (uint32_t n = 0; n < k->function_count; n++)
			if ((const uint8_t *)k->functions[n].name < data || (const uint8_t *)k->functions[n].name + strlen(k->functions[n].name) >= data + size)
				abort();
		for (uint32_t n = 0; n < k->instructions; n++) {
			struct sass_instruction s;
			sass_decode(k->bytes + (size_t)n * CUBIN_WORD, c.arch, (uint64_t)n * CUBIN_WORD, &s);
			if (s.reads > SASS_MOST_REGISTERS)
				abort();
		}
	}
	cubin_free(&c);
	return 0;
}
