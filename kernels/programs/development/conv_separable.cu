// Separable 17-tap bell-shaped blur of a large image: a row pass and a column pass, each through a shared-memory tile.
// The halo loads, the strided column access and the many shared-memory reads per pixel compete with plain bandwidth.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>
#include <cuda_runtime.h>

#define RADIUS 8
#define TAPS (2 * RADIUS + 1)
#define WIDTH 2048
#define HEIGHT 2048
#define REPEATS 3

#define ROW_BX 16
#define ROW_BY 8
#define ROW_STEPS 8
#define COL_BX 32
#define COL_BY 8
#define COL_STEPS 8

#define CUDA_OK(x) cuda_ok((x), #x, __LINE__)

static void cuda_ok(cudaError_t err, const char *expr, int line)
{
	if (err != cudaSuccess) {
		fprintf(stderr, "line %d: %s: %s\n", line, expr, cudaGetErrorString(err));
		exit(1);
	}
}

__constant__ float c_filter[TAPS];

__global__ void blur_rows(float *dst, const float *src, int w, int pitch)
{
	__shared__ float tile[ROW_BY][ROW_BX * (ROW_STEPS + 2)];
	const int base = (blockIdx.x * ROW_STEPS - 1) * ROW_BX + threadIdx.x;
	const int y = blockIdx.y * ROW_BY + threadIdx.y;
	src += y * pitch;
	dst += y * pitch;
#pragma unroll
	for (int s = 0; s < ROW_STEPS + 2; s++) {
		int x = base + s * ROW_BX;
		tile[threadIdx.y][threadIdx.x + s * ROW_BX] = (x >= 0 && x < w) ? src[x] : 0.0f;
	}
	__syncthreads();
#pragma unroll
	for (int s = 1; s <= ROW_STEPS; s++) {
		float sum = 0.0f;
#pragma unroll
		for (int k = -RADIUS; k <= RADIUS; k++)
			sum += c_filter[RADIUS + k] * tile[threadIdx.y][threadIdx.x + s * ROW_BX + k];
		dst[base + s * ROW_BX] = sum;
	}
}

__global__ void blur_cols(float *dst, const float *src, int h, int pitch)
{
	__shared__ float tile[COL_BX][(COL_STEPS + 2) * COL_BY + 1];
	const int x = blockIdx.x * COL_BX + threadIdx.x;
	const int base = (blockIdx.y * COL_STEPS - 1) * COL_BY + threadIdx.y;
#pragma unroll
	for (int s = 0; s < COL_STEPS + 2; s++) {
		int y = base + s * COL_BY;
		tile[threadIdx.x][threadIdx.y + s * COL_BY] = (y >= 0 && y < h) ? src[y * pitch + x] : 0.0f;
	}
	__syncthreads();
#pragma unroll
	for (int s = 1; s <= COL_STEPS; s++) {
		float sum = 0.0f;
#pragma unroll
		for (int k = -RADIUS; k <= RADIUS; k++)
			sum += c_filter[RADIUS + k] * tile[threadIdx.x][threadIdx.y + s * COL_BY + k];
		dst[(base + s * COL_BY) * pitch + x] = sum;
	}
}

static unsigned long long fnv(const std::vector<float> &v)
{
	unsigned long long h = 14695981039346656037ull;
	const unsigned char *p = (const unsigned char *)v.data();
	for (size_t i = 0; i < v.size() * sizeof(float); i++)
		h = (h ^ p[i]) * 1099511628211ull;
	return h;
}

int main(void)
{
	const size_t pixels = (size_t)WIDTH * HEIGHT;
	std::vector<float> image(pixels), out(pixels);
	for (size_t i = 0; i < pixels; i++)
		image[i] = (float)(((uint32_t)i * 2654435761u) >> 24);

	float filter[TAPS], total = 0.0f;
	for (int k = 0; k < TAPS; k++) {
		float d = (float)(k - RADIUS);
		filter[k] = 1.0f / (1.0f + 0.125f * d * d);
		total += filter[k];
	}
	for (int k = 0; k < TAPS; k++)
		filter[k] /= total;
	CUDA_OK(cudaMemcpyToSymbol(c_filter, filter, sizeof(filter)));

	float *a, *b;
	CUDA_OK(cudaMalloc((void **)&a, pixels * sizeof(float)));
	CUDA_OK(cudaMalloc((void **)&b, pixels * sizeof(float)));
	CUDA_OK(cudaMemcpy(a, image.data(), pixels * sizeof(float), cudaMemcpyHostToDevice));
	for (int r = 0; r < REPEATS; r++) {
		dim3 rb(ROW_BX, ROW_BY), rg(WIDTH / (ROW_BX * ROW_STEPS), HEIGHT / ROW_BY);
		blur_rows<<<rg, rb>>>(b, a, WIDTH, WIDTH);
		CUDA_OK(cudaGetLastError());
		dim3 cb(COL_BX, COL_BY), cg(WIDTH / COL_BX, HEIGHT / (COL_BY * COL_STEPS));
		blur_cols<<<cg, cb>>>(a, b, HEIGHT, WIDTH);
		CUDA_OK(cudaGetLastError());
	}
	CUDA_OK(cudaMemcpy(out.data(), b, pixels * sizeof(float), cudaMemcpyDeviceToHost));
	printf("rows: %016llx\n", fnv(out));
	CUDA_OK(cudaMemcpy(out.data(), a, pixels * sizeof(float), cudaMemcpyDeviceToHost));
	printf("blurred: %016llx\n", fnv(out));
	printf("centre %.7g corner %.7g\n", out[(HEIGHT / 2) * WIDTH + WIDTH / 2], out[0]);
	CUDA_OK(cudaFree(a));
	CUDA_OK(cudaFree(b));
	return 0;
}
