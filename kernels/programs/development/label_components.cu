// Connected components by hooking and pointer jumping: roots are hooked with atomicMin, then all labels are flattened.
// Hard for a GPU: labels are chased through dependent loads, and the giant component makes many edges fight over few roots.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

#define CHECK_CUDA(x) do { cudaError_t e = (x); if (e) { \
	fprintf(stderr, "%s(%d): %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(EXIT_FAILURE); } } while (0)

static uint64_t splitmix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

__global__ void init_labels(unsigned *label, unsigned n)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		label[i] = i;
}

__global__ void hook(const uint2 *__restrict__ edges, unsigned m, unsigned *label, int *changed)
{
	unsigned e = blockIdx.x * blockDim.x + threadIdx.x;
	bool any = false;
	if (e < m) {
		uint2 uv = edges[e];
		unsigned a = label[uv.x], b = label[uv.y];
		if (a != b) {
			unsigned high = max(a, b), low = min(a, b);
			atomicMin(&label[high], low);
			any = true;
		}
	}
	if (__syncthreads_or(any) && threadIdx.x == 0)
		*changed = 1;
}

__global__ void flatten(unsigned *label, unsigned n)
{
	unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= n)
		return;
	unsigned start = label[v], root = start;
	unsigned parent = label[root];
	while (parent != root) {
		root = parent;
		parent = label[root];
	}
	if (root != start)
		label[v] = root;
}

int main()
{
	const unsigned n = 700000, m = 900000;
	std::vector<uint2> edges(m);
	for (unsigned e = 0; e < m; e++) {
		uint64_t r = splitmix(e);
		uint64_t a = r & 0xffffffffu, b = r >> 32;
		unsigned u, v;
		if (e % 3 == 0) {
			// short edges within groups of 64 vertices
			u = (unsigned)(a * n >> 32);
			v = (u & ~63u) + (unsigned)(b & 63);
			if (v >= n)
				v = u;
		} else if (e % 3 == 1) {
			// skewed edges that tie many vertices to a few
			u = (unsigned)(((a * a >> 32) * a >> 32) * n >> 32);
			v = (unsigned)(b * n >> 32);
		} else {
			u = (unsigned)(a * (n / 2) >> 32);
			v = (unsigned)(b * (n / 2) >> 32);
		}
		edges[e] = make_uint2(u, v);
	}

	uint2 *d_edges;
	unsigned *d_label;
	int *d_changed, changed = 1;
	CHECK_CUDA(cudaMalloc(&d_edges, m * sizeof(uint2)));
	CHECK_CUDA(cudaMalloc(&d_label, n * sizeof(unsigned)));
	CHECK_CUDA(cudaMalloc(&d_changed, sizeof(int)));
	CHECK_CUDA(cudaMemcpy(d_edges, edges.data(), m * sizeof(uint2), cudaMemcpyHostToDevice));

	init_labels<<<264, 512>>>(d_label, n);
	CHECK_CUDA(cudaGetLastError());
	// the number of rounds may depend on timing, the labels at the end may not
	while (changed) {
		CHECK_CUDA(cudaMemset(d_changed, 0, sizeof(int)));
		hook<<<(m + 511) / 512, 512>>>(d_edges, m, d_label, d_changed);
		CHECK_CUDA(cudaGetLastError());
		flatten<<<(n + 255) / 256, 256>>>(d_label, n);
		CHECK_CUDA(cudaGetLastError());
		CHECK_CUDA(cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost));
	}

	std::vector<unsigned> label(n);
	CHECK_CUDA(cudaMemcpy(label.data(), d_label, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
	uint64_t h = 0;
	unsigned components = 0, in_giant = 0;
	for (unsigned i = 0; i < n; i++) {
		h ^= splitmix(((uint64_t)i << 32) | label[i]);
		components += label[i] == i;
		in_giant += label[i] == label[0];
	}
	printf("label: %016llx\n", (unsigned long long)h);
	printf("components %u with_vertex_0 %u\n", components, in_giant);
	CHECK_CUDA(cudaFree(d_edges));
	CHECK_CUDA(cudaFree(d_label));
	CHECK_CUDA(cudaFree(d_changed));
	return 0;
}
