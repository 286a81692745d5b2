/*
 * Single instructions: what kind they are, what is refused and how, and the text of addresses and operands. tests/instructions executes
 * them one by one; here, atomic operations of many threads at a time are executed as well.
 */
#include "tests/tests.h"

#include "annotator/opcodes/instruction.h"
#include "tests/lift/runner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct ptx_module *module;
static struct gs_buf text;
static struct gs_error error;

static bool find(const struct lift_scope *s, const char *symbol, struct lift_place *out)
{
	(void)s;
	*out = (struct lift_place){*symbol == 's' ? LIFT_SHARED : *symbol == 'p' ? LIFT_PARAMETER : *symbol == 'g' ? LIFT_VARIABLE : LIFT_LOCAL, 16};
	return *symbol != 'x';
}

static void spell(const struct lift_scope *s, int32_t reg, struct gs_buf *out)
{
	gs_buf_printf(out, "%s[l]", s->function->registers[reg].name + 1);
}

/* Reads one instruction. What was read before is freed. */
static struct lift_scope read_one(const char *instruction)
{
	struct gs_buf ptx = {0};
	gs_buf_printf(&ptx, ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p0)\n{\n.reg .pred %%p<4>;\n.reg .b16 %%h<4>;\n"
		      ".reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\n.reg .f32 %%f<4>;\n.reg .f64 %%fd<4>;\n.reg .b128 %%q<2>;\n.param .b32 args;\n%s\n}\n", instruction);
	ptx_free(module);
	module = NULL;
	gs_buf_free(&text);
	text = (struct gs_buf){0};
	memset(&error, 0, sizeof error);
	CU_ASSERT_EQUAL_FATAL(ptx_read(ptx.data, ptx.len, &module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(module->functions[0].instruction_count, 1);
	gs_buf_free(&ptx);
	return (struct lift_scope){.module = module, .function = &module->functions[0], .spell = spell, .find = find};
}

static void free_all(void)
{
	ptx_free(module);
	module = NULL;
	gs_buf_free(&text);
	text = (struct gs_buf){0};
}

static const struct ptx_instruction *one(void)
{
	return &module->functions[0].instructions[0];
}

static void kinds_are_known(void)
{
	static const struct {
		const char *instruction;
		enum lift_kind kind;
	} cases[] = {
		{"add.s32 %r0, %r1, %r2;", LIFT_LANE},
		{"ld.global.u32 %r0, [%rd0];", LIFT_LANE},
		{"ld.global.nc.u32 %r0, [%rd0];", LIFT_LANE},
		{"ld.volatile.shared.u32 %r0, [%r1];", LIFT_ORDERED},
		{"ld.relaxed.gpu.global.u32 %r0, [%rd0];", LIFT_ORDERED},
		{"ld.acquire.sys.u32 %r0, [%rd0];", LIFT_ORDERED},
		{"st.release.gpu.global.u32 [%rd0], %r0;", LIFT_ORDERED},
		{"st.volatile.shared.u32 [%r0], %r1;", LIFT_ORDERED},
		{"st.shared.u32 [%r0], %r1;", LIFT_LANE},
		{"atom.global.add.u32 %r0, [%rd0], %r1;", LIFT_ORDERED},
		{"red.shared.add.u32 [%r0], %r1;", LIFT_ORDERED},
		{"membar.gl;", LIFT_ORDERED},
		{"fence.acq_rel.gpu;", LIFT_ORDERED},
		{"bar.warp.sync -1;", LIFT_WARP},
		{"shfl.sync.idx.b32 %r0, %r1, 0, 31, -1;", LIFT_WARP},
		{"vote.sync.ballot.b32 %r0, %p0, -1;", LIFT_WARP},
		{"match.any.sync.b32 %r0, %r1, -1;", LIFT_WARP},
		{"redux.sync.add.s32 %r0, %r1, -1;", LIFT_WARP},
		{"activemask.b32 %r0;", LIFT_WARP},
		{"elect.sync %r0|%p0, -1;", LIFT_WARP},
		{"bar.sync 0;", LIFT_FLOW},
		{"barrier.sync.aligned 0;", LIFT_FLOW},
		{"bar.red.popc.u32 %r0, 0, %p0;", LIFT_FLOW},
		{"exit;", LIFT_FLOW},
		{"ret;", LIFT_FLOW},
		{"trap;", LIFT_FLOW},
		{"prefetch.global.L2 [%rd0];", LIFT_NOTHING},
		{"nanosleep.u32 5;", LIFT_NOTHING},
		{"cp.async.commit_group;", LIFT_NOTHING},
		{"cp.async.wait_group 1;", LIFT_NOTHING},
		{"cp.async.ca.shared.global [%r0], [%rd0], 4;", LIFT_LANE},
		{"griddepcontrol.wait;", LIFT_NOTHING},
		{"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f0, %f1}];", LIFT_LANE},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct lift_scope s = read_one(cases[i].instruction);
		if (lift_kind(one()) != cases[i].kind)
			fprintf(stderr, "\n%s\n", cases[i].instruction);
		CU_ASSERT_EQUAL(lift_kind(one()), cases[i].kind);
		if (cases[i].kind != LIFT_NOTHING)
			continue;
		CU_ASSERT_EQUAL(lift_statement(&s, one(), &text, &error), 0);
		CU_ASSERT_EQUAL(text.len, 0);
	}
	free_all();
}

static void what_is_not_lifted_is_refused(void)
{
	static const struct {
		const char *instruction, *message;
	} cases[] = {
		{"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [x, {%f0, %f1}];", "line 14: tex.2d.v4.f32.f32: x is not known"},
		{"sust.b.2d.b32.trap [x, {%r0, %r1}], {%r2};", "line 14: sust.b.2d.b32.trap: x is not known"},
		{"sust.b.2d.v2.b32.trap [%rd0, {%r0, %r1}], {%r2};", "line 14: sust.b.2d.v2.b32.trap: its form is not known"},
		{"suld.b.2d.b32.trap {%r0}, [%rd0, {%r1}];", "line 14: suld.b.2d.b32.trap: its form is not known"},
		{"suld.b.cube.b32.trap {%r0}, [%rd0, {%r1}];", "line 14: suld.b.cube.b32.trap: .cube is not known"},
		{"sust.p.2d.b32.trap [%rd0, {%r0, %r1}], {%r2};",
		 "line 14: sust.p.2d.b32.trap: textures and surfaces by anything but tex, tld4, suld.b, sust.b and queries of sizes are not lifted yet"},
		{"suq.channel_order.b32 %r0, [%rd0];", "line 14: suq.channel_order.b32: .channel_order is not known"},
		{"txq.level.width.b32 %r0, [%rd0], %r1;", "line 14: txq.level.width.b32: .level is not known"},
		{"tld4.r.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd0, {%r0, %r1}];", "line 14: tld4.r.2d.v4.f32.s32: this kind of texture is not lifted yet"},
		{"tex.level.cube.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%f0, %f1, %f2, %f3}], %f0;",
		 "line 14: tex.level.cube.v4.f32.f32: this kind of texture is not lifted yet"},
		{"ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r0}, [%r1];", "line 14: ldmatrix.sync.aligned.m8n16.x1.shared.b8: .m8n16 is not known"},
		{"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0}, [%r1];", "line 14: ldmatrix.sync.aligned.m8n8.x2.shared.b16: its form is not known"},
		{"mma.sync.aligned.m16n8k16.row.col.f32.s8.s8.f32 {%r0}, {%r1}, {%r2}, {%r3};",
		 "line 14: mma.sync.aligned.m16n8k16.row.col.f32.s8.s8.f32: its form is not known"},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.f16.f32 {%r0}, {%r1}, {%r2}, {%r3};",
		 "line 14: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.f16.f32: its form is not known"},
		{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.e4m3.e4m3.f32 {%r0}, {%r1}, {%r2}, {%r3};",
		 "line 14: wmma.mma.sync.aligned.row.col.m16n16k16.f32.e4m3.e4m3.f32: its form is not known"},
		{"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0}, {%r1}, {%r2}, {%r3};",
		 "line 14: mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32: it has another number of registers"},
		{"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0}, {%r1}, {%r2}, {%r3}, %r4, 0;",
		 "line 14: mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: these matrix instructions are not lifted yet"},
		{"wgmma.fence.sync.aligned;", "line 14: wgmma.fence.sync.aligned: these matrix instructions are not lifted yet"},
		{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];",
		 "line 14: st.async.shared::cluster.mbarrier::complete_tx::bytes.u32: stores that count bytes at barriers are not lifted yet"},
		{"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r2}], [%r1];",
		 "line 14: cp.async.bulk.tensor.1d.global.shared::cta.bulk_group: bulk copies of tensors and bulk sums are not lifted yet"},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16;",
		 "line 14: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes: its operands are not known"},
		{"clusterlaunchcontrol.try_cancel.async [%r0], [%r1];",
		 "line 14: clusterlaunchcontrol.try_cancel.async: clusters of groups are not lifted yet"},
		{"stacksave.u64 %rd0;", "line 14: stacksave.u64: memory on the stack is not lifted yet"},
		{"frobnicate.u32 %r0, %r1;", "line 14: frobnicate.u32: the instruction is not known"},
		{"add.odd.u32 %r0, %r1, %r2;", "line 14: add.odd.u32: .odd is not known"},
		{"add.u32 %r0, %r1;", "line 14: add.u32: an operand is missing"},
		{"mul.pred %p0, %p1, %p2;", "line 14: mul.pred: it is not known for pred"},
		{"mov.u32 %r0, %nothing;", "line 14: mov.u32: the special register %nothing is not known"},
		{"mov.u64 %rd0, xyz;", "line 14: mov.u64: xyz is not known"},
		{"atom.global.cas.b128 %q0, [%rd0], %q1, %q1;", "line 14: atom.global.cas.b128: it is not known for b128"},
		{"atom.global.min.f32 %f0, [%rd0], %f1;", "line 14: atom.global.min.f32: it is not known for f32"},
		{"setp.equ.s32 %p0, %r0, %r1;", "line 14: setp.equ.s32: the comparison is not known for s32"},
		{"setp.lo.f32 %p0, %f0, %f1;", "line 14: setp.lo.f32: the comparison is not known for f32"},
		{"lop3.b32 %r0, %r1, %r2, %r3, %r0;", "line 14: lop3.b32: its table is not a constant, or its type is not b32"},
		{"ld.global.v4.u32 {%r0, %r1}, [%rd0];", "line 14: ld.global.v4.u32: its vector has another number of elements"},
		{"ld.global.b128 %rd0, [%rd1];", "line 14: ld.global.b128: a register has another size than its type"},
		{"vadd.u32.u32.u32 %r0, %r1.b4, %r2;", "line 14: vadd.u32.u32.u32: .b4 is not a part of a register"},
		{"cvt.rn.satfinite.e2m1x2.f32 %h0, %f1, %f2;", "line 14: cvt.rn.satfinite.e2m1x2.f32: .e2m1x2 is not known"},
		{"cvt.rn.e4m3x2.f64 %h0, %fd1;", "line 14: cvt.rn.e4m3x2.f64: it is not known for these types"},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct lift_scope s = read_one(cases[i].instruction);
		CU_ASSERT_EQUAL(lift_statement(&s, one(), &text, &error), -ENOTSUP);
		if (strcmp(error.text, cases[i].message))
			fprintf(stderr, "\n%s\n", error.text);
		CU_ASSERT_STRING_EQUAL(error.text, cases[i].message);
	}
	free_all();
}

static void addresses_are_expressions(void)
{
	static const struct {
		const char *instruction, *address;
	} cases[] = {
		{"ld.global.u32 %r0, [%rd0];", "(rd0[l])"},
		{"ld.global.u32 %r0, [%rd0+8];", "(rd0[l] + 0x8ul)"},
		{"ld.global.u32 %r0, [%rd0+-8];", "(rd0[l] + 0xfffffffffffffff8ul)"},
		{"ld.shared.u32 %r0, [%r1+4];", "(ulong)(r1[l] + 0x4u)"},
		{"st.shared.u32 [%r1], %r0;", "(ulong)(r1[l])"},
		{"ld.shared.u32 %r0, [s+4];", "20ul"},
		{"ld.local.u32 %r0, [l];", "16ul"},
		{"ld.param.u64 %rd0, [p0];", "(GS_PARAMETERS + 16ul)"},
		{"ld.param.u32 %r0, [args];", "(GS_LOCAL + 16ul)"},
		{"ld.global.u32 %r0, [g+4];", "(GS_VARIABLES + 20ul)"},
		{"atom.global.add.u32 %r0, [%rd1], %r1;", "(rd1[l])"},
		{"red.global.add.u32 [%rd1], %r1;", "(rd1[l])"},
		{"cp.async.ca.shared.global [%r0], [%rd1], 4;", "(rd1[l])"},
		{"ld.u32 %r0, [64];", "0x40ul"},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct lift_scope s = read_one(cases[i].instruction);
		CU_ASSERT_EQUAL(lift_address(&s, one(), &text, &error), 0);
		CU_ASSERT_STRING_EQUAL(text.data, cases[i].address);
	}
	struct lift_scope s = read_one("add.u32 %r0, %r1, %r2;");
	CU_ASSERT_EQUAL(lift_address(&s, one(), &text, &error), -ENOTSUP);
	free_all();
}

static void operands_are_expressions(void)
{
	static const struct {
		const char *instruction, *type, *value;
	} cases[] = {
		{"mov.u32 %r0, %r1;", "u32", "r1[l]"},
		{"mov.u32 %r0, %r1;", "s32", "((int)r1[l])"},
		{"mov.u32 %r0, %r1;", "f32", "as_float(r1[l])"},
		{"mov.f32 %f0, %f1;", "f32", "f1[l]"},
		{"mov.f32 %f0, %f1;", "u32", "as_uint(f1[l])"},
		{"mov.f64 %fd0, %fd1;", "b64", "as_ulong(fd1[l])"},
		{"mov.u16 %h0, %h1;", "s32", "((int)(short)h1[l])"},
		{"mov.pred %p0, !%p1;", "pred", "(p1[l] ^ 1u)"},
		{"mov.pred %p0, %p1;", "pred", "(p1[l])"},
		{"mov.u32 %r0, -1;", "u32", "0xffffffffu"},
		{"mov.u32 %r0, -1;", "s32", "((int)0xffffffffu)"},
		{"mov.f32 %f0, 0f3F800000;", "f32", "as_float(0x3f800000u)"},
		{"mov.f32 %f0, 1.5;", "f32", "as_float(0x3fc00000u)"},
		{"mov.u32 %r0, %tid.x;", "u32", "((uint)GS_TID_X)"},
		{"mov.u64 %rd0, g;", "u64", "((ulong)(GS_VARIABLES + 16ul))"},
		{"mov.u32 %r0, s;", "u32", "((uint)16ul)"},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct lift_scope s = read_one(cases[i].instruction);
		CU_ASSERT_EQUAL(lift_value(&s, &one()->operands[1], cases[i].type, &text, &error), 0);
		if (strcmp(text.data, cases[i].value))
			fprintf(stderr, "\n%s\n", text.data);
		CU_ASSERT_STRING_EQUAL(text.data, cases[i].value);
	}
	free_all();
}

static void registers_have_types(void)
{
	static const struct {
		uint8_t bits;
		bool real;
		const char *type;
	} cases[] = {{1, false, "uint"}, {8, false, "ushort"}, {16, false, "ushort"}, {32, false, "uint"}, {32, true, "float"}, {64, false, "ulong"}, {64, true, "double"},
		     {128, false, "ulong2"}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++)
		CU_ASSERT_STRING_EQUAL(lift_storage(&(struct ptx_register){.bits = cases[i].bits, .real = cases[i].real}), cases[i].type);
}

/* Every thread of 32 groups adds to the same words, which other groups do at the same time. */
static void atomics_lose_nothing(void)
{
	static const char ptx[] =
	    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n"
	    ".reg .f64 %fd<9>;\n.reg .b16 %h<9>;\n"
	    "ld.param.u64 %rd0, [p];\nred.global.add.u32 [%rd0], 1;\natom.global.add.u64 %rd1, [%rd0+8], 1;\n"
	    "mov.f32 %f0, 0f3F800000;\nred.global.add.f32 [%rd0+16], %f0;\nmov.f64 %fd0, 0d3FF0000000000000;\nred.add.f64 [%rd0+24], %fd0;\n"
	    "atom.global.inc.u32 %r0, [%rd0+32], 99;\natom.global.dec.u32 %r1, [%rd0+36], 99;\n"
	    "mov.b32 %r2, 0x00003c00;\nmov.b16 %h0, 0x3c00;\nred.global.max.u32 [%rd0+40], %r2;\natom.global.add.noftz.f16 %h1, [%rd0+46], %h0;\n"
	    "ret;\n}\n";
	enum { GROUPS = 32, THREADS = 128 };
	static uint64_t words[8];
	struct lift_runner *r = NULL;
	uint64_t address = (uint64_t)words;
	const void *arguments[] = {&address};
	struct lift_run run = {.kernel = "k", .grid = {GROUPS}, .block = {THREADS}, .arguments = arguments, .argument_count = 1};
	memset(words, 0, sizeof words);
	CU_ASSERT_EQUAL_FATAL(runner_create(ptx, sizeof ptx - 1, LIFT_COUNTING, &r, &error), 0);
	CU_ASSERT_EQUAL_FATAL(runner_run(r, &run, &error), 0);
	float sum;
	double long_sum;
	memcpy(&sum, &words[2], sizeof sum);
	memcpy(&long_sum, &words[3], sizeof long_sum);
	CU_ASSERT_EQUAL(words[0], GROUPS * THREADS);
	CU_ASSERT_EQUAL(words[1], GROUPS * THREADS);
	CU_ASSERT_EQUAL(sum, GROUPS * THREADS);
	CU_ASSERT_EQUAL(long_sum, GROUPS * THREADS);
	CU_ASSERT_EQUAL((uint32_t)words[4], GROUPS * THREADS % 100);
	CU_ASSERT_EQUAL(words[4] >> 32, (100 - GROUPS * THREADS % 100) % 100);
	CU_ASSERT_EQUAL(words[5] & 0xffffffffu, 0x3c00);
	CU_ASSERT_EQUAL(words[5] >> 48, 0x6800); /* 2048 in f16: adding 1 changes nothing any more */
	runner_free(r);
}

void add_instruction_tests(void)
{
	CU_pSuite suite = CU_add_suite("instruction", NULL, NULL);
	CU_add_test(suite, "kinds are known", kinds_are_known);
	CU_add_test(suite, "what is not lifted is refused", what_is_not_lifted_is_refused);
	CU_add_test(suite, "addresses are expressions", addresses_are_expressions);
	CU_add_test(suite, "operands are expressions", operands_are_expressions);
	CU_add_test(suite, "registers have types", registers_have_types);
	CU_add_test(suite, "atomics lose nothing", atomics_lose_nothing);
}
