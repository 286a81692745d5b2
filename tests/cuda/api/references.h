/* references: kernels that fetch from textures which are variables, and what they should find. */
#ifndef GPUSIM_TESTS_CUDA_API_REFERENCES_H
#define GPUSIM_TESTS_CUDA_API_REFERENCES_H

/* 32 threads. `line` and `bytes` fetch element number thread; `rows` at (thread % 8 + shift, thread / 8 + 1/2). */
#define FETCH(name, more, code) \
	".visible .entry " name "(.param .u64 " name "_out" more ")\n{\n\t.reg .f32 %f<9>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<6>;\n" \
	"\tld.param.u64 %rd1, [" name "_out];\n\tcvta.to.global.u64 %rd1, %rd1;\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n" code \
	"\tst.global.f32 [%rd3], %f1;\n\tret;\n}\n"
static const char references_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .texref image;\n.visible .global .texref packed;\n"
	FETCH("line", "", "\ttex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, {%r1}];\n")
	FETCH("bytes", "", "\ttex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [packed, {%r1}];\n")
	FETCH("rows", ", .param .f32 rows_shift", "\tld.param.f32 %f5, [rows_shift];\n\tand.b32 %r2, %r1, 7;\n\tshr.u32 %r3, %r1, 3;\n\tcvt.rn.f32.u32 %f6, %r2;\n"
	      "\tadd.f32 %f6, %f6, %f5;\n\tcvt.rn.f32.u32 %f7, %r3;\n\tadd.f32 %f7, %f7, 0f3F000000;\n"
	      "\ttex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f6, %f7}];\n");

enum { FETCHES = 32 };
enum fetch_kind { FETCH_VALUES, FETCH_BETWEEN, FETCH_BYTES };

/* Of memory with 3 i + first in element i, rows of 8, or with bytes 8 i + 7. */
static inline float fetched(enum fetch_kind kind, int i, int first)
{
	if (kind == FETCH_BYTES)
		return (float)(8 * i + 7) / 255.0f;
	return (float)(3 * i + first) + (kind == FETCH_BETWEEN && i % 8 < 7 ? 1.5f : 0); /* the last one of a row has no neighbour: clamped */
}

#endif
