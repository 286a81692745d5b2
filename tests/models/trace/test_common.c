/* Lines that most groups touch stay where they are. */
#include "tests/tests.h"

#include "models/trace/internal.h"
#include "models/traffic/footprint.h"
#include "tests/models/scene.h"

#include <stdlib.h>

enum { GROUPS = 4, PARTS = 4, ALL = 4096, THREE = 8192, TWO = 16384, OWN = 65536 };

/* Four groups of a warp, whose load depends on data. Each touches a line that all touch, one of its own, and the first groups two others. */
struct common_scene {
	struct scene scene;
	struct memory_part parts[GROUPS][PARTS];
	uint32_t first[2], zero, path_of[GROUPS];
	uint16_t accesses[1];
	uint64_t ids[GROUPS];
	struct address_shift shifts[2];
	struct path_requests requests[GROUPS];
	struct warp_path paths[GROUPS];
	struct launch_warps launch;
};

static void make_common(struct common_scene *s)
{
	scene_start(&s->scene, "gtx480", NULL);
	build_memory(&s->scene.code, CODE_load, SPACE_global, "2 <- 1");
	scene_exit(&s->scene);
	s->first[1] = PARTS;
	s->accesses[0] = PARTS;
	s->shifts[0] = (struct address_shift){.low = 0, .bytes = 1 << 20};
	for (uint32_t g = 0; g < GROUPS; g++) {
		const uint64_t lines[PARTS] = {ALL, g < 3 ? THREE : OWN + 256 * g, g < 2 ? TWO : OWN + 256 * g, OWN + 256 * g};
		for (int p = 0; p < PARTS; p++)
			s->parts[g][p] = (struct memory_part){.address = lines[p], .sectors = 1, .bytes = 4};
		s->requests[g] = (struct path_requests){s->first, s->parts[g]};
		s->paths[g] = (struct warp_path){.blocks = &s->zero, .block_count = 1, .accesses = s->accesses, .access_count = 1, .requests = &s->requests[g]};
		s->path_of[g] = g;
		s->ids[g] = 10 * g;
	}
	s->launch = (struct launch_warps){.code = &s->scene.code.code, .paths = s->paths, .path_count = GROUPS, .groups = 100, .warps_per_group = 1,
	                                  .path_of = s->path_of, .pattern_groups = GROUPS, .grid = {100, 1, 1}, .pattern_ids = s->ids, .shifts = s->shifts};
}

static void lines_of_most_groups_are_common(void)
{
	static struct common_scene s;
	struct line_set common;
	make_common(&s);
	CU_ASSERT_EQUAL_FATAL(common_lines(&s.launch, &common), 0);
	CU_ASSERT_TRUE(line_set_has(&common, ALL));
	CU_ASSERT_TRUE(line_set_has(&common, ALL + 127));
	CU_ASSERT_FALSE(line_set_has(&common, ALL + 128));
	CU_ASSERT_TRUE(line_set_has(&common, THREE));
	CU_ASSERT_FALSE(line_set_has(&common, TWO));
	CU_ASSERT_FALSE(line_set_has(&common, OWN));
	/* Group 7 does what group 30 did. */
	const int64_t moved[3] = {-23, 0, 0};
	CU_ASSERT_NOT_EQUAL(launch_address(&s.launch, 0, ALL, 7, moved, 128), ALL);
	s.launch.common = &common;
	CU_ASSERT_EQUAL(launch_address(&s.launch, 0, ALL, 7, moved, 128), ALL);
	CU_ASSERT_NOT_EQUAL(launch_address(&s.launch, 0, TWO, 7, moved, 128), TWO);
	free(common.slots);
}

/* A traced group that stands for two counts once: three groups are too few to tell. Addresses that are linear in the group are never common. */
static void few_groups_tell_nothing(void)
{
	static struct common_scene s;
	struct line_set common;
	make_common(&s);
	s.ids[3] = s.ids[2];
	CU_ASSERT_EQUAL(common_lines(&s.launch, &common), 0);
	CU_ASSERT_FALSE(line_set_has(&common, ALL));
	s.ids[3] = 99;
	s.shifts[0] = (struct address_shift){.linear = true, .step = {128, 0, 0}};
	CU_ASSERT_EQUAL(common_lines(&s.launch, &common), 0);
	CU_ASSERT_FALSE(line_set_has(&common, ALL));
	CU_ASSERT_FALSE(line_set_has(NULL, ALL));
}

void add_common_tests(void)
{
	CU_pSuite suite = CU_add_suite("common lines", NULL, NULL);
	CU_add_test(suite, "lines of most groups are common", lines_of_most_groups_are_common);
	CU_add_test(suite, "few groups tell nothing", few_groups_tell_nothing);
}
