/* Groups of asynchronous copies (cp.async): what waits for them, cycle by cycle, by hand. A copy takes 100 cycles. */
#include "tests/tests.h"

#include "models/analytical/pipeline.h"
#include "models/code/costs.h"
#include "tests/models/scene.h"

#include <string.h>

#define COPIES IDEAL ",ldst_units=8,l1_latency=100"

enum { OPEN = 40, GROUPS = 4, REGISTERS = 80 }; /* registers 40 to 43: the open group, two newest ones, all older ones */
static struct scene s;

static void start(void)
{
	scene_start(&s, "gtx480", COPIES);
	for (uint8_t g = 0; g < GROUPS; g++)
		s.code.registers[OPEN + g] = (struct code_register){.number = g, .copies = (uint8_t)(g + 1)};
}

static void copy(void)
{
	build_memory(&s.code, CODE_load, SPACE_global, "40 <- 1");
}

static void commit(void)
{
	build(&s.code, CODE_nop, "40 41 42 43 <-");
}

static const char *const all = "? 40 41 42 43", *const left[] = {"? 41 42 43", "? 42 43", "? 43"};

/* Instruction i issues in cycle expected[i], if a warp's registers are the bits of a word and if they are not, and in the analytical pipeline. */
static void check(const uint64_t *expected, uint32_t count)
{
	struct code_register more[REGISTERS] = {{.number = 0}};
	double latencies[BUILD_MAX];
	CU_ASSERT_EQUAL_FATAL(s.code.code.code_count, count);
	for (int wide = 0; wide < 2; wide++) {
		scene_run(&s);
		CU_ASSERT_EQUAL_FATAL(s.issue_count, count);
		for (uint32_t i = 0; i < count; i++)
			CU_ASSERT_EQUAL(s.issues[i].cycle, expected[i]);
		memcpy(more, s.code.registers, sizeof s.code.registers);
		s.code.code.register_table = more;
		s.code.code.register_count = REGISTERS;
	}
	CU_ASSERT_EQUAL_FATAL(pipeline_issue_latencies(&s.gpu, &s.code.code, 0, latencies), 0);
	for (uint32_t i = 0; i + 1 < count; i++)
		CU_ASSERT_EQUAL(latencies[i], expected[i + 1] - expected[i]);
}

/*
 * Four steps, each of which makes a copy and leaves one group under way. The first wait finds no older group. The second one waits for the first
 * copy (2 + 100), the third one for the second (5 + 100), the last one for all of them: that of cycle 106.
 */
static void test_one_group_is_left(void)
{
	start();
	for (int i = 0; i < 4; i++) {
		copy();
		commit();
		build(&s.code, CODE_move, left[i < 3]);
	}
	check((const uint64_t[]){2, 3, 4, 5, 6, 102, 103, 104, 105, 106, 107, 206}, 12);
}

/* With two groups left, three copies are under way: only the fourth waits, for the first of them. */
static void test_two_groups_are_left(void)
{
	start();
	for (int i = 0; i < 4; i++) {
		copy();
		commit();
		build(&s.code, CODE_move, left[2]);
	}
	check((const uint64_t[]){2, 3, 4, 5, 6, 7, 8, 9, 102, 103, 104, 105}, 12);
}

/* Two copies in a group, the second of them later: both are waited for. The third copy is of no group: a wait for groups leaves it alone. */
static void test_open_group_is_left(void)
{
	start();
	copy();
	copy();
	commit();
	copy();
	build(&s.code, CODE_move, left[0]);
	build(&s.code, CODE_move, all);
	check((const uint64_t[]){2, 3, 4, 5, 103, 105}, 6);
}

/* Groups without copies are groups, too: the first one is the third newest then. */
static void test_empty_groups_count(void)
{
	start();
	copy();
	commit();
	build(&s.code, CODE_move, left[1]);
	commit();
	build(&s.code, CODE_move, left[1]);
	commit();
	commit();
	build(&s.code, CODE_move, left[2]);
	check((const uint64_t[]){2, 3, 4, 5, 102, 103, 104, 105}, 8);
}

void add_async_copies_tests(void)
{
	CU_pSuite suite = CU_add_suite("async_copies", NULL, NULL);
	CU_add_test(suite, "a wait leaves the newest group under way", test_one_group_is_left);
	CU_add_test(suite, "a wait leaves the two newest groups under way", test_two_groups_are_left);
	CU_add_test(suite, "a wait for groups leaves copies that are in none", test_open_group_is_left);
	CU_add_test(suite, "groups without copies count", test_empty_groups_count);
}
