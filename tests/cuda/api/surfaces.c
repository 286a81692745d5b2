/*
 * Surface references of the runtime, as a program of CUDA 11 has them: headers of later versions do not know them. Ends with "PASS" or exit status 1.
 */
#include "kernels/cuda/runtime.h"
#include "tests/cuda/expect.h"
#include "tests/cuda/api/surfaces.h"

struct channel {
	int x, y, z, w, kind;
};
struct reference {
	struct channel channel;
};
CUDA_FUNCTION cudaBindSurfaceToArray(const struct reference *r, const void *array, const struct channel *channel);
CUDA_FUNCTION cudaGetSurfaceReference(const struct reference **out, const void *symbol);
CUDA_FUNCTION cudaMallocArray(void **array, const struct channel *channel, size_t width, size_t height, unsigned flags);
CUDA_FUNCTION cudaFreeArray(void *array);
CUDA_FUNCTION cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int direction);
CUDA_FUNCTION cudaMemcpy2DFromArray(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width, size_t height, int direction);
extern void __cudaRegisterSurface(void **module, const void *host, const void **device, const char *name, int dims, int external) __attribute__((weak));

static const struct channel reals = {32, 0, 0, 0, 2};
static struct reference from, to, unknown;
static char pull;
static unsigned *out;

static void *array_new(int first)
{
	float values[SURFACE_ELEMENTS];
	void *array = NULL;
	for (int i = 0; i < SURFACE_ELEMENTS; i++)
		values[i] = surface_value(i, first);
	GOOD(cudaMallocArray(&array, &reals, SURFACE_WIDTH, SURFACE_HEIGHT, 2));
	GOOD(cudaMemcpy2DToArray(array, 0, 0, values, 32, 32, SURFACE_HEIGHT, cudaMemcpyHostToDevice));
	return array;
}

static void launch(void)
{
	void *arguments[] = {&out};
	GOOD(cudaLaunchKernel(&pull, (dim3){1, 1, 1}, (dim3){SURFACE_ELEMENTS, 1, 1}, arguments, 0, NULL));
}

static void check(const void *array, int first, int at)
{
	float values[SURFACE_ELEMENTS];
	unsigned sizes[SURFACE_ELEMENTS];
	GOOD(cudaMemcpy2DFromArray(values, 32, array, 0, 0, 32, SURFACE_HEIGHT, cudaMemcpyDeviceToHost));
	GOOD(cudaMemcpy(sizes, out, sizeof sizes, cudaMemcpyDeviceToHost));
	for (int i = 0; i < SURFACE_ELEMENTS; i++)
		if (values[i] != surface_pulled(i, first) || sizes[i] != SURFACE_SIZES)
			failures++, printf("FAIL line %d: element %d is %g, sizes %u\n", at, i, (double)values[i], sizes[i]);
}
#define CHECK(array, first) check(array, first, __LINE__)

static void **register_module(void)
{
	void **module = register_ptx(surfaces_ptx, sizeof surfaces_ptx - 1);
	if (!module)
		exit(77);
	register_kernel(module, &pull, "pull");
	__cudaRegisterSurface(module, &from, NULL, "from", 2, 0);
	__cudaRegisterSurface(module, &to, NULL, "to", 2, 0);
	__cudaRegisterFatBinaryEnd(module);
	return module;
}

int main(void)
{
	enum { INVALID_VALUE = 1, INVALID_SURFACE = 37 };
	const struct reference *found = NULL;
	if (cuda_missing())
		return 77;
	void **module = register_module(), *sources[] = {array_new(1), array_new(2)}, *results[] = {array_new(0), array_new(0)};
	GOOD(cudaMalloc((void **)&out, SURFACE_ELEMENTS * sizeof *out));
	GOOD(cudaBindSurfaceToArray(&from, sources[0], &reals));
	GOOD(cudaBindSurfaceToArray(&to, results[0], &reals));
	launch();
	GOOD(cudaBindSurfaceToArray(&from, sources[1], &reals)); /* the launch has what was bound before */
	GOOD(cudaBindSurfaceToArray(&to, results[1], NULL));
	CHECK(results[0], 1);
	launch();
	CHECK(results[1], 2);
	CHECK(results[0], 1);

	EXPECT(cudaBindSurfaceToArray(&unknown, sources[0], &reals), INVALID_SURFACE);
	EXPECT(cudaBindSurfaceToArray(NULL, sources[0], &reals), INVALID_SURFACE);
	EXPECT(cudaBindSurfaceToArray(&from, &from, &reals), INVALID_VALUE);
	EXPECT(cudaGetSurfaceReference(&found, &unknown), INVALID_SURFACE);
	EXPECT(cudaGetSurfaceReference(NULL, &from), INVALID_VALUE);
	GOOD(cudaGetSurfaceReference(&found, &from));
	EXPECT(found == &from, 1);
	for (int i = 0; i < 2; i++) {
		GOOD(cudaFreeArray(sources[i]));
		GOOD(cudaFreeArray(results[i]));
	}
	__cudaUnregisterFatBinary(module);
	puts(failures ? "FAIL" : "PASS");
	return failures > 0;
}
