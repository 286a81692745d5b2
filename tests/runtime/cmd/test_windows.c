/* Windows of loops in traces that are imported. What is written was worked out by hand from the rules of windows.h. */
#include "runtime/cmd/streams/windows.h"
#include "tests/tests.h"

#include <stdio.h>
#include <string.h>

/* Events as text: runs of a block as "BLOCKxTIMES", accesses left out but counted, gaps as "(BODY KEPT MISSING)". */
struct written_text {
	char text[256];
	uint32_t block, times, accesses;
};

static void end_run(struct written_text *t)
{
	size_t used = strlen(t->text);
	if (t->times)
		snprintf(t->text + used, sizeof t->text - used, "%ux%u ", t->block, t->times);
	t->times = 0;
}

static void put(void *ctx, const struct window_event *e)
{
	struct written_text *t = ctx;
	if (e->kind == WINDOW_ACCESS) {
		t->accesses++;
		return;
	}
	if (e->kind == WINDOW_BLOCK && t->times && t->block == e->what) {
		t->times++;
		return;
	}
	end_run(t);
	if (e->kind == WINDOW_BLOCK) {
		t->block = e->what;
		t->times = 1;
		return;
	}
	size_t used = strlen(t->text);
	snprintf(t->text + used, sizeof t->text - used, "(%u %u %u) ", e->what, (unsigned)e->address, (unsigned)e->iterations);
}

/* Blocks 0, then a loop of 1 alone, or of 1 and, in it, a loop of 2, then 3. Each execution of 1 makes an access. */
static struct code_block blocks[4] = {{.loop = -1}, {.loop = 0}, {.loop = 1}, {.loop = -1}};
static struct code_loop loops[2] = {{.header = 1, .outer = -1}, {.header = 2, .outer = 0}};

static const char *written(struct kernel_code *code, uint32_t outer, uint32_t inner, uint32_t *accesses)
{
	static struct written_text t;
	struct window_rules rules;
	struct lane_windows w = {0};
	t = (struct written_text){.text = ""};
	CU_ASSERT_EQUAL_FATAL(window_rules_make(code, &rules), 0);
	lane_windows_begin(&w);
	lane_windows_block(&rules, &w, 0, put, &t);
	for (uint32_t i = 0; i < outer; i++) {
		lane_windows_block(&rules, &w, 1, put, &t);
		lane_windows_access(&w, 0, 4 * (uint64_t)i, put, &t);
		for (uint32_t j = 0; j < inner; j++)
			lane_windows_block(&rules, &w, 2, put, &t);
	}
	lane_windows_block(&rules, &w, 3, put, &t);
	lane_windows_end(&rules, &w, put, &t);
	end_run(&t);
	CU_ASSERT_EQUAL(w.cut, false);
	*accesses = t.accesses;
	gs_buf_free(&w.held);
	window_rules_free(&rules);
	return t.text;
}

static void one_loop(void)
{
	struct kernel_code code = {.blocks = blocks, .block_count = 4, .loops = loops, .loop_count = 1};
	uint32_t accesses;
	CU_ASSERT_STRING_EQUAL(written(&code, 64, 0, &accesses), "0x1 1x64 3x1 ");
	CU_ASSERT_EQUAL(accesses, 64);
	CU_ASSERT_STRING_EQUAL(written(&code, 65, 0, &accesses), "0x1 1x65 3x1 "); /* the last one is held back, and nothing is missing */
	CU_ASSERT_STRING_EQUAL(written(&code, 66, 0, &accesses), "0x1 1x64 (1 64 1) 1x1 3x1 ");
	/* From iteration 256 on half as many. */
	CU_ASSERT_STRING_EQUAL(written(&code, 300, 0, &accesses), "0x1 1x64 (1 64 191) 1x32 (1 32 12) 1x1 3x1 ");
	CU_ASSERT_EQUAL(accesses, 97);
	CU_ASSERT_STRING_EQUAL(written(&code, 1000000, 0, &accesses),
	                       "0x1 1x64 (1 64 191) 1x32 (1 32 736) 1x32 (1 32 3040) 1x32 (1 32 12256) 1x32 (1 32 49120) 1x32 (1 32 196576) 1x32 "
	                       "(1 32 737824) 1x1 3x1 ");
}

/* 16 iterations of the outer loop and 32 of the inner one; of the last outer one, which is held back, 4 of the inner one, and its last. */
static void nested_loops(void)
{
	struct kernel_code code = {.blocks = blocks, .block_count = 4, .loops = loops, .loop_count = 2};
	uint32_t accesses;
	CU_ASSERT_STRING_EQUAL(written(&code, 2, 40, &accesses), "0x1 1x1 2x32 (2 32 7) 2x1 1x1 2x32 (2 32 7) 2x1 3x1 ");
	CU_ASSERT_STRING_EQUAL(written(&code, 1, 200, &accesses), "0x1 1x1 2x32 (2 32 95) 2x16 (2 16 56) 2x1 3x1 ");
	const char *text = written(&code, 20, 10, &accesses);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "1x1 2x10 (1 16 3) 1x1 2x4 (2 4 5) 2x1 3x1 "));
	CU_ASSERT_EQUAL(accesses, 17);
}

/* An iteration that is too long to be held back ends the lane. */
static void too_long(void)
{
	struct kernel_code code = {.blocks = blocks, .block_count = 4, .loops = loops, .loop_count = 1};
	struct window_rules rules;
	struct lane_windows w = {0};
	struct written_text t = {.text = ""};
	CU_ASSERT_EQUAL_FATAL(window_rules_make(&code, &rules), 0);
	for (uint32_t i = 0; i < 100; i++) {
		lane_windows_block(&rules, &w, 1, put, &t);
		for (uint32_t j = 0; j < WINDOWS_MOST_HELD && i >= 80; j++)
			lane_windows_access(&w, 0, j, put, &t);
	}
	CU_ASSERT_EQUAL(w.cut, true);
	CU_ASSERT(w.held.len <= WINDOWS_MOST_HELD * sizeof(struct window_event));
	lane_windows_end(&rules, &w, put, &t);
	end_run(&t);
	CU_ASSERT_STRING_EQUAL(t.text, "1x64 ");
	gs_buf_free(&w.held);
	window_rules_free(&rules);
}

void add_import_windows_tests(void)
{
	CU_pSuite suite = CU_add_suite("import_windows", NULL, NULL);
	CU_add_test(suite, "a loop", one_loop);
	CU_add_test(suite, "loops in loops", nested_loops);
	CU_add_test(suite, "an iteration that is too long", too_long);
}
