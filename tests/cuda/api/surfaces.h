/* surfaces: a kernel that reads and writes surfaces which are variables, and what it should leave. */
#ifndef GPUSIM_TESTS_CUDA_API_SURFACES_H
#define GPUSIM_TESTS_CUDA_API_SURFACES_H

/* 32 threads, for rows of 8 elements: each takes its right neighbour of `from`, clamped, and puts it twice into `to`; one column too many is
 * left out there. `out` gets 1000 times the width of `from`, and its height. */
static const char surfaces_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .surfref from;\n.visible .global .surfref to;\n"
	".visible .entry pull(.param .u64 pull_out)\n{\n\t.reg .b32 %r<9>;\n\t.reg .f32 %f<3>;\n\t.reg .b64 %rd<5>;\n"
	"\tld.param.u64 %rd1, [pull_out];\n\tcvta.to.global.u64 %rd1, %rd1;\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n"
	"\tand.b32 %r2, %r1, 7;\n\tshl.b32 %r2, %r2, 2;\n\tshr.u32 %r3, %r1, 3;\n\tadd.s32 %r4, %r2, 4;\n"
	"\tsuld.b.2d.b32.clamp {%f1}, [from, {%r4, %r3}];\n\tadd.f32 %f2, %f1, %f1;\n"
	"\tsust.b.2d.b32.zero [to, {%r2, %r3}], {%f2};\n\tsust.b.2d.b32.zero [to, {32, %r3}], {%f1};\n"
	"\tsuq.width.b32 %r5, [from];\n\tsuq.height.b32 %r6, [from];\n\tmad.lo.s32 %r7, %r5, 1000, %r6;\n"
	"\tst.global.u32 [%rd3], %r7;\n\tret;\n}\n";

enum { SURFACE_WIDTH = 8, SURFACE_HEIGHT = 4, SURFACE_ELEMENTS = 32, SURFACE_SIZES = 8004 };

/* Element i of an array, and what `pull` makes of that array. */
static inline float surface_value(int i, int first)
{
	return (float)(5 * i + first);
}

static inline float surface_pulled(int i, int first)
{
	return 2 * surface_value(i % SURFACE_WIDTH == SURFACE_WIDTH - 1 ? i : i + 1, first);
}

#endif
