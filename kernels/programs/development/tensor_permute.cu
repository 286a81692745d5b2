// Permutations of 3D and 4D tensors: naive 3D, shared-memory tile swap of any two axes, generic 4D with run-time
// strides and integer divisions, and a float4 copy where the innermost axis stays.
// Hard for a GPU: reads or writes are strided, sizes are odd, and index arithmetic dominates the generic version.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(x) do { cudaError_t rc = (x); if (rc != cudaSuccess) { \
	fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(rc)); std::exit(1); } } while (0)

struct Dims4 {
	int extent[4];     // of the output, outermost first
	int in_stride[4];  // stride in the input of each output axis
};

constexpr int NX = 190, NY = 187, NZ = 201;
constexpr int TOTAL3 = NX * NY * NZ;

__global__ void iota(float *t, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) t[i] = (float)((i * 1597 + 51749) & 0xffffff);
}

// in[z][y][x] -> out[y][x][z]
__global__ void permute3_naive(const float *in, float *out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;
	int z = blockIdx.z * blockDim.z + threadIdx.z;
	if (x < NX && y < NY && z < NZ)
		out[(y * NX + x) * NZ + z] = in[(z * NY + y) * NX + x];
}

// swaps the contiguous axis a (extent na) with axis b (extent nb), for every position of the remaining axis
__global__ void __launch_bounds__(256) swap_tiled(const float *__restrict__ in, float *__restrict__ out, int na, int nb,
	int in_b, int in_c, int out_a, int out_c)
{
	__shared__ float tile[32][33];
	int a = blockIdx.x * 32 + threadIdx.x, b0 = blockIdx.y * 32, c = blockIdx.z;
#pragma unroll
	for (int k = 0; k < 32; k += 8) {
		int b = b0 + threadIdx.y + k;
		if (a < na && b < nb)
			tile[threadIdx.y + k][threadIdx.x] = in[a + b * in_b + c * in_c];
	}
	__syncthreads();
	int b = b0 + threadIdx.x;
#pragma unroll
	for (int k = 0; k < 32; k += 8) {
		int a2 = blockIdx.x * 32 + threadIdx.y + k;
		if (a2 < na && b < nb)
			out[b + a2 * out_a + c * out_c] = tile[threadIdx.x][threadIdx.y + k];
	}
}

__global__ void permute4_generic(const float *in, float *out, Dims4 d, int total)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= total) return;
	int rest = i, offset = 0;
	for (int k = 3; k >= 0; k--) {
		int pos = rest % d.extent[k];
		rest /= d.extent[k];
		offset += pos * d.in_stride[k];
	}
	out[i] = in[offset];
}

// in[n][c][h][w4] -> out[h][n][c][w4]
__global__ void permute4_vector(const float4 *__restrict__ in, float4 *__restrict__ out, int n, int c, int h, int w4)
{
	int w = threadIdx.x, hh = blockIdx.x * blockDim.y + threadIdx.y, cc = blockIdx.y, nn = blockIdx.z;
	if (w < w4 && hh < h)
		out[((hh * n + nn) * c + cc) * w4 + w] = __ldg(&in[((nn * c + cc) * h + hh) * w4 + w]);
}

static std::vector<float> host;

static void report(const char *what, const float *d, int n)
{
	CUDA_CHECK(cudaGetLastError());
	host.resize(n);
	CUDA_CHECK(cudaMemcpy(host.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost));
	unsigned long long h = 7;
	for (int i = 0; i < n; i++)
		h = h * 0x100000001b3ull + (unsigned)host[i];
	printf("%-16s %016llx\n", what, h);
}

int main()
{
	float *in, *out;
	CUDA_CHECK(cudaMalloc(&in, TOTAL3 * sizeof(float)));
	CUDA_CHECK(cudaMalloc(&out, TOTAL3 * sizeof(float)));
	iota<<<(TOTAL3 + 255) / 256, 256>>>(in, TOTAL3);

	permute3_naive<<<dim3((NX + 31) / 32, (NY + 3) / 4, (NZ + 1) / 2), dim3(32, 4, 2)>>>(in, out);
	report("zyx->yxz naive", out, TOTAL3);
	// zyx -> zxy
	swap_tiled<<<dim3((NX + 31) / 32, (NY + 31) / 32, NZ), dim3(32, 8)>>>(in, out, NX, NY, NX, NX * NY, NY, NX * NY);
	report("zyx->zxy tiled", out, TOTAL3);
	// zyx -> xyz
	swap_tiled<<<dim3((NX + 31) / 32, (NZ + 31) / 32, NY), dim3(32, 8)>>>(in, out, NX, NZ, NX * NY, NX, NZ * NY, NZ);
	report("zyx->xyz tiled", out, TOTAL3);

	const int e[4] = {15, 48, 39, 100};
	const int st[4] = {48 * 39 * 100, 39 * 100, 100, 1};
	const int total4 = e[0] * e[1] * e[2] * e[3];
	const int orders[3][4] = {{0, 2, 3, 1}, {3, 2, 1, 0}, {2, 0, 1, 3}};
	for (auto &o : orders) {
		Dims4 d;
		for (int k = 0; k < 4; k++) {
			d.extent[k] = e[o[k]];
			d.in_stride[k] = st[o[k]];
		}
		permute4_generic<<<(total4 + 191) / 192, 192>>>(in, out, d, total4);
		char name[32];
		snprintf(name, sizeof name, "4d %d%d%d%d", o[0], o[1], o[2], o[3]);
		report(name, out, total4);
	}
	permute4_vector<<<dim3((e[2] + 7) / 8, e[1], e[0]), dim3(25, 8)>>>((const float4 *)in, (float4 *)out, e[0], e[1], e[2], e[3] / 4);
	report("4d vector", out, total4);
	CUDA_CHECK(cudaFree(in));
	CUDA_CHECK(cudaFree(out));
	return 0;
}
