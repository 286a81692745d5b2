/* Names of machine instructions: their classes and what suffixes say. Expected: CUDA Binary Utilities, PTX's shapes of mma. */
#include "analysis/sass/opcodes.h"
#include "tests/tests.h"

#include <string.h>

static void classes(void)
{
	static const struct {
		const char *opcode;
		enum code_class class;
		unsigned results;
	} cases[] = {
		{"FADD", CODE_fp32, 1}, {"FFMA.FTZ.RN", CODE_fp32_fma, 1}, {"DFMA", CODE_fp64_fma, 2}, {"DSETP.GT.AND", CODE_fp64_minmax, 1},
		{"IADD3.X", CODE_int, 1}, {"IMAD.WIDE.U32", CODE_int_mad, 2}, {"IMAD.MOV.U32", CODE_int_mul, 1}, {"LOP3.LUT", CODE_logic, 1},
		{"MUFU.RCP64H", CODE_sfu, 1}, {"F2F.F64.F32", CODE_conv, 2}, {"I2FP.F32.S32", CODE_int, 1}, {"POPC", CODE_conv, 1},
		{"SHFL.DOWN", CODE_shuffle, 1}, {"ULDC.64", CODE_nop, 2}, {"@!P0 BRA", CODE_branch, 1}, {"BAR.SYNC", CODE_barrier, 1},
		{"MEMBAR.SC.GPU", CODE_fence, 1}, {"EXIT", CODE_branch, 1},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct sass_opcode o = sass_look_up(cases[i].opcode);
		CU_ASSERT_PTR_NOT_NULL(o.name);
		CU_ASSERT_EQUAL(o.class, cases[i].class);
		CU_ASSERT_EQUAL(o.results, cases[i].results);
		CU_ASSERT_EQUAL(o.bytes, 0);
	}
	CU_ASSERT(sass_look_up("EXIT").flags & SASS_EXIT);
	CU_ASSERT(sass_look_up("BAR.SYNC.DEFER_BLOCKING").flags & SASS_BARRIER);
	CU_ASSERT_FALSE(sass_look_up("BAR.ARV").flags & SASS_BARRIER);
	CU_ASSERT(sass_look_up("CALL.REL.NOINC").flags & SASS_CALL);
	CU_ASSERT(sass_look_up("UIADD3").flags & SASS_UNIFORM);
	CU_ASSERT_EQUAL(sass_look_up("BRX").elements, CODE_TABLE_WAY);
	CU_ASSERT_EQUAL(sass_look_up("BRA").elements, 1);
}

static void accesses(void)
{
	static const struct {
		const char *opcode;
		unsigned bytes;
		enum code_space space;
		unsigned flag;
	} cases[] = {
		{"LDG.E.128.SYS", 16, SPACE_global, SASS_LOAD}, {"LDG.E.U8.CONSTANT", 1, SPACE_global, SASS_LOAD}, {"LDG.E.LTC128B.64", 8, SPACE_global, SASS_LOAD},
		{"LDS.U.S16", 2, SPACE_shared, SASS_LOAD}, {"LDS", 4, SPACE_shared, SASS_LOAD}, {"LDSM.16.M88.4", 16, SPACE_shared, SASS_LOAD},
		{"STG.E.64", 8, SPACE_global, SASS_STORE}, {"STL", 4, SPACE_local, SASS_STORE}, {"ST.E.128", 16, SPACE_generic, SASS_STORE},
		{"RED.E.ADD.F32.FTZ.RN.STRONG.GPU", 4, SPACE_global, SASS_ATOMIC}, {"RED.E.ADD.F16x2.RN", 4, SPACE_global, SASS_ATOMIC},
		{"ATOMG.E.ADD.64.STRONG.GPU", 8, SPACE_global, SASS_ATOMIC}, {"ATOMS.POPC.INC.32", 4, SPACE_shared, SASS_ATOMIC},
		{"LDC.64", 8, SPACE_const, SASS_LOAD}, {"LDGSTS.E.BYPASS.128", 16, SPACE_global, SASS_COPY}, {"SYNCS.ARRIVE.TRANS64", 8, SPACE_shared, SASS_ATOMIC},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct sass_opcode o = sass_look_up(cases[i].opcode);
		CU_ASSERT_EQUAL(o.bytes, cases[i].bytes);
		CU_ASSERT_EQUAL(o.space, cases[i].space);
		CU_ASSERT(o.flags & cases[i].flag);
	}
	CU_ASSERT_EQUAL(sass_look_up("LDG.E.128").results, 4);
}

/* A step is 16 by 8 sums of 32 bytes of products (tensor) or of 16 bytes (tensor_half). */
static void products(void)
{
	static const struct {
		const char *opcode;
		enum code_class class;
		unsigned steps;
	} cases[] = {
		{"HMMA.16816.F32", CODE_tensor, 1}, {"HMMA.1688.F32", CODE_tensor_half, 1}, {"HMMA.1688.F32.TF32", CODE_tensor, 1},
		{"HMMA.884.F32.F32.STEP0", CODE_tensor_half, 1}, {"HMMA.884.F32.F32.STEP2", CODE_nop, 1}, {"IMMA.16832.S8.S8", CODE_tensor, 1},
		{"BMMA.168256.XOR.POPC", CODE_tensor, 1}, {"DMMA.884", CODE_tensor_fp64, 1}, {"HGMMA.64x128x16.F32", CODE_tensor, 16},
		{"QGMMA.64x64x32.F32.E4M3.E4M3", CODE_tensor, 8},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct sass_opcode o = sass_look_up(cases[i].opcode);
		CU_ASSERT_EQUAL(o.class, cases[i].class);
		CU_ASSERT_EQUAL(o.elements, cases[i].steps);
	}
}

static void unknown(void)
{
	CU_ASSERT_PTR_NULL(sass_look_up("FNEW.F32").name);
	CU_ASSERT_EQUAL(sass_look_up("FNEW.F32").class, CODE_fp32);
	CU_ASSERT_EQUAL(sass_look_up("DNEW").class, CODE_fp64);
	CU_ASSERT_EQUAL(sass_look_up("LDNEW.64").class, CODE_load);
	CU_ASSERT_EQUAL(sass_look_up("LDNEW.64").bytes, 8);
	CU_ASSERT_EQUAL(sass_look_up("UNEW").class, CODE_nop);
	CU_ASSERT_EQUAL(sass_look_up("XYZ").class, CODE_int);
	CU_ASSERT_EQUAL(sass_look_up("").class, CODE_int);
	CU_ASSERT_EQUAL(sass_look_up("@P0").class, CODE_int);
}

void add_sass_opcodes_tests(void)
{
	CU_pSuite suite = CU_add_suite("sass_opcodes", NULL, NULL);
	CU_add_test(suite, "classes and results", classes);
	CU_add_test(suite, "spaces and sizes", accesses);
	CU_add_test(suite, "products of matrices", products);
	CU_add_test(suite, "opcodes that are not in the table", unknown);
}
