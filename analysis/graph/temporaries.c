/*
 * Registers that one PTX instruction needs while it runs, because the machine executes several instructions for it.
 *
 * Measured with ptxas 13 for sm_75. A kernel with 2 to 24 other live values was compared with the same kernel with an addition
 * instead. The difference does not depend on the number of live values. Library functions were measured in the same way: CUDA
 * 13's, compiled by nvcc.
 */
#include "analysis/graph/internal.h"

#include <string.h>

bool opcode_ends(const char *opcode, const char *end)
{
	size_t length = strlen(opcode), part = strlen(end);
	return length >= part && !strcmp(opcode + length - part, end);
}

static uint32_t of_opcode(const char *opcode)
{
	static const struct {
		const char *begin, *end;
		uint8_t registers;
	} rows[] = {
		{"div.rn", ".f32", 9}, {"div.", ".f32", 2},    {"div.", ".f64", 14}, {"div.", ".s32", 6},
		{"div.", ".u32", 4},   {"div.", ".s64", 12},   {"div.", ".u64", 10}, {"rem.", ".s32", 6},
		{"rem.", ".u32", 4},   {"rem.", ".s64", 12},   {"rem.", ".u64", 8},  {"rcp.rn", ".f32", 8},
		{"rcp.", ".f64", 4},   {"sqrt.rn", ".f32", 4}, {"sqrt.", ".f32", 1}, {"sqrt.", ".f64", 10},
		{"ex2.", ".f32", 1},   {"mul.lo", "64", 2},    {"mad.lo", "64", 2},  {"mul.hi", "64", 4},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		if (!strncmp(opcode, rows[i].begin, strlen(rows[i].begin)) && opcode_ends(opcode, rows[i].end))
			return rows[i].registers;
	return 0;
}

/* The names are those of builtins.h, without prefix and type. Some functions take the value of the most similar function:
 * sincos, exp10, powr and, in double, exp2, log2, log10, atan2, asin, acos, sinh, tgamma, log1p and expm1. The defaults are
 * medians. */
static uint32_t of_library_function(const char *name)
{
	enum { DEFAULT_F32 = 5, DEFAULT_F64 = 12, RELAXED = 2 };
	static const struct {
		const char *name;
		uint8_t f32, f64;
	} rows[] = {
	    {"sin", 14, 18}, {"cos", 14, 18},  {"tan", 14, 14},   {"sincos", 14, 18}, {"exp", 2, 4},
	    {"exp2", 1, 4},  {"exp10", 2, 4},  {"log", 5, 14},    {"log2", 5, 14},    {"log10", 5, 14},
	    {"pow", 8, 22},  {"powr", 8, 22},  {"fmod", 7, 10},   {"atan", 3, 4},     {"atan2", 11, 12},
	    {"asin", 3, 12}, {"acos", 3, 12},  {"sinh", 5, 8},    {"tanh", 5, 8},     {"erf", 5, 7},
	    {"cbrt", 4, 14}, {"hypot", 7, 12}, {"lgamma", 8, 26}, {"tgamma", 10, 26}, {"log1p", 4, 14},
	    {"expm1", 4, 4}, {"rsqrt", 1, 8},
	};
	if (!strncmp(name, "relaxed_", strlen("relaxed_"))) /* one approximate instruction and its scaling */
		return RELAXED;
	bool wide = opcode_ends(name, "_f64");
	size_t length = strlen(name) - (wide || opcode_ends(name, "_f32") || opcode_ends(name, "_f16") ? 4 : 0);
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		if (strlen(rows[i].name) == length && !strncmp(name, rows[i].name, length))
			return wide ? rows[i].f64 : rows[i].f32;
	return wide ? DEFAULT_F64 : DEFAULT_F32;
}

static const char library[] = "__gpusim_fn_";

bool calls_library(const struct ptx_instruction *i)
{
	const struct ptx_operand *callee = i->guard < 0 ? ptx_callee(i) : NULL;
	return callee && callee->kind == PTX_SYMBOL && callee->text && !strncmp(callee->text, library, strlen(library));
}

uint32_t register_temporaries(const struct ptx_instruction *i, uint32_t of_functions)
{
	if (!opcode_is(i->opcode, "call"))
		return of_opcode(i->opcode);
	return calls_library(i) ? of_library_function(ptx_callee(i)->text + strlen(library)) : of_functions;
}
