/*
 * Memory of the CUDA driver that is more than an address: pieces that are mapped, pools, textures and surfaces. By the real driver of a GPU it passes as
 * well. Ends with "PASS" or exit status 1.
 */
#include "tests/cuda/api/driver.h"

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

int main(void)
{
	void *context;
	open_driver();
	GOOD(CU(cuInit, unsigned)(0));
	GOOD(CU(cuCtxCreate_v2, void **, unsigned, int)(&context, 0, 0));
	mapped_memory();
	pools();
	textures();
	return verdict();
}
