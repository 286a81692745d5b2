/*
 * What instructions of the machine look like those of the PTX that they come from. Accesses, barriers and what lanes do together stay what they are, so they weigh
 * most; products, special functions and conversions mostly do; whole numbers, whose instructions an assembler chooses freely, hardly count.
 */
#include "analysis/assembled/infer.h"

#include <string.h>

enum { ACCESS = 40, BRANCH = 8, TOGETHER = 24, TENSOR = 24, SPECIAL = 10, REAL = 6, CONVERTED = 6, FUSED = 3, COMPARED = 3, WHOLE = 1 };

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static int access_alike(const struct sass_opcode *s, const struct code_instruction *p)
{
	bool generic = s->space == SPACE_generic || p->space == SPACE_generic;
	if (s->class != p->class || p->space == SPACE_param || (s->space != p->space && !generic))
		return 0;
	if (s->class == CODE_texture || s->bytes == p->bytes)
		return ACCESS;
	/* Accesses of shared memory may become wider, and atomics of shared memory are of words. */
	return p->space == SPACE_shared && s->bytes > p->bytes ? ACCESS / 4 : s->class == CODE_atomic ? ACCESS / 2 : 0;
}

/* Names that stand for one another. */
static int name_alike(const char *name, const char *opcode)
{
	static const struct {
		const char *name, *opcode;
		int score;
	} pairs[] = {
		{"SHFL", "shfl", TOGETHER},     {"VOTE", "vote", TOGETHER},   {"VOTE", "activemask", TOGETHER}, {"MATCH", "match", TOGETHER}, {"REDUX", "redux", TOGETHER},
		{"ISETP", "setp", COMPARED},    {"UISETP", "setp", COMPARED}, {"SEL", "selp", COMPARED},        {"FSEL", "selp", COMPARED},   {"FLO", "clz", CONVERTED},
		{"FLO", "bfind", CONVERTED},    {"POPC", "popc", CONVERTED},  {"BREV", "brev", CONVERTED},      {"PRMT", "prmt", COMPARED},   {"I2FP", "cvt", CONVERTED},
		{"F2FP", "cvt", CONVERTED},     {"FCHK", "div", COMPARED},    {"LEA", "add", WHOLE},            {"LEA", "shl", WHOLE},        {"LEA", "mad", WHOLE},
		{"IMAD", "mul", COMPARED},      {"IMAD", "mad", COMPARED},    {"IMAD", "shl", WHOLE},           {"IMAD", "add", WHOLE},       {"IMAD", "mov", WHOLE},
		{"S2R", "mov", WHOLE},          {"UIADD3", "add", WHOLE},     {"ULEA", "add", WHOLE},           {"ULEA", "mul", WHOLE},       {"UIMAD", "mul", WHOLE},
		{"MEMBAR", "membar", SPECIAL},  {"MEMBAR", "fence", SPECIAL}, {"NANOSLEEP", "nanosleep", SPECIAL}, {"PLOP3", "and.pred", COMPARED}, {"VIADD", "add", WHOLE},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(pairs); i++)
		if (starts(name, pairs[i].name) && starts(opcode, pairs[i].opcode))
			return pairs[i].score;
	return 0;
}

static int class_alike(uint8_t s, uint8_t p)
{
	bool fma = s == CODE_fp32_fma || s == CODE_fp64_fma;
	switch (s) {
	case CODE_fp32: case CODE_fp32_fma: case CODE_fp32_minmax:
		return s == p ? REAL : fma && p == CODE_fp32 ? FUSED : p == CODE_fp32_div || p == CODE_sfu ? WHOLE : 0;
	case CODE_fp64: case CODE_fp64_fma: case CODE_fp64_minmax:
		return s == p ? REAL : fma && p == CODE_fp64 ? FUSED : p == CODE_fp64_div ? WHOLE : 0;
	case CODE_sfu:
		return p == CODE_sfu || p == CODE_fp32_div || p == CODE_fp64_div ? SPECIAL : p == CODE_int_div ? WHOLE : 0;
	case CODE_conv:
		return p == CODE_conv ? CONVERTED : p == CODE_int_div ? WHOLE : 0;
	case CODE_int_minmax:
		return p == s ? COMPARED : 0;
	case CODE_int: case CODE_int_mad: case CODE_int_mul: case CODE_logic: case CODE_move:
		return p == s ? WHOLE : 0;
	case CODE_tensor: case CODE_tensor_half: case CODE_tensor_fp64:
		return p == CODE_tensor || p == CODE_tensor_half || p == CODE_tensor_fp64 ? TENSOR : 0;
	default:
		return 0;
	}
}

static int branch_alike(const struct sass_instruction *s, const struct code_instruction *p)
{
	if (s->flow == SASS_ENDS && s->conditional) /* a branch to the end is one as well */
		return p->flags & CODE_CONDITIONAL ? BRANCH : 0;
	if (s->flow == SASS_ENDS)
		return p->flags & CODE_EXIT ? BRANCH : 0;
	return s->flow == SASS_BRANCHES && !(p->flags & CODE_EXIT) && s->conditional == !!(p->flags & CODE_CONDITIONAL) ? BRANCH : 0;
}

int assembled_alike(const struct assembled_kernel *k, uint32_t machine, uint32_t ptx)
{
	const struct sass_instruction *in = &k->in[machine];
	const struct code_instruction *p = &k->code->code[ptx];
	const char *opcode = k->ptx->instructions[ptx].opcode;
	if (!in->name)
		return 0;
	struct sass_opcode s = k->opcodes[machine];
	if (assembled_is_access(s.class) || assembled_is_access(p->class))
		return access_alike(&s, p);
	if (s.class == CODE_barrier || p->class == CODE_barrier)
		return s.class == p->class ? ACCESS : 0;
	if (s.class == CODE_branch || p->class == CODE_branch)
		return s.class == p->class ? branch_alike(in, p) : 0;
	int by_name = name_alike(in->name, opcode), by_class = class_alike(s.class, p->class);
	return by_name > by_class ? by_name : by_class;
}
