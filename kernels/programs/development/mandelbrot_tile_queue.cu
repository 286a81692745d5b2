// Mandelbrot set by blocks that fetch tiles from a queue (an atomic counter), with a shortcut for tiles whose border is all inside; float and double views.
// Hard for a GPU: tiles differ in work by three orders of magnitude, warps diverge, and every tile costs an atomic, two barriers and a vote.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void require(cudaError_t e, int line)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
		exit(1);
	}
}
#define REQUIRE(x) require((x), __LINE__)

const int WIDTH = 1280, HEIGHT = 800, TILE = 16, TILES_X = WIDTH / TILE, TILES = TILES_X * (HEIGHT / TILE);

template <typename T> struct View {
	T left, top, step;
	int limit;
};

template <typename T> __device__ int escape_time(T cx, T cy, int limit)
{
	// the cardioid and the disk left of it are known to be inside
	T p = (cx - T(0.25)) * (cx - T(0.25)) + cy * cy;
	if (p * (p + (cx - T(0.25))) < T(0.25) * cy * cy && cx > T(-0.75))
		if (limit < 600)
			return limit;
	T x = 0, y = 0, xx = 0, yy = 0;
	int i = 0;
	while (i < limit && xx + yy <= T(4)) {
		y = T(2) * x * y + cy;
		x = xx - yy + cx;
		xx = x * x;
		yy = y * y;
		i++;
	}
	return i;
}

template <typename T> __global__ void __launch_bounds__(256) mandelbrot(View<T> v, unsigned short *out, int *queue, int *skipped)
{
	__shared__ int tile;
	int tx = threadIdx.x % TILE, ty = threadIdx.x / TILE;
	for (;;) {
		if (threadIdx.x == 0)
			tile = atomicAdd(queue, 1);
		__syncthreads();
		int mine = tile;
		if (mine >= TILES)
			break;
		int x = mine % TILES_X * TILE + tx, y = mine / TILES_X * TILE + ty;
		T cx = v.left + v.step * (T)x, cy = v.top - v.step * (T)y;
		bool border = tx == 0 || ty == 0 || tx == TILE - 1 || ty == TILE - 1;
		int n = v.limit;
		if (border)
			n = escape_time(cx, cy, v.limit);
		// the set has no holes
		bool all_inside = __syncthreads_and(n == v.limit);
		if (all_inside) {
			if (threadIdx.x == 0)
				atomicAdd(skipped, 1);
		} else if (!border) {
			n = escape_time(cx, cy, v.limit);
		}
		out[y * WIDTH + x] = (unsigned short)n;
	}
}

__global__ void histogram(const ushort4 *image, int quads, unsigned *bins)
{
	__shared__ unsigned local[2048];
	for (int i = threadIdx.x; i < 2048; i += blockDim.x)
		local[i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
		ushort4 p = image[i];
		atomicAdd(&local[p.x & 2047], 1u);
		atomicAdd(&local[p.y & 2047], 1u);
		atomicAdd(&local[p.z & 2047], 1u);
		atomicAdd(&local[p.w & 2047], 1u);
	}
	__syncthreads();
	for (int i = threadIdx.x; i < 2048; i += blockDim.x)
		if (local[i])
			atomicAdd(&bins[i], local[i]);
}

// histogram equalisation: every pixel gets its rank as brightness
__global__ void equalise(const unsigned short *image, const unsigned *below, unsigned char *gray, int pixels)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < pixels)
		gray[i] = (unsigned char)((unsigned long long)__ldg(below + image[i]) * 255 / pixels);
}

int main()
{
	const int pixels = WIDTH * HEIGHT;
	unsigned short *image;
	unsigned char *gray, *host = (unsigned char *)malloc(pixels);
	unsigned *bins, *below;
	int *counters, skipped[2];
	REQUIRE(cudaMalloc(&image, pixels * sizeof(*image)));
	REQUIRE(cudaMalloc(&gray, pixels));
	REQUIRE(cudaMalloc(&counters, 4 * sizeof(int)));
	REQUIRE(cudaMemset(counters, 0, 4 * sizeof(int)));
	REQUIRE(cudaMallocManaged(&bins, 2048 * sizeof(unsigned)));
	REQUIRE(cudaMallocManaged(&below, 2048 * sizeof(unsigned)));
	View<float> whole = {-2.2f, 1.0f, 2.0f / HEIGHT, 500};
	View<double> detail = {-0.7475, 0.1125, 0.012 / HEIGHT, 1500};
	for (int view = 0; view < 2; view++) {
		if (view == 0)
			mandelbrot<<<132 * 4, 256>>>(whole, image, counters, counters + 1);
		else
			mandelbrot<<<132 * 4, 256>>>(detail, image, counters + 2, counters + 3);
		REQUIRE(cudaGetLastError());
		for (int i = 0; i < 2048; i++)
			bins[i] = 0;
		histogram<<<66, 1024>>>((const ushort4 *)image, pixels / 4, bins);
		REQUIRE(cudaGetLastError());
		REQUIRE(cudaDeviceSynchronize());
		unsigned sum = 0;
		for (int i = 0; i < 2048; i++) {
			below[i] = sum;
			sum += bins[i];
		}
		equalise<<<(pixels + 639) / 640, 640>>>(image, below, gray, pixels);
		REQUIRE(cudaGetLastError());
		REQUIRE(cudaMemcpy(host, gray, pixels, cudaMemcpyDeviceToHost));
		unsigned long long h = 0xcbf29ce484222325ull;
		for (int i = 0; i < pixels; i++)
			h = (h ^ host[i]) * 0x100000001b3ull;
		printf("view %d: %016llx, %u pixels inside\n", view, h, bins[view ? detail.limit : whole.limit]);
		REQUIRE(cudaMemcpy(&skipped[view], counters + 1 + 2 * view, sizeof(int), cudaMemcpyDeviceToHost));
	}
	printf("tiles filled without iterating: %d and %d\n", skipped[0], skipped[1]);
	REQUIRE(cudaFree(image));
	REQUIRE(cudaFree(gray));
	REQUIRE(cudaFree(counters));
	REQUIRE(cudaFree(bins));
	REQUIRE(cudaFree(below));
	free(host);
	return 0;
}
