// Direct 3x3 convolution layer in NCHW layout with bias and ReLU, followed by a 2x2 max pooling layer.
// Every input value is reused across output channels and taps, so the cost is mostly cached loads and fused multiply-adds.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#define CHECK(e) do { cudaError_t r = (e); if (r != cudaSuccess) { \
	fprintf(stderr, "%s at line %d\n", cudaGetErrorString(r), __LINE__); exit(1); } } while (0)

struct Shape {
	int n, c, h, w;
	__host__ __device__ size_t size() const { return (size_t)n * c * h * w; }
};

__global__ void fill_uniform(float *p, size_t n, uint32_t seed, float scale)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
		uint32_t z = (uint32_t)i * 747796405u + seed;
		z = ((z >> ((z >> 28) + 4)) ^ z) * 277803737u;
		z ^= z >> 22;
		p[i] = ((int)(z & 0xffff) - 32768) * scale;
	}
}

// Each thread makes KB output channels of one pixel; blockIdx.z walks over images and channel groups.
template <int KB>
__global__ void conv3x3_relu(const float *__restrict__ in, const float *__restrict__ weight, const float *__restrict__ bias,
	float *__restrict__ out, Shape is, int channels_out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;
	int groups = channels_out / KB;
	int img = blockIdx.z / groups;
	int k0 = (blockIdx.z % groups) * KB;
	if (x >= is.w || y >= is.h)
		return;
	float acc[KB];
#pragma unroll
	for (int k = 0; k < KB; k++)
		acc[k] = bias[k0 + k];
	for (int c = 0; c < is.c; c++) {
		const float *plane = in + ((size_t)img * is.c + c) * is.h * is.w;
#pragma unroll
		for (int r = 0; r < 3; r++) {
#pragma unroll
			for (int s = 0; s < 3; s++) {
				int yy = y + r - 1, xx = x + s - 1;
				bool inside = yy >= 0 && yy < is.h && xx >= 0 && xx < is.w;
				float v = inside ? plane[yy * is.w + xx] : 0.0f;
#pragma unroll
				for (int k = 0; k < KB; k++)
					acc[k] += v * weight[((size_t)(k0 + k) * is.c + c) * 9 + r * 3 + s];
			}
		}
	}
#pragma unroll
	for (int k = 0; k < KB; k++)
		out[(((size_t)img * channels_out + k0 + k) * is.h + y) * is.w + x] = fmaxf(acc[k], 0.0f);
}

__global__ void maxpool2x2(const float *in, float *out, Shape os)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i >= os.size())
		return;
	int x = i % os.w;
	size_t row = i / os.w; // plane * os.h + y; input planes have exactly twice as many rows
	const float2 *a = (const float2 *)(in + 2 * row * (2 * os.w)) + x;
	float2 p = a[0], q = a[os.w];
	out[i] = fmaxf(fmaxf(p.x, p.y), fmaxf(q.x, q.y));
}

static uint64_t hash_floats(const std::vector<float> &v)
{
	uint64_t h = 0xcbf29ce484222325ull;
	const unsigned char *b = (const unsigned char *)v.data();
	for (size_t i = 0; i < 4 * v.size(); i++)
		h = (h ^ b[i]) * 0x100000001b3ull;
	return h;
}

int main()
{
	const Shape is = {4, 24, 56, 56}, os = {4, 64, 56, 56}, ps = {4, 64, 28, 28};
	const size_t nw = (size_t)os.c * is.c * 9;
	float *in, *weight, *bias, *conv, *pool;
	CHECK(cudaMalloc(&in, is.size() * sizeof(float)));
	CHECK(cudaMalloc(&weight, nw * sizeof(float)));
	CHECK(cudaMalloc(&bias, os.c * sizeof(float)));
	CHECK(cudaMalloc(&conv, os.size() * sizeof(float)));
	CHECK(cudaMalloc(&pool, ps.size() * sizeof(float)));
	fill_uniform<<<264, 256>>>(in, is.size(), 17u, 1.0f / 32768);
	CHECK(cudaGetLastError());
	fill_uniform<<<72, 256>>>(weight, nw, 4242u, 1.0f / 524288);
	CHECK(cudaGetLastError());
	fill_uniform<<<1, 64>>>(bias, os.c, 99u, 1.0f / 1048576);
	CHECK(cudaGetLastError());

	dim3 block(56, 4), grid(1, is.h / 4, is.n * os.c / 8);
	for (int rep = 0; rep < 3; rep++) {
		conv3x3_relu<8><<<grid, block>>>(in, weight, bias, conv, is, os.c);
		CHECK(cudaGetLastError());
		maxpool2x2<<<(unsigned)((ps.size() + 127) / 128), 128>>>(conv, pool, ps);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
	std::vector<float> hc(os.size()), hp(ps.size());
	CHECK(cudaMemcpy(hc.data(), conv, hc.size() * sizeof(float), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(hp.data(), pool, hp.size() * sizeof(float), cudaMemcpyDeviceToHost));
	size_t alive = 0;
	for (float v : hc)
		alive += v > 0.0f;
	printf("conv: %016llx\n", (unsigned long long)hash_floats(hc));
	printf("pool: %016llx\n", (unsigned long long)hash_floats(hp));
	printf("active %zu of %zu\n", alive, hc.size());
	float *all[] = {in, weight, bias, conv, pool};
	for (float *p : all)
		CHECK(cudaFree(p));
	return 0;
}
