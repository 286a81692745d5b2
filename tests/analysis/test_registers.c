/* Registers per thread of small kernels, computed by hand. A kernel without instructions takes 4. */
#include "tests/tests.h"

#include "analysis/graph/internal.h"

#include <stdio.h>
#include <string.h>

/* A kernel or function with these lines as its body. It may use %r0 to %r299, and %f, %rd and %p up to 59. */
static struct ptx_module *read_body(const char *body, const char *arch, const char *kind)
{
	struct gs_buf text = {0};
	struct ptx_module *module;
	struct gs_error err = {""};
	gs_buf_printf(&text,
	              ".version 7.0\n.target %s\n.address_size 64\n%s k(.param .u64 a, .param .u32 n)\n{\n"
	              ".reg .b32 %%r<300>;\n.reg .f32 %%f<60>;\n.reg .b64 %%rd<60>;\n.reg .pred %%p<60>;\n"
	              ".shared .align 4 .b8 tile[64];\n%s}\n",
	              arch, kind, body);
	CU_ASSERT_EQUAL_FATAL(ptx_read(text.data, text.len, &module, &err), 0);
	CU_ASSERT_EQUAL_FATAL(module->function_count, 1);
	gs_buf_free(&text);
	return module;
}

static uint32_t registers_of_kind(const char *body, const char *arch, const char *kind, uint32_t call_registers,
                                  uint32_t *spilled)
{
	struct ptx_module *module = read_body(body, arch, kind);
	struct graph *g;
	struct liveness l;
	struct gs_error err;
	CU_ASSERT_EQUAL_FATAL(graph_build(&module->functions[0], &g, &err), 0);
	CU_ASSERT_EQUAL_FATAL(graph_liveness(g, &l, &err), 0);
	uint32_t registers = graph_registers(g, &l, arch, call_registers, spilled);
	liveness_free(&l);
	graph_free(g);
	ptx_free(module);
	return registers;
}

static uint32_t registers_of(const char *body, const char *arch, uint32_t call_registers, uint32_t *spilled)
{
	return registers_of_kind(body, arch, ".entry", call_registers, spilled);
}

static uint32_t registers(const char *body, const char *arch)
{
	uint32_t spilled;
	return registers_of(body, arch, 0, &spilled);
}

static void test_registers_of_an_empty_kernel(void)
{
	CU_ASSERT_EQUAL(registers("ret;\n", "sm_75"), 4); /* as ptxas says */
}

static void test_constants_take_no_register(void)
{
	/* The pointer, the number and their copies are in constant memory. Only the sum is live. */
	CU_ASSERT_EQUAL(registers("ld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\nld.param.u32 %r1, [n];\n"
				  "mov.u32 %r2, %ntid.x;\nadd.s32 %r3, %r1, %r2;\nst.global.u32 [%rd2], %r3;\nret;\n",
				  "sm_75"),
			4 + 1);
	/* The id of the work-item is in a register, beside the operand of the sum. */
	CU_ASSERT_EQUAL(registers("ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %laneid;\n"
	                          "add.s32 %r3, %r1, %r2;\nst.global.u32 [%rd1], %r3;\nret;\n", "sm_75"),
	                4 + 2);
	/* A constant that is written twice is a variable: %r1 and the other %r2 are live together. */
	CU_ASSERT_EQUAL(registers("mov.u32 %r1, 0;\nmov.u32 %r2, %tid.x;\nL:\nadd.s32 %r1, %r1, 1;\n"
	                          "setp.lt.s32 %p1, %r1, %r2;\n@%p1 bra L;\nret;\n", "sm_75"),
	                4 + 2);
}

static void test_widened_values_take_one_register(void)
{
	/* An unsigned value, widened with zeros, shares the register of the value. */
	CU_ASSERT_EQUAL(registers("ld.param.u64 %rd9, [a];\nmov.u32 %r1, %laneid;\ncvt.u64.u32 %rd1, %r1;\n"
	                          "st.global.u32 [%rd9], %r1;\nst.global.u64 [%rd9+8], %rd1;\nret;\n", "sm_75"), 4 + 1);
	/* The id of a work-item has 10 bits, and 12 after the shift. The upper half of another value may be needed. */
	CU_ASSERT_EQUAL(registers("ld.param.u64 %rd9, [a];\nmov.u32 %r1, %tid.x;\ncvt.u64.u32 %rd1, %r1;\n"
	                          "shl.b64 %rd2, %rd1, 2;\nst.global.u64 [%rd9], %rd2;\nret;\n", "sm_75"), 4 + 1);
	CU_ASSERT_EQUAL(registers("ld.param.u64 %rd9, [a];\nmov.u32 %r1, %laneid;\ncvt.u64.u32 %rd1, %r1;\n"
	                          "shl.b64 %rd2, %rd1, 2;\nst.global.u64 [%rd9], %rd2;\nret;\n", "sm_75"), 4 + 2);
	/* They do not share a register if the source changes while the wide value is needed. */
	CU_ASSERT_EQUAL(registers("ld.param.u64 %rd9, [a];\nmov.u32 %r1, %laneid;\ncvt.u64.u32 %rd1, %r1;\n"
	                          "add.s32 %r1, %r1, 1;\nst.global.u32 [%rd9], %r1;\nst.global.u64 [%rd9+8], %rd1;\nret;\n",
	                          "sm_75"), 4 + 2);
}

static void test_parameters_of_functions_are_in_registers(void)
{
	static const char body[] =
	    "ld.param.u32 %r1, [n];\nld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], %r1;\nret;\n";
	uint32_t spilled;
	CU_ASSERT_EQUAL(registers_of_kind(body, "sm_75", ".entry", 0, &spilled), 4);
	CU_ASSERT_EQUAL(registers_of_kind(body, "sm_75", ".func", 0, &spilled), 4 + 3);
}

static void test_values_taken_apart_keep_both_halves(void)
{
	/* It is used in no sum and no address, but mov reads both halves: 2 words, beside the id that is stored meanwhile. */
	static const char body[] = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nst.shared.u32 [tile], %r1;\n"
	                           "mov.b64 {%r2, %r3}, %rd1;\nst.shared.u32 [tile], %r2;\nret;\n";
	/* A conversion to 32 bits reads one half only. */
	static const char half[] = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nst.shared.u32 [tile], %r1;\n"
	                           "cvt.u32.u64 %r2, %rd1;\nst.shared.u32 [tile], %r2;\nret;\n";
	CU_ASSERT_EQUAL(registers(body, "sm_75"), 4 + 3);
	CU_ASSERT_EQUAL(registers(half, "sm_75"), 4 + 2);
}

/* Expects this order of a body with one block. Each instruction is a digit. */
static void expect_order(const char *body, const char *expected)
{
	struct ptx_module *module = read_body(body, "sm_75", ".entry");
	struct graph *g;
	struct gs_error err;
	uint32_t order[16];
	char found[17] = "";
	CU_ASSERT_EQUAL_FATAL(graph_build(&module->functions[0], &g, &err), 0);
	CU_ASSERT_FATAL(g->block_count == 1 && module->functions[0].instruction_count <= 10);
	CU_ASSERT_EQUAL_FATAL(graph_early_loads(g, order), 0);
	for (uint32_t i = 0; i < module->functions[0].instruction_count; i++)
		found[i] = (char)('0' + order[i]);
	CU_ASSERT_STRING_EQUAL(found, expected);
	graph_free(g);
	ptx_free(module);
}

static void test_order_of_early_loads(void)
{
	/* Both loads come before the addition between them. The address that the second load needs comes before it, too. */
	expect_order(
	    "ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1];\nadd.s32 %r2, %r1, 1;\nadd.s64 %rd2, %rd1, 8;\n"
	    "ld.global.u32 %r3, [%rd2];\nret;\n",
	    "013425");
	/* The second load must wait: it writes the register that the addition reads. */
	expect_order("ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1];\nadd.s32 %r2, %r1, 1;\n"
	             "ld.global.u32 %r1, [%rd1+8];\nret;\n", "01234");
	/* A load waits for an earlier store to global memory. It does not wait for a store to shared memory. */
	expect_order("ld.param.u64 %rd1, [a];\nmov.u32 %r1, 5;\nst.global.u32 [%rd1], %r1;\nld.global.u32 %r2, "
		     "[%rd1+8];\nret;\n",
		     "10234");
	expect_order("ld.param.u64 %rd1, [a];\nmov.u32 %r1, 5;\nst.shared.u32 [tile], %r1;\nld.global.u32 %r2, "
		     "[%rd1+8];\nret;\n",
		     "03124");
	/* No load passes a barrier. */
	expect_order("ld.param.u64 %rd1, [a];\nmov.u32 %r1, 5;\nbar.sync 0;\nld.global.u32 %r2, [%rd1+8];\nret;\n",
		     "20314");
}

static void test_shared_addresses_have_32_bits(void)
{
	/* The address has 64 bits, but only shared memory uses it: 1 word, beside the value of the id. */
	static const char shared[] = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nmov.u64 %rd2, tile;\n"
				     "add.s64 %rd3, %rd2, %rd1;\nst.shared.u32 [%rd3], %r1;\nret;\n";
	/* The same access to global memory needs both halves: 2 words beside the id. */
	static const char global[] = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nld.param.u64 %rd2, [a];\n"
				     "add.s64 %rd3, %rd2, %rd1;\nst.global.u32 [%rd3], %r1;\nret;\n";
	CU_ASSERT_EQUAL(registers(shared, "sm_75"), 4 + 2);
	CU_ASSERT_EQUAL(registers(global, "sm_75"), 4 + 3);
}

static void test_division_takes_more(void)
{
	/* Two operands, and the result reuses one of them: 2 words. Division rounded to nearest takes 1 + 9 at its end. */
	static const char format[] =
	    "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%laneid;\nmov.b32 %%f1, %%r1;\nmov.b32 %%f2, %%r2;\n"
	    "%s.f32 %%f3, %%f1, %%f2;\nld.param.u64 %%rd1, [a];\nst.global.f32 [%%rd1], %%f3;\nret;\n";
	char body[512];
	snprintf(body, sizeof body, format, "add.rn");
	CU_ASSERT_EQUAL(registers(body, "sm_75"), 4 + 2);
	snprintf(body, sizeof body, format, "div.rn");
	CU_ASSERT_EQUAL(registers(body, "sm_75"), 4 + 1 + 9);
	snprintf(body, sizeof body, format, "div.approx");
	CU_ASSERT_EQUAL(registers(body, "sm_75"), 4 + 1 + 2);
}

static void test_loads_come_early(void)
{
	/* In the order of the text, 2 words are live: the sum and one loaded value. With the four loads first, four values are live
	 * at once. A store to the same space makes the two loads after it wait. */
	static const char together[] =
	    "ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\n"
	    "add.s32 %r5, %r1, %r2;\nld.global.u32 %r3, [%rd1+8];\nadd.s32 %r6, %r5, %r3;\n"
	    "ld.global.u32 %r4, [%rd1+12];\nadd.s32 %r7, %r6, %r4;\nst.global.u32 [%rd1], %r7;\nret;\n";
	static const char held[] =
	    "ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\n"
	    "add.s32 %r5, %r1, %r2;\nst.global.u32 [%rd1], %r5;\nld.global.u32 %r3, [%rd1+8];\n"
	    "st.global.u32 [%rd1], %r3;\nld.global.u32 %r4, [%rd1+12];\nst.global.u32 [%rd1], %r4;\nret;\n";
	static const char read_only[] =
	    "ld.param.u64 %rd1, [a];\nld.global.nc.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\n"
	    "ld.global.nc.u32 %r2, [%rd1+4];\nst.global.u32 [%rd1], %r2;\n"
	    "ld.global.nc.u32 %r3, [%rd1+8];\nst.global.u32 [%rd1], %r3;\nret;\n";
	CU_ASSERT_EQUAL(registers(together, "sm_75"), 4 + 4);
	CU_ASSERT_EQUAL(registers(held, "sm_75"), 4 + 2);
	CU_ASSERT_EQUAL(registers(read_only, "sm_75"), 4 + 3);
}

/* Loads `count` values, each from an address of its own. Then adds and stores each one. */
static void many_loads(struct gs_buf *out, uint32_t count)
{
	gs_buf_puts(out, "ld.param.u64 %rd1, [a];\nmov.u32 %r0, 0;\n");
	for (uint32_t i = 1; i <= count; i++)
		gs_buf_printf(out, "ld.global.u32 %%r%u, [%%rd1+%u];\nadd.s32 %%r0, %%r0, %%r%u;\n", i, 4 * i, i);
	gs_buf_puts(out, "st.global.u32 [%rd1], %r0;\nret;\n");
}

static void test_early_loads_cost_no_occupancy(void)
{
	/* 50 loads at once and the sum, which is written often: 51 words. sm_75 has 64 registers for each thread of a full SM. sm_70
	 * has 32, and takes 32. In the order of the text, 4 + 2 would be enough. */
	struct gs_buf body = {0};
	many_loads(&body, 50);
	CU_ASSERT_EQUAL(registers(body.data, "sm_75"), 4 + 51);
	CU_ASSERT_EQUAL(registers(body.data, "sm_70"), 32);
	CU_ASSERT_EQUAL(registers(body.data, "sm_86"), 40);
	CU_ASSERT_EQUAL(registers(body.data, "sm_20"), 20);
	gs_buf_free(&body);
}

static void test_memory_operands_stay_on_later_architectures(void)
{
	/* mul.wide makes an address of two words. Before sm_80, the result of the load may reuse its register. From sm_80 on, it may
	 * not. */
	static const char body[] = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nld.global.u32 %r2, [%rd1];\n"
				   "ld.param.u64 %rd2, [a];\nst.global.u32 [%rd2], %r2;\nret;\n";
	CU_ASSERT_EQUAL(registers(body, "sm_75"), 4 + 2);
	CU_ASSERT_EQUAL(registers(body, "sm_80"), 4 + 3);
}

static void test_spills(void)
{
	/* All 100 values are made before the first is stored. */
	struct gs_buf body = {0};
	uint32_t spilled;
	gs_buf_puts(&body, "ld.param.u64 %rd1, [a];\nmov.u32 %r0, %tid.x;\n");
	for (uint32_t i = 1; i <= 100; i++)
		gs_buf_printf(&body, "add.s32 %%r%u, %%r0, %u;\n", i, i);
	for (uint32_t i = 1; i <= 100; i++)
		gs_buf_printf(&body, "st.global.u32 [%%rd1+%u], %%r%u;\n", 4 * i, i);
	gs_buf_puts(&body, "ret;\n");
	CU_ASSERT_EQUAL(registers_of(body.data, "sm_35", 0, &spilled), 4 + 100);
	CU_ASSERT_EQUAL(spilled, 0);
	CU_ASSERT_EQUAL(registers_of(body.data, "sm_20", 0, &spilled), 63);
	CU_ASSERT_EQUAL(spilled, 4 + 100 - 63);
	gs_buf_free(&body);
}

static void test_calls_need_the_registers_of_both(void)
{
	/* One value is live across the call. The called function takes 20, and 4 of these are the 4 that every kernel takes. */
	static const char body[] = "mov.u32 %r1, %tid.x;\ncall.uni f, ();\nld.param.u64 %rd1, [a];\n"
				   "st.global.u32 [%rd1], %r1;\nret;\n";
	uint32_t spilled;
	CU_ASSERT_EQUAL(registers_of(body, "sm_75", 20, &spilled), 4 + 1 + 16);
	CU_ASSERT_EQUAL(registers_of(body, "sm_75", 0, &spilled), 4 + 1);
	/* The result of a call is not a constant, although ld.param reads it. Two results are live at the store. A result also
	 * cannot be read before the call, beside %r3 and %r4, although the address of the load needs it. */
	static const char returns[] =
		"{\n.param .b32 back;\ncall.uni (back), f, ();\nld.param.u32 %r1, [back];\n}\n"
		"{\n.param .b32 back;\ncall.uni (back), f, ();\nld.param.u32 %r2, [back];\n}\nadd.s32 %r4, %r1, %r2;\n"
		"ld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], %r4;\nret;\n";
	CU_ASSERT_EQUAL(registers_of(returns, "sm_75", 0, &spilled), 4 + 2);
	static const char address[] =
	    "mov.u32 %r3, %tid.x;\nmov.u32 %r4, %laneid;\nst.shared.u32 [tile], %r3;\nst.shared.u32 [tile+4], %r4;\n"
	    "{\n.param .b64 back;\ncall.uni (back), f, ();\nld.param.u64 %rd2, [back];\n}\n"
	    "ld.global.u32 %r1, [%rd2];\nld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], %r1;\nret;\n";
	CU_ASSERT_EQUAL(registers_of(address, "sm_75", 0, &spilled), 4 + 2);
}

static void test_library_functions_take_what_they_become(void)
{
	/* sin of float takes 14 besides its result, exp takes 2. Another function takes the number that the caller gives: 20 - 4. */
	static const char format[] =
		"{\n.param .b32 back;\n.param .b32 in;\ncall.uni (back), %s, (in);\nld.param.f32 %%f1, [back];\n}\n"
		"ld.param.u64 %%rd1, [a];\nst.global.f32 [%%rd1], %%f1;\nret;\n";
	static const struct {
		const char *function;
		uint32_t temporaries;
	} cases[] = {{"__gpusim_fn_sin_f32", 14}, {"__gpusim_fn_exp_f32", 2}, {"__gpusim_fn_pow_f64", 22},
	             {"__gpusim_fn_unheard_of_f32", 5}, {"__gpusim_fn_unheard_of_f64", 12}, {"mine", 16}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char body[512];
		uint32_t spilled;
		snprintf(body, sizeof body, format, cases[i].function);
		CU_ASSERT_EQUAL(registers_of(body, "sm_75", 20, &spilled), 4 + cases[i].temporaries);
	}
}

/* 200 registers are live at once. What ptxas takes with the same bounds. */
static void test_launch_bounds_limit_registers(void)
{
	static const struct {
		const char *bounds, *arch;
		uint32_t most;
	} cases[] = {{"", "sm_90", 0},
	             {".maxntid 1024, 1, 1", "sm_90", 64},
	             {".maxntid 32, 32, 1", "sm_75", 64},
	             {".maxntid 256\n.minnctapersm 3", "sm_90", 80},
	             {".maxntid 96\n.minnctapersm 7", "sm_75", 80},
	             {".maxntid 100\n.minnctapersm 6", "sm_90", 80},
	             {".reqntid 512", "sm_90", 128},
	             {".maxntid 1024\n.minnctapersm 2", "sm_90", 32},
	             {".maxntid 1024\n.minnctapersm 2", "sm_75", 64},
	             {".maxnreg 72", "sm_90", 72}};
	for (size_t c = 0; c < GS_ARRAY_LEN(cases); c++) {
		struct gs_buf text = {0};
		struct ptx_module *module;
		struct graph *g;
		struct liveness l;
		struct gs_error err;
		uint32_t spilled;
		gs_buf_printf(&text, ".entry k(.param .u64 a)\n%s\n{\n.reg .b32 %%r<300>;\n", cases[c].bounds);
		for (int i = 0; i < 200; i++)
			gs_buf_printf(&text, "mov.u32 %%r%d, %%clock;\n", i);
		for (int i = 0; i < 200; i++)
			gs_buf_printf(&text, "st.shared.u32 [%%r%d], %%r%d;\n", i, 199 - i);
		gs_buf_puts(&text, "ret;\n}\n");
		CU_ASSERT_EQUAL_FATAL(ptx_read(text.data, text.len, &module, &err), 0);
		CU_ASSERT_EQUAL_FATAL(graph_build(&module->functions[0], &g, &err), 0);
		CU_ASSERT_EQUAL_FATAL(graph_liveness(g, &l, &err), 0);
		uint32_t found = graph_registers(g, &l, cases[c].arch, 0, &spilled);
		CU_ASSERT_TRUE(cases[c].most ? found == cases[c].most && spilled >= 200 - found : found >= 200 && !spilled);
		liveness_free(&l);
		graph_free(g);
		ptx_free(module);
		gs_buf_free(&text);
	}
}

void add_registers_tests(void)
{
	CU_pSuite suite = CU_add_suite("registers", NULL, NULL);
	CU_add_test(suite, "registers of an empty kernel", test_registers_of_an_empty_kernel);
	CU_add_test(suite, "parameters and constants take no register", test_constants_take_no_register);
	CU_add_test(suite, "addresses of shared memory have 32 bits", test_shared_addresses_have_32_bits);
	CU_add_test(suite, "values with zeros in front of them take one register", test_widened_values_take_one_register);
	CU_add_test(suite, "parameters of a function are in registers", test_parameters_of_functions_are_in_registers);
	CU_add_test(suite, "a value that is taken apart keeps both halves", test_values_taken_apart_keep_both_halves);
	CU_add_test(suite, "the order of early loads", test_order_of_early_loads);
	CU_add_test(suite, "a division takes more registers", test_division_takes_more);
	CU_add_test(suite, "loads come early and hold their values", test_loads_come_early);
	CU_add_test(suite, "early loads cost no occupancy", test_early_loads_cost_no_occupancy);
	CU_add_test(suite, "a load keeps its address from sm_80 on", test_memory_operands_stay_on_later_architectures);
	CU_add_test(suite, "what does not fit is spilled", test_spills);
	CU_add_test(suite, "a call needs the registers of both", test_calls_need_the_registers_of_both);
	CU_add_test(suite, "library functions take what they become", test_library_functions_take_what_they_become);
	CU_add_test(suite, "launch bounds limit registers", test_launch_bounds_limit_registers);
}
