/*
 * Floating point. Every operation rounds once, to the mode that the opcode names. What is called approximate has the bits of a GPU
 * (prelude_functions.cl).
 *
 * Which NaN an operation gives is the host's choice in f32 and f64 (a GPU gives 7fffffff in f32, and keeps payloads in f64): to look at
 * every result would cost too much. Minima, maxima, and everything in f16 and bf16 give the NaN of a GPU.
 */
#include "annotator/opcodes/opcode.h"

#include <stdio.h>
#include <string.h>

#define SHORT "hgHG"

static const struct opcode_rule rules[] = {
	{"add", "directed", "fd", NULL, "gs_add_$t($a, $b, $m)"},
	{"add", NULL, "fd", NULL, "$a + $b"},
	{"add", NULL, SHORT, NULL, "gs_add_$t($a, $b)"},
	{"sub", "directed", "fd", NULL, "gs_add_$t($a, -$b, $m)"},
	{"sub", NULL, "fd", NULL, "$a - $b"},
	{"sub", NULL, SHORT, NULL, "gs_sub_$t($a, $b)"},
	{"mul", "directed", "fd", NULL, "gs_mul_$t($a, $b, $m)"},
	{"mul", NULL, "fd", NULL, "$a * $b"},
	{"mul", "ftz", "hH", NULL, "gs_mul_ftz_$t($a, $b)"},
	{"mul", NULL, SHORT, NULL, "gs_mul_$t($a, $b)"},
	{"fma", "directed", "fd", NULL, "gs_fma_$t($a, $b, $c, $m)"},
	{"fma", "quotient", "f", NULL, "gs_div_add($a, $b, $c)"},
	{"fma", "quotient_less_addend", "f", NULL, "gs_div_add($a, $b, -$c)"},
	{"fma", "less_quotient", "f", NULL, "gs_div_add(-$a, $b, $c)"},
	{"fma", "less_addend", "fd", NULL, "fma($a, $b, -$c)"}, /* these are not of PTX: analysis/graph/contract.h */
	{"fma", "less_product", "fd", NULL, "fma(-$a, $b, $c)"},
	{"fma", NULL, "fd", NULL, "fma($a, $b, $c)"},
	{"fma", "less_addend", SHORT, NULL, "gs_fma_$t($a, $b, gs_neg_$t($c))"},
	{"fma", "less_product", SHORT, NULL, "gs_fma_$t(gs_neg_$t($a), $b, $c)"},
	{"fma", "ftz", "hH", NULL, "gs_fma_ftz_$t($a, $b, $c)"},
	{"fma", NULL, SHORT, NULL, "gs_fma_$t($a, $b, $c)"},
	{"mad", "directed", "fd", NULL, "gs_fma_$t($a, $b, $c, $m)"},
	{"mad", NULL, "fd", NULL, "fma($a, $b, $c)"},
	{"div", "directed", "fd", NULL, "gs_div_$t($a, $b, $m)"},
	{"div", "approx", "f", NULL, "gs_div_approx($a, $b)"},
	{"div", "full", "f", NULL, "gs_div_full($a, $b)"},
	{"div", NULL, "fd", NULL, "$a / $b"},
	{"rcp", "directed", "fd", NULL, "gs_div_$t(1, $a, $m)"},
	{"rcp", "approx", "d", NULL, "gs_rcp_upper($a)"},
	{"rcp", "rn", "f", NULL, "1.0f / $a"},
	{"rcp", "ftz", "f", NULL, "gs_rcp_unit($a)"},
	{"rcp", NULL, "f", NULL, "gs_rcp_approx($a)"},
	{"rcp", NULL, "d", NULL, "1.0 / $a"},
	{"sqrt", "directed", "fd", NULL, "gs_sqrt_$t($a, $m)"},
	{"sqrt", "rn", "f", NULL, "sqrt($a)"},
	{"sqrt", "ftz", "f", NULL, "gs_sqrt_unit($a)"},
	{"sqrt", NULL, "f", NULL, "gs_sqrt_approx($a)"},
	{"sqrt", NULL, "d", NULL, "sqrt($a)"},
	{"rsqrt", "ftz", "d", NULL, "gs_rsqrt_upper($a)"},
	{"rsqrt", "ftz", "f", NULL, "gs_rsqrt_unit($a)"},
	{"rsqrt", NULL, "f", NULL, "gs_rsqrt_approx($a)"},
	{"rsqrt", NULL, "d", NULL, "gs_rsqrt_approx_f64($a)"},
	{"sin", NULL, "f", NULL, "gs_sin_unit($a)"},
	{"cos", NULL, "f", NULL, "gs_cos_unit($a)"},
	{"lg2", "ftz", "f", NULL, "gs_lg2_unit($a)"},
	{"lg2", NULL, "f", NULL, "gs_lg2_approx($a)"},
	{"ex2", "ftz", "f", NULL, "gs_ex2_unit($a)"},
	{"ex2", NULL, "f", NULL, "gs_ex2_approx($a)"},
	{"ex2", NULL, SHORT, NULL, "gs_ex2_$t($a)"},
	{"tanh", NULL, "f", NULL, "gs_tanh_unit($a)"},
	{"tanh", NULL, SHORT, NULL, "gs_tanh_$t($a)"},
	{"abs", NULL, "fd", NULL, "fabs($a)"},
	{"abs", NULL, SHORT, NULL, "gs_abs_$t($a)"},
	{"neg", NULL, "fd", NULL, "-$a"},
	{"neg", NULL, SHORT, NULL, "gs_neg_$t($a)"},
	{"copysign", NULL, "fd", NULL, "copysign($b, $a)"},
	{"testp", "finite", "fd", "pred", "isfinite($a) != 0"},
	{"testp", "infinite", "fd", "pred", "isinf($a) != 0"},
	{"testp", "number", "fd", "pred", "$a == $a"},
	{"testp", "notanumber", "fd", "pred", "$a != $a"},
	{"testp", "normal", "fd", "pred", "isfinite($a) & (gs_subnormal_$t($a) ^ 1u)"},
	{"testp", "subnormal", "fd", "pred", "gs_subnormal_$t($a)"},
};

/* min and max: of two or three operands, of their absolute values, and with the sign of both. */
static void write_extreme(struct opcode_work *w)
{
	static const char letters[] = "ab";
	const char *name = w->words[0], *nan = opcode_has(w, "NaN") ? "_nan" : "";
	bool absolute = opcode_has(w, "abs"), sign = opcode_has(w, "xorsign");
	uint32_t count = opcode_sources(w);
	if (count < 2 || count > 3 || (sign && count == 3)) {
		opcode_refuse(w, "it has %u operands", count);
		return;
	}
	char text[256], part[3][40];
	for (uint32_t i = 0; i < count; i++)
		snprintf(part[i], sizeof part[i], absolute ? "gs_abs_$t($%c)" : "$%c", i < 2 ? letters[i] : 'c');
	snprintf(text, sizeof text, "gs_%s%s_$t(%s, %s)", name, nan, part[0], part[1]);
	if (count == 3) {
		char two[128];
		snprintf(two, sizeof two, "%.120s", text);
		snprintf(text, sizeof text, "gs_%s%s_$t(%s, %s)", name, nan, two, part[2]);
	} else if (sign) {
		char two[128];
		snprintf(two, sizeof two, "%.120s", text);
		snprintf(text, sizeof text, "gs_xorsign_$t(%s, $a, $b)", two);
	}
	opcode_assign(w, 0, w->type, text);
}

/* Two floats in 64 bits: the halves are independent. */
static bool write_pair(struct opcode_work *w)
{
	static const char *const names[] = {"add", "sub", "mul", "fma"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		if (strcmp(names[i], w->words[0]))
			continue;
		char text[128];
		snprintf(text, sizeof text, "gs_%s_f32x2($a, $b%s, $m, %u)", names[i], i == 3 ? ", $c" : "", w->flush);
		opcode_open(w, 0, w->type);
		bool flush = w->flush;
		w->flush = false;
		opcode_expand(w, text);
		w->flush = flush;
		opcode_close(w, 0, w->type);
		return true;
	}
	return false;
}

bool opcode_write_floats(struct opcode_work *w)
{
	char letter = opcode_type_letter(w->type);
	if (!strchr("fdhgHGF", letter) || !strcmp(w->words[0], "selp"))
		return false;
	if (w->type_count != 1)
		return false;
	if (letter == 'F')
		return write_pair(w);
	if (!strcmp(w->words[0], "min") || !strcmp(w->words[0], "max")) {
		write_extreme(w);
		return true;
	}
	return opcode_apply(w, rules, GS_ARRAY_LEN(rules));
}
