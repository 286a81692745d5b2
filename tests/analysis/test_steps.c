/* Addresses that the steps of PTX compute along a path, by hand: buffers of argument a begin at (a + 1) << 40. */
#include "tests/tests.h"

#include "analysis/mapping/mapping.h"
#include "models/accesses/computer.h"

#include <stdlib.h>

static struct gs_error error;

#define ARGUMENT(a) ((uint64_t)((a) + 1) << 40)
enum { SCALAR = 3, LANES = 32 }; /* argument 3 is a number, the others are buffers */

struct kernel {
	struct kernel_code *code;
	struct address_computer *computer;
	uint64_t values[4], bytes[4];
	bool known[4];
	struct launch_arguments launch;
	uint16_t *usual;
};

/* A kernel of 4 arguments, with 4 groups of 64 work-items in a row and 8 in the other dimension of the grid. */
static void start(struct kernel *k, const char *body)
{
	struct gs_buf text = {0};
	struct ptx_module *module;
	struct mapping *mapping;
	gs_buf_printf(&text,
	              ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, "
	              ".param .u64 k_param_2, .param .u32 k_param_3)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<32>;\n.reg .f32 %%f<8>;\n.reg .b64 %%rd<32>;\n"
	              ".pseudoprobe 1 0 0 0\n%s}\n", body);
	CU_ASSERT_EQUAL_FATAL(ptx_read(text.data, text.len, &module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_create(module, ptx_find(module, "k"), &mapping, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_solve(mapping, &(struct mapping_source){.counter_count = 1, .entry = 0}, "sm_90", &k->code, &error), 0);
	mapping_free(mapping);
	ptx_free(module);
	gs_buf_free(&text);
	for (unsigned a = 0; a < 4; a++) {
		k->values[a] = a == SCALAR ? 100 : ARGUMENT(a);
		k->bytes[a] = a == SCALAR ? 0 : 4096;
		k->known[a] = true;
	}
	k->launch = (struct launch_arguments){.local = {64, 1, 1}, .groups = {4, 8, 1}, .values = k->values, .known = k->known, .bytes = k->bytes,
	                                      .count = 4};
	k->usual = calloc(k->code->code_count + 1u, sizeof *k->usual);
	k->computer = computer_new(k->code, &k->launch, k->usual);
	CU_ASSERT_PTR_NOT_NULL_FATAL(k->computer);
}

static void end(struct kernel *k)
{
	computer_free(k->computer);
	code_free(k->code);
	free(k->usual);
}

/* The n-th instruction that accesses memory other than parameters. */
static uint32_t access_number(const struct kernel *k, uint32_t n)
{
	for (uint32_t i = 0; i < k->code->code_count; i++)
		if (code_accesses_memory(&k->code->code[i]) && k->code->code[i].space != SPACE_param && !n--)
			return i;
	CU_FAIL_FATAL("no such access");
	return 0;
}

static uint64_t address(const struct kernel *k, uint32_t n, uint32_t lane)
{
	uint64_t at = 0;
	CU_ASSERT_TRUE(computer_address(k->computer, access_number(k, n), lane, &at));
	return at;
}

static bool is_drawn(const struct kernel *k, uint32_t n)
{
	return computer_drawn(k->computer)[access_number(k, n)];
}

#define GLOBAL_ID "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, %r1, %r2, %r3;\n"
#define BUFFERS "ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\nld.param.u64 %rd3, [k_param_2];\nld.param.u32 %r10, [k_param_3];\n"

/* a[get_global_id(0) * n + 5]: group 6 of a grid of 4 x 8 is 2 in x, so that work-item 40 of it has the id 2 * 64 + 40 = 168. */
static void an_id_and_an_argument_give_the_address(void)
{
	struct kernel k;
	start(&k, BUFFERS GLOBAL_ID "mul.lo.s32 %r5, %r4, %r10;\nmul.wide.s32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
	          "ld.global.f32 %f1, [%rd5+20];\nret;\n");
	computer_begin(k.computer, 6, 32, LANES);
	k.bytes[0] = 1 << 20;
	computer_execute(k.computer, 0, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 0, 8), ARGUMENT(0) + 168 * 400 + 20);
	CU_ASSERT_FALSE(is_drawn(&k, 0));
	end(&k);
}

/* for (i = id;; i += n) a[i]: the third time round, lane 1 is at (1 + 2 * 100) * 4. Lanes that are off stay where they were. */
static void a_loop_moves_the_address(void)
{
	struct kernel k;
	start(&k, BUFFERS GLOBAL_ID "$L1:\nmul.wide.s32 %rd4, %r4, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.f32 %f1, [%rd5];\n"
	          "add.s32 %r4, %r4, %r10;\nsetp.lt.s32 %p1, %r4, 9999;\n@%p1 bra $L1;\nret;\n");
	computer_begin(k.computer, 0, 0, LANES);
	computer_execute(k.computer, 0, UINT32_MAX);
	computer_execute(k.computer, 1, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 0, 1), ARGUMENT(0) + 4);
	computer_execute(k.computer, 1, UINT32_MAX & ~4u);
	computer_execute(k.computer, 1, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 0, 1), ARGUMENT(0) + 201 * 4);
	CU_ASSERT_EQUAL(address(&k, 0, 2), ARGUMENT(0) + 102 * 4);
	end(&k);
}

/* id / 3 as compilers write it: the upper half of id * 0xaaaaaaab, shifted by one. 31 / 3 = 10. */
static void a_division_by_a_constant_is_a_product(void)
{
	struct kernel k;
	start(&k, BUFFERS GLOBAL_ID "mul.hi.u32 %r5, %r4, -1431655765;\nshr.u32 %r6, %r5, 1;\nmul.wide.u32 %rd4, %r6, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
	          "ld.global.f32 %f1, [%rd5];\nret;\n");
	computer_begin(k.computer, 0, 0, LANES);
	computer_execute(k.computer, 0, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 0, 31), ARGUMENT(0) + 40);
	end(&k);
}

/* b[a[id]] and its neighbour b[a[id] + 1]: anywhere in b, in whole elements; the same in each run, and in lanes with the same a[id]. */
static void what_was_loaded_leads_anywhere_in_the_buffer(void)
{
	struct kernel k;
	uint64_t first[LANES];
	uint32_t differ = 0;
	start(&k, BUFFERS GLOBAL_ID "shr.u32 %r5, %r4, 1;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r6, [%rd5];\n"
	          "mul.wide.s32 %rd6, %r6, 4;\nadd.s64 %rd7, %rd2, %rd6;\nld.global.f32 %f1, [%rd7];\nld.global.f32 %f2, [%rd7+4];\nret;\n");
	for (int run = 0; run < 2; run++) {
		computer_begin(k.computer, 0, 0, LANES);
		computer_execute(k.computer, 0, UINT32_MAX);
		for (uint32_t l = 0; l < LANES; l++) {
			uint64_t at = address(&k, 1, l);
			CU_ASSERT_TRUE(at >= ARGUMENT(1) && at < ARGUMENT(1) + 4096 && at % 4 == 0);
			CU_ASSERT_EQUAL((at - ARGUMENT(1) + 4) % 4096, address(&k, 2, l) - ARGUMENT(1));
			CU_ASSERT_TRUE(!run || at == first[l]);
			CU_ASSERT_TRUE(l % 2 == 0 || at == first[l - 1]);
			differ += !run && l && at != first[l - 1];
			first[l] = at;
		}
	}
	CU_ASSERT_TRUE(differ > 12); /* of 15, in 1024 elements */
	CU_ASSERT_FALSE(is_drawn(&k, 0));
	CU_ASSERT_TRUE(is_drawn(&k, 1));
	end(&k);
}

/* b[a[id] & 7] has 8 elements; (a[id] & 7) * 64 leads to 8 lines. */
static void a_mask_bounds_what_was_loaded(void)
{
	struct kernel k;
	start(&k, BUFFERS GLOBAL_ID "mul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r6, [%rd5];\nand.b32 %r7, %r6, 7;\n"
	          "mul.wide.u32 %rd6, %r7, 4;\nadd.s64 %rd7, %rd2, %rd6;\nld.global.f32 %f1, [%rd7];\n"
	          "shl.b32 %r8, %r7, 6;\ncvt.u64.u32 %rd8, %r8;\nadd.s64 %rd9, %rd2, %rd8;\nld.global.f32 %f2, [%rd9];\nret;\n");
	computer_begin(k.computer, 0, 0, LANES);
	computer_execute(k.computer, 0, UINT32_MAX);
	uint64_t most = 0;
	for (uint32_t l = 0; l < LANES; l++) {
		uint64_t at = address(&k, 1, l) - ARGUMENT(1), line = address(&k, 2, l) - ARGUMENT(1);
		CU_ASSERT_TRUE(at < 32 && line < 512 && line % 64 == 0);
		CU_ASSERT_EQUAL(at / 4, line / 64);
		most = at > most ? at : most;
	}
	CU_ASSERT_TRUE(most > 12);
	end(&k);
}

/* Rows of a sparse matrix: row i of 1024 begins where i / 1024 of the elements are. begin[i] leads to element i of a buffer that is
 * as long, and the next element follows. */
static void parts_of_a_list_follow_one_another(void)
{
	struct kernel k;
	start(&k, BUFFERS GLOBAL_ID "mul.wide.s32 %rd4, %r4, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r6, [%rd5];\n"
	          "$L1:\nmul.wide.s32 %rd6, %r6, 4;\nadd.s64 %rd7, %rd2, %rd6;\nld.global.f32 %f1, [%rd7];\nadd.s32 %r6, %r6, 1;\n"
	          "setp.lt.s32 %p1, %r6, 9999;\n@%p1 bra $L1;\nret;\n");
	k.bytes[1] = 16384;
	k.usual[access_number(&k, 1)] = ACCESSES_OF_LIST;
	computer_begin(k.computer, 1, 0, LANES); /* its first work-item has the id 64 */
	computer_execute(k.computer, 0, UINT32_MAX);
	computer_execute(k.computer, 1, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 1, 0), ARGUMENT(1) + 64 * 16);
	CU_ASSERT_EQUAL(address(&k, 1, 3), ARGUMENT(1) + 67 * 16);
	computer_execute(k.computer, 1, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 1, 3), ARGUMENT(1) + 67 * 16 + 4);
	end(&k);
}

/* A pointer that was loaded may lead into any buffer. */
static void a_loaded_pointer_leads_into_the_footprint(void)
{
	struct kernel k;
	bool seen[3] = {false};
	start(&k, BUFFERS GLOBAL_ID "mul.wide.s32 %rd4, %r4, 8;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u64 %rd6, [%rd5];\nld.global.f32 %f1, [%rd6];\nret;\n");
	computer_begin(k.computer, 0, 0, LANES);
	computer_execute(k.computer, 0, UINT32_MAX);
	for (uint32_t l = 0; l < LANES; l++) {
		uint64_t at = address(&k, 1, l);
		CU_ASSERT_TRUE_FATAL(at >= ARGUMENT(0) && at < ARGUMENT(3) && (at & (ARGUMENT(0) - 1)) < 4096);
		seen[(at >> 40) - 1] = true;
	}
	CU_ASSERT_TRUE(seen[0] && seen[1] && seen[2]);
	end(&k);
}

/* What the path does far beyond the end of a buffer, because its counts are not those of the lane, stays in it: 3 * 4096 is its begin. Near
 * it, addresses go on. */
static void addresses_stay_in_their_buffers(void)
{
	struct kernel k;
	start(&k, BUFFERS GLOBAL_ID "mul.wide.s32 %rd4, %r4, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.f32 %f1, [%rd5+12288];\nld.global.f32 %f2, [%rd5+-4];\nret;\n");
	computer_begin(k.computer, 0, 0, LANES);
	computer_execute(k.computer, 0, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 0, 23), ARGUMENT(0) + 92);
	CU_ASSERT_TRUE(is_drawn(&k, 0));
	CU_ASSERT_EQUAL(address(&k, 1, 0), ARGUMENT(0) - 4);
	CU_ASSERT_EQUAL(address(&k, 1, 1), ARGUMENT(0));
	end(&k);
}

/* What a library function makes of the id is not known, but lanes with the same operand go together: tid.y is 0 for all of them. */
static void what_is_not_followed_is_the_same_for_the_same(void)
{
	struct kernel k;
	start(&k, BUFFERS "mov.u32 %r1, %tid.y;\ncvt.rn.f32.s32 %f1, %r1;\nsqrt.approx.f32 %f2, %f1;\ncvt.rzi.s32.f32 %r2, %f2;\n"
	          "mul.wide.s32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.f32 %f3, [%rd5];\nret;\n");
	computer_begin(k.computer, 0, 0, LANES);
	computer_execute(k.computer, 0, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 0, 0), address(&k, 0, 31));
	CU_ASSERT_TRUE(is_drawn(&k, 0));
	end(&k);
}

/* Instructions that no address depends on have no steps: of five, the sum of floats and the store's value have none. */
static void only_what_addresses_need_has_steps(void)
{
	struct kernel k;
	start(&k, BUFFERS "ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\nst.global.f32 [%rd2], %f2;\nret;\n");
	for (uint32_t i = 0; i < k.code->step_count; i++) {
		uint32_t at = k.code->steps[i].instruction;
		CU_ASSERT_TRUE(at == STEP_FIRST || k.code->code[at].class == CODE_load || k.code->code[at].class == CODE_store);
		CU_ASSERT_NOT_EQUAL(k.code->steps[i].node.op, NODE_content);
	}
	end(&k);
}

/* No such instruction exists, but text may have it: the fuzzer found that its sources were written behind their array. */
static void loads_of_arguments_may_name_more_registers(void)
{
	struct kernel k;
	start(&k, "ld.param.u64 %rd1, [k_param_1];\nld.param.u32 %r20, [param0+0], %r1, %r2, %r3;\nmul.wide.u32 %rd2, %r20, 4;\n"
	          "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r20;\nst.global.u32 [%rd1+8], %r20;\nret;\n");
	computer_begin(k.computer, 0, 0, LANES);
	computer_execute(k.computer, 0, UINT32_MAX);
	CU_ASSERT_EQUAL(address(&k, 1, 5), ARGUMENT(1) + 8);
	end(&k);
}

void add_steps_tests(void)
{
	CU_pSuite suite = CU_add_suite("steps", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(an_id_and_an_argument_give_the_address);
	TEST(a_loop_moves_the_address);
	TEST(a_division_by_a_constant_is_a_product);
	TEST(what_was_loaded_leads_anywhere_in_the_buffer);
	TEST(a_mask_bounds_what_was_loaded);
	TEST(parts_of_a_list_follow_one_another);
	TEST(a_loaded_pointer_leads_into_the_footprint);
	TEST(addresses_stay_in_their_buffers);
	TEST(what_is_not_followed_is_the_same_for_the_same);
	TEST(only_what_addresses_need_has_steps);
	TEST(loads_of_arguments_may_name_more_registers);
#undef TEST
}
