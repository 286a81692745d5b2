// Diffusion by alternating directions on several 2-D fields: rows by parallel cyclic reduction in a block, columns by the Thomas method in a thread.
// Hard for a GPU: the row sweep is barriers and shared memory, the column sweep is a dependent chain over 512 points with few threads.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(x)                                                                               \
	{                                                                                   \
		cudaError_t e = (x);                                                        \
		if (e != cudaSuccess) {                                                     \
			fprintf(stderr, "error %s, line %d\n", cudaGetErrorString(e), __LINE__); \
			return 1;                                                           \
		}                                                                           \
	}

#define NX 512
#define NY 480
#define FIELDS 10

// different diffusion in each field
__device__ float strength(int field)
{
	return 0.25f + 0.125f * (float)field;
}

__global__ void initial(float *u)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, f = blockIdx.z;
	unsigned h = (unsigned)((f * NY + y) * NX + x) * 2246822519u;
	h ^= h >> 13;
	h *= 3266489917u;
	float v = (float)(h >> 20) * (1.f / 4096.f);
	int dx = x - 200 - 10 * f, dy = y - 240;
	if (dx * dx + dy * dy < 80 * 80)
		v += 10.f;
	u[((size_t)f * NY + y) * NX + x] = v;
}

// (1 - r d2/dx2) out = (1 + r d2/dy2) in; one block a row
__global__ void __launch_bounds__(NX) sweep_rows(const float *__restrict__ in, float *__restrict__ out)
{
	__shared__ float a[2][NX], b[2][NX], c[2][NX], d[2][NX];
	const int x = threadIdx.x, y = blockIdx.x, f = blockIdx.y;
	const float r = strength(f);
	const float *row = in + ((size_t)f * NY + y) * NX;
	float mid = row[x];
	float up = y > 0 ? row[x - NX] : mid, down = y < NY - 1 ? row[x + NX] : mid;
	int cur = 0;
	a[0][x] = x > 0 ? -r : 0.f;
	c[0][x] = x < NX - 1 ? -r : 0.f;
	b[0][x] = 1.f + (x > 0 ? r : 0.f) + (x < NX - 1 ? r : 0.f);
	d[0][x] = mid + r * (up - 2.f * mid + down);
	__syncthreads();
	for (int s = 1; s < NX; s *= 2) {
		float na = 0.f, nc = 0.f, nb = b[cur][x], nd = d[cur][x];
		if (x >= s) {
			float k = a[cur][x] / b[cur][x - s];
			na = -k * a[cur][x - s];
			nb -= k * c[cur][x - s];
			nd -= k * d[cur][x - s];
		}
		if (x + s < NX) {
			float k = c[cur][x] / b[cur][x + s];
			nc = -k * c[cur][x + s];
			nb -= k * a[cur][x + s];
			nd -= k * d[cur][x + s];
		}
		cur ^= 1;
		a[cur][x] = na;
		b[cur][x] = nb;
		c[cur][x] = nc;
		d[cur][x] = nd;
		__syncthreads();
	}
	out[((size_t)f * NY + y) * NX + x] = d[cur][x] / b[cur][x];
}

// the factors of the elimination are the same in all columns of a field
__global__ void factors(float *cp)
{
	int f = threadIdx.x;
	if (f >= FIELDS)
		return;
	float r = strength(f), prev = -r / (1.f + r);
	cp[f * NY] = prev;
	for (int y = 1; y < NY; y++) {
		float b = y < NY - 1 ? 1.f + 2.f * r : 1.f + r;
		prev = -r / (b + r * prev);
		cp[f * NY + y] = prev;
	}
}

// (1 - r d2/dy2) out = (1 + r d2/dx2) in; one thread a column
__global__ void sweep_columns(const float *__restrict__ in, float *__restrict__ out, const float *__restrict__ cp_all)
{
	__shared__ float cp[NY];
	int x = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y;
	for (int i = threadIdx.x; i < NY; i += blockDim.x)
		cp[i] = cp_all[f * NY + i];
	__syncthreads();
	const float r = strength(f);
	const float *src = in + (size_t)f * NY * NX + x;
	float *dst = out + (size_t)f * NY * NX + x;
	int left = x > 0 ? -1 : 0, right = x < NX - 1 ? 1 : 0;
	float prev = 0.f;
	for (int y = 0; y < NY; y++) {
		const float *p = src + (size_t)y * NX;
		float rhs = p[0] + r * (p[left] - 2.f * p[0] + p[right]);
		// cp = -r / pivot, so 1 / pivot = -cp / r
		prev = (rhs + r * prev) * (-cp[y] / r);
		dst[(size_t)y * NX] = prev;
	}
	for (int y = NY - 2; y >= 0; y--) {
		prev = dst[(size_t)y * NX] - cp[y] * prev;
		dst[(size_t)y * NX] = prev;
	}
}

int main()
{
	const size_t n = (size_t)FIELDS * NY * NX;
	float *u, *half, *cp;
	CK(cudaMalloc(&u, n * sizeof(float)));
	CK(cudaMalloc(&half, n * sizeof(float)));
	CK(cudaMalloc(&cp, FIELDS * NY * sizeof(float)));
	initial<<<dim3(NX / 32, NY / 8, FIELDS), dim3(32, 8)>>>(u);
	factors<<<1, 32>>>(cp);
	CK(cudaGetLastError());
	for (int step = 0; step < 3; step++) {
		sweep_rows<<<dim3(NY, FIELDS), NX>>>(u, half);
		CK(cudaGetLastError());
		sweep_columns<<<dim3(NX / 64, FIELDS), 64>>>(half, u, cp);
		CK(cudaGetLastError());
	}
	CK(cudaDeviceSynchronize());
	std::vector<float> host(n);
	CK(cudaMemcpy(host.data(), u, n * sizeof(float), cudaMemcpyDeviceToHost));
	unsigned long long h = 0xcbf29ce484222325ull;
	const unsigned char *bytes = (const unsigned char *)host.data();
	for (size_t i = 0; i < n * sizeof(float); i++)
		h = (h ^ bytes[i]) * 0x100000001b3ull;
	double mass = 0;
	for (float v : host)
		mass += v;
	printf("fields %016llx\nmass %.2f\n", h, mass);
	CK(cudaFree(u));
	CK(cudaFree(half));
	CK(cudaFree(cp));
	return 0;
}
