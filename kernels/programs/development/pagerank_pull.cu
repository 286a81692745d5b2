// PageRank in pull form: every vertex sums the contributions of its in-neighbours, one thread per vertex.
// Hard for a GPU: a few vertices have hundreds of in-edges while most have two, so long rows hold up their warps.
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <vector>

#define CUDA_OK(x) \
	do { \
		cudaError_t status = (x); \
		if (status != cudaSuccess) { \
			fprintf(stderr, "CUDA error %s in %s\n", cudaGetErrorString(status), #x); \
			exit(1); \
		} \
	} while (0)

typedef unsigned long long u64;

static unsigned scramble(unsigned a)
{
	a = (a ^ 61) ^ (a >> 16);
	a *= 9;
	a ^= a >> 4;
	a *= 0x27d4eb2d;
	return a ^ (a >> 15);
}

__global__ void contributions(const float *__restrict__ rank, const int *__restrict__ out_degree, float *__restrict__ contrib, int n)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v < n) {
		int d = out_degree[v];
		contrib[v] = d > 0 ? rank[v] / (float)d : 0.0f;
	}
}

__global__ __launch_bounds__(128)
void pull(const int *__restrict__ row_ptr, const int *__restrict__ in_neighbour, const float *__restrict__ contrib,
	float *__restrict__ rank, int n, float damping)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= n)
		return;
	float sum = 0.0f;
	for (int e = row_ptr[v], last = row_ptr[v + 1]; e < last; ++e)
		sum += contrib[in_neighbour[e]];
	rank[v] = (1.0f - damping) / (float)n + damping * sum;
}

int main(void)
{
	const int n = 150000;
	const int iterations = 5;
	std::vector<int> row(1, 0), in, out_degree(n, 0);
	for (int v = 0; v < n; v++) {
		double u = (scramble(v + 1000003u) + 1.0) / 4294967297.0;
		int degree = (int)(2.0 / std::sqrt(u));
		if (degree > 700)
			degree = 700;
		for (int k = 0; k < degree; k++) {
			unsigned r = scramble(scramble(v) + 0x9e3779b9u * (unsigned)k);
			int w = (int)((u64)r * n >> 32);
			in.push_back(w);
			out_degree[w]++;
		}
		row.push_back((int)in.size());
	}

	int *d_row, *d_in, *d_deg;
	float *d_rank, *d_contrib;
	CUDA_OK(cudaMalloc((void **)&d_row, row.size() * sizeof(int)));
	CUDA_OK(cudaMalloc((void **)&d_in, in.size() * sizeof(int)));
	CUDA_OK(cudaMalloc((void **)&d_deg, n * sizeof(int)));
	CUDA_OK(cudaMalloc((void **)&d_rank, n * sizeof(float)));
	CUDA_OK(cudaMalloc((void **)&d_contrib, n * sizeof(float)));
	CUDA_OK(cudaMemcpy(d_row, row.data(), row.size() * sizeof(int), cudaMemcpyHostToDevice));
	CUDA_OK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));
	CUDA_OK(cudaMemcpy(d_deg, out_degree.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	std::vector<float> rank(n, 1.0f / n);
	CUDA_OK(cudaMemcpy(d_rank, rank.data(), n * sizeof(float), cudaMemcpyHostToDevice));

	for (int it = 0; it < iterations; it++) {
		contributions<<<(n + 127) / 128, 128>>>(d_rank, d_deg, d_contrib, n);
		pull<<<(n + 127) / 128, 128>>>(d_row, d_in, d_contrib, d_rank, n, 0.85f);
		CUDA_OK(cudaGetLastError());
	}
	CUDA_OK(cudaDeviceSynchronize());
	CUDA_OK(cudaMemcpy(rank.data(), d_rank, n * sizeof(float), cudaMemcpyDeviceToHost));

	u64 h = 1469598103934665603ull;
	double total = 0;
	for (int v = 0; v < n; v++) {
		unsigned bits;
		memcpy(&bits, &rank[v], 4);
		h = (h ^ bits) * 1099511628211ull;
		total += rank[v];
	}
	printf("rank: %016llx\n", h);
	printf("edges %zu sum %.6f\n", in.size(), total);

	cudaFree(d_row);
	cudaFree(d_in);
	cudaFree(d_deg);
	cudaFree(d_rank);
	cudaFree(d_contrib);
	return 0;
}
