// Shortest paths by Bellman-Ford rounds over an edge list, each edge relaxed with atomicMin on an integer distance.
// Hard for a GPU: sources and targets are scattered, and popular targets collect many atomics in the same round.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void ck(cudaError_t e, const char *what)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(e));
		exit(1);
	}
}

static uint64_t rng(uint64_t i)
{
	i = (i + 0x632be59bd9b4e019ull) * 0x9e3779b97f4a7c15ull;
	i ^= i >> 29;
	i *= 0xd6e8feb86659fd93ull;
	return i ^ (i >> 32);
}

struct Edge {
	int from, to, weight;
};

constexpr int INF = 0x3fffffff;

__global__ void fill_distance(int *__restrict__ dist, int n, int source)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		dist[i] = i == source ? 0 : INF;
}

__global__ void relax(const int *__restrict__ from, const int *__restrict__ to, const int *__restrict__ weight,
	const int *__restrict__ dist_in, int *__restrict__ dist_out, int edges)
{
	int stride = gridDim.x * blockDim.x;
	for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += stride) {
		int d = dist_in[from[e]];
		if (d == INF)
			continue;
		int candidate = d + weight[e];
		int target = to[e];
		if (candidate < dist_in[target])
			atomicMin(&dist_out[target], candidate);
	}
}

int main()
{
	const int n = 200000, edges = 2000000, rounds = 6;
	std::vector<int> from(edges), to(edges), weight(edges);
	for (int e = 0; e < edges; e++) {
		uint64_t a = rng(3ull * e) >> 32, b = rng(3ull * e + 1) >> 32, c = rng(3ull * e + 2);
		uint64_t skewed = (a * a >> 32) * a >> 32;
		from[e] = (int)(skewed * n >> 32);
		to[e] = (int)(((c >> 60) < 4 ? (b * b >> 32) : b) * n >> 32);
		weight[e] = 1 + (int)(c % 61);
	}

	int *d_from, *d_to, *d_weight, *d_in, *d_out;
	size_t edge_bytes = sizeof(int) * edges, node_bytes = sizeof(int) * n;
	ck(cudaMalloc(&d_from, edge_bytes), "malloc from");
	ck(cudaMalloc(&d_to, edge_bytes), "malloc to");
	ck(cudaMalloc(&d_weight, edge_bytes), "malloc weight");
	ck(cudaMalloc(&d_in, node_bytes), "malloc in");
	ck(cudaMalloc(&d_out, node_bytes), "malloc out");
	ck(cudaMemcpy(d_from, from.data(), edge_bytes, cudaMemcpyHostToDevice), "copy from");
	ck(cudaMemcpy(d_to, to.data(), edge_bytes, cudaMemcpyHostToDevice), "copy to");
	ck(cudaMemcpy(d_weight, weight.data(), edge_bytes, cudaMemcpyHostToDevice), "copy weight");

	fill_distance<<<(n + 511) / 512, 512>>>(d_in, n, 3);
	ck(cudaGetLastError(), "fill_distance");
	ck(cudaMemcpy(d_out, d_in, node_bytes, cudaMemcpyDeviceToDevice), "copy distance");
	// distances of the round before are read, those of this round written, so a round has one possible result
	for (int r = 0; r < rounds; r++) {
		relax<<<264, 128>>>(d_from, d_to, d_weight, d_in, d_out, edges);
		ck(cudaGetLastError(), "relax");
		ck(cudaMemcpy(d_in, d_out, node_bytes, cudaMemcpyDeviceToDevice), "copy distance");
	}

	std::vector<int> dist(n);
	ck(cudaMemcpy(dist.data(), d_out, node_bytes, cudaMemcpyDeviceToHost), "copy result");
	uint64_t h = 0;
	int reached = 0, longest = 0;
	for (int i = 0; i < n; i++) {
		h += rng(((uint64_t)i << 32) ^ (uint32_t)dist[i]);
		if (dist[i] < INF) {
			reached++;
			longest = std::max(longest, dist[i]);
		}
	}
	printf("distance: %016llx\n", (unsigned long long)h);
	printf("reached %d longest %d\n", reached, longest);
	cudaFree(d_from);
	cudaFree(d_to);
	cudaFree(d_weight);
	cudaFree(d_in);
	cudaFree(d_out);
	return 0;
}
