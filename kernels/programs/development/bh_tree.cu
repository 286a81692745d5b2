// Gravity with a quadtree (built on the host, moments and traversal on the device), and a
// cell-list density estimate that first sorts the particles by grid cell.
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#define TRY(stmt)                                                                     \
    if (cudaError_t tryErr = (stmt); tryErr != cudaSuccess) {                         \
        std::fprintf(stderr, "%s failed at line %d: %s\n", #stmt, __LINE__, cudaGetErrorString(tryErr)); \
        std::exit(EXIT_FAILURE);                                                      \
    }

static constexpr int N = 18000;
static constexpr int LEAF_MAX = 6;
static constexpr int MAX_DEPTH = 20;
static constexpr int STACK = 3 * MAX_DEPTH + 4;
static constexpr int CELLS = 120;               // grid is CELLS x CELLS
static constexpr int NCELL = CELLS * CELLS;

struct Body { float x, y, m, pad; };

// kind: child[q] >= 0 internal node or leaf, -1 empty. A leaf has count > 0 and owns bodies [start, start+count)
struct Node {
    float cx, cy, m, size;
    int child[4];
    int start, count, level, pad;
};

static uint32_t h32(uint32_t v)
{
    v += 0x9e3779b9u;
    v ^= v >> 16; v *= 0x21f0aaadu;
    v ^= v >> 15; v *= 0x735a2d97u;
    v ^= v >> 15;
    return v;
}
static float u01(uint32_t v) { return float(h32(v) >> 8) * (1.0f / 16777216.0f); }

// ------------------------------------------------------------------------------- tree on the host
struct Builder {
    std::vector<Node> nodes;
    std::vector<int> order;         // bodies in leaf order
    const std::vector<Body>& b;
    explicit Builder(const std::vector<Body>& bodies) : b(bodies) {}

    int build(std::vector<int>& ids, float x0, float y0, float size, int level)
    {
        int me = int(nodes.size());
        nodes.push_back(Node{});
        nodes[me].size = size;
        nodes[me].level = level;
        for (int q = 0; q < 4; ++q) nodes[me].child[q] = -1;
        if (int(ids.size()) <= LEAF_MAX || level == MAX_DEPTH) {
            nodes[me].start = int(order.size());
            nodes[me].count = int(ids.size());
            order.insert(order.end(), ids.begin(), ids.end());
            return me;
        }
        float half = 0.5f * size;
        std::vector<int> part[4];
        for (int id : ids) part[(b[id].x >= x0 + half ? 1 : 0) + (b[id].y >= y0 + half ? 2 : 0)].push_back(id);
        ids.clear();
        ids.shrink_to_fit();
        for (int q = 0; q < 4; ++q)
            if (!part[q].empty()) {
                int c = build(part[q], x0 + (q & 1) * half, y0 + (q >> 1) * half, half, level + 1);
                nodes[me].child[q] = c;
            }
        return me;
    }
};

// --------------------------------------------------------------------------------- device kernels

// nodes of one level, listed in ids[]
__global__ void node_moments(Node* nodes, const int* __restrict__ ids, int count, const Body* __restrict__ leafBodies)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    Node& n = nodes[ids[t]];
    float m = 0.f, x = 0.f, y = 0.f;
    if (n.count > 0) {
        for (int k = 0; k < n.count; ++k) {
            Body b = leafBodies[n.start + k];
            m += b.m; x += b.m * b.x; y += b.m * b.y;
        }
    } else {
        for (int q = 0; q < 4; ++q) {
            int c = n.child[q];
            if (c >= 0) {
                float cm = nodes[c].m;
                m += cm; x += cm * nodes[c].cx; y += cm * nodes[c].cy;
            }
        }
    }
    n.m = m;
    n.cx = x / m;
    n.cy = y / m;
}

// perm gives the order in which threads take bodies; results are stored by body index
__global__ void __launch_bounds__(128) bh_force(const Node* __restrict__ nodes, const Body* __restrict__ leafBodies,
                                                const Body* __restrict__ bodies, const int* __restrict__ perm, int n,
                                                float theta2, float eps2, float2* __restrict__ acc, int* __restrict__ work)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int me = perm ? perm[t] : t;
    Body p = bodies[me];
    float ax = 0.f, ay = 0.f;
    int visited = 0;
    int stack[STACK];
    int sp = 0;
    stack[sp++] = 0;
    while (sp > 0) {
        const Node* nd = nodes + stack[--sp];
        float4 c = *reinterpret_cast<const float4*>(nd);
        float dx = c.x - p.x, dy = c.y - p.y;
        float d2 = dx * dx + dy * dy;
        ++visited;
        if (c.w * c.w < theta2 * d2) {
            float r2 = d2 + eps2;
            float f = c.z / (r2 * sqrtf(r2));
            ax += f * dx; ay += f * dy;
        } else if (nd->count > 0) {
            for (int k = 0; k < nd->count; ++k) {
                Body b = leafBodies[nd->start + k];
                float ex = b.x - p.x, ey = b.y - p.y;
                float r2 = ex * ex + ey * ey + eps2;
                float f = b.m / (r2 * sqrtf(r2));
                ax += f * ex; ay += f * ey;        // the self term has ex = ey = 0
            }
        } else {
            int4 ch = *reinterpret_cast<const int4*>(nd->child);
            if (ch.x >= 0) stack[sp++] = ch.x;
            if (ch.y >= 0) stack[sp++] = ch.y;
            if (ch.z >= 0) stack[sp++] = ch.z;
            if (ch.w >= 0) stack[sp++] = ch.w;
        }
    }
    acc[me] = make_float2(ax, ay);
    work[me] = visited;
}

__device__ __forceinline__ int cell_of(float x, float y)
{
    int i = min(CELLS - 1, max(0, int(x * CELLS))), j = min(CELLS - 1, max(0, int(y * CELLS)));
    return j * CELLS + i;
}

__global__ void bin_count(const Body* __restrict__ b, int n, int* __restrict__ cellOf, int* count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int c = cell_of(b[t].x, b[t].y);
    cellOf[t] = c;
    atomicAdd(&count[c], 1);
}

// exclusive scan of the whole histogram by one block
__global__ void __launch_bounds__(1024) bin_scan(const int* __restrict__ count, int n, int* __restrict__ start, int* __restrict__ cursor)
{
    __shared__ int wsum[32];
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int carry = 0;
    for (int base = 0; base < n; base += 1024) {
        int i = base + threadIdx.x;
        int v = i < n ? count[i] : 0, x = v;
        for (int o = 1; o < 32; o <<= 1) {
            int y = __shfl_up_sync(0xffffffffu, x, o);
            if (lane >= o) x += y;
        }
        if (lane == 31) wsum[w] = x;
        __syncthreads();
        if (w == 0) {
            int s = wsum[lane];
            for (int o = 1; o < 32; o <<= 1) {
                int y = __shfl_up_sync(0xffffffffu, s, o);
                if (lane >= o) s += y;
            }
            wsum[lane] = s;
        }
        __syncthreads();
        int ex = carry + x - v + (w ? wsum[w - 1] : 0);
        if (i < n) { start[i] = ex; cursor[i] = ex; }
        carry += wsum[31];
        __syncthreads();
    }
    if (threadIdx.x == 0) start[n] = carry;
}

__global__ void bin_scatter(const int* __restrict__ cellOf, int n, int* cursor, int* __restrict__ ids)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) ids[atomicAdd(&cursor[cellOf[t]], 1)] = t;
}

// the scatter leaves the ids of a cell in any order: sort them, then gather the bodies
__global__ void bin_fix_order(const int* __restrict__ start, int ncell, int* __restrict__ ids,
                              const Body* __restrict__ b, Body* __restrict__ sorted)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= ncell) return;
    int s = start[c], e = start[c + 1];
    for (int i = s + 1; i < e; ++i) {
        int key = ids[i], j = i - 1;
        while (j >= s && ids[j] > key) { ids[j + 1] = ids[j]; --j; }
        ids[j + 1] = key;
    }
    for (int i = s; i < e; ++i) sorted[i] = b[ids[i]];
}

// compact kernel (1-(r/h)^2)^3 over the 3x3 neighbourhood, one thread per sorted particle
__global__ void near_density(const Body* __restrict__ sorted, const int* __restrict__ start, int n,
                             float* __restrict__ rho, int* __restrict__ neighbours)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    float4 p = reinterpret_cast<const float4*>(sorted)[t];
    const float inv_h2 = float(CELLS) * float(CELLS);
    int c = cell_of(p.x, p.y), ci = c % CELLS, cj = c / CELLS;
    float s = 0.f;
    int k = 0;
    for (int j = max(cj - 1, 0); j <= min(cj + 1, CELLS - 1); ++j) {
        int lo = start[j * CELLS + max(ci - 1, 0)], hi = start[j * CELLS + min(ci + 1, CELLS - 1) + 1];
        for (int q = lo; q < hi; ++q) {
            float4 o = __ldg(reinterpret_cast<const float4*>(sorted) + q);
            float dx = o.x - p.x, dy = o.y - p.y;
            float w = 1.f - (dx * dx + dy * dy) * inv_h2;
            if (w > 0.f) { s += o.z * w * w * w; ++k; }
        }
    }
    rho[t] = s;
    neighbours[t] = k;
}

template <class T> static T* dalloc(size_t n) { void* p; TRY(cudaMalloc(&p, n * sizeof(T))); return static_cast<T*>(p); }
template <class T> static T* upload(const std::vector<T>& v)
{
    T* p = dalloc<T>(v.size());
    TRY(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}
template <class T> static std::vector<T> download(const T* p, size_t n)
{
    std::vector<T> v(n);
    TRY(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}
template <class T> static unsigned long long fnv1a(const std::vector<T>& v)
{
    unsigned long long h = 14695981039346656037ull;
    const unsigned char* p = reinterpret_cast<const unsigned char*>(v.data());
    for (size_t i = 0; i < v.size() * sizeof(T); ++i) h = (h ^ p[i]) * 1099511628211ull;
    return h;
}

int main()
{
    std::vector<Body> bodies(N);
    for (int i = 0; i < N; ++i) {
        uint32_t cl = h32(i) % 12;
        Body& b = bodies[i];
        if (cl < 8) { // clustered
            float r = u01(4 * i + 1), s = u01(4 * i + 2), f = 0.25f * r;
            float px = 2.f * s - 1.f, py = 2.f * u01(4 * i + 3) - 1.f;
            b.x = 0.15f + 0.7f * u01(900001 + cl) + f * px;
            b.y = 0.15f + 0.7f * u01(900101 + cl) + f * py;
        } else {
            b.x = u01(4 * i + 1);
            b.y = u01(4 * i + 2);
        }
        b.x = std::min(std::max(b.x, 0.f), 0.99999f);
        b.y = std::min(std::max(b.y, 0.f), 0.99999f);
        b.m = 0.5f + u01(7777777 + i);
        b.pad = 0.f;
    }

    Builder tree(bodies);
    std::vector<int> all(N);
    std::iota(all.begin(), all.end(), 0);
    tree.build(all, 0.f, 0.f, 1.f, 0);
    std::vector<Body> leafBodies(N);
    for (int i = 0; i < N; ++i) leafBodies[i] = bodies[tree.order[i]];
    int depth = 0;
    for (auto& n : tree.nodes) depth = std::max(depth, n.level);
    std::vector<std::vector<int>> levels(depth + 1);
    for (size_t i = 0; i < tree.nodes.size(); ++i) levels[tree.nodes[i].level].push_back(int(i));
    std::vector<int> flat, offset;
    for (auto& l : levels) { offset.push_back(int(flat.size())); flat.insert(flat.end(), l.begin(), l.end()); }
    std::printf("%zu nodes, depth %d\n", tree.nodes.size(), depth);

    Node* dNodes = upload(tree.nodes);
    Body *dBodies = upload(bodies), *dLeaf = upload(leafBodies), *dSorted = dalloc<Body>(N);
    int *dFlat = upload(flat), *dOrder = upload(tree.order);
    float2* dAcc = dalloc<float2>(N);
    int* dWork = dalloc<int>(N);

    for (int l = depth; l >= 0; --l) {
        int cnt = int(levels[l].size());
        node_moments<<<(cnt + 127) / 128, 128>>>(dNodes, dFlat + offset[l], cnt, dLeaf);
        TRY(cudaGetLastError());
    }

    // sort by cell
    int *dCell = dalloc<int>(N), *dCount = dalloc<int>(NCELL), *dStart = dalloc<int>(NCELL + 1), *dCursor = dalloc<int>(NCELL), *dIds = dalloc<int>(N);
    TRY(cudaMemset(dCount, 0, NCELL * sizeof(int)));
    bin_count<<<(N + 255) / 256, 256>>>(dBodies, N, dCell, dCount);
    TRY(cudaGetLastError());
    bin_scan<<<1, 1024>>>(dCount, NCELL, dStart, dCursor);
    TRY(cudaGetLastError());
    bin_scatter<<<(N + 255) / 256, 256>>>(dCell, N, dCursor, dIds);
    TRY(cudaGetLastError());
    bin_fix_order<<<(NCELL + 63) / 64, 64>>>(dStart, NCELL, dIds, dBodies, dSorted);
    TRY(cudaGetLastError());
    float* dRho = dalloc<float>(N);
    int* dNb = dalloc<int>(N);
    near_density<<<(N + 127) / 128, 128>>>(dSorted, dStart, N, dRho, dNb);
    TRY(cudaGetLastError());
    auto rho = download(dRho, N);
    auto nb = download(dNb, N);
    std::printf("sorted ids %016llx density %016llx neighbours %lld max %d\n", fnv1a(download(dIds, N)), fnv1a(rho),
                std::accumulate(nb.begin(), nb.end(), 0ll), *std::max_element(nb.begin(), nb.end()));

    // the same forces in input order (divergent), cell order and tree order (coherent)
    const int* perms[3] = {nullptr, dIds, dOrder};
    const char* names[3] = {"input", "cell", "tree"};
    for (int k = 0; k < 3; ++k) {
        TRY(cudaMemset(dAcc, 0xff, N * sizeof(float2)));
        bh_force<<<(N + 127) / 128, 128>>>(dNodes, dLeaf, dBodies, perms[k], N, 0.49f, 1e-6f, dAcc, dWork);
        TRY(cudaGetLastError());
        auto w = download(dWork, N);
        std::printf("%-5s acc %016llx visits %lld\n", names[k], fnv1a(download(dAcc, N)), std::accumulate(w.begin(), w.end(), 0ll));
    }

    // accuracy against direct summation for a few bodies
    auto acc = download(dAcc, N);
    double worst = 0;
    for (int i = 0; i < N; i += 1500) {
        double ax = 0, ay = 0;
        for (int j = 0; j < N; ++j) {
            double dx = double(bodies[j].x) - bodies[i].x, dy = double(bodies[j].y) - bodies[i].y, r2 = dx * dx + dy * dy + 1e-6;
            double f = bodies[j].m / (r2 * std::sqrt(r2));
            ax += f * dx; ay += f * dy;
        }
        worst = std::max(worst, std::hypot(ax - acc[i].x, ay - acc[i].y) / std::hypot(ax, ay));
    }
    std::printf("tree error %s\n", worst < 0.15 ? "small" : "LARGE");

    for (void* p : {(void*)dNodes, (void*)dBodies, (void*)dLeaf, (void*)dSorted, (void*)dFlat, (void*)dOrder, (void*)dAcc, (void*)dWork,
                    (void*)dCell, (void*)dCount, (void*)dStart, (void*)dCursor, (void*)dIds, (void*)dRho, (void*)dNb})
        TRY(cudaFree(p));
    return 0;
}
