// Lennard-Jones molecular dynamics with cell lists: particles are put into cells with atomics, then each looks at 27 cells.
// Hard for a GPU: indirect loads through the cell lists, cells of unequal size, and a cutoff test that passes one time in six.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CUDA(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \
	fprintf(stderr, "md_cells:%d: %s\n", __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)

constexpr int SIDE = 30;		// particles per edge of the starting lattice
constexpr int N = SIDE * SIDE * SIDE;
constexpr int CELLS = 13;		// cells per edge of the box
constexpr int CELL_COUNT = CELLS * CELLS * CELLS;
constexpr int CAPACITY = 40;		// places in a cell, three times the mean
constexpr float BOX = 33.0f;
constexpr float CUTOFF = 2.5f;
constexpr float DT = 0.002f;

__device__ int cell_of(float4 p)
{
	const float scale = CELLS / BOX;
	int x = min(CELLS - 1, (int)(p.x * scale)), y = min(CELLS - 1, (int)(p.y * scale)), z = min(CELLS - 1, (int)(p.z * scale));
	return (z * CELLS + y) * CELLS + x;
}

__global__ void fill_cells(const float4 *pos, int *count, int *member)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= N)
		return;
	int c = cell_of(pos[i]);
	int place = atomicAdd(&count[c], 1);
	if (place < CAPACITY)
		member[c * CAPACITY + place] = i;
}

// atomics leave the order inside a cell open; sorting it makes the float sums repeatable
__global__ void sort_cells(const int *count, int *member)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x;
	if (c >= CELL_COUNT)
		return;
	int *list = member + c * CAPACITY;
	for (int i = 1; i < min(count[c], CAPACITY); i++) {
		int v = list[i], j = i;
		for (; j > 0 && list[j - 1] > v; j--)
			list[j] = list[j - 1];
		list[j] = v;
	}
}

__device__ float wrapped(float d) { return d - BOX * rintf(d * (1.0f / BOX)); }

__global__ void __launch_bounds__(128) forces(const float4 *__restrict__ pos, const int *__restrict__ count,
	const int *__restrict__ member, float4 *__restrict__ force)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= N)
		return;
	float4 p = pos[i];
	int c = cell_of(p), cx = c % CELLS, cy = c / CELLS % CELLS, cz = c / (CELLS * CELLS);
	float fx = 0, fy = 0, fz = 0, energy = 0;
	for (int n = 0; n < 27; n++) {
		int x = (cx + n % 3 + CELLS - 1) % CELLS, y = (cy + n / 3 % 3 + CELLS - 1) % CELLS, z = (cz + n / 9 + CELLS - 1) % CELLS;
		int other = (z * CELLS + y) * CELLS + x, members = min(count[other], CAPACITY);
		for (int k = 0; k < members; k++) {
			int j = member[other * CAPACITY + k];
			float4 q = pos[j];
			float dx = wrapped(p.x - q.x), dy = wrapped(p.y - q.y), dz = wrapped(p.z - q.z);
			float r2 = dx * dx + dy * dy + dz * dz;
			if (r2 < CUTOFF * CUTOFF && j != i) {
				float inv2 = 1.0f / r2, inv6 = inv2 * inv2 * inv2;
				float f = 24.0f * inv2 * inv6 * (2.0f * inv6 - 1.0f);
				fx += f * dx;
				fy += f * dy;
				fz += f * dz;
				energy += 2.0f * inv6 * (inv6 - 1.0f);
			}
		}
	}
	force[i] = make_float4(fx, fy, fz, energy);
}

__global__ void move(float4 *pos, float4 *vel, const float4 *force)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= N)
		return;
	float4 p = pos[i], v = vel[i], f = force[i];
	v.x += DT * f.x, v.y += DT * f.y, v.z += DT * f.z;
	p.x += DT * v.x, p.y += DT * v.y, p.z += DT * v.z;
	p.x -= BOX * floorf(p.x / BOX), p.y -= BOX * floorf(p.y / BOX), p.z -= BOX * floorf(p.z / BOX);
	pos[i] = p;
	vel[i] = v;
}

int main()
{
	std::vector<float4> pos(N), force(N);
	uint32_t s = 12345;
	auto jitter = [&s]() { s = s * 1103515245u + 12345u; return ((s >> 16 & 255) - 128.0f) / 1500.0f; };
	for (int i = 0; i < N; i++) {
		int x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
		float jx = jitter(), jy = jitter(), jz = jitter();
		pos[i] = make_float4((x + 0.5f) * 1.1f + jx, (y + 0.5f) * 1.1f + jy, (z + 0.5f) * 1.1f + jz, 0);
	}
	float4 *d_pos, *d_vel, *d_force;
	int *count, *member;
	CUDA(cudaMalloc(&d_pos, N * sizeof(float4)));
	CUDA(cudaMalloc(&d_vel, N * sizeof(float4)));
	CUDA(cudaMalloc(&d_force, N * sizeof(float4)));
	CUDA(cudaMalloc(&count, CELL_COUNT * sizeof(int)));
	CUDA(cudaMalloc(&member, CELL_COUNT * CAPACITY * sizeof(int)));
	CUDA(cudaMemcpy(d_pos, pos.data(), N * sizeof(float4), cudaMemcpyHostToDevice));
	CUDA(cudaMemset(d_vel, 0, N * sizeof(float4)));
	const int blocks = (N + 127) / 128;
	for (int step = 0; step < 4; step++) {
		CUDA(cudaMemset(count, 0, CELL_COUNT * sizeof(int)));
		fill_cells<<<blocks, 128>>>(d_pos, count, member);
		sort_cells<<<(CELL_COUNT + 63) / 64, 64>>>(count, member);
		forces<<<blocks, 128>>>(d_pos, count, member, d_force);
		move<<<blocks, 128>>>(d_pos, d_vel, d_force);
		CUDA(cudaGetLastError());
	}
	CUDA(cudaMemcpy(pos.data(), d_pos, N * sizeof(float4), cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(force.data(), d_force, N * sizeof(float4), cudaMemcpyDeviceToHost));
	uint64_t h = 0;
	double energy = 0;
	for (int i = 0; i < N; i++) {
		uint64_t words[2];
		memcpy(words, &pos[i], 16);
		h = ((h ^ words[0]) * 0x9e3779b97f4a7c15ull ^ words[1]) * 0xc2b2ae3d27d4eb4full;
		energy += force[i].w;
	}
	printf("position: %016llx\nparticles %d energy %.6f\n", (unsigned long long)h, N, energy);
	return 0;
}
