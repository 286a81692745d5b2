/*
 * Lanes of a warp that wait for others at different places of the code: random programs whose expected values are computed lane by lane,
 * and lanes that wait for others which never come, where a GPU would stop for ever.
 */
#include "tests/annotator/lift/run_kernel.h"

/* ---- random programs ---- */

enum { SIDES = 4, ROUNDS = 6 };

/* What a side does in a round: v = value of lane (lane * by + from), then v = v * factor + addend. Rounds of kind 1 add a ballot instead. */
struct round {
	uint32_t by, from, factor, addend;
};

/* Lanes take one of four ways by two of their bits, and come to the rounds in loops or one after the other. */
static void write_side(struct gs_buf *out, uint32_t side, const struct round *rounds, uint32_t kinds)
{
	gs_buf_printf(out, "S%u:\n", side);
	for (uint32_t r = 0; r < ROUNDS; r++) {
		if (kinds >> r & 1)
			gs_buf_printf(out, "and.b32 %%r3, %%r2, %u;\nsetp.ne.u32 %%p1, %%r3, 0;\nvote.sync.ballot.b32 %%r4, %%p1, -1;\nadd.u32 %%r2, %%r2, %%r4;\n",
			              rounds[r].by);
		else
			gs_buf_printf(out, "mad.lo.u32 %%r3, %%r1, %u, %u;\nand.b32 %%r3, %%r3, 31;\nshfl.sync.idx.b32 %%r2, %%r2, %%r3, 31, -1;\n", rounds[r].by,
			              rounds[r].from);
		/* some lanes of the side come later than others */
		gs_buf_printf(out, "and.b32 %%r5, %%r2, %u;\nsetp.eq.u32 %%p2, %%r5, 0;\n@%%p2 bra A%u_%u;\nxor.b32 %%r2, %%r2, %u;\nA%u_%u:\n"
		                   "mad.lo.u32 %%r2, %%r2, %u, %u;\n",
		              rounds[r].addend | 1, side, r, rounds[r].from, side, r, rounds[r].factor, rounds[r].addend);
	}
	gs_buf_puts(out, "bra END;\n");
}

static uint32_t side_of(uint32_t lane, uint32_t first_bit, uint32_t second_bit)
{
	return (lane >> first_bit & 1) * 2 + (lane >> second_bit & 1);
}

static void compute_round(uint32_t *v, const struct round (*rounds)[ROUNDS], const uint32_t *sides, uint32_t r, bool votes)
{
	uint32_t before[32], ballot = 0;
	memcpy(before, v, sizeof before);
	for (uint32_t l = 0; l < 32; l++)
		ballot |= (uint32_t)((v[l] & rounds[sides[l]][r].by) != 0) << l;
	for (uint32_t l = 0; l < 32; l++) {
		const struct round *own = &rounds[sides[l]][r];
		v[l] = votes ? v[l] + ballot : before[(l * own->by + own->from) & 31];
		if (v[l] & (own->addend | 1))
			v[l] ^= own->from;
		v[l] = v[l] * own->factor + own->addend;
	}
}

static void check_random(uint32_t state)
{
	struct round rounds[SIDES][ROUNDS];
	struct gs_buf ptx = {0};
	uint32_t expected[64], sides[32];
	uint32_t first_bit = next_random(&state) % 5, second_bit = (first_bit + 1 + next_random(&state) % 4) % 5, kinds = next_random(&state);
	for (uint32_t s = 0; s < SIDES; s++)
		for (uint32_t r = 0; r < ROUNDS; r++)
			rounds[s][r] = (struct round){next_random(&state) & 31, next_random(&state) & 31, next_random(&state) | 1, next_random(&state) & 1023};
	gs_buf_puts(&ptx, HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<20>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n" BEGIN
	                       "mov.u32 %r1, %laneid;\nmad.lo.u32 %r2, %r0, 77, 5;\n");
	gs_buf_printf(&ptx, "and.b32 %%r6, %%r1, %u;\nsetp.ne.u32 %%p3, %%r6, 0;\nand.b32 %%r7, %%r1, %u;\nsetp.ne.u32 %%p4, %%r7, 0;\n"
	                    "@%%p3 bra UPPER;\n@%%p4 bra S1;\nbra S0;\nUPPER:\n@%%p4 bra S3;\nbra S2;\n",
	              1u << first_bit, 1u << second_bit);
	for (uint32_t s = 0; s < SIDES; s++)
		write_side(&ptx, s, rounds[s], kinds);
	gs_buf_puts(&ptx, "END:\nst.global.u32 [%rd1], %r2;\nret;\n}\n");
	run(ptx.data, 1, 64);
	for (uint32_t i = 0; i < 64; i++)
		expected[i] = i * 77 + 5;
	for (uint32_t l = 0; l < 32; l++)
		sides[l] = side_of(l, first_bit, second_bit);
	for (uint32_t w = 0; w < 2; w++)
		for (uint32_t r = 0; r < ROUNDS; r++)
			compute_round(expected + 32 * w, (const struct round (*)[ROUNDS])rounds, sides, r, kinds >> r & 1);
	CHECK_WORDS(64, expected[i]);
	gs_buf_free(&ptx);
}

static void four_ways_meet_in_random_programs(void)
{
	for (uint32_t seed = 1; seed <= 3; seed++)
		check_random(seed * 7919);
}

/* ---- lanes that never come ---- */

/* Lanes below 8 vote with all, and the others wait for all in another way. None of them can go on. */
static void lanes_go_on_alone_where_nobody_else_can(void)
{
	run(HEAD KERNEL(BEGIN "setp.lt.u32 %p1, %r0, 8;\nmov.u32 %r1, 3;\n@%p1 bra VOTE;\nbar.warp.sync -1;\nbra END;\n"
	                      "VOTE:\nvote.sync.ballot.b32 %r1, %p1, -1;\nEND:\nst.global.u32 [%rd1], %r1;\nret;\n"), 1, 32);
	CHECK_WORDS(32, i < 8 ? 0xff : 3);
}

/* The others wait at a barrier of the block, behind the vote, and so does the second warp. */
static void lanes_go_on_alone_where_others_are_at_a_barrier(void)
{
	run(HEAD KERNEL(BEGIN "setp.lt.u32 %p1, %r0, 8;\nmov.u32 %r1, 3;\n@%p1 bra VOTE;\nbra MEET;\nVOTE:\nvote.sync.ballot.b32 %r1, %p1, -1;\n"
	                      "MEET:\nbar.sync 0;\nst.global.u32 [%rd1], %r1;\nret;\n"), 1, 64);
	CHECK_WORDS(64, i < 8 ? 0xff : 3);
}

/* What such a lane would have brought is not known. */
static void a_value_of_a_lane_that_never_comes_is_a_fault(void)
{
	run_and(HEAD KERNEL(BEGIN "setp.lt.u32 %p1, %r0, 8;\nmov.u32 %r1, 3;\n@%p1 bra SHUFFLE;\nbar.sync 0;\nbra END;\n"
	                          "SHUFFLE:\nshfl.sync.idx.b32 %r1, %r0, 20, 31, -1;\nbar.sync 0;\nEND:\nst.global.u32 [%rd1], %r1;\nret;\n"), 1, 64, NULL);
	CU_ASSERT_EQUAL(fault.kind, LIFTED_ELSEWHERE);
}

/* A lane that has ended is not waited for, and what is read of it is anything. */
static void lanes_that_have_ended_are_not_waited_for(void)
{
	run(HEAD KERNEL(BEGIN "setp.lt.u32 %p1, %r0, 8;\nmov.u32 %r1, 3;\nst.global.u32 [%rd1], %r1;\n@!%p1 bra END;\n"
	                      "shfl.sync.idx.b32 %r1, %r0, 5, 31, -1;\nst.global.u32 [%rd1], %r1;\nEND:\nret;\n"), 1, 32);
	CHECK_WORDS(32, i < 8 ? 5 : 3);
}

void add_meetings_tests(void)
{
	CU_pSuite suite = CU_add_suite("meetings", NULL, NULL);
	CU_add_test(suite, "four ways meet in random programs", four_ways_meet_in_random_programs);
	CU_add_test(suite, "lanes go on alone where nobody else can", lanes_go_on_alone_where_nobody_else_can);
	CU_add_test(suite, "lanes go on alone where others are at a barrier", lanes_go_on_alone_where_others_are_at_a_barrier);
	CU_add_test(suite, "a value of a lane that never comes is a fault", a_value_of_a_lane_that_never_comes_is_a_fault);
	CU_add_test(suite, "lanes that have ended are not waited for", lanes_that_have_ended_are_not_waited_for);
}
