// Smoothed particle hydrodynamics: particles are sorted into cells (count, scan, scatter), then density and forces from the 27 cells around.
// Hard for a GPU: neighbour loops of uneven length, scattered reads, a scan by a single block, and atomics on crowded cells.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HANDLE(x) handle((x), #x)
static void handle(cudaError_t e, const char *what)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s -> %s\n", what, cudaGetErrorString(e));
		exit(1);
	}
}

const int GX = 48, GY = 32, GZ = 32, CELLS = GX * GY * GZ;
const float H = 1.0f; // support radius and cell size

__device__ __forceinline__ int3 cell_of(float4 p)
{
	return make_int3(min(max((int)(p.x / H), 0), GX - 1), min(max((int)(p.y / H), 0), GY - 1), min(max((int)(p.z / H), 0), GZ - 1));
}

__device__ __forceinline__ int cell_index(int3 c)
{
	return (c.z * GY + c.y) * GX + c.x;
}

__global__ void count_cells(const float4 *pos, int n, int *count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&count[cell_index(cell_of(pos[i]))], 1);
}

__global__ void __launch_bounds__(1024) scan_cells(const int *count, int *start, int *cursor)
{
	__shared__ int warp_sum[32];
	const int per = CELLS / 1024;
	int t = threadIdx.x, lane = t & 31, sum = 0;
	const int *mine = count + t * per;
	for (int i = 0; i < per; i++)
		sum += mine[i];
	int incl = sum;
	for (int d = 1; d < 32; d *= 2) {
		int o = __shfl_up_sync(0xffffffffu, incl, d);
		if (lane >= d)
			incl += o;
	}
	if (lane == 31)
		warp_sum[t / 32] = incl;
	__syncthreads();
	if (t < 32) {
		int w = warp_sum[t], wi = w;
		for (int d = 1; d < 32; d *= 2) {
			int o = __shfl_up_sync(0xffffffffu, wi, d);
			if (t >= d)
				wi += o;
		}
		warp_sum[t] = wi - w;
	}
	__syncthreads();
	int at = warp_sum[t / 32] + incl - sum;
	for (int i = 0; i < per; i++) {
		start[t * per + i] = cursor[t * per + i] = at;
		at += mine[i];
	}
	if (t == 1023)
		start[CELLS] = at;
}

__global__ void scatter(const float4 *pos, int n, int *cursor, int *order)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		order[atomicAdd(&cursor[cell_index(cell_of(pos[i]))], 1)] = i;
}

// the order within a cell must not depend on the atomics: insertion sort by number, then gather
__global__ void sort_cells(const int *start, int *order, const float4 *pos, const float4 *vel, float4 *spos, float4 *svel)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x;
	if (c >= CELLS)
		return;
	int b = start[c], e = start[c + 1];
	for (int i = b + 1; i < e; i++) {
		int key = order[i], j = i - 1;
		while (j >= b && order[j] > key) {
			order[j + 1] = order[j];
			j--;
		}
		order[j + 1] = key;
	}
	for (int i = b; i < e; i++) {
		spos[i] = pos[order[i]];
		svel[i] = vel[order[i]];
	}
}

template <class F> __device__ __forceinline__ void for_neighbours(const int *__restrict__ start, float4 p, F f)
{
	int3 c = cell_of(p);
	for (int z = max(c.z - 1, 0); z <= min(c.z + 1, GZ - 1); z++)
		for (int y = max(c.y - 1, 0); y <= min(c.y + 1, GY - 1); y++) {
			// the three cells of a row lie one behind the other
			int lo = cell_index(make_int3(max(c.x - 1, 0), y, z)), hi = cell_index(make_int3(min(c.x + 1, GX - 1), y, z));
			for (int j = start[lo]; j < start[hi + 1]; j++)
				f(j);
		}
}

__global__ void density(const float4 *__restrict__ spos, const int *__restrict__ start, int n, float2 *rho_p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float4 p = spos[i];
	float rho = 0.f;
	for_neighbours(start, p, [&](int j) {
		float4 q = __ldg(spos + j);
		float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
		float w = H * H - (dx * dx + dy * dy + dz * dz);
		if (w > 0.f)
			rho += w * w * w;
	});
	rho_p[i] = make_float2(rho, fmaxf(0.f, 4.f * (rho - 2.5f)));
}

__global__ void __launch_bounds__(96) forces(const float4 *__restrict__ spos, const float4 *__restrict__ svel, const float2 *__restrict__ rho_p, const int *__restrict__ start, int n, float4 *pos, float4 *vel)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	const float dt = 0.004f;
	float4 p = spos[i], v = svel[i];
	float2 own = rho_p[i];
	float fx = 0.f, fy = 0.f, fz = 0.f;
	for_neighbours(start, p, [&](int j) {
		if (j == i)
			return;
		float4 q = spos[j];
		float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
		float r2 = dx * dx + dy * dy + dz * dz;
		if (r2 >= H * H || r2 < 1e-12f)
			return;
		float r = sqrtf(r2), gap = H - r;
		float2 other = rho_p[j];
		float4 u = svel[j];
		float press = (own.y + other.y) * gap * gap / (2.f * other.x * r);
		float visc = 0.4f * gap / other.x;
		fx += press * dx + visc * (u.x - v.x);
		fy += press * dy + visc * (u.y - v.y);
		fz += press * dz + visc * (u.z - v.z);
	});
	v.x += dt * fx / own.x;
	v.y += dt * (fy / own.x - 9.81f);
	v.z += dt * fz / own.x;
	p.x += dt * v.x;
	p.y += dt * v.y;
	p.z += dt * v.z;
	auto wall = [](float &x, float &s, float limit) {
		if (x < 0.f || x > limit) {
			x = x < 0.f ? 0.f : limit;
			s *= -0.3f;
		}
	};
	wall(p.x, v.x, GX * H);
	wall(p.y, v.y, GY * H);
	wall(p.z, v.z, GZ * H);
	pos[i] = p;
	vel[i] = v;
}

int main()
{
	const int n = 110000;
	std::vector<float4> host(n);
	unsigned s = 99;
	auto uniform = [&s]() { return (float)((s = s * 1664525u + 1013904223u) >> 8) * (1.f / 16777216.f); };
	for (int i = 0; i < n; i++) {
		// a dense column in a corner, and a thin cloud
		bool column = i % 4 != 0;
		float x = uniform(), y = uniform(), z = uniform();
		host[i] = column ? make_float4(x * 14.f, y * 28.f, z * 30.f, 0.f) : make_float4(x * 48.f, y * y * 32.f, z * 32.f, 0.f);
	}
	float4 *pos, *vel, *spos, *svel;
	float2 *rho_p;
	int *count, *start, *cursor, *order;
	HANDLE(cudaMalloc(&pos, n * sizeof(float4)));
	HANDLE(cudaMalloc(&vel, n * sizeof(float4)));
	HANDLE(cudaMalloc(&spos, n * sizeof(float4)));
	HANDLE(cudaMalloc(&svel, n * sizeof(float4)));
	HANDLE(cudaMalloc(&rho_p, n * sizeof(float2)));
	HANDLE(cudaMalloc(&count, CELLS * sizeof(int)));
	HANDLE(cudaMalloc(&start, (CELLS + 1) * sizeof(int)));
	HANDLE(cudaMalloc(&cursor, CELLS * sizeof(int)));
	HANDLE(cudaMalloc(&order, n * sizeof(int)));
	HANDLE(cudaMemcpy(pos, host.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
	HANDLE(cudaMemset(vel, 0, n * sizeof(float4)));
	for (int step = 0; step < 2; step++) {
		HANDLE(cudaMemset(count, 0, CELLS * sizeof(int)));
		count_cells<<<(n + 255) / 256, 256>>>(pos, n, count);
		scan_cells<<<1, 1024>>>(count, start, cursor);
		scatter<<<(n + 255) / 256, 256>>>(pos, n, cursor, order);
		sort_cells<<<(CELLS + 127) / 128, 128>>>(start, order, pos, vel, spos, svel);
		density<<<(n + 127) / 128, 128>>>(spos, start, n, rho_p);
		forces<<<(n + 95) / 96, 96>>>(spos, svel, rho_p, start, n, pos, vel);
		HANDLE(cudaGetLastError());
	}
	HANDLE(cudaDeviceSynchronize());
	std::vector<float2> rho(n);
	HANDLE(cudaMemcpy(host.data(), pos, n * sizeof(float4), cudaMemcpyDeviceToHost));
	HANDLE(cudaMemcpy(rho.data(), rho_p, n * sizeof(float2), cudaMemcpyDeviceToHost));
	unsigned long long h = 0xcbf29ce484222325ull;
	const unsigned char *b = (const unsigned char *)host.data();
	for (size_t i = 0; i < n * sizeof(float4); i++)
		h = (h ^ b[i]) * 0x100000001b3ull;
	double mean = 0;
	for (float2 r : rho)
		mean += r.x;
	printf("positions %016llx\nmean density %.4f\n", h, mean / n);
	HANDLE(cudaFree(pos));
	HANDLE(cudaFree(vel));
	HANDLE(cudaFree(spos));
	HANDLE(cudaFree(svel));
	HANDLE(cudaFree(rho_p));
	HANDLE(cudaFree(count));
	HANDLE(cudaFree(start));
	HANDLE(cudaFree(cursor));
	HANDLE(cudaFree(order));
	return 0;
}
