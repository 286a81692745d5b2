/* What machine instructions take of a scheduler beyond a turn, on an H200: the cycles from one instruction to the next of a warp. */
#include "tests/tests.h"

#include "tests/models/scene.h"

enum { WIDE = 8, HALF = 2, EVENT_COUNT = 3 };

struct event {
	enum code_class class;
	const char *operands;
	uint8_t bytes, stall, kept;
	uint8_t flags;
};

static struct event event(enum code_class class, const char *operands)
{
	return (struct event){.class = class, .operands = operands};
}

enum { FIRST_PAIR = 50 }; /* registers from here on have two words */

/* From the issue of the first to that of the last; whatever was fetched by then. */
static uint64_t cycles_between(const struct event *events, int count, enum code_origin origin)
{
	static struct scene s;
	scene_start(&s, "h200", "fetch_width=16,instruction_buffer_entries=16");
	s.code.code.origin = origin;
	for (int r = FIRST_PAIR; r < BUILD_REGISTERS && origin == CODE_SELECTED; r++)
		s.code.registers[r].words = 2;
	for (int i = 0; i < count; i++) {
		bool memory = events[i].class == CODE_load;
		struct code_instruction *in = memory ? build_memory(&s.code, CODE_load, SPACE_shared, events[i].operands)
		                                     : build(&s.code, events[i].class, events[i].operands);
		in->bytes = memory ? 4 : events[i].bytes;
		in->stall = events[i].stall;
		in->kept = events[i].kept;
		in->flags |= events[i].flags;
	}
	scene_exit(&s);
	scene_run(&s);
	CU_ASSERT_TRUE_FATAL(s.issue_count >= (size_t)count);
	return s.issues[count - 1].cycle - s.issues[0].cycle;
}

static uint64_t cycles_after(struct event first, struct event second)
{
	const struct event both[] = {first, second};
	return cycles_between(both, 2, CODE_ASSEMBLED);
}

/* A load reads register 23. What reads an odd register waits for a cycle, what reads an even one does not. */
static void test_operands_are_read_in_turn(void)
{
	struct event load = event(CODE_load, "40 <- 23"), odd = event(CODE_fp32, "41 <- 3"), even = event(CODE_fp32, "41 <- 2");
	CU_ASSERT_EQUAL(cycles_after(load, odd), 2);
	CU_ASSERT_EQUAL(cycles_after(load, even), 1);
	const struct event other[] = {load, odd};
	CU_ASSERT_EQUAL(cycles_between(other, 2, CODE_OF_TRACE), 1);
	/* Of a pair, the second is read a cycle later. */
	CU_ASSERT_EQUAL(cycles_after(event(CODE_load, "40 <- 10 11"), odd), 3);
	CU_ASSERT_EQUAL(cycles_after(event(CODE_load, "40 <- 10 11"), even), 2);
	CU_ASSERT_EQUAL(cycles_after(event(CODE_sfu, "40 <- 3"), odd), 2);
}

static void test_halves(void)
{
	struct event product = event(CODE_int_mad, "40 <- 2 3"), sum = event(CODE_fp32, "41 <- 2 3");
	struct event half = event(CODE_fp32_fma, "42 <-"), wide = event(CODE_int_mad, "43 <-");
	half.bytes = HALF;
	wide.bytes = WIDE;
	struct event others[] = {event(CODE_int_mad, "44 <- 2 3"), half, event(CODE_fp32, "46 <- 2 3"), wide};
	others[1].operands = "45 <-";
	others[3].operands = "47 <-";
	CU_ASSERT_EQUAL(cycles_after(product, others[0]), 2);
	CU_ASSERT_EQUAL(cycles_after(half, others[1]), 2);
	CU_ASSERT_EQUAL(cycles_after(product, sum), 1);
	CU_ASSERT_EQUAL(cycles_after(product, half), 1);
	CU_ASSERT_EQUAL(cycles_after(sum, others[2]), 1);
	CU_ASSERT_EQUAL(cycles_after(wide, event(CODE_nop, "")), 3);
	CU_ASSERT_EQUAL(cycles_after(wide, others[3]), 4);
}

/* Of selected code, products take a half, those with a result of two words for four cycles. Which bank a load's register is in is not known. */
static void test_selected_code(void)
{
	struct event none = event(CODE_nop, "");
	const struct event wide[] = {event(CODE_int_mad, "50 <-"), none}, narrow[] = {event(CODE_int_mad, "40 <-"), none};
	const struct event products[] = {event(CODE_int_mad, "40 <-"), event(CODE_int_mad, "41 <-")};
	const struct event load[] = {event(CODE_load, "40 <- 23"), event(CODE_fp32, "41 <- 3")};
	CU_ASSERT_EQUAL(cycles_between(wide, 2, CODE_SELECTED), 3);
	CU_ASSERT_EQUAL(cycles_between(narrow, 2, CODE_SELECTED), 1);
	CU_ASSERT_EQUAL(cycles_between(products, 2, CODE_SELECTED), 2);
	CU_ASSERT_EQUAL(cycles_between(load, 2, CODE_SELECTED), 1);
}

/* A trace says by names what has 64 bits and what are halves; banks are not known. */
static void test_traced_code(void)
{
	struct event none = event(CODE_nop, ""), half = event(CODE_fp32_fma, "41 <-"), other = event(CODE_fp32_fma, "42 <-");
	half.bytes = other.bytes = HALF;
	struct event wide[] = {event(CODE_int_mad, "40 <-"), none};
	const struct event products[] = {event(CODE_int_mad, "40 <-"), event(CODE_int_mad, "41 <-")}, halves[] = {half, other};
	const struct event load[] = {event(CODE_load, "40 <- 23"), event(CODE_fp32, "41 <- 3")};
	CU_ASSERT_EQUAL(cycles_between(wide, 2, CODE_OF_TRACE), 1);
	wide[0].bytes = WIDE;
	CU_ASSERT_EQUAL(cycles_between(wide, 2, CODE_OF_TRACE), 3);
	CU_ASSERT_EQUAL(cycles_between(products, 2, CODE_OF_TRACE), 2);
	CU_ASSERT_EQUAL(cycles_between(halves, 2, CODE_OF_TRACE), 2);
	CU_ASSERT_EQUAL(cycles_between(load, 2, CODE_OF_TRACE), 1);
}

static void test_gathering_lanes(void)
{
	struct event gathers = event(CODE_branch, "");
	gathers.flags = CODE_EXPANDED | CODE_UNIFORM;
	const struct event two[] = {gathers, event(CODE_nop, ""), gathers};
	CU_ASSERT_EQUAL(cycles_between(two, 2, CODE_ASSEMBLED), 1);
	CU_ASSERT_EQUAL(cycles_between(two, EVENT_COUNT, CODE_ASSEMBLED), 4);
}

/* Two of the three operands are in one bank, so that every instruction takes two cycles once the window of three is full. A trace has no flags, and all operands are taken
 * to stay. */
static void test_kept_operands(void)
{
	enum { COUNT = 16 };
	struct event sums[COUNT];
	for (int i = 0; i < COUNT; i++)
		sums[i] = event(CODE_fp32_fma, i % 4 == 0 ? "40 <- 2 3 4" : i % 4 == 1 ? "41 <- 2 3 4" : i % 4 == 2 ? "42 <- 2 3 4" : "43 <- 2 3 4");
	uint64_t again = cycles_between(sums, COUNT, CODE_ASSEMBLED);
	CU_ASSERT_EQUAL(cycles_between(sums, COUNT, CODE_OF_TRACE), COUNT - 1);
	for (int i = 0; i < COUNT; i++)
		sums[i].kept = 1;
	CU_ASSERT_TRUE(again >= 2 * COUNT - 6);
	CU_ASSERT_EQUAL(cycles_between(sums, COUNT, CODE_ASSEMBLED), COUNT - 1);
}

/* The result takes as long as ever, and the next instruction waits for the stall: register 50. */
static void test_stalls_apart(void)
{
	struct event load = event(CODE_load, "40 <- 23 ? 50"), next = event(CODE_nop, "? 50"), user = event(CODE_nop, "? 40 50");
	uint64_t loaded = cycles_after(load, user);
	load.stall = 6 | CODE_STALL_APART;
	CU_ASSERT_EQUAL(cycles_after(load, next), 6);
	CU_ASSERT_EQUAL(cycles_after(load, user), loaded);
}

void add_needs_tests(void)
{
	CU_pSuite suite = CU_add_suite("needs", NULL, NULL);
	CU_add_test(suite, "operands for a queue are read one after the other", test_operands_are_read_in_turn);
	CU_add_test(suite, "products take a half of the units", test_halves);
	CU_add_test(suite, "products of selected code take a half of the units", test_selected_code);
	CU_add_test(suite, "products of a trace take a half of the units", test_traced_code);
	CU_add_test(suite, "what gathers lanes has a unit", test_gathering_lanes);
	CU_add_test(suite, "only what the assembler says stays at hand", test_kept_operands);
	CU_add_test(suite, "a stall of an instruction with a barrier", test_stalls_apart);
}
