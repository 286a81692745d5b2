// Decision-forest inference over arrays of tree nodes, and k-nearest-neighbour search through a uniform grid (linked lists and sorted cells).
// Hard for a GPU: pointer chasing with a dependent load per step, lanes that leave trees at different depths, and cells holding very different numbers of points.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cstring>
#include <cfloat>
#include <vector>

#define CUDA_SAFE(call)                                                                    \
    do {                                                                                   \
        cudaError_t err_ = call;                                                           \
        if (err_ != cudaSuccess) {                                                         \
            fprintf(stderr, "CUDA failure %s:%d: '%s'\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

// ------------------------------------------------------------------ forest

struct __align__(16) TreeNode {
    float threshold;   // for a leaf: the vote in fixed point, as integer bits
    int feature;       // -1 for a leaf
    int left, right;   // positions relative to the tree root
};

constexpr int kTrees = 48;
constexpr int kFeatures = 28;
constexpr int kSamples = 50000;
constexpr int kMaxDepth = 14;

static uint32_t g_seed = 20240607u;
static uint32_t next_random()
{
    g_seed = g_seed * 1103515245u + 12345u;
    return (g_seed >> 8) & 0xffff;
}

static int grow(std::vector<TreeNode> &tree, int depth, float lo, float hi)
{
    int me = (int)tree.size();
    tree.push_back({});
    if (depth == kMaxDepth || (depth > 3 && next_random() % 100 < 14)) {
        int vote = (int)(next_random() % 2001) - 1000;
        tree[me].feature = -1;
        memcpy(&tree[me].threshold, &vote, 4);
        return me;
    }
    int feature = next_random() % kFeatures;
    float threshold = lo + (hi - lo) * (next_random() / 65536.0f * 0.6f + 0.2f);
    int l = grow(tree, depth + 1, lo, hi);
    int r = grow(tree, depth + 1, lo, hi);
    tree[me] = {threshold, feature, l, r};
    return me;
}

__device__ __forceinline__ uint32_t pcg(uint32_t v)
{
    uint32_t state = v * 747796405u + 2891336453u;
    uint32_t word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

__global__ void make_samples(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (pcg(i) >> 8) * (1.0f / 16777216.0f);
}

// sample per thread, all the trees; features row-major
__global__ void __launch_bounds__(128) forest_row_major(const TreeNode *__restrict__ nodes, const int *__restrict__ roots,
                                                        const float *__restrict__ x, int *__restrict__ votes, int n, int trees)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *row = x + (size_t)i * kFeatures;
    int sum = 0;
    for (int t = 0; t < trees; t++) {
        const TreeNode *tree = nodes + roots[t];
        TreeNode node = tree[0];
        while (node.feature >= 0) node = tree[row[node.feature] < node.threshold ? node.left : node.right];
        sum += __float_as_int(node.threshold);
    }
    votes[i] = sum;
}

// block = 32 samples x 8 trees; sample features staged in shared memory
__global__ void forest_tile(const TreeNode *__restrict__ nodes, const int *__restrict__ roots, const float *__restrict__ x,
                            int *__restrict__ votes, int n, int trees)
{
    __shared__ float features[32][kFeatures + 1];
    __shared__ int partial[8][32];
    int first = blockIdx.x * 32;
    int flat = threadIdx.y * 32 + threadIdx.x;
    for (int k = flat; k < 32 * kFeatures; k += 256)
        if (first + k / kFeatures < n) features[k / kFeatures][k % kFeatures] = x[(size_t)first * kFeatures + k];
    __syncthreads();
    int sum = 0;
    if (first + threadIdx.x < n)
        for (int t = threadIdx.y; t < trees; t += 8) {
            const int4 *tree = reinterpret_cast<const int4 *>(nodes + roots[t]);
            int4 node = __ldg(tree);
            while (node.y >= 0) {
                bool left = features[threadIdx.x][node.y] < __int_as_float(node.x);
                node = __ldg(tree + (left ? node.z : node.w));
            }
            sum += node.x;
        }
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && first + threadIdx.x < n) {
        for (int k = 1; k < 8; k++) sum += partial[k][threadIdx.x];
        votes[first + threadIdx.x] = sum;
    }
}

// ------------------------------------------------------------------ grid

constexpr int kGrid = 32;
constexpr int kPoints = 90000;
constexpr int kQueries = 60000;

__device__ inline float3 place(uint32_t i, uint32_t salt)
{
    float a = (pcg(3 * i + salt) >> 8) / 16777216.0f;
    float b = (pcg(3 * i + 1 + salt) >> 8) / 16777216.0f;
    float c = (pcg(3 * i + 2 + salt) >> 8) / 16777216.0f;
    if (i % 4 == 0) c = c * c;   // denser near one face
    return make_float3(a * kGrid, b * kGrid, c * kGrid);
}

__device__ inline int cell_of(float3 p)
{
    int cx = min(kGrid - 1, (int)p.x), cy = min(kGrid - 1, (int)p.y), cz = min(kGrid - 1, (int)p.z);
    return (cz * kGrid + cy) * kGrid + cx;
}

__global__ void build_lists(float4 *points, int *head, int *next, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = place(i, 1u);
    points[i] = make_float4(p.x, p.y, p.z, __int_as_float(i));
    int c = cell_of(p);
    next[i] = atomicExch(&head[c], i);
    atomicAdd(&counts[c], 1);
}

// exclusive scan of 32768 counts by one block of 1024
__global__ void __launch_bounds__(1024) scan_cells(const int *counts, int *start)
{
    __shared__ int warp_sums[32];
    const int per = kGrid * kGrid * kGrid / 1024;
    int local[per], sum = 0;
#pragma unroll
    for (int k = 0; k < per; k++) {
        local[k] = sum;
        sum += counts[threadIdx.x * per + k];
    }
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int inc = sum;
    for (int o = 1; o < 32; o *= 2) {
        int u = __shfl_up_sync(~0u, inc, o);
        if (lane >= o) inc += u;
    }
    if (lane == 31) warp_sums[warp] = inc;
    __syncthreads();
    if (warp == 0) {
        int v = warp_sums[lane];
        for (int o = 1; o < 32; o *= 2) {
            int u = __shfl_up_sync(~0u, v, o);
            if (lane >= o) v += u;
        }
        warp_sums[lane] = v;
    }
    __syncthreads();
    int base = inc - sum + (warp ? warp_sums[warp - 1] : 0);
#pragma unroll
    for (int k = 0; k < per; k++) start[threadIdx.x * per + k] = base + local[k];
    if (threadIdx.x == 1023) start[kGrid * kGrid * kGrid] = base + sum;
}

__global__ void gather_cells(const float4 *points, const int *head, const int *next, const int *start, float4 *sorted)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kGrid * kGrid * kGrid) return;
    int at = start[c];
    for (int i = head[c]; i >= 0; i = next[i]) sorted[at++] = points[i];
}

template <int K>
__device__ __forceinline__ void consider(float d, int id, float (&best)[K], int (&who)[K])
{
    if (d > best[K - 1] || (d == best[K - 1] && id > who[K - 1])) return;
    best[K - 1] = d;
    who[K - 1] = id;
#pragma unroll
    for (int k = K - 1; k > 0; k--) {
        bool swap = best[k] < best[k - 1] || (best[k] == best[k - 1] && who[k] < who[k - 1]);
        float td = swap ? best[k - 1] : best[k];
        int ti = swap ? who[k - 1] : who[k];
        best[k - 1] = swap ? best[k] : best[k - 1];
        who[k - 1] = swap ? who[k] : who[k - 1];
        best[k] = td;
        who[k] = ti;
    }
}

template <int K, bool SORTED>
__global__ void __launch_bounds__(96) knn(const float4 *__restrict__ points, const int *__restrict__ head_or_start,
                                          const int *__restrict__ next, int *__restrict__ result, int n)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= n) return;
    float3 p = place(q, 777777u);
    int cx = min(kGrid - 1, (int)p.x), cy = min(kGrid - 1, (int)p.y), cz = min(kGrid - 1, (int)p.z);
    float best[K];
    int who[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
        best[k] = FLT_MAX;
        who[k] = 0x7fffffff;
    }
    for (int z = max(0, cz - 1); z <= min(kGrid - 1, cz + 1); z++)
        for (int y = max(0, cy - 1); y <= min(kGrid - 1, cy + 1); y++) {
            int x0 = max(0, cx - 1), x1 = min(kGrid - 1, cx + 1);
            int line = (z * kGrid + y) * kGrid;
            if (SORTED) {
                // neighbouring cells of a line are one contiguous run
                int end = head_or_start[line + x1 + 1];
                for (int i = head_or_start[line + x0]; i < end; i++) {
                    float4 c = __ldg(points + i);
                    float dx = c.x - p.x, dy = c.y - p.y, dz = c.z - p.z;
                    consider<K>(dx * dx + dy * dy + dz * dz, __float_as_int(c.w), best, who);
                }
            } else {
                for (int x = x0; x <= x1; x++)
                    for (int i = head_or_start[line + x]; i >= 0; i = next[i]) {
                        float4 c = points[i];
                        float dx = c.x - p.x, dy = c.y - p.y, dz = c.z - p.z;
                        consider<K>(dx * dx + dy * dy + dz * dz, i, best, who);
                    }
            }
        }
#pragma unroll
    for (int k = 0; k < K; k++) result[(size_t)q * K + k] = who[k];
}

static unsigned long long hash_out(const int *d, size_t n)
{
    std::vector<int> h(n);
    CUDA_SAFE(cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost));
    unsigned long long s = 88172645463325252ull;
    for (int v : h) {
        s ^= (unsigned)v;
        s *= 0xff51afd7ed558ccdull;
        s ^= s >> 32;
    }
    return s;
}

int main()
{
    std::vector<TreeNode> nodes;
    std::vector<int> roots;
    for (int t = 0; t < kTrees; t++) {
        std::vector<TreeNode> tree;
        grow(tree, 0, 0.0f, 1.0f);
        roots.push_back((int)nodes.size());
        nodes.insert(nodes.end(), tree.begin(), tree.end());
    }
    TreeNode *d_nodes;
    int *d_roots, *votes;
    float *x;
    CUDA_SAFE(cudaMalloc(&d_nodes, nodes.size() * sizeof(TreeNode)));
    CUDA_SAFE(cudaMalloc(&d_roots, kTrees * sizeof(int)));
    CUDA_SAFE(cudaMalloc(&votes, kSamples * sizeof(int)));
    CUDA_SAFE(cudaMalloc(&x, (size_t)kSamples * kFeatures * sizeof(float)));
    CUDA_SAFE(cudaMemcpy(d_nodes, nodes.data(), nodes.size() * sizeof(TreeNode), cudaMemcpyHostToDevice));
    CUDA_SAFE(cudaMemcpy(d_roots, roots.data(), kTrees * sizeof(int), cudaMemcpyHostToDevice));
    int values = kSamples * kFeatures;
    make_samples<<<(values + 255) / 256, 256>>>(x, values);
    forest_row_major<<<(kSamples + 127) / 128, 128>>>(d_nodes, d_roots, x, votes, kSamples, kTrees);
    CUDA_SAFE(cudaGetLastError());
    printf("%zu nodes, row major %016llx\n", nodes.size(), hash_out(votes, kSamples));
    forest_tile<<<(kSamples + 31) / 32, dim3(32, 8)>>>(d_nodes, d_roots, x, votes, kSamples, kTrees);
    CUDA_SAFE(cudaGetLastError());
    printf("tile %016llx\n", hash_out(votes, kSamples));

    const int cells = kGrid * kGrid * kGrid;
    float4 *points, *sorted;
    int *head, *next, *counts, *start, *result;
    CUDA_SAFE(cudaMalloc(&points, kPoints * sizeof(float4)));
    CUDA_SAFE(cudaMalloc(&sorted, kPoints * sizeof(float4)));
    CUDA_SAFE(cudaMalloc(&head, cells * 4));
    CUDA_SAFE(cudaMalloc(&counts, cells * 4));
    CUDA_SAFE(cudaMalloc(&start, (cells + 1) * 4));
    CUDA_SAFE(cudaMalloc(&next, kPoints * 4));
    CUDA_SAFE(cudaMalloc(&result, (size_t)kQueries * 8 * 4));
    CUDA_SAFE(cudaMemset(head, 0xff, cells * 4));
    CUDA_SAFE(cudaMemset(counts, 0, cells * 4));
    build_lists<<<(kPoints + 255) / 256, 256>>>(points, head, next, counts, kPoints);
    scan_cells<<<1, 1024>>>(counts, start);
    gather_cells<<<(cells + 127) / 128, 128>>>(points, head, next, start, sorted);
    knn<4, false><<<(kQueries + 95) / 96, 96>>>(points, head, next, result, kQueries);
    CUDA_SAFE(cudaGetLastError());
    printf("4 nearest, lists %016llx\n", hash_out(result, (size_t)kQueries * 4));
    knn<4, true><<<(kQueries + 95) / 96, 96>>>(sorted, start, nullptr, result, kQueries);
    CUDA_SAFE(cudaGetLastError());
    printf("4 nearest, sorted %016llx\n", hash_out(result, (size_t)kQueries * 4));
    knn<8, true><<<(kQueries + 95) / 96, 96>>>(sorted, start, nullptr, result, kQueries);
    CUDA_SAFE(cudaGetLastError());
    printf("8 nearest, sorted %016llx\n", hash_out(result, (size_t)kQueries * 8));
    return 0;
}
