// 3x3 median filter on a float image; each thread walks down a short strip of one column, keeps three sorted rows in
// registers and so needs only a handful of min/max operations per pixel. The chain of loads and the small blocks of
// 64 threads make it a contest between memory traffic and latency hiding.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                 \
	do {                                                                                 \
		const cudaError_t status = (call);                                               \
		if (status != cudaSuccess) {                                                     \
			fprintf(stderr, "CUDA: %s in %s\n", cudaGetErrorString(status), #call);      \
			exit(EXIT_FAILURE);                                                          \
		}                                                                                \
	} while (0)

template <typename T>
struct Sorted3 {
	T lo, mid, hi;
};

template <typename T>
__device__ __forceinline__ Sorted3<T> sort3(T a, T b, T c)
{
	T mn = min(a, b), mx = max(a, b);
	T t = min(mx, c);
	return {min(mn, t), max(mn, t), max(mx, c)};
}

template <typename T>
__device__ __forceinline__ T med3(T a, T b, T c)
{
	return max(min(a, b), min(max(a, b), c));
}

template <typename T>
__device__ __forceinline__ Sorted3<T> loadRow(const T *img, int pitch, int rows, int r, int left, int mid, int right)
{
	r = min(max(r, 0), rows - 1);
	const T *p = img + (size_t)r * pitch;
	return sort3(p[left], p[mid], p[right]);
}

template <typename T, int STRIP>
__global__ void medianStrip(const T *__restrict__ img, T *__restrict__ out, int cols, int rows)
{
	const int c = blockIdx.x * blockDim.x + threadIdx.x;
	const int r0 = blockIdx.y * STRIP;
	if (c >= cols)
		return;
	const int left = max(c - 1, 0), right = min(c + 1, cols - 1);
	Sorted3<T> above = loadRow(img, cols, rows, r0 - 1, left, c, right);
	Sorted3<T> here = loadRow(img, cols, rows, r0, left, c, right);
#pragma unroll 4
	for (int k = 0; k < STRIP; k++) {
		Sorted3<T> below = loadRow(img, cols, rows, r0 + k + 1, left, c, right);
		T a = max(max(above.lo, here.lo), below.lo);
		T b = med3(above.mid, here.mid, below.mid);
		T d = min(min(above.hi, here.hi), below.hi);
		if (r0 + k < rows)
			out[(size_t)(r0 + k) * cols + c] = med3(a, b, d);
		above = here;
		here = below;
	}
}

__global__ void saltAndPepper(float *img, int cols, int rows)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x;
	int r = blockIdx.y * blockDim.y + threadIdx.y;
	if (c >= cols || r >= rows)
		return;
	uint32_t h = (uint32_t)(r * cols + c) + 0x3779b9u;
	h *= 0xc2b2ae35u;
	h ^= h >> 16;
	h *= 0x27d4eb2fu;
	h ^= h >> 15;
	float v = 0.25f + (float)((r + c) & 1023) * (1.0f / 2048.0f);
	if ((h & 15) == 0)
		v = (h & 16) ? 1.0f : 0.0f;
	img[(size_t)r * cols + c] = v + (float)(h >> 24) * (1.0f / 4096.0f);
}

int main()
{
	const int cols = 4096, rows = 3500;
	const size_t count = (size_t)cols * rows;
	float *buf[2];
	for (float *&p : buf)
		CUDA_CHECK(cudaMalloc(&p, count * sizeof(float)));

	saltAndPepper<<<dim3(cols / 32, (rows + 7) / 8), dim3(32, 8)>>>(buf[0], cols, rows);
	CUDA_CHECK(cudaGetLastError());

	constexpr int strip = 16;
	const dim3 grid((cols + 63) / 64, (rows + strip - 1) / strip);
	for (int pass = 0; pass < 3; pass++) {
		medianStrip<float, strip><<<grid, 64>>>(buf[pass & 1], buf[1 - (pass & 1)], cols, rows);
		CUDA_CHECK(cudaGetLastError());
	}
	CUDA_CHECK(cudaDeviceSynchronize());

	std::vector<uint32_t> bits(count);
	CUDA_CHECK(cudaMemcpy(bits.data(), buf[1], count * sizeof(float), cudaMemcpyDeviceToHost));
	uint64_t hash = 0xcbf29ce484222325ull;
	unsigned bright = 0;
	for (uint32_t b : bits) {
		hash = (hash ^ b) * 0x100000001b3ull;
		bright += b >= 0x3f800000u;
	}
	printf("median: %016llx\nsaturated pixels: %u\n", (unsigned long long)hash, bright);
	for (float *p : buf)
		CUDA_CHECK(cudaFree(p));
	return 0;
}
