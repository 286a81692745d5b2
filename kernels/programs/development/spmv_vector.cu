// Sparse matrix times vector in CSR format with one warp per row, y = A x, followed by x = scaled y.
// Hard for a GPU: row lengths vary from 8 to about 800, and every nonzero gathers from a scattered place of x.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;

#define GPU(expr) gpu_check((expr), #expr, __LINE__)
inline void gpu_check(cudaError_t err, const char *expr, int line)
{
	if (err == cudaSuccess)
		return;
	fprintf(stderr, "line %d: %s: %s\n", line, expr, cudaGetErrorString(err));
	exit(1);
}

__host__ __device__ inline uint32_t mix(uint32_t k)
{
	k *= 0xcc9e2d51u;
	k = (k << 15) | (k >> 17);
	k *= 0x1b873593u;
	k ^= k >> 13;
	k *= 0x85ebca6bu;
	return k ^ (k >> 16);
}

__global__ void fill_matrix(int *cols, float *vals, int nnz, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += gridDim.x * blockDim.x) {
		uint32_t h = mix(i + 12345u);
		cols[i] = (int)(((uint64_t)h * n) >> 32);
		vals[i] = (float)((int)(mix(h) & 255) - 127) * (1.0f / 64.0f);
	}
}

__global__ void spmv_warp_per_row(int rows, const int *__restrict__ ptr, const int *__restrict__ cols, const float *__restrict__ vals,
	const float *__restrict__ x, float *__restrict__ y)
{
	auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
	if (row >= rows)
		return;
	int begin = ptr[row], end = ptr[row + 1];
	float sum = 0.0f;
	for (int k = begin + warp.thread_rank(); k < end; k += 32)
		sum = fmaf(vals[k], x[cols[k]], sum);
	sum = cg::reduce(warp, sum, cg::plus<float>());
	if (warp.thread_rank() == 0)
		y[row] = sum;
}

__global__ void rescale(const float *y, float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = y[i] * 0.0625f;
}

int main()
{
	const int rows = 1 << 16;
	std::vector<int> ptr(rows + 1);
	ptr[0] = 0;
	for (int r = 0; r < rows; r++) {
		uint32_t h = mix(r * 7u);
		int length = 8 + (int)(h % 120);
		if ((h >> 24) < 16)
			length += (int)((h >> 8) % 700);
		ptr[r + 1] = ptr[r] + length;
	}
	const int nnz = ptr[rows];
	std::vector<float> x(rows);
	for (int i = 0; i < rows; i++)
		x[i] = (float)(mix(i ^ 0x5bd1e995u) % 1000) / 1000.0f;

	int *d_ptr, *d_cols;
	float *d_vals, *d_x, *d_y;
	GPU(cudaMalloc(&d_ptr, sizeof(int) * (rows + 1)));
	GPU(cudaMalloc(&d_cols, sizeof(int) * nnz));
	GPU(cudaMalloc(&d_vals, sizeof(float) * nnz));
	GPU(cudaMalloc(&d_x, sizeof(float) * rows));
	GPU(cudaMalloc(&d_y, sizeof(float) * rows));
	GPU(cudaMemcpy(d_ptr, ptr.data(), sizeof(int) * (rows + 1), cudaMemcpyHostToDevice));
	GPU(cudaMemcpy(d_x, x.data(), sizeof(float) * rows, cudaMemcpyHostToDevice));
	fill_matrix<<<528, 256>>>(d_cols, d_vals, nnz, rows);
	GPU(cudaGetLastError());

	const int block = 256, warps = block / 32;
	for (int rep = 0; rep < 4; rep++) {
		spmv_warp_per_row<<<(rows + warps - 1) / warps, block>>>(rows, d_ptr, d_cols, d_vals, d_x, d_y);
		GPU(cudaGetLastError());
		rescale<<<rows / 256, 256>>>(d_y, d_x, rows);
		GPU(cudaGetLastError());
	}
	std::vector<float> y(rows);
	GPU(cudaMemcpy(y.data(), d_y, sizeof(float) * rows, cudaMemcpyDeviceToHost));

	uint64_t h = 0;
	double norm = 0;
	for (int i = 0; i < rows; i++) {
		uint32_t bits;
		memcpy(&bits, &y[i], sizeof bits);
		h = h * 6364136223846793005ull + bits + 1;
		norm += (double)y[i] * y[i];
	}
	printf("y: %016llx\n", (unsigned long long)h);
	printf("nnz %d norm2 %.6g\n", nnz, norm);
	GPU(cudaFree(d_ptr));
	GPU(cudaFree(d_cols));
	GPU(cudaFree(d_vals));
	GPU(cudaFree(d_x));
	GPU(cudaFree(d_y));
	return 0;
}
