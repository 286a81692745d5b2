// Sparse matrix times vector in ELLPACK format (column-major, padded rows), double precision, inside a damped Jacobi iteration.
// Hard for a GPU: the matrix streams perfectly, but the vector gathers mix near neighbours with far random columns.
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <vector>

#define TRY(call) \
	if (cudaError_t e = (call)) { \
		printf("error at line %d: %s\n", __LINE__, cudaGetErrorString(e)); \
		exit(1); \
	}

const int N = 1 << 18;
const int WIDTH = 24;

__device__ __host__ unsigned int hash_index(unsigned int x)
{
	x = (x + 0x7ed55d16) + (x << 12);
	x = (x ^ 0xc761c23c) ^ (x >> 19);
	x = (x + 0x165667b1) + (x << 5);
	x = (x + 0xd3a2646c) ^ (x << 9);
	x = (x + 0xfd7046c5) + (x << 3);
	return (x ^ 0xb55a4f09) ^ (x >> 16);
}

__global__ void build_ell(int *indices, double *data, double *diag)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= N)
		return;
	// between 6 and WIDTH entries; the rest is padding with index -1
	int used = 6 + hash_index(row) % (WIDTH - 5);
	double sum = 1.0;
	for (int k = 0; k < WIDTH; k++) {
		int col = -1;
		double a = 0.0;
		if (k < used) {
			unsigned int h = hash_index(row * WIDTH + k + 99);
			if (k < 4)
				col = (row + (k - 2) * 512 + N) % N;
			else
				col = h % N;
			a = (double)(h >> 8 & 0xff) / 256.0 - 0.25;
			sum += a < 0 ? -a : a;
		}
		indices[k * N + row] = col;
		data[k * N + row] = a;
	}
	diag[row] = sum;
}

template <int W>
__global__ void jacobi_ell(const int *indices, const double *data, const double *diag, const double *b, const double *x, double *x_new)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= N)
		return;
	double acc = b[row];
#pragma unroll 4
	for (int k = 0; k < W; k++) {
		int col = indices[k * N + row];
		if (col >= 0)
			acc -= data[k * N + row] * x[col];
	}
	x_new[row] = 0.25 * x[row] + 0.75 * acc / diag[row];
}

int main()
{
	int *indices;
	double *data, *diag, *b, *x0, *x1;
	TRY(cudaMalloc(&indices, (size_t)N * WIDTH * sizeof(int)));
	TRY(cudaMalloc(&data, (size_t)N * WIDTH * sizeof(double)));
	TRY(cudaMalloc(&diag, N * sizeof(double)));
	TRY(cudaMalloc(&b, N * sizeof(double)));
	TRY(cudaMalloc(&x0, N * sizeof(double)));
	TRY(cudaMalloc(&x1, N * sizeof(double)));

	std::vector<double> host(N);
	for (int i = 0; i < N; i++)
		host[i] = (double)(hash_index(i + 5000000) % 2001) - 1000.0;
	TRY(cudaMemcpy(b, host.data(), N * sizeof(double), cudaMemcpyHostToDevice));
	TRY(cudaMemset(x0, 0, N * sizeof(double)));
	build_ell<<<N / 128, 128>>>(indices, data, diag);
	TRY(cudaGetLastError());

	for (int it = 0; it < 5; it++) {
		jacobi_ell<WIDTH><<<(N + 191) / 192, 192>>>(indices, data, diag, b, x0, x1);
		TRY(cudaGetLastError());
		double *t = x0;
		x0 = x1;
		x1 = t;
	}
	TRY(cudaDeviceSynchronize());
	TRY(cudaMemcpy(host.data(), x0, N * sizeof(double), cudaMemcpyDeviceToHost));

	uint64_t h = 0;
	double sum = 0;
	for (int i = 0; i < N; i++) {
		uint64_t bits;
		memcpy(&bits, &host[i], 8);
		h = (h ^ bits) * 0x100000001b3ull;
		h ^= h >> 31;
		sum += host[i];
	}
	printf("x: %016llx\n", (unsigned long long)h);
	printf("sum %.9g first %.9g\n", sum, host[0]);

	cudaFree(indices);
	cudaFree(data);
	cudaFree(diag);
	cudaFree(b);
	cudaFree(x0);
	cudaFree(x1);
	return 0;
}
