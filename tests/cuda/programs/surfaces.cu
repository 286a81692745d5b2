/* Surfaces: reads and writes of arrays by the byte of a row, in one to three dimensions and in layers, inside and outside. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
#ifdef __NVCC__
typedef cudaSurfaceObject_t object;
__device__ static float read_2d(object s, int x, int y) { return surf2Dread<float>(s, x, y, cudaBoundaryModeClamp); }
__device__ static void write_2d(object s, int x, int y, float v) { surf2Dwrite(v, s, x, y, cudaBoundaryModeZero); }
__device__ static float read_3d(object s, int x, int y, int z) { return surf3Dread<float>(s, x, y, z, cudaBoundaryModeZero); }
__device__ static void write_layer(object s, int x, int y, int layer, float v) { surf2DLayeredwrite(v, s, x, y, layer, cudaBoundaryModeTrap); }
__device__ static void invert_colour(object s, int x)
{
	uchar4 c = surf1Dread<uchar4>(s, x, cudaBoundaryModeTrap);
	surf1Dwrite(make_uchar4((unsigned char)~c.x, (unsigned char)~c.y, c.w, c.z), s, x, cudaBoundaryModeTrap);
}
#else
typedef unsigned long long object;
__device__ static float read_2d(object s, int x, int y)
{
	float v;
	asm volatile("suld.b.2d.b32.clamp {%0}, [%1, {%2, %3}];" : "=f"(v) : "l"(s), "r"(x), "r"(y));
	return v;
}
__device__ static void write_2d(object s, int x, int y, float v)
{
	asm volatile("sust.b.2d.b32.zero [%0, {%1, %2}], {%3};" ::"l"(s), "r"(x), "r"(y), "f"(v) : "memory");
}
__device__ static float read_3d(object s, int x, int y, int z)
{
	float v;
	asm volatile("suld.b.3d.b32.zero {%0}, [%1, {%2, %3, %4, %4}];" : "=f"(v) : "l"(s), "r"(x), "r"(y), "r"(z));
	return v;
}
__device__ static void write_layer(object s, int x, int y, int layer, float v)
{
	asm volatile("sust.b.a2d.b32.trap [%0, {%1, %2, %3, %3}], {%4};" ::"l"(s), "r"(layer), "r"(x), "r"(y), "f"(v) : "memory");
}
__device__ static void invert_colour(object s, int x)
{
	unsigned short r, g, b, a;
	asm volatile("suld.b.1d.v4.b8.trap {%0, %1, %2, %3}, [%4, {%5}];" : "=h"(r), "=h"(g), "=h"(b), "=h"(a) : "l"(s), "r"(x));
	r = (unsigned short)~r;
	g = (unsigned short)~g;
	asm volatile("sust.b.1d.v4.b8.trap [%0, {%1}], {%2, %3, %4, %5};" ::"l"(s), "r"(x), "h"(r), "h"(g), "h"(a), "h"(b) : "memory");
}
#endif

/* Each row moves to the left; what comes in at the right is the last element. One row and column more than there are elements. */
extern "C" __global__ void move_left(object from, object to)
{
	int x = (int)threadIdx.x - 1, y = (int)blockIdx.x - 1;
	write_2d(to, x * 4, y, read_2d(from, (x + 1) * 4, y) * 2.0f);
}
extern "C" __global__ void sum_slices(object from, float *out, int width, int depth)
{
	int x = (int)threadIdx.x, y = (int)blockIdx.x;
	float sum = 0;
	for (int z = -1; z <= depth; z++)
		sum += read_3d(from, x * 4, y, z);
	out[y * width + x] = sum;
}
extern "C" __global__ void fill_layers(object to) { write_layer(to, (int)threadIdx.x * 4, (int)blockIdx.x, (int)blockIdx.y, (float)(threadIdx.x + 100 * blockIdx.x + 10000 * blockIdx.y)); }
extern "C" __global__ void invert(object s) { invert_colour(s, (int)threadIdx.x * 4); }
#endif

#ifdef WITH_HOST
KERNEL(move_left)
KERNEL(sum_slices)
KERNEL(fill_layers)
KERNEL(invert)

#ifndef __NVCC__
#include "tests/cuda/programs/arrays.h"
typedef unsigned long long cudaSurfaceObject_t;
struct cudaResourceDesc {
	int resType;
	union {
		struct { cudaArray_t array; } array;
		int reserved[32];
	} res;
};
enum { cudaResourceTypeArray };
enum { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat };
enum { cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2 };
#define CUDA_FUNCTION extern __attribute__((weak)) cudaError_t
CUDA_FUNCTION cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *channel, struct cudaExtent extent, unsigned flags);
CUDA_FUNCTION cudaFreeArray(cudaArray_t array);
CUDA_FUNCTION cudaMemcpy3D(const struct cudaMemcpy3DParms *what);
CUDA_FUNCTION cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *r);
CUDA_FUNCTION cudaDestroySurfaceObject(cudaSurfaceObject_t object);
#define AS(type, value) value
#else
#define AS(type, value) (type)(value)
#endif

enum { W = 21, H = 6, D = 3 };
static float image[D][H][W], back[D][H][W];

static cudaArray_t array_new(int bits, int kind, int channels, size_t height, size_t depth, unsigned flags)
{
	struct cudaChannelFormatDesc c;
	struct cudaExtent extent = {W, height, depth};
	cudaArray_t array = NULL;
	memset(&c, 0, sizeof c);
	c.x = bits;
	if (channels == 4)
		c.y = c.z = c.w = bits;
	c.f = AS(enum cudaChannelFormatKind, kind);
	CALL(cudaMalloc3DArray(&array, &c, extent, flags));
	return array;
}

static cudaError_t surface_of(cudaSurfaceObject_t *out, cudaArray_t array)
{
	struct cudaResourceDesc r;
	memset(&r, 0, sizeof r);
	r.resType = AS(enum cudaResourceType, cudaResourceTypeArray);
	r.res.array.array = array;
	return cudaCreateSurfaceObject(out, &r);
}

/* Between an array and memory of rows of W elements of 4 bytes. */
static void copy(cudaArray_t array, void *memory, size_t height, size_t depth, int to_array)
{
	struct cudaMemcpy3DParms c;
	struct cudaPitchedPtr p = {memory, W * 4, W, height};
	struct cudaExtent extent = {W, height, depth};
	memset(&c, 0, sizeof c);
	c.extent = extent;
	if (to_array) {
		c.srcPtr = p;
		c.dstArray = array;
		c.kind = cudaMemcpyHostToDevice;
	} else {
		c.srcArray = array;
		c.dstPtr = p;
		c.kind = cudaMemcpyDeviceToHost;
	}
	CALL(cudaMemcpy3D(&c));
}

static void try_2d(void)
{
	cudaArray_t from = array_new(32, cudaChannelFormatKindFloat, 1, H, 0, cudaArraySurfaceLoadStore);
	cudaArray_t to = array_new(32, cudaChannelFormatKindFloat, 1, H, 0, cudaArraySurfaceLoadStore);
	cudaSurfaceObject_t a, b;
	size_t wrong = 0;
	CALL(surface_of(&a, from));
	CALL(surface_of(&b, to));
	copy(from, image, H, 1, 1);
	LAUNCH(move_left, dims(H + 2, 1, 1), dims(W + 2, 1, 1), 0, 0, &a, &b);
	copy(to, back, H, 1, 0);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			wrong += back[0][y][x] != 2 * image[0][y][x + 1 < W ? x + 1 : W - 1];
	report("two dimensions, clamped reads, and no writes outside", wrong);
	CALL(cudaDestroySurfaceObject(a));
	CALL(cudaDestroySurfaceObject(b));
	CALL(cudaFreeArray(to));
}

static void try_deep(void)
{
	cudaArray_t slices = array_new(32, cudaChannelFormatKindFloat, 1, H, D, cudaArraySurfaceLoadStore);
	cudaArray_t layers = array_new(32, cudaChannelFormatKindFloat, 1, H, D, cudaArraySurfaceLoadStore | cudaArrayLayered);
	cudaSurfaceObject_t a, b;
	static float sums[H][W];
	float *out = (float *)device_new(NULL, sizeof sums);
	int width = W, depth = D;
	size_t wrong = 0;
	CALL(surface_of(&a, slices));
	CALL(surface_of(&b, layers));
	copy(slices, image, H, D, 1);
	LAUNCH(sum_slices, dims(H, 1, 1), dims(W, 1, 1), 0, 0, &a, &out, &width, &depth);
	fetch(sums, out, sizeof sums);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			wrong += sums[y][x] != image[0][y][x] + image[1][y][x] + image[2][y][x];
	report("three dimensions, zeros outside", wrong);
	LAUNCH(fill_layers, dims(H, D, 1), dims(W, 1, 1), 0, 0, &b);
	copy(layers, back, H, D, 0);
	wrong = 0;
	for (int i = 0; i < D * H * W; i++)
		wrong += (&back[0][0][0])[i] != (float)(i % W + 100 * (i / W % H) + 10000 * (i / W / H));
	report("layers", wrong);
}

static void try_bytes(void)
{
	cudaArray_t array = array_new(8, cudaChannelFormatKindUnsigned, 4, 0, 0, cudaArraySurfaceLoadStore);
	unsigned char colours[W][4], inverted[W][4];
	cudaSurfaceObject_t s;
	size_t wrong = 0;
	for (int i = 0; i < W * 4; i++)
		colours[i / 4][i % 4] = (unsigned char)(i * 53 + 9);
	copy(array, colours, 1, 1, 1);
	CALL(surface_of(&s, array));
	LAUNCH(invert, dims(1, 1, 1), dims(W, 1, 1), 0, 0, &s);
	copy(array, inverted, 1, 1, 0);
	for (int i = 0; i < W; i++)
		wrong += inverted[i][0] != 255 - colours[i][0] || inverted[i][1] != 255 - colours[i][1] || inverted[i][2] != colours[i][3] ||
		         inverted[i][3] != colours[i][2];
	report("colours of four bytes", wrong);
	report("an array that was not made for surfaces", surface_of(&s, array_new(8, cudaChannelFormatKindUnsigned, 4, 0, 0, 0)) != cudaSuccess);
}

int main(void)
{
	unsigned state = 5;
	begin();
	for (int i = 0; i < W * H * D; i++)
		(&image[0][0][0])[i] = (float)(next_number(&state) % 1000);
	try_2d();
	try_deep();
	try_bytes();
	return finish();
}
#endif
