/* Register-bank conflicts: the paper's formulas, and a bank as a queue. */
#include "tests/tests.h"

#include "models/analytical/optimistic.h"

#include <math.h>

/* 2 accesses to 2 banks meet with probability 1/2. 4 to 16: 16 * (4/16 - 1 + (15/16)^4) = 0.35962. */
static void test_formulas_of_the_paper(void)
{
	CU_ASSERT_DOUBLE_EQUAL(bank_conflicts_at_once(2, 2), 0.5, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(bank_conflicts_at_once(3, 2), 1.25, 1e-12); /* 3 in one bank 1/4: 2; else 1 */
	CU_ASSERT_DOUBLE_EQUAL(bank_conflicts_at_once(2.5, 2), (0.5 + 1.25) / 2, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(bank_conflicts_at_once(4, 16), 0.35962, 1e-5);
	CU_ASSERT_EQUAL(bank_conflicts_at_once(1, 16), 0);
	CU_ASSERT_EQUAL(bank_conflicts_at_once(0.5, 16), 0);
	CU_ASSERT_DOUBLE_EQUAL(bank_conflicts_at_once(5, 1), 4, 1e-12);
	/* As printed: 4 accesses to 16 banks have minus 12 conflicts. Table II has only positive numbers, although an SM with two
	 * schedulers has at most 2 * (3 reads + 1 write) accesses per cycle. So the paper must have used the maximum with 0. */
	CU_ASSERT_EQUAL(bank_conflicts_printed(4, 16), -12);
	for (double m = 0; m <= 8; m += 0.5)
		CU_ASSERT(bank_conflicts_printed(m, 16) < 0 && bank_conflicts_at_once(m, 16) >= 0);
	/* They agree if every bank has an access. */
	CU_ASSERT_DOUBLE_EQUAL(bank_conflicts_at_once(1000, 16), bank_conflicts_printed(1000, 16), 1e-9);
}

/* One bank. Two instructions a cycle read it with probability 1/4 each: l = 1/2, a = 9/16, p = 8/9, conflicts 1/2 - 7/16 * 8/9 =
 * 1/9, E[A^2] = 5/8, E[Q] = (5/8 + 1/2 - 1) / 1 = 1/8, delay 1/4. */
static void test_bank_as_a_queue(void)
{
	struct bank_traffic t = {.reads = 0.5, .read_width = 2, .write_width = 2, .banks = 1};
	struct bank_queue q = bank_queue(&t);
	CU_ASSERT_DOUBLE_EQUAL(q.conflicts, 1 / 9.0, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(q.read_delay, 0.25, 1e-12);
	CU_ASSERT_EQUAL(q.write_delay, 0);
	CU_ASSERT_DOUBLE_EQUAL(q.delayed, 2 / 9.0, 1e-12);
	/* 16 banks and 16 times as many reads: 16 times as many conflicts, the same delay. */
	t.reads = 8;
	t.banks = 16;
	CU_ASSERT_DOUBLE_EQUAL(bank_queue(&t).conflicts, 16 / 9.0, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(bank_queue(&t).read_delay, 0.25, 1e-12);
	/* One operand: P[delay >= k] sums up to the delay. With two operands, the later one comes later, but before the sum of both. */
	CU_ASSERT_DOUBLE_EQUAL(bank_collect_delay(&q, 1), 0.25, 1e-6);
	CU_ASSERT(bank_collect_delay(&q, 2) > 0.25 && bank_collect_delay(&q, 2) < 0.5);
	CU_ASSERT_EQUAL(bank_collect_delay(&q, 0), 0);
}

/* The queue cycle by cycle, with random numbers. */
static void simulate_bank(const struct bank_traffic *t, double *conflicts, double *delay)
{
	enum { CYCLES = 2000000 };
	uint32_t random = 1, waiting = 0, reads = 0;
	double met = 0, waited = 0;
	for (int c = 0; c < CYCLES; c++) {
		if (waiting && next_random(&random) / 16777216.0 >= t->writes / t->banks)
			waiting--;
		waited += waiting;
		for (int i = 0; i < t->read_width; i++)
			if (next_random(&random) / 16777216.0 < t->reads / t->banks / t->read_width) {
				met += waiting > 0;
				waiting++;
				reads++;
			}
	}
	*conflicts = met / CYCLES * t->banks;
	*delay = waited / reads;
}

static void test_bank_queue_is_what_random_accesses_do(void)
{
	static const struct bank_traffic cases[] = {
		{.reads = 2, .writes = 1.5, .read_width = 2, .write_width = 2, .banks = 16},
		{.reads = 5, .writes = 1, .read_width = 4, .write_width = 2, .banks = 8},
		{.reads = 1, .writes = 3, .read_width = 1, .write_width = 4, .banks = 8},
	};
	for (size_t n = 0; n < GS_ARRAY_LEN(cases); n++) {
		double conflicts, delay;
		struct bank_queue q = bank_queue(&cases[n]);
		simulate_bank(&cases[n], &conflicts, &delay);
		CU_ASSERT_DOUBLE_EQUAL(q.conflicts, conflicts, 0.03 * conflicts);
		CU_ASSERT_DOUBLE_EQUAL(q.read_delay, delay, 0.03 * delay);
	}
}

static void test_conflicts_grow_with_accesses(void)
{
	double before = 0, delay = 0, at_once = 0;
	for (double m = 0.1; m < 40; m += 0.1) {
		const struct bank_traffic t = {.reads = m, .writes = 2, .read_width = 2, .write_width = 2, .banks = 16};
		struct bank_queue q = bank_queue(&t);
		CU_ASSERT(q.conflicts >= before && q.conflicts <= m && q.read_delay >= delay);
		CU_ASSERT(bank_conflicts_at_once(m, 16) >= at_once);
		before = q.conflicts;
		delay = q.read_delay;
		at_once = bank_conflicts_at_once(m, 16);
	}
	CU_ASSERT(before > 20);
	/* Fewer accesses in more banks. */
	const struct bank_traffic few = {.reads = 4, .writes = 2, .read_width = 2, .write_width = 2, .banks = 8};
	const struct bank_traffic more = {.reads = 4, .writes = 2, .read_width = 2, .write_width = 2, .banks = 9};
	CU_ASSERT(bank_queue(&more).conflicts < bank_queue(&few).conflicts);
}

static void test_absurd_traffic(void)
{
	static const struct bank_traffic cases[] = {
		{.reads = INFINITY, .writes = 1, .read_width = 2, .write_width = 2, .banks = 16},
		{.reads = NAN, .writes = 1, .read_width = 2, .write_width = 2, .banks = 16},
		{.reads = -1, .writes = 1, .read_width = 2, .write_width = 2, .banks = 16},
		{.reads = 1, .writes = 1, .read_width = 2, .write_width = 2, .banks = 0},
		{.reads = 0, .writes = 0, .read_width = 0, .write_width = 0, .banks = 16},
		{.reads = 1e9, .writes = 1e9, .read_width = 2, .write_width = 2, .banks = 16},
	};
	for (size_t n = 0; n < GS_ARRAY_LEN(cases); n++) {
		struct bank_queue q = bank_queue(&cases[n]);
		CU_ASSERT(isfinite(q.conflicts) && q.conflicts >= 0);
		CU_ASSERT(isfinite(q.read_delay) && isfinite(q.write_delay) && q.delayed >= 0 && q.delayed <= 1);
	}
}

/*
 * N reads find a bank held. All but the first wait for another read. N has a Poisson distribution. With a mean of 2, the mean of
 * N - 1 is 2 - 1. The case of no read at all has probability e^-2 = 0.1353 and would count -1, but it has no conflict.
 */
static void test_bank_held_by_writes(void)
{
	CU_ASSERT_DOUBLE_EQUAL(bank_conflicts_held(2), 1.1353, 0.0001);
	CU_ASSERT_DOUBLE_EQUAL(bank_conflicts_held(0.1), 0.0048, 0.0001); /* about N^2 / 2 */
	CU_ASSERT_EQUAL(bank_conflicts_held(0), 0);
}

void add_bank_conflicts_tests(void)
{
	CU_pSuite s = CU_add_suite("bank conflicts", NULL, NULL);
	CU_add_test(s, "the paper's formulas of bank conflicts", test_formulas_of_the_paper);
	CU_add_test(s, "reads meet while writes hold their bank", test_bank_held_by_writes);
	CU_add_test(s, "a bank as a queue", test_bank_as_a_queue);
	CU_add_test(s, "the queue is what random accesses do", test_bank_queue_is_what_random_accesses_do);
	CU_add_test(s, "conflicts grow with accesses", test_conflicts_grow_with_accesses);
	CU_add_test(s, "absurd traffic has a defined result", test_absurd_traffic);
}
