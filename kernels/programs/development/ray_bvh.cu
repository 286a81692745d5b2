// Traces rays through a bounding volume hierarchy over triangles, with a small stack per thread and the nearer child first.
// Hard for a GPU: rays of one warp take different paths through the tree, and every node is a dependent scattered load.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_SAFE(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \
	fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)

struct Node {
	float4 low;	// w: first triangle of a leaf, or left child
	float4 high;	// w: triangles of a leaf, or 0
};

struct Triangle { float4 a, ab, ac; };

__device__ inline float dot(float3 p, float3 q) { return p.x * q.x + p.y * q.y + p.z * q.z; }
__device__ inline float3 cross(float3 p, float3 q)
{
	return make_float3(p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x);
}

__device__ float enter_box(const Node &n, float3 o, float3 inv, float t_max)
{
	float x0 = (n.low.x - o.x) * inv.x, x1 = (n.high.x - o.x) * inv.x;
	float y0 = (n.low.y - o.y) * inv.y, y1 = (n.high.y - o.y) * inv.y;
	float z0 = (n.low.z - o.z) * inv.z, z1 = (n.high.z - o.z) * inv.z;
	float enter = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0f));
	float leave = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fminf(fmaxf(z0, z1), t_max));
	return enter <= leave ? enter : 1e30f;
}

__global__ void trace(const Node *__restrict__ nodes, const Triangle *__restrict__ triangles, float3 eye, int width, int height, int *hit)
{
	int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
	if (px >= width || py >= height)
		return;
	float3 d = make_float3((px + 0.5f) / width - 0.5f, (py + 0.5f) / height - 0.5f, 0.7f);
	float3 inv = make_float3(1.0f / d.x, 1.0f / d.y, 1.0f / d.z);
	float nearest = 1e29f;
	int best = -1, stack[24], top = 0, at = 0;
	while (at >= 0) {
		Node n = nodes[at];
		int count = __float_as_int(n.high.w), first = __float_as_int(n.low.w);
		for (int k = first; k < first + count; k++) {
			Triangle t = triangles[k];
			float3 ab = make_float3(t.ab.x, t.ab.y, t.ab.z), ac = make_float3(t.ac.x, t.ac.y, t.ac.z);
			float3 p = cross(d, ac), s = make_float3(eye.x - t.a.x, eye.y - t.a.y, eye.z - t.a.z);
			float scale = 1.0f / dot(ab, p), u = dot(s, p) * scale;
			float3 q = cross(s, ab);
			float v = dot(d, q) * scale, dist = dot(ac, q) * scale;
			if (u >= 0 && v >= 0 && u + v <= 1 && dist > 0 && dist < nearest) {
				nearest = dist;
				best = k;
			}
		}
		at = -1;
		if (count == 0) {
			float t0 = enter_box(nodes[first], eye, inv, nearest), t1 = enter_box(nodes[first + 1], eye, inv, nearest);
			int second_nearer = t1 < t0;
			if (fminf(t0, t1) < 1e30f)
				at = first + second_nearer;
			if (fmaxf(t0, t1) < 1e30f)
				stack[top++] = first + 1 - second_nearer;
		}
		if (at < 0)
			at = top ? stack[--top] : -1;
	}
	hit[py * width + px] = best;
}

static float as_float(int i) { union { int i; float f; } u; u.i = i; return u.f; }

static void build(std::vector<Node> &nodes, std::vector<Triangle> &t, int self, int first, int count)
{
	float lo[3] = {1e30f, 1e30f, 1e30f}, hi[3] = {-1e30f, -1e30f, -1e30f};
	for (int k = first; k < first + count; k++)
		for (int c = 0; c < 3; c++) {
			float p = (&t[k].a.x)[c], q = p + (&t[k].ab.x)[c], r = p + (&t[k].ac.x)[c];
			lo[c] = std::min({lo[c], p, q, r});
			hi[c] = std::max({hi[c], p, q, r});
		}
	int axis = 0, left = (int)nodes.size();
	for (int c = 1; c < 3; c++)
		if (hi[c] - lo[c] > hi[axis] - lo[axis])
			axis = c;
	bool leaf = count <= 4;
	nodes[self].low = make_float4(lo[0], lo[1], lo[2], as_float(leaf ? first : left));
	nodes[self].high = make_float4(hi[0], hi[1], hi[2], as_float(leaf ? count : 0));
	if (leaf)
		return;
	std::sort(t.begin() + first, t.begin() + first + count, [axis](const Triangle &x, const Triangle &y) {
		return (&x.a.x)[axis] < (&y.a.x)[axis] || ((&x.a.x)[axis] == (&y.a.x)[axis] && x.a.w < y.a.w); });
	nodes.resize(left + 2);
	build(nodes, t, left, first, count / 2);
	build(nodes, t, left + 1, first + count / 2, count - count / 2);
}

int main()
{
	const int count = 12000, width = 320, height = 240;
	unsigned s = 1u;
	auto unit = [&s]() { s = s * 747796405u + 2891336453u; return (float)((s >> 8) & 0xffff) / 65536.0f; };
	std::vector<Triangle> triangles(count);
	for (int k = 0; k < count; k++) {
		float size = k % 50 ? 0.07f : 0.3f;
		float x = unit() * 4 - 2, y = unit() * 4 - 2, z = unit() * 4;
		triangles[k].a = make_float4(x, y, z, (float)k);
		triangles[k].ab = make_float4((unit() - 0.5f) * size, (unit() - 0.5f) * size, (unit() - 0.5f) * size, 0);
		triangles[k].ac = make_float4((unit() - 0.5f) * size, (unit() - 0.5f) * size, (unit() - 0.5f) * size, 0);
	}
	std::vector<Node> nodes(1);
	build(nodes, triangles, 0, 0, count);
	Node *d_nodes;
	Triangle *d_triangles;
	int *d_hit, hits = 0;
	CUDA_SAFE(cudaMalloc(&d_nodes, nodes.size() * sizeof(Node)));
	CUDA_SAFE(cudaMalloc(&d_triangles, count * sizeof(Triangle)));
	CUDA_SAFE(cudaMalloc(&d_hit, width * height * sizeof(int)));
	CUDA_SAFE(cudaMemcpy(d_nodes, nodes.data(), nodes.size() * sizeof(Node), cudaMemcpyHostToDevice));
	CUDA_SAFE(cudaMemcpy(d_triangles, triangles.data(), count * sizeof(Triangle), cudaMemcpyHostToDevice));
	std::vector<int> hit(width * height);
	uint64_t h = 0;
	for (int view = 0; view < 3; view++) {
		float3 eye = make_float3(view * 0.21f - 0.3f, 0.1f, -1.5f);
		trace<<<dim3(width / 16, height / 8), dim3(16, 8)>>>(d_nodes, d_triangles, eye, width, height, d_hit);
		CUDA_SAFE(cudaGetLastError());
		CUDA_SAFE(cudaMemcpy(hit.data(), d_hit, hit.size() * sizeof(int), cudaMemcpyDeviceToHost));
		for (int v : hit) {
			h = (h ^ (unsigned)(v + 1)) * 0x100000001b3ull;
			hits += v >= 0;
		}
	}
	printf("hit: %016llx\n", (unsigned long long)h);
	printf("rays %d hits %d\n", 3 * width * height, hits);
	return 0;
}
