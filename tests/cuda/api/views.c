/*
 * Views of arrays by textures of the runtime: other formats, some of the layers, sRGB, and views that do not fit. Ends with "PASS" or exit status 1.
 */
#include "kernels/cuda/runtime.h"
#include "tests/cuda/expect.h"
#include "tests/cuda/api/views.h"

struct channel {
	int x, y, z, w, kind;
};
struct extent {
	size_t width, height, depth;
};
struct resource {
	int kind;
	union {
		void *pointer;
		struct {
			void *address;
			struct channel channel;
			size_t bytes;
		} linear;
		int reserved[32];
	} of;
};
struct texture {
	int modes[3], filter, read_mode, srgb;
	float border[4];
	int normalised;
	unsigned anisotropy;
	int level_filter;
	float level_bias, least_level, most_level;
	int no_trilinear, seamless;
};
struct positioned {
	void *array;
	size_t x, y, z;
	void *address;
	size_t pitch, width, height;
};
struct copy3d {
	struct positioned from, to;
	struct extent extent;
	int direction;
};
CUDA_FUNCTION cudaMalloc3DArray(void **array, const struct channel *channel, struct extent extent, unsigned flags);
CUDA_FUNCTION cudaMemcpy3D(const struct copy3d *copy);
CUDA_FUNCTION cudaCreateTextureObject(uint64_t *out, const struct resource *r, const struct texture *t, const struct view *view);
CUDA_FUNCTION cudaDestroyTextureObject(uint64_t object);
CUDA_FUNCTION cudaGetTextureObjectResourceViewDesc(struct view *out, uint64_t object);

enum { LAYERED = 1, INVALID_VALUE = 1, NOT_SUPPORTED = 801 };
static char reals, integers, layers;

static void *array_new(size_t depth, unsigned flags)
{
	static const struct channel word = {32, 0, 0, 0, 1};
	unsigned values[3 * VIEW_ELEMENTS];
	void *array = NULL;
	struct extent extent = {VIEW_WIDTH, VIEW_HEIGHT, depth};
	for (int i = 0; i < 3 * VIEW_ELEMENTS; i++)
		values[i] = flags ? (unsigned)(100 * (i / VIEW_ELEMENTS) + i % VIEW_ELEMENTS) : viewed_word(i);
	GOOD(cudaMalloc3DArray(&array, &word, extent, flags));
	struct copy3d in = {{.address = values, .pitch = 16, .width = 16, .height = VIEW_HEIGHT}, {.array = array}, {VIEW_WIDTH, VIEW_HEIGHT, depth ? depth : 1}, 1};
	GOOD(cudaMemcpy3D(&in));
	return array;
}

/* What a kernel reads of a view of the array. */
static void read_view(void *array, struct view view, int as_reals, int srgb, const char *kernel, void *values)
{
	struct resource r = {.of.pointer = array};
	struct texture t = {.read_mode = as_reals, .srgb = srgb};
	struct view told = {0};
	uint64_t object = 0;
	void *out = NULL;
	view.width = VIEW_WIDTH, view.height = VIEW_HEIGHT;
	GOOD(cudaCreateTextureObject(&object, &r, &t, &view));
	GOOD(cudaGetTextureObjectResourceViewDesc(&told, object));
	EXPECT(told.format * 1000 + told.width * 100 + told.height * 10 + told.last_layer, view.format * 1000 + view.width * 100 + view.height * 10 + view.last_layer);
	GOOD(cudaMalloc(&out, 16 * VIEW_ELEMENTS));
	GOOD(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){VIEW_ELEMENTS, 1, 1}, (void *[]){&object, &out}, 0, NULL));
	GOOD(cudaMemcpy(values, out, 16 * VIEW_ELEMENTS, cudaMemcpyDeviceToHost));
	GOOD(cudaDestroyTextureObject(object));
	GOOD(cudaFree(out));
}

static void formats(void *array)
{
	unsigned bytes[VIEW_ELEMENTS][4], halves[VIEW_ELEMENTS][4], words[VIEW_ELEMENTS][4];
	int with_sign[VIEW_ELEMENTS][4];
	read_view(array, (struct view){.format = VIEW_U8X4}, 0, 0, &integers, bytes);
	read_view(array, (struct view){.format = VIEW_S8X4}, 0, 0, &integers, with_sign);
	read_view(array, (struct view){.format = VIEW_U16X2}, 0, 0, &integers, halves);
	read_view(array, (struct view){.format = VIEW_FLOAT}, 0, 0, &reals, words);
	for (int i = 0; i < VIEW_ELEMENTS; i++) {
		EXPECT(bytes[i][0] * 1000 + bytes[i][1], i % 2 ? 11188 : 10188);
		EXPECT(bytes[i][2] * 1000 + bytes[i][3], 1000 * i + 128);
		EXPECT(with_sign[i][1], -68); /* 188 - 256 */
		EXPECT(with_sign[i][3], -128);
		EXPECT(halves[i][0], 188 * 256 + 10 + i % 2);
		EXPECT(halves[i][1], 128 * 256 + i);
		EXPECT(halves[i][2] | halves[i][3], 0);
		EXPECT(words[i][0], viewed_word(i));
	}
}

static void colours(void *array)
{
	float values[VIEW_ELEMENTS][4];
	for (int srgb = 0; srgb < 2; srgb++) {
		read_view(array, (struct view){.format = VIEW_U8X4}, 1, srgb, &reals, values);
		for (int i = 0; i < 4 * VIEW_ELEMENTS; i++)
			EXPECT(is_near(values[i / 4][i % 4], viewed_real(i / 4, i % 4, srgb)), 1);
	}
	read_view(array, (struct view){.format = VIEW_S8X4}, 1, 1, &reals, values); /* numbers with a sign have no sRGB */
	EXPECT(is_near(values[0][1], -68 / 127.0), 1);
}

static void some_layers(void)
{
	void *array = array_new(3, LAYERED);
	unsigned values[VIEW_ELEMENTS][4];
	read_view(array, (struct view){.depth = 3, .first_layer = 1, .last_layer = 2}, 0, 0, &layers, values);
	for (int i = 0; i < VIEW_ELEMENTS; i++) {
		EXPECT(values[i][0], 100 + i);
		EXPECT(values[i][1], 200 + i);
		EXPECT(values[i][2], 200 + i); /* a layer that is not there is the last */
		EXPECT(values[i][3], 2);
	}
}

static void mistakes(void *array)
{
	static const struct {
		struct view view;
		int error;
	} cases[] = {
		{{.format = VIEW_U8X4, .width = VIEW_WIDTH + 1, .height = VIEW_HEIGHT}, INVALID_VALUE},
		{{.format = VIEW_U8X4, .width = VIEW_WIDTH, .height = 1}, INVALID_VALUE},
		{{.format = VIEW_U8, .width = VIEW_WIDTH, .height = VIEW_HEIGHT}, INVALID_VALUE},
		{{.format = 99, .width = VIEW_WIDTH, .height = VIEW_HEIGHT}, INVALID_VALUE},
		{{.format = VIEW_U8X4, .width = VIEW_WIDTH, .height = VIEW_HEIGHT, .last_level = 1}, INVALID_VALUE},
		{{.format = VIEW_U8X4, .width = VIEW_WIDTH, .height = VIEW_HEIGHT, .last_layer = 1}, INVALID_VALUE},
		{{.format = VIEW_COMPRESSED, .width = VIEW_WIDTH, .height = VIEW_HEIGHT}, NOT_SUPPORTED},
	};
	struct texture t = {.filter = 0};
	struct resource r = {.of.pointer = array};
	struct view told;
	uint64_t object = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		EXPECT(cudaCreateTextureObject(&object, &r, &t, &cases[i].view), cases[i].error);
	GOOD(cudaCreateTextureObject(&object, &r, &t, NULL));
	EXPECT(cudaGetTextureObjectResourceViewDesc(&told, object), INVALID_VALUE);
	r = (struct resource){.kind = 2, .of.linear = {.channel = {32, 0, 0, 0, 1}, .bytes = 64}};
	GOOD(cudaMalloc(&r.of.linear.address, 64));
	EXPECT(cudaCreateTextureObject(&object, &r, &t, &(struct view){.format = VIEW_U8X4, .width = 16}), INVALID_VALUE);
}

int main(void)
{
	void **module = cuda_missing() ? NULL : register_ptx(views_ptx, sizeof views_ptx - 1);
	if (!module)
		return 77;
	register_kernel(module, &reals, "reals");
	register_kernel(module, &integers, "integers");
	register_kernel(module, &layers, "layers");
	__cudaRegisterFatBinaryEnd(module);
	void *array = array_new(0, 0);
	formats(array);
	colours(array);
	some_layers();
	mistakes(array);
	puts(failures ? "FAIL" : "PASS");
	return failures > 0;
}
