/* The requests of a warp, one after the other, as its path has them. */
#include "models/traffic/request_walk.h"

#include "models/code/costs.h"
#include "models/traffic/footprint.h"

void walker_start(const struct launch_warps *warps, uint64_t group, uint32_t warp, struct request_walker *out)
{
	uint64_t n = warps_pattern(warps, group);
	*out = (struct request_walker){.path = &warps->paths[warps->path_of[n * warps->warps_per_group + warp]], .group = group};
	out->moves = launch_move(warps, group, out->moved);
}

static struct walked_request request_of(const struct launch_warps *warps, const struct warp_path *path, uint32_t instruction, size_t n)
{
	const struct path_requests *r = path->requests;
	enum code_space space = warps->code->code[instruction].space;
	struct walked_request out = {.instruction = instruction};
	out.global = space == SPACE_global || space == SPACE_generic || space == SPACE_texture;
	if (!r || n >= path->access_count)
		out.global = false;
	if (out.global) {
		out.parts = &r->parts[r->first[n]];
		out.part_count = r->first[n + 1] - r->first[n];
	}
	return out;
}

bool walker_next(const struct launch_warps *warps, struct request_walker *walker, struct walked_request *out)
{
	const struct kernel_code *code = warps->code;
	while (walker->path) {
		for (; walker->at < walker->end; walker->at++)
			if (code_has_accesses(code->code[walker->at].class)) {
				*out = request_of(warps, walker->path, walker->at++, walker->request++);
				return true;
			}
		if (walker->block == walker->path->block_count)
			walker->path = NULL;
		else {
			const struct code_block *b = &code->blocks[walker->path->blocks[walker->block++]];
			walker->at = b->first;
			walker->end = b->first + b->count;
		}
	}
	return false;
}

uint64_t walker_address(const struct launch_warps *warps, const struct request_walker *walker, uint32_t instruction,
                        const struct memory_part *part, uint64_t line_bytes)
{
	return walker->moves ? launch_address(warps, instruction, part->address, walker->group, walker->moved, line_bytes) : part->address;
}
