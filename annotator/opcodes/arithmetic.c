/* Integers and bits. */
#include "annotator/opcodes/opcode.h"

#include <string.h>

#define INTEGERS "usb"

static const struct opcode_rule rules[] = {
	{"add", "sat", "s", NULL, "add_sat($a, $b)"},
	{"sub", "sat", "s", NULL, "sub_sat($a, $b)"},
	{"add", NULL, INTEGERS, NULL, "$ua + $ub"},
	{"sub", NULL, INTEGERS, NULL, "$ua - $ub"},
	{"add", NULL, "x", NULL, "gs_add_x2($a, $b)"},
	{"mul", "wide", "us", "wide", "($W)$a * $b"},
	{"mul", "hi", "us", NULL, "gs_mul_hi_$t($a, $b)"},
	{"mul", NULL, "us", NULL, "($P)$ua * $ub"},
	{"mad", "wide", "u", "wide", "($W)$a * $b + $c:u64"},
	{"mad", "wide", "s", "wide", "(ulong)(($W)$a * $b) + $c:u64"},
	{"mad", "sat", "s", NULL, "add_sat(gs_mul_hi_$t($a, $b), $c)"},
	{"mad", "hi", "us", NULL, "($U)gs_mul_hi_$t($a, $b) + $uc"},
	{"mad", NULL, "us", NULL, "($P)$ua * $ub + $uc"},
	{"mul24", "hi", "us", NULL, "($W)gs_24_$t($a) * gs_24_$t($b) >> 16"},
	{"mul24", NULL, "us", NULL, "($W)gs_24_$t($a) * gs_24_$t($b)"},
	{"mad24", "sat", "s", NULL, "add_sat((int)((long)gs_24_$t($a) * gs_24_$t($b) >> 16), $c)"},
	{"mad24", "hi", "us", NULL, "(uint)(($W)gs_24_$t($a) * gs_24_$t($b) >> 16) + $uc"},
	{"mad24", NULL, "us", NULL, "(uint)(($W)gs_24_$t($a) * gs_24_$t($b)) + $uc"},
	{"sad", NULL, "us", NULL, "$uc + ($a < $b ? $ub - $ua : $ua - $ub)"},
	{"div", NULL, "us", NULL, "gs_div_$t($a, $b)"},
	{"rem", NULL, "us", NULL, "gs_rem_$t($a, $b)"},
	{"abs", NULL, "s", NULL, "$a < 0 ? 0 - $ua : $ua"},
	{"neg", NULL, "s", NULL, "0 - $ua"},
	{"min", "relu", "s", NULL, "max(min($a, $b), ($T)0)"},
	{"max", "relu", "s", NULL, "max(max($a, $b), ($T)0)"},
	{"min", NULL, "us", NULL, "$a < $b ? $a : $b"},
	{"max", NULL, "us", NULL, "$a > $b ? $a : $b"},
	{"min", "relu", "x", NULL, "gs_max_s16x2(gs_min_s16x2($a, $b), 0)"},
	{"max", "relu", "x", NULL, "gs_max_s16x2(gs_max_s16x2($a, $b), 0)"},
	{"min", NULL, "x", NULL, "gs_min_$t($a, $b)"},
	{"max", NULL, "x", NULL, "gs_max_$t($a, $b)"},
	
	{"and", NULL, "bp", NULL, "$a & $b"},
	{"or", NULL, "bp", NULL, "$a | $b"},
	{"xor", NULL, "bp", NULL, "$a ^ $b"},
	{"not", NULL, "p", NULL, "$a ^ 1u"},
	{"not", NULL, "b", NULL, "~$a"},
	{"cnot", NULL, "b", NULL, "$a == 0"},
	{"shl", NULL, INTEGERS, NULL, "$b:u32 > $Mu ? 0 : ($P)$ua << ($b:u32 & $Mu)"},
	{"shr", NULL, "s", NULL, "$a >> ($b:u32 > $Mu ? $Mu : $b:u32)"},
	{"shr", NULL, "ub", NULL, "$b:u32 > $Mu ? 0 : $ua >> ($b:u32 & $Mu)"},
	{"prmt", "f4e", "b", NULL, "(uint)(gs_joined($a, $b) >> ($c:u32 & 3u) * 8)"},
	{"prmt", "b4e", "b", NULL, "gs_prmt($a, $b, gs_prmt_b4e($c:u32))"},
	{"prmt", "rc8", "b", NULL, "gs_prmt($a, $b, ($c:u32 & 3u) * 0x1111u)"},
	{"prmt", "ecl", "b", NULL, "gs_prmt($a, $b, gs_prmt_ecl($c:u32))"},
	{"prmt", "ecr", "b", NULL, "gs_prmt($a, $b, gs_prmt_ecr($c:u32))"},
	{"prmt", "rc16", "b", NULL, "gs_prmt($a, $b, $c:u32 & 1u ? 0x3232u : 0x1010u)"},
	{"prmt", NULL, "b", NULL, "gs_prmt($a, $b, $c:u32)"},
	{"popc", NULL, "b", "u32", "popcount($a)"},
	{"clz", NULL, "b", "u32", "clz($a)"},
	{"bfind", "shiftamt", "u", "u32", "$a == 0 ? ~0u : (uint)clz($a)"},
	{"bfind", "shiftamt", "s", "u32", "gs_bfind_shift_$t($a)"},
	{"bfind", NULL, "u", "u32", "$a == 0 ? ~0u : $Mu - (uint)clz($a)"},
	{"bfind", NULL, "s", "u32", "gs_bfind_$t($a)"},
	{"brev", NULL, "b", NULL, "gs_brev_$t($a)"},
	{"bfe", NULL, "us", NULL, "gs_bfe_$t($a, $b:u32, $c:u32)"},
	{"bfi", NULL, "b", NULL, "gs_bfi_$t($a, $b, $c:u32, $d:u32)"},
	{"bmsk", "clamp", "b", NULL, "gs_bmsk_clamp($a, $b)"},
	{"bmsk", "wrap", "b", NULL, "gs_bmsk_wrap($a, $b)"},
	{"szext", "clamp", "us", NULL, "gs_szext_$t($a, $b:u32, $b:u32 > 31u)"},
	{"szext", "wrap", "us", NULL, "gs_szext_$t($a, $b:u32, 0)"},
	{"fns", NULL, "b", NULL, "gs_fns($a, $b:u32, $c:s32)"},
	{"selp", NULL, "usbfdhgHG", NULL, "$c:pred ? $a : $b"},
	{"createpolicy", NULL, "bufd", NULL, "0"},
};

/* dp4a.s32.u32 and dp2a.lo.s32.u32: the types are those of a and b; the sum is signed if one of them is. */
static void write_dot(struct opcode_work *w)
{
	if (w->type_count != 2 || w->types[0].bits != 32 || w->types[1].bits != 32) {
		opcode_refuse(w, "its types are not known");
		return;
	}
	struct opcode_type a = w->types[0], b = w->types[1];
	bool four = w->words[0][2] == '4', hi = opcode_has(w, "hi");
	opcode_open(w, 0, opcode_type_of("u32"));
	opcode_put(w, "gs_%s%s_%s%s(", w->words[0], four ? "" : hi ? "_hi" : "_lo", a.name, b.name);
	opcode_expand(w, "$a:u32, $b:u32, $c:u32)");
	opcode_close(w, 0, opcode_type_of("u32"));
}

static void write_funnel(struct opcode_work *w)
{
	const char *count = opcode_has(w, "clamp") ? "($c:u32 > 32u ? 32u : $c:u32)" : "($c:u32 & 31u)";
	struct opcode_type t = opcode_type_of("b32");
	opcode_open(w, 0, t);
	opcode_expand(w, opcode_has(w, "l") ? "gs_joined($a, $b) << " : "gs_joined($a, $b) >> ");
	opcode_expand(w, count);
	opcode_expand(w, opcode_has(w, "l") ? " >> 32" : "");
	opcode_close(w, 0, t);
}

bool opcode_write_integers(struct opcode_work *w)
{
	if (!strcmp(w->words[0], "shf"))
		write_funnel(w);
	else if (!strcmp(w->words[0], "dp4a") || !strcmp(w->words[0], "dp2a"))
		write_dot(w);
	else
		return opcode_apply(w, rules, GS_ARRAY_LEN(rules));
	return true;
}

/* x = a OP b +- carry. The flag is the carry out of the machine's adder: a - b is a + ~b + 1 there, so that a difference without a borrow sets it. The
   manual calls it a borrow, which is the same as long as subc follows sub.cc; but nvcc's division of 128-bit integers ends such a chain with addc. */
void opcode_write_carry(struct opcode_work *w)
{
	bool wide = w->type.bits == 64, in = w->words[0][3] == 'c', sub = w->words[0][0] == 's';
	bool mad = w->words[0][0] == 'm', hi = mad && strstr(w->words[0], ".hi");
	bool out = !in || opcode_has(w, "cc");
	if (!w->type_count || (w->type.bits != 32 && !wide)) {
		opcode_refuse(w, "its type is not known");
		return;
	}
	struct opcode_type u = opcode_type_as(w->type, 'u');
	opcode_put(w, "{ %s gs_x = ", opcode_c_type(u));
	if (mad && hi)
		opcode_put(w, "(%s)gs_mul_hi_%s(", opcode_c_type(u), w->type.kind == 's' ? (wide ? "s64" : "s32") : u.name);
	opcode_expand(w, !mad ? "$ua" : hi ? (w->type.kind == 's' ? "$sa, $sb)" : "$ua, $ub)") : "$ua * $ub");
	opcode_put(w, ", gs_y = ");
	opcode_expand(w, mad ? "$uc" : "$ub");
	opcode_put(w, ", gs_z = gs_x %c gs_y; uint gs_f = %s; ", sub ? '-' : '+', sub ? "gs_x >= gs_y" : "gs_z < gs_x");
	if (in)
		opcode_put(w, sub ? "gs_f &= gs_z >= 1 - GS_CC; gs_z -= 1 - GS_CC; " : "gs_z += GS_CC; gs_f |= gs_z < GS_CC; ");
	opcode_put(w, out ? "GS_CC = gs_f; " : "");
	opcode_open(w, 0, u);
	opcode_put(w, "gs_z");
	opcode_close(w, 0, u);
	opcode_put(w, "}\n");
}

/* A function of two variables by its table of four bits; $ stands for b or c. */
static const char *const of_two[16] = {"0", "~($b | $c)", "(~$b & $c)", "~$b", "($b & ~$c)", "~$c", "($b ^ $c)", "~($b & $c)",
				       "($b & $c)", "~($b ^ $c)", "$c", "(~$b | $c)", "$b", "($b | ~$c)", "($b | $c)", "~0u"};

/* lop3: bit 4a + 2b + c of the table is the result. */
static void put_lop3(struct opcode_work *w, uint32_t table)
{
	const char *with = of_two[table >> 4 & 15], *without = of_two[table & 15];
	if (with == without) {
		opcode_expand(w, without);
		return;
	}
	if ((table >> 4 & 15) == (~table & 15)) {
		opcode_expand(w, "$a ^ ");
		opcode_expand(w, without);
		return;
	}
	opcode_expand(w, "($a & ");
	opcode_expand(w, with);
	opcode_expand(w, ") | (~$a & ");
	opcode_expand(w, without);
	opcode_expand(w, ")");
}

void opcode_write_lop3(struct opcode_work *w)
{
	const struct ptx_operand *table = opcode_source(w, 3);
	bool predicate = w->results == 2;
	if (!table || table->kind != PTX_IMMEDIATE || w->type.bits != 32) {
		opcode_refuse(w, "its table is not a constant, or its type is not b32");
		return;
	}
	opcode_put(w, "{ uint gs_x = ");
	put_lop3(w, (uint32_t)table->value);
	opcode_put(w, ";\n");
	if (predicate) {
		opcode_put(w, "uint gs_p = (gs_x != 0) %c ", opcode_has(w, "or") ? '|' : '&');
		opcode_expand(w, "$e:pred;\n");
	}
	opcode_assign(w, 0, w->type, "gs_x");
	if (predicate)
		opcode_assign(w, 1, opcode_type_of("pred"), "gs_p");
	opcode_put(w, "}\n");
}

void opcode_write_compute(struct opcode_work *w)
{
	if (!w->type_count)
		opcode_refuse(w, "it has no type");
	else if (!opcode_write_floats(w) && !opcode_write_integers(w))
		opcode_refuse(w, "it is not known for %s", w->type.name);
}
