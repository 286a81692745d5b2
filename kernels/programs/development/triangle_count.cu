// Triangle counting: for every edge of a degree-oriented graph the two sorted neighbour lists are intersected,
// first by merging with one thread per edge, then by binary search with one warp per edge.
// Hard for a GPU: list lengths differ between threads of a warp and the merge branches on data.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CUDA_CHECK(call) { cudaError_t rc = (call); if (rc != cudaSuccess) { \
	fprintf(stderr, "CUDA error: %s (line %d)\n", cudaGetErrorString(rc), __LINE__); exit(1); } }

static uint32_t prng(uint32_t &state)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

__global__ void count_by_merge(const int *offset, const int *adj, const int2 *edges, int m, unsigned *per_vertex)
{
	int e = blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= m)
		return;
	int2 uv = edges[e];
	int i = offset[uv.x], i_end = offset[uv.x + 1];
	int j = offset[uv.y], j_end = offset[uv.y + 1];
	unsigned found = 0;
	while (i < i_end && j < j_end) {
		int a = adj[i], b = adj[j];
		if (a == b) {
			atomicAdd(&per_vertex[a], 1u);
			found++;
			i++;
			j++;
		} else if (a < b) {
			i++;
		} else {
			j++;
		}
	}
	if (found) {
		atomicAdd(&per_vertex[uv.x], found);
		atomicAdd(&per_vertex[uv.y], found);
	}
}

__global__ void count_by_search(const int *offset, const int *adj, const int2 *edges, int m, unsigned long long *total)
{
	int lane = threadIdx.x & 31;
	int warps = gridDim.x * blockDim.x / 32;
	unsigned found = 0;
	for (int e = (blockIdx.x * blockDim.x + threadIdx.x) / 32; e < m; e += warps) {
		int u = edges[e].x, v = edges[e].y;
		for (int i = offset[u] + lane; i < offset[u + 1]; i += 32) {
			int key = adj[i], lo = offset[v], hi = offset[v + 1];
			int limit = hi;
			while (lo < hi) {
				int mid = (lo + hi) / 2;
				if (adj[mid] < key)
					lo = mid + 1;
				else
					hi = mid;
			}
			found += lo < limit && adj[lo] == key;
		}
	}
	for (int d = 16; d > 0; d /= 2)
		found += __shfl_down_sync(0xffffffffu, found, d);
	if (lane == 0 && found)
		atomicAdd(total, (unsigned long long)found);
}

int main()
{
	const int n = 40000, wanted = 450000;
	uint32_t state = 2463534242u;
	std::vector<std::pair<int, int>> pairs;
	for (int k = 0; k < wanted; k++) {
		uint64_t a = prng(state), b = prng(state), c = prng(state);
		int u = (int)((a * b >> 32) * n >> 32), v = (int)((k % 3 ? (a * c >> 32) : c) * n >> 32);
		if (u != v)
			pairs.push_back({std::min(u, v), std::max(u, v)});
	}
	std::sort(pairs.begin(), pairs.end());
	pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
	std::vector<int> degree(n, 0);
	for (auto &p : pairs) {
		degree[p.first]++;
		degree[p.second]++;
	}
	// orient every edge towards the end of higher degree
	for (auto &p : pairs)
		if (std::make_pair(degree[p.first], p.first) > std::make_pair(degree[p.second], p.second))
			std::swap(p.first, p.second);
	std::sort(pairs.begin(), pairs.end());
	int m = (int)pairs.size();
	std::vector<int> offset(n + 1, 0), adj(m);
	std::vector<int2> edges(m);
	for (int e = 0; e < m; e++) {
		offset[pairs[e].first + 1]++;
		adj[e] = pairs[e].second;
		edges[e] = make_int2(pairs[e].first, pairs[e].second);
	}
	for (int v = 0; v < n; v++)
		offset[v + 1] += offset[v];

	int *d_offset, *d_adj;
	int2 *d_edges;
	unsigned *d_per_vertex;
	unsigned long long *d_total, total;
	CUDA_CHECK(cudaMalloc(&d_offset, (n + 1) * sizeof(int)));
	CUDA_CHECK(cudaMalloc(&d_adj, m * sizeof(int)));
	CUDA_CHECK(cudaMalloc(&d_edges, m * sizeof(int2)));
	CUDA_CHECK(cudaMalloc(&d_per_vertex, n * sizeof(unsigned)));
	CUDA_CHECK(cudaMalloc(&d_total, sizeof(total)));
	CUDA_CHECK(cudaMemcpy(d_offset, offset.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(d_adj, adj.data(), m * sizeof(int), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(d_edges, edges.data(), m * sizeof(int2), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(d_per_vertex, 0, n * sizeof(unsigned)));
	CUDA_CHECK(cudaMemset(d_total, 0, sizeof(total)));
	for (int rep = 0; rep < 3; rep++) {
		count_by_merge<<<(m + 127) / 128, 128>>>(d_offset, d_adj, d_edges, m, d_per_vertex);
		CUDA_CHECK(cudaGetLastError());
		count_by_search<<<528, 256>>>(d_offset, d_adj, d_edges, m, d_total);
		CUDA_CHECK(cudaGetLastError());
	}
	std::vector<unsigned> per_vertex(n);
	CUDA_CHECK(cudaMemcpy(per_vertex.data(), d_per_vertex, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaMemcpy(&total, d_total, sizeof(total), cudaMemcpyDeviceToHost));
	uint64_t h = 0;
	for (int v = 0; v < n; v++)
		h = (h ^ per_vertex[v]) * 0x9e3779b97f4a7c15ull + (h >> 40);
	printf("per_vertex: %016llx\nedges %d triangles %llu\n", (unsigned long long)h, m, total / 3);
	return 0;
}
