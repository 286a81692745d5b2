/* The path of a work-item from its trace, for small graphs. */
#include "tests/tests.h"

#include "models/trace/walk.h"
#include "tests/analysis/traced_code.h"

#include <errno.h>
#include <string.h>

static struct traced_code traced;

/* Source blocks and target blocks are digits. Returns the result of the walk. */
static int walk(struct trace_walker *w, const char *source, const double *edges, char *path, size_t size)
{
	uint32_t blocks[64];
	struct gs_buf steps = {0};
	size_t count = strlen(source);
	for (size_t i = 0; i < count; i++)
		blocks[i] = (uint32_t)(source[i] - '0');
	int result = trace_walk(w, blocks, count, false, edges, &steps);
	memset(path, 0, size);
	for (size_t i = 0; i < steps.len / sizeof(struct trace_step) && i < size - 1; i++)
		path[i] = (char)('0' + ((struct trace_step *)(void *)steps.data)[i].block);
	gs_buf_free(&steps);
	return result;
}

static void check(struct trace_walker *w, const char *source, const char *expected)
{
	char path[64];
	CU_ASSERT_EQUAL(walk(w, source, NULL, path, sizeof path), 0);
	CU_ASSERT_STRING_EQUAL(path, expected);
}

static struct trace_walker *begin(const char *functions, const char *body, uint32_t blocks)
{
	traced_code_make(&traced, functions, body, &(struct mapping_source){.counter_count = blocks, .entry = 0});
	return trace_walker_new(traced.code);
}

static void finish(struct trace_walker *w)
{
	trace_walker_free(w);
	traced_code_free(&traced);
}

/*
 * for (i = 0; i < n; i++) body, four times in a round of block 2, the rest in block 4:
 *   0: n == 0 -> 5      1: n < 4 -> 4      2: four bodies, again?      3: rest 0 -> 5      4: one body, again?      5: end
 */
static void an_unrolled_loop_has_a_remainder(void)
{
	struct trace_walker *w = begin("",
	    P(0) "@%p1 bra END;\n@%p2 bra REST;\n"
	    "MAIN:\n" P(1) "add.u32 %r1, %r1, 1;\n" P(1) "add.u32 %r1, %r1, 2;\n" P(1) "add.u32 %r1, %r1, 3;\n"
	    P(1) "add.u32 %r1, %r1, 4;\n@%p3 bra MAIN;\n@%p4 bra END;\n"
	    "REST:\n" P(1) "add.u32 %r1, %r1, 1;\n@%p5 bra REST;\n"
	    "END:\n" P(2) "ret;\n", 3);
	CU_ASSERT_EQUAL_FATAL(traced.code->block_count, 6);
	check(w, "02", "05");
	check(w, "0112", "01445");
	check(w, "011112", "01235");
	check(w, "01111112", "0123445");
	check(w, "0" "1111" "1111" "1111" "2", "0122235");
	check(w, "0" "1111" "1111" "1111" "1" "2", "01222345");
	finish(w);
}

/* The remainder may come first: 0 -> 1 (one body) up to three times, then 2 (four bodies). */
static void a_remainder_may_come_first(void)
{
	struct trace_walker *w = begin("",
	    P(0) "@%p1 bra MAIN;\n"
	    "REST:\n" P(1) "add.u32 %r1, %r1, 1;\n@%p5 bra REST;\n"
	    "MAIN:\n" P(1) "add.u32 %r1, %r1, 1;\n" P(1) "add.u32 %r1, %r1, 2;\n" P(1) "add.u32 %r1, %r1, 3;\n"
	    P(1) "add.u32 %r1, %r1, 4;\n@%p3 bra MAIN;\n"
	    P(2) "ret;\n", 3);
	check(w, "0" "111" "1111" "1111" "2", "0111223"); /* 11 = 3 + 2 * 4 */
	check(w, "0" "1111" "1111" "2", "0223");      /* 8 = 2 * 4 */
	finish(w);
}

/* if (a) then [1] else [2]; while (c) { if (d) continue; } ... a switch of three ways, one of which has no probe, and an early
 * return. */
static void branches_follow_the_trace(void)
{
	struct trace_walker *w = begin("",
	    P(0) "@%p1 bra ELSE;\n" P(1) "add.u32 %r1, %r1, 1;\nbra JOIN;\n" /* 0 1 */
	    "ELSE:\n" P(2) "add.u32 %r1, %r1, 2;\n"                           /* 2 */
	    "JOIN:\nadd.u32 %r1, %r1, 3;\n@%p2 bra OUT;\n"                    /* 3 */
	    "LOOP:\n" P(3) "add.u32 %r1, %r1, 3;\n@%p3 bra NEXT;\n"           /* 4 */
	    P(4) "add.u32 %r1, %r1, 3;\n"                                     /* 5 */
	    "NEXT:\nadd.u32 %r1, %r1, 3;\n@%p4 bra LOOP;\n"                   /* 6 */
	    "OUT:\n" P(5) "ret;\n", 6);                                       /* 7 */
	check(w, "015", "0137");
	check(w, "02334" "335", "023" "46" "456" "46" "46" "7");
	check(w, "01345", "013" "456" "7");
	finish(w);
}

/* Only the counts of edges say whether block 1 ran. It is skipped, unless the other way was never taken. */
static void counts_tell_what_probes_do_not(void)
{
	char path[64];
	struct trace_walker *w = begin("", P(0) "@%p1 bra A;\nadd.u32 %r1, %r1, 1;\nA:\nadd.u32 %r1, %r1, 2;\n" P(1) "ret;\n", 2);
	const struct code_block *b = &traced.code->blocks[0];
	double edges[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	check(w, "01", "02");
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count; e++)
		edges[e] = traced.code->edges[e].to == 2 ? 0 : 1;
	CU_ASSERT_EQUAL(walk(w, "01", edges, path, sizeof path), 0);
	CU_ASSERT_STRING_EQUAL(path, "012");
	finish(w);
}

static void calls_return_to_their_callers(void)
{
	struct trace_walker *w = begin(".func f()\n{\n.reg .b32 %r<9>;\n.reg .pred %p<9>;\n" P(3)
	                               "@%p1 bra B;\n" P(4) "add.u32 %r1, %r1, 1;\nB: ret;\n}\n",
	                               P(0) "call f, ();\n" P(1) "call f, ();\n" P(2) "ret;\n", 5);
	/* the kernel's blocks are 0, 1, 2; those of f 3, 4, 5 */
	CU_ASSERT_EQUAL_FATAL(traced.code->block_count, 6);
	check(w, "034132", "0345" "135" "2");
	check(w, "0313" "42", "035" "1345" "2");
	finish(w);
}

/* Only the trace knows which function a call by address calls. */
static void the_trace_tells_which_function_is_called(void)
{
	struct trace_walker *w = begin(".func f()\n{\n" P(3) "ret;\n}\n.func g()\n{\n" P(4) "ret;\n}\n",
	                               P(0) "mov.u64 %rd1, f;\nmov.u64 %rd2, g;\nkind: .callprototype _ ();\ncall %rd1, (), kind;\n"
	                               P(1) "call %rd2, (), kind;\n" P(2) "ret;\n", 5);
	CU_ASSERT_EQUAL_FATAL(traced.code->block_count, 5);
	CU_ASSERT_EQUAL(traced.code->blocks[0].call, CODE_CALL_ANY);
	check(w, "03142", "03142");
	check(w, "04132", "04132");
	check(w, "03132", "03132");
	finish(w);
}

/* One of the two copies of the body has lost its probe. The trace has more bodies than the probes show. */
static void lost_probes_are_passed_over(void)
{
	struct trace_walker *w = begin("", P(0) "add.u32 %r1, %r1, 1;\n" "LOOP:\n" P(1) "add.u32 %r1, %r1, 3;\n"
	                               P(2) "add.u32 %r1, %r1, 3;\n@%p4 bra LOOP;\n" P(3) "ret;\n", 4);
	check(w, "0112" "112" "3", "0" "1" "1" "2");
	finish(w);
}

static void what_disagrees_is_told(void)
{
	char path[64];
	struct trace_walker *w = begin("", P(0) "add.u32 %r1, %r1, 1;\n" P(1) "ret;\n", 3);
	CU_ASSERT_TRUE(trace_walker_knows(w, 1));
	CU_ASSERT_FALSE(trace_walker_knows(w, 2));
	CU_ASSERT_EQUAL(walk(w, "10", NULL, path, sizeof path), -ENOENT);
	CU_ASSERT_STRING_EQUAL(path, "");
	check(w, "01", "0");
	trace_walker_ignore(w, 1);
	check(w, "0", "0");
	finish(w);
}

void add_trace_walk_tests(void)
{
	CU_pSuite suite = CU_add_suite("trace walk", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(an_unrolled_loop_has_a_remainder);
	TEST(a_remainder_may_come_first);
	TEST(branches_follow_the_trace);
	TEST(counts_tell_what_probes_do_not);
	TEST(calls_return_to_their_callers);
	TEST(the_trace_tells_which_function_is_called);
	TEST(lost_probes_are_passed_over);
	TEST(what_disagrees_is_told);
#undef TEST
}
