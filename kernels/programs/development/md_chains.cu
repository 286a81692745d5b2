// Coarse-grained polymer melt: Lennard-Jones with Verlet neighbour lists,
// harmonic bonds, cosine angles, leapfrog integration.
// Forces are accumulated in 64-bit fixed point, which makes the scatter with
// atomicAdd independent of its order (and hence the trajectory reproducible).
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using std::vector;
using fix_t = unsigned long long;

#define CUDA_OK(expr)                                                        \
  do {                                                                       \
    const cudaError_t status = (expr);                                       \
    if (status != cudaSuccess) {                                             \
      std::fprintf(stderr, "%s failed: %s (%s:%d)\n", #expr,                 \
                   cudaGetErrorString(status), __FILE__, __LINE__);          \
      std::abort();                                                          \
    }                                                                        \
  } while (0)

namespace md {

constexpr int kLatX = 26, kLatY = 26, kLatZ = 25;
constexpr int kAtoms = kLatX * kLatY * kLatZ;      // 16900
constexpr int kChain = 13;                         // 1300 chains
constexpr float kSpacing = 1.1f;
constexpr int kCellsX = 10, kCellsY = 10, kCellsZ = 9;
constexpr int kCells = kCellsX * kCellsY * kCellsZ;
constexpr int kCellCap = 56;
constexpr int kMaxNeigh = 120;
constexpr int kSteps = 8;
constexpr int kRebuildEvery = 4;
constexpr float kCut2 = 2.5f * 2.5f;
constexpr float kList2 = 2.75f * 2.75f;
constexpr float kForceScale = 1048576.0f;          // 2^20
constexpr float kDt = 0.002f;

struct Box {
  float lx, ly, lz;
  float ix, iy, iz;
};

__device__ inline float3 MinImage(float4 a, float4 b, const Box& box) {
  float3 d = make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
  d.x -= box.lx * rintf(d.x * box.ix);
  d.y -= box.ly * rintf(d.y * box.iy);
  d.z -= box.lz * rintf(d.z * box.iz);
  return d;
}

__device__ inline void Scatter(fix_t* force, int atom, float x, float y, float z) {
  atomicAdd(&force[atom], (fix_t)llrintf(x * kForceScale));
  atomicAdd(&force[kAtoms + atom], (fix_t)llrintf(y * kForceScale));
  atomicAdd(&force[2 * kAtoms + atom], (fix_t)llrintf(z * kForceScale));
}

__device__ inline int CellCoord(float x, float inv_len, int n) {
  int c = (int)(x * inv_len * n);
  return c < 0 ? 0 : (c >= n ? n - 1 : c);
}

__global__ void BinAtoms(const float4* __restrict__ pos, Box box, int* cell_count, int* cell_atoms, int* overflow) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kAtoms) return;
  const float4 p = pos[i];
  const int c = (CellCoord(p.z, box.iz, kCellsZ) * kCellsY + CellCoord(p.y, box.iy, kCellsY)) * kCellsX +
                CellCoord(p.x, box.ix, kCellsX);
  const int slot = atomicAdd(&cell_count[c], 1);
  if (slot < kCellCap)
    cell_atoms[c * kCellCap + slot] = i;
  else
    atomicAdd(overflow, 1);
}

// The order left by the atomics is undone by an insertion sort per cell.
__global__ void SortCells(const int* __restrict__ cell_count, int* cell_atoms) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kCells) return;
  int* a = cell_atoms + c * kCellCap;
  const int n = min(cell_count[c], kCellCap);
  for (int i = 1; i < n; ++i) {
    const int x = a[i];
    int j = i - 1;
    while (j >= 0 && a[j] > x) {
      a[j + 1] = a[j];
      --j;
    }
    a[j + 1] = x;
  }
}

__device__ inline bool Bonded(int i, int j) {
  const int d = i - j;
  return (d == 1 || d == -1) && i / kChain == j / kChain;
}

__global__ void BuildLists(const float4* __restrict__ pos, Box box, const int* __restrict__ cell_count,
                           const int* __restrict__ cell_atoms, int* neigh_count, int* neigh, int* overflow) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kAtoms) return;
  const float4 p = pos[i];
  const int cx = CellCoord(p.x, box.ix, kCellsX);
  const int cy = CellCoord(p.y, box.iy, kCellsY);
  const int cz = CellCoord(p.z, box.iz, kCellsZ);
  int n = 0;
  for (int dz = -1; dz <= 1; ++dz) {
    const int z = (cz + dz + kCellsZ) % kCellsZ;
    for (int dy = -1; dy <= 1; ++dy) {
      const int y = (cy + dy + kCellsY) % kCellsY;
      for (int dx = -1; dx <= 1; ++dx) {
        const int x = (cx + dx + kCellsX) % kCellsX;
        const int c = (z * kCellsY + y) * kCellsX + x;
        const int m = min(cell_count[c], kCellCap);
        for (int s = 0; s < m; ++s) {
          const int j = cell_atoms[c * kCellCap + s];
          if (j == i) continue;
          const float3 d = MinImage(p, pos[j], box);
          const float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
          if (r2 < kList2 && !Bonded(i, j)) {
            if (n < kMaxNeigh)
              neigh[n * kAtoms + i] = j;
            ++n;
          }
        }
      }
    }
  }
  if (n > kMaxNeigh) {
    atomicAdd(overflow, 1);
    n = kMaxNeigh;
  }
  neigh_count[i] = n;
}

__global__ void __launch_bounds__(128) LennardJones(const float4* __restrict__ pos, Box box,
                                                    const int* __restrict__ neigh_count,
                                                    const int* __restrict__ neigh, fix_t* force) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kAtoms) return;
  const float4 p = pos[i];
  const int n = neigh_count[i];
  float fx = 0.f, fy = 0.f, fz = 0.f;
#pragma unroll 2
  for (int k = 0; k < n; ++k) {
    const int j = neigh[k * kAtoms + i];
    const float4 q = __ldg(&pos[j]);
    const float3 d = MinImage(p, q, box);
    const float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
    if (r2 < kCut2) {
      const float s2 = 1.0f / fmaxf(r2, 0.5f);
      const float s6 = s2 * s2 * s2;
      const float eps = p.w * q.w;
      const float g = 24.0f * eps * s2 * s6 * (2.0f * s6 - 1.0f);
      fx += g * d.x;
      fy += g * d.y;
      fz += g * d.z;
    }
  }
  // this kernel runs first and therefore stores instead of adding
  force[i] = (fix_t)llrintf(fx * kForceScale);
  force[kAtoms + i] = (fix_t)llrintf(fy * kForceScale);
  force[2 * kAtoms + i] = (fix_t)llrintf(fz * kForceScale);
}

// Thread t handles bond (t, t+1) and angle (t, t+1, t+2) where they exist.
__global__ void BondAngle(const float4* __restrict__ pos, Box box, fix_t* force) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= kAtoms) return;
  const int in_chain = t % kChain;
  if (in_chain == kChain - 1) return;
  const float4 a = pos[t], b = pos[t + 1];
  const float3 u = MinImage(a, b, box);
  const float uu = u.x * u.x + u.y * u.y + u.z * u.z;
  const float ul = sqrtf(uu);
  const float kb = -120.0f * (ul - 1.0f) / ul;
  Scatter(force, t, kb * u.x, kb * u.y, kb * u.z);
  Scatter(force, t + 1, -kb * u.x, -kb * u.y, -kb * u.z);
  if (in_chain == kChain - 2) return;

  const float4 c = pos[t + 2];
  const float3 v = MinImage(c, b, box);
  const float vv = v.x * v.x + v.y * v.y + v.z * v.z;
  const float vl = sqrtf(vv);
  const float inv = 1.0f / (ul * vl);
  const float cosine = (u.x * v.x + u.y * v.y + u.z * v.z) * inv;
  const float g = -2.0f * 6.0f * (cosine + 0.5f);    // -dU/dcos, U = 6 (cos + 1/2)^2
  const float ca = cosine / uu, cc = cosine / vv;
  const float ax = g * (v.x * inv - u.x * ca), ay = g * (v.y * inv - u.y * ca), az = g * (v.z * inv - u.z * ca);
  const float bx = g * (u.x * inv - v.x * cc), by = g * (u.y * inv - v.y * cc), bz = g * (u.z * inv - v.z * cc);
  Scatter(force, t, ax, ay, az);
  Scatter(force, t + 2, bx, by, bz);
  Scatter(force, t + 1, -(ax + bx), -(ay + by), -(az + bz));
}

__global__ void Leapfrog(float4* pos, float4* vel, const fix_t* __restrict__ force, Box box, fix_t* kinetic) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  fix_t ke = 0;
  if (i < kAtoms) {
    const float s = kDt / kForceScale;
    float4 v = vel[i], p = pos[i];
    v.x += s * (float)(long long)force[i];
    v.y += s * (float)(long long)force[kAtoms + i];
    v.z += s * (float)(long long)force[2 * kAtoms + i];
    p.x += kDt * v.x;
    p.y += kDt * v.y;
    p.z += kDt * v.z;
    if (p.x < 0.f) p.x += box.lx; else if (p.x >= box.lx) p.x -= box.lx;
    if (p.y < 0.f) p.y += box.ly; else if (p.y >= box.ly) p.y -= box.ly;
    if (p.z < 0.f) p.z += box.lz; else if (p.z >= box.lz) p.z -= box.lz;
    pos[i] = p;
    vel[i] = v;
    ke = (fix_t)(0.5f * (v.x * v.x + v.y * v.y + v.z * v.z) * 65536.0f);
  }
  for (int d = 16; d; d >>= 1) ke += __shfl_xor_sync(0xffffffffu, ke, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(kinetic, ke);
}

}  // namespace md

static uint32_t Rng(uint32_t& s) {
  s = s * 1664525u + 1013904223u;
  uint32_t x = s;
  x ^= x >> 16; x *= 0x45d9f3bu; x ^= x >> 13;
  return x;
}

static uint64_t Fnv(const vector<float4>& v) {
  uint64_t h = 14695981039346656037ull;
  const unsigned char* p = reinterpret_cast<const unsigned char*>(v.data());
  for (size_t i = 0; i < v.size() * sizeof(float4); ++i) h = (h ^ p[i]) * 1099511628211ull;
  return h;
}

int main() {
  using namespace md;
  Box box;
  box.lx = kLatX * kSpacing; box.ly = kLatY * kSpacing; box.lz = kLatZ * kSpacing;
  box.ix = 1.0f / box.lx; box.iy = 1.0f / box.ly; box.iz = 1.0f / box.lz;

  vector<float4> pos(kAtoms), vel(kAtoms);
  uint32_t seed = 4711;
  auto uni = [&seed] { return (float)(Rng(seed) >> 8) / 16777216.0f - 0.5f; };
  for (int a = 0; a < kAtoms; ++a) {       // snake through the lattice
    int z = a / (kLatX * kLatY), r = a % (kLatX * kLatY);
    int y = r / kLatX, x = r % kLatX;
    if (y & 1) x = kLatX - 1 - x;
    if (z & 1) y = kLatY - 1 - y;
    if ((z & 1) && (kLatY & 1) == 0) x = kLatX - 1 - x;
    pos[a].x = (x + 0.5f) * kSpacing + 0.12f * uni();
    pos[a].y = (y + 0.5f) * kSpacing + 0.12f * uni();
    pos[a].z = (z + 0.5f) * kSpacing + 0.12f * uni();
    pos[a].w = (a % kChain) < 4 ? 1.1f : 0.95f;
    vel[a] = make_float4(2.0f * uni(), 2.0f * uni(), 2.0f * uni(), 0.0f);
  }

  float4 *d_pos, *d_vel;
  int *d_cc, *d_ca, *d_nc, *d_nl, *d_over;
  fix_t *d_force, *d_ke;
  CUDA_OK(cudaMalloc(&d_pos, kAtoms * sizeof(float4)));
  CUDA_OK(cudaMalloc(&d_vel, kAtoms * sizeof(float4)));
  CUDA_OK(cudaMalloc(&d_cc, kCells * sizeof(int)));
  CUDA_OK(cudaMalloc(&d_ca, kCells * kCellCap * sizeof(int)));
  CUDA_OK(cudaMalloc(&d_nc, kAtoms * sizeof(int)));
  CUDA_OK(cudaMalloc(&d_nl, (size_t)kAtoms * kMaxNeigh * sizeof(int)));
  CUDA_OK(cudaMalloc(&d_over, sizeof(int)));
  CUDA_OK(cudaMalloc(&d_force, 3 * kAtoms * sizeof(fix_t)));
  CUDA_OK(cudaMalloc(&d_ke, kSteps * sizeof(fix_t)));
  CUDA_OK(cudaMemset(d_over, 0, sizeof(int)));
  CUDA_OK(cudaMemset(d_ke, 0, kSteps * sizeof(fix_t)));
  CUDA_OK(cudaMemcpy(d_pos, pos.data(), kAtoms * sizeof(float4), cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(d_vel, vel.data(), kAtoms * sizeof(float4), cudaMemcpyHostToDevice));

  auto grid = [](int n, int b) { return (n + b - 1) / b; };
  for (int step = 0; step < kSteps; ++step) {
    if (step % kRebuildEvery == 0) {
      CUDA_OK(cudaMemset(d_cc, 0, kCells * sizeof(int)));
      BinAtoms<<<grid(kAtoms, 256), 256>>>(d_pos, box, d_cc, d_ca, d_over);
      CUDA_OK(cudaGetLastError());
      SortCells<<<grid(kCells, 32), 32>>>(d_cc, d_ca);
      CUDA_OK(cudaGetLastError());
      BuildLists<<<grid(kAtoms, 64), 64>>>(d_pos, box, d_cc, d_ca, d_nc, d_nl, d_over);
      CUDA_OK(cudaGetLastError());
    }
    LennardJones<<<grid(kAtoms, 128), 128>>>(d_pos, box, d_nc, d_nl, d_force);
    CUDA_OK(cudaGetLastError());
    BondAngle<<<grid(kAtoms, 192), 192>>>(d_pos, box, d_force);
    CUDA_OK(cudaGetLastError());
    Leapfrog<<<grid(kAtoms, 256), 256>>>(d_pos, d_vel, d_force, box, d_ke + step);
    CUDA_OK(cudaGetLastError());
  }
  CUDA_OK(cudaDeviceSynchronize());

  vector<fix_t> ke(kSteps);
  vector<int> nc(kAtoms);
  int over = 0;
  CUDA_OK(cudaMemcpy(ke.data(), d_ke, kSteps * sizeof(fix_t), cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(nc.data(), d_nc, kAtoms * sizeof(int), cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(&over, d_over, sizeof(int), cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(pos.data(), d_pos, kAtoms * sizeof(float4), cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(vel.data(), d_vel, kAtoms * sizeof(float4), cudaMemcpyDeviceToHost));
  long long pairs = 0;
  for (int c : nc) pairs += c;
  std::printf("list entries %lld, overflow %d\n", pairs, over);
  for (int s = 0; s < kSteps; ++s) std::printf("step %d kinetic %llu (%.3f per atom)\n", s, ke[s], ke[s] / 65536.0 / kAtoms);
  std::printf("positions %016llx velocities %016llx\n", (unsigned long long)Fnv(pos), (unsigned long long)Fnv(vel));

  for (void* p : {(void*)d_pos, (void*)d_vel, (void*)d_cc, (void*)d_ca, (void*)d_nc, (void*)d_nl, (void*)d_over,
                  (void*)d_force, (void*)d_ke})
    CUDA_OK(cudaFree(p));
  return 0;
}
