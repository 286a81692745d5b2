/* The reader of PTX: classes, operands, directives, scopes, tables, and text that is not PTX. */
#include "tests/tests.h"

#include "tests/analysis/ptx_check.h"

#include <stdlib.h>
#include <string.h>

static struct gs_error error;
static struct ptx_module *module;

static const struct ptx_function *read_text(const char *text)
{
	ptx_free(module);
	module = NULL;
	CU_ASSERT_PTR_NULL(ptx_check(text, strlen(text)));
	CU_ASSERT_EQUAL_FATAL(ptx_read(text, strlen(text), &module, &error), 0);
	return module->function_count ? &module->functions[0] : NULL;
}

/* Reads the body of a kernel that has registers of every kind. */
static const struct ptx_function *read_body(const char *statements)
{
	static char text[16384];
	snprintf(text, sizeof text,
	         ".version 8.0\n.target sm_90\n.entry k(.param .u64 a)\n{\n.reg .pred %%p<9>;\n.reg .b32 %%r<99>;\n"
	         ".reg .f32 %%f<99>;\n.reg .f64 %%fd<9>;\n.reg .b64 %%rd<99>;\n.reg .b16 %%rs<9>;\n%s\n}\n",
	         statements);
	return read_text(text);
}

static const struct ptx_instruction *read_one(const char *statement)
{
	const struct ptx_function *f = read_body(statement);
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 1);
	return &f->instructions[0];
}

static const char *register_name(const struct ptx_function *f, int32_t reg)
{
	return reg < 0 ? "" : f->registers[reg].name;
}

struct expected_class {
	const char *opcode;
	uint8_t class, space, bytes, elements, flags;
};

static void opcodes_have_their_classes(void)
{
	static const struct expected_class expected[] = {
		{"add.s32", CODE_int, 0, 0, 1, 0},
		{"sub.u64", CODE_int, 0, 0, 1, 0},
		{"addc.cc.u32", CODE_int, 0, 0, 1, 0},
		{"vadd.u32.u32.u32.sat", CODE_int, 0, 0, 1, 0},
		{"mul.lo.s32", CODE_int_mul, 0, 0, 1, 0},
		{"mul24.lo.s32", CODE_int_mul, 0, 0, 1, 0},
		{"mad.lo.s32", CODE_int_mad, 0, 0, 1, 0},
		{"mad24.hi.u32", CODE_int_mad, 0, 0, 1, 0},
		{"sad.u32", CODE_int_mad, 0, 0, 1, 0},
		{"dp4a.s32.s32", CODE_int_mad, 0, 0, 1, 0},
		{"dp2a.lo.s32.u32", CODE_int_mad, 0, 0, 1, 0},
		{"min.s32", CODE_int_minmax, 0, 0, 1, 0},
		{"div.u32", CODE_int_div, 0, 0, 1, 0},
		{"rem.s64", CODE_int_div, 0, 0, 1, CODE_REM},
		{"add.rn.f32", CODE_fp32, 0, 0, 1, 0},
		{"mul.f16x2", CODE_fp32, 0, 0, 1, 0},
		{"sub.bf16", CODE_fp32, 0, 0, 1, 0},
		{"fma.rn.f32", CODE_fp32_fma, 0, 0, 1, 0},
		{"fma.rn.bf16x2", CODE_fp32_fma, 0, 0, 1, 0},
		{"mad.f32", CODE_fp32_fma, 0, 0, 1, 0},
		{"max.NaN.f32", CODE_fp32_minmax, 0, 0, 1, 0},
		{"div.full.f32", CODE_fp32_div, 0, 0, 1, 0},
		{"add.f64", CODE_fp64, 0, 0, 1, 0},
		{"fma.rn.f64", CODE_fp64_fma, 0, 0, 1, 0},
		{"min.f64", CODE_fp64_minmax, 0, 0, 1, 0},
		{"div.rn.f64", CODE_fp64_div, 0, 0, 1, 0},
		{"rcp.approx.ftz.f64", CODE_sfu, 0, 0, 1, 0},
		{"sqrt.rn.f64", CODE_sfu, 0, 0, 1, 0},
		{"tanh.approx.f32", CODE_sfu, 0, 0, 1, 0},
		{"cvt.rn.f32.s32", CODE_conv, 0, 0, 1, 0},
		{"cvt.rzi.s64.f64", CODE_conv, 0, 0, 1, 0},
		{"cvt.rna.tf32.f32", CODE_conv, 0, 0, 1, 0},
		{"cvt.u64.u32", CODE_move, 0, 0, 1, 0},
		{"and.pred", CODE_logic, 0, 0, 1, 0},
		{"lop3.b32", CODE_logic, 0, 0, 1, 0},
		{"shf.l.wrap.b32", CODE_logic, 0, 0, 1, 0},
		{"bfind.shiftamt.u32", CODE_logic, 0, 0, 1, 0},
		{"prmt.b32", CODE_logic, 0, 0, 1, 0},
		{"setp.lt.f32", CODE_move, 0, 0, 1, 0},
		{"selp.f64", CODE_move, 0, 0, 1, 0},
		{"neg.f32", CODE_move, 0, 0, 1, 0},
		{"abs.s32", CODE_move, 0, 0, 1, 0},
		{"cvta.to.global.u64", CODE_move, 0, 0, 1, 0},
		{"isspacep.shared", CODE_move, 0, 0, 1, 0},
		{"vote.sync.ballot.b32", CODE_move, 0, 0, 1, 0},
		{"match.any.sync.b32", CODE_move, 0, 0, 1, 0},
		{"bar.warp.sync", CODE_move, 0, 0, 1, 0},
		{"shfl.sync.bfly.b32", CODE_shuffle, 0, 0, 1, 0},
		{"redux.sync.add.s32", CODE_shuffle, 0, 0, 1, 0},
		{"bra.uni", CODE_branch, 0, 0, 1, 0},
		{"brx.idx", CODE_branch, 0, 0, 1, 0},
		{"call.uni", CODE_branch, 0, 0, 1, CODE_CALL},
		{"trap", CODE_branch, 0, 0, 1, 0},
		{"bar.sync", CODE_barrier, 0, 0, 1, 0},
		{"barrier.cluster.arrive", CODE_nop, 0, 0, 1, 0},
		{"barrier.cluster.wait.acquire", CODE_barrier, 0, 0, 1, 0},
		{"ld.param.u64", CODE_load, SPACE_param, 8, 1, 0},
		{"ld.global.nc.v4.f32", CODE_load, SPACE_global, 16, 4, 0},
		{"ld.global.L1::no_allocate.L2::128B.v2.f64", CODE_load, SPACE_global, 16, 2, 0},
		{"ld.shared::cta.u8", CODE_load, SPACE_shared, 1, 1, 0},
		{"ld.const.b128", CODE_load, SPACE_const, 16, 1, 0},
		{"ld.volatile.s16", CODE_load, SPACE_generic, 2, 1, 0},
		{"ldu.global.f32", CODE_load, SPACE_global, 4, 1, 0},
		{"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", CODE_load, SPACE_shared, 16, 1, 0},
		{"st.local.v2.u32", CODE_store, SPACE_local, 8, 2, 0},
		{"st.wt.f64", CODE_store, SPACE_generic, 8, 1, 0},
		{"stmatrix.sync.aligned.m8n8.x2.shared.b16", CODE_store, SPACE_shared, 8, 1, 0},
		{"atom.global.cas.b64", CODE_atomic, SPACE_global, 8, 1, 0},
		{"atom.add.noftz.f16x2", CODE_atomic, SPACE_generic, 4, 1, 0},
		{"red.shared.add.u32", CODE_atomic, SPACE_shared, 4, 1, 0},
		{"mbarrier.arrive.shared.b64", CODE_atomic, SPACE_shared, 8, 1, 0},
		{"mbarrier.try_wait.parity.shared::cta.b64", CODE_load, SPACE_shared, 8, 1, 0},
		{"membar.gl", CODE_fence, 0, 0, 1, 0},
		{"fence.acq_rel.gpu", CODE_fence, 0, 0, 1, 0},
		{"tex.2d.v4.f32.s32", CODE_texture, SPACE_texture, 16, 4, 0},
		{"tld4.r.2d.v4.u32.f32", CODE_texture, SPACE_texture, 16, 4, 0},
		{"suld.b.1d.v2.b16.trap", CODE_texture, SPACE_texture, 4, 2, 0},
		{"sust.p.2d.v4.b32.trap", CODE_store, SPACE_texture, 16, 4, 0},
		{"sured.b.add.2d.u32.trap", CODE_texture, SPACE_texture, 4, 1, 0},
		{"cp.async.ca.shared.global", CODE_load, SPACE_global, 4, 1, 0},
		{"cp.async.bulk.global.shared::cta.bulk_group", CODE_store, SPACE_global, 4, 1, 0},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", CODE_load, SPACE_global, 4, 1, 0},
		{"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", CODE_load, SPACE_shared, 4, 1, 0},
		{"cp.async.wait_group", CODE_move, 0, 0, 1, 0},
		{"prefetch.global.L2", CODE_nop, 0, 0, 1, 0},
		{"nanosleep.u32", CODE_nop, 0, 0, 1, 0},
		{"griddepcontrol.wait", CODE_nop, 0, 0, 1, 0},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", CODE_tensor, 0, 0, 1, 0},
		{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", CODE_tensor, 0, 0, 2, 0},
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", CODE_tensor, 0, 0, 4, 0},
		{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", CODE_tensor, 0, 0, 1, 0},
		{"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", CODE_tensor_half, 0, 0, 1, 0},
		{"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", CODE_tensor, 0, 0, 1, 0},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", CODE_tensor, 0, 0, 2, 0},
		{"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", CODE_tensor_fp64, 0, 0, 4, 0},
		{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", CODE_tensor_fp64, 0, 0, 1, 0},
		{"wmma.mma.sync.aligned.row.col.m8n8k128.xor.popc.s32.b1.b1.s32", CODE_tensor_half, 0, 0, 1, 0},
		{"wgmma.fence.sync.aligned", CODE_nop, 0, 0, 1, 0},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(expected); i++) {
		const struct expected_class *e = &expected[i];
		struct ptx_instruction got;
		bool same = ptx_classify(e->opcode, &got) && got.class == e->class && got.space == e->space &&
		            got.bytes == e->bytes && got.elements == e->elements && got.flags == e->flags;
		CU_ASSERT_TRUE(same);
		if (!same)
			fprintf(stderr, "%s: class %d space %d bytes %d elements %d flags %d\n", e->opcode, got.class,
				got.space, got.bytes, got.elements, got.flags);
	}
}

static void unknown_opcodes_are_listed_and_classed_by_their_type(void)
{
	const struct ptx_function *f =
	    read_body("frob.f64 %fd1, %fd2;\nfrob.f32 %f1, %f2;\nlduck.global.v2.u32 {%r1,%r2}, [%rd1];\n"
	              "stray.f32 [%rd1], %f1;\nquux %r1, %r2;\nfrob.f32 %f1, %f3;\n");
	static const uint8_t classes[] = {CODE_fp64, CODE_fp32, CODE_load, CODE_store, CODE_int, CODE_fp32};
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 6);
	for (uint32_t i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(f->instructions[i].class, classes[i]);
	CU_ASSERT_EQUAL(f->instructions[2].bytes, 8);
	CU_ASSERT_EQUAL_FATAL(module->unknown_count, 5);
	CU_ASSERT_STRING_EQUAL(module->unknown[1].opcode, "frob.f32");
	CU_ASSERT_EQUAL(module->unknown[1].count, 2);
	CU_ASSERT_EQUAL(module->unknown[1].ptx_line, 12); /* there are ten lines before the statements */
}

/* The names of an instruction's registers: writes = reads, waits. */
static void check_uses(const char *statement, const char *expected)
{
	const struct ptx_instruction *i = read_one(statement);
	const struct ptx_function *f = &module->functions[0];
	struct ptx_uses uses;
	char got[512] = "";
	ptx_uses(i, &uses);
	for (uint32_t u = 0; u < (uint32_t)uses.writes + uses.reads + uses.waits; u++) {
		const char *mark = u == (uint32_t)uses.writes + uses.reads ? "? " : u == uses.writes ? "= " : "";
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s ", mark, register_name(f, uses.list[u]));
	}
	CU_ASSERT_STRING_EQUAL(got, expected);
	if (strcmp(got, expected))
		fprintf(stderr, "%s: %s\n", statement, got);
}

static void uses_are_what_is_written_read_and_waited_for(void)
{
	check_uses("add.s32 %r1, %r2, 5;", "%r1 = %r2 ");
	check_uses("mul.f32 %f1, %f2, %f2;", "%f1 = %f2 %f2 ");
	check_uses("@%p1 add.s32 %r1, %r2, %r3;", "%r1 = %r2 %r3 ? %p1 ");
	check_uses("selp.b32 %r1, %r2, 7, %p3;", "%r1 = %r2 %p3 ");
	check_uses("mov.u32 %r1, %tid.x;", "%r1 ");
	check_uses("ld.global.f32 %f1, [%rd1+4];", "%f1 = %rd1 ");
	check_uses("ld.global.v4.f32 {%f1,%f2,_,%f4}, [%rd1+-16];", "%f1 %f2 %f4 = %rd1 ");
	check_uses("st.global.v2.f32 [%rd1], {%f1, %f2};", "= %rd1 %f1 %f2 ");
	check_uses("st.shared.f32 [tile+8], %f2;", "= %f2 ");
	check_uses("ld.param.u64 %rd1, [a];", "%rd1 ");
	check_uses("atom.global.add.u32 %r1, [%rd1], -1;", "%r1 = %rd1 ");
	check_uses("red.global.add.u32 [%rd1], %r2;", "= %rd1 %r2 ");
	check_uses("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", "%p1 %p2 = %r1 %r2 %p3 ");
	check_uses("shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;", "%r1 %p1 = %r2 ");
	check_uses("mov.b64 {%r1, %r2}, %rd1;", "%r1 %r2 = %rd1 ");
	check_uses("mov.b64 %rd1, {%r1, %r2};", "%rd1 = %r1 %r2 ");
	check_uses("bar.sync %r1, %r2;", "= %r1 %r2 ");
	check_uses("bar.red.popc.u32 %r1, 0, %p1;", "%r1 = %p1 ");
	check_uses("@!%p1 ret;", "? %p1 ");
	check_uses("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [img, smp, {%f5,%f6}];", "%f1 %f2 %f3 %f4 = %f5 %f6 ");
	check_uses("sust.b.2d.b32.trap [%rd1, {%r1,%r2}], {%r3};", "= %rd1 %r1 %r2 %r3 ");
	check_uses("call.uni (%r1), f, (%r2, 3);", "%r1 = %r2 ");
	check_uses("vadd.u32.u32.u32 %r1.b0, %r2.h1, %r3, %r4;", "%r1 = %r2 %r3 %r4 ");
	check_uses("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1,%fd2},{%fd3},{%fd4},{%fd1,%fd2};",
	           "%fd1 %fd2 = %fd3 %fd4 %fd1 %fd2 ");
}

/* Registers of groups: the open one, that of wait_group 1, and older ones. A copy writes the first, a commit all, waits wait for the last ones. */
static void asynchronous_copies_are_waited_for(void)
{
	const struct ptx_function *f = read_body("cp.async.ca.shared.global [%r1], [%rd1], 4;\ncp.async.wait_group 1;\n@%p1 cp.async.wait_all;\n"
	                                         "cp.async.cg.shared.global [%r2], [%rd2], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\n");
	static const struct {
		uint8_t writes, reads, waits, first; /* first: of the groups */
	} expected[] = {{1, 2, 0, 0}, {0, 0, 1, 2}, {0, 0, 4, 0}, {1, 2, 0, 0}, {3, 0, 0, 0}, {0, 0, 2, 1}};
	struct ptx_uses copy, uses;
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 6);
	ptx_uses(&f->instructions[0], &copy);
	for (uint32_t i = 0; i < 6; i++) {
		ptx_uses(&f->instructions[i], &uses);
		CU_ASSERT_TRUE(uses.writes == expected[i].writes && uses.reads == expected[i].reads && uses.waits == expected[i].waits);
		CU_ASSERT_EQUAL(uses.list[i == 2], copy.list[0] + expected[i].first); /* of the third, after its guard */
	}
	for (uint32_t g = 0; g < 3; g++)
		CU_ASSERT_EQUAL(f->registers[copy.list[0] + g].copies, g + 1);
	CU_ASSERT_EQUAL(f->register_count, copy.list[0] + 3u);
}

/* More groups than there are registers for: a wait that leaves that many waits for nothing, and others are as before. */
static void groups_of_copies_are_bounded(void)
{
	const struct ptx_function *f = read_body("cp.async.ca.shared.global [%r1], [%rd1], 4;\ncp.async.wait_group 9000000000;\n"
	                                         "cp.async.wait_group 8;\ncp.async.wait_group 9;\n");
	static const uint8_t waits[] = {0, 0, 1, 0};
	struct ptx_uses uses;
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		ptx_uses(&f->instructions[i], &uses);
		CU_ASSERT_EQUAL(uses.waits, waits[i]);
	}
}

static void constants_have_their_values(void)
{
	static const struct {
		const char *text;
		int64_t value;
	} constants[] = {{"42", 42},
			 {"-7", -7},
			 {"0x1F", 31},
			 {"0777", 511},
			 {"0b101", 5},
			 {"12U", 12},
			 {"0", 0},
			 {"WARP_SZ", 32},
			 {"0f3F800000", 0x3F800000},
			 {"0d3FF0000000000000", 0x3FF0000000000000},
			 {"1.0", 0x3FF0000000000000},
			 {"0xFFFFFFFFU", 0xFFFFFFFF}};
	char statement[128];
	for (size_t i = 0; i < GS_ARRAY_LEN(constants); i++) {
		snprintf(statement, sizeof statement, "mov.b64 %%rd1, %s;", constants[i].text);
		const struct ptx_instruction *at = read_one(statement);
		CU_ASSERT_EQUAL_FATAL(at->operand_count, 2);
		CU_ASSERT_EQUAL(at->operands[1].kind, PTX_IMMEDIATE);
		CU_ASSERT_EQUAL(at->operands[1].value, constants[i].value);
	}
}

static void addresses_and_names_have_offsets(void)
{
	const struct ptx_instruction *i = read_one("ld.shared.f32 %f1, [tile + -12];");
	CU_ASSERT_EQUAL(i->operands[1].kind, PTX_ADDRESS);
	CU_ASSERT_EQUAL(i->operands[1].reg, -1);
	CU_ASSERT_STRING_EQUAL(i->operands[1].text, "tile");
	CU_ASSERT_EQUAL(i->operands[1].value, -12);
	i = read_one("ld.global.f32 %f1, [4096];");
	CU_ASSERT_EQUAL(i->operands[1].kind, PTX_ADDRESS);
	CU_ASSERT_EQUAL(i->operands[1].value, 4096);
	CU_ASSERT_PTR_NULL(i->operands[1].text);
	i = read_one("mov.u64 %rd1, table+16;");
	CU_ASSERT_EQUAL(i->operands[1].kind, PTX_SYMBOL);
	CU_ASSERT_STRING_EQUAL(i->operands[1].text, "table");
	CU_ASSERT_EQUAL(i->operands[1].value, 16);
	i = read_one("cp.async.cg.shared.global [%r1+32], [%rd1], 16, %r2;");
	CU_ASSERT_EQUAL(i->operands[0].value, 32);
	CU_ASSERT_EQUAL(i->bytes, 16);
	i = read_one("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4}, [%rd1], %r5;");
	CU_ASSERT_EQUAL(i->bytes, 16);
}

static void guards_and_exits_have_flags(void)
{
	const struct ptx_function *f =
	    read_body("@%p1 bra L;\n@!%p2 ret;\nbra.uni L;\nL: @%p1 st.global.f32 [%rd1], %f1;\n"
		      "@%p1 exit;\nret;\n");
	static const uint8_t flags[] = {CODE_GUARDED | CODE_CONDITIONAL, CODE_GUARDED | CODE_CONDITIONAL | CODE_EXIT, 0,
	                                CODE_GUARDED, CODE_GUARDED | CODE_CONDITIONAL | CODE_EXIT, CODE_EXIT};
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 6);
	for (uint32_t i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(f->instructions[i].flags, flags[i]);
	CU_ASSERT_TRUE(f->instructions[1].guard_negated);
	CU_ASSERT_STRING_EQUAL(register_name(f, f->instructions[1].guard), "%p2");
	CU_ASSERT_EQUAL(f->labels[f->instructions[0].operands[0].label].at, 3);
	f = read_text(".func f()\n{\nret;\n}\n");
	CU_ASSERT_EQUAL(f->instructions[0].flags, 0); /* it returns to the caller, so it is no exit */
}

static void calls_have_results_function_and_parameters(void)
{
	const struct ptx_function *f =
	    read_body("{\n.param .b32 p0;\n.param .align 8 .b8 p1[24];\n.param .b32 retval0;\n"
		      "st.param.b32 [p0+0], %r1;\ncall.uni (retval0),\nf,\n(\np0,\np1\n);\n"
		      "ld.param.b32 %r2, [retval0+0];\n}\n"
		      "proto : .callprototype (.param .b32 _) _ (.param .b64 _);\n"
		      "call (retval0), %rd1, (p0), proto;\ncall g;\n");
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 5);
	CU_ASSERT_EQUAL(f->label_count, 0);
	const struct ptx_operand *o = f->instructions[1].operands;
	CU_ASSERT_EQUAL_FATAL(f->instructions[1].operand_count, 4);
	CU_ASSERT_TRUE(o[0].write);
	CU_ASSERT_STRING_EQUAL(o[0].text, "retval0");
	CU_ASSERT_FALSE(o[1].write);
	CU_ASSERT_STRING_EQUAL(o[1].text, "f");
	CU_ASSERT_STRING_EQUAL(o[3].text, "p1");
	CU_ASSERT_EQUAL(f->instructions[3].operand_count, 3); /* without its prototype */
	CU_ASSERT_EQUAL(f->instructions[3].operands[1].kind, PTX_REGISTER);
	CU_ASSERT_EQUAL(f->instructions[4].operands[0].kind, PTX_SYMBOL);
	CU_ASSERT_EQUAL(f->instructions[4].flags, CODE_CALL);
	CU_ASSERT_EQUAL(f->variable_count, 4); /* the function's own parameter comes first */
	CU_ASSERT_STRING_EQUAL(f->variables[0].name, "a");
	CU_ASSERT_EQUAL(f->variables[2].bytes, 24);
}

static void tables_of_branches_are_listed(void)
{
	const struct ptx_function *f =
	    read_body("$ts: .branchtargets L1, L2, L1;\n@%p1 brx.idx %r1, $ts;\nbrx.idx %r2, late;\n"
		      "L1: ret;\nL2: ret;\nlate: .branchtargets L2;\n");
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 4);
	const struct ptx_instruction *i = &f->instructions[0];
	CU_ASSERT_EQUAL_FATAL(i->operand_count, 4);
	CU_ASSERT_STRING_EQUAL(register_name(f, i->operands[0].reg), "%r1");
	CU_ASSERT_EQUAL(f->labels[i->operands[1].label].at, 2);
	CU_ASSERT_EQUAL(f->labels[i->operands[2].label].at, 3);
	CU_ASSERT_EQUAL(i->operands[3].label, i->operands[1].label);
	CU_ASSERT_EQUAL(i->flags, CODE_GUARDED | CODE_CONDITIONAL);
	CU_ASSERT_EQUAL(f->instructions[1].operand_count, 2);
	CU_ASSERT_EQUAL(f->label_count, 2);
}

static void scopes_have_registers_and_labels_of_their_own(void)
{
	const struct ptx_function *f = read_body(
	    "{ .reg .pred p; .reg .b64 %r1, t<4>;\nAGAIN: setp.eq.s64 p, %r1, t2; @p bra DONE; bra AGAIN; DONE: }\n"
	    "{ .reg .pred p;\nAGAIN: setp.eq.s32 p, %r1, 1; @p bra DONE; bra AGAIN; DONE: }\nbra AGAIN;\nbra.uni END;\n"
	    "{{ bra END; }}\nEND: ret;\n");
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 10);
	const struct ptx_instruction *i = f->instructions;
	CU_ASSERT_EQUAL(f->registers[i[0].operands[1].reg].bits, 64);
	CU_ASSERT_EQUAL(f->registers[i[0].operands[2].reg].bits, 64);
	CU_ASSERT_EQUAL(f->registers[i[3].operands[1].reg].bits, 32);
	CU_ASSERT_NOT_EQUAL(i[0].operands[0].reg, i[3].operands[0].reg);
	CU_ASSERT_EQUAL(f->labels[i[1].operands[0].label].at, 3);
	CU_ASSERT_EQUAL(f->labels[i[2].operands[0].label].at, 0);
	CU_ASSERT_EQUAL(f->labels[i[4].operands[0].label].at, 6);
	CU_ASSERT_EQUAL(f->labels[i[5].operands[0].label].at, 3);
	CU_ASSERT_EQUAL(i[6].operands[0].label, -1); /* not valid out here */
	CU_ASSERT_EQUAL(f->labels[i[7].operands[0].label].at, 9);
	CU_ASSERT_EQUAL(i[8].operands[0].label, i[7].operands[0].label);
}

static void vector_registers_fall_apart(void)
{
	const struct ptx_function *f = read_body(".reg .v4 .f32 w; .reg .v2.u32 q7;\nld.global.v4.f32 w, "
						 "[%rd1];\nadd.f32 %f1, w.x, w.a;\nmov.u32 %r1, q7.y;");
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 3);
	CU_ASSERT_EQUAL(f->instructions[0].operand_count, 5);
	CU_ASSERT_TRUE(f->instructions[0].operands[3].write);
	CU_ASSERT_STRING_EQUAL(register_name(f, f->instructions[1].operands[1].reg), "w.x");
	CU_ASSERT_STRING_EQUAL(register_name(f, f->instructions[1].operands[2].reg), "w.w");
	CU_ASSERT_STRING_EQUAL(register_name(f, f->instructions[2].operands[1].reg), "q7.y");
	CU_ASSERT_TRUE(f->registers[f->instructions[1].operands[1].reg].real);
}

static void registers_have_numbers_and_widths(void)
{
	const struct ptx_function *f =
	    read_body(".reg .b16 h; .reg .b128 big; .reg .f16x2 pair; .reg .b32 %r1x<3>;\n"
		      "t %p8, %r98, %f97, %fd3, %rd12, h, big, pair, %r1x2;\nt %r99, %r098;");
	static const struct {
		uint8_t bits;
		bool real;
		uint32_t number;
	} expected[] = {{1, 0, 8},  {32, 0, 98}, {32, 1, 97}, {64, 1, 3}, {64, 0, 12}, {16, 0, 0},
	                {128, 0, 0}, {32, 0, 0}, {32, 0, 2}};
	CU_ASSERT_EQUAL_FATAL(f->instructions[0].operand_count, 9);
	for (uint32_t i = 0; i < 9; i++) {
		const struct ptx_register *r = &f->registers[f->instructions[0].operands[i].reg];
		CU_ASSERT_EQUAL(r->bits, expected[i].bits);
		CU_ASSERT_EQUAL(r->real, expected[i].real);
		CU_ASSERT_EQUAL(r->number, expected[i].number);
	}
	CU_ASSERT_EQUAL(f->instructions[1].operands[0].kind, PTX_SPECIAL); /* it does not belong to %r<99> */
	CU_ASSERT_EQUAL(f->instructions[1].operands[1].kind, PTX_SPECIAL);
}

static int finish(void)
{
	ptx_free(module);
	module = NULL;
	return 0;
}

void add_ptx_tests(void)
{
	CU_pSuite suite = CU_add_suite("ptx", NULL, finish);
	CU_ADD_TEST(suite, opcodes_have_their_classes);
	CU_ADD_TEST(suite, unknown_opcodes_are_listed_and_classed_by_their_type);
	CU_ADD_TEST(suite, uses_are_what_is_written_read_and_waited_for);
	CU_ADD_TEST(suite, asynchronous_copies_are_waited_for);
	CU_ADD_TEST(suite, groups_of_copies_are_bounded);
	CU_ADD_TEST(suite, constants_have_their_values);
	CU_ADD_TEST(suite, addresses_and_names_have_offsets);
	CU_ADD_TEST(suite, guards_and_exits_have_flags);
	CU_ADD_TEST(suite, calls_have_results_function_and_parameters);
	CU_ADD_TEST(suite, tables_of_branches_are_listed);
	CU_ADD_TEST(suite, scopes_have_registers_and_labels_of_their_own);
	CU_ADD_TEST(suite, vector_registers_fall_apart);
	CU_ADD_TEST(suite, registers_have_numbers_and_widths);
}
