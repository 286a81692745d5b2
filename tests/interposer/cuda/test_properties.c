/* cudaDeviceProp of three versions, by offsets that were counted by hand, and what a launch may ask for. */
#include "interposer/cuda/device/limits.h"
#include "interposer/cuda/device/properties.h"
#include "tests/tests.h"

#include <string.h>

static void test_offsets(void)
{
	static const struct {
		const char *name;
		long in_11, in_12, in_13;
	} known[] = {
		{"name", 0, 0, 0},
		{"totalGlobalMem", 288, 288, 288},
		{"clockRate", 348, 348, -1},
		{"major", 360, 360, 360},
		{"multiProcessorCount", 388, 388, 384},
		{"surfaceAlignment", 568, 568, 552},
		{"l2CacheSize", 616, 616, 596},
		{"sharedMemPerBlockOptin", 696, 696, 672},
		{"reservedSharedMemPerBlock", 720, 720, 696},
		{"hostRegisterSupported", -1, 728, 704},
		{"unifiedFunctionPointers", -1, 776, 752},
		{"hostNumaMultinodeIpcSupported", -1, -1, 780},
		{"no such member", -1, -1, -1},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		CU_ASSERT_EQUAL(properties_offset(known[i].name, 11), known[i].in_11);
		CU_ASSERT_EQUAL(properties_offset(known[i].name, 12), known[i].in_12);
		CU_ASSERT_EQUAL(properties_offset(known[i].name, 13), known[i].in_13);
	}
}

static struct gpu example(const char *arch)
{
	struct gpu g = {.title = "A GPU", .sm_count = 7, .warp_size = 32, .clock_mhz = 1500.5, .max_threads_per_block = 1024,
	                .registers_per_sm = 65536, .shared_bytes_per_sm = 100 << 10, .max_shared_bytes_per_block = 99 << 10,
	                .dram_gbps = 448, .dram_channels = 8, .fp32_units = 4, .fp32_fma_initiation = 1, .fp64_units = 1,
	                .fp64_fma_initiation = 16, .max_warps_per_sm = 48};
	strcpy(g.arch, arch);
	return g;
}

static void test_values(void)
{
	struct gpu g = example("sm_86");
	int value, clock, width;
	char p[2048];
	memset(p, 0x55, sizeof p);
	properties_fill(p, 11, &g, 12345);
	CU_ASSERT_STRING_EQUAL(p, "A GPU");
	CU_ASSERT_EQUAL(p[255], 0);
	CU_ASSERT_EQUAL(*(size_t *)(p + 288), 12345);
	CU_ASSERT_EQUAL(*(int *)(p + 360), 8);
	CU_ASSERT_EQUAL(*(int *)(p + 364), 6);
	CU_ASSERT_EQUAL(*(int *)(p + 388), 7);
	CU_ASSERT_EQUAL(p[728], 0x55);
	CU_ASSERT_TRUE(properties_attribute(13, &g, &value) && value == 1500500);
	CU_ASSERT_TRUE(properties_attribute(87, &g, &value) && value == 64);
	CU_ASSERT_TRUE(properties_attribute(39, &g, &value) && value == 1536);
	CU_ASSERT_TRUE(properties_attribute(36, &g, &clock) && properties_attribute(37, &g, &width));
	CU_ASSERT_DOUBLE_EQUAL(2.0 * clock * 1e3 * width / 8, 448e9, 1e6);
	CU_ASSERT_TRUE(properties_attribute(95, &g, &value) && value == 1); /* cooperative launches */
	CU_ASSERT_FALSE(properties_attribute(0, &g, &value));
	CU_ASSERT_FALSE(properties_attribute(100000, &g, &value));
}

static void test_limits(void)
{
	struct gpu g = example("sm_90a"), old = example("sm_20");
	CU_ASSERT_EQUAL(limit_capability(&g), 90);
	CU_ASSERT_EQUAL(limit_grid(&g).x, 2147483647);
	CU_ASSERT_EQUAL(limit_grid(&old).x, 65535);
	CU_ASSERT_EQUAL(limit_block(&g).z, 64);
	CU_ASSERT_EQUAL(limit_shared(&g), 48 << 10);
	/* 48 KB less its own; more if it was asked for */
	CU_ASSERT_EQUAL(limit_dynamic_shared(&g, 1000, 0), (48 << 10) - 1000);
	CU_ASSERT_EQUAL(limit_dynamic_shared(&g, 1000, 60000), 60000);
	CU_ASSERT_EQUAL(limit_dynamic_shared(&g, 50000, 0), 0);
	old.max_shared_bytes_per_block = 16 << 10;
	old.registers_per_sm = 32768;
	CU_ASSERT_EQUAL(limit_shared(&old), 16 << 10);
	CU_ASSERT_EQUAL(limit_registers(&old), 32768);
	CU_ASSERT_EQUAL(limit_registers(&g), 65536);
}

void add_cuda_properties_tests(void)
{
	CU_pSuite s = CU_add_suite("cuda_properties", NULL, NULL);
	CU_add_test(s, "members of cudaDeviceProp are where each version has them", test_offsets);
	CU_add_test(s, "values come from the description", test_values);
	CU_add_test(s, "limits of a launch", test_limits);
}
