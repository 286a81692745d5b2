/*
 * Memory of the CUDA driver that is more than an address: pieces that are mapped, pools, textures and surfaces. By the real driver of a GPU it passes as
 * well. Ends with "PASS" or exit status 1.
 */
#include "tests/cuda/api/driver.h"
#include "tests/cuda/api/references.h"
#include "tests/cuda/api/surfaces.h"
#include "tests/cuda/api/views.h"

enum { INVALID_VALUE = 1 };

/* Reads the element at x = thread % 4, y = thread / 4 of a texture, adds it to that of a surface, and writes the sum to both: out and the surface. */
static const char sums_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry sums(.param .u64 sums_texture, .param .u64 sums_surface, .param .u64 sums_out)\n"
	"{\n\t.reg .f32 %f<9>;\n\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<6>;\n"
	"\tld.param.u64 %rd1, [sums_texture];\n\tld.param.u64 %rd2, [sums_surface];\n\tld.param.u64 %rd3, [sums_out];\n"
	"\tcvta.to.global.u64 %rd3, %rd3;\n\tmov.u32 %r1, %tid.x;\n\tand.b32 %r2, %r1, 3;\n\tshr.u32 %r3, %r1, 2;\n"
	"\tcvt.rn.f32.u32 %f5, %r2;\n\tcvt.rn.f32.u32 %f6, %r3;\n"
	"\ttex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];\n"
	"\tshl.b32 %r4, %r2, 2;\n\tsuld.b.2d.b32.trap {%f7}, [%rd2, {%r4, %r3}];\n\tadd.f32 %f8, %f1, %f7;\n"
	"\tsust.b.2d.b32.trap [%rd2, {%r4, %r3}], {%f8};\n"
	"\tmul.wide.u32 %rd4, %r1, 4;\n\tadd.s64 %rd5, %rd3, %rd4;\n\tst.global.f32 [%rd5], %f8;\n\tret;\n}\n";

#define ENTRY(name, registers, code) \
	".visible .entry " name "(.param .u64 " name "_texture, .param .u64 " name "_out)\n{\n\t.reg .f32 %f<16>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<6>;\n" registers \
	"\tld.param.u64 %rd1, [" name "_texture];\n\tld.param.u64 %rd2, [" name "_out];\n\tcvta.to.global.u64 %rd2, %rd2;\n\tmov.u32 %r1, %tid.x;\n" \
	"\tmul.wide.u32 %rd3, %r1, 16;\n\tadd.s64 %rd4, %rd2, %rd3;\n\tcvt.rn.f32.u32 %f5, %r1;\n" code \
	"\tst.global.v4.f32 [%rd4], {%f1, %f2, %f3, %f4};\n\tret;\n}\n"
/*
 * Of a mipmap: the middle at level thread / 2, with the level given and by steps of 2^thread elements. Of an array: the red of the elements around
 * (thread + 1, 2). Of a cube: what lies in one of the six directions, each with a little of the others.
 */
static const char samples_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	ENTRY("by_level", "", "\tmul.f32 %f6, %f5, 0f3F000000;\n\tmov.f32 %f7, 0f3F000000;\n"
	      "\ttex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f7, %f7}], %f6;\n"
	      "\tmov.f32 %f8, 0f00000000;\n\tex2.approx.f32 %f9, %f5;\n\tmul.f32 %f9, %f9, 0f3E000000;\n" /* 1/8 of the width is an element */
	      "\ttex.grad.2d.v4.f32.f32 {%f2, %f3, %f4, %f10}, [%rd1, {%f7, %f7}], {%f8, %f9}, {%f8, %f8};\n\tmov.f32 %f3, %f8;\n\tmov.f32 %f4, %f8;\n")
	ENTRY("gather", "", "\tadd.f32 %f6, %f5, 0f3F800000;\n\tmov.f32 %f7, 0f40000000;\n"
	      "\ttld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f6, %f7}];\n")
	ENTRY("in_cube", "\t.reg .pred %p<4>;\n", "\tand.b32 %r2, %r1, 1;\n\tshr.u32 %r3, %r1, 1;\n\tcvt.rn.f32.u32 %f6, %r2;\n\tfma.rn.f32 %f6, %f6, 0fC0800000, 0f40000000;\n"
	      "\tsetp.eq.u32 %p1, %r3, 0;\n\tsetp.eq.u32 %p2, %r3, 1;\n\tsetp.eq.u32 %p3, %r3, 2;\n" /* 2 or -2 in one direction, 1/2 in the others */
	      "\tselp.f32 %f7, %f6, 0f3F000000, %p1;\n\tselp.f32 %f8, %f6, 0f3F000000, %p2;\n\tselp.f32 %f9, %f6, 0f3F000000, %p3;\n"
	      "\ttex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f7, %f8, %f9, %f9}];\n");

/* CUmemAllocationProp and CUmemAccessDesc */
struct memory_kind {
	int type, handles, location, device;
	void *security;
	unsigned char flags[8];
};
struct access_right {
	int location, device, flags;
};

static void mapped_memory(void)
{
	const struct memory_kind kind = {1, 0, 1, 0, NULL, {0}};
	const struct access_right right = {1, 0, 3};
	struct memory_kind found = {0};
	uint64_t first, second, third, again = 0;
	size_t piece = 0;
	address at = 0, begin = 0;
	unsigned word = 0;
	unsigned long long flags = 0;
	GOOD(CU(cuMemGetAllocationGranularity, size_t *, const struct memory_kind *, int)(&piece, &kind, 0));
	EXPECT(piece >= 4096, true);
	GOOD(CU(cuMemAddressReserve, address *, size_t, size_t, address, unsigned long long)(&at, 4 * piece, 0, 0, 0));
	EXPECT(CU(cuMemCreate, uint64_t *, size_t, const struct memory_kind *, unsigned long long)(&first, piece / 2 + 1, &kind, 0), INVALID_VALUE);
	GOOD(CU(cuMemCreate, uint64_t *, size_t, const struct memory_kind *, unsigned long long)(&first, piece, &kind, 0));
	GOOD(CU(cuMemCreate, uint64_t *, size_t, const struct memory_kind *, unsigned long long)(&second, piece, &kind, 0));
	GOOD(CU(cuMemMap, address, size_t, size_t, uint64_t, unsigned long long)(at + piece, piece, 0, second, 0));
	GOOD(CU(cuMemMap, address, size_t, size_t, uint64_t, unsigned long long)(at, piece, 0, first, 0));
	EXPECT(CU(cuMemMap, address, size_t, size_t, uint64_t, unsigned long long)(at, piece, 0, second, 0), INVALID_VALUE);
	EXPECT(CU(cuMemSetAccess, address, size_t, const struct access_right *, size_t)(at, 3 * piece, &right, 1), INVALID_VALUE);
	GOOD(CU(cuMemSetAccess, address, size_t, const struct access_right *, size_t)(at, 2 * piece, &right, 1));
	GOOD(CU(cuMemGetAccess, unsigned long long *, const struct access_right *, address)(&flags, &right, at));
	EXPECT(flags, 3);
	GOOD(CU(cuMemGetAllocationPropertiesFromHandle, struct memory_kind *, uint64_t)(&found, second));
	EXPECT(found.location, 1);
	GOOD(CU(cuMemRetainAllocationHandle, uint64_t *, address)(&again, at + piece + 8));
	EXPECT(again == second, true);
	/* a fill across both pieces, and a copy of the words around their border */
	GOOD(CU(cuMemsetD32_v2, address, unsigned, size_t)(at, 0x1234567, 2 * piece / 4));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(&word, at + piece - 2, 4));
	EXPECT(word, 0x45670123);
	/* what is mapped lives on without its handle, and a piece keeps its contents at another address */
	GOOD(CU(cuMemRelease, uint64_t)(first));
	GOOD(CU(cuMemUnmap, address, size_t)(at + piece, piece));
	GOOD(CU(cuMemMap, address, size_t, size_t, uint64_t, unsigned long long)(at + 2 * piece, piece, 0, second, 0));
	GOOD(CU(cuMemSetAccess, address, size_t, const struct access_right *, size_t)(at + 2 * piece, piece, &right, 1));
	GOOD(CU(cuMemcpyDtoD_v2, address, address, size_t)(at + 4, at + 2 * piece, 4));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(&word, at + 4, 4));
	EXPECT(word, 0x1234567);
	EXPECT(CU(cuMemcpyDtoH_v2, void *, address, size_t)(&word, at + piece, 4) != 0, true);
	GOOD(CU(cuMemCreate, uint64_t *, size_t, const struct memory_kind *, unsigned long long)(&third, piece, &kind, 0));
	GOOD(CU(cuMemRelease, uint64_t)(third));
	EXPECT(CU(cuMemAddressFree, address, size_t)(at, 4 * piece) != 0, true); /* while memory is there */
	GOOD(CU(cuMemUnmap, address, size_t)(at, piece));
	GOOD(CU(cuMemUnmap, address, size_t)(at + 2 * piece, piece));
	GOOD(CU(cuMemRelease, uint64_t)(second));
	GOOD(CU(cuMemRelease, uint64_t)(again));
	GOOD(CU(cuMemAddressFree, address, size_t)(at, 4 * piece));
	EXPECT(CU(cuMemGetAddressRange_v2, address *, size_t *, address)(&begin, &piece, at) != 0, true);
}

enum { RELEASE_THRESHOLD = 4, RESERVED_MOST = 6, USED = 7, USED_MOST = 8 };

static uint64_t attribute_of(void *pool, int attribute)
{
	uint64_t value = 0;
	GOOD(CU(cuMemPoolGetAttribute, void *, int, void *)(pool, attribute, &value));
	return value;
}

static void pools(void)
{
	void *pool = NULL;
	address a;
	uint64_t threshold = 1 << 20, zero = 0;
	GOOD(CU(cuDeviceGetDefaultMemPool, void **, int)(&pool, 0));
	GOOD(CU(cuMemPoolSetAttribute, void *, int, void *)(pool, RELEASE_THRESHOLD, &threshold));
	EXPECT(attribute_of(pool, RELEASE_THRESHOLD), 1 << 20);
	uint64_t before = attribute_of(pool, USED);
	GOOD(CU(cuMemAllocAsync, address *, size_t, void *)(&a, 1 << 20, NULL));
	EXPECT(attribute_of(pool, USED) - before, 1 << 20);
	EXPECT(attribute_of(pool, RESERVED_MOST) >= 1 << 20, true);
	GOOD(CU(cuMemFreeAsync, address, void *)(a, NULL));
	GOOD(CU(cuStreamSynchronize, void *)(NULL));
	EXPECT(attribute_of(pool, USED), before);
	EXPECT(attribute_of(pool, USED_MOST) >= 1 << 20, true);
	GOOD(CU(cuMemPoolSetAttribute, void *, int, void *)(pool, USED_MOST, &zero));
	EXPECT(attribute_of(pool, USED_MOST), before);
	GOOD(CU(cuMemPoolTrimTo, void *, size_t)(pool, 0));
}

/* CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC */
struct array_shape {
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};
struct resource {
	int kind;
	union {
		void *array;
		struct {
			address at;
			int format;
			unsigned channels;
			size_t width, height, pitch;
		} pitched;
		int reserved[32];
	} of;
	unsigned flags;
};
struct texture {
	int modes[3], filter;
	unsigned flags, anisotropy;
	int level_filter;
	float level_bias, least_level, most_level, border[4];
	int reserved[12];
};

/* A texture of bytes, read as reals of 0 to 1, and a surface of floats. Outside, the texture is its edge. */
static void textures(void)
{
	enum { ARRAY = 0, PITCHED = 3, UNSIGNED_8 = 1, FLOAT = 0x20, SURFACE = 2, CLAMP = 1 };
	static unsigned char bytes[4][4] = {{0, 51, 102, 153}, {204, 255, 51, 102}, {0, 0, 255, 255}, {51, 51, 51, 51}};
	float sums[16], floats[4][4];
	address pitched, out;
	size_t pitch;
	void *array, *module, *f;
	uint64_t texture, surface;
	for (int i = 0; i < 16; i++)
		floats[i / 4][i % 4] = (float)(10 * i);
	GOOD(CU(cuMemAllocPitch_v2, address *, size_t *, size_t, size_t, unsigned)(&pitched, &pitch, 4, 4, 4));
	struct copy2d in = {{0, 0, 1, bytes, 0, NULL, 4}, {0, 0, 2, NULL, pitched, NULL, pitch}, 4, 4};
	GOOD(CU(cuMemcpy2D_v2, const struct copy2d *)(&in));
	GOOD(CU(cuArray3DCreate_v2, void **, const struct array_shape *)(&array, &(struct array_shape){4, 4, 0, FLOAT, 1, SURFACE}));
	struct copy2d to_array = {{0, 0, 1, floats, 0, NULL, 16}, {0, 0, 3, NULL, 0, array, 0}, 16, 4};
	GOOD(CU(cuMemcpy2D_v2, const struct copy2d *)(&to_array));
	struct resource memory = {.kind = PITCHED}, of_array = {.kind = ARRAY, .of.array = array};
	memory.of.pitched.at = pitched, memory.of.pitched.format = UNSIGNED_8, memory.of.pitched.channels = 1;
	memory.of.pitched.width = 4, memory.of.pitched.height = 4, memory.of.pitched.pitch = pitch;
	struct texture how = {.modes = {CLAMP, CLAMP, CLAMP}};
	EXPECT(CU(cuTexObjectCreate, uint64_t *, const struct resource *, const struct texture *, const void *)(&texture, NULL, &how, NULL), INVALID_VALUE);
	GOOD(CU(cuTexObjectCreate, uint64_t *, const struct resource *, const struct texture *, const void *)(&texture, &memory, &how, NULL));
	GOOD(CU(cuSurfObjectCreate, uint64_t *, const struct resource *)(&surface, &of_array));
	struct resource told = {.kind = -1};
	struct texture told_how = {.filter = -1};
	GOOD(CU(cuTexObjectGetResourceDesc, struct resource *, uint64_t)(&told, texture));
	EXPECT(told.kind, PITCHED);
	EXPECT(told.of.pitched.at == pitched && told.of.pitched.pitch == pitch && told.of.pitched.height == 4, true);
	EXPECT(told.of.pitched.format, UNSIGNED_8);
	EXPECT(told.of.pitched.channels, 1);
	GOOD(CU(cuTexObjectGetTextureDesc, struct texture *, uint64_t)(&told_how, texture));
	EXPECT(told_how.modes[1], CLAMP);
	EXPECT(told_how.filter, 0);
	EXPECT(told_how.flags, 0);
	GOOD(CU(cuSurfObjectGetResourceDesc, struct resource *, uint64_t)(&told, surface));
	EXPECT(told.kind, ARRAY);
	EXPECT(told.of.array == array, true);
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&out, sizeof sums));
	GOOD(CU(cuModuleLoadData, void **, const void *)(&module, sums_ptx));
	GOOD(CU(cuModuleGetFunction, void **, void *, const char *)(&f, module, "sums"));
	void *args[] = {&texture, &surface, &out};
	GOOD(((launch *)function("cuLaunchKernel"))(f, 1, 1, 1, 16, 1, 1, 0, NULL, args, NULL));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(sums, out, sizeof sums));
	struct copy2d from_array = {{0, 0, 3, NULL, 0, array, 0}, {0, 0, 1, floats, 0, NULL, 16}, 16, 4};
	GOOD(CU(cuMemcpy2D_v2, const struct copy2d *)(&from_array));
	for (int i = 0; i < 16; i++) {
		EXPECT(sums[i] * 5, (float)(50 * i + bytes[i / 4][i % 4] / 51)); /* all bytes are fifths */
		EXPECT(floats[i / 4][i % 4] == sums[i], true);
	}
	GOOD(CU(cuTexObjectDestroy, uint64_t)(texture));
	GOOD(CU(cuSurfObjectDestroy, uint64_t)(surface));
	GOOD(CU(cuArrayDestroy, void *)(array));
}

enum { FLOATS = 0x20, LINEAR = 1, NORMALISED = 2 };

static uint64_t texture_of_view(int kind, void *array, const struct texture *how, const struct view *view)
{
	uint64_t object = 0;
	struct resource r = {.kind = kind, .of.array = array};
	GOOD(CU(cuTexObjectCreate, uint64_t *, const struct resource *, const struct texture *, const void *)(&object, &r, how, view));
	return object;
}

static uint64_t texture_of(int kind, void *array, const struct texture *how)
{
	return texture_of_view(kind, array, how, NULL);
}

static void fill_array(void *array, const float *values, size_t columns, size_t rows)
{
	struct copy2d in = {{0, 0, 1, values, 0, NULL, 4 * columns}, {0, 0, 3, NULL, 0, array, 0}, 4 * columns, rows};
	GOOD(CU(cuMemcpy2D_v2, const struct copy2d *)(&in));
}

/* Launches one of the kernels above. */
static void sample(void *module, const char *name, uint64_t texture, unsigned threads, float (*out)[4])
{
	void *f;
	address results;
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&results, threads * sizeof *out));
	GOOD(CU(cuModuleGetFunction, void **, void *, const char *)(&f, module, name));
	GOOD(((launch *)function("cuLaunchKernel"))(f, 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){&texture, &results}, NULL));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(out, results, threads * sizeof *out));
	GOOD(CU(cuMemFree_v2, address)(results));
}

/* Four levels of 8 to 1 elements; level k is 10 k + 1 everywhere. Between levels there is a linear filter, and beyond the third it is the third. */
static void mipmaps(void *module)
{
	void *mipmap, *level, *none;
	float values[64], out[8][4];
	GOOD(CU(cuMipmappedArrayCreate, void **, const struct array_shape *, unsigned)(&mipmap, &(struct array_shape){8, 8, 0, FLOATS, 1, 0}, 4));
	for (unsigned k = 0; k < 4; k++) {
		for (int i = 0; i < 64; i++)
			values[i] = (float)(10 * k + 1);
		GOOD(CU(cuMipmappedArrayGetLevel, void **, void *, unsigned)(&level, mipmap, k));
		fill_array(level, values, 8u >> k, 8u >> k);
	}
	EXPECT(CU(cuMipmappedArrayGetLevel, void **, void *, unsigned)(&none, mipmap, 4), INVALID_VALUE);
	struct texture how = {.filter = LINEAR, .flags = NORMALISED, .level_filter = LINEAR, .most_level = 2.5f};
	sample(module, "by_level", texture_of(1, mipmap, &how), 8, out);
	for (int i = 0; i < 8; i++) {
		EXPECT(out[i][0], i < 5 ? 5 * i + 1 : 26);
		EXPECT(out[i][1], i < 3 ? 10 * i + 1 : 26);
	}
	how.level_filter = 0, how.level_bias = 1.25f, how.most_level = 9;
	sample(module, "by_level", texture_of(1, mipmap, &how), 8, out);
	EXPECT(out[0][0], 11);
	EXPECT(out[1][0], 21); /* of level 1.75 the nearest */
	EXPECT(out[7][0], 31);
	/* Of levels 1 and 2, which are 11 and 21, the second comes half a level after the first. A step of an element is two in level 0. */
	struct view middle = {.width = 8, .height = 8, .first_level = 1, .last_level = 2};
	how.level_filter = LINEAR, how.level_bias = 0;
	sample(module, "by_level", texture_of_view(1, mipmap, &how, &middle), 8, out);
	for (int i = 0; i < 8; i++) {
		EXPECT(out[i][0], i < 2 ? 5 * i + 11 : 21);
		EXPECT(out[i][1], i < 2 ? 11 : 21);
	}
	GOOD(CU(cuMipmappedArrayDestroy, void *)(mipmap));
}

static void gathers_and_cubes(void *module)
{
	enum { GATHER = 8, CUBE = 4 };
	void *array, *cube;
	float values[6 * 16], out[6][4];
	struct texture how = {.modes = {1, 1, 1}};
	for (int i = 0; i < 96; i++)
		values[i] = (float)i;
	GOOD(CU(cuArray3DCreate_v2, void **, const struct array_shape *)(&array, &(struct array_shape){8, 4, 0, FLOATS, 1, GATHER}));
	fill_array(array, values, 8, 4);
	sample(module, "gather", texture_of(0, array, &how), 6, out);
	for (int i = 0; i < 6; i++) { /* elements i and i + 1 of rows 1 and 2: the lower row first, to the right and back */
		EXPECT(out[i][0], 16 + i);
		EXPECT(out[i][1], 17 + i);
		EXPECT(out[i][2], 9 + i);
		EXPECT(out[i][3], 8 + i);
	}
	GOOD(CU(cuArray3DCreate_v2, void **, const struct array_shape *)(&cube, &(struct array_shape){4, 4, 6, FLOATS, 1, CUBE}));
	struct copy3d box = {{.kind = 1, .host = values, .pitch = 16, .height = 4}, {.kind = 3, .array = cube}, 16, 4, 6};
	GOOD(CU(cuMemcpy3D_v2, const void *)(&box));
	how.flags = NORMALISED;
	sample(module, "in_cube", texture_of(0, cube, &how), 6, out);
	/* 1/2 of 2 is a quarter from the middle, which is 3 or 1 of 4: in x and y of the face, by the table of faces in CUDA's guide */
	static const int x[6] = {1, 2, 2, 2, 2, 1}, y[6] = {1, 1, 2, 1, 1, 1};
	for (int i = 0; i < 6; i++)
		EXPECT(out[i][0], 16 * i + 4 * y[i] + x[i]);
}

/* Words as bytes of sRGB: reals, unless a flag says integers. What is told of it is what was asked for. */
static void views(void)
{
	enum { WORDS = 3, INTEGERS = 1, SRGB = 0x10 };
	struct view view = {.format = VIEW_U8X4, .width = VIEW_WIDTH, .height = VIEW_HEIGHT}, told = {0};
	struct texture how = {.flags = SRGB}, told_how = {0};
	unsigned words[VIEW_ELEMENTS];
	float out[VIEW_ELEMENTS][4];
	void *module, *array;
	for (int i = 0; i < VIEW_ELEMENTS; i++)
		words[i] = viewed_word(i);
	GOOD(CU(cuModuleLoadData, void **, const void *)(&module, views_ptx));
	GOOD(CU(cuArray3DCreate_v2, void **, const struct array_shape *)(&array, &(struct array_shape){VIEW_WIDTH, VIEW_HEIGHT, 0, WORDS, 1, 0}));
	fill_array(array, (const float *)words, VIEW_WIDTH, VIEW_HEIGHT);
	uint64_t object = texture_of_view(0, array, &how, &view);
	sample(module, "reals", object, VIEW_ELEMENTS, out);
	for (int i = 0; i < 4 * VIEW_ELEMENTS; i++)
		EXPECT(is_near(out[i / 4][i % 4], viewed_real(i / 4, i % 4, 1)), 1);
	GOOD(CU(cuTexObjectGetTextureDesc, struct texture *, uint64_t)(&told_how, object));
	EXPECT(told_how.flags, SRGB);
	how.flags = INTEGERS;
	object = texture_of_view(0, array, &how, &view);
	sample(module, "integers", object, VIEW_ELEMENTS, out);
	EXPECT(((unsigned *)out)[4 * 3 + 1], 188);
	GOOD(CU(cuTexObjectGetTextureDesc, struct texture *, uint64_t)(&told_how, object));
	EXPECT(told_how.flags, INTEGERS);
	GOOD(CU(cuTexObjectGetResourceViewDesc, struct view *, uint64_t)(&told, object));
	EXPECT(told.format * 1000 + told.width * 100 + told.height * 10 + told.last_layer, view.format * 1000 + view.width * 100 + view.height * 10 + view.last_layer);
	EXPECT(CU(cuTexObjectGetResourceViewDesc, struct view *, uint64_t)(&told, texture_of(0, array, &how)), INVALID_VALUE);
}

static void samples(void)
{
	void *module;
	GOOD(CU(cuModuleLoadData, void **, const void *)(&module, samples_ptx));
	mipmaps(module);
	gathers_and_cubes(module);
}

static void fetch(void *module, const char *name, address out, float shift, enum fetch_kind kind, int at)
{
	void *f;
	float host[FETCHES];
	GOOD(CU(cuModuleGetFunction, void **, void *, const char *)(&f, module, name));
	GOOD(((launch *)function("cuLaunchKernel"))(f, 1, 1, 1, FETCHES, 1, 1, 0, NULL, (void *[]){&out, &shift}, NULL));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(host, out, sizeof host));
	for (int i = 0; i < FETCHES; i++)
		if (host[i] != fetched(kind, i, 1))
			failures++, printf("FAIL line %d: element %d is %g\n", at, i, (double)host[i]);
}

/* After all of the settings below. */
static void references_tell(void *image, void *packed, void *array, address small)
{
	enum { CLAMP = 1, LINEAR = 1, BYTES = 1, FLOATS = 0x20 };
	void *found;
	address at;
	int value, channels;
	GOOD(CU(cuTexRefGetArray, void **, void *)(&found, image));
	EXPECT(found == array, 1);
	EXPECT(CU(cuTexRefGetArray, void **, void *)(&found, packed), INVALID_VALUE);
	GOOD(CU(cuTexRefGetAddress_v2, address *, void *)(&at, packed));
	EXPECT(at == small, 1);
	GOOD(CU(cuTexRefGetFormat, int *, int *, void *)(&value, &channels, packed));
	EXPECT(value * 10 + channels, BYTES * 10 + 1);
	GOOD(CU(cuTexRefGetAddressMode, int *, void *, int)(&value, image, 0));
	EXPECT(value, CLAMP);
	GOOD(CU(cuTexRefGetFilterMode, int *, void *)(&value, image));
	EXPECT(value, LINEAR);
	GOOD(CU(cuTexRefGetFlags, unsigned *, void *)((unsigned *)&value, packed));
	EXPECT(value, 0);
}

/* Textures that are variables: linear memory of reals and of bytes, rows with a pitch, an array. */
static void references(void)
{
	enum { INVALID_HANDLE = 400, NOT_FOUND = 500, BYTES = 1 };
	struct {
		size_t width, height;
		int format;
		unsigned channels;
	} plane = {8, 4, FLOATS, 1};
	void *module, *image, *packed, *array;
	address memory, small, out;
	float values[FETCHES];
	unsigned char bytes[FETCHES];
	for (int i = 0; i < FETCHES; i++) {
		values[i] = fetched(FETCH_VALUES, i, 1);
		bytes[i] = (unsigned char)(8 * i + 7);
	}
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&memory, sizeof values));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&small, sizeof bytes));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&out, sizeof values));
	GOOD(CU(cuMemcpyHtoD_v2, address, const void *, size_t)(memory, values, sizeof values));
	GOOD(CU(cuMemcpyHtoD_v2, address, const void *, size_t)(small, bytes, sizeof bytes));
	GOOD(CU(cuModuleLoadData, void **, const void *)(&module, references_ptx));
	EXPECT(CU(cuModuleGetTexRef, void **, void *, const char *)(&image, module, "nobody"), NOT_FOUND);
	GOOD(CU(cuModuleGetTexRef, void **, void *, const char *)(&image, module, "image"));
	GOOD(CU(cuModuleGetTexRef, void **, void *, const char *)(&packed, module, "packed"));
	GOOD(CU(cuTexRefSetFormat, void *, int, int)(image, FLOATS, 1));
	GOOD(CU(cuTexRefSetAddress_v2, size_t *, void *, address, size_t)(NULL, image, memory, sizeof values));
	fetch(module, "line", out, 0, FETCH_VALUES, __LINE__);
	GOOD(CU(cuTexRefSetAddress_v2, size_t *, void *, address, size_t)(NULL, packed, small, sizeof bytes));
	GOOD(CU(cuTexRefSetFormat, void *, int, int)(packed, BYTES, 1));
	GOOD(CU(cuTexRefSetFlags, void *, unsigned)(packed, 0));
	fetch(module, "bytes", out, 0, FETCH_BYTES, __LINE__);
	GOOD(CU(cuTexRefSetAddress2D_v3, void *, const void *, address, size_t)(image, &plane, memory, 32));
	fetch(module, "rows", out, 0.5f, FETCH_VALUES, __LINE__);
	GOOD(CU(cuTexRefSetFilterMode, void *, int)(image, LINEAR));
	GOOD(CU(cuTexRefSetAddressMode, void *, int, int)(image, 0, 1));
	fetch(module, "rows", out, 1, FETCH_BETWEEN, __LINE__);
	GOOD(CU(cuArray3DCreate_v2, void **, const struct array_shape *)(&array, &(struct array_shape){8, 4, 0, FLOATS, 1, 0}));
	fill_array(array, values, 8, 4);
	GOOD(CU(cuTexRefSetArray, void *, void *, unsigned)(image, array, 1));
	fetch(module, "rows", out, 1, FETCH_BETWEEN, __LINE__);
	EXPECT(CU(cuTexRefSetArray, void *, void *, unsigned)(image, NULL, 1), INVALID_HANDLE);
	references_tell(image, packed, array, small);
}

static void *surface_array(int first)
{
	float values[SURFACE_ELEMENTS];
	void *array;
	for (int i = 0; i < SURFACE_ELEMENTS; i++)
		values[i] = surface_value(i, first);
	GOOD(CU(cuArray3DCreate_v2, void **, const struct array_shape *)(&array, &(struct array_shape){SURFACE_WIDTH, SURFACE_HEIGHT, 0, FLOATS, 1, 2}));
	fill_array(array, values, SURFACE_WIDTH, SURFACE_HEIGHT);
	return array;
}

static void pull(void *module, void *array, int first)
{
	void *f;
	address out;
	float values[SURFACE_ELEMENTS];
	unsigned sizes[SURFACE_ELEMENTS];
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&out, sizeof sizes));
	GOOD(CU(cuModuleGetFunction, void **, void *, const char *)(&f, module, "pull"));
	GOOD(((launch *)function("cuLaunchKernel"))(f, 1, 1, 1, SURFACE_ELEMENTS, 1, 1, 0, NULL, (void *[]){&out}, NULL));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(sizes, out, sizeof sizes));
	struct copy3d box = {{.kind = 3, .array = array}, {.kind = 1, .host = values, .pitch = 32, .height = SURFACE_HEIGHT}, 32, SURFACE_HEIGHT, 1};
	GOOD(CU(cuMemcpy3D_v2, const void *)(&box));
	for (int i = 0; i < SURFACE_ELEMENTS; i++) {
		EXPECT(values[i] == surface_pulled(i, first), 1);
		EXPECT(sizes[i], SURFACE_SIZES);
	}
}

/* Surfaces that are variables. */
static void surface_references(void)
{
	enum { NOT_FOUND = 500 };
	void *module, *from, *to, *found, *arrays[] = {surface_array(1), surface_array(2), surface_array(0)};
	GOOD(CU(cuModuleLoadData, void **, const void *)(&module, surfaces_ptx));
	EXPECT(CU(cuModuleGetSurfRef, void **, void *, const char *)(&from, module, "nobody"), NOT_FOUND);
	GOOD(CU(cuModuleGetSurfRef, void **, void *, const char *)(&from, module, "from"));
	GOOD(CU(cuModuleGetSurfRef, void **, void *, const char *)(&to, module, "to"));
	EXPECT(CU(cuSurfRefGetArray, void **, void *)(&found, from) != 0, true);
	GOOD(CU(cuSurfRefSetArray, void *, void *, unsigned)(to, arrays[2], 0));
	for (int i = 0; i < 2; i++) {
		GOOD(CU(cuSurfRefSetArray, void *, void *, unsigned)(from, arrays[i], 0));
		pull(module, arrays[2], i + 1);
	}
	GOOD(CU(cuSurfRefGetArray, void **, void *)(&found, from));
	EXPECT(found == arrays[1], 1);
	EXPECT(CU(cuSurfRefSetArray, void *, void *, unsigned)(from, NULL, 0) != 0, true);
	EXPECT(CU(cuSurfRefSetArray, void *, void *, unsigned)(from, arrays[0], 1) != 0, true);
	pull(module, arrays[2], 2);
}

/* Copies of bytes of an array's row, and what it says of itself. */
static void rows_of_arrays(void)
{
	enum { FLOATS = 0x20, WIDTH = 16, BYTES = 4 * WIDTH };
	struct array_shape shape = {WIDTH, 0, 0, FLOATS, 1, 0}, found = {0};
	struct {
		size_t width, height;
		int format;
		unsigned channels;
	} plane;
	void *first, *second, *stream;
	address memory;
	float sent[WIDTH], received[WIDTH] = {0};
	for (int i = 0; i < WIDTH; i++)
		sent[i] = (float)i;
	GOOD(CU(cuArray3DCreate_v2, void **, const struct array_shape *)(&first, &shape));
	GOOD(CU(cuArray3DCreate_v2, void **, const struct array_shape *)(&second, &shape));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&memory, BYTES));
	GOOD(CU(cuStreamCreate, void **, unsigned)(&stream, 0));
	GOOD(CU(cuMemcpyHtoA_v2, void *, size_t, const void *, size_t)(first, 0, sent, BYTES / 2));
	GOOD(CU(cuMemcpyHtoAAsync_v2, void *, size_t, const void *, size_t, void *)(first, BYTES / 2, sent + WIDTH / 2, BYTES / 2, stream));
	GOOD(CU(cuStreamSynchronize, void *)(stream));
	GOOD(CU(cuMemcpyAtoA_v2, void *, size_t, void *, size_t, size_t)(second, 0, first, 8, BYTES - 8)); /* second is 2, 3, ... */
	GOOD(CU(cuMemcpyAtoD_v2, address, void *, size_t, size_t)(memory, second, 0, BYTES - 8));
	GOOD(CU(cuMemcpyDtoA_v2, void *, size_t, address, size_t)(first, 4, memory + 4, 8)); /* first is 0, 3, 4, 3, ... */
	GOOD(CU(cuMemcpyAtoH_v2, void *, void *, size_t, size_t)(received, first, 0, 16));
	GOOD(CU(cuMemcpyAtoHAsync_v2, void *, void *, size_t, size_t, void *)(received + 4, second, 0, 8, stream));
	GOOD(CU(cuStreamSynchronize, void *)(stream));
	static const float wanted[] = {0, 3, 4, 3, 2, 3, 0};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		EXPECT(received[i], wanted[i]);
	EXPECT(CU(cuMemcpyHtoA_v2, void *, size_t, const void *, size_t)(first, 8, sent, BYTES), INVALID_VALUE); /* beyond its end */
	GOOD(CU(cuArray3DGetDescriptor_v2, struct array_shape *, void *)(&found, first));
	EXPECT(found.width * 100 + found.height * 10 + found.depth, WIDTH * 100);
	EXPECT(found.format * 10 + (int)found.channels, FLOATS * 10 + 1);
	GOOD(CU(cuArrayGetDescriptor_v2, void *, void *)(&plane, first));
	EXPECT(plane.width * 10 + plane.height, WIDTH * 10);
	EXPECT(plane.format * 10 + (int)plane.channels, FLOATS * 10 + 1);
}

int main(void)
{
	void *context;
	open_driver();
	GOOD(CU(cuInit, unsigned)(0));
	GOOD(CU(cuCtxCreate_v2, void **, unsigned, int)(&context, 0, 0));
	mapped_memory();
	pools();
	textures();
	samples();
	rows_of_arrays();
	references();
	surface_references();
	views();
	return verdict();
}
