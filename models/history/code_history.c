/* The kernels launched last, in the order of their launches, like the lines of a cache that replaces the least recently used one. */
#include "models/history/code_history.h"

#include <string.h>

static uint32_t find_kernel(const struct code_history *h, uint64_t kernel)
{
	uint32_t i = 0;
	while (i < h->count && h->recent[i].kernel != kernel)
		i++;
	return i;
}

/* Whether the code is still in the instruction cache, with all that came after it. */
static bool is_cached(const struct code_history *h, const struct gpu *gpu, uint32_t at)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i <= at; i++)
		bytes += h->recent[i].bytes;
	return !gpu->icache_bytes || bytes <= gpu->icache_bytes;
}

static void move_to_front(struct code_history *h, uint32_t at, struct recent_code code)
{
	if (at == h->count && h->count < CODE_HISTORY_KERNELS)
		h->count++;
	if (at == CODE_HISTORY_KERNELS)
		at--; /* the oldest goes */
	memmove(h->recent + 1, h->recent, at * sizeof *h->recent);
	h->recent[0] = code;
}

enum code_place code_history_launch(struct code_history *h, const struct gpu *gpu, uint64_t kernel, uint32_t instructions, uint64_t groups)
{
	struct recent_code code = {.kernel = kernel, .bytes = (uint64_t)instructions * GPU_INSTRUCTION_BYTES};
	enum code_place place = CODE_IN_DRAM;
	if (!gpu->icache_line_instructions || !gpu->icache_kept)
		return place;
	uint32_t at = find_kernel(h, kernel);
	if (at < h->count) {
		code.sms = is_cached(h, gpu, at) ? h->recent[at].sms : 0;
		place = code.sms >= gpu->sm_count ? CODE_IN_SM : CODE_IN_L2;
	}
	code.sms = groups < gpu->sm_count - code.sms ? code.sms + groups : gpu->sm_count;
	move_to_front(h, at, code);
	return place;
}
