// Maximal independent set of a random graph with skewed degrees by Luby's method: fresh priorities every round, then a check.
// Hard for a GPU: neighbour lists of very different lengths, random gathers, and fewer and fewer live vertices per round.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(x) do { cudaError_t err = (x); if (err != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(err)); exit(1); } } while (0)

enum : unsigned char { LIVE = 0, IN = 1, OUT = 2 };

__host__ __device__ static inline unsigned mix(unsigned x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

// larger wins; the vertex number breaks ties
__device__ __forceinline__ unsigned long long priority(int v, unsigned round)
{
	return (unsigned long long)mix(v ^ round * 0x9e3779b9u) << 32 | (unsigned)v;
}

__global__ void choose(const int *__restrict__ first, const int *__restrict__ adj, const unsigned char *__restrict__ state, unsigned char *__restrict__ chosen, int n, unsigned round)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= n)
		return;
	bool win = false;
	if (state[v] == LIVE) {
		win = true;
		unsigned long long mine = priority(v, round);
		int end = first[v + 1];
		for (int e = first[v]; e < end; e++) {
			int u = adj[e];
			if (state[u] == LIVE && priority(u, round) > mine) {
				win = false;
				break;
			}
		}
	}
	chosen[v] = win;
}

__global__ void settle(const int *__restrict__ first, const int *__restrict__ adj, unsigned char *state, const unsigned char *__restrict__ chosen, int n, int *live)
{
	__shared__ int left;
	if (threadIdx.x == 0)
		left = 0;
	__syncthreads();
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	bool still = false;
	if (v < n && state[v] == LIVE) {
		if (chosen[v]) {
			state[v] = IN;
		} else {
			still = true;
			for (int e = first[v]; e < first[v + 1]; e++)
				if (chosen[adj[e]]) {
					state[v] = OUT;
					still = false;
					break;
				}
		}
	}
	unsigned votes = __ballot_sync(0xffffffffu, still);
	if ((threadIdx.x & 31) == 0 && votes)
		atomicAdd(&left, __popc(votes));
	__syncthreads();
	if (threadIdx.x == 0 && left)
		atomicAdd(live, left);
}

// one warp a vertex: counts set members, edges inside of the set, and vertices out of it that have no neighbour in it
__global__ void verify(const int *__restrict__ first, const int *__restrict__ adj, const unsigned char *__restrict__ state, int n, int *counts)
{
	int warps = gridDim.x * blockDim.x / 32;
	int lane = threadIdx.x & 31;
	int members = 0, inside = 0, lonely = 0;
	for (int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32; v < n; v += warps) {
		unsigned char s = state[v];
		int touching = 0;
		for (int e = first[v] + lane; e < first[v + 1]; e += 32)
			touching += state[adj[e]] == IN;
		touching = __reduce_add_sync(0xffffffffu, touching);
		members += s == IN;
		inside += s == IN ? touching : 0;
		lonely += s == OUT && touching == 0;
	}
	if (lane == 0) {
		atomicAdd(&counts[0], members);
		atomicAdd(&counts[1], inside);
		atomicAdd(&counts[2], lonely);
	}
}

int main()
{
	const int n = 300000, edges = 2600000, max_rounds = 5;
	std::vector<int> from(edges), to(edges), first(n + 1, 0);
	for (int e = 0; e < edges; e++) {
		unsigned a = mix(2 * e + 1), b = mix(2 * e + 2);
		int u = (int)(a % n);
		// the square of a uniform number: some vertices get many more edges
		int v = (int)(((unsigned long long)b * b >> 32) * n >> 32);
		if (u == v)
			v = (v + 1) % n;
		from[e] = u;
		to[e] = v;
		first[u + 1]++;
		first[v + 1]++;
	}
	for (int v = 0; v < n; v++)
		first[v + 1] += first[v];
	std::vector<int> fill(first.begin(), first.end() - 1), adj(2 * (size_t)edges);
	for (int e = 0; e < edges; e++) {
		adj[fill[from[e]]++] = to[e];
		adj[fill[to[e]]++] = from[e];
	}
	int *d_first, *d_adj, *d_live, *d_counts;
	unsigned char *d_state, *d_chosen;
	CUDA(cudaMalloc(&d_first, first.size() * sizeof(int)));
	CUDA(cudaMalloc(&d_adj, adj.size() * sizeof(int)));
	CUDA(cudaMalloc(&d_live, sizeof(int)));
	CUDA(cudaMalloc(&d_counts, 3 * sizeof(int)));
	CUDA(cudaMalloc(&d_state, n));
	CUDA(cudaMalloc(&d_chosen, n));
	CUDA(cudaMemcpy(d_first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(d_adj, adj.data(), adj.size() * sizeof(int), cudaMemcpyHostToDevice));
	CUDA(cudaMemset(d_state, LIVE, n));
	CUDA(cudaMemset(d_counts, 0, 3 * sizeof(int)));
	int live = n, rounds = 0;
	while (live > 0 && rounds < max_rounds) {
		CUDA(cudaMemset(d_live, 0, sizeof(int)));
		choose<<<(n + 191) / 192, 192>>>(d_first, d_adj, d_state, d_chosen, n, rounds);
		settle<<<(n + 255) / 256, 256>>>(d_first, d_adj, d_state, d_chosen, n, d_live);
		CUDA(cudaGetLastError());
		CUDA(cudaMemcpy(&live, d_live, sizeof(int), cudaMemcpyDeviceToHost));
		rounds++;
	}
	verify<<<132 * 4, 512>>>(d_first, d_adj, d_state, n, d_counts);
	CUDA(cudaGetLastError());
	int counts[3];
	std::vector<unsigned char> state(n);
	CUDA(cudaMemcpy(counts, d_counts, sizeof(counts), cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(state.data(), d_state, n, cudaMemcpyDeviceToHost));
	unsigned long long h = 0xcbf29ce484222325ull;
	for (unsigned char s : state)
		h = (h ^ s) * 0x100000001b3ull;
	printf("state %016llx after %d rounds, %d live\n", h, rounds, live);
	printf("members %d, edges inside %d, lonely %d\n", counts[0], counts[1], counts[2]);
	CUDA(cudaFree(d_first));
	CUDA(cudaFree(d_adj));
	CUDA(cudaFree(d_live));
	CUDA(cudaFree(d_counts));
	CUDA(cudaFree(d_state));
	CUDA(cudaFree(d_chosen));
	return 0;
}
