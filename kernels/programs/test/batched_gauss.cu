// Many small dense systems in double precision by Gaussian elimination with partial pivoting: 32x32 in the registers of a warp, 88x88 in shared memory.
// Hard for a GPU: the search for pivots is a chain of shuffles, work shrinks with every step, and big tiles leave few blocks on a multiprocessor.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>

#define CHECK_CUDA(x)                                                                \
	do {                                                                         \
		cudaError_t err_ = x;                                                \
		if (err_ != cudaSuccess) {                                           \
			fprintf(stderr, #x " gives %s\n", cudaGetErrorString(err_)); \
			return EXIT_FAILURE;                                         \
		}                                                                    \
	} while (0)

__host__ __device__ inline double element(unsigned i)
{
	unsigned h = i * 0x9e3779b9u + 0x1234567u;
	h ^= h >> 16;
	h *= 0x85ebca6bu;
	h ^= h >> 13;
	h *= 0xc2b2ae35u;
	h ^= h >> 16;
	return (double)(int)h * (1.0 / 2147483648.0);
}

__global__ void make_values(double *out, size_t n, unsigned seed)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		out[i] = element((unsigned)i + seed);
}

// one warp a system: lane j holds row j in registers
__global__ void __launch_bounds__(128) solve_small(const double *__restrict__ matrices, const double *__restrict__ rhs, double *__restrict__ x, int systems)
{
	constexpr int N = 32;
	int system = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
	if (system >= systems)
		return;
	const double *m = matrices + (size_t)system * N * N;
	double a[N];
	// stored by columns, so that the lanes read neighbours
#pragma unroll
	for (int j = 0; j < N; j++)
		a[j] = m[j * N + lane];
	double b = rhs[(size_t)system * N + lane];
	bool used = false;
	int my_step = -1;
#pragma unroll
	for (int k = 0; k < N; k++) {
		double size = used ? -1.0 : fabs(a[k]);
		int who = lane;
#pragma unroll
		for (int d = 16; d; d >>= 1) {
			double other = __shfl_xor_sync(~0u, size, d);
			int other_who = __shfl_xor_sync(~0u, who, d);
			if (other > size || (other == size && other_who < who)) {
				size = other;
				who = other_who;
			}
		}
		double inverse = 1.0 / __shfl_sync(~0u, a[k], who);
		double factor = lane == who ? 0.0 : a[k] * inverse;
		if (lane == who) {
			used = true;
			my_step = k;
		}
		// Gauss-Jordan: all other rows, so that no back substitution is left
#pragma unroll
		for (int j = k; j < N; j++)
			a[j] -= factor * __shfl_sync(~0u, a[j], who);
		b -= factor * __shfl_sync(~0u, b, who);
	}
	double pivot = 0.0;
#pragma unroll
	for (int j = 0; j < N; j++)
		if (j == my_step)
			pivot = a[j];
	x[(size_t)system * N + my_step] = b / pivot;
}

// one block a system, the matrix with its right side in shared memory
__global__ void solve_large(const double *__restrict__ matrices, const double *__restrict__ rhs, double *__restrict__ x, int n)
{
	extern __shared__ double a[]; // n rows of n + 1
	__shared__ int pivot_row;
	const int pitch = n + 1, t = threadIdx.x;
	const double *m = matrices + (size_t)blockIdx.x * n * n;
	for (int i = t; i < n * n; i += blockDim.x)
		a[i / n * pitch + i % n] = m[i];
	for (int i = t; i < n; i += blockDim.x)
		a[i * pitch + n] = rhs[(size_t)blockIdx.x * n + i];
	__syncthreads();
	for (int k = 0; k < n; k++) {
		if (t < 32) {
			double size = -1.0;
			int who = k;
			for (int i = k + t; i < n; i += 32)
				if (fabs(a[i * pitch + k]) > size) {
					size = fabs(a[i * pitch + k]);
					who = i;
				}
			for (int d = 16; d; d >>= 1) {
				double other = __shfl_down_sync(~0u, size, d);
				int other_who = __shfl_down_sync(~0u, who, d);
				if (other > size || (other == size && other_who < who)) {
					size = other;
					who = other_who;
				}
			}
			if (t == 0)
				pivot_row = who;
		}
		__syncthreads();
		int p = pivot_row;
		if (p != k)
			for (int j = k + t; j <= n; j += blockDim.x) {
				double swap = a[k * pitch + j];
				a[k * pitch + j] = a[p * pitch + j];
				a[p * pitch + j] = swap;
			}
		__syncthreads();
		double inverse = 1.0 / a[k * pitch + k];
		// a warp takes whole rows, lanes go along the columns
		for (int i = k + 1 + t / 32; i < n; i += blockDim.x / 32) {
			double factor = a[i * pitch + k] * inverse;
			for (int j = k + 1 + (t & 31); j <= n; j += 32)
				a[i * pitch + j] -= factor * a[k * pitch + j];
		}
		__syncthreads();
	}
	for (int k = n - 1; k >= 0; k--) {
		if (t == 0)
			a[k * pitch + n] /= a[k * pitch + k];
		__syncthreads();
		double v = a[k * pitch + n];
		for (int i = t; i < k; i += blockDim.x)
			a[i * pitch + n] -= a[i * pitch + k] * v;
		__syncthreads();
	}
	for (int i = t; i < n; i += blockDim.x)
		x[(size_t)blockIdx.x * n + i] = a[i * pitch + n];
}

static unsigned long long fnv(const std::vector<double> &v)
{
	unsigned long long h = 0xcbf29ce484222325ull;
	const unsigned char *p = (const unsigned char *)v.data();
	for (size_t i = 0; i < v.size() * sizeof(double); i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

// the largest residual, over some of the systems; by_column: how the matrices are stored
static double residual(const std::vector<double> &x, int n, int systems, unsigned seed_a, unsigned seed_b, bool by_column)
{
	double worst = 0;
	for (int s = 0; s < systems; s += 37)
		for (int i = 0; i < n; i++) {
			double r = -element((unsigned)(s * n + i) + seed_b), size = 1;
			for (int j = 0; j < n; j++) {
				double e = element((unsigned)((s * n + (by_column ? j : i)) * n + (by_column ? i : j)) + seed_a) * x[s * n + j];
				r += e;
				size += fabs(e);
			}
			worst = fmax(worst, fabs(r) / size);
		}
	return worst;
}

int main()
{
	const int small_n = 32, small_systems = 6000, large_n = 88, large_systems = 500;
	const size_t sm = (size_t)small_systems * small_n * small_n, lm = (size_t)large_systems * large_n * large_n;
	const size_t sv = (size_t)small_systems * small_n, lv = (size_t)large_systems * large_n;
	double *a, *b, *c, *d, *x, *y;
	CHECK_CUDA(cudaMalloc(&a, sm * sizeof(double)));
	CHECK_CUDA(cudaMalloc(&b, sv * sizeof(double)));
	CHECK_CUDA(cudaMalloc(&c, lm * sizeof(double)));
	CHECK_CUDA(cudaMalloc(&d, lv * sizeof(double)));
	CHECK_CUDA(cudaMalloc(&x, sv * sizeof(double)));
	CHECK_CUDA(cudaMalloc(&y, lv * sizeof(double)));
	make_values<<<528, 256>>>(a, sm, 0);
	make_values<<<132, 256>>>(b, sv, 0x10000000);
	make_values<<<528, 256>>>(c, lm, 0x20000000);
	make_values<<<132, 256>>>(d, lv, 0x30000000);
	CHECK_CUDA(cudaGetLastError());
	solve_small<<<small_systems / 4, 128>>>(a, b, x, small_systems);
	CHECK_CUDA(cudaGetLastError());
	int shared_bytes = large_n * (large_n + 1) * (int)sizeof(double);
	CHECK_CUDA(cudaFuncSetAttribute(solve_large, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
	solve_large<<<large_systems, 224, shared_bytes>>>(c, d, y, large_n);
	CHECK_CUDA(cudaGetLastError());
	CHECK_CUDA(cudaDeviceSynchronize());
	std::vector<double> hx(sv), hy(lv);
	CHECK_CUDA(cudaMemcpy(hx.data(), x, sv * sizeof(double), cudaMemcpyDeviceToHost));
	CHECK_CUDA(cudaMemcpy(hy.data(), y, lv * sizeof(double), cudaMemcpyDeviceToHost));
	printf("small %016llx residual %s\n", fnv(hx), residual(hx, small_n, small_systems, 0, 0x10000000, true) < 1e-9 ? "small" : "LARGE");
	printf("large %016llx residual %s\n", fnv(hy), residual(hy, large_n, large_systems, 0x20000000, 0x30000000, false) < 1e-9 ? "small" : "LARGE");
	CHECK_CUDA(cudaFree(a));
	CHECK_CUDA(cudaFree(b));
	CHECK_CUDA(cudaFree(c));
	CHECK_CUDA(cudaFree(d));
	CHECK_CUDA(cudaFree(x));
	CHECK_CUDA(cudaFree(y));
	return 0;
}
