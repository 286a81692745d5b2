/* Names of instructions in traces for Accel-Sim. Expected ones are what NVIDIA's assembler makes of the PTX, without what a trace does not need. */
#include "analysis/sass/opcodes.h"
#include "runtime/cmd/accelsim/export/export.h"
#include "tests/tests.h"

#include <string.h>

static const char *named(uint8_t class, const char *ptx, unsigned arch)
{
	static char name[32];
	const char *found = export_opcode(class, ptx, arch, name, sizeof name);
	return found ? found : "";
}

/* Names of machine code that Accel-Sim's tables have, by binary version: VIADD is Hopper's, F2FP Ampere's, REDG in none. */
static void known_names(void)
{
	CU_ASSERT(export_opcode_is_known("FFMA", 70) && export_opcode_is_known("ULDC", 75) && export_opcode_is_known("VIADD", 90));
	CU_ASSERT(!export_opcode_is_known("VIADD", 86) && !export_opcode_is_known("F2FP", 75) && export_opcode_is_known("F2FP", 80));
	CU_ASSERT(!export_opcode_is_known("REDG", 90) && !export_opcode_is_known("add.s32", 90) && !export_opcode_is_known("", 90));
}

static void names(void)
{
	CU_ASSERT_STRING_EQUAL(named(CODE_int, "add.s32", 70), "IADD3");
	CU_ASSERT_STRING_EQUAL(named(CODE_int, "setp.lt.s32", 70), "ISETP.LT.AND");
	CU_ASSERT_STRING_EQUAL(named(CODE_int, "cvt.rn.f32.s32", 90), "I2FP.F32.S32");
	CU_ASSERT_STRING_EQUAL(named(CODE_int_mul, "shl.b32", 90), "IMAD.SHL.U32");
	CU_ASSERT_STRING_EQUAL(named(CODE_int_minmax, "min.s32", 80), "IMNMX");
	CU_ASSERT_STRING_EQUAL(named(CODE_int_minmax, "min.s32", 90), "VIMNMX");
	CU_ASSERT_STRING_EQUAL(named(CODE_logic, "shr.s32", 70), "SHF.R.S32.HI");
	CU_ASSERT_STRING_EQUAL(named(CODE_logic, "shr.u32", 70), "SHF.R.U32.HI");
	CU_ASSERT_STRING_EQUAL(named(CODE_logic, "and.b32", 70), "LOP3.LUT");
	CU_ASSERT_STRING_EQUAL(named(CODE_logic, "and.pred", 70), "PLOP3.LUT");
	CU_ASSERT_STRING_EQUAL(named(CODE_fp32, "mul.rn.f32", 70), "FMUL");
	CU_ASSERT_STRING_EQUAL(named(CODE_fp32, "sub.f32", 70), "FADD");
	CU_ASSERT_STRING_EQUAL(named(CODE_fp32_fma, "fma.rn.f16x2", 70), "HFMA2");
	CU_ASSERT_STRING_EQUAL(named(CODE_fp32_minmax, "setp.gtu.f32", 70), "FSETP.GTU.AND");
	CU_ASSERT_STRING_EQUAL(named(CODE_fp64, "mul.rn.f64", 70), "DMUL");
	CU_ASSERT_STRING_EQUAL(named(CODE_sfu, "rsqrt.approx.ftz.f32", 70), "MUFU.RSQ");
	CU_ASSERT_STRING_EQUAL(named(CODE_sfu, "lg2.approx.f32", 70), "MUFU.LG2");
	CU_ASSERT_STRING_EQUAL(named(CODE_conv, "cvt.rzi.s32.f32", 70), "F2I.TRUNC.NTZ");
	CU_ASSERT_STRING_EQUAL(named(CODE_conv, "cvt.rn.f32.s32", 70), "I2F");
	CU_ASSERT_STRING_EQUAL(named(CODE_conv, "cvt.f64.f32", 70), "F2F");
	CU_ASSERT_STRING_EQUAL(named(CODE_conv, "cvt.rni.f32.f32", 70), "FRND");
	CU_ASSERT_STRING_EQUAL(named(CODE_conv, "popc.b32", 70), "POPC");
	CU_ASSERT_STRING_EQUAL(named(CODE_shuffle, "shfl.sync.bfly.b32", 70), "SHFL.BFLY");
	CU_ASSERT_STRING_EQUAL(named(CODE_shuffle, "mov.u32", 70), "S2R");
	CU_ASSERT_STRING_EQUAL(named(CODE_load, "ld.global.f32", 70), "");
	CU_ASSERT_STRING_EQUAL(export_atomic_suffix("atom.global.cas.b32"), ".CAS");
	CU_ASSERT_STRING_EQUAL(export_atomic_suffix("red.shared.add.u32"), ".ADD");
}

/* Whatever is written is of its class again when it is read, with one result, and of Volta only what its tables have. */
static void read_again(void)
{
	static const char *const words[] = {"add.s32", "sub.u64", "mul.lo.s32", "mul.hi.u32", "mul.f32", "mul.f16", "add.f16x2", "mad.lo.s32", "mad.hi.s32", "fma.rn.f32",
	                                    "fma.rn.f16", "setp.eq.s32", "setp.lt.f16", "set.gt.f32.f32", "selp.b32", "abs.s32", "shl.b32", "shr.s64", "shf.l.wrap.b32",
	                                    "bfe.u32", "prmt.b32", "cvt.s64.s32", "cvt.u16.u32", "cvt.rn.f32.s32", "cvt.rzi.u32.f32", "cvt.f32.f64", "popc.b32", "clz.b32",
	                                    "brev.b32", "rcp.approx.f32", "sqrt.rn.f32", "sin.approx.f32", "tanh.approx.f32", "div.rn.f32", "vote.ballot.b32", "mov.u32",
	                                    "match.any.sync.b32", "redux.sync.add.s32", "shfl.up.b32", "bar.red.popc.u32", "bar.sync", "dp4a.s32.s32", "", "?"};
	static const uint8_t classes[] = {CODE_int, CODE_int_mul, CODE_int_mad, CODE_int_minmax, CODE_fp32, CODE_fp32_fma, CODE_fp32_minmax, CODE_fp64, CODE_sfu,
	                                  CODE_conv, CODE_logic, CODE_move, CODE_shuffle, CODE_barrier};
	static const char *const not_volta[] = {"SHL", "I2FP", "VIMNMX", "REDUX", "HMNMX2", "F2FP", "LDSM"};
	for (size_t c = 0; c < GS_ARRAY_LEN(classes); c++)
		for (size_t i = 0; i < GS_ARRAY_LEN(words); i++)
			for (unsigned arch = 70; arch <= 90; arch += 20) {
				const char *name = named(classes[c], words[i], arch);
				struct sass_opcode o = sass_look_up(name);
				CU_ASSERT(*name && o.name && o.class == classes[c] && o.results == (classes[c] == CODE_fp64 ? 2 : 1));
				for (size_t n = 0; n < GS_ARRAY_LEN(not_volta) && arch == 70; n++)
					CU_ASSERT(!o.name || strcmp(o.name, not_volta[n]) != 0);
			}
}

void add_export_names_tests(void)
{
	CU_pSuite suite = CU_add_suite("export_names", NULL, NULL);
	CU_add_test(suite, "names of PTX instructions", names);
	CU_add_test(suite, "names are of the same class when they are read", read_again);
	CU_add_test(suite, "names of machine code", known_names);
}
