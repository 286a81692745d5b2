/* What instructions ask of memory; see survey.h. */
#include "models/warps/survey.h"

#include "models/code/costs.h"
#include "models/util/bits.h"
#include "models/warps/change.h"
#include "models/warps/executions.h"

enum { SECTOR_BYTES = 32 };

struct surveyor {
	const struct gpu *gpu;
	struct launch_survey *out;
	/* The load before this one in its block. */
	uint32_t last;
	size_t last_access;
};

static void survey_request(struct surveyor *s, const struct launch_warps *w, const struct warp_path *path, size_t n, uint32_t i, double times)
{
	const struct code_instruction *in = &w->code->code[i];
	struct instruction_survey *to = &s->out->instructions[i];
	uint32_t bytes = 0, sectors = 0, most = 0;
	for (uint32_t p = path->requests->first[n]; p < path->requests->first[n + 1]; p++) {
		const struct memory_part *part = &path->requests->parts[p];
		bytes += part->bytes;
		sectors += bits_set(part->sectors);
		most = part->lanes > most ? part->lanes : most;
	}
	if (!sectors)
		return;
	uint32_t needed = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
	to->requests += times;
	to->sectors += times * sectors;
	to->sectors_needed += times * (needed < sectors ? needed : sectors);
	if (in->class == CODE_atomic) /* a lane that meets another at an address has a part of its own, in the same line */
		to->operations += times * (path->requests->first[n + 1] - path->requests->first[n]);
	bool before = s->last < i && i - s->last <= 64 && w->code->code[s->last].bytes == in->bytes && s->last_access < n;
	if (in->class == CODE_load && before && same_parts(path->requests, (uint32_t)s->last_access, (uint32_t)n))
		to->repeated += times;
	if (in->class == CODE_load) {
		s->last = i;
		s->last_access = n;
	}
}

static void survey_access(const struct launch_warps *w, const struct warp_path *path, size_t n, uint32_t i, double times, void *data)
{
	struct surveyor *s = data;
	const struct code_instruction *in = &w->code->code[i];
	struct instruction_survey *to = &s->out->instructions[i];
	to->executions += times;
	if (!code_has_accesses(in->class))
		return;
	if (in->space == SPACE_shared) {
		double turns = path_accesses(w, path, n, i), needed = shared_turns_needed(s->gpu, in);
		to->turns += times * turns;
		to->turns_needed += times * (needed < turns ? needed : turns);
	} else if ((in->space == SPACE_global || in->space == SPACE_generic) && path->requests && n < path->access_count) {
		s->out->has_requests = true;
		survey_request(s, w, path, n, i, times);
	}
}

int survey_warps(const struct gpu *gpu, const struct launch_warps *warps, struct launch_survey *out)
{
	struct surveyor s = {.gpu = gpu, .out = out, .last = UINT32_MAX};
	return each_execution(warps, 1, survey_access, &s);
}
