/* Texture and surface objects: whether a value is one, and its shape. */
#include "tests/tests.h"

#include "models/accesses/image.h"
#include "runtime/guest/cuda/memory.h"

static struct lifted_texture texture_of(uint32_t width, uint32_t height, uint64_t pitch)
{
	return (struct lifted_texture){.width = width, .height = height, .depth = 1, .pitch = pitch, .channels = 4, .bits = 32};
}

static void objects_are_found_until_they_go(void)
{
	enum { COUNT = 50 };
	static struct lifted_texture list[COUNT];
	struct cuda_texture found;
	for (int i = 0; i < COUNT; i++) {
		list[i * 7 % COUNT].width = (uint32_t)(i * 7 % COUNT);
		cuda_texture_made(&list[i * 7 % COUNT], false, false);
	}
	for (int i = 0; i < COUNT; i++)
		CU_ASSERT(texture_find((uint64_t)(uintptr_t)&list[i], &found) && found.level.width == (uint32_t)i);
	CU_ASSERT(!texture_find((uint64_t)(uintptr_t)&list[3] + 8, &found));
	cuda_texture_gone((uint64_t)(uintptr_t)&list[3]);
	cuda_texture_gone((uint64_t)(uintptr_t)&list[3]);
	CU_ASSERT(!texture_find((uint64_t)(uintptr_t)&list[3], &found));
	CU_ASSERT(texture_find((uint64_t)(uintptr_t)&list[4], &found) && found.level.width == 4);
	for (int i = 0; i < COUNT; i++)
		cuda_texture_gone((uint64_t)(uintptr_t)&list[i]);
}

static bool shape_of(struct lifted_texture level, bool written, bool by_rows, struct image_shape *out, uint64_t *row_texels)
{
	struct cuda_texture t = {.level = level, .written = written, .by_rows = by_rows};
	return image_shape_of(texture_shape(&t, row_texels), out);
}

/* Four reals are 16 bytes. A pitch of 2048 bytes has room for 128 of them; of arrays it is ours, and no matter. */
static void arrays_have_blocks_and_memory_has_rows(void)
{
	struct image_shape s;
	uint64_t row;
	struct lifted_texture t = texture_of(100, 20, 2048);
	CU_ASSERT(shape_of(t, false, false, &s, &row) && row == 100);
	CU_ASSERT(s.width == 100 && s.height == 20 && s.depth == 1 && s.texel_bytes == 16 && !s.by_rows && !s.written && s.sampler == IMAGE_NEAREST);
	t.filters = 1;
	CU_ASSERT(shape_of(t, false, true, &s, &row) && row == 128);
	CU_ASSERT(s.width == 128 && s.height == 20 && s.by_rows && s.sampler == IMAGE_LINEAR);
	t.filters = 0;
	CU_ASSERT(shape_of(t, true, false, &s, &row) && s.written && s.sampler == IMAGE_SAMPLER_OF_SITE);
	t.height = 1;
	CU_ASSERT(shape_of(t, false, false, &s, &row) && s.by_rows && row == 128);
	t.linear = 1;
	CU_ASSERT(!shape_of(t, false, true, &s, &row));
}

void add_cuda_textures_tests(void)
{
	CU_pSuite s = CU_add_suite("textures of CUDA", NULL, NULL);
	CU_add_test(s, "objects are found until they go", objects_are_found_until_they_go);
	CU_add_test(s, "arrays have blocks and memory has rows", arrays_have_blocks_and_memory_has_rows);
}
