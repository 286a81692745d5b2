/* What traced warps did, summed up for reports. */
#include "models/trace/warps.h"

#include <string.h>

/* The line of a block's branch: that of its last instruction, or of the last before it that has one. */
static const struct code_instruction *branch_of(const struct kernel_code *c, const struct code_block *b)
{
	for (uint32_t i = b->count; i-- > 0;)
		if (c->code[b->first + i].line)
			return &c->code[b->first + i];
	return NULL;
}

static bool same_line(const struct code_instruction *a, const struct code_instruction *b)
{
	return a && b && a->line == b->line && a->file == b->file;
}

/* All branches on the line of a block's; nothing where an earlier block is on it, too. */
static struct line_divergence line_of(const struct kernel_code *c, const struct warp_statistics *s, uint32_t block)
{
	const struct code_instruction *own = branch_of(c, &c->blocks[block]);
	struct line_divergence line = {.line = own ? own->line : 0, .file = own ? own->file : 0};
	for (uint32_t b = 0; b < c->block_count; b++) {
		if (c->blocks[b].edge_count < 2 || (b != block && !same_line(own, branch_of(c, &c->blocks[b]))))
			continue;
		if (b < block)
			return (struct line_divergence){0};
		line.executions += (double)s->instructions[c->blocks[b].first].executions;
		line.divergent += (double)s->divergent[b];
	}
	return line;
}

void trace_divergence(const struct kernel_code *code, const struct warp_statistics *s, double scale,
                      struct line_divergence *out, size_t room)
{
	memset(out, 0, room * sizeof *out);
	for (uint32_t b = 0; b < code->block_count; b++) {
		if (code->blocks[b].edge_count < 2 || !code->blocks[b].count)
			continue;
		struct line_divergence line = line_of(code, s, b);
		size_t at = room;
		while (at > 0 && line.divergent * scale > out[at - 1].divergent)
			at--;
		if (at == room)
			continue;
		memmove(out + at + 1, out + at, (room - at - 1) * sizeof *out);
		line.executions *= scale;
		line.divergent *= scale;
		out[at] = line;
	}
}

void trace_space_totals(const struct kernel_code *code, const struct warp_statistics *s, enum code_space space,
                        double *requests, double *accesses)
{
	*requests = *accesses = 0;
	for (uint32_t i = 0; i < code->code_count; i++)
		if (code->code[i].space == space && code_accesses_memory(&code->code[i])) {
			*requests += (double)s->instructions[i].executions;
			*accesses += (double)s->instructions[i].accesses;
		}
}
