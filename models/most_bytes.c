#include "models/most_bytes.h"

#include <math.h>
#include <stdlib.h>

static double bytes_of(const struct code_instruction *i, bool stored)
{
	bool outside = i->space == SPACE_global || i->space == SPACE_generic || i->space == SPACE_texture;
	bool asked = stored ? i->class == CODE_store || i->class == CODE_atomic : code_accesses_memory(i);
	return outside && asked ? i->bytes : 0;
}

static double sum_up(const struct launch_profile *launch, bool stored)
{
	const struct kernel_code *code = launch->code;
	struct code_counts c = {
		.edges = calloc(code->edge_count + 1, sizeof *c.edges), .blocks = calloc(code->block_count + 1, sizeof *c.blocks),
	};
	double bytes = c.edges && c.blocks && !code_count(code, launch->counts, &c) ? 0 : INFINITY;
	for (uint32_t b = 0; b < code->block_count && bytes < INFINITY; b++)
		for (uint32_t i = code->blocks[b].first; i < code->blocks[b].first + code->blocks[b].count; i++)
			bytes += fmax(c.blocks[b], 0) * bytes_of(&code->code[i], stored) * launch->scale;
	free(c.edges);
	free(c.blocks);
	return bytes;
}

double launch_most_bytes(const struct launch_profile *launch)
{
	return sum_up(launch, false);
}

double launch_most_stored(const struct launch_profile *launch)
{
	return sum_up(launch, true);
}
