/* Cases of arithmetic in every rounding mode. The host computes the expected values itself, with fesetround. */
#include "tests/instructions/instructions.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

enum { CASES = 96 };

static const struct {
	const char *name;
	int mode;
} modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

static uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252ull;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint32_t bits_of_float(float f)
{
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}

static uint64_t bits_of_double(double d)
{
	uint64_t u;
	memcpy(&u, &d, 8);
	return u;
}

/* Numbers that make rounding hard: near each other, tiny, huge, special, with few bits. */
static float some_float(uint32_t i)
{
	static const uint32_t special[] = {0, 0x80000000u, 1, 0x80000001u, 0x7fffffu, 0x800000u, 0x3f800000u, 0xbf800000u, 0x3f800001u, 0x7f7fffffu,
					   0xff7fffffu, 0x7f800000u, 0x34000000u, 0x33800000u, 0x4b7fffffu, 0x3f7fffffu};
	uint64_t r = random_bits();
	uint32_t u = i % 5 == 0 ? special[r % GS_ARRAY_LEN(special)] : (uint32_t)(r >> 20);
	if (i % 5 == 1)
		u = (u & 0x807fffffu) | (uint32_t)(100 + r % 40) << 23;
	else if (i % 5 == 2)
		u = (u & 0x807fffffu) | (uint32_t)(r % 30) << 23;
	if ((u & 0x7f800000u) == 0x7f800000u)
		u &= 0xff800000u;
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static double some_double(uint32_t i)
{
	static const uint64_t special[] = {0, 1ull << 63, 1, 0xfffffffffffffull, 0x10000000000000ull, 0x3ff0000000000000ull, 0xbff0000000000000ull,
					   0x3ff0000000000001ull, 0x7fefffffffffffffull, 0xffefffffffffffffull, 0x7ff0000000000000ull, 0x3ca0000000000000ull,
					   0x3fefffffffffffffull};
	uint64_t r = random_bits(), u = i % 5 == 0 ? special[r % GS_ARRAY_LEN(special)] : random_bits();
	if (i % 5 == 1)
		u = (u & 0x800fffffffffffffull) | (1000 + r % 50) << 52;
	else if (i % 5 == 2)
		u = (u & 0x800fffffffffffffull) | (r % 70) << 52;
	else if (i % 5 == 3)
		u = (u & 0x800fffffffffffffull) | (480 + r % 60) << 52;
	if ((u & 0x7ff0000000000000ull) == 0x7ff0000000000000ull)
		u &= 0xfff0000000000000ull;
	double d;
	memcpy(&d, &u, 8);
	return d;
}

enum operation { ADD, SUB, MUL, DIV, FMA, SQRT, RCP };
static const char *const names[] = {"add", "sub", "mul", "div", "fma", "sqrt", "rcp"};

/* The host's result. volatile: nothing is computed before the mode is set, or twice. */
static float in_float(enum operation o, volatile float a, volatile float b, volatile float c)
{
	volatile float r = o == ADD ? a + b : o == SUB ? a - b : o == MUL ? a * b : o == DIV ? a / b : o == FMA ? fmaf(a, b, c) : o == SQRT ? sqrtf(a) : 1.0f / a;
	return r;
}

static double in_double(enum operation o, volatile double a, volatile double b, volatile double c)
{
	volatile double r = o == ADD ? a + b : o == SUB ? a - b : o == MUL ? a * b : o == DIV ? a / b : o == FMA ? fma(a, b, c) : o == SQRT ? sqrt(a) : 1.0 / a;
	return r;
}

static void put_float(struct gs_buf *out, float r)
{
	if (r != r)
		gs_buf_puts(out, " nan");
	else
		gs_buf_printf(out, " %08x", bits_of_float(r));
}

static void put_double(struct gs_buf *out, double r)
{
	if (r != r)
		gs_buf_puts(out, " nan");
	else
		gs_buf_printf(out, " %016llx", (unsigned long long)bits_of_double(r));
}

static uint32_t operands_of(enum operation o)
{
	return o == FMA ? 3 : o == SQRT || o == RCP ? 1 : 2;
}

/* The operands of a case. Every third one is made so that much cancels, or that the result is near a tie. */
static void float_case(enum operation o, uint32_t i, int mode, struct gs_buf *out)
{
	float v[3] = {some_float(i), some_float(i / 2), some_float(i / 3)}, r;
	if (i % 3 == 1 && o <= SUB)
		v[1] = ldexpf(v[0], -(int)(i % 27)) * (i & 2 ? -1 : 1);
	if (i % 3 == 1 && o == FMA)
		v[2] = -(v[0] * v[1]);
	for (uint32_t k = 0; k < operands_of(o); k++)
		put_float(out, v[k]);
	fesetround(mode);
	r = in_float(o, v[0], v[1], v[2]);
	fesetround(FE_TONEAREST);
	gs_buf_puts(out, " =");
	put_float(out, r);
	gs_buf_puts(out, "\n");
}

static void double_case(enum operation o, uint32_t i, int mode, struct gs_buf *out)
{
	double v[3] = {some_double(i), some_double(i / 2), some_double(i / 3)}, r;
	if (i % 3 == 1 && o <= SUB)
		v[1] = ldexp(v[0], -(int)(i % 57)) * (i & 2 ? -1 : 1);
	if (i % 3 == 1 && o == FMA)
		v[2] = -(v[0] * v[1]);
	for (uint32_t k = 0; k < operands_of(o); k++)
		put_double(out, v[k]);
	fesetround(mode);
	r = in_double(o, v[0], v[1], v[2]);
	fesetround(FE_TONEAREST);
	gs_buf_puts(out, " =");
	put_double(out, r);
	gs_buf_puts(out, "\n");
}

static void write_arithmetic(struct gs_buf *out)
{
	for (uint32_t o = ADD; o <= RCP; o++) {
		for (size_t m = 0; m < GS_ARRAY_LEN(modes); m++) {
			static const char *const lists[] = {"0, %s1", "0, %s1, %s2", "0, %s1, %s2, %s3"};
			for (int wide = 0; wide < 2; wide++) {
				const char *r = wide ? "%fd" : "%f", *list = lists[operands_of((enum operation)o) - 1];
				gs_buf_printf(out, "> %s.%s.%s %s", names[o], modes[m].name, wide ? "f64" : "f32", r);
				gs_buf_printf(out, list, r, r, r);
				gs_buf_puts(out, ";\n");
				for (uint32_t i = 0; i < CASES; i++)
					(wide ? double_case : float_case)((enum operation)o, i, modes[m].mode, out);
			}
		}
	}
}

/* Conversions: f64 to f32, and integers of 64 and 32 bits to both. */
static void write_conversions(struct gs_buf *out)
{
	for (size_t m = 0; m < GS_ARRAY_LEN(modes); m++) {
		const char *name = modes[m].name;
		gs_buf_printf(out, "> cvt.%s.f32.f64 %%f0, %%fd1;\n", name);
		for (uint32_t i = 0; i < CASES; i++) {
			volatile double d = i % 2 ? (double)some_float(i) * (1 + ldexp(1, -30)) : some_double(i);
			put_double(out, d);
			fesetround(modes[m].mode);
			volatile float r = (float)d;
			fesetround(FE_TONEAREST);
			gs_buf_puts(out, " =");
			put_float(out, r);
			gs_buf_puts(out, "\n");
		}
#define INTEGERS(type, T, reg, F, freg, ftype, put) \
		gs_buf_printf(out, "> cvt.%s." ftype "." type " %%" freg "0, %%" reg "1;\n", name); \
		for (uint32_t i = 0; i < CASES / 2; i++) { \
			volatile T v = (T)(random_bits() >> i % (sizeof(T) * 8)); \
			gs_buf_printf(out, "%llx =", (unsigned long long)v); \
			fesetround(modes[m].mode); \
			volatile F r = (F)v; \
			fesetround(FE_TONEAREST); \
			put(out, r); \
			gs_buf_puts(out, "\n"); \
		}
		INTEGERS("s32", int32_t, "r", float, "f", "f32", put_float)
		INTEGERS("u32", uint32_t, "r", float, "f", "f32", put_float)
		INTEGERS("s64", int64_t, "rd", float, "f", "f32", put_float)
		INTEGERS("u64", uint64_t, "rd", float, "f", "f32", put_float)
		INTEGERS("s64", int64_t, "rd", double, "fd", "f64", put_double)
		INTEGERS("u64", uint64_t, "rd", double, "fd", "f64", put_double)
	}
}

void write_rounding_cases(struct gs_buf *out)
{
	write_arithmetic(out);
	write_conversions(out);
}
