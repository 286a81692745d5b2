/* Loops that fetch work from a queue: who has done less fetches more, as on hardware. */
#include "tests/annotator/lift/run_kernel.h"

#define QUEUE ".global .align 4 .u32 queue = 0;\n"

/* %r5 counts what a thread fetched, and %r9 is how often it goes around for each. */
#define BUSY "mov.u32 %r6, 0;\nBUSY:\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p5, %r6, %r9;\n@%p5 bra BUSY;\nadd.u32 %r5, %r5, 1;\n"
#define OUT "OUT:\nst.global.u32 [%rd1], %r5;\nret;\n"

/* A thread fetches for its group, which reads in shared memory what it got. `slow`: what %r9 is multiplied with in group 0. */
#define TILES(items, slow) \
	".shared .align 4 .b32 s[1];\n" BEGIN "mov.u32 %r5, 0;\nmov.u64 %rd5, queue;\nsetp.eq.u32 %p3, %r30, 0;\nselp.u32 %r9, " slow "00, 100, %p3;\n" \
	"setp.ne.u32 %p1, %r0, 0;\nNEXT:\n@%p1 bra MEET;\natom.global.add.u32 %r1, [%rd5], 1;\nst.shared.u32 [s], %r1;\n" \
	"MEET:\nbar.sync 0;\nld.shared.u32 %r2, [s];\nbar.sync 0;\nsetp.ge.u32 %p2, %r2, " items ";\n@%p2 bra OUT;\n" BUSY "bra NEXT;\n" OUT

static const char *const each_group_fetches = HEAD QUEUE KERNEL(TILES("100", "1"));

static void run_held(const char *ptx, uint32_t groups, uint32_t threads, uint32_t held)
{
	most_held = held;
	run(ptx, groups, threads);
	most_held = 0;
}

static void groups_share_a_queue(void)
{
	run_held(each_group_fetches, 4, 64, 4);
	CHECK_WORDS(256, 25);
}

static void slow_groups_fetch_less(void)
{
	/* 3 instructions each time around, 1000 times instead of 100, and some 75 for fetching: while group 0 has one, each of the others has 8.2,
	 * so that 310 items are 12 and three times 99. */
	run_held(HEAD QUEUE KERNEL(TILES("310", "10")), 4, 64, 4);
	CU_ASSERT(words[0] >= 12 && words[0] <= 13);
	for (uint32_t i = 64; i < 256; i += 64)
		CU_ASSERT(words[i] >= 98 && words[i] <= 101);
	CU_ASSERT_EQUAL(words[0] + words[64] + words[128] + words[192], 310);
}

/* As above, but warp 1 alone is slow: the others wait for it at the barrier. */
static void groups_with_a_slow_warp_fetch_less(void)
{
	run_held(HEAD QUEUE KERNEL(".shared .align 4 .b32 s[1];\n" BEGIN
	                           "mov.u32 %r5, 0;\nmov.u64 %rd5, queue;\nsetp.eq.u32 %p3, %r30, 0;\nsetp.ge.u32 %p4, %r0, 32;\nand.pred %p3, %p3, %p4;\n"
	                           "selp.u32 %r9, 1000, 100, %p3;\nsetp.ne.u32 %p1, %r0, 0;\nNEXT:\n@%p1 bra MEET;\natom.global.add.u32 %r1, [%rd5], 1;\n"
	                           "st.shared.u32 [s], %r1;\nMEET:\nbar.sync 0;\nld.shared.u32 %r2, [s];\nbar.sync 0;\nsetp.ge.u32 %p2, %r2, 310;\n@%p2 bra OUT;\n" BUSY
	                           "bra NEXT;\n" OUT), 4, 64, 4);
	CU_ASSERT(words[0] >= 12 && words[0] <= 14);
	CU_ASSERT_EQUAL(words[0] + words[64] + words[128] + words[192], 310);
}

static void groups_that_begin_late_find_nothing(void)
{
	run_held(each_group_fetches, 5, 64, 2);
	CHECK_WORDS(320, i < 128 ? 50 : 0);
}

/* Alone, a group takes all that there is. */
static void one_group_at_a_time_takes_all(void)
{
	run_held(each_group_fetches, 3, 64, 1);
	CHECK_WORDS(192, i < 64 ? 100 : 0);
}

#define OF_WARPS \
	".shared .align 4 .b32 s[1];\n" BEGIN "mov.u32 %r5, 0;\nand.b32 %r7, %r0, 31;\nsetp.lt.u32 %p3, %r0, 32;\nselp.u32 %r9, 1000, 200, %p3;\n" \
	"setp.eq.u32 %p4, %r0, 0;\n@%p4 st.shared.u32 [s], 0;\nbar.sync 0;\nsetp.ne.u32 %p1, %r7, 0;\nNEXT:\n@%p1 bra MEET;\n" \
	"atom.shared.add.u32 %r1, [s], 1;\nMEET:\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nsetp.ge.u32 %p2, %r2, 64;\n@%p2 bra OUT;\n" BUSY "bra NEXT;\n" OUT

static void warps_share_a_queue_of_their_group(void)
{
	/* 5 times as much for each in warp 0: 64 items are 4 for it and 20 for each of the others. */
	run(HEAD KERNEL(OF_WARPS), 1, 128);
	CU_ASSERT(words[0] >= 4 && words[0] <= 5);
	for (uint32_t i = 32; i < 128; i += 32)
		CU_ASSERT(words[i] >= 19 && words[i] <= 21);
	CHECK_WORDS(128, words[i / 32 * 32]);
}

static void threads_share_a_queue(void)
{
	run_held(HEAD QUEUE KERNEL(BEGIN "mov.u32 %r5, 0;\nmov.u32 %r9, 200;\nmov.u64 %rd5, queue;\nNEXT:\natom.global.add.u32 %r1, [%rd5], 1;\n"
	                                 "setp.ge.u32 %p2, %r1, 1280;\n@%p2 bra OUT;\n" BUSY "bra NEXT;\n" OUT), 4, 32, 4);
	CHECK_WORDS(128, 10);
}

/* ---- what is found ---- */

static bool expected_waits, expected_fetches;

static void look_at_kind(const struct lift_runner *r, const struct lift_run *run)
{
	(void)run;
	CU_ASSERT_EQUAL(runner_kernel(r, "k")->waits, expected_waits);
	CU_ASSERT_EQUAL(runner_kernel(r, "k")->fetches, expected_fetches);
}

static void check_kind(const char *ptx, bool waits, bool fetches)
{
	expected_waits = waits;
	expected_fetches = fetches;
	run_and(ptx, 1, 64, look_at_kind);
	CU_ASSERT_EQUAL(fault.kind, LIFTED_NO_FAULT);
}

#define LOOP(atomic, end) \
	HEAD QUEUE KERNEL(".shared .align 4 .b32 s[2];\n" BEGIN "mov.u32 %r5, 0;\nmov.u32 %r8, 1;\nmov.u64 %rd5, queue;\nNEXT:\n" atomic "add.u32 %r5, %r5, 1;\n" end \
	                  "@%p2 bra NEXT;\n" OUT)

static void queues_are_found(void)
{
	check_kind(each_group_fetches, false, true);
	check_kind(HEAD KERNEL(OF_WARPS), false, false); /* it has one, but groups do not share it */
	check_kind(LOOP("atom.global.add.u32 %r1, [%rd5], 1;\n", "setp.lt.u32 %p2, %r1, 9;\n"), false, true);
	check_kind(LOOP("atom.global.inc.u32 %r1, [%rd5], 1000;\n", "setp.lt.u32 %p2, %r1, 9;\n"), false, true);
	/* Nobody knows whether it adds: it may wait as well. */
	check_kind(LOOP("atom.global.add.u32 %r1, [%rd5], %r8;\n", "setp.lt.u32 %p2, %r1, 9;\n"), true, true);
}

static void other_loops_have_no_queue(void)
{
	/* It reads; the result does not end the loop; what ends it is in another place of shared memory; it swaps. */
	check_kind(LOOP("atom.global.add.u32 %r1, [%rd5], 0;\n", "setp.gt.u32 %p2, %r1, 9;\n"), true, false);
	check_kind(LOOP("atom.global.add.u32 %r1, [%rd5], 1;\n", "setp.lt.u32 %p2, %r5, 9;\n"), false, false);
	check_kind(LOOP("atom.global.add.u32 %r1, [%rd5], 1;\nst.shared.u32 [s], %r1;\nst.shared.u32 [s+4], %r5;\nld.shared.u32 %r2, [s+4];\n", "setp.lt.u32 %p2, %r2, 9;\n"),
	           false, false);
	check_kind(LOOP("atom.global.exch.b32 %r1, [%rd5], 1;\n", "setp.gt.u32 %p2, %r1, 9;\n"), true, false);
}

void add_queues_tests(void)
{
	CU_pSuite suite = CU_add_suite("queues", NULL, NULL);
	CU_add_test(suite, "groups share a queue", groups_share_a_queue);
	CU_add_test(suite, "slow groups fetch less", slow_groups_fetch_less);
	CU_add_test(suite, "groups with a slow warp fetch less", groups_with_a_slow_warp_fetch_less);
	CU_add_test(suite, "groups that begin late find nothing", groups_that_begin_late_find_nothing);
	CU_add_test(suite, "one group at a time takes all", one_group_at_a_time_takes_all);
	CU_add_test(suite, "warps share a queue of their group", warps_share_a_queue_of_their_group);
	CU_add_test(suite, "threads share a queue", threads_share_a_queue);
	CU_add_test(suite, "queues are found", queues_are_found);
	CU_add_test(suite, "other loops have no queue", other_loops_have_no_queue);
}
