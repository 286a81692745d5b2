/* Machine code of branches and jumps. The bytes are those of assemblers for x86_64 and aarch64. */
#include "interposer/cuda/ways/patch.h"
#include "tests/tests.h"

#include <string.h>

static void check_branch(enum patch_machine machine, uint64_t from, uint64_t to, const char *expected, size_t bytes)
{
	uint8_t code[PATCH_MOST_BYTES];
	CU_ASSERT_EQUAL_FATAL(patch_branch(machine, from, to, code), bytes);
	CU_ASSERT_EQUAL(memcmp(code, expected, bytes), 0);
}

static void test_branches(void)
{
	check_branch(PATCH_X86_64, 0x1000, 0x2000, "\xe9\xfb\x0f\x00\x00", 5);
	check_branch(PATCH_X86_64, 0x2000, 0x1000, "\xe9\xfb\xef\xff\xff", 5);
	check_branch(PATCH_X86_64, 0x400000, 0x400000 + 0x80000004, "\xe9\xff\xff\xff\x7f", 5);
	check_branch(PATCH_AARCH64, 0x1000, 0x2000, "\x00\x04\x00\x14", 4);
	check_branch(PATCH_AARCH64, 0x2000, 0x1000, "\x00\xfc\xff\x17", 4);
	check_branch(PATCH_AARCH64, 0x10000000, 0x10000000 - 0x8000000, "\x00\x00\x00\x16", 4);
}

static void test_too_far(void)
{
	uint8_t code[PATCH_MOST_BYTES];
	CU_ASSERT_EQUAL(patch_branch(PATCH_X86_64, 0x400000, 0x400000 + 0x80000005, code), 0);
	CU_ASSERT_EQUAL(patch_branch(PATCH_X86_64, 0xffffffff0000, 0x1000, code), 0);
	CU_ASSERT_EQUAL(patch_branch(PATCH_AARCH64, 0x10000000, 0x10000000 + 0x8000000, code), 0);
	CU_ASSERT_EQUAL(patch_branch(PATCH_AARCH64, 0x1000, 0x2002, code), 0); /* not an instruction */
	/* what is within reach can be branched to in both directions */
	for (int m = PATCH_X86_64; m <= PATCH_AARCH64; m++) {
		CU_ASSERT_NOT_EQUAL(patch_branch(m, 1u << 31, (1u << 31) + patch_reach(m), code), 0);
		CU_ASSERT_NOT_EQUAL(patch_branch(m, 1u << 31, (1u << 31) - patch_reach(m), code), 0);
	}
}

static void test_jumps(void)
{
	uint8_t code[PATCH_MOST_BYTES];
	patch_jump(PATCH_X86_64, UINT64_C(0x1122334455667788), code);
	CU_ASSERT_EQUAL(memcmp(code, "\xff\x25\x02\x00\x00\x00\x00\x00\x88\x77\x66\x55\x44\x33\x22\x11", 16), 0);
	patch_jump(PATCH_AARCH64, UINT64_C(0x1122334455667788), code);
	CU_ASSERT_EQUAL(memcmp(code, "\x50\x00\x00\x58\x00\x02\x1f\xd6\x88\x77\x66\x55\x44\x33\x22\x11", 16), 0);
}

void add_cuda_patch_tests(void)
{
	CU_pSuite s = CU_add_suite("cuda_patch", NULL, NULL);
	CU_add_test(s, "branches of both machines", test_branches);
	CU_add_test(s, "branches that are too far", test_too_far);
	CU_add_test(s, "jumps to anywhere", test_jumps);
}
