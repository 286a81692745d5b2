/* The banks that registers are read from. */
#include "tests/tests.h"

#include "tests/models/code_builder.h"
#include "models/sm/state/read_ports.h"

static void check(const struct read_ports *p, uint32_t reads, uint32_t most, uint32_t after)
{
	uint32_t least = p->reads[0] < p->reads[1] ? p->reads[0] : p->reads[1];
	CU_ASSERT_EQUAL(p->reads[0] + p->reads[1], reads);
	CU_ASSERT_EQUAL(reads - least, most);
	CU_ASSERT_EQUAL(p->after[0] + p->after[1], after);
}

static void test_operands_are_spread_over_banks(void)
{
	static struct built_code b;
	struct read_ports ports[8];
	build_start(&b);
	build(&b, CODE_fp32_fma, "1 <- 1 2 3"); /* three in two banks */
	build(&b, CODE_fp32_fma, "4 <- 4 2 3"); /* after the first, only 4 is new; in either bank it does not meet both */
	build(&b, CODE_fp32, "5 <- 6 7");       /* two, in different banks */
	build(&b, CODE_fp32, "5 <- 5 5");       /* one; the previous instruction wrote it */
	build(&b, CODE_fp32, "8 <- 5 5");       /* it is new again */
	b.registers[9].words = 2;
	build(&b, CODE_int, "10 <- 9 6"); /* a pair is in both banks */
	b.registers[11].words = 0;
	build(&b, CODE_int, "12 <- 11 6"); /* predicates are elsewhere, and 6 is already there */
	CU_ASSERT_EQUAL_FATAL(read_ports_find(&b.code, 2, ports), 0);
	check(&ports[0], 3, 2, 3);
	check(&ports[1], 3, 2, 1);
	check(&ports[2], 2, 1, 2);
	check(&ports[3], 1, 1, 1);
	check(&ports[4], 1, 1, 1);
	check(&ports[5], 3, 2, 3);
	check(&ports[6], 1, 1, 0);
}

static void test_one_operand_may_be_a_parameter(void)
{
	static struct built_code b;
	struct read_ports ports[8];
	build_start(&b);
	build_memory(&b, CODE_load, SPACE_param, "1 <-");
	build_memory(&b, CODE_load, SPACE_param, "2 <-");
	build(&b, CODE_fp32_fma, "3 <- 3 1 4"); /* 3 and 4 */
	build(&b, CODE_fp32_fma, "5 <- 5 1 2"); /* two parameters are in registers, and 1 was not read before */
	CU_ASSERT_EQUAL_FATAL(read_ports_find(&b.code, 2, ports), 0);
	check(&ports[2], 2, 1, 2);
	check(&ports[3], 3, 2, 3);
}

/* A sum moves from register 3 to 4 to 5 and back to 3. An assembler uses one register for it, so all reads are from the same
 * banks. */
static void test_sums_stay_where_they_are(void)
{
	static struct built_code b;
	struct read_ports ports[8];
	build_start(&b);
	build(&b, CODE_fp32_fma, "4 <- 1 2 3");
	build(&b, CODE_fp32_fma, "5 <- 1 2 4");
	build(&b, CODE_fp32_fma, "3 <- 1 2 5");
	CU_ASSERT_EQUAL_FATAL(read_ports_find(&b.code, 2, ports), 0);
	for (int i = 1; i < 3; i++) {
		CU_ASSERT_EQUAL(ports[i].reads[0], ports[0].reads[0]);
		CU_ASSERT_EQUAL(ports[i].reads[1], ports[0].reads[1]);
	}
}

void add_read_ports_tests(void)
{
	CU_pSuite s = CU_add_suite("read_ports", NULL, NULL);
	CU_ADD_TEST(s, test_operands_are_spread_over_banks);
	CU_ADD_TEST(s, test_one_operand_may_be_a_parameter);
	CU_ADD_TEST(s, test_sums_stay_where_they_are);
}
