// Matrix-vector product with one warp per row, and the transposed product with one thread per column chunk.
// Every matrix element is used once, so the only question is how close vector loads get to the memory bandwidth.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void die_on(cudaError_t e, const char *where)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(e));
		exit(1);
	}
}

constexpr int ROWS = 6144;
constexpr int COLS = 4096;
constexpr int ROW_CHUNK = 96;

__host__ __device__ inline uint32_t wang(uint32_t s)
{
	s = (s ^ 61u) ^ (s >> 16);
	s += s << 3;
	s ^= s >> 4;
	s *= 0x27d4eb2fu;
	return s ^ (s >> 15);
}

__global__ void make_matrix(float4 *__restrict__ a, int quads)
{
	int stride = gridDim.x * blockDim.x;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += stride) {
		uint32_t h = wang((uint32_t)i);
		a[i] = make_float4((h & 255u) * 0.0078125f - 1.0f, ((h >> 8) & 255u) * 0.0078125f - 1.0f,
			((h >> 16) & 255u) * 0.0078125f - 1.0f, (h >> 24) * 0.0078125f - 1.0f);
	}
}

template <int WARPS>
__global__ void gemv(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int rows, int cols)
{
	const int lane = threadIdx.x & 31;
	const int row = blockIdx.x * WARPS + (threadIdx.x >> 5);
	if (row >= rows)
		return;
	const float4 *ar = reinterpret_cast<const float4 *>(a + (size_t)row * cols);
	const float4 *xr = reinterpret_cast<const float4 *>(x);
	float s0 = 0.0f, s1 = 0.0f;
#pragma unroll 4
	for (int i = lane; i < cols / 4; i += 32) {
		float4 m = __ldg(ar + i);
		float4 v = __ldg(xr + i);
		s0 += m.x * v.x + m.y * v.y;
		s1 += m.z * v.z + m.w * v.w;
	}
	float s = s0 + s1;
	for (int o = 16; o > 0; o >>= 1)
		s += __shfl_xor_sync(0xffffffffu, s, o);
	if (lane == 0)
		y[row] = s;
}

// partial[chunk][col] = sum over the chunk's rows of a[row][col] * y[row]
__global__ void gemv_t_partial(const float *a, const float *y, float *partial, int cols)
{
	__shared__ float ys[ROW_CHUNK];
	int col = blockIdx.x * blockDim.x + threadIdx.x;
	int r0 = blockIdx.y * ROW_CHUNK;
	if (threadIdx.x < ROW_CHUNK)
		ys[threadIdx.x] = y[r0 + threadIdx.x];
	__syncthreads();
	const float *p = a + (size_t)r0 * cols + col;
	float s = 0.0f;
#pragma unroll 8
	for (int r = 0; r < ROW_CHUNK; r++)
		s += p[(size_t)r * cols] * ys[r];
	partial[(size_t)blockIdx.y * cols + col] = s;
}

__global__ void gather_scale(const float *partial, float *x, int cols, int chunks, float scale)
{
	int col = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 0.0f;
	for (int c = 0; c < chunks; c++)
		s += partial[(size_t)c * cols + col];
	x[col] = s * scale;
}

static uint64_t fnv(const std::vector<float> &v)
{
	uint64_t h = 0xcbf29ce484222325ull;
	const unsigned char *p = (const unsigned char *)v.data();
	for (size_t i = 0; i < v.size() * sizeof(float); i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

int main()
{
	std::vector<float> hx(COLS), hy(ROWS);
	for (int i = 0; i < COLS; i++)
		hx[i] = (float)(wang(i + 1000000u) & 0xffffu) / 65536.0f;
	const int chunks = ROWS / ROW_CHUNK;
	float *a, *x, *y, *partial;
	die_on(cudaMalloc(&a, (size_t)ROWS * COLS * sizeof(float)), "malloc a");
	die_on(cudaMalloc(&x, COLS * sizeof(float)), "malloc x");
	die_on(cudaMalloc(&y, ROWS * sizeof(float)), "malloc y");
	die_on(cudaMalloc(&partial, (size_t)chunks * COLS * sizeof(float)), "malloc partial");
	die_on(cudaMemcpy(x, hx.data(), COLS * sizeof(float), cudaMemcpyHostToDevice), "copy x");
	make_matrix<<<132 * 8, 256>>>((float4 *)a, ROWS * COLS / 4);
	die_on(cudaGetLastError(), "make_matrix");
	for (int it = 0; it < 4; it++) { // a few steps of the power method on A^T A
		gemv<8><<<(ROWS + 7) / 8, 256>>>(a, x, y, ROWS, COLS);
		die_on(cudaGetLastError(), "gemv");
		gemv_t_partial<<<dim3(COLS / 128, chunks), 128>>>(a, y, partial, COLS);
		die_on(cudaGetLastError(), "gemv_t_partial");
		gather_scale<<<COLS / 64, 64>>>(partial, x, COLS, chunks, 1.0f / 8192.0f);
		die_on(cudaGetLastError(), "gather_scale");
	}
	die_on(cudaMemcpy(hx.data(), x, COLS * sizeof(float), cudaMemcpyDeviceToHost), "copy x back");
	die_on(cudaMemcpy(hy.data(), y, ROWS * sizeof(float), cudaMemcpyDeviceToHost), "copy y back");
	printf("x: %016llx\ny: %016llx\n", (unsigned long long)fnv(hx), (unsigned long long)fnv(hy));
	printf("x[0] %.8g y[0] %.8g\n", hx[0], hy[0]);
	for (float *p : {a, x, y, partial})
		die_on(cudaFree(p), "free");
	return 0;
}
