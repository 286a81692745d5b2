// Breadth-first search over a skewed CSR graph, one thread per frontier vertex, next frontier built with an atomic queue.
// Hard for a GPU: degrees differ by a factor of 256 inside a warp, and every newly found vertex costs atomics at random places.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

#define CHECK(call) do { cudaError_t err_ = (call); if (err_ != cudaSuccess) { \
	fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); exit(1); } } while (0)

static uint32_t hash32(uint32_t x)
{
	x ^= x >> 16; x *= 0x7feb352du;
	x ^= x >> 15; x *= 0x846ca68bu;
	x ^= x >> 16;
	return x;
}

static uint64_t mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

__global__ void init_levels(int *level, int n, int *frontier, int sources)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= n)
		return;
	level[v] = -1;
	if (v % (n / sources) == 7) {
		level[v] = 0;
		frontier[v / (n / sources)] = v;
	}
}

__global__ void expand_frontier(const int *row, const int *col, int *level, const int *frontier, int count,
	int *next, int *next_count, int depth)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= count)
		return;
	int u = frontier[i];
	int end = row[u + 1];
	for (int e = row[u]; e < end; e++) {
		int v = col[e];
		if (level[v] == -1 && atomicCAS(&level[v], -1, depth) == -1) {
			int slot = atomicAdd(next_count, 1);
			next[slot] = v;
		}
	}
}

int main()
{
	const int n = 1 << 17, sources = 16;
	std::vector<int> row(n + 1), col;
	for (int v = 0; v < n; v++) {
		// geometric classes: half of the vertices have degree 2, a quarter 4, and so on up to 512
		uint32_t h = hash32(v * 3u + 1u);
		int cls = 0;
		while (cls < 8 && ((h >> cls) & 1))
			cls++;
		int degree = 2 << cls;
		row[v] = (int)col.size();
		for (int k = 0; k < degree; k++) {
			uint64_t a = hash32((uint32_t)col.size() * 2u + 77u), b = hash32((uint32_t)col.size() * 2u + 78u);
			// the product of two uniform numbers favours small vertex numbers
			uint64_t t = (k & 1) ? (a * b >> 32) : a;
			col.push_back((int)(t * n >> 32));
		}
	}
	row[n] = (int)col.size();
	int edges = row[n];

	int *d_row, *d_col, *d_level, *d_queue[2], *d_count;
	CHECK(cudaMalloc(&d_row, (n + 1) * sizeof(int)));
	CHECK(cudaMalloc(&d_col, edges * sizeof(int)));
	CHECK(cudaMalloc(&d_level, n * sizeof(int)));
	CHECK(cudaMalloc(&d_queue[0], n * sizeof(int)));
	CHECK(cudaMalloc(&d_queue[1], n * sizeof(int)));
	CHECK(cudaMalloc(&d_count, sizeof(int)));
	CHECK(cudaMemcpy(d_row, row.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_col, col.data(), edges * sizeof(int), cudaMemcpyHostToDevice));

	init_levels<<<(n + 255) / 256, 256>>>(d_level, n, d_queue[0], sources);
	CHECK(cudaGetLastError());
	int count = sources, depth = 0, visited = 0;
	while (count > 0) {
		visited += count;
		CHECK(cudaMemset(d_count, 0, sizeof(int)));
		expand_frontier<<<(count + 255) / 256, 256>>>(d_row, d_col, d_level, d_queue[depth & 1], count,
			d_queue[(depth + 1) & 1], d_count, depth + 1);
		CHECK(cudaGetLastError());
		CHECK(cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost));
		depth++;
	}

	std::vector<int> level(n);
	CHECK(cudaMemcpy(level.data(), d_level, n * sizeof(int), cudaMemcpyDeviceToHost));
	uint64_t h = 0;
	for (int v = 0; v < n; v++)
		h += mix64(((uint64_t)v << 32) | (uint32_t)level[v]);
	printf("level: %016llx\n", (unsigned long long)h);
	printf("visited %d depth %d\n", visited, depth);
	CHECK(cudaFree(d_row));
	CHECK(cudaFree(d_col));
	CHECK(cudaFree(d_level));
	CHECK(cudaFree(d_queue[0]));
	CHECK(cudaFree(d_queue[1]));
	CHECK(cudaFree(d_count));
	return 0;
}
