#include "models/most_bytes.h"

#include "models/stored.h"

#include <math.h>
#include <stdlib.h>

static double bytes_of(const struct code_instruction *i, bool stored)
{
	bool outside = i->space == SPACE_global || i->space == SPACE_generic || i->space == SPACE_texture;
	bool asked = stored ? i->class == CODE_store || i->class == CODE_atomic : code_accesses_memory(i);
	return outside && asked ? i->bytes : 0;
}

static void add(struct most_bytes *most, uint32_t arguments, double bytes)
{
	most->elsewhere += arguments ? 0 : bytes;
	for (uint32_t a = 0; a < MOST_BYTES_ARGUMENTS; a++)
		most->of[a] += arguments >> a & 1 ? bytes : 0;
}

static void sum_up(const struct launch_profile *launch, const double *blocks, const uint32_t *nodes, uint32_t pointers, bool stored, struct most_bytes *out)
{
	const struct kernel_code *code = launch->code;
	for (uint32_t b = 0; b < code->block_count; b++)
		for (uint32_t i = code->blocks[b].first; i < code->blocks[b].first + code->blocks[b].count; i++) {
			const struct code_instruction *in = &code->code[i];
			add(out, in->address >= 0 ? nodes[in->address] & pointers : 0, fmax(blocks[b], 0) * bytes_of(in, stored) * launch->scale);
		}
}

struct most_bytes launch_most_bytes(const struct launch_profile *launch, uint32_t pointers, bool stored)
{
	const struct kernel_code *code = launch->code;
	struct code_counts c = {
		.edges = calloc(code->edge_count + 1, sizeof *c.edges), .blocks = calloc(code->block_count + 1, sizeof *c.blocks),
	};
	uint32_t *nodes = arguments_of_nodes(code);
	struct most_bytes out = {{0}, 0};
	if (nodes && c.edges && c.blocks && !code_count(code, launch->counts, &c))
		sum_up(launch, c.blocks, nodes, pointers, stored, &out);
	else
		out.elsewhere = INFINITY;
	free(c.edges);
	free(c.blocks);
	free(nodes);
	return out;
}
