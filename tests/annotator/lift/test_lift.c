/*
 * Whole kernels of PTX, lifted and run on the CPU device: control flow, barriers, calls. Every kernel writes one word for each thread to the
 * buffer that is its parameter. Expected values are computed here, from what the PTX says.
 */
#include "tests/tests.h"

#include "tests/annotator/lift/run_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes that access neighbouring elements ---- */

static void numbers_that_wrap_between_lanes_are_extended_one_by_one(void)
{
	/* From lane 16 on the sum is negative, and has other upper bits. */
	run(HEAD KERNEL(BEGIN "add.s32 %r1, %r0, 0x7ffffff0;\ncvt.s64.s32 %rd3, %r1;\nshr.u64 %rd4, %rd3, 28;\ncvt.u32.u64 %r2, %rd4;\n"
	                      "st.global.u32 [%rd1], %r2;\nret;\n"), 1, 64);
	CHECK_WORDS(64, (uint64_t)(int64_t)(int32_t)(i + 0x7ffffff0u) >> 28);
}

/* Blocks of x * y * z threads, with rows of 48 words: (z * ny + y) * 48 + x is the word of a thread. */
#define ROW_OF_THREAD \
	"ld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %tid.y;\nmov.u32 %r2, %tid.z;\nmov.u32 %r4, %ntid.y;\n" \
	"mad.lo.s32 %r5, %r2, %r4, %r1;\nmad.lo.s32 %r3, %r5, 48, %r0;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd1, %rd0, %rd2;\n"

static void run_block(const char *ptx, uint32_t x, uint32_t y, uint32_t z)
{
	struct lift_runner *r = NULL;
	struct gs_error err = {""};
	uint64_t address = (uint64_t)words;
	const void *arguments[] = {&address};
	struct lift_run own = {.kernel = "k", .block = {x, y, z}, .grid = {1, 1, 1}, .arguments = arguments, .argument_count = 1};
	memset(words, 0xff, sizeof words);
	CU_ASSERT_EQUAL_FATAL(runner_create(ptx, strlen(ptx), LIFT_COUNTING, &r, &err), 0);
	CU_ASSERT_EQUAL_FATAL(runner_run(r, &own, &err), 0);
	runner_run_free(&own);
	runner_free(r);
}

static void lanes_of_several_rows_are_not_neighbours(void)
{
	static const uint32_t blocks[][3] = {{20, 3, 1}, {16, 4, 1}, {48, 2, 1}, {32, 3, 1}, {16, 3, 4}, {8, 4, 2}, {64, 1, 1}};
	for (size_t b = 0; b < GS_ARRAY_LEN(blocks); b++) {
		const uint32_t *n = blocks[b];
		run_block(HEAD KERNEL(ROW_OF_THREAD "mad.lo.s32 %r7, %r1, 100, %r0;\nmad.lo.s32 %r8, %r2, 10000, %r7;\nst.global.u32 [%rd1], %r8;\nret;\n"),
		          n[0], n[1], n[2]);
		if (n[0] > 48)
			CHECK_WORDS(64, i);
		else
			CHECK_WORDS(48 * n[1] * n[2], i % 48 < n[0] ? i / 48 / n[1] * 10000 + i / 48 % n[1] * 100 + i % 48 : 0xffffffffu);
	}
}

static void lanes_before_those_that_wrap_run_once(void)
{
	/* The sum wraps in lane 8 of the second row of 16. Each thread adds to its word, which begins with -1. */
	run_block(HEAD KERNEL(ROW_OF_THREAD "mad.lo.s32 %r6, %r1, 40, %r0;\nadd.s32 %r6, %r6, 0x7fffffd0;\ncvt.s64.s32 %rd3, %r6;\n"
	                                    "shr.u64 %rd4, %rd3, 28;\ncvt.u32.u64 %r7, %rd4;\nld.global.u32 %r8, [%rd1];\nadd.u32 %r8, %r8, %r7;\n"
	                                    "st.global.u32 [%rd1], %r8;\nret;\n"), 16, 4, 1);
	CHECK_WORDS(48 * 4, i % 48 < 16 ? ((uint64_t)(int64_t)(int32_t)(i / 48 * 40 + i % 48 + 0x7fffffd0u) >> 28) - 1 : 0xffffffffu);
}

/* ---- several groups of one work-item ---- */

static void all_groups_run_once(void)
{
	struct lifted_launch l = {0};
	run(HEAD KERNEL(BEGIN "ld.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, %r32;\nst.global.u32 [%rd1], %r1;\nret;\n"), 340, 3);
	CHECK_WORDS(MOST_THREADS, i < 1020 ? i - 1 : 0xffffffffu);
	/* 1000 groups on 2 threads with 16 work-items each: 31 groups are one work-item's, and the last one has the 8 that are left. */
	CU_ASSERT_EQUAL(lifted_items(&l, 1000, 2, false), 33);
	CU_ASSERT_EQUAL(l.each, 31);
	CU_ASSERT_EQUAL(l.count, 1000);
	CU_ASSERT_EQUAL(lifted_items(&l, 1000, 2, true), 1000);
	CU_ASSERT_EQUAL(lifted_items(&l, 5, 64, false), 5);
	CU_ASSERT_EQUAL(lifted_items(&l, 1 << 17, 1, false), (1 << 17) / 64);
	CU_ASSERT_EQUAL(lifted_items(&l, 1 << 20, 1, false), LIFTED_ITEMS);
	CU_ASSERT_EQUAL(l.each, 256);
}

/* ---- large kernels ---- */

/* A kernel of more instructions than fit in one function: rounds with a barrier, a branch, a shuffle and a loop. */
static void kernels_in_pieces_do_the_same(void)
{
	enum { ROUNDS = 60, THREADS = 96 };
	struct gs_buf ptx = {0};
	gs_buf_puts(&ptx, HEAD ".shared .align 4 .b8 s[512];\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<20>;\n.reg .b32 %r<40>;\n"
	                  ".reg .b64 %rd<20>;\n" BEGIN "shl.b32 %r1, %r0, 2;\nmov.u32 %r2, s;\nadd.u32 %r3, %r2, %r1;\nxor.b32 %r4, %r1, 4;\n"
	                  "add.u32 %r5, %r2, %r4;\nmov.u32 %r6, %r0;\n");
	for (int n = 0; n < ROUNDS; n++)
		gs_buf_printf(&ptx,
		              "st.shared.u32 [%%r3], %%r6;\nbar.sync 0;\nld.shared.u32 %%r7, [%%r5];\nbar.sync 0;\nmad.lo.u32 %%r6, %%r6, 3, %%r7;\n"
		              "and.b32 %%r8, %%r6, %d;\nsetp.eq.u32 %%p1, %%r8, 0;\n@%%p1 bra L%d;\nadd.u32 %%r6, %%r6, %d;\nL%d:\n"
		              "shfl.sync.bfly.b32 %%r9, %%r6, 2, 31, -1;\nxor.b32 %%r6, %%r6, %%r9;\nadd.u32 %%r6, %%r6, %%r0;\n", n % 7 + 1, n, n, n);
	gs_buf_puts(&ptx, "st.global.u32 [%rd1], %r6;\nret;\n}\n");
	run(ptx.data, 1, THREADS);
	uint32_t value[THREADS], before[THREADS];
	for (uint32_t i = 0; i < THREADS; i++)
		value[i] = i;
	for (uint32_t n = 0; n < ROUNDS; n++) {
		memcpy(before, value, sizeof before);
		for (uint32_t i = 0; i < THREADS; i++) {
			value[i] = before[i] * 3 + before[i ^ 1];
			value[i] += value[i] & (n % 7 + 1) ? n : 0;
		}
		memcpy(before, value, sizeof before);
		for (uint32_t i = 0; i < THREADS; i++)
			value[i] = (before[i] ^ before[i ^ 2]) + i;
	}
	CHECK_WORDS(THREADS, value[i]);
	gs_buf_free(&ptx);
}

/* Of so many additions and shuffles, whether the kernel is taken for one of warps. */
static bool is_of_warps(int additions, int shuffles)
{
	struct gs_buf ptx = {0};
	struct lift_runner *r = NULL;
	struct gs_error err;
	gs_buf_puts(&ptx, HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n" BEGIN "mov.u32 %r6, %r0;\n");
	for (int n = 0; n < additions; n++)
		gs_buf_puts(&ptx, "add.u32 %r6, %r6, 3;\n");
	for (int n = 0; n < shuffles; n++)
		gs_buf_puts(&ptx, "shfl.sync.bfly.b32 %r6, %r6, 2, 31, -1;\n");
	gs_buf_puts(&ptx, "st.global.u32 [%rd1], %r6;\nret;\n}\n");
	CU_ASSERT_EQUAL_FATAL(runner_create(ptx.data, ptx.len, LIFT_TRACING, &r, &err), 0);
	bool result = runner_kernel(r, "k")->of_warps;
	runner_free(r);
	gs_buf_free(&ptx);
	return result;
}

static void one_shuffle_in_32_instructions_is_much(void)
{
	CU_ASSERT(!is_of_warps(500, 0));
	CU_ASSERT(!is_of_warps(500, 10)); /* 510 / 32 is 15 */
	CU_ASSERT(is_of_warps(500, 20));
	CU_ASSERT(!is_of_warps(100, 100)); /* small */
}

/* ---- lanes that go different ways ---- */

static void loops_end_lane_by_lane(void)
{
	/* Sums 0 to t - 1 in a loop of t iterations. */
	run(HEAD KERNEL(BEGIN "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nTOP:\nsetp.ge.u32 %p1, %r2, %r0;\n@%p1 bra DONE;\nadd.u32 %r1, %r1, %r2;\n"
	                      "add.u32 %r2, %r2, 1;\nbra TOP;\nDONE:\nst.global.u32 [%rd1], %r1;\nret;\n"), 2, 70);
	CHECK_WORDS(140, (i % 70) * (i % 70 - 1) / 2);
}

static void lanes_may_part_in_every_iteration(void)
{
	/* In each of 500 iterations, half of the lanes add 3, the others 5, and then the other way round: far more often than a stack is deep. */
	run(HEAD KERNEL(BEGIN "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nTOP:\nadd.u32 %r3, %r2, %r0;\nand.b32 %r3, %r3, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
	                      "@%p1 bra EVEN;\nadd.u32 %r1, %r1, 3;\nbra NEXT;\nEVEN:\nadd.u32 %r1, %r1, 5;\nNEXT:\nadd.u32 %r2, %r2, 1;\n"
	                      "setp.lt.u32 %p2, %r2, 500;\n@%p2 bra TOP;\nst.global.u32 [%rd1], %r1;\nret;\n"), 1, 40);
	CHECK_WORDS(40, 250 * 3 + 250 * 5);
}

static void branches_nest(void)
{
	/* 10 for even threads below 16, 20 for odd ones, 30 and 40 above; then all add 1. */
	run(HEAD KERNEL(BEGIN "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r0, 16;\n@!%p2 bra HIGH;\n@%p1 bra A;\n"
	                      "mov.u32 %r2, 20;\nbra JOIN1;\nA:\nmov.u32 %r2, 10;\nJOIN1:\nbra JOIN2;\nHIGH:\n@%p1 bra B;\nmov.u32 %r2, 40;\nbra JOIN2;\n"
	                      "B:\nmov.u32 %r2, 30;\nJOIN2:\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd1], %r2;\nret;\n"), 1, 32);
	CHECK_WORDS(32, (i < 16 ? (i % 2 ? 20 : 10) : (i % 2 ? 40 : 30)) + 1);
}

static void tables_lead_each_lane_to_its_label(void)
{
	run(HEAD KERNEL(BEGIN "rem.u32 %r1, %r0, 3;\nTABLE: .branchtargets L0, L1, L2;\nbrx.idx %r1, TABLE;\nL0:\nmov.u32 %r2, 100;\nbra END;\n"
	                      "L1:\nmov.u32 %r2, 200;\nbra END;\nL2:\nmov.u32 %r2, 300;\nEND:\nadd.u32 %r2, %r2, %r0;\nst.global.u32 [%rd1], %r2;\nret;\n"),
	    1, 40);
	CHECK_WORDS(40, (i % 3 + 1) * 100 + i);
}

static void lanes_meet_again_after_branches(void)
{
	/* A ballot after the join sees all lanes; one inside sees its side only. */
	run(HEAD KERNEL(BEGIN "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra LOW;\nactivemask.b32 %r1;\nbra JOIN;\nLOW:\nactivemask.b32 %r1;\nJOIN:\n"
	                      "activemask.b32 %r2;\nxor.b32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;\nret;\n"), 1, 32);
	CHECK_WORDS(32, i < 8 ? 0xffffff00u : 0xffu);
}

static void guarded_ends_leave_the_others(void)
{
	run(HEAD KERNEL(BEGIN "setp.gt.u32 %p1, %r0, 20;\nst.global.u32 [%rd1], 1;\n@%p1 exit;\nst.global.u32 [%rd1], 2;\nsetp.gt.u32 %p2, %r0, 10;\n"
	                      "@%p2 ret;\nst.global.u32 [%rd1], 3;\nret;\n"), 1, 50);
	CHECK_WORDS(50, i > 20 ? 1 : i > 10 ? 2 : 3);
}

static void uniform_values_survive_divergence(void)
{
	/* %r5 is the same in all lanes before the branch. Lanes that wait still need the old value. */
	run(HEAD KERNEL(BEGIN "mov.u32 %r5, 7;\nsetp.lt.u32 %p1, %r0, 5;\n@%p1 bra LOW;\nmov.u32 %r5, 9;\nLOW:\nadd.u32 %r6, %r5, %r0;\n"
	                      "st.global.u32 [%rd1], %r6;\nret;\n"), 1, 32);
	CHECK_WORDS(32, (i < 5 ? 7 : 9) + i);
	/* A counter of a loop that lanes leave at different times. */
	run(HEAD KERNEL(BEGIN "mov.u32 %r5, 0;\nTOP:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r0;\n@%p1 bra TOP;\nst.global.u32 [%rd1], %r5;\nret;\n"),
	    1, 64);
	CHECK_WORDS(64, i < 1 ? 1 : i);
}

/* ---- barriers ---- */

#define SHARED ".shared .align 4 .b8 s[4096];\n"

static void barriers_order_warps(void)
{
	/* Thread t writes t to place t, and reads that of the thread opposite. */
	run(HEAD KERNEL(SHARED BEGIN "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r0;\nbar.sync 0;\n"
	                             "sub.u32 %r4, 255, %r0;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\nld.shared.u32 %r5, [%r4];\n"
	                             "st.global.u32 [%rd1], %r5;\nret;\n"), 3, 256);
	CHECK_WORDS(768, 255 - i % 256);
}

static void threads_may_end_before_a_barrier(void)
{
	/* Those from 40 on end. The others still meet, and see what all wrote. */
	run(HEAD KERNEL(SHARED BEGIN "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r0;\nsetp.ge.u32 %p1, %r0, 40;\n"
	                             "@%p1 bra OUT;\nbar.sync 0;\nsub.u32 %r4, 39, %r0;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\n"
	                             "ld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd1], %r5;\nOUT:\nret;\n"), 1, 128);
	CHECK_WORDS(128, i < 40 ? 39 - i : 0xffffffffu);
}

static void barriers_may_be_on_both_sides(void)
{
	/* Lanes of one warp wait at different barriers of the same number, as hardware since Volta allows. */
	run(HEAD KERNEL(SHARED BEGIN "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r0;\nand.b32 %r6, %r0, 1;\n"
	                             "setp.eq.u32 %p1, %r6, 0;\n@%p1 bra EVEN;\nbar.sync 0;\nmov.u32 %r7, 1000;\nbra JOIN;\nEVEN:\nbar.sync 0;\n"
	                             "mov.u32 %r7, 2000;\nJOIN:\nxor.b32 %r4, %r0, 63;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\n"
	                             "ld.shared.u32 %r5, [%r4];\nadd.u32 %r5, %r5, %r7;\nst.global.u32 [%rd1], %r5;\nret;\n"), 1, 64);
	CHECK_WORDS(64, (i ^ 63) + (i % 2 ? 1000 : 2000));
}

static void barriers_have_numbers_and_counts(void)
{
	/* Warp 0 waits for warp 1 at barrier 1, warp 1 only arrives; warps 2 and 3 meet at barrier 2. */
	run(HEAD KERNEL(SHARED BEGIN
	                "mov.u32 %r1, s;\nshr.u32 %r6, %r0, 5;\nsetp.eq.u32 %p0, %r6, 0;\nsetp.eq.u32 %p1, %r6, 1;\nshl.b32 %r2, %r0, 2;\n"
	                "add.u32 %r3, %r1, %r2;\n@%p0 bra FIRST;\n@%p1 bra SECOND;\nst.shared.u32 [%r3], %r0;\nbar.sync 2, 64;\nxor.b32 %r4, %r0, 32;\n"
	                "bra READ;\nFIRST:\nbar.sync 1, 64;\nadd.u32 %r4, %r0, 32;\nbra READ;\nSECOND:\nadd.u32 %r7, %r0, 500;\nst.shared.u32 [%r3], %r7;\n"
	                "bar.arrive 1, 64;\nmov.u32 %r4, %r0;\nREAD:\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\nld.shared.u32 %r5, [%r4];\n"
	                "st.global.u32 [%rd1], %r5;\nret;\n"), 1, 128);
	CHECK_WORDS(128, i < 32 ? i + 32 + 500 : i < 64 ? i + 500 : i ^ 32);
}

static void barriers_reduce(void)
{
	/* 30 threads of 70 have the predicate; nobody has all of them, somebody has one. */
	run(HEAD KERNEL(BEGIN "setp.lt.u32 %p1, %r0, 30;\nbar.red.popc.u32 %r1, 0, %p1;\nbar.red.and.pred %p2, 0, %p1;\nbar.red.or.pred %p3, 0, %p1;\n"
	                      "bar.red.and.pred %p4, 0, !%p1;\nselp.u32 %r2, 1000, 0, %p2;\nselp.u32 %r3, 2000, 0, %p3;\nselp.u32 %r4, 4000, 0, %p4;\n"
	                      "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\nst.global.u32 [%rd1], %r1;\nret;\n"), 2, 70);
	CHECK_WORDS(140, 30 + 2000);
}

static void values_survive_barriers_in_loops(void)
{
	/* Ten rounds: each thread adds its neighbour's last value. */
	run(HEAD KERNEL(SHARED BEGIN "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nadd.u32 %r4, %r0, 1;\nand.b32 %r4, %r4, 63;\n"
	                             "shl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\nmov.u32 %r5, 1;\nmov.u32 %r6, 0;\nTOP:\nst.shared.u32 [%r3], %r5;\n"
	                             "bar.sync 0;\nld.shared.u32 %r7, [%r4];\nbar.sync 0;\nadd.u32 %r5, %r5, %r7;\nadd.u32 %r6, %r6, 1;\n"
	                             "setp.lt.u32 %p1, %r6, 10;\n@%p1 bra TOP;\nst.global.u32 [%rd1], %r5;\nret;\n"), 1, 64);
	CHECK_WORDS(64, 1024);
}

static void a_barrier_that_never_opens_is_a_fault(void)
{
	/* Warp 0 waits for 96 threads, of which there are 64. */
	run_and(HEAD KERNEL(BEGIN "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra OUT;\nbar.sync 1, 96;\nOUT:\nret;\n"), 1, 64, NULL);
	CU_ASSERT_EQUAL(fault.kind, LIFTED_DEADLOCK);
}

/* ---- waiting for others ---- */

/* A lock: while (atomicCAS(lock, 0, 1) != 0); counter++; lock = 0. */
#define LOCK(expected) \
	HEAD ".global .align 4 .u32 lock = 0;\n.global .align 4 .u32 counter = 0;\n" KERNEL( \
	        BEGIN "mov.u64 %rd5, lock;\nmov.u64 %rd6, counter;\nTRY:\nmov.u32 %r4, 0;\nmov.u32 %r5, 1;\natom.global.cas.b32 %r1, [%rd5], " expected ", %r5;\n" \
	              "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra TRY;\n" \
	              "ld.volatile.global.u32 %r2, [%rd6];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%rd6], %r2;\nmembar.gl;\n" \
	              "atom.global.exch.b32 %r3, [%rd5], 0;\nst.global.u32 [%rd1], %r2;\nret;\n")

static void check_lock(const char *ptx)
{
	run(ptx, 1, 64);
	uint64_t seen[2] = {0};
	for (uint32_t i = 0; i < 64; i++)
		seen[0] |= words[i] - 1 < 64 ? UINT64_C(1) << (words[i] - 1) : 0;
	CU_ASSERT_EQUAL(seen[0], UINT64_MAX); /* each thread had a number of its own */
}

static void lanes_may_wait_for_lanes(void)
{
	check_lock(LOCK("0"));
	check_lock(LOCK("%r4")); /* as nvcc writes it in some kernels: the loop makes the constant */
}

static void warps_may_wait_for_warps(void)
{
	/* Warp 0 waits for a flag that warp 1 sets. */
	run(HEAD KERNEL(SHARED BEGIN "mov.u32 %r1, s;\nsetp.eq.u32 %p2, %r0, 0;\n@%p2 st.volatile.shared.u32 [%r1], 0;\nbar.sync 0;\n"
	                             "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra SET;\nWAIT:\nld.volatile.shared.u32 %r2, [%r1];\nsetp.eq.u32 %p3, %r2, 0;\n"
	                             "@%p3 bra WAIT;\nst.global.u32 [%rd1], %r2;\nret;\nSET:\nst.volatile.shared.u32 [%r1], 77;\nst.global.u32 [%rd1], 5;\nret;\n"),
	    2, 64);
	CHECK_WORDS(128, i % 64 < 32 ? 77 : 5);
}

/* Only its own group can open a barrier in shared memory. */
static void look_whether_it_waits_for_groups(const struct lift_runner *r, const struct lift_run *run)
{
	(void)run;
	CU_ASSERT_FALSE(runner_kernel(r, "k")->waits);
}

static void warps_may_meet_at_barriers_in_shared_memory(void)
{
	/* Two phases: each thread leaves a number for that of the next warp. */
	run_and(HEAD ".shared .align 8 .b64 b;\n.shared .align 4 .b32 s[96];\n" KERNEL(
	        BEGIN "mov.u32 %r1, b;\nmov.u32 %r2, s;\nmad.lo.u32 %r3, %r0, 4, %r2;\nadd.u32 %r4, %r0, 32;\nrem.u32 %r4, %r4, 96;\n"
	              "mad.lo.u32 %r5, %r4, 4, %r2;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra READY;\nmbarrier.init.shared.b64 [%r1], 96;\nREADY:\nbar.sync 0;\n"
	              "mad.lo.u32 %r6, %r0, 3, 1;\nst.shared.u32 [%r3], %r6;\nmbarrier.arrive.shared.b64 %rd3, [%r1];\n"
	              "FIRST:\nmbarrier.try_wait.shared.b64 %p2, [%r1], %rd3;\n@!%p2 bra FIRST;\nld.shared.u32 %r7, [%r5];\n"
	              "mbarrier.arrive.shared::cta.b64 %rd3, [%r1], 1;\n"
	              "SECOND:\nmbarrier.test_wait.parity.shared.b64 %p2, [%r1], 1;\n@!%p2 bra SECOND;\nst.shared.u32 [%r3], %r7;\nbar.sync 0;\n"
	              "ld.shared.u32 %r8, [%r5];\nst.global.u32 [%rd1], %r8;\nret;\n"), 1, 96, look_whether_it_waits_for_groups);
	CHECK_WORDS(96, (i + 64) % 96 * 3 + 1);
}

/* ---- calls ---- */

#define TWICE \
	".func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [a];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n"
#define CALL(function, argument, result) \
	"{\n.param .b32 p0;\n.param .b32 q0;\nst.param.b32 [p0], " argument ";\ncall.uni (q0), " function ", (p0);\nld.param.b32 " result ", [q0];\n}\n"

static void functions_take_and_return_values(void)
{
	run(HEAD TWICE KERNEL(BEGIN CALL("twice", "%r0", "%r1") CALL("twice", "%r1", "%r2") "st.global.u32 [%rd1], %r2;\nret;\n"), 2, 40);
	CHECK_WORDS(80, 4 * (i % 40));
}

/* Three warps, one after the other: what the first has passed to the function is not what the others pass. */
static void functions_are_called_from_kernels_in_pieces(void)
{
	enum { ADDITIONS = 700 };
	struct gs_buf ptx = {0};
	gs_buf_puts(&ptx, HEAD TWICE ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<20>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n" BEGIN
	                  CALL("twice", "%r0", "%r1"));
	for (int n = 0; n < ADDITIONS; n++)
		gs_buf_puts(&ptx, "add.u32 %r1, %r1, %r0;\n");
	gs_buf_puts(&ptx, CALL("twice", "%r1", "%r2") "st.global.u32 [%rd1], %r2;\nret;\n}\n");
	run(ptx.data, 1, 96);
	CHECK_WORDS(96, 2 * (2 + ADDITIONS) * i);
	gs_buf_free(&ptx);
}

static void some_lanes_may_call(void)
{
	run(HEAD TWICE KERNEL(BEGIN "mov.u32 %r1, 3;\nsetp.lt.u32 %p1, %r0, 9;\n@%p1 bra SKIP;\n" CALL("twice", "%r0", "%r1") "SKIP:\n"
	                            "st.global.u32 [%rd1], %r1;\nret;\n"), 1, 32);
	CHECK_WORDS(32, i < 9 ? 3 : 2 * i);
}

static void functions_may_call_themselves(void)
{
	/* fib(t % 12): lanes go to different depths, and keep their registers. */
	run(HEAD ".func (.param .b32 r) fib(.param .b32 a);\n"
	         ".func (.param .b32 r) fib(.param .b32 a)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<12>;\nld.param.u32 %r1, [a];\nsetp.lt.u32 %p1, %r1, 2;\n"
	         "@%p1 bra SMALL;\nsub.u32 %r2, %r1, 1;\nsub.u32 %r3, %r1, 2;\n" CALL("fib", "%r2", "%r4") CALL("fib", "%r3", "%r5")
	         "add.u32 %r6, %r4, %r5;\nst.param.b32 [r], %r6;\nret;\nSMALL:\nst.param.b32 [r], %r1;\nret;\n}\n" KERNEL(
	             BEGIN "rem.u32 %r1, %r0, 12;\n" CALL("fib", "%r1", "%r2") "st.global.u32 [%rd1], %r2;\nret;\n"), 1, 64);
	static const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
	CHECK_WORDS(64, fib[i % 12]);
}

static void calls_that_are_too_deep_are_a_fault(void)
{
	run_and(HEAD ".func (.param .b32 r) deep(.param .b32 a);\n"
	             ".func (.param .b32 r) deep(.param .b32 a)\n{\n.reg .b32 %r<12>;\nld.param.u32 %r1, [a];\n" CALL("deep", "%r1", "%r4")
	             "add.u32 %r4, %r4, %r1;\nst.param.b32 [r], %r4;\nret;\n}\n" KERNEL(BEGIN CALL("deep", "%r0", "%r2") "st.global.u32 [%rd1], %r2;\nret;\n"),
	        1, 32, NULL);
	CU_ASSERT_EQUAL(fault.kind, LIFTED_STACK);
}

static void calls_may_be_indirect(void)
{
	run(HEAD TWICE
	    ".func (.param .b32 r) next(.param .b32 a)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [a];\nadd.u32 %r2, %r1, 1;\nst.param.b32 [r], %r2;\nret;\n}\n"
	    ".global .align 8 .u64 table[2] = {twice, next};\n" KERNEL(
	        BEGIN "and.b32 %r1, %r0, 1;\nmul.wide.u32 %rd3, %r1, 8;\nmov.u64 %rd4, table;\nadd.s64 %rd4, %rd4, %rd3;\nld.global.u64 %rd5, [%rd4];\n"
	              "{\n.param .b32 p0;\n.param .b32 q0;\nst.param.b32 [p0], %r0;\nPROTO: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
	              "call (q0), %rd5, (p0), PROTO;\nld.param.b32 %r2, [q0];\n}\nst.global.u32 [%rd1], %r2;\nret;\n"), 1, 40);
	CHECK_WORDS(40, i % 2 ? i + 1 : 2 * i);
}

static void lanes_may_end_in_functions(void)
{
	run(HEAD ".func quit(.param .b32 a)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\nld.param.u32 %r1, [a];\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 exit;\nret;\n}\n" KERNEL(
	        BEGIN "st.global.u32 [%rd1], 1;\n{\n.param .b32 p0;\nst.param.b32 [p0], %r0;\ncall.uni quit, (p0);\n}\nst.global.u32 [%rd1], 2;\nret;\n"), 1, 32);
	CHECK_WORDS(32, i > 7 ? 1 : 2);
}

/* ---- faults and prints ---- */

static void traps_are_faults(void)
{
	run_and(HEAD KERNEL(BEGIN "setp.eq.u32 %p1, %r0, 33;\n@%p1 trap;\nret;\n"), 1, 64, NULL);
	CU_ASSERT_EQUAL(fault.kind, LIFTED_TRAP);
	CU_ASSERT_EQUAL(fault.group, 0);
}

static void look_at_prints(const struct lift_runner *r, const struct lift_run *run)
{
	const uint64_t *record = (const uint64_t *)(const void *)run->printed;
	CU_ASSERT_EQUAL_FATAL(run->printed_bytes, 3 * 32);
	for (uint64_t i = 0; i < 3; i++, record += 4) {
		CU_ASSERT_EQUAL(record[0], 32);
		CU_ASSERT_PTR_EQUAL((void *)record[1], runner_variable(r, "format"));
		CU_ASSERT_EQUAL(record[2], i);
		CU_ASSERT_EQUAL(record[3], UINT64_C(0x3ff8000000000000)); /* 1.5 */
	}
}

static void prints_are_records(void)
{
	run_and(HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 .b8 format[10] = {37, 100, 32, 37, 102, 10, 0};\n" KERNEL(
	            ".local .align 8 .b8 depot[16];\n" BEGIN "setp.ge.u32 %p1, %r0, 3;\n@%p1 bra OUT;\nmov.u64 %rd5, depot;\ncvta.local.u64 %rd6, %rd5;\n"
	            "st.local.u32 [%rd5], %r0;\nmov.b64 %rd7, 0d3ff8000000000000;\nst.local.b64 [%rd5+8], %rd7;\nmov.u64 %rd8, format;\n"
	            "cvta.global.u64 %rd9, %rd8;\n{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 q0;\nst.param.b64 [p0], %rd9;\nst.param.b64 [p1], %rd6;\n"
	            "call.uni (q0), vprintf, (p0, p1);\nld.param.b32 %r5, [q0];\n}\nOUT:\nret;\n"), 1, 32, look_at_prints);
}

/* ---- counts ---- */

static void look_at_counts(const struct lift_runner *r, const struct lift_run *run)
{
	const struct lifted *l = runner_lifted(r);
	const struct lift_function *f = &l->functions[runner_kernel(r, "k")->function];
	/* Blocks of loops_end_lane_by_lane: the entry, the head of the loop, its rest, and the end. 3 groups of 70 threads. */
	CU_ASSERT_EQUAL_FATAL(f->graph->block_count, 4);
	CU_ASSERT_EQUAL(run->rows[f->block_rows[0]], 210);
	CU_ASSERT_EQUAL(run->rows[f->block_rows[1]], 3 * (70 * 69 / 2 + 70));
	CU_ASSERT_EQUAL(run->rows[f->block_rows[2]], 3 * (70 * 69 / 2));
	CU_ASSERT_EQUAL(run->rows[f->block_rows[3]], 210);
	CU_ASSERT_EQUAL_FATAL(l->loop_count, 1);
	CU_ASSERT_EQUAL(run->rows[l->loops[0].parent], 210);
	CU_ASSERT_EQUAL(run->rows[l->loops[0].body], 3 * (70 * 69 / 2 + 70));
}

static void blocks_are_counted(void)
{
	run_and(HEAD KERNEL(BEGIN "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nTOP:\nsetp.ge.u32 %p1, %r2, %r0;\n@%p1 bra DONE;\nadd.u32 %r1, %r1, %r2;\n"
	                          "add.u32 %r2, %r2, 1;\nbra TOP;\nDONE:\nst.global.u32 [%rd1], %r1;\nret;\n"), 3, 70, look_at_counts);
}

/* How often one thread came to a row: what was counted, or the sum that its terms say. */
static int64_t count_of(const struct lifted *l, const struct lift_kernel *k, const struct lift_run *run, uint32_t row, uint64_t thread)
{
	int64_t sum = 0;
	for (uint32_t c = 0; c < k->column_count; c++)
		if (k->columns[c] == row)
			return run->words[c * run->threads + thread];
	for (uint32_t t = l->rows[row].first_term; t < l->rows[row].first_term + l->rows[row].term_count; t++)
		sum += l->terms[t].factor * count_of(l, k, run, l->terms[t].row, thread);
	return sum;
}

static void look_at_threads(const struct lift_runner *r, const struct lift_run *run)
{
	const struct lifted *l = runner_lifted(r);
	const struct lift_kernel *k = runner_kernel(r, "k");
	uint32_t wrong = 0;
	for (uint64_t i = 0; i < run->threads; i++)
		wrong += count_of(l, k, run, l->loops[0].body, i) != (int64_t)(i % 70 % 4 * 100 + 1);
	CU_ASSERT_EQUAL(wrong, 0);
}

static void the_same_lanes_are_counted_many_times(void)
{
	/* Lane n of 4 goes around 100 * n times: the same lanes run for 100 iterations. */
	run_and(HEAD KERNEL(BEGIN "and.b32 %r3, %r0, 3;\nmul.lo.u32 %r3, %r3, 100;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nTOP:\nsetp.ge.u32 %p1, %r2, %r3;\n"
	                          "@%p1 bra DONE;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r2, %r2, 1;\nbra TOP;\nDONE:\nst.global.u32 [%rd1], %r1;\nret;\n"),
	        3, 70, look_at_threads);
	CHECK_WORDS(210, (i % 70 % 4 * 100) * (i % 70 % 4 * 100 - 1) / 2);
}

static void look_at_calls(const struct lift_runner *r, const struct lift_run *run)
{
	const struct lifted *l = runner_lifted(r);
	const struct lift_function *k = &l->functions[runner_kernel(r, "k")->function], *quit = &l->functions[0];
	CU_ASSERT_EQUAL(run->rows[quit->block_rows[0]], 32);     /* the entry of quit */
	CU_ASSERT_EQUAL(run->rows[quit->block_rows[1]], 8);      /* what returns */
	CU_ASSERT_EQUAL(run->rows[k->block_rows[0]], 32);
	CU_ASSERT_EQUAL(run->rows[k->block_rows[1]], 8);         /* after the call */
}

static void lanes_that_end_in_functions_are_counted(void)
{
	run_and(HEAD ".func quit(.param .b32 a)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\nld.param.u32 %r1, [a];\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 exit;\nret;\n}\n" KERNEL(
	            BEGIN "{\n.param .b32 p0;\nst.param.b32 [p0], %r0;\ncall.uni quit, (p0);\n}\nst.global.u32 [%rd1], 2;\nret;\n"), 1, 32, look_at_calls);
}

static void unknown_functions_are_refused(void)
{
	static const char ptx[] = HEAD ".extern .func elsewhere(.param .b64 a);\n" KERNEL("{\n.param .b64 p0;\ncall.uni elsewhere, (p0);\n}\nret;\n");
	struct lift_runner *r = NULL;
	struct gs_error err = {""};
	CU_ASSERT_EQUAL_FATAL(runner_create(ptx, strlen(ptx), LIFT_COUNTING, &r, &err), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(runner_kernel(r, "k")->refused.text, "elsewhere"));
	runner_free(r);
}

void add_lift_tests(void)
{
	CU_pSuite suite = CU_add_suite("lift", NULL, NULL);
	CU_add_test(suite, "loops end lane by lane", loops_end_lane_by_lane);
	CU_add_test(suite, "lanes may part in every iteration", lanes_may_part_in_every_iteration);
	CU_add_test(suite, "branches nest", branches_nest);
	CU_add_test(suite, "tables lead each lane to its label", tables_lead_each_lane_to_its_label);
	CU_add_test(suite, "lanes meet again after branches", lanes_meet_again_after_branches);
	CU_add_test(suite, "guarded ends leave the others", guarded_ends_leave_the_others);
	CU_add_test(suite, "uniform values survive divergence", uniform_values_survive_divergence);
	CU_add_test(suite, "barriers order warps", barriers_order_warps);
	CU_add_test(suite, "threads may end before a barrier", threads_may_end_before_a_barrier);
	CU_add_test(suite, "barriers may be on both sides", barriers_may_be_on_both_sides);
	CU_add_test(suite, "barriers have numbers and counts", barriers_have_numbers_and_counts);
	CU_add_test(suite, "barriers reduce", barriers_reduce);
	CU_add_test(suite, "values survive barriers in loops", values_survive_barriers_in_loops);
	CU_add_test(suite, "a barrier that never opens is a fault", a_barrier_that_never_opens_is_a_fault);
	CU_add_test(suite, "lanes may wait for lanes", lanes_may_wait_for_lanes);
	CU_add_test(suite, "warps may wait for warps", warps_may_wait_for_warps);
	CU_add_test(suite, "warps may meet at barriers in shared memory", warps_may_meet_at_barriers_in_shared_memory);
	CU_add_test(suite, "functions take and return values", functions_take_and_return_values);
	CU_add_test(suite, "functions are called from kernels in pieces", functions_are_called_from_kernels_in_pieces);
	CU_add_test(suite, "some lanes may call", some_lanes_may_call);
	CU_add_test(suite, "functions may call themselves", functions_may_call_themselves);
	CU_add_test(suite, "calls that are too deep are a fault", calls_that_are_too_deep_are_a_fault);
	CU_add_test(suite, "calls may be indirect", calls_may_be_indirect);
	CU_add_test(suite, "lanes may end in functions", lanes_may_end_in_functions);
	CU_add_test(suite, "traps are faults", traps_are_faults);
	CU_add_test(suite, "prints are records", prints_are_records);
	CU_add_test(suite, "blocks are counted", blocks_are_counted);
	CU_add_test(suite, "lanes that end in functions are counted", lanes_that_end_in_functions_are_counted);
	CU_add_test(suite, "numbers that wrap between lanes are extended one by one", numbers_that_wrap_between_lanes_are_extended_one_by_one);
	CU_add_test(suite, "lanes of several rows are not neighbours", lanes_of_several_rows_are_not_neighbours);
	CU_add_test(suite, "lanes before those that wrap run once", lanes_before_those_that_wrap_run_once);
	CU_add_test(suite, "all groups run once", all_groups_run_once);
	CU_add_test(suite, "the same lanes are counted many times", the_same_lanes_are_counted_many_times);
	CU_add_test(suite, "kernels in pieces do the same", kernels_in_pieces_do_the_same);
	CU_add_test(suite, "one shuffle in 32 instructions is much", one_shuffle_in_32_instructions_is_much);
	CU_add_test(suite, "unknown functions are refused", unknown_functions_are_refused);
}
