/* Accesses that others wait for until their operands were read: longer than not at all, and not as long as for what is loaded. */
#include "tests/tests.h"

#include "tests/models/scene.h"

enum { LOADS = 8 };

/* The cycle in which an instruction issues after loads from shared memory, which a unit takes one after the other. marked: they are pending in register 40 until they have
 * read their operands. */
static uint64_t issues_at(const char *operands, bool marked)
{
	static struct scene s;
	scene_start(&s, "h200", "");
	for (int i = 0; i < LOADS; i++) {
		struct code_instruction *load = build_memory(&s.code, CODE_load, SPACE_shared, i + 1 < LOADS ? "3 <- 1 2" : "4 <- 1 2 ? 40");
		load->bytes = 16;
		load->stall = marked && i + 1 == LOADS ? CODE_STALL_READ : 0;
	}
	build(&s.code, CODE_int, operands);
	scene_exit(&s);
	scene_run(&s);
	for (size_t i = 0; i < s.issue_count; i++)
		if (s.issues[i].instruction == LOADS)
			return s.issues[i].cycle;
	return 0;
}

static void test_operands_are_waited_for(void)
{
	uint64_t free = issues_at("1 <- 5 ? 41", true), read = issues_at("1 <- 5 ? 40", true), loaded = issues_at("1 <- 5 4", true);
	CU_ASSERT_TRUE(0 < free && free < read && read < loaded);
	CU_ASSERT_EQUAL(issues_at("1 <- 5 ? 40", false), free);
}

void add_read_marks_tests(void)
{
	CU_pSuite suite = CU_add_suite("read_marks", NULL, NULL);
	CU_add_test(suite, "what writes operands of an access waits until they were read", test_operands_are_waited_for);
}
