/* What a launch has of L1. */
#include "models/gpu/l1_split.h"
#include "tests/tests.h"

enum { SIZES = 19, GROUPS = 5 };

static struct gpu hopper(void)
{
	struct gpu gpu = {.l1_unified = true, .l1_bytes = 248 << 10, .l1_shared_bytes = 256 << 10, .shared_carveouts = "8,16,32,64,100,132,164,196,228",
	                  .shared_carveout_room = 2, .shared_reserved_per_block = 1024, .shared_allocation_unit = 128, .max_blocks_per_sm = 32,
	                  .max_shared_bytes_per_block = 227 << 10};
	return gpu;
}

/* Measured on an H200, driver 580.159: the shared memory that is missing of 256 KB where one lane walks the lines of L1, by the kernel's shared
 * memory and group size. CUDA's occupancy calculator says how many groups fit. */
static void measured(void)
{
	static const unsigned kb[SIZES] = {1, 2, 4, 7, 8, 15, 16, 24, 31, 32, 48, 63, 64, 99, 100, 131, 163, 195, 227};
	static const unsigned threads[GROUPS] = {32, 128, 256, 512, 1024};
	static const unsigned groups[GROUPS][SIZES] = {
		{32, 32, 32, 28, 25, 14, 13, 9, 7, 6, 4, 3, 3, 2, 2, 1, 1, 1, 1},
		{16, 16, 16, 16, 16, 14, 13, 9, 7, 6, 4, 3, 3, 2, 2, 1, 1, 1, 1},
		{8, 8, 8, 8, 8, 8, 8, 8, 7, 6, 4, 3, 3, 2, 2, 1, 1, 1, 1},
		{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 2, 2, 1, 1, 1, 1},
		{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1},
	};
	static const unsigned shared[GROUPS][SIZES] = {
		{64, 100, 164, 228, 228, 228, 228, 228, 228, 228, 196, 196, 196, 228, 228, 132, 164, 196, 228},
		{64, 100, 132, 132, 164, 228, 228, 228, 228, 228, 196, 196, 196, 228, 228, 132, 164, 196, 228},
		{32, 64, 100, 132, 132, 132, 164, 228, 228, 228, 196, 196, 196, 228, 228, 132, 164, 196, 228},
		{16, 32, 64, 64, 100, 132, 132, 132, 132, 132, 196, 196, 196, 228, 228, 132, 164, 196, 228},
		{8, 8, 16, 16, 32, 32, 64, 64, 64, 100, 100, 132, 132, 228, 228, 132, 164, 196, 228},
	};
	struct gpu gpu = hopper();
	for (int t = 0; t < GROUPS; t++)
		for (int i = 0; i < SIZES; i++)
			CU_ASSERT_EQUAL(gpu_l1_left(&gpu, threads[t], kb[i] << 10, 1, groups[t][i]), (256 - shared[t][i]) << 10);
}

static void bounds(void)
{
	struct gpu gpu = hopper();
	CU_ASSERT_EQUAL(gpu_l1_left(&gpu, 256, 0, 8, 8), 248 << 10); /* no shared memory: what L1 has at most */
	gpu.l1_bytes = 224 << 10;
	CU_ASSERT_EQUAL(gpu_l1_left(&gpu, 1024, 1024, 2, 2), 224 << 10);
	gpu.shared_carveout_room = 1; /* 8 groups of 5 KB */
	CU_ASSERT_EQUAL(gpu_l1_left(&gpu, 256, 4096, 8, 8), 192 << 10);
	gpu.l1_unified = false;
	CU_ASSERT_EQUAL(gpu_l1_left(&gpu, 256, 4096, 8, 8), 224 << 10);
}

/* Without sizes: what the groups of an SM use, in steps of 8 KB. */
static void steps(void)
{
	struct gpu gpu = hopper();
	gpu.l1_bytes = gpu.l1_shared_bytes = 128 << 10;
	gpu.shared_carveouts[0] = '-';
	gpu.shared_carveouts[1] = 0;
	CU_ASSERT_EQUAL(gpu_l1_left(&gpu, 256, 3000, 8, 16), 104 << 10);
	CU_ASSERT_EQUAL(gpu_l1_left(&gpu, 256, 100000, 2, 2), 0);
}

void add_l1_split_tests(void)
{
	CU_pSuite s = CU_add_suite("l1_split", NULL, NULL);
	CU_add_test(s, "L1 as measured on an H200", measured);
	CU_add_test(s, "L1 has its most, and all where it is its own", bounds);
	CU_add_test(s, "L1 without sizes of shared memory", steps);
}
