// Seven-point 3D heat stencil, once with a thread per cell and once marching along z with a shared plane.
// Neighbours in z lie a whole plane apart, so traffic depends on whether planes survive in cache or are carried in registers.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK_CUDA(call) \
	do { \
		cudaError_t err = (call); \
		if (err != cudaSuccess) { \
			std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(err)); \
			std::exit(1); \
		} \
	} while (0)

struct Grid {
	int nx, ny, nz;
	__host__ __device__ size_t at(int x, int y, int z) const { return ((size_t)z * ny + y) * nx + x; }
};

__global__ void seed_field(float *u, float *v, size_t n)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	unsigned long long h = i * 0x9e3779b97f4a7c15ull;
	h ^= h >> 32;
	float f = (float)(unsigned)(h & 0xfffff) * (100.0f / 1048576.0f);
	u[i] = f;
	v[i] = f;
}

__global__ void heat_cell(const float *__restrict__ u, float *__restrict__ v, Grid g, float c0, float c1)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
	int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
	int z = blockIdx.z * blockDim.z + threadIdx.z + 1;
	if (x >= g.nx - 1 || y >= g.ny - 1 || z >= g.nz - 1)
		return;
	size_t i = g.at(x, y, z), sy = g.nx, sz = (size_t)g.nx * g.ny;
	v[i] = c0 * u[i] + c1 * (u[i - 1] + u[i + 1] + u[i - sy] + u[i + sy] + u[i - sz] + u[i + sz]);
}

template <int BX, int BY, int DEPTH>
__global__ void heat_march(const float *__restrict__ u, float *__restrict__ v, Grid g, float c0, float c1)
{
	__shared__ float plane[BY + 2][BX + 2];
	const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
	const int x = blockIdx.x * BX + tx, y = blockIdx.y * BY + ty;
	const int z0 = blockIdx.z * DEPTH + 1, z1 = min(z0 + DEPTH, g.nz - 1);
	const bool in = x < g.nx && y < g.ny;
	const bool update = x < g.nx - 1 && y < g.ny - 1;
	const size_t step = (size_t)g.nx * g.ny;
	size_t i = g.at(x, y, z0);

	float below = in ? u[i - step] : 0.0f;
	float here = in ? u[i] : 0.0f;
	for (int z = z0; z < z1; z++, i += step) {
		float above = in ? u[i + step] : 0.0f;
		__syncthreads();
		plane[ty][tx] = here;
		if (in && tx == 1)
			plane[ty][0] = u[i - 1];
		if (update && tx == BX)
			plane[ty][BX + 1] = u[i + 1];
		if (in && ty == 1)
			plane[0][tx] = u[i - g.nx];
		if (update && ty == BY)
			plane[BY + 1][tx] = u[i + g.nx];
		__syncthreads();
		if (update)
			v[i] = c0 * here + c1 * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above);
		below = here;
		here = above;
	}
}

static float finish(const char *name, const float *dev, std::vector<float> &host, const Grid &g)
{
	CHECK_CUDA(cudaMemcpy(host.data(), dev, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
	uint64_t h = 0xcbf29ce484222325ull;
	const unsigned char *p = reinterpret_cast<const unsigned char *>(host.data());
	for (size_t i = 0; i < host.size() * sizeof(float); i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	std::printf("%s: %016llx\n", name, (unsigned long long)h);
	return host[g.at(g.nx / 2, g.ny / 2, g.nz / 2)];
}

int main()
{
	const Grid g = {288, 256, 104};
	const size_t n = (size_t)g.nx * g.ny * g.nz;
	const float c0 = 0.4f, c1 = 0.1f;
	float *u, *v;
	CHECK_CUDA(cudaMalloc(&u, n * sizeof(float)));
	CHECK_CUDA(cudaMalloc(&v, n * sizeof(float)));
	std::vector<float> host(n);
	seed_field<<<(unsigned)((n + 511) / 512), 512>>>(u, v, n);
	CHECK_CUDA(cudaGetLastError());

	const dim3 b1(32, 4, 4), g1((g.nx + 29) / 32, (g.ny + 1) / 4, (g.nz + 1) / 4);
	for (int s = 0; s < 3; s++) {
		heat_cell<<<g1, b1>>>(u, v, g, c0, c1);
		CHECK_CUDA(cudaGetLastError());
		std::swap(u, v);
	}
	float mid = finish("cells", u, host, g);
	std::printf("middle after cell steps %.8g\n", mid);

	constexpr int BX = 32, BY = 16, DEPTH = 34;
	const dim3 b2(BX, BY), g2((g.nx - 2 + BX - 1) / BX, (g.ny - 2 + BY - 1) / BY, (g.nz - 2 + DEPTH - 1) / DEPTH);
	for (int s = 0; s < 3; s++) {
		heat_march<BX, BY, DEPTH><<<g2, b2>>>(u, v, g, c0, c1);
		CHECK_CUDA(cudaGetLastError());
		std::swap(u, v);
	}
	mid = finish("march", u, host, g);
	std::printf("middle after march steps %.8g\n", mid);
	CHECK_CUDA(cudaFree(u));
	CHECK_CUDA(cudaFree(v));
	return 0;
}
