/*
 * The kernel code of functions that PTX calls approximate (annotator/opcodes/prelude_functions.cl), compiled as C: all significands, against sums of
 * what an H200 gave (tests/accuracy/truth/functions, 2026-11-18). tests/instructions/functions.txt has single values, executed by POCL.
 */
#include "tests/tests.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <tgmath.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC optimize 2 /* it is executed 126 million times */

/* As much of OpenCL C as these files need. */
#define __constant const
#define uchar uint8_t
#define ushort uint16_t
#define uint uint32_t
#define ulong uint64_t
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clz(a) (sizeof(a) == 8 ? __builtin_clzll((ulong)(a)) : __builtin_clz((uint)(a)))
#define mul_hi(a, b) ((ulong)((unsigned __int128)(a) * (b) >> 64))
#define GS_INLINE static inline

static uint as_uint(float f) { uint u; memcpy(&u, &f, 4); return u; }
static float as_float(uint u) { float f; memcpy(&f, &u, 4); return f; }
static ulong as_ulong(double f) { ulong u; memcpy(&u, &f, 8); return u; }
static double as_double(ulong u) { double f; memcpy(&f, &u, 8); return f; }
static ulong gs_joined(uint low, uint high) { return (ulong)high << 32 | low; }
static uint gs_pair(ushort low, ushort high) { return (uint)high << 16 | low; }
#include "annotator/opcodes/prelude_floats.cl"
#include "annotator/opcodes/prelude_functions.cl"

struct range {
	const char *name;
	float (*function)(float);
	uint start; /* 2^23 inputs from here on */
	ulong sum;
};

static ulong mixed(uint a, uint r)
{
	ulong h = ((ulong)a << 32 | r) * 0x9e3779b97f4a7c15u;
	return (h ^ h >> 32) * 0xbf58476d1ce4e5b9u;
}

static ulong sum_of(const struct range *r)
{
	ulong sum = 0;
	for (uint i = 0; i < 1u << 23; i++)
		sum += mixed(r->start + i, as_uint(r->function(as_float(r->start + i))));
	return sum;
}

static void functions_are_those_of_a_gpu(void)
{
	static const struct range ranges[] = {
		{"rcp.ftz", gs_rcp_unit, 0x3f800000, 0xa54d9812bcc47400},
		{"rcp", gs_rcp_approx, 0x7f000000, 0xe08bc6894076dc4f},
		{"rsqrt.ftz", gs_rsqrt_unit, 0x3f800000, 0x8b3afc79d4852b78},
		{"rsqrt.ftz", gs_rsqrt_unit, 0x40000000, 0x08aa6e7e5448b417},
		{"sqrt.ftz", gs_sqrt_unit, 0x3f800000, 0xfcbdc5d264bb5eef},
		{"sqrt.ftz", gs_sqrt_unit, 0x40000000, 0xf5b706a7d0888760},
		{"ex2.ftz", gs_ex2_unit, 0x3f800000, 0x172043133c56621a},
		{"ex2.ftz", gs_ex2_unit, 0xbf000000, 0xecb1f56951750e76},
		{"ex2", gs_ex2_approx, 0xc3000000, 0x33ac37ff4fe6f32e},
		{"lg2.ftz", gs_lg2_unit, 0x3f800000, 0x43757001d094cbd0},
		{"lg2.ftz", gs_lg2_unit, 0x3f000000, 0x8a3a96bf66421868},
		{"sin.ftz", gs_sin_unit, 0xc0800000, 0x49a8a42f4372215b},
		{"cos.ftz", gs_cos_unit, 0x40800000, 0x1fbb8c7c0b6bbe88},
		{"tanh", gs_tanh_unit, 0x3d800000, 0x762cc53702e63ec0},
		{"tanh", gs_tanh_unit, 0xc0000000, 0xb1dacbc5a1eea8a8},
	};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		bool same = sum_of(&ranges[i]) == ranges[i].sum;
		if (!same)
			printf("%s from %08x on\n", ranges[i].name, ranges[i].start);
		CU_ASSERT_TRUE(same);
	}
}

static ulong sum_of_halves(ushort (*function)(ushort))
{
	ulong sum = 0;
	for (uint i = 0; i < 1u << 16; i++)
		sum += mixed(i, function((ushort)i));
	return sum;
}

static void functions_of_halves_are_those_of_a_gpu(void)
{
	CU_ASSERT_EQUAL(sum_of_halves(gs_ex2_f16), 0x01e30556a7e00549);
	CU_ASSERT_EQUAL(sum_of_halves(gs_tanh_f16), 0xfef5ed6e204888be);
	CU_ASSERT_EQUAL(sum_of_halves(gs_ex2_bf16), 0xef0404693fdbedcb);
	CU_ASSERT_EQUAL(sum_of_halves(gs_tanh_bf16), 0x248536292bc696bd);
}

/* Of 2^20 upper words. The lower ones do not matter. */
static ulong sum_of_doubles(double (*function)(double), uint start, uint step)
{
	ulong sum = 0;
	for (uint i = 0; i < 1u << 20; i++)
		sum += mixed(start + i * step, (uint)(as_ulong(function(as_double((ulong)(start + i * step) << 32 | i))) >> 32));
	return sum;
}

static void functions_of_doubles_are_those_of_a_gpu(void)
{
	CU_ASSERT_EQUAL(sum_of_doubles(gs_rcp_upper, 0x3ff00000, 1), 0x231801c281547a8b);
	CU_ASSERT_EQUAL(sum_of_doubles(gs_rcp_upper, 0, 4096), 0x9d49adc41ddbd764);
	CU_ASSERT_EQUAL(sum_of_doubles(gs_rsqrt_upper, 0x3ff00000, 1), 0xcb18d869665011f9);
	CU_ASSERT_EQUAL(sum_of_doubles(gs_rsqrt_upper, 0x40000000, 1), 0xc62e804c5a7a53d1);
	CU_ASSERT_EQUAL(sum_of_doubles(gs_rsqrt_upper, 0, 4096), 0x5df12a964319d46e);
}

void add_functions_tests(void)
{
	CU_pSuite suite = CU_add_suite("functions", NULL, NULL);
	CU_add_test(suite, "functions are those of a GPU", functions_are_those_of_a_gpu);
	CU_add_test(suite, "functions of halves are those of a GPU", functions_of_halves_are_those_of_a_gpu);
	CU_add_test(suite, "functions of doubles are those of a GPU", functions_of_doubles_are_those_of_a_gpu);
}
