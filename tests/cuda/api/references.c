/*
 * Texture references of the runtime, as a program of CUDA 11 has them: headers of later versions do not know them. Ends with "PASS" or exit status 1.
 */
#include "kernels/cuda/runtime.h"
#include "tests/cuda/expect.h"
#include "tests/cuda/api/references.h"

#include <stdio.h>
#include <stdlib.h>

struct channel {
	int x, y, z, w, kind;
};
struct reference {
	int normalised, filter, modes[3];
	struct channel channel;
	int srgb;
	unsigned anisotropy;
	int level_filter;
	float level_bias, least_level, most_level;
	int no_trilinear, reserved[14];
};
CUDA_FUNCTION cudaBindTexture(size_t *offset, const struct reference *r, const void *address, const struct channel *channel, size_t bytes);
CUDA_FUNCTION cudaBindTexture2D(size_t *offset, const struct reference *r, const void *address, const struct channel *channel, size_t width, size_t height,
                                size_t pitch);
CUDA_FUNCTION cudaBindTextureToArray(const struct reference *r, const void *array, const struct channel *channel);
CUDA_FUNCTION cudaUnbindTexture(const struct reference *r);
CUDA_FUNCTION cudaGetTextureAlignmentOffset(size_t *offset, const struct reference *r);
CUDA_FUNCTION cudaGetTextureReference(const struct reference **out, const void *symbol);
CUDA_FUNCTION cudaMallocArray(void **array, const struct channel *channel, size_t width, size_t height, unsigned flags);
CUDA_FUNCTION cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int direction);
extern void __cudaRegisterTexture(void **module, const void *host, const void **device, const char *name, int dims, int normalised, int external)
	__attribute__((weak));

static struct reference image = {.modes = {1, 1, 1}, .channel = {32, 0, 0, 0, 2}}, packed = {.modes = {1, 1, 1}, .channel = {8, 0, 0, 0, 1}}, unknown;
static char line, bytes, rows;
static float *out;

static void launch(const char *kernel, float *shift)
{
	void *arguments[] = {&out, shift};
	GOOD(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){FETCHES, 1, 1}, arguments, 0, NULL));
}

static void check(enum fetch_kind kind, int first, int at)
{
	float host[FETCHES];
	GOOD(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < FETCHES; i++)
		if (host[i] != fetched(kind, i, first))
			failures++, printf("FAIL line %d: element %d is %g\n", at, i, (double)host[i]);
}
#define CHECK(kind, first) check(kind, first, __LINE__)

int main(void)
{
	float values[2][FETCHES], middle = 0.5f, edge = 1, *memory[2];
	unsigned char small[FETCHES], *device_small;
	const struct reference *found = NULL;
	void *array;
	size_t offset = 9;
	void **module = cuda_missing() ? NULL : register_ptx(references_ptx, sizeof references_ptx - 1);
	if (!module)
		return 77;
	register_kernel(module, &line, "line");
	register_kernel(module, &bytes, "bytes");
	register_kernel(module, &rows, "rows");
	__cudaRegisterTexture(module, &image, NULL, "image", 2, 0, 0);
	__cudaRegisterTexture(module, &packed, NULL, "packed", 1, 1, 0);
	__cudaRegisterFatBinaryEnd(module);
	GOOD(cudaMalloc((void **)&out, sizeof values[0]));
	for (int i = 0; i < FETCHES; i++) {
		values[0][i] = fetched(FETCH_VALUES, i, 1);
		values[1][i] = fetched(FETCH_VALUES, i, 2);
		small[i] = (unsigned char)(8 * i + 7);
	}
	for (int i = 0; i < 2; i++) {
		GOOD(cudaMalloc((void **)&memory[i], sizeof values[0]));
		GOOD(cudaMemcpy(memory[i], values[i], sizeof values[0], cudaMemcpyHostToDevice));
	}
	GOOD(cudaMalloc((void **)&device_small, sizeof small));
	GOOD(cudaMemcpy(device_small, small, sizeof small, cudaMemcpyHostToDevice));

	GOOD(cudaBindTexture(&offset, &image, memory[0], NULL, (size_t)-1));
	EXPECT(offset, 0);
	launch(&line, NULL);
	GOOD(cudaBindTexture(NULL, &image, memory[1], &image.channel, sizeof values[0])); /* the launch has what was bound before */
	CHECK(FETCH_VALUES, 1);
	launch(&line, NULL);
	CHECK(FETCH_VALUES, 2);
	GOOD(cudaBindTexture(NULL, &packed, device_small, NULL, sizeof small));
	launch(&bytes, NULL);
	CHECK(FETCH_BYTES, 0);
	GOOD(cudaBindTexture2D(NULL, &image, memory[0], NULL, 8, 4, 32));
	launch(&rows, &middle);
	CHECK(FETCH_VALUES, 1);
	image.filter = 1; /* what a reference says counts when something is bound to it */
	launch(&rows, &middle);
	CHECK(FETCH_VALUES, 1);
	GOOD(cudaMallocArray(&array, &image.channel, 8, 4, 0));
	GOOD(cudaMemcpy2DToArray(array, 0, 0, values[1], 32, 32, 4, cudaMemcpyHostToDevice));
	GOOD(cudaBindTextureToArray(&image, array, &image.channel));
	launch(&rows, &edge);
	CHECK(FETCH_BETWEEN, 2);

	enum { INVALID_VALUE = 1, INVALID_TEXTURE = 18 };
	EXPECT(cudaBindTexture(NULL, &image, values, NULL, 4), INVALID_VALUE);
	EXPECT(cudaBindTextureToArray(&unknown, array, NULL), INVALID_TEXTURE);
	EXPECT(cudaUnbindTexture(&unknown), INVALID_TEXTURE);
	GOOD(cudaGetTextureReference(&found, &packed));
	EXPECT(found == &packed, 1);
	GOOD(cudaGetTextureAlignmentOffset(&offset, &image));
	GOOD(cudaUnbindTexture(&image));
	GOOD(cudaUnbindTexture(&packed));
	puts(failures ? "FAIL" : "PASS");
	return failures > 0;
}
