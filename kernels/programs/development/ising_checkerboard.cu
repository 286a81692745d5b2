// Metropolis sweeps of the two-dimensional Ising model: the two colours of a checkerboard are stored apart and updated in turn.
// Hard for a GPU: one byte per spin, neighbours from four rows, and a thread walks down its column one row at a time.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <vector>

#define CUDA_CHECK(x) cudaCheck((x), #x)

static void cudaCheck(cudaError_t err, const char *text)
{
	if (err != cudaSuccess) {
		fprintf(stderr, "%s -> %s\n", text, cudaGetErrorString(err));
		exit(1);
	}
}

const int ROWS = 2048;
const int COLS = 4096;			// both colours together
const int HALF = COLS / 2;		// spins of one colour in a row
const int ROWS_PER_THREAD = 32;

__constant__ unsigned accept_threshold[10];

__host__ __device__ inline unsigned random_bits(unsigned site, unsigned step)
{
	unsigned x = site * 0x9e3779b9u + step * 0x85ebca6bu;
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ (x >> 16);
}

__global__ void init_spins(signed char *spins, unsigned seed)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	spins[i] = random_bits(i, seed) & 1 ? 1 : -1;
}

template <int COLOUR>
__global__ void update(signed char *mine, const signed char *__restrict__ other, unsigned step)
{
	int col = blockIdx.x * blockDim.x + threadIdx.x;
	int first = blockIdx.y * ROWS_PER_THREAD;
	for (int row = first; row < first + ROWS_PER_THREAD; row++) {
		int up = (row + ROWS - 1) % ROWS, down = (row + 1) % ROWS;
		// in this row the other colour lies at the same index and at one neighbouring index
		bool shifted = (row & 1) == COLOUR;
		int side = shifted ? (col + HALF - 1) % HALF : (col + 1) % HALF;
		int sum = other[up * HALF + col] + other[down * HALF + col] + other[row * HALF + col] + other[row * HALF + side];
		int site = row * HALF + col;
		int spin = mine[site];
		// index 0..8 for spin * sum = -4..4
		if (random_bits(site, step) < accept_threshold[spin * sum + 4])
			mine[site] = (signed char)-spin;
	}
}

__global__ void magnetization(const signed char *spins, int n, int *total)
{
	int sum = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += spins[i];
	sum = __reduce_add_sync(0xffffffffu, sum);
	if ((threadIdx.x & 31) == 0)
		atomicAdd(total, sum);
}

int main()
{
	const int n = ROWS * HALF, sweeps = 3;
	signed char *black, *white;
	int *total, host_total = 0;
	CUDA_CHECK(cudaMalloc(&black, n));
	CUDA_CHECK(cudaMalloc(&white, n));
	CUDA_CHECK(cudaMalloc(&total, sizeof(int)));
	CUDA_CHECK(cudaMemset(total, 0, sizeof(int)));
	unsigned threshold[10] = {};
	for (int k = 0; k < 9; k++) {
		double p = k <= 4 ? 1.0 : exp(-2.0 * 0.44 * (k - 4));
		threshold[k] = p >= 1.0 ? 0xffffffffu : (unsigned)(p * 65536.0) << 16;
	}
	CUDA_CHECK(cudaMemcpyToSymbol(accept_threshold, threshold, sizeof(threshold)));
	init_spins<<<n / 256, 256>>>(black, 1001);
	init_spins<<<n / 256, 256>>>(white, 1002);
	CUDA_CHECK(cudaGetLastError());

	dim3 grid(HALF / 128, ROWS / ROWS_PER_THREAD), block(128);
	for (int s = 0; s < sweeps; s++) {
		update<0><<<grid, block>>>(black, white, 2 * s);
		update<1><<<grid, block>>>(white, black, 2 * s + 1);
		CUDA_CHECK(cudaGetLastError());
	}
	magnetization<<<264, 256>>>(black, n, total);
	magnetization<<<264, 256>>>(white, n, total);
	CUDA_CHECK(cudaGetLastError());

	std::vector<signed char> spins(n);
	signed char *both[2] = {black, white};
	const char *names[2] = {"black", "white"};
	for (int c = 0; c < 2; c++) {
		CUDA_CHECK(cudaMemcpy(spins.data(), both[c], n, cudaMemcpyDeviceToHost));
		uint64_t h = 0xcbf29ce484222325ull;
		for (int i = 0; i < n; i++)
			h = (h ^ (unsigned char)spins[i]) * 0x100000001b3ull;
		printf("%s: %016llx\n", names[c], (unsigned long long)h);
	}
	CUDA_CHECK(cudaMemcpy(&host_total, total, sizeof(int), cudaMemcpyDeviceToHost));
	printf("spins %d magnetization %d\n", 2 * n, host_total);
	CUDA_CHECK(cudaFree(black));
	CUDA_CHECK(cudaFree(white));
	CUDA_CHECK(cudaFree(total));
	return 0;
}
