// Sparse matrix times vector where few rows are very long: blocks take batches of rows from a queue, which fits while others are at a long one.
// Hard for a GPU: rows have 1 to 20,000 elements, columns are scattered, and a block that has found a long row keeps it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

static void require(cudaError_t e, int line)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
		exit(1);
	}
}
#define REQUIRE(x) require((x), __LINE__)

const int ROWS = 1 << 17, BATCH = 8;

// one warp for each row of the batch
template <int WARPS> __global__ void multiply(const int *begins, const int *columns, const float *values, const float *x, float *y, int *queue)
{
	__shared__ int batch[1];
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	while (true) {
		if (threadIdx.x == 0)
			batch[0] = atomicAdd(queue, BATCH);
		__syncthreads();
		const int first = batch[0];
		__syncthreads();
		if (first >= ROWS)
			return;
		for (int row = first + warp; row < first + BATCH; row += WARPS) {
			float sum = 0;
			for (int i = begins[row] + lane; i < begins[row + 1]; i += 32)
				sum += values[i] * x[columns[i]];
			for (int d = 16; d; d /= 2)
				sum += __shfl_xor_sync(0xffffffffu, sum, d);
			if (lane == 0)
				y[row] = sum;
		}
	}
}

// the same without a queue, to compare with
__global__ void multiply_evenly(const int *begins, const int *columns, const float *values, const float *x, float *y)
{
	const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	float sum = 0;
	for (int i = begins[row] + lane; i < begins[row + 1]; i += 32)
		sum += values[i] * x[columns[i]];
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, d);
	if (lane == 0)
		y[row] = sum;
}

static unsigned state = 12345;
static unsigned next_random() { return state = state * 1664525u + 1013904223u, state >> 8; }

static unsigned long long hash_of(const float *device)
{
	std::vector<float> host(ROWS);
	REQUIRE(cudaMemcpy(host.data(), device, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
	unsigned long long h = 0xcbf29ce484222325ull;
	for (float f : host) {
		unsigned bits;
		memcpy(&bits, &f, 4);
		h = (h ^ bits) * 0x100000001b3ull;
	}
	return h;
}

int main()
{
	std::vector<int> begins(ROWS + 1), columns;
	std::vector<float> values, x(ROWS);
	for (int r = 0; r < ROWS; r++) {
		int length = r % 4099 == 17 ? 20000 : 1 + next_random() % (r % 64 ? 16 : 400);
		begins[r] = (int)columns.size();
		for (int i = 0; i < length; i++) {
			columns.push_back(next_random() % ROWS);
			values.push_back((float)(next_random() % 1000) / 1000);
		}
		x[r] = (float)(r % 77);
	}
	begins[ROWS] = (int)columns.size();
	int *d_begins, *d_columns, *queues;
	float *d_values, *d_x, *y;
	REQUIRE(cudaMalloc(&d_begins, begins.size() * sizeof(int)));
	REQUIRE(cudaMalloc(&d_columns, columns.size() * sizeof(int)));
	REQUIRE(cudaMalloc(&d_values, values.size() * sizeof(float)));
	REQUIRE(cudaMalloc(&d_x, x.size() * sizeof(float)));
	REQUIRE(cudaMalloc(&y, ROWS * sizeof(float)));
	REQUIRE(cudaMalloc(&queues, 2 * sizeof(int)));
	REQUIRE(cudaMemcpy(d_begins, begins.data(), begins.size() * sizeof(int), cudaMemcpyHostToDevice));
	REQUIRE(cudaMemcpy(d_columns, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice));
	REQUIRE(cudaMemcpy(d_values, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
	REQUIRE(cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
	REQUIRE(cudaMemset(queues, 0, 2 * sizeof(int)));
	multiply<8><<<132 * 8, 256>>>(d_begins, d_columns, d_values, d_x, y, queues);
	REQUIRE(cudaGetLastError());
	printf("%zu elements; by 8 warps %016llx\n", columns.size(), hash_of(y));
	multiply<2><<<132 * 16, 64>>>(d_begins, d_columns, d_values, d_x, y, queues + 1);
	REQUIRE(cudaGetLastError());
	printf("by 2 warps %016llx\n", hash_of(y));
	multiply_evenly<<<ROWS / 8, 256>>>(d_begins, d_columns, d_values, d_x, y);
	REQUIRE(cudaGetLastError());
	printf("without a queue %016llx\n", hash_of(y));
	REQUIRE(cudaFree(d_begins));
	REQUIRE(cudaFree(d_columns));
	REQUIRE(cudaFree(d_values));
	REQUIRE(cudaFree(d_x));
	REQUIRE(cudaFree(y));
	REQUIRE(cudaFree(queues));
	return 0;
}
