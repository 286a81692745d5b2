/* Where texels lie, and what reading them takes. */
#include "tests/tests.h"

#include "models/accesses/accesses.h"
#include "models/accesses/image.h"

#include <stdio.h>

static const struct image_shape plane = {.width = 100, .height = 20, .depth = 3, .texel_bytes = 16};

static void shapes_are_kept_in_a_word(void)
{
	struct image_shape s = {.width = 5120, .height = 4096, .depth = 1, .texel_bytes = 4, .written = true}, out;
	uint64_t packed = image_shape_pack(&s);
	CU_ASSERT(image_shape_of(packed, &out));
	CU_ASSERT_EQUAL(out.width, 5120);
	CU_ASSERT_EQUAL(out.height, 4096);
	CU_ASSERT_EQUAL(out.depth, 1);
	CU_ASSERT_EQUAL(out.texel_bytes, 4);
	CU_ASSERT(out.written && !out.by_rows);
	CU_ASSERT_EQUAL(argument_memory(packed), 5120ull * 4096 * 4);
	CU_ASSERT_EQUAL(argument_memory(1ull << 40), 1ull << 40); /* a buffer */
	CU_ASSERT(!image_shape_of(1ull << 40, &out));
	s.height = 1 << 20; /* too high */
	CU_ASSERT_EQUAL(image_shape_pack(&s), 0);
}

/* The texel's code is from bit 56 on: 1 to 16 are bytes, then come five powers of two that are read alone, and five that are filtered. */
static void shapes_have_samplers(void)
{
	struct image_shape s = {.width = 4, .height = 2, .depth = 1, .texel_bytes = 16}, out;
	CU_ASSERT_EQUAL(image_shape_pack(&s) >> 56 & 31, 16);
	s.sampler = IMAGE_NEAREST;
	CU_ASSERT_EQUAL(image_shape_pack(&s) >> 56 & 31, 21);
	s.sampler = IMAGE_LINEAR;
	CU_ASSERT_EQUAL(image_shape_pack(&s) >> 56 & 31, 26);
	CU_ASSERT(image_shape_of(image_shape_pack(&s), &out) && out.texel_bytes == 16 && out.sampler == IMAGE_LINEAR);
	s.texel_bytes = 1;
	CU_ASSERT(image_shape_of(image_shape_pack(&s), &out) && out.texel_bytes == 1 && out.sampler == IMAGE_LINEAR && out.width == 4 && out.height == 2);
	s.texel_bytes = 12;
	CU_ASSERT_EQUAL(image_shape_pack(&s), 0);
	s.sampler = IMAGE_SAMPLER_OF_SITE;
	CU_ASSERT(image_shape_of(image_shape_pack(&s), &out) && out.texel_bytes == 12 && out.sampler == IMAGE_SAMPLER_OF_SITE);
	CU_ASSERT(!image_shape_of(UINT64_C(1) << 63 | UINT64_C(27) << 56 | UINT64_C(1) << 28 | 1, &out));
}

/* A row of 100 texels of 16 bytes is 25 GOBs; 20 rows are 3 rows of GOBs, 38,400 bytes. */
static void texels_lie_in_blocks(void)
{
	CU_ASSERT_EQUAL(image_place(&plane, 0), 0);
	CU_ASSERT_EQUAL(image_place(&plane, 1), 32);       /* the next texel: another sector */
	CU_ASSERT_EQUAL(image_place(&plane, 100), 16);     /* the next row: the sector's other half */
	CU_ASSERT_EQUAL(image_place(&plane, 200), 64);
	CU_ASSERT_EQUAL(image_place(&plane, 2), 256);
	CU_ASSERT_EQUAL(image_place(&plane, 4), 512);      /* the next GOB */
	CU_ASSERT_EQUAL(image_place(&plane, 800), 25 * 512);
	CU_ASSERT_EQUAL(image_place(&plane, 2000), 38400); /* the next plane */
	CU_ASSERT_EQUAL(argument_memory(image_shape_pack(&plane)), 3 * 38400);
	struct image_shape rows = plane;
	rows.by_rows = true;
	CU_ASSERT_EQUAL(image_place(&rows, 101), 1616);
}

static void places_lead_back_to_texels(void)
{
	static const uint32_t bytes[] = {1, 2, 4, 8, 16};
	for (size_t b = 0; b < GS_ARRAY_LEN(bytes); b++) {
		struct image_shape s = {.width = 37, .height = 13, .depth = 2, .texel_bytes = bytes[b]};
		for (uint64_t t = 0; t < 37 * 13 * 2; t++)
			CU_ASSERT_EQUAL(image_texel(&s, image_place(&s, t)), t);
	}
}

/* From texel (99, 19), the last of its plane, all four are that one; from (3, 1) they are in two GOBs. */
static void filters_weigh_neighbours(void)
{
	uint64_t out[IMAGE_MOST_WEIGHED], last = image_place(&plane, 1999);
	CU_ASSERT_EQUAL(image_weighed(&plane, last, out), 4);
	CU_ASSERT(out[0] == last && out[1] == last && out[2] == last && out[3] == last);
	CU_ASSERT_EQUAL(image_weighed(&plane, image_place(&plane, 103), out), 4);
	CU_ASSERT_EQUAL(out[0], 256 + 32 + 16);
	CU_ASSERT_EQUAL(out[1], 512 + 16);
	CU_ASSERT_EQUAL(out[2], 256 + 64 + 32);
	CU_ASSERT_EQUAL(out[3], 512 + 64);
}

/* Groups of 4 x 8 texels, 25 x 3 of them. 8 rows down and 4 texels to the right is a row of GOBs and one more. */
static void groups_move_by_texels(void)
{
	static const int64_t step[3] = {4 * 16, 8 * 100 * 16, 0}, apart[3] = {1, 1, 0};
	static const uint64_t grid[3] = {25, 3, 1};
	uint64_t shape = image_shape_pack(&plane), begin = 3ull << 40;
	CU_ASSERT_EQUAL(image_moved(shape, begin + 128, step, apart, grid), begin + 128 + 26 * 512);
	CU_ASSERT_EQUAL(image_flat(&plane, begin + 16), begin + 1600);
}

/* The texels around a group in the middle, where it is moved to the border. Left: from (3, 8) to (-1, 8); above: from (4, 7) to (4, -1);
 * right: from (96, 8) to (100, 8); below: from (4, 16) to (4, 24), with 20 rows. */
static void moves_end_at_the_borders_of_images(void)
{
	static const int64_t step[3] = {4 * 16, 8 * 100 * 16, 0}, left[3] = {-1, 0, 0}, right[3] = {1, 0, 0}, up[3] = {0, -1, 0}, down[3] = {0, 1, 0};
	static const uint64_t grid[3] = {25, 3, 1};
	uint64_t shape = image_shape_pack(&plane), begin = 3ull << 40;
#define TEXEL(x, y) (begin + image_place(&plane, (y) * 100 + (x)))
	CU_ASSERT_EQUAL(image_moved(shape, TEXEL(3, 8), step, left, grid), TEXEL(0, 8));
	CU_ASSERT_EQUAL(image_moved(shape, TEXEL(4, 7), step, up, grid), TEXEL(4, 0));
	CU_ASSERT_EQUAL(image_moved(shape, TEXEL(96, 8), step, right, grid), TEXEL(99, 8));
	CU_ASSERT_EQUAL(image_moved(shape, TEXEL(4, 16), step, down, grid), TEXEL(4, 19));
}

/* A kernel that counts texels, 64 in a group, goes from row to row: from (60, 2) to (24, 3). Groups of two rows do not leave their column. */
static void moves_of_counted_texels_go_on_in_the_next_row(void)
{
	static const int64_t step[3] = {64 * 16, 0, 0}, rows[3] = {200 * 16, 0, 0}, apart[3] = {1, 0, 0}, far[3] = {9, 0, 0};
	static const uint64_t grid[3] = {32, 1, 1}, few[3] = {10, 1, 1};
	uint64_t shape = image_shape_pack(&plane), begin = 3ull << 40;
	CU_ASSERT_EQUAL(image_moved(shape, TEXEL(60, 2), step, apart, grid), TEXEL(24, 3));
	CU_ASSERT_EQUAL(image_moved(shape, TEXEL(60, 1), rows, far, few), TEXEL(60, 19));
#undef TEXEL
}

/* Eight times four lanes, and passes of eight bytes. What lanes are given: 16, 4 or 8 bytes. What a filter reads of each of four texels: 16, 8 or 4. */
static void reads_take_a_cycle_for_four_texels(void)
{
	struct gpu gpu = {.texels_per_cycle = 4};
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 32, 16, 16, false), 16);
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 32, 16, 4, false), 8);
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 32, 8, 16, false), 8);
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 5, 4, 16, false), 2);
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 32, 0, 16, false), 8);
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 32, 4, 16, true), 8);
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 32, 8, 16, true), 8);
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 32, 16, 4, true), 16);
	CU_ASSERT_EQUAL(texture_cycles(&gpu, 32, 16, 16, true), 32);
}

void add_images_tests(void)
{
	CU_pSuite s = CU_add_suite("images", NULL, NULL);
	CU_add_test(s, "shapes are kept in a word", shapes_are_kept_in_a_word);
	CU_add_test(s, "shapes have samplers", shapes_have_samplers);
	CU_add_test(s, "texels lie in blocks", texels_lie_in_blocks);
	CU_add_test(s, "places lead back to texels", places_lead_back_to_texels);
	CU_add_test(s, "filters weigh neighbours", filters_weigh_neighbours);
	CU_add_test(s, "groups move by texels", groups_move_by_texels);
	CU_add_test(s, "moves end at the borders of images", moves_end_at_the_borders_of_images);
	CU_add_test(s, "moves of counted texels go on in the next row", moves_of_counted_texels_go_on_in_the_next_row);
	CU_add_test(s, "reads take a cycle for four texels", reads_take_a_cycle_for_four_texels);
}
