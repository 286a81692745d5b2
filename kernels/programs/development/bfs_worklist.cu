// Breadth-first search with explicit work-lists: a skewed random graph in CSR form and an obstacle grid with many sources.
// Hard for a GPU: frontiers grow from a few nodes to most of the graph, degrees differ a lot, visited checks are random accesses,
// and queue tails are shared counters (warp-aggregated or block-aggregated atomics).
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>
#include <algorithm>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define SAFE_CALL(f)                                                                      \
  do {                                                                                    \
    cudaError_t rc = (f);                                                                 \
    if (rc != cudaSuccess) {                                                              \
      std::fprintf(stderr, "%s -> %s\n", #f, cudaGetErrorString(rc));                     \
      std::exit(EXIT_FAILURE);                                                            \
    }                                                                                     \
  } while (0)

using node_t = int;
static const int N = 1 << 19;
static const int W = 1500, H = 1100;
static const int UNSEEN = -1;

__host__ __device__ inline uint32_t hash_u32(uint32_t a) {
  a = (a + 0x7ed55d16) + (a << 12);
  a = (a ^ 0xc761c23c) ^ (a >> 19);
  a = (a + 0x165667b1) + (a << 5);
  a = (a + 0xd3a2646c) ^ (a << 9);
  a = (a + 0xfd7046c5) + (a << 3);
  a = (a ^ 0xb55a4f09) ^ (a >> 16);
  return a;
}

// mostly 3..8 neighbours, 1 node in 256 has up to 260
static inline int degree_of(int v) {
  uint32_t h = hash_u32(v);
  return (h & 255) == 0 ? 4 + (h >> 8) % 256 : 3 + (h >> 8) % 6;
}

__global__ void fill_neighbours(const int *__restrict__ row, int *__restrict__ col, int n) {
  // one warp per node so that hubs do not hold up a whole block
  int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (v >= n) return;
  for (int k = row[v] + lane; k < row[v + 1]; k += 32) {
    uint32_t h = hash_u32(k * 2u + 99u);
    // half of the edges stay nearby
    col[k] = (h & 1) ? (int)((h >> 1) % n) : (int)((v + 1 + (h >> 1) % 1000) % n);
  }
}

__global__ void set_levels(int *level, int n, const node_t *sources, int ns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int l = UNSEEN;
    for (int s = 0; s < ns; s++)
      if (sources[s] == i) l = 0;
    level[i] = l;
  }
}

__device__ inline int push_index(int *tail) {
  cg::coalesced_group g = cg::coalesced_threads();
  int base;
  if (g.thread_rank() == 0) base = atomicAdd(tail, (int)g.size());
  return g.shfl(base, 0) + g.thread_rank();
}

// thread per frontier node
__global__ void bfs_thread(const int *__restrict__ row, const int *__restrict__ col, int *__restrict__ level,
                           const node_t *__restrict__ in, int count, node_t *__restrict__ out, int *tail, int depth) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  node_t v = in[t];
  int end = row[v + 1];
  for (int e = row[v]; e < end; e++) {
    node_t u = col[e];
    if (level[u] == UNSEEN && atomicCAS(&level[u], UNSEEN, depth) == UNSEEN) out[push_index(tail)] = u;
  }
}

// warp per frontier node, persistent over the frontier
__global__ void __launch_bounds__(256) bfs_warp(const int *__restrict__ row, const int *__restrict__ col, int *level,
                                                const node_t *__restrict__ in, int count, node_t *__restrict__ out,
                                                int *tail, int depth) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
  int lane = threadIdx.x & 31;
  for (int t = warp; t < count; t += warps) {
    node_t v = in[t];
    int begin = row[v], end = row[v + 1];
    for (int e = begin; e < end; e += 32) {
      bool fresh = false;
      node_t u = 0;
      if (e + lane < end) {
        u = __ldg(&col[e + lane]);
        fresh = level[u] == UNSEEN && atomicCAS(&level[u], UNSEEN, depth) == UNSEEN;
      }
      unsigned mask = __ballot_sync(0xffffffffu, fresh);
      if (mask) {
        int base = 0;
        if (lane == 0) base = atomicAdd(tail, __popc(mask));
        base = __shfl_sync(0xffffffffu, base, 0);
        if (fresh) out[base + __popc(mask & ((1u << lane) - 1))] = u;
      }
    }
  }
}

__device__ __host__ inline bool wall(int x, int y) { return hash_u32(y * 4099 + x) % 100 < 28; }

__global__ void grid_start(int *level, node_t *queue, int *tail) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  int v = y * W + x;
  int l = UNSEEN;
  if (wall(x, y)) l = -2;
  else if (hash_u32(v ^ 0x5bd1e995) % 300 == 0) {
    l = 0;
    queue[push_index(tail)] = v;
  }
  level[v] = l;
}

// new nodes collect in shared memory, one global atomic per block
__global__ void __launch_bounds__(128) grid_step(int *level, const node_t *__restrict__ in, int count, node_t *out, int *tail, int depth) {
  __shared__ node_t found[128 * 4];
  __shared__ int n_found, base;
  if (threadIdx.x == 0) n_found = 0;
  __syncthreads();
  int t = blockIdx.x * 128 + threadIdx.x;
  if (t < count) {
    node_t v = in[t];
    int x = v % W, y = v / W;
    const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int nx = x + dx[k], ny = y + dy[k];
      if (nx < 0 || ny < 0 || nx >= W || ny >= H) continue;
      node_t u = ny * W + nx;
      if (level[u] == UNSEEN && atomicCAS(&level[u], UNSEEN, depth) == UNSEEN) found[atomicAdd(&n_found, 1)] = u;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && n_found) base = atomicAdd(tail, n_found);
  __syncthreads();
  for (int i = threadIdx.x; i < n_found; i += 128) out[base + i] = found[i];
}

static uint64_t digest(const int *d, int n) {
  std::vector<int> h(n);
  SAFE_CALL(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
  uint64_t s = 14695981039346656037ull;
  for (int v : h) s = (s ^ (uint32_t)v) * 1099511628211ull;
  return s;
}

int main() {
  std::vector<int> row(N + 1);
  row[0] = 0;
  for (int v = 0; v < N; v++) row[v + 1] = row[v] + degree_of(v);
  int M = row[N];
  int *d_row, *d_col, *level, *tail, *d_src;
  node_t *q[2];
  const int cells = W * H;
  SAFE_CALL(cudaMalloc(&d_row, (N + 1) * 4));
  SAFE_CALL(cudaMalloc(&d_col, (size_t)M * 4));
  SAFE_CALL(cudaMalloc(&level, cells * 4));
  SAFE_CALL(cudaMalloc(&q[0], cells * 4));
  SAFE_CALL(cudaMalloc(&q[1], cells * 4));
  SAFE_CALL(cudaMalloc(&tail, 4));
  SAFE_CALL(cudaMemcpy(d_row, row.data(), (N + 1) * 4, cudaMemcpyHostToDevice));
  std::vector<node_t> src;
  for (int s = 0; s < 40; s++) src.push_back(s * 13001 + 5);
  SAFE_CALL(cudaMalloc(&d_src, src.size() * 4));
  SAFE_CALL(cudaMemcpy(d_src, src.data(), src.size() * 4, cudaMemcpyHostToDevice));

  fill_neighbours<<<N / 8, 256>>>(d_row, d_col, N);
  set_levels<<<N / 256, 256>>>(level, N, d_src, (int)src.size());
  SAFE_CALL(cudaMemcpy(q[0], src.data(), src.size() * 4, cudaMemcpyHostToDevice));
  SAFE_CALL(cudaGetLastError());

  int count = (int)src.size(), cur = 0;
  for (int depth = 1; depth <= 8 && count > 0; depth++) {
    SAFE_CALL(cudaMemset(tail, 0, 4));
    // alternate the two expansion methods
    if (depth % 2)
      bfs_warp<<<std::max(1, std::min(132 * 8, (count + 7) / 8)), 256>>>(d_row, d_col, level, q[cur], count, q[cur ^ 1], tail, depth);
    else
      bfs_thread<<<(count + 127) / 128, 128>>>(d_row, d_col, level, q[cur], count, q[cur ^ 1], tail, depth);
    SAFE_CALL(cudaGetLastError());
    SAFE_CALL(cudaMemcpy(&count, tail, 4, cudaMemcpyDeviceToHost));
    cur ^= 1;
    std::printf("depth %d: %d\n", depth, count);
  }
  std::printf("graph levels %016llx\n", (unsigned long long)digest(level, N));

  SAFE_CALL(cudaMemset(tail, 0, 4));
  grid_start<<<dim3((W + 31) / 32, (H + 7) / 8), dim3(32, 8)>>>(level, q[0], tail);
  SAFE_CALL(cudaGetLastError());
  SAFE_CALL(cudaMemcpy(&count, tail, 4, cudaMemcpyDeviceToHost));
  cur = 0;
  for (int depth = 1; depth <= 9 && count > 0; depth++) {
    SAFE_CALL(cudaMemset(tail, 0, 4));
    grid_step<<<(count + 127) / 128, 128>>>(level, q[cur], count, q[cur ^ 1], tail, depth);
    SAFE_CALL(cudaGetLastError());
    SAFE_CALL(cudaMemcpy(&count, tail, 4, cudaMemcpyDeviceToHost));
    cur ^= 1;
  }
  std::printf("grid frontier %d levels %016llx\n", count, (unsigned long long)digest(level, cells));
  return 0;
}
