/*
 * Which machine instruction a PTX instruction becomes, by name: simulators of power and latency look at names. Only names that Accel-Sim's tables have,
 * and of which a reader (analysis/sass/opcodes.def) makes the same class again.
 */
#include "runtime/cmd/accelsim/export/export.h"

#include "analysis/sass/opcodes.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { SINCE_AMPERE = 80, SINCE_HOPPER = 90 };

/* Of a class: the first row whose word and modifier the PTX opcode has. NULL: any. */
static const struct export_row {
	uint8_t class;
	const char *word, *modifier, *name;
	uint32_t arch; /* from this one on */
} rows[] = {
	{CODE_int, "setp", NULL, "ISETP", 0},
	{CODE_int, "set", NULL, "ISETP", 0},
	{CODE_int, "abs", NULL, "IABS", 0},
	{CODE_int, "shl", NULL, "LEA", 0},
	{CODE_int, "mad", NULL, "LEA", 0},
	{CODE_int, "cvt", NULL, "I2FP.F32.S32", SINCE_HOPPER},
	{CODE_int, NULL, NULL, "IADD3", 0},
	{CODE_int_mul, "mul", NULL, "IMUL", 0},
	{CODE_int_mul, "mad", NULL, "IMUL", 0},
	{CODE_int_mul, "shl", NULL, "IMAD.SHL.U32", 0},
	{CODE_int_mul, "mov", NULL, "IMAD.MOV.U32", 0},
	{CODE_int_mul, "cvt", NULL, "IMAD.MOV.U32", 0},
	{CODE_int_mul, NULL, NULL, "IMUL", 0},
	{CODE_int_mad, "mul", "hi", "IMAD.HI.U32", 0},
	{CODE_int_mad, "mad", "hi", "IMAD.HI.U32", 0},
	{CODE_int_mad, "add", NULL, "IMAD.IADD", 0},
	{CODE_int_mad, "sub", NULL, "IMAD.IADD", 0},
	{CODE_int_mad, "dp4a", NULL, "IDP", 0},
	{CODE_int_mad, NULL, NULL, "IMAD", 0},
	{CODE_int_minmax, NULL, NULL, "VIMNMX", SINCE_HOPPER},
	{CODE_int_minmax, NULL, NULL, "IMNMX", 0},
	{CODE_fp32, "mul", "f16x2", "HMUL2", 0},
	{CODE_fp32, "mul", "f16", "HMUL2", 0},
	{CODE_fp32, "add", "f16x2", "HADD2", 0},
	{CODE_fp32, "add", "f16", "HADD2", 0},
	{CODE_fp32, "sub", "f16x2", "HADD2", 0},
	{CODE_fp32, "sub", "f16", "HADD2", 0},
	{CODE_fp32, "mul", NULL, "FMUL", 0},
	{CODE_fp32, NULL, NULL, "FADD", 0},
	{CODE_fp32_fma, "fma", "f16x2", "HFMA2", 0},
	{CODE_fp32_fma, "fma", "f16", "HFMA2", 0},
	{CODE_fp32_fma, NULL, NULL, "FFMA", 0},
	{CODE_fp32_minmax, "setp", "f16", "HSETP2", 0},
	{CODE_fp32_minmax, "setp", NULL, "FSETP", 0},
	{CODE_fp32_minmax, "set", NULL, "FSET", 0},
	{CODE_fp32_minmax, "selp", NULL, "FSEL", 0},
	{CODE_fp32_minmax, NULL, NULL, "FMNMX", 0},
	{CODE_fp64, "mul", NULL, "DMUL", 0},
	{CODE_fp64, NULL, NULL, "DADD", 0},
	{CODE_sfu, "rcp", NULL, "MUFU.RCP", 0},
	{CODE_sfu, "div", NULL, "MUFU.RCP", 0},
	{CODE_sfu, "rem", NULL, "MUFU.RCP", 0},
	{CODE_sfu, "rsqrt", NULL, "MUFU.RSQ", 0},
	{CODE_sfu, "sqrt", NULL, "MUFU.RSQ", 0},
	{CODE_sfu, "lg2", NULL, "MUFU.LG2", 0},
	{CODE_sfu, "sin", NULL, "MUFU.SIN", 0},
	{CODE_sfu, "cos", NULL, "MUFU.COS", 0},
	{CODE_sfu, "tanh", NULL, "MUFU.TANH", 0},
	{CODE_sfu, NULL, NULL, "MUFU.EX2", 0},
	{CODE_conv, "popc", NULL, "POPC", 0},
	{CODE_conv, "clz", NULL, "FLO.U32", 0},
	{CODE_conv, "bfind", NULL, "FLO.U32", 0},
	{CODE_conv, "brev", NULL, "BREV", 0},
	{CODE_logic, "shl", NULL, "SHF.L.U32", 0},
	{CODE_logic, "shr", "s32", "SHF.R.S32.HI", 0},
	{CODE_logic, "shr", "s64", "SHF.R.S32.HI", 0},
	{CODE_logic, "shr", NULL, "SHF.R.U32.HI", 0},
	{CODE_logic, "shf", NULL, "SHF.L.W.U32.HI", 0},
	{CODE_logic, "bfe", NULL, "SHF.R.U32.HI", 0},
	{CODE_logic, "prmt", NULL, "PRMT", 0},
	{CODE_logic, "cvt", "s64", "SHF.R.S32.HI", 0},
	{CODE_logic, "cvt", NULL, "PRMT", 0},
	{CODE_logic, "setp", NULL, "PLOP3.LUT", 0},
	{CODE_logic, NULL, "pred", "PLOP3.LUT", 0},
	{CODE_logic, NULL, NULL, "LOP3.LUT", 0},
	{CODE_move, "selp", NULL, "SEL", 0},
	{CODE_move, "vote", NULL, "VOTE.ANY", 0},
	{CODE_move, "activemask", NULL, "VOTE.ANY", 0},
	{CODE_move, NULL, NULL, "MOV", 0},
	{CODE_shuffle, "mov", NULL, "S2R", 0},
	{CODE_shuffle, "match", NULL, "MATCH.ANY", 0},
	{CODE_shuffle, "redux", NULL, "REDUX", SINCE_HOPPER},
	{CODE_shuffle, "shfl", "up", "SHFL.UP", 0},
	{CODE_shuffle, "shfl", "down", "SHFL.DOWN", 0},
	{CODE_shuffle, "shfl", "bfly", "SHFL.BFLY", 0},
	{CODE_shuffle, NULL, NULL, "SHFL.IDX", 0},
	{CODE_barrier, "bar", "red", "BAR.RED.POPC", 0},
	{CODE_barrier, "barrier", "red", "BAR.RED.POPC", 0},
	{CODE_barrier, NULL, NULL, "BAR.SYNC", 0},
};

/* Opcodes of machine code (analysis/sass/opcodes.def) that the tables of no binary version have, or only those of Hopper. */
bool export_opcode_is_known(const char *name, unsigned arch)
{
	static const char *const never[] = {"FMNMX3", "HFMA2_MMA", "DMNMX", "DSET", "QMMA", "IGMMA", "BGMMA", "ICMP", "ISET", "VHMNMX", "IMADSP", "XMAD", "BFE",
	                                    "BFI", "STSM", "REDG", "REDAS", "TEXS", "TLDS", "WARPGROUPSET", "ACQBULK", "PREEXIT", "CREATEPOLICY", "UIMNMX",
	                                    "UVIMNMX", "UCS2R", "UR2UR", "UI2FP"};
	static const char *const hopper[] = {"VIADD", "VIADDMNMX", "VIMNMX", "VIMNMX3", "CGAERRBAR", "UBLKCP", "UBLKPF", "UBLKRED", "UTMALDG", "UTMAPF",
	                                     "UTMAREDG", "UTMASTG", "UTMACCTL", "UTMACMDFLUSH", "FENCE", "SYNCS", "ARRIVES", "UCGABAR_ARV", "UCGABAR_WAIT",
	                                     "WARPGROUP", "QGMMA", "HGMMA", "ELECT", "USETMAXREG"};
	static const char *const ampere[] = {"HMNMX2", "DMMA", "F2FP", "I2FP", "F2IP", "LDGDEPBAR", "LDGSTS", "REDUX", "UF2FP", "SUQUERY"};
	static const struct {
		const char *const *names;
		size_t count;
		unsigned arch;
	} lists[] = {{never, GS_ARRAY_LEN(never), UINT_MAX}, {hopper, GS_ARRAY_LEN(hopper), SINCE_HOPPER}, {ampere, GS_ARRAY_LEN(ampere), SINCE_AMPERE}};
	for (size_t l = 0; l < GS_ARRAY_LEN(lists); l++)
		for (size_t i = 0; i < lists[l].count && arch < lists[l].arch; i++)
			if (!strcmp(lists[l].names[i], name))
				return false;
	return *name && sass_look_up(name).name;
}

static bool has_modifier(const char *ptx, const char *modifier)
{
	size_t length = strlen(modifier);
	for (const char *at = strchr(ptx, '.'); at; at = strchr(at + 1, '.'))
		if (!strncmp(at + 1, modifier, length) && (!at[1 + length] || at[1 + length] == '.'))
			return true;
	return false;
}

static bool has_first_word(const char *ptx, const char *word)
{
	size_t length = strlen(word);
	return !strncmp(ptx, word, length) && (!ptx[length] || ptx[length] == '.');
}

/* The first of the words that the opcode has, in capitals behind a point; or `fallback`. */
static const char *choose(const char *ptx, const char *const *words, const char *const *names, const char *fallback)
{
	for (size_t i = 0; words[i]; i++)
		if (has_modifier(ptx, words[i]))
			return names[i];
	return fallback;
}

static const char *comparison(const char *ptx)
{
	static const char *const words[] = {"lt", "le", "gt", "ge", "eq", "ne", "ltu", "leu", "gtu", "geu", "equ", "neu", "lo", "ls", "hi", "hs", NULL};
	static const char *const names[] = {".LT.AND", ".LE.AND", ".GT.AND", ".GE.AND", ".EQ.AND", ".NE.AND", ".LTU.AND", ".LEU.AND", ".GTU.AND", ".GEU.AND",
	                                    ".EQU.AND", ".NEU.AND", ".LT.U32.AND", ".LE.U32.AND", ".GT.U32.AND", ".GE.U32.AND"};
	return choose(ptx, words, names, "");
}

const char *export_atomic_suffix(const char *ptx)
{
	static const char *const words[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", NULL};
	static const char *const names[] = {".ADD", ".MIN", ".MAX", ".AND", ".OR", ".XOR", ".EXCH", ".CAS", ".INC", ".DEC"};
	return choose(ptx, words, names, ".ADD");
}

/* cvt.TO.FROM, with words for rounding between: whether each is a floating-point number. */
static const char *conversion(const char *ptx)
{
	bool real[2] = {false, false};
	int count = 0;
	for (const char *at = strchr(ptx, '.'); at; at = strchr(at + 1, '.')) {
		bool type = strchr("fsub", at[1]) && at[1] && at[2] >= '1' && at[2] <= '9';
		if (type && count < 2)
			real[count++] = at[1] == 'f' || at[1] == 'b';
	}
	if (count < 2)
		return "I2F";
	if (real[0] && real[1])
		return has_modifier(ptx, "rni") || has_modifier(ptx, "rzi") || has_modifier(ptx, "rmi") || has_modifier(ptx, "rpi") ? "FRND" : "F2F";
	return real[0] ? "I2F" : real[1] ? "F2I.TRUNC.NTZ" : "I2I";
}

const char *export_opcode(uint8_t class, const char *ptx, unsigned arch, char *out, size_t size)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++) {
		const struct export_row *r = &rows[i];
		if (r->class != class || arch < r->arch || (r->word && !has_first_word(ptx, r->word)) || (r->modifier && !has_modifier(ptx, r->modifier)))
			continue;
		bool compares = r->word && !strncmp(r->word, "set", 3) && strncmp(r->name, "PLOP3", 5);
		snprintf(out, size, "%s%s", r->name, compares ? comparison(ptx) : "");
		return out;
	}
	if (class == CODE_conv) {
		snprintf(out, size, "%s", has_first_word(ptx, "cvt") ? conversion(ptx) : "I2F");
		return out;
	}
	return NULL;
}
