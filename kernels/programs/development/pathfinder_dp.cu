// Cheapest top-to-bottom path through a grid of costs by dynamic programming, sixteen rows per launch.
// Each block keeps a strip of the current row in shared memory and recomputes a shrinking halo instead of exchanging it;
// the barrier after every row and the short work between barriers are what makes it slow.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define gpuCheck(call) gpuAssert((call), __FILE__, __LINE__)
static void gpuAssert(cudaError_t code, const char *file, int line)
{
	if (code == cudaSuccess)
		return;
	fprintf(stderr, "gpu error: %s (%s:%d)\n", cudaGetErrorString(code), file, line);
	exit(1);
}

static const int kCols = 500000;
static const int kSteps = 16;
static const int kLaunches = 5;
static const int kRows = kSteps * kLaunches + 1;

__global__ void generateCosts(int *cost, int rows, int cols)
{
	const int c = blockIdx.x * blockDim.x + threadIdx.x;
	if (c >= cols)
		return;
	uint32_t state = c * 747796405u + 2891336453u;
	for (int r = 0; r < rows; r++) {
		state = state * 1664525u + 1013904223u;
		cost[(size_t)r * cols + c] = (int)((state >> 24) % 10u);
	}
}

template <int BLOCK, int STEPS>
__global__ void advanceRows(const int *__restrict__ cost, const int *__restrict__ in, int *__restrict__ out, int cols)
{
	__shared__ int row[2][BLOCK];
	const int tx = threadIdx.x;
	const int useful = BLOCK - 2 * STEPS;
	const int col = (int)blockIdx.x * useful - STEPS + tx;
	const bool inside = col >= 0 && col < cols;

	int best = inside ? in[col] : INT32_MAX;
	row[0][tx] = best;
	__syncthreads();

	int src = 0;
	for (int step = 0; step < STEPS; step++) {
		if (inside && tx > step && tx < BLOCK - 1 - step) {
			int left = row[src][tx - 1];
			int right = row[src][tx + 1];
			best = min(best, min(left, right)) + cost[(size_t)step * cols + col];
		}
		row[src ^ 1][tx] = best;
		src ^= 1;
		__syncthreads();
	}
	if (inside && tx >= STEPS && tx < BLOCK - STEPS)
		out[col] = best;
}

static uint64_t hashInts(const std::vector<int> &v)
{
	uint64_t h = 0xcbf29ce484222325ull;
	for (int x : v)
		for (int b = 0; b < 32; b += 8)
			h = (h ^ (((uint32_t)x >> b) & 0xffu)) * 0x100000001b3ull;
	return h;
}

int main()
{
	constexpr int block = 512;
	constexpr int useful = block - 2 * kSteps;
	int *cost, *buf[2];
	gpuCheck(cudaMalloc((void **)&cost, sizeof(int) * (size_t)kRows * kCols));
	gpuCheck(cudaMalloc((void **)&buf[0], sizeof(int) * kCols));
	gpuCheck(cudaMalloc((void **)&buf[1], sizeof(int) * kCols));

	cudaStream_t stream;
	gpuCheck(cudaStreamCreate(&stream));
	generateCosts<<<(kCols + 127) / 128, 128, 0, stream>>>(cost, kRows, kCols);
	gpuCheck(cudaGetLastError());
	gpuCheck(cudaMemcpyAsync(buf[0], cost, sizeof(int) * kCols, cudaMemcpyDeviceToDevice, stream));

	const int blocks = (kCols + useful - 1) / useful;
	for (int l = 0; l < kLaunches; l++) {
		const int *rows = cost + (size_t)(1 + l * kSteps) * kCols;
		advanceRows<block, kSteps><<<blocks, block, 0, stream>>>(rows, buf[l & 1], buf[(l + 1) & 1], kCols);
		gpuCheck(cudaGetLastError());
	}
	std::vector<int> result(kCols);
	gpuCheck(cudaStreamSynchronize(stream));
	gpuCheck(cudaMemcpy(result.data(), buf[kLaunches & 1], sizeof(int) * kCols, cudaMemcpyDeviceToHost));

	const auto cheapest = std::min_element(result.begin(), result.end());
	printf("path costs: %016llx\n", (unsigned long long)hashInts(result));
	printf("cheapest path: %d at column %d\n", *cheapest, (int)(cheapest - result.begin()));

	gpuCheck(cudaStreamDestroy(stream));
	gpuCheck(cudaFree(cost));
	gpuCheck(cudaFree(buf[0]));
	gpuCheck(cudaFree(buf[1]));
	return 0;
}
