// Cyclic convolution of polynomials of 2^20 coefficients modulo 2^64 - 2^32 + 1, by number-theoretic transforms in four steps (1024 x 1024).
// Hard for a GPU: long chains of 64-bit integer arithmetic, a barrier per stage, strided columns, and bank conflicts of 8-byte words.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

#define RT(x)                                                                                   \
	do {                                                                                    \
		cudaError_t e_ = (x);                                                           \
		if (e_) {                                                                       \
			fprintf(stderr, "%s at %s:%d\n", cudaGetErrorString(e_), __FILE__, __LINE__); \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

constexpr uint64_t P = 0xffffffff00000001ull;
constexpr int SIDE = 1024, N = SIDE * SIDE, COLUMNS = 8;

__host__ __device__ inline uint64_t add_mod(uint64_t a, uint64_t b)
{
	uint64_t s = a + b;
	return s < a || s >= P ? s - P : s;
}

__host__ __device__ inline uint64_t sub_mod(uint64_t a, uint64_t b)
{
	return a >= b ? a - b : a - b + P;
}

__host__ __device__ inline uint64_t mul_mod(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
	uint64_t lo = a * b, hi = __umul64hi(a, b);
#else
	unsigned __int128 wide = (unsigned __int128)a * b;
	uint64_t lo = (uint64_t)wide, hi = (uint64_t)(wide >> 64);
#endif
	// 2^64 = 2^32 - 1 and 2^96 = -1
	uint64_t top = hi >> 32, mid = (hi & 0xffffffffu) * 0xffffffffull;
	uint64_t t = lo - top;
	if (lo < top)
		t -= 0xffffffffull;
	uint64_t r = t + mid;
	if (r < t)
		r += 0xffffffffull;
	return r >= P ? r - P : r;
}

static uint64_t power(uint64_t b, uint64_t e)
{
	uint64_t r = 1;
	for (; e; e >>= 1, b = mul_mod(b, b))
		if (e & 1)
			r = mul_mod(r, b);
	return r;
}

__device__ __forceinline__ uint64_t root(const uint64_t *big, int i, bool inverse)
{
	return __ldg(big + (inverse ? (SIDE - i) & (SIDE - 1) : i));
}

// w^e for the root of order N, from two tables
__device__ __forceinline__ uint64_t twiddle(const uint64_t *small, const uint64_t *big, unsigned e, bool inverse)
{
	if (inverse)
		e = (N - e) & (N - 1);
	return mul_mod(__ldg(small + (e & (SIDE - 1))), __ldg(big + (e >> 10)));
}

__global__ void make_polynomials(uint64_t *data, size_t total)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= total)
		return;
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	data[i] = (z ^ (z >> 31)) >> 1;
}

// transforms of the rows in place; the inverse multiplies by the twiddles and by 1 / N afterwards
template <bool INVERSE> __global__ void __launch_bounds__(256) transform_rows(uint64_t *data, const uint64_t *small, const uint64_t *big, uint64_t scale)
{
	__shared__ uint64_t x[SIDE];
	uint64_t *row = data + (size_t)blockIdx.y * N + (size_t)blockIdx.x * SIDE;
	for (int i = threadIdx.x; i < SIDE; i += 256)
		x[__brev(i) >> 22] = row[i];
	for (int half = 1; half < SIDE; half *= 2) {
		__syncthreads();
#pragma unroll
		for (int b = 0; b < 2; b++) {
			int t = threadIdx.x + b * 256;
			int k = t & (half - 1), i = 2 * t - k;
			uint64_t u = x[i], v = mul_mod(x[i + half], root(big, k * (SIDE / 2 / half), INVERSE));
			x[i] = add_mod(u, v);
			x[i + half] = sub_mod(u, v);
		}
	}
	__syncthreads();
	for (int i = threadIdx.x; i < SIDE; i += 256) {
		uint64_t v = x[i];
		if (INVERSE)
			v = mul_mod(mul_mod(v, scale), twiddle(small, big, blockIdx.x * i, true));
		row[i] = v;
	}
}

// transforms of eight columns in place; forward multiplies by the twiddles afterwards
template <bool INVERSE> __global__ void transform_columns(uint64_t *data, const uint64_t *small, const uint64_t *big)
{
	extern __shared__ uint64_t tile[]; // [SIDE][COLUMNS]
	const int c = threadIdx.x, col = blockIdx.x * COLUMNS + c;
	uint64_t *base = data + (size_t)blockIdx.y * N + col;
	for (int r = threadIdx.y; r < SIDE; r += blockDim.y)
		tile[(__brev(r) >> 22) * COLUMNS + c] = base[(size_t)r * SIDE];
	for (int half = 1; half < SIDE; half *= 2) {
		__syncthreads();
		for (int t = threadIdx.y; t < SIDE / 2; t += blockDim.y) {
			int k = t & (half - 1), i = 2 * t - k;
			uint64_t u = tile[i * COLUMNS + c], v = mul_mod(tile[(i + half) * COLUMNS + c], root(big, k * (SIDE / 2 / half), INVERSE));
			tile[i * COLUMNS + c] = add_mod(u, v);
			tile[(i + half) * COLUMNS + c] = sub_mod(u, v);
		}
	}
	__syncthreads();
	for (int r = threadIdx.y; r < SIDE; r += blockDim.y) {
		uint64_t v = tile[r * COLUMNS + c];
		if (!INVERSE)
			v = mul_mod(v, twiddle(small, big, r * col, false));
		base[(size_t)r * SIDE] = v;
	}
}

__global__ void multiply(ulonglong2 *a, const ulonglong2 *b, int pairs)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
		ulonglong2 x = a[i], y = b[i];
		a[i] = make_ulonglong2(mul_mod(x.x, y.x), mul_mod(x.y, y.y));
	}
}

int main()
{
	const int products = 2; // polynomials 0 and 1 times polynomials 2 and 3
	const size_t total = (size_t)2 * products * N;
	std::vector<uint64_t> small(SIDE), big(SIDE), host(total);
	uint64_t w = power(7, (P - 1) / N), wb = power(w, SIDE);
	small[0] = big[0] = 1;
	for (int i = 1; i < SIDE; i++) {
		small[i] = mul_mod(small[i - 1], w);
		big[i] = mul_mod(big[i - 1], wb);
	}
	uint64_t *data, *d_small, *d_big;
	RT(cudaMalloc(&data, total * 8));
	RT(cudaMalloc(&d_small, SIDE * 8));
	RT(cudaMalloc(&d_big, SIDE * 8));
	RT(cudaMemcpy(d_small, small.data(), SIDE * 8, cudaMemcpyHostToDevice));
	RT(cudaMemcpy(d_big, big.data(), SIDE * 8, cudaMemcpyHostToDevice));
	const int tile_bytes = SIDE * COLUMNS * 8;
	RT(cudaFuncSetAttribute(transform_columns<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes));
	RT(cudaFuncSetAttribute(transform_columns<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes));
	make_polynomials<<<(unsigned)(total / 512), 512>>>(data, total);
	RT(cudaMemcpy(host.data(), data, total * 8, cudaMemcpyDeviceToHost));
	uint64_t sums[2 * products] = {};
	for (size_t i = 0; i < total; i++)
		sums[i / N] = add_mod(sums[i / N], host[i]);

	dim3 block(COLUMNS, 64);
	transform_columns<false><<<dim3(SIDE / COLUMNS, 2 * products), block, tile_bytes>>>(data, d_small, d_big);
	transform_rows<false><<<dim3(SIDE, 2 * products), 256>>>(data, d_small, d_big, 0);
	multiply<<<660, 160>>>((ulonglong2 *)data, (const ulonglong2 *)(data + (size_t)products * N), products * N / 2);
	transform_rows<true><<<dim3(SIDE, products), 256>>>(data, d_small, d_big, power(N, P - 2));
	transform_columns<true><<<dim3(SIDE / COLUMNS, products), block, tile_bytes>>>(data, d_small, d_big);
	RT(cudaGetLastError());
	RT(cudaMemcpy(host.data(), data, (size_t)products * N * 8, cudaMemcpyDeviceToHost));
	int good = 0;
	uint64_t h = 0xcbf29ce484222325ull;
	for (int p = 0; p < products; p++) {
		uint64_t sum = 0;
		for (int i = 0; i < N; i++) {
			uint64_t v = host[(size_t)p * N + i];
			sum = add_mod(sum, v);
			h = (h ^ v) * 0x100000001b3ull;
		}
		good += sum == mul_mod(sums[p], sums[p + products]);
	}
	printf("products %016llx\nsums right: %d of %d\n", (unsigned long long)h, good, products);
	RT(cudaFree(data));
	RT(cudaFree(d_small));
	RT(cudaFree(d_big));
	return 0;
}
