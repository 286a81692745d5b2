/* views: kernels that read elements of textures, and what they should find in views of an array. */
#ifndef GPUSIM_TESTS_CUDA_API_VIEWS_H
#define GPUSIM_TESTS_CUDA_API_VIEWS_H

/* 8 threads read element (thread % 4, thread / 4): as reals, as integers; `layers` those of layers 0 to 2, and how many there are. */
#define VIEW_ENTRY(name, code) \
	".visible .entry " name "(.param .u64 " name "_texture, .param .u64 " name "_out)\n{\n\t.reg .f32 %f<5>;\n\t.reg .b32 %r<16>;\n\t.reg .b64 %rd<6>;\n" \
	"\tld.param.u64 %rd1, [" name "_texture];\n\tld.param.u64 %rd2, [" name "_out];\n\tcvta.to.global.u64 %rd2, %rd2;\n\tmov.u32 %r1, %tid.x;\n" \
	"\tmul.wide.u32 %rd3, %r1, 16;\n\tadd.s64 %rd4, %rd2, %rd3;\n\tand.b32 %r2, %r1, 3;\n\tshr.u32 %r3, %r1, 2;\n" code \
	"\tst.global.v4.b32 [%rd4], {%r4, %r5, %r6, %r7};\n\tret;\n}\n"
#define VIEW_LAYER(result, layer) \
	"\tmov.u32 %r11, " layer ";\n\ttex.a2d.v4.u32.s32 {" result ", %r8, %r9, %r10}, [%rd1, {%r11, %r2, %r3, %r3}];\n"
static const char views_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	VIEW_ENTRY("reals", "\ttex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2, %r3}];\n\tmov.b32 %r4, %f1;\n\tmov.b32 %r5, %f2;\n\tmov.b32 %r6, %f3;\n"
		   "\tmov.b32 %r7, %f4;\n")
	VIEW_ENTRY("integers", "\ttex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r2, %r3}];\n")
	VIEW_ENTRY("layers", VIEW_LAYER("%r4", "0") VIEW_LAYER("%r5", "1") VIEW_LAYER("%r6", "2") "\ttxq.array_size.b32 %r7, [%rd1];\n");

/* cudaResourceViewDesc, which the driver has as well */
struct view {
	int format;
	size_t width, height, depth;
	unsigned first_level, last_level, first_layer, last_layer, reserved[16];
};
enum { VIEW_U8 = 1, VIEW_U8X4 = 3, VIEW_S8X4 = 6, VIEW_U16X2 = 8, VIEW_FLOAT = 22, VIEW_COMPRESSED = 25 };

enum { VIEW_WIDTH = 4, VIEW_HEIGHT = 2, VIEW_ELEMENTS = 8 };

/* Element i of an array of words: bytes 10 or 11, 188, i, 128 */
static inline unsigned viewed_word(int i)
{
	return (i % 2 ? 11u : 10u) | 188u << 8 | (unsigned)i << 16 | 128u << 24;
}

/* A byte of channel c as a real, and as one of sRGB: v / 255 / 12.92 up to 10; ((11 / 255 + 0.055) / 1.055)^2.4 and the same of 188; the fourth stays. */
static inline double viewed_real(int i, int c, int srgb)
{
	static const double middle = 0.5028864580325687, eleven = 0.003346535763899161;
	unsigned byte = viewed_word(i) >> 8 * c & 255;
	if (!srgb || c == 3)
		return byte / 255.0;
	return byte == 188 ? middle : byte == 11 ? eleven : byte / 255.0 / 12.92;
}

/* Whether a float is what it should be, but for rounding. */
static inline int is_near(float is, double wanted)
{
	return is - wanted < 1e-7 && wanted - is < 1e-7;
}

#endif
