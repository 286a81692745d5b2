/* See assembled.h. */
#include "analysis/assembled/assembled.h"

static bool is_same(const struct sass_instruction *a, const struct sass_instruction *b)
{
	return a->opcode == b->opcode && a->predicate == b->predicate && a->negated == b->negated && a->target == b->target && a->bytes == b->bytes &&
	       a->results == b->results && a->result == b->result;
}

bool assembled_same(unsigned arch, const struct cubin_code *a, const struct cubin_code *b)
{
	struct sass_instruction x, y;
	if (a->instructions != b->instructions)
		return false;
	for (uint32_t i = 0; i < a->instructions; i++) {
		uint64_t at = (uint64_t)i * CUBIN_WORD;
		sass_decode(a->bytes + at, arch, at, &x);
		sass_decode(b->bytes + at, arch, at, &y);
		if (!is_same(&x, &y))
			return false;
	}
	return true;
}
