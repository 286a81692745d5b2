/* Small launches for the tests of the occupancy-vector model. */
#include "tests/models/scene.h"
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>

static void note_issue(void *ctx, uint64_t cycle, uint32_t slot, uint32_t instruction)
{
	struct scene *s = ctx;
	if (s->issue_count < SCENE_ISSUES)
		s->issues[s->issue_count++] = (struct issue){cycle, slot, instruction};
}

void scene_start(struct scene *s, const char *gpu, const char *overrides)
{
	char all[1024];
	snprintf(all, sizeof all, "sm_count=1%s%s", overrides ? "," : "", overrides ? overrides : "");
	s->gpu = test_gpu(gpu, all);
	build_start(&s->code);
	s->path_length = 1;
	s->path[0] = 0;
	s->groups = s->warps = s->resident = 1;
	s->options = (struct warp_options){.exact = true, .resolve_banks = true, .on_issue = note_issue, .ctx = s};
}

void scene_exit(struct scene *s)
{
	build(&s->code, CODE_branch, "")->flags = CODE_EXIT;
}

double scene_run(struct scene *s)
{
	uint32_t *same = calloc(s->warps, sizeof *same);
	struct warp_path path = {.blocks = s->path, .block_count = s->path_length};
	struct launch_warps launch = {.code = &s->code.code,
	                              .paths = &path,
	                              .path_count = 1,
	                              .groups = s->groups,
	                              .warps_per_group = s->warps,
	                              .path_of = same,
	                              .pattern_groups = 1};
	s->issue_count = 0;
	int rc = model_occupancy_vector(&s->gpu, &launch, s->resident, &s->options, &s->timing, NULL);
	free(same);
	CU_ASSERT_EQUAL_FATAL(rc, 0);
	double sum = 0;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		sum += s->timing.by[k];
	CU_ASSERT_DOUBLE_EQUAL(sum, s->timing.cycles, 1e-6 * sum);
	return s->timing.cycles;
}

void scene_loop(struct scene *s, size_t count)
{
	s->path_length = 0;
	s->path[s->path_length++] = 0;
	for (size_t i = 0; i < count; i++)
		s->path[s->path_length++] = 1;
	s->path[s->path_length++] = 2;
}

void scene_run_paths(struct scene *s, const struct warp_path *paths, uint32_t warps)
{
	uint32_t path_of[64];
	for (uint32_t i = 0; i < warps; i++)
		path_of[i] = i;
	struct launch_warps launch = {.code = &s->code.code, .paths = paths, .path_count = warps, .groups = 1,
	                              .warps_per_group = warps, .path_of = path_of, .pattern_groups = 1};
	s->issue_count = 0;
	CU_ASSERT_EQUAL_FATAL(model_occupancy_vector(&s->gpu, &launch, 1, &s->options, &s->timing, NULL), 0);
}

void scene_check(const struct scene *s, const struct issue *expected, size_t count)
{
	CU_ASSERT_EQUAL_FATAL(s->issue_count, count);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(s->issues[i].cycle, expected[i].cycle);
		CU_ASSERT_EQUAL(s->issues[i].slot, expected[i].slot);
		CU_ASSERT_EQUAL(s->issues[i].instruction, expected[i].instruction);
	}
}
